// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread.c: pthread_create with all asynchronous signals blocked.
#include "base/thread.h"

#include <signal.h>
#include <stddef.h>

// Room for the private arrays of a kernel's 32 lanes, whatever ulimit -s says;
// only what is touched takes memory.
enum { STACK_BYTES = 8 * 1024 * 1024 };

bool mtli_thread_start(pthread_t *out_thread, const char *name,
                       void *(*run)(void *), void *context) {
  sigset_t mask;
  sigset_t before;
  sigfillset(&mask);
  static const int synchronous[] = {SIGSEGV, SIGBUS,  SIGFPE,
                                    SIGILL,  SIGTRAP, SIGPROF};
  for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++) {
    sigdelset(&mask, synchronous[i]);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_sigmask(SIG_SETMASK, &mask, &before);
  const int result = pthread_create(out_thread, &attributes, run, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (result == 0) {
    pthread_setname_np(*out_thread, name);
  }
  return result == 0;
}

void mtli_thread_end(pthread_t thread) {
  if (pthread_equal(thread, pthread_self())) {
    pthread_detach(thread);
  } else {
    pthread_join(thread, NULL);
  }
}
