// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// uncaught.c: prints an uncaught exception before it ends the process.
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/exception.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/class.h"
#include "objc/runtime/message/message.h"

typedef void (*terminate_handler)(void);
typedef void (*uncaught_handler)(id exception);

extern terminate_handler _ZSt13set_terminatePFvvE(terminate_handler handler);

static terminate_handler next;  // of the program, or libstdc++'s
static _Atomic(uncaught_handler) client;

static const char *bytes_of(id text) {
  return text ? SEND(const char *(*)(id, SEL), text, "UTF8String") : "";
}

static bool has_reason(id exception) {
  return SEND(int (*)(id, SEL, SEL), exception,
              "respondsToSelector:", SELECTOR("reason"));
}

// Says who sent a selector that nothing answers, as addr2line reads it.
static void tell_sender(const char *reason) {
  const char *sender = exception_unrecognized_sender();
  Dl_info in;
  if (!sender || !strstr(reason, ": unrecognized selector sent to ") ||
      !dladdr(sender, &in)) {
    return;
  }
  // The address is behind the call.
  const unsigned long offset =
      (unsigned long)(sender - 1 - (const char *)in.dli_fbase);
  runtime_warn(
      "it was sent from %s: addr2line -fe %s 0x%lx tells the line. "
      "METTLE_OBJC_DEBUG=unrecognized prints the stack; Mettle's "
      "docs/objc.md has what is there, and how to ask for more",
      in.dli_sname ? in.dli_sname : "a static function", in.dli_fname, offset);
}

static void terminate(void) {
  const id exception = exception_current();
  if (!exception) {
    next();
    abort();
  }
  // Acquire: pairs with the exchange in objc_setUncaughtExceptionHandler.
  const uncaught_handler handler =
      atomic_exchange_explicit(&client, NULL, memory_order_acquire);
  if (handler) {
    handler(exception);
  }
  if (has_reason(exception)) {
    fprintf(stderr,
            "*** Terminating app due to uncaught exception '%s', reason: "
            "'%s'\n",
            bytes_of(SEND(id(*)(id, SEL), exception, "name")),
            bytes_of(SEND(id(*)(id, SEL), exception, "reason")));
    tell_sender(bytes_of(SEND(id(*)(id, SEL), exception, "reason")));
  } else {
    fprintf(stderr,
            "*** Terminating app due to uncaught exception of class "
            "'%s'\n",
            class_name(exception->isa));
  }
  abort();
}

static void __attribute__((constructor(111))) set_handler(void) {
  next = _ZSt13set_terminatePFvvE(terminate);
}

OBJC_EXPORT uncaught_handler
objc_setUncaughtExceptionHandler(uncaught_handler handler) {
  return atomic_exchange_explicit(&client, handler, memory_order_acq_rel);
}

OBJC_EXPORT void NSSetUncaughtExceptionHandler(uncaught_handler handler) {
  objc_setUncaughtExceptionHandler(handler);
}

OBJC_EXPORT uncaught_handler NSGetUncaughtExceptionHandler(void) {
  return atomic_load_explicit(&client, memory_order_acquire);
}
