// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interrupt.c: interrupts a thread that runs a kernel, by a real-time signal
// that nothing else in the process uses. The fault handler serves it. It jumps
// out only of the kernel's own instructions, so no library function is left
// half done.
#include <dlfcn.h>
#include <stddef.h>

#include "drivers/cpu/cpu.h"

enum { FIRST_TRIED = 2, LAST_TRIED = 12 };  // below SIGRTMAX, which valgrind
                                            // uses

static int number;  // 0: no signal is free
static cpu_signal_handler *handler;
static const char token;  // its address marks our signals

// ThreadSanitizer delays all signals but those of faults until the thread calls
// something that it intercepts; so under it one of those is used.
static int choose(void) {
  if (dlsym(RTLD_DEFAULT, "__tsan_init")) {
    return SIGILL;
  }
  for (int below = FIRST_TRIED; below <= LAST_TRIED; below++) {
    struct sigaction present;
    if (sigaction(SIGRTMAX - below, NULL, &present) == 0 &&
        !(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL) {
      return SIGRTMAX - below;
    }
  }
  return 0;
}

static void install(void) {
  // Without SA_NODEFER: real-time signals queue, and several may have come
  // while the thread did not run.
  struct sigaction action = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, NULL);
}

void cpu_interrupt_install(cpu_signal_handler *faults) {
  handler = faults;
  number = choose();
  if (number && number != SIGILL) {
    install();
  }
}

// True if the signal reaches our handler; a handler that the program has
// installed instead stays.
static bool is_installed(void) {
  struct sigaction present;
  if (!number || sigaction(number, NULL, &present) != 0) {
    return false;
  }
  if (!(present.sa_flags & SA_SIGINFO) && present.sa_handler == SIG_DFL) {
    install();
    return true;
  }
  return present.sa_sigaction == handler;
}

void cpu_interrupt_send(pthread_t thread) {
  if (is_installed()) {
    pthread_sigqueue(thread, number,
                     (union sigval){.sival_ptr = (void *)&token});
  }
}

bool cpu_interrupt_is(const siginfo_t *info) {
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &token;
}

// True if an error can name the line of an instruction. Safe in a handler.
static bool has_line(const cpu_code *code, uintptr_t instruction) {
  char file[256];
  uint32_t line = 0;
  return cpu_code_has(code, instruction) &&
         (!code->lines.bytes ||
          cpu_lines_find(&code->lines, instruction - code->base, file,
                         sizeof file, &line));
}

bool cpu_interrupt_is_due(cpu_context *context, uintptr_t instruction) {
  enum { MOST_WAITS = 8 };
  const cpu_job *job = context->job;
  // Relaxed: it stays set until the thread has left.
  if (atomic_load_explicit(&job->queue->stop, memory_order_relaxed) == MTL_OK ||
      !cpu_job_has_code(job, instruction)) {
    return false;
  }
  // Code that the compiler added between threads has no line.
  if (context->waits_for_line < MOST_WAITS &&
      !has_line(job->code, instruction) &&
      !has_line(job->edge_code, instruction)) {
    context->waits_for_line++;
    return false;
  }
  context->waits_for_line = 0;
  return true;
}

bool cpu_interrupt_open_mask(sigset_t *out_before) {
  static _Thread_local enum { UNKNOWN, OPEN, BLOCKED } mask
      __attribute__((tls_model("initial-exec")));
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  if (mask == OPEN) {
    return false;
  }
  sigset_t needed;
  sigemptyset(&needed);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    sigaddset(&needed, faults[i]);
  }
  if (number) {
    sigaddset(&needed, number);
  }
  if (mask == UNKNOWN) {
    mask = OPEN;
    pthread_sigmask(SIG_BLOCK, NULL, out_before);
    for (int i = 1; i < NSIG; i++) {
      if (sigismember(&needed, i) == 1 && sigismember(out_before, i) == 1) {
        mask = BLOCKED;
      }
    }
  }
  if (mask == OPEN) {
    return false;
  }
  pthread_sigmask(SIG_UNBLOCK, &needed, out_before);
  return true;
}
