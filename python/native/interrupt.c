// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interrupt.c: tells of SIGINT while the main thread waits in C, where Python
// runs no handlers. A thread of the package reads the pipe and cancels what
// is waited for; the wait returns, and Python raises KeyboardInterrupt.
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "launch.h"

static atomic_int interrupt_fd = -1;
static struct sigaction next;  // written by the main thread alone

static void tell(void) {
  const int fd = atomic_load_explicit(&interrupt_fd, memory_order_relaxed);
  const char one = 1;
  const int error = errno;
  if (fd >= 0 && write(fd, &one, sizeof one) < 0) {
    // The pipe is full: it has been told.
  }
  errno = error;
}

static void on_interrupt(int number, siginfo_t *information, void *context) {
  tell();
  if (next.sa_flags & SA_SIGINFO) {
    next.sa_sigaction(number, information, context);
  } else {
    next.sa_handler(number);
  }
}

void mettle_watch_interrupts(int fd) {
  atomic_store_explicit(&interrupt_fd, fd, memory_order_relaxed);
  struct sigaction present;
  if (sigaction(SIGINT, NULL, &present) != 0 ||
      present.sa_sigaction == on_interrupt) {
    return;
  }
  // Neither ignored nor deadly: somebody's handler, Python's as a rule.
  if (!(present.sa_flags & SA_SIGINFO) && (present.sa_handler == SIG_DFL ||
                                           present.sa_handler == SIG_IGN)) {
    return;
  }
  struct sigaction ours = present;
  ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  ours.sa_sigaction = on_interrupt;
  next = present;
  sigaction(SIGINT, &ours, NULL);
}
