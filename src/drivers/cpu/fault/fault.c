// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault.c: handles the signals of kernels that trap or access unmapped memory.
// Kernels run on a stack of their own (workspace.h). The thread jumps back to
// where it entered the kernel, and the command buffer fails with fault_text.c's
// text. Other signals go to the handlers that were installed before, also those
// of a client's handler that has interrupted a kernel.
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

#include "check/check.h"
#include "drivers/cpu/cpu.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51  // Linux 5.14, include/uapi/linux/auxvec.h
#endif

enum {
  // stack that the driver needs on the thread that runs a kernel
  STACK_NEEDED_BYTES = 48 * 1024,
  // stack for the handlers, after the registers that the system saves
  HANDLER_BYTES = 2 * 1024,
  SIGNAL_STACK_EXTRA_BYTES = 32 * 1024,
  OLDEST_MINSIGSTKSZ = 2048,
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals };

static struct sigaction earlier[SIGNAL_COUNT];
static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;

// The context of the kernel that this thread runs. Initial-exec: another
// thread-local model may allocate on first use, which a handler must not.
_Thread_local cpu_context *volatile cpu_running
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
_Static_assert(offsetof(cpu_context, caller_stack) == 0, "stack_call.S");

void cpu_stack_call(void *stack_end, void (*function)(void *), void *argument);

static bool is_on_stack(const cpu_workspace *workspace, uintptr_t address) {
  return address >= (uintptr_t)workspace->stack &&
         address < (uintptr_t)workspace->stack_end;
}

// Runs on frames that sanitizers know nothing of.
__attribute__((no_sanitize_address, no_sanitize_thread)) static uintptr_t
word_at(uintptr_t address) {
  return *(const uintptr_t *)address;
}

#if defined(__x86_64__)
static void read_registers(const ucontext_t *state, cpu_fault *fault) {
  // Intel SDM vol. 3, 4.7 and 6.15
  enum {
    STACK_FAULT = 12,
    PROTECTION_FAULT = 13,
    PAGE_FAULT = 14,
    ALIGNMENT_FAULT = 17,
    WRITE_BIT = 2,
  };
  const greg_t trap = state->uc_mcontext.gregs[REG_TRAPNO];
  fault->is_access = trap == PAGE_FAULT;
  fault->is_improper = trap == STACK_FAULT || trap == PROTECTION_FAULT ||
                       trap == ALIGNMENT_FAULT;
  fault->is_write = (state->uc_mcontext.gregs[REG_ERR] & WRITE_BIT) != 0;
  fault->stack_pointer = (uintptr_t)state->uc_mcontext.gregs[REG_RSP];
  fault->instruction = (uintptr_t)state->uc_mcontext.gregs[REG_RIP];
}

// Finds the return address of a function without a frame.
static void read_link(const cpu_workspace *workspace, const ucontext_t *state,
                      cpu_fault *fault) {
  (void)state;
  if (is_on_stack(workspace, fault->stack_pointer) &&
      fault->stack_pointer % sizeof(uintptr_t) == 0) {
    fault->link = word_at(fault->stack_pointer);
  }
}
#elif defined(__aarch64__)
static void read_registers(const ucontext_t *state, cpu_fault *fault) {
  fault->is_improper = fault->signal == SIGBUS && fault->code == BUS_ADRALN;
  fault->is_access = !fault->is_improper &&
                     (fault->signal == SIGSEGV || fault->signal == SIGBUS);
  fault->stack_pointer = (uintptr_t)state->uc_mcontext.sp;
  fault->instruction = (uintptr_t)state->uc_mcontext.pc;
}

static void read_link(const cpu_workspace *workspace, const ucontext_t *state,
                      cpu_fault *fault) {
  (void)workspace;
  fault->link = (uintptr_t)state->uc_mcontext.regs[30];
}
#endif

// Passes a signal on as if this handler were not there.
static void forward_signal(int signal, siginfo_t *info, void *state) {
  const struct sigaction *action = earlier;
  for (int i = 0; i < SIGNAL_COUNT; i++) {
    action = signals[i] == signal ? &earlier[i] : action;
  }
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(signal, info, state);
  } else if (action->sa_handler == SIG_IGN && info->si_code <= 0) {
    return;  // sent by somebody, and ignored
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    // After the return the instruction faults again without this handler; a
    // signal that was sent is sent again.
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(signal, &plain, NULL);
    if (info->si_code <= 0) {
      raise(signal);
    }
  } else {
    action->sa_handler(signal);
  }
}

// True if a signal handler runs on a kernel's stack, from stack_pointer up: its
// frame returns to where all handlers' do.
static bool is_in_handler(const cpu_workspace *workspace,
                          uintptr_t stack_pointer, uintptr_t handlers_return) {
  uintptr_t at = (stack_pointer + sizeof at - 1) & ~(sizeof at - 1);
  for (; at < (uintptr_t)workspace->stack_end; at += sizeof at) {
    if (word_at(at) == handlers_return) {
      return true;
    }
  }
  return false;
}

// True if the fault is in the context's kernel, or in code that runs on the
// kernel's stack.
static bool is_kernels(const cpu_context *context, const cpu_fault *fault,
                       uintptr_t handlers_return) {
  const cpu_workspace *workspace = &context->workspace;
  return cpu_job_has_code(context->job, fault->instruction) ||
         (is_on_stack(workspace, fault->stack_pointer) &&
          !is_in_handler(workspace, fault->stack_pointer, handlers_return));
}

// Leaves a kernel that was interrupted, without a fault.
static void leave_interrupted(cpu_context *context, const cpu_fault *fault,
                              const ucontext_t *state) {
  cpu_running = NULL;
  context->fault =
      (cpu_fault){.is_stop = true, .instruction = fault->instruction};
  // The system blocks a signal in its handler.
  pthread_sigmask(SIG_SETMASK, &state->uc_sigmask, NULL);
  siglongjmp(context->jump, 1);
}

static void handle(int signal, siginfo_t *info, void *state) {
  const uintptr_t handlers_return = (uintptr_t)__builtin_return_address(0);
  cpu_context *context = cpu_running;
  cpu_fault fault = {.signal = signal,
                     .code = info->si_code,
                     .address = (uintptr_t)info->si_addr};
  read_registers(state, &fault);
  if (cpu_interrupt_is(info)) {
    if (context && cpu_interrupt_is_due(context, fault.instruction)) {
      leave_interrupted(context, &fault, state);
    }
    return;
  }
  if (fault.is_access && info->si_code > 0 && !context &&
      mtli_check_host_fault(fault.address, fault.is_write, fault.instruction)) {
    return;
  }
  // A code <= 0: another thread or process sent it.
  if (!context || info->si_code <= 0 ||
      !is_kernels(context, &fault, handlers_return)) {
    forward_signal(signal, info, state);
    return;
  }
  cpu_running = NULL;  // a fault from here on is not a kernel's
  read_link(&context->workspace, state, &fault);
  if (fault.is_improper) {
    uint64_t address = 0;
    fault.address = cpu_fault_find_operand(state, &address) ? (uintptr_t)address
                                                            : fault.address;
  }
  context->fault = fault;
  // Code between the kernel and this handler may have blocked more signals.
  pthread_sigmask(SIG_SETMASK, &((ucontext_t *)state)->uc_sigmask, NULL);
  siglongjmp(context->jump, 1);
}

static void stack_free(void *stack) {
  stack_t off = {.ss_flags = SS_DISABLE};
  sigaltstack(&off, NULL);
  free(stack);
}

static void install(void) {
  pthread_key_create(&stack_key, stack_free);
  struct sigaction action = {.sa_sigaction = handle,
                             // NODEFER: the jump out leaves the mask alone
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < SIGNAL_COUNT; i++) {
    sigaction(signals[i], &action, &earlier[i]);
  }
  cpu_interrupt_install(handle);
}

void cpu_fault_install(void) {
  pthread_once(&install_once, install);
}

// Returns the bytes between here and the end of the thread's stack.
static size_t stack_left_bytes(void) {
  pthread_attr_t attributes;
  void *first = NULL;
  size_t size_bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  pthread_attr_getstack(&attributes, &first, &size_bytes);
  pthread_attr_destroy(&attributes);
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return here - (uintptr_t)first;
}

// Returns the size of a signal's saved state. It grows with the processor's
// registers: 2 KiB at first, 3.5 KiB with AVX-512, 11 KiB with AMX.
static size_t signal_frame_bytes(void) {
  const size_t bytes = getauxval(AT_MINSIGSTKSZ);
  return bytes > OLDEST_MINSIGSTKSZ ? bytes : OLDEST_MINSIGSTKSZ;
}

static bool give_signal_stack(void) {
  const size_t size_bytes =
      signal_frame_bytes() + (size_t)SIGSTKSZ + SIGNAL_STACK_EXTRA_BYTES;
  void *bytes = malloc(size_bytes);
  const stack_t stack = {.ss_sp = bytes, .ss_size = size_bytes};
  if (!bytes || sigaltstack(&stack, NULL) != 0) {
    free(bytes);
    return false;
  }
  free(pthread_getspecific(stack_key));  // the client has replaced it
  pthread_setspecific(stack_key, bytes);
  return true;
}

// True if the thread has a signal stack, its own or one from here. A client's
// stack that is too small for this processor stays: its threads run no kernels.
static bool has_signal_stack(void) {
  stack_t present;
  if (sigaltstack(NULL, &present) != 0) {
    return false;
  }
  return present.ss_flags & SS_DISABLE
             ? give_signal_stack()
             : present.ss_size >= signal_frame_bytes() + HANDLER_BYTES;
}

bool cpu_fault_prepare_thread(void) {
  // A client that gives its thread another signal stack does so early.
  enum { CHECKS = 64 };
  static _Thread_local struct {
    uintptr_t lowest_frame;  // too little stack is left below it
    bool has_signal_stack;
    uint32_t count;
  } thread;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (thread.lowest_frame == 0) {
    thread.lowest_frame = here - stack_left_bytes() + STACK_NEEDED_BYTES;
  }
  if (thread.count < CHECKS || thread.count % CHECKS == 0) {
    thread.has_signal_stack = has_signal_stack();  // a system call
  }
  thread.count++;
  return here >= thread.lowest_frame && thread.has_signal_stack;
}

cpu_context *cpu_context_create(cpu_pool *pool) {
  cpu_context *context = calloc(1, sizeof *context);
  if (context) {
    context->pool = pool;
  }
  return context;
}

void cpu_context_destroy(cpu_context *context) {
  cpu_workspace_destroy(&context->workspace);
  free(context);
}

// Reserves the context's memory for a job. False when out of memory.
static bool reserve(cpu_context *context, const cpu_job *job) {
  cpu_workspace *workspace = &context->workspace;
  if (!workspace->first && !cpu_workspace_create(workspace)) {
    return false;
  }
  const size_t margins_bytes = 2 * MTLI_CPU_SCRATCH_MARGIN_BYTES;
  char *front = cpu_workspace_front(
      workspace, sizeof(mtli_cpu_position) + job->launch.threadgroup_bytes,
      job->margin_bytes);
  if (!front ||
      !cpu_workspace_keep(workspace, job->kept_bytes + margins_bytes)) {
    return false;
  }
  memset(front, 0, sizeof(mtli_cpu_position));
  context->scratch = front;
  context->kept = workspace->kept + MTLI_CPU_SCRATCH_MARGIN_BYTES;
  context->placed_bytes = job->launch.threadgroup_bytes;
  context->placed_margin_bytes = job->margin_bytes;
  return true;
}

// True if the context has the memory that a job needs, in its place.
static bool is_reserved(const cpu_context *context, const cpu_job *job) {
  return context->scratch &&
         context->placed_bytes == job->launch.threadgroup_bytes &&
         context->placed_margin_bytes == job->margin_bytes &&
         job->kept_bytes + 2 * MTLI_CPU_SCRATCH_MARGIN_BYTES <=
             context->workspace.kept_bytes;
}

// The arguments of a function that runs on a kernel's stack.
typedef struct guarded_run {
  cpu_job *job;
  uint64_t first;
  uint64_t end;
  cpu_context *context;
} guarded_run;

static void run_pieces(void *argument) {
  const guarded_run *run = argument;
  run->job->run(run->job, run->first, run->end, run->context);
}

static void run_finish(void *argument) {
  const guarded_run *run = argument;
  run->context->unfinished_code->finish(run->context->scratch);
}

static void call_guarded(void (*function)(void *), guarded_run *run) {
  cpu_context *context = run->context;
  context->job = run->job;
  // The mask is not saved, which would be a system call: the handlers leave it
  // alone. Both relaxed: a hint for the overseer, which looks again.
  atomic_store_explicit(&context->busy_with, run->job->queue,
                        memory_order_relaxed);
  if (sigsetjmp(context->jump, 0) == 0) {
    cpu_running = context;
    cpu_stack_call(context->workspace.stack_end, function, run);
    cpu_running = NULL;
  } else if (run->job->is_screened && !context->fault.is_stop) {
    run->job->is_suspect = true;
    context->unfinished = NULL;  // its deferred additions are dropped
    cpu_workspace_recover(&context->workspace, context->fault.address);
  } else {
    cpu_fault_report(run->job, context);
    cpu_workspace_recover(&context->workspace, context->fault.address);
  }
  atomic_store_explicit(&context->busy_with, NULL, memory_order_relaxed);
}

void cpu_fault_run_guarded(cpu_job *job, uint64_t first, uint64_t end,
                           cpu_context *context) {
  if (!is_reserved(context, job) && !reserve(context, job)) {
    cpu_queue_fail(job->queue, MTL_OUT_OF_MEMORY,
                   "no memory for a worker's %zu bytes of threadgroup memory "
                   "and values across barriers",
                   job->kept_bytes + job->launch.threadgroup_bytes);
    return;
  }
  guarded_run run = {job, first, end, context};
  call_guarded(run_pieces, &run);
}

void cpu_context_finish(cpu_job *job, cpu_context *context) {
  const cpu_code *code = context->unfinished;
  if (!code) {
    return;
  }
  context->unfinished = NULL;
  context->unfinished_code = code->code;
  guarded_run run = {.job = job, .context = context};
  call_guarded(run_finish, &run);
}
