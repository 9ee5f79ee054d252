// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault.h: what a thread needs to run kernels, so that a fault or an interrupt
// ends the command buffer and not the process.
#ifndef MTLI_CPU_FAULT_H
#define MTLI_CPU_FAULT_H

#include <setjmp.h>
#include <signal.h>

#include "drivers/cpu/cpu_objects.h"
#include "drivers/cpu/workspace.h"

// --- fault.c: what a thread that runs kernels needs --------------------------

typedef struct cpu_fault {
  int signal;
  int code;               // siginfo_t's
  uintptr_t address;      // that was accessed, or of the instruction
  uintptr_t instruction;  // that faulted
  uintptr_t link;  // where a function without a frame returns to; 0: unknown
  uintptr_t stack_pointer;
  bool is_access;  // a memory access
  bool is_write;
  // An access to an address that no memory can have, or that is not a multiple
  // of what its instruction demands. The address is 0 if it is not known.
  bool is_improper;
  bool is_stop;  // no fault: the command buffer was to end
} cpu_fault;

struct cpu_context {
  void *caller_stack;  // of the thread, while a kernel runs (stack_call.S)
  cpu_context *next;   // free ones, in the pool
  cpu_pool *pool;
  bool is_extra;           // of a worker beyond those that the pool began with
  bool is_light;           // its thread has not begun on anything long (pool.c)
  bool is_looking;         // it looks out, or is about to
  cpu_squad *squad;        // whom its thread looks out with (pool.c)
  uint32_t number;         // of the thread, in the pool
  uint64_t look_until_ns;  // a worker: it has lately been in a shared job
  // The queue that its thread looks out for, and the next such context; under
  // the pool's lock.
  uintptr_t stays_for;
  cpu_context *next_stayer;
  // Of a client's thread (help.c): it runs a queue that it does not wait for;
  // it has left such a one because of long work.
  bool is_visiting;
  bool has_left;
  cpu_workspace workspace;  // none until the first job
  // cpu_abi.h; in the workspace, for the job at hand. What has changed place
  // has a position of zeros.
  void *scratch;
  void *kept;
  size_t placed_bytes;  // the threadgroup memory in scratch, and its margin
  size_t placed_margin_bytes;
  const cpu_job *job;  // that runs, or ran last
  // The queue whose work its thread is in; NULL between. Read by the overseer.
  _Atomic(cpu_queue *) busy_with;
  const cpu_code *unfinished;  // has run in scratch and has to be finished
  const mtli_cpu_code *unfinished_code;  // being finished
  sigjmp_buf jump;
  cpu_fault fault;
  uint32_t waits_for_line;  // interrupts let pass for a better place
  // Under the pool's lock:
  cpu_context *next_of_all;  // in the pool
  pthread_t thread;          // that has it
  bool has_thread;
};

cpu_context *cpu_context_create(cpu_pool *pool);
void cpu_context_destroy(cpu_context *context);

// Installs the signal handlers, once in the process.
void cpu_fault_install(void);
// Gives the calling thread a stack for signals if it has none; false if it
// cannot have one or too little stack is left to run a kernel on it.
bool cpu_fault_prepare_thread(void);
// Runs pieces of job on the calling thread. A fault fails the job's command
// buffer; other jobs and threads go on.
void cpu_fault_run_guarded(cpu_job *job, uint64_t first, uint64_t end,
                           cpu_context *context);
// Has the code that ran in the scratch do what it left to do, if it did: before
// its thread leaves the job, and before other code runs there. Guarded too.
void cpu_context_finish(cpu_job *job, cpu_context *context);

// fault_operand.c: finds the address that the instruction of a signal's
// ucontext_t accesses. False if that is not known.
bool cpu_fault_find_operand(const void *signal_state, uint64_t *out_address);
// fault_text.c: fails the command buffer with what happened and where.
void cpu_fault_report(const cpu_job *job, const cpu_context *context);

// True if an instruction is one of the kernel's that the job runs.
static inline bool cpu_job_has_code(const cpu_job *job, uintptr_t instruction) {
  return cpu_code_has(job->code, instruction) ||
         cpu_code_has(job->edge_code, instruction);
}

// --- interrupt.c -------------------------------------------------------------

typedef void cpu_signal_handler(int signal, siginfo_t *info, void *state);
// Chooses a signal and has it come to the handler of faults, once.
void cpu_interrupt_install(cpu_signal_handler *faults);
// Has a thread leave the kernel that it runs if its queue is to stop; may come
// to nothing. The thread exists.
void cpu_interrupt_send(pthread_t thread);
// In the handler: whether a signal is an interrupt, and whether the thread is
// to leave what it was at: a kernel's instruction, of a queue that is to stop.
bool cpu_interrupt_is(const siginfo_t *info);
bool cpu_interrupt_is_due(cpu_context *context, uintptr_t instruction);
// Unblocks the signals of kernels where the calling thread's client has blocked
// them when it came first. True if so: out_before is to be restored.
bool cpu_interrupt_open_mask(sigset_t *out_before);

// --- lines.c -----------------------------------------------------------------

// Keeps what tells lines of a shared object; nothing if it has none, or there
// is no memory.
void cpu_lines_copy(const mtli_blob *elf, cpu_lines *out_lines);
// Finds the line of the instruction at an address within the object. False if
// it has none. Writes the file as the compiler was given it.
bool cpu_lines_find(const cpu_lines *lines, uint64_t address, char *out_file,
                    size_t capacity, uint32_t *out_line);

#endif
