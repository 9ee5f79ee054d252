// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// os.c: os_unfair_lock and os_log.
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

// --- os_unfair_lock ------------------------------------------------------------

// States of the lock's word: free, taken, or taken while others wait.
enum { FREE, TAKEN, AWAITED };
typedef _Atomic uint32_t word;

OBJC_EXPORT _Bool os_unfair_lock_trylock(word *lock) {
  uint32_t expected = FREE;
  // pairs with the release in os_unfair_lock_unlock
  return atomic_compare_exchange_strong_explicit(
      lock, &expected, TAKEN, memory_order_acquire, memory_order_relaxed);
}

OBJC_EXPORT void os_unfair_lock_lock(word *lock) {
  if (os_unfair_lock_trylock(lock)) {
    return;
  }
  // pairs with the release in os_unfair_lock_unlock
  while (atomic_exchange_explicit(lock, AWAITED, memory_order_acquire) !=
         FREE) {
    syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, AWAITED, NULL, NULL, 0);
  }
}

OBJC_EXPORT void os_unfair_lock_unlock(word *lock) {
  // pairs with the acquires above
  if (atomic_exchange_explicit(lock, FREE, memory_order_release) == AWAITED) {
    syscall(SYS_futex, lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

// --- os_log ----------------------------------------------------------------------

typedef struct os_log {
  struct os_log *next;
  char *subsystem;
  char *topic;
} os_log;

OBJC_EXPORT os_log *os_log_create(const char *subsystem, const char *topic) {
  static _Atomic(os_log *) all;  // kept for good
  os_log *made = malloc(sizeof *made);
  if (made) {
    *made = (os_log){NULL, strdup(subsystem), strdup(topic)};
    made->next = atomic_exchange(&all, made);
  }
  return made;
}

OBJC_EXPORT _Bool os_log_type_enabled(const os_log *log, uint8_t type) {
  (void)type;
  return (uintptr_t)log != 1 && runtime_debugs("log");
}

// Copies a format without the braces after its percent signs.
static char *plain_format(const char *format) {
  char *made = malloc(strlen(format) + 1), *out = made;
  while (made && *format) {
    *out++ = *format;
    if (*format++ == '%' && *format == '{') {
      format += strcspn(format, "}");
      format += *format == '}';
    }
  }
  if (made) {
    *out = 0;
  }
  return made;
}

OBJC_EXPORT void mettle_os_log(const os_log *log, uint8_t type,
                               const char *format, ...) {
  if (!os_log_type_enabled(log, type)) {
    return;
  }
  char *plain = plain_format(format);
  va_list arguments;
  va_start(arguments, format);
  const id text = plain ? string_create_format(plain, arguments) : NULL;
  va_end(arguments);
  free(plain);
  fprintf(stderr, "%s%s%s%s%s\n", log ? log->subsystem : "", log ? ":" : "",
          log ? log->topic : "", log ? " " : "", string_utf8(text));
  objc_release(text);
}
