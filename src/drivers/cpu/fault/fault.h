// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault.h: prepares a thread to run kernels, so that a fault or an interrupt
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
  int code;               // si_code of siginfo_t
  uintptr_t address;      // address of the access, or else of the instruction
  uintptr_t instruction;  // the instruction that faulted
  uintptr_t link;  // return address of a function without a frame; 0: unknown
  uintptr_t stack_pointer;
  bool is_access;  // a memory access
  bool is_write;
  // An access to an address that cannot exist, or that is misaligned for its
  // instruction. The address is 0 if it is not known.
  bool is_improper;
  bool is_stop;  // no fault: the command buffer must end
} cpu_fault;

struct cpu_context {
  void *caller_stack;  // the thread's stack, while a kernel runs (stack_call.S)
  cpu_context *next;   // list of free contexts, in the pool
  cpu_pool *pool;
  bool is_extra;           // its worker was added beyond the pool's first ones
  bool is_light;           // its thread will look for work soon (pool.c)
  bool is_looking;         // its thread spins for work, or is about to
  cpu_squad *squad;        // the squad that its thread spins with (pool.c)
  uint32_t number;         // number of the thread, in the pool
  uint64_t look_until_ns;  // a worker spins until then: it was lately in a
                           // shared job
  // The queue that its thread spins for, and the next such context; under the
  // pool's lock.
  uintptr_t stays_for;
  cpu_context *next_stayer;
  // Of a client's thread (help.c): it runs a queue that it does not wait for;
  // it has left such a queue because of long work.
  bool is_visiting;
  bool has_left;
  cpu_workspace workspace;  // none until the first job
  // See cpu_abi.h; all in the workspace, for the current job. After a move the
  // position is all zero.
  void *scratch;
  void *kept;
  size_t placed_bytes;  // size of threadgroup memory in scratch, and its
                        // padding
  size_t placed_margin_bytes;
  const cpu_job *job;  // the running job, or the last one
  // The queue for which the thread runs work; NULL for none. The overseer reads
  // it.
  _Atomic(cpu_queue *) busy_with;
  const cpu_code *unfinished;  // code with deferred additions in scratch
  const mtli_cpu_code *unfinished_code;  // code whose deferred additions are
                                         // being performed
  sigjmp_buf jump;
  cpu_fault fault;
  uint32_t waits_for_line;  // interrupts skipped, until an instruction with a
                            // source line
  // Under the pool's lock:
  cpu_context *next_of_all;  // in the pool
  pthread_t thread;          // that has it
  bool has_thread;
};

cpu_context *cpu_context_create(cpu_pool *pool);
void cpu_context_destroy(cpu_context *context);

// Installs the signal handlers, once in the process.
void cpu_fault_install(void);
// Allocates the calling thread a signal stack if it has none. False if that
// fails, or too little stack is left to run a kernel on the thread.
bool cpu_fault_prepare_thread(void);
// Runs pieces of job on the calling thread. A fault fails the job's command
// buffer; other jobs and threads go on.
void cpu_fault_run_guarded(cpu_job *job, uint64_t first, uint64_t end,
                           cpu_context *context);
// Performs the additions that the code in scratch has deferred, if any: before
// its thread leaves the job, and before other code runs there. Faults are
// caught here too.
void cpu_context_finish(cpu_job *job, cpu_context *context);

// fault_operand.c: finds the address that the instruction of a signal's
// ucontext_t accesses. False if it is not known.
bool cpu_fault_find_operand(const void *signal_state, uint64_t *out_address);
// fault_text.c: fails the command buffer with a text about the fault and its
// place.
void cpu_fault_report(const cpu_job *job, const cpu_context *context);

// True if an instruction belongs to the kernel of the job.
static inline bool cpu_job_has_code(const cpu_job *job, uintptr_t instruction) {
  return cpu_code_has(job->code, instruction) ||
         cpu_code_has(job->edge_code, instruction);
}

// --- interrupt.c -------------------------------------------------------------

typedef void cpu_signal_handler(int signal, siginfo_t *info, void *state);
// Chooses a signal for interrupts and installs its handler, once.
void cpu_interrupt_install(cpu_signal_handler *faults);
// Interrupts a thread, which leaves its kernel if its queue must stop. May have
// no effect. The thread exists.
void cpu_interrupt_send(pthread_t thread);
// For the handler: whether a signal is an interrupt, and whether the thread
// must leave: it runs an instruction of a kernel whose queue must stop.
bool cpu_interrupt_is(const siginfo_t *info);
bool cpu_interrupt_is_due(cpu_context *context, uintptr_t instruction);
// Unblocks the signals that kernels need, where the client's thread has blocked
// them. True if it did: restore out_before later.
bool cpu_interrupt_open_mask(sigset_t *out_before);

// --- lines.c -----------------------------------------------------------------

// Copies the line table of a shared object; nothing if it has none, or memory
// is short.
void cpu_lines_copy(const mtli_blob *elf, cpu_lines *out_lines);
// Finds the source line of an instruction, by its offset in the object. False
// if it has none. The file is as the compiler was given it.
bool cpu_lines_find(const cpu_lines *lines, uint64_t address, char *out_file,
                    size_t capacity, uint32_t *out_line);

#endif
