// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault.c: what becomes of a kernel that touches memory that is not there or
// traps. Its thread jumps back to where it began the kernel, and the command
// buffer fails with the kernel's name, the thread's position and the address.
// Signals that are not a kernel's go to the handlers that were there before.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "drivers/cpu/cpu.h"

enum {
  // A kernel on a client's thread needs this much of its stack.
  STACK_NEEDED_BYTES = 512 * 1024,
  // For the handlers: registers of the widest vectors and some frames.
  SIGNAL_STACK_EXTRA_BYTES = 32 * 1024,
};

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { SIGNAL_COUNT = sizeof signals / sizeof *signals };

static struct sigaction earlier[SIGNAL_COUNT];
static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;

// The context that runs a kernel on this thread. Initial-exec: a handler may
// not allocate, as the first use of another kind could.
static _Thread_local cpu_context *volatile running
    __attribute__((tls_model("initial-exec")));

// Private memory that does not fit, rather than a buffer.
static bool is_near_stack(const cpu_fault *fault) {
  enum { STACK_NEAR_BYTES = 64 * 1024 };
  return fault->stack_pointer - fault->address < STACK_NEAR_BYTES ||
         fault->address - fault->stack_pointer < STACK_NEAR_BYTES / 16;
}

#if defined(__x86_64__)
// Of frames that sanitizers know nothing of.
__attribute__((no_sanitize_address, no_sanitize_thread)) static uintptr_t
word_at(uintptr_t address) {
  return *(const uintptr_t *)address;
}

static void read_registers(const ucontext_t *state, cpu_fault *fault) {
  enum { PAGE_FAULT = 14, WRITE_BIT = 2 };  // Intel SDM vol. 3, 4.7 and 6.15
  fault->is_access = state->uc_mcontext.gregs[REG_TRAPNO] == PAGE_FAULT;
  fault->is_write = (state->uc_mcontext.gregs[REG_ERR] & WRITE_BIT) != 0;
  fault->stack_pointer = (uintptr_t)state->uc_mcontext.gregs[REG_RSP];
  fault->instruction = (uintptr_t)state->uc_mcontext.gregs[REG_RIP];
  // A jump to an address that has no code leaves a stack that may not be one.
  if (fault->is_access && fault->address != fault->instruction &&
      !is_near_stack(fault)) {
    fault->link = word_at(fault->stack_pointer);
  }
}
#elif defined(__aarch64__)
static void read_registers(const ucontext_t *state, cpu_fault *fault) {
  fault->is_access = fault->signal == SIGSEGV || fault->signal == SIGBUS;
  fault->stack_pointer = (uintptr_t)state->uc_mcontext.sp;
  fault->instruction = (uintptr_t)state->uc_mcontext.pc;
  fault->link = (uintptr_t)state->uc_mcontext.regs[30];
}
#endif

// Passes a signal on as if this handler were not there.
static void pass_on(int signal, siginfo_t *info, void *state) {
  const struct sigaction *action = earlier;
  for (int i = 0; i < SIGNAL_COUNT; i++) {
    action = signals[i] == signal ? &earlier[i] : action;
  }
  if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(signal, info, state);
  } else if (action->sa_handler == SIG_IGN && info->si_code <= 0) {
    return;  // somebody sent it, and it is ignored
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    // The instruction faults again without us; a sent signal is sent again.
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(signal, &plain, NULL);
    if (info->si_code <= 0) {
      raise(signal);
    }
  } else {
    action->sa_handler(signal);
  }
}

static void handle(int signal, siginfo_t *info, void *state) {
  cpu_context *context = running;
  if (!context || info->si_code <= 0) {  // <= 0: sent, not caused here
    pass_on(signal, info, state);
    return;
  }
  running = NULL;  // a fault of what follows is not a kernel's
  context->fault =
      (cpu_fault){.signal = signal, .address = (uintptr_t)info->si_addr};
  read_registers(state, &context->fault);
  // Whoever stands between the kernel and this handler may have blocked more.
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

static bool prepare_signal_stack(void) {
  stack_t present;
  if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE)) {
    return true;
  }
  const size_t size_bytes =
      (size_t)sysconf(_SC_SIGSTKSZ) + SIGNAL_STACK_EXTRA_BYTES;
  void *bytes = malloc(size_bytes);
  const stack_t stack = {.ss_sp = bytes, .ss_size = size_bytes};
  if (!bytes || sigaltstack(&stack, NULL) != 0) {
    free(bytes);
    return false;
  }
  pthread_setspecific(stack_key, bytes);
  return true;
}

bool cpu_fault_prepare_thread(void) {
  enum { UNKNOWN, GOOD, BAD };
  static _Thread_local struct {
    int verdict;
    uintptr_t lowest_frame;  // below it too little stack is left
  } thread;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (thread.verdict == UNKNOWN) {
    const size_t left_bytes = stack_left_bytes();
    thread.lowest_frame = here - left_bytes + STACK_NEEDED_BYTES;
    thread.verdict =
        left_bytes >= STACK_NEEDED_BYTES && prepare_signal_stack() ? GOOD : BAD;
  }
  return thread.verdict == GOOD && here >= thread.lowest_frame;
}

cpu_context *cpu_context_create(cpu_pool *pool) {
  cpu_context *context = calloc(1, sizeof *context);
  if (context) {
    context->pool = pool;
  }
  return context;
}

void cpu_context_destroy(cpu_context *context) {
  free(context->scratch_memory);
  free(context);
}

bool cpu_context_reserve(cpu_context *context, size_t size_bytes) {
  if (context->scratch_bytes >= size_bytes) {
    return true;
  }
  // Grows by half at least, so that a series of kernels settles soon.
  const size_t grown_bytes = context->scratch_bytes / 2 * 3;
  size_bytes = size_bytes > grown_bytes ? size_bytes : grown_bytes;
  size_bytes = (size_bytes + 4095) & ~(size_t)4095;
  void *memory = NULL;
  if (posix_memalign(&memory, MTLI_CPU_SCRATCH_ALIGNMENT,
                     size_bytes + 2 * MTLI_CPU_SCRATCH_MARGIN_BYTES) != 0) {
    return false;
  }
  free(context->scratch_memory);
  context->scratch_memory = memory;
  context->scratch = (char *)memory + MTLI_CPU_SCRATCH_MARGIN_BYTES;
  memset(context->scratch, 0, sizeof(mtli_cpu_position));
  context->scratch_bytes = size_bytes;
  return true;
}

static const char *signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
  }
  return "a signal";
}

// Why the code stopped itself, as it noted itself (cpu_abi.h).
static void describe_stop(const cpu_context *context, char *text,
                          size_t capacity) {
  enum { STOPPED_BY_TRAP = 1, STOPPED_BY_ASSERTION, STOPPED_AS_SAID };
  uint32_t reason = 0;
  const char *note = NULL;
  if (context->scratch) {
    const char *scratch = context->scratch;
    reason = ((const mtli_cpu_position *)scratch)->reserved[0];
    memcpy(&note, scratch + MTLI_CPU_TRAP_TEXT_OFFSET, sizeof note);
  }
  if ((reason == STOPPED_BY_ASSERTION || reason == STOPPED_AS_SAID) && note) {
    snprintf(text, capacity, "%s%s (%s)",
             reason == STOPPED_AS_SAID ? "" : "assertion failed: ", note,
             signal_name(context->fault.signal));
    return;
  }
  snprintf(text, capacity, "%s (%s)",
           reason == STOPPED_BY_TRAP        ? "it called __builtin_trap"
           : reason == STOPPED_BY_ASSERTION ? "an assertion failed"
                                            : "it trapped",
           signal_name(context->fault.signal));
}

// What happened, in words.
static void describe(const cpu_job *job, const cpu_context *context, char *text,
                     size_t capacity) {
  const cpu_fault *fault = &context->fault;
  if (!fault->is_access) {
    describe_stop(context, text, capacity);
    return;
  }
  if (is_near_stack(fault)) {
    snprintf(text, capacity, "its private memory does not fit on the stack");
    return;
  }
  char place[256];
  mtli_describe_address(job->queue->queue.device, fault->address, place,
                        sizeof place);
  snprintf(text, capacity, "it %s address %#zx%s%s (%s)",
           fault->is_write ? "wrote to" : "read", (size_t)fault->address,
           *place                  ? ", "
           : fault->address < 4096 ? ", a null pointer"
                                   : "",
           place, signal_name(fault->signal));
}

// --- the line ----------------------------------------------------------------

static bool find_line_in(const cpu_code *code, uintptr_t address, char *file,
                         size_t capacity, uint32_t *line) {
  Dl_info own;
  Dl_info other;
  return code->lines.bytes && dladdr(code->code, &own) &&
         dladdr((const void *)address, &other) &&
         own.dli_fbase == other.dli_fbase &&
         cpu_lines_find(&code->lines, address - (uintptr_t)own.dli_fbase, file,
                        capacity, line);
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text);
  const size_t end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

// Writes "file:line, " of the instruction that faulted, or of the call if it is
// in a function that has no lines, such as memcpy; or nothing.
static void write_line(const cpu_job *job, const cpu_fault *fault, char *out,
                       size_t capacity) {
  const char *kernels_file = job->command->dispatch.pipeline->kernel->file;
  const cpu_code *codes[] = {job->code, job->edge_code};
  const uintptr_t addresses[] = {fault->instruction, fault->link - 1};
  *out = 0;
  for (int i = 0; i < 4; i++) {
    char file[256];
    uint32_t line = 0;
    const cpu_code *code = codes[i % 2];
    if (code &&
        find_line_in(code, addresses[i / 2], file, sizeof file, &line)) {
      const bool is_kernels = kernels_file && ends_with(kernels_file, file);
      snprintf(out, capacity, "%s:%u, ", is_kernels ? kernels_file : file,
               line);
      return;
    }
  }
}

// Fails the command buffer with what happened and where.
static void report(const cpu_job *job, const cpu_context *context) {
  char what[512];
  describe(job, context, what, sizeof what);
  if (job->command->kind == MTLI_COMMAND_HOST_WORK) {
    cpu_queue_fail(job->queue, MTL_KERNEL_FAULT, "host work '%s' failed: %s",
                   job->command->host_work.name, what);
    return;
  }
  if (job->command->kind != MTLI_COMMAND_DISPATCH) {
    cpu_queue_fail(job->queue, MTL_KERNEL_FAULT,
                   "a blit reached memory that is gone: %s", what);
    return;
  }
  const mtli_dispatch *dispatch = &job->command->dispatch;
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const mtli_cpu_launch *launch = &job->launch;
  const mtli_cpu_position *position = context->scratch;
  char line[320];
  write_line(job, &context->fault, line, sizeof line);
  uint32_t thread[3], group[3];
  uint32_t rest = position->thread_in_group;
  for (int i = 0; i < 3; i++) {
    // The last threadgroup along a side may be smaller.
    const uint32_t first = position->group[i] * launch->group_threads[i];
    const uint32_t left = launch->grid_threads[i] - first;
    const uint32_t side =
        left < launch->group_threads[i] ? left : launch->group_threads[i];
    const uint32_t place = first + (side ? rest % side : 0);
    rest = side ? rest / side : 0;
    // In the threadgroups that the program has chosen.
    group[i] = place / dispatch->group_threads[i];
    thread[i] = place % dispatch->group_threads[i];
  }
  cpu_queue_fail(job->queue, MTL_KERNEL_FAULT,
                 "kernel '%s' (%s:%u)%s%s%s failed at %sthread (%u, %u, %u) of "
                 "threadgroup "
                 "(%u, %u, %u): %s",
                 kernel->name, kernel->file ? kernel->file : "", kernel->line,
                 dispatch->debug_group ? " in debug group '" : "",
                 dispatch->debug_group ? dispatch->debug_group : "",
                 dispatch->debug_group ? "'" : "", line, thread[0], thread[1],
                 thread[2], group[0], group[1], group[2], what);
}

void cpu_fault_run_guarded(cpu_job *job, uint64_t first, uint64_t end,
                           cpu_context *context) {
  if (!cpu_context_reserve(context, job->scratch_bytes)) {
    cpu_queue_fail(job->queue, MTL_OUT_OF_MEMORY,
                   "no memory for a worker's %zu bytes of threadgroup memory "
                   "and values across barriers",
                   job->scratch_bytes);
    return;
  }
  // The mask is not saved: the handlers leave it alone, and saving it would be
  // a system call.
  if (sigsetjmp(context->jump, 0) == 0) {
    running = context;
    job->run(job, first, end, context);
    running = NULL;
  } else {
    report(job, context);
  }
}

void cpu_context_finish(cpu_job *job, cpu_context *context) {
  const cpu_code *code = context->unfinished;
  if (!code) {
    return;
  }
  context->unfinished = NULL;
  if (sigsetjmp(context->jump, 0) == 0) {
    running = context;
    code->code->finish(context->scratch);
    running = NULL;
  } else {
    report(job, context);
  }
}
