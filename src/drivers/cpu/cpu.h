// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu.h: the cpu driver's objects and slots.
//
// A queue is no thread but a list with a state. Whoever makes it runnable (a
// commit, an event) puts it into the pool's list; a worker, or the client's
// thread that waits, takes it and runs its commands, one queue on one thread at
// a time. A dispatch that is worth it becomes a job that other workers join;
// the last of them to leave goes on with the queue, so that nobody ever waits
// for anybody on a worker.
#ifndef MTLI_CPU_H
#define MTLI_CPU_H

#include <setjmp.h>
#include <signal.h>

#include "base/memory/pages.h"
#include "code/cpu_abi.h"
#include "drivers/cpu/workspace.h"
#include "runtime/driver.h"

typedef struct cpu_pool cpu_pool;
typedef struct cpu_late cpu_late;
typedef struct cpu_overseer cpu_overseer;
typedef struct cpu_squad cpu_squad;
typedef struct cpu_context cpu_context;
typedef struct cpu_queue cpu_queue;
typedef struct cpu_job cpu_job;

enum { CPU_DEVICE = 0, CPU_DISCRETE_DEVICE, CPU_DEVICE_COUNT };

typedef struct cpu_device {
  mtl_device device;
  cpu_pool *pool;
  cpu_late *late;           // of cpu-discrete; NULL on cpu
  uint64_t clock_start_ns;  // of cpu-discrete's clock
} cpu_device;

// Turns a time of CLOCK_MONOTONIC into the device's: the same on cpu.
uint64_t cpu_device_ticks(const cpu_device *device, uint64_t now_ns);

static inline uint64_t at_least(uint64_t value, uint64_t low) {
  return value < low ? low : value;
}

static inline uint64_t at_most(uint64_t value, uint64_t high) {
  return value > high ? high : value;
}

static inline bool cpu_is_discrete(const mtl_device *device) {
  return device->index == CPU_DISCRETE_DEVICE;
}

// A range of a managed buffer that the host wrote.
typedef struct cpu_range {
  struct cpu_range *next;
  size_t offset_bytes;
  size_t length_bytes;
} cpu_range;

typedef struct cpu_buffer {
  mtl_buffer buffer;
  mtli_pages memory;  // what kernels see; empty if it is the client's
  // cpu-discrete, shared and managed (coherence.c):
  mtli_pages host;       // what the host sees; empty if it is the client's
  mtli_pages synced;     // shared: the bytes on which both sides last agreed
  pthread_mutex_t lock;  // of the copies' coherence
  cpu_range *modified;   // managed: not yet copied to the device
} cpu_buffer;

// Parts of one heap may be the same memory: they have one lock.
static inline pthread_mutex_t *cpu_buffer_lock(cpu_buffer *buffer) {
  cpu_buffer *parent = (cpu_buffer *)buffer->buffer.parent;
  return parent ? &parent->lock : &buffer->lock;
}

// What tells source lines (lines.c): an object's line table, then its texts.
typedef struct cpu_lines {
  void *bytes;  // [table_bytes + text_bytes] malloc'ed; NULL if there are none
  size_t table_bytes;
  size_t text_bytes;
} cpu_lines;

// Machine code, loaded.
typedef struct cpu_code {
  cpu_lines lines;
  void *library;              // of dlopen
  int file;                   // the memory file it came from, or -1 if closed
  const mtli_cpu_code *code;  // in it
  // Where its instructions lie; kernels call nothing outside.
  uintptr_t base;  // what the linker added to the object's addresses
  uintptr_t first_instruction;
  uintptr_t end_instructions;
} cpu_code;

// True if an instruction is the code's. Safe in signal handlers.
static inline bool cpu_code_has(const cpu_code *code, uintptr_t instruction) {
  return code && instruction >= code->first_instruction &&
         instruction < code->end_instructions;
}

typedef struct cpu_variant cpu_variant;

// What a piece took lately, by one thread and shared with others that were
// looking out (habits.c); 0 if unknown.
typedef struct cpu_habit {
  _Atomic uint64_t piece_ps[2];
  _Atomic uint32_t count;
} cpu_habit;

enum { CPU_HABITS = 8 };  // for 1 piece, up to 3, 15, 63, ...

typedef struct cpu_pipeline {
  mtl_pipeline pipeline;
  cpu_code code;         // for threadgroups of pipeline.kernel->group_class
  pthread_mutex_t lock;  // of variants
  _Atomic(cpu_variant *) variants;  // for those of other classes; only grows
  _Atomic uint64_t group_ns;  // time of a threadgroup lately; 0 if unknown
  cpu_habit habits[CPU_HABITS];
  // Of a checked one: code that screens its dispatches; NULL for none.
  struct cpu_pipeline *screened;  // +1
} cpu_pipeline;

typedef struct cpu_event {
  mtl_event event;
  mtli_timeline timeline;
  // The queue that signals it, of the list committed last; to be compared and
  // never followed: it may be gone.
  _Atomic uintptr_t signaller;
} cpu_event;

// What a client's thread that helps came for: room in a queue, a command
// buffer, or an event's value. Zero is nothing.
typedef struct cpu_goal {
  const mtl_queue *queue;
  const mtl_command_buffer *command_buffer;
  cpu_event *event;
  uint64_t value;
} cpu_goal;

// Work that several threads share: pieces first to end - 1, run in any order.
typedef void cpu_job_run_fn(cpu_job *job, uint64_t first, uint64_t end,
                            cpu_context *context);

// A run of pieces: those from next on have not been taken. Each has a line of
// memory of its own.
typedef struct cpu_run {
  _Alignas(64) _Atomic uint64_t next;
  uint64_t end;
  _Atomic bool is_taken;  // some thread has begun with it
} cpu_run;

typedef struct cpu_slot cpu_slot;
typedef struct cpu_jobs cpu_jobs;

enum {
  CPU_RUNS = 64,   // of a job; more threads share them
  CPU_SLOTS = 64,  // jobs that are shared at once; a bit each
};

struct cpu_job {
  cpu_queue *queue;
  mtli_command *command;
  cpu_job_run_fn *run;
  // That run needs of a context, beside a position and launch's threadgroup
  // memory: what is kept across threadgroups and barriers.
  size_t kept_bytes;
  size_t margin_bytes;  // around position and threadgroup memory
  mtli_cpu_launch launch;
  // Of a dispatch: for its threadgroups, and for those cut off along x.
  const cpu_code *code;
  const cpu_code *edge_code;
  uint32_t piece_groups;  // of a dispatch: threadgroups in a piece
  uint64_t piece_count;
  bool is_in_order;  // one thread runs the pieces, from the first to the last
  // Of a job that is shared (jobs.c, pieces.c):
  cpu_slot *slot;
  cpu_run *runs;       // [run_count], the slot's
  uint32_t run_count;  // 0 as long as it is not shared
  uint64_t chunk;      // pieces taken at a time
  bool may_overlap;  // set by prepare: a command beside it needs no order
  // Of a checked dispatch: its code is screened, and has stopped.
  bool is_screened;
  bool is_by_group;  // the checker is told of each threadgroup
  bool is_suspect;
};

// A signal or a completion of cpu-discrete, on its way (late.c).
typedef struct cpu_late_item {
  struct cpu_late_item *next;
  uint64_t due_ns;
  void (*arrive)(struct cpu_late_item *item);
} cpu_late_item;

// The driver's part of a command.
// Of a dispatch's threadgroups, and of those that the grid cuts off.
typedef struct cpu_classes {
  mtli_group_class whole;
  mtli_group_class edge;
} cpu_classes;

typedef struct cpu_command {
  cpu_job job;
  // Of a dispatch, as cpu_dispatch_prepare found them; its threadgroups are in
  // the job then. An indirect one's are found when it runs.
  cpu_classes classes;
  bool has_classes;
  cpu_late_item late;
  mtli_command *command;
} cpu_command;

// The driver's part of a command buffer.
typedef struct cpu_list {
  cpu_late_item late;
  mtl_command_buffer *command_buffer;
  mtl_status status;  // the first failure of running it
  char *text;         // malloc'ed
  uint64_t start_ns;  // of the first work; 0 while it waits for its code
  uint64_t end_ns;
} cpu_list;

static inline cpu_list *cpu_list_of(mtl_command_buffer *command_buffer) {
  return command_buffer->driver_data;
}

typedef enum cpu_queue_state {
  CPU_QUEUE_IDLE = 0,  // nothing to do
  CPU_QUEUE_READY,     // in the pool's list
  CPU_QUEUE_RUNNING,   // on a thread, left to the users of its jobs, or
                       // waiting for an event
} cpu_queue_state;

struct cpu_queue {
  mtl_queue queue;
  cpu_pool *pool;
  // Under the pool's lock:
  cpu_queue_state state;
  cpu_queue *next_ready;
  bool was_helped;  // taken by a client's thread the last time
  // What was taken up last: to be compared and not followed, for it may have
  // completed.
  const mtl_command_buffer *taken_up;
  bool is_overseen;  // in overseer.c's list; the rest of it is at the end
  mtl_command_buffer *first;  // submitted, not taken up
  mtl_command_buffer *last;
  // Of the thread that runs the queue:
  mtl_command_buffer *current;
  mtli_command *next_command;
  bool is_stale;         // the host may have written since the last upload
  mtli_watcher watcher;  // the event that it waits for
  const mtli_command *awaiting;  // that wait; NULL for none
  // Jobs that are not finished, and one for the thread that runs the queue:
  // whoever takes it to 0 runs the queue on.
  _Atomic uint32_t outstanding;
  _Atomic bool has_failed;  // the current command buffer
  // MTL_TIMED_OUT or MTL_CANCELLED if the current command buffer is to end;
  // written under the pool's lock.
  _Atomic uint32_t stop;
  // The event that the queue waits for, or is about to; and whether somebody is
  // having it wait no longer (stop.c).
  _Atomic(cpu_event *) awaited;
  _Atomic bool is_being_stopped;
  // While it is overseen; under the pool's lock:
  uint64_t time_left_ns;  // while it waits
  cpu_queue *next_overseen;
  uint64_t deadline_ns;   // when time is up; 0 if never
  uint64_t interrupt_ns;  // from the last interrupt to the next; 0 before
};

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
  bool is_extra;    // of a worker beyond those that the pool began with
  bool is_light;    // its thread has not begun on anything long (pool.c)
  bool is_looking;  // it looks out, or is about to
  cpu_squad *squad;         // whom its thread looks out with (pool.c)
  uint32_t number;          // of the thread, in the pool
  uint64_t look_until_ns;   // a worker: it has lately been in a shared job
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

// --- pool.c ------------------------------------------------------------------

// How long a thread looks out where work is likely to come: a wake takes that
// long on a virtual machine whose other processor sleeps (10 to 20 us of the
// thread that wakes and as much until the other runs; 2-core Xeon, 2026-11).
enum { CPU_LOOKOUT_NS = 50 * 1000 };

cpu_pool *cpu_pool_create(void);
// Ends the threads; may be called on one of them.
void cpu_pool_end(cpu_pool *pool, bool is_inherited);
// Starts the threads if they have not been.
mtl_status cpu_pool_start(cpu_pool *pool);
uint32_t cpu_pool_threads(const cpu_pool *pool);

void cpu_pool_lock(cpu_pool *pool);
// Unlocks, and wakes the threads that announcements asked for.
void cpu_pool_unlock(cpu_pool *pool);
// Adds a queue to the ready list and announces it. The lock is held.
void cpu_pool_add_ready(cpu_pool *pool, cpu_queue *queue);
// The thread of context will look at the lists soon. The lock is held.
void cpu_pool_lighten(cpu_pool *pool, cpu_context *context);
// The thread of context begins on something long, or goes; cheap to repeat.
void cpu_pool_weigh(cpu_pool *pool, cpu_context *context);
// Takes queue off the ready list if it is there. The lock is held.
bool cpu_pool_take_ready(cpu_pool *pool, cpu_queue *queue);
// A hint whether there is a ready queue or a shared job. Needs no lock.
bool cpu_pool_has_work(cpu_pool *pool);
// A hint whether a thread looks out and would join a job at once.
bool cpu_pool_has_lookout(cpu_pool *pool);
// Looks out, on a client's thread, for work of the queue at an address that may
// be no queue any more, or until the goal is reached. False if neither comes
// before end_ns.
bool cpu_pool_stay(cpu_pool *pool, uintptr_t queue_address,
                   const cpu_goal *goal, uint64_t end_ns, cpu_context *context);
// Finds the ready queue at an address that may be no queue any more, or with 0
// the first one; NULL if there is none. The lock is held.
cpu_queue *cpu_pool_find_ready(cpu_pool *pool, uintptr_t address);

// Gives a job a slot, before its pieces are cut. False if none is free.
bool cpu_pool_take_slot(cpu_pool *pool, cpu_job *job);
// Shares job, whose pieces are cut, with helpers other threads, and adds it to
// its queue's outstanding ones. The caller becomes a user and works on it.
void cpu_pool_share(cpu_pool *pool, cpu_job *job, uint32_t helpers,
                    cpu_context *context);
// The same, but the caller does not work on it now.
void cpu_pool_offer(cpu_pool *pool, cpu_job *job, uint32_t helpers);
// Joins a job that may have pieces left, of the queue at an address that may be
// no queue any more, or with 0 of any; NULL if there is none.
cpu_job *cpu_pool_join(cpu_pool *pool, uintptr_t queue_address);
// Runs pieces of a joined job until none is left, then leaves it. Returns true
// if that was the last thing its queue waited for: the caller now runs it.
bool cpu_pool_work(cpu_pool *pool, cpu_job *job, cpu_context *context);

// For the calling thread; NULL when out of memory.
cpu_context *cpu_pool_borrow_context(cpu_pool *pool);
void cpu_pool_return_context(cpu_pool *pool, cpu_context *context);

cpu_overseer *cpu_pool_overseer(cpu_pool *pool);
// The rest for the overseer; the lock is held.
// Interrupts every thread that is in queue's work.
void cpu_pool_interrupt(cpu_pool *pool, const cpu_queue *queue);
// True if queues are ready; *out_taken counts those that were taken, to date.
bool cpu_pool_is_waiting(const cpu_pool *pool, uint64_t *out_taken);
// Adds a thread to those that there are.
void cpu_pool_grow(cpu_pool *pool);

// --- overseer.c --------------------------------------------------------------

cpu_overseer *cpu_overseer_create(cpu_pool *pool);
// Ends its thread; the lock is not held.
void cpu_overseer_end(cpu_overseer *overseer, bool is_inherited);
// Starts its thread if that has not been done. Not under the pool's lock.
mtl_status cpu_overseer_start(cpu_overseer *overseer);
// The rest with the pool's lock held.
// Some queue is ready, and no thread is there to come.
void cpu_overseer_watch_ready(cpu_overseer *overseer);
// True if that has been said, and there is no thread yet.
bool cpu_overseer_is_wanted(const cpu_overseer *overseer);
// The queue's deadline_ns is set, or it is to stop.
void cpu_overseer_add(cpu_overseer *overseer, cpu_queue *queue);
void cpu_overseer_remove(cpu_overseer *overseer, cpu_queue *queue);  // overseen

// --- jobs.c ------------------------------------------------------------------

// NULL when out of memory.
cpu_jobs *cpu_jobs_create(uint32_t thread_limit);
void cpu_jobs_free(cpu_jobs *jobs);
// False if no slot is free.
bool cpu_jobs_take_slot(cpu_jobs *jobs, cpu_job *job);
// Lets threads join a job that has a slot, and pieces; so many are in it.
// Returns a number that no other opening has, below CPU_SLOTS << 32.
uint64_t cpu_jobs_open(cpu_jobs *jobs, cpu_job *job, uint32_t users);
// A hint whether there is one to join, of a queue unless the address is 0.
bool cpu_jobs_are_open(const cpu_jobs *jobs, uintptr_t queue_address);
// Joins one; NULL if there is none. A job that ended by this call, because it
// was joined too late, is the caller's to settle.
cpu_job *cpu_jobs_join(cpu_jobs *jobs, uintptr_t queue_address,
                       cpu_job **out_ended);
// Leaves it, and nobody joins any more. True if that has ended it.
bool cpu_jobs_leave(cpu_jobs *jobs, cpu_job *job);

// --- pieces.c ----------------------------------------------------------------

// Cuts job's pieces from `first` on into at most run_count runs.
void cpu_pieces_cut(cpu_job *job, uint64_t first, uint64_t run_count);
// Finds a run to begin with for the thread of that number.
uint32_t cpu_pieces_choose_run(const cpu_job *job, uint32_t number);
// Takes some, of the run at `seat` first. False if none is left.
bool cpu_pieces_take(cpu_job *job, uint32_t seat, uint64_t *out_first,
                     uint64_t *out_end);

// --- habits.c ----------------------------------------------------------------

// Finds the habit for a job of so many pieces.
cpu_habit *cpu_habit_of(cpu_habit habits[CPU_HABITS], uint64_t piece_count);
bool cpu_habit_is_to_share(cpu_habit *habit);
// Notes what piece_count pieces took.
void cpu_habit_note(cpu_habit *habit, bool was_shared, uint64_t spent_ns,
                    uint64_t piece_count);

// --- pipeline.c, variants.c --------------------------------------------------

// Loads what a pipeline's container holds.
mtl_status cpu_code_load(const mtli_code *container, cpu_code *out_code);
void cpu_code_unload(const cpu_code *code, bool is_inherited);

// The classes of a dispatch's threadgroups: of whole ones, and of those that
// the grid cuts off along x.
cpu_classes cpu_classes_of(const mtli_dispatch *dispatch,
                           const uint32_t grid_threads[3],
                           const uint32_t group_threads[3]);

// Finds the code for threadgroups of a class. Where it is still being made, or
// that begins now, *out_code is NULL and *out_variant set. Does not wait. Any
// thread. Errors: of the compilation, if it has failed.
mtl_status cpu_code_find(cpu_pipeline *pipeline, mtli_group_class group_class,
                         const cpu_code **out_code, cpu_variant **out_variant);
// Begins to make it if that has not been done, or has failed. Any thread.
void cpu_code_prepare(cpu_pipeline *pipeline, mtli_group_class group_class);
// Has watcher called when variant is no longer pending; false if it is not.
bool cpu_variant_watch(cpu_variant *variant, mtli_watcher *watcher);
void cpu_variants_free(cpu_pipeline *pipeline);

// --- lines.c -----------------------------------------------------------------

// Keeps what tells lines of a shared object; nothing if it has none, or there
// is no memory.
void cpu_lines_copy(const mtli_blob *elf, cpu_lines *out_lines);
// Finds the line of the instruction at an address within the object. False if
// it has none. Writes the file as the compiler was given it.
bool cpu_lines_find(const cpu_lines *lines, uint64_t address, char *out_file,
                    size_t capacity, uint32_t *out_line);

// --- queue.c, commands.c, help.c ---------------------------------------------

// Runs a queue that is in state RUNNING, until it has nothing to do, waits, or
// has reached the goal.
void cpu_queue_run(cpu_queue *queue, cpu_context *context,
                   const cpu_goal *goal);
// Gives the queue back to the pool.
void cpu_queue_hand_over(cpu_queue *queue);
// The queue is about to wait, for an event unless that is NULL: the time does
// not count.
void cpu_queue_pause(cpu_queue *queue, cpu_event *event);
// It need not wait after all.
void cpu_queue_unpause(cpu_queue *queue);
// It waits no longer. The pool's lock is held.
void cpu_queue_resume(cpu_queue *queue);
// Ends the command buffer that the queue has taken up: nothing more of it
// begins, and who is in it is interrupted. The pool's lock is held.
void cpu_queue_stop(cpu_queue *queue, mtl_status status);
// Says why it ends early, for an error.
void cpu_queue_describe_stop(const cpu_queue *queue, char *text,
                             size_t capacity);
// Has a queue that waits for an event, and is to stop, go on. The pool's lock
// is held.
void cpu_queue_stop_waiting(cpu_queue *queue);
bool cpu_goal_is_reached(const cpu_goal *goal);
// Runs the queue at queue_address on the client's thread, if it is ready,
// until the goal is reached or there is nothing to do.
void cpu_queue_help_towards(cpu_pool *pool, uintptr_t queue_address,
                            const cpu_goal *goal);

// Runs commands of the current command buffer. True at its end, when all of it
// is done; false if others will run the queue on.
bool cpu_commands_run(cpu_queue *queue, cpu_context *context);
// Waits for no one: true if no job of the queue is unfinished, otherwise false,
// and the queue is left to the users of its jobs.
bool cpu_queue_settle(cpu_queue *queue, cpu_context *context);
// Keeps the current command buffer's first failure.
void cpu_queue_fail(cpu_queue *queue, mtl_status status, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));

// --- share.c -----------------------------------------------------------------

// Runs all pieces of a job, or hands them to the pool. *lately_ns is what a
// piece took lately, 0 if unknown; it is brought up to date. habits may be NULL:
// then a job that is worth it is always shared. The context may be left
// unfinished.
void cpu_job_run(cpu_queue *queue, cpu_job *job, _Atomic uint64_t *lately_ns,
                 cpu_habit *habits, cpu_context *context);
// The same for a job of which it is known what a piece takes.
void cpu_job_run_known(cpu_queue *queue, cpu_job *job, uint64_t piece_ns,
                       cpu_context *context);

// --- groups.c ----------------------------------------------------------------

// Chooses the threadgroups that run: threads along x, y and z.
void cpu_groups_choose(const mtli_dispatch *dispatch, uint32_t out_group[3]);

// --- dispatch.c, blits.c -----------------------------------------------------

// Begins to make the code that a dispatch will need.
void cpu_dispatch_prepare(mtli_command *command);
// Runs a dispatch, or hands it to the pool. False if it has to wait for code:
// the queue is left until that is there.
bool cpu_dispatch_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context);
void cpu_copy_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context);
void cpu_copy_box_run(cpu_queue *queue, mtli_command *command,
                      cpu_context *context);
void cpu_fill_run(cpu_queue *queue, mtli_command *command,
                  cpu_context *context);
void cpu_update_run(cpu_queue *queue, mtli_command *command,
                    cpu_context *context);
void cpu_host_work_run(cpu_queue *queue, mtli_command *command,
                       cpu_context *context);

// --- check.c: what the checker is told -------------------------------------

// Of a dispatch whose code is checked: false if that cannot be.
bool cpu_check_begin(cpu_queue *queue, mtli_command *command, cpu_job *job);
cpu_job_run_fn cpu_check_run;
// A run is done: true if the job is to run again.
bool cpu_check_again(cpu_job *job);
void cpu_check_end(cpu_queue *queue, cpu_job *job);
// A checked pipeline gets code that screens dispatches, if there may be some.
void cpu_check_pipeline_created(cpu_pipeline *pipeline,
                                const mtl_function *function,
                                const mtl_pipeline_desc *desc);
// Within a dispatch, around running screened code: it may be run at all, and
// job->is_suspect says whether it has stopped.
bool cpu_check_screen_begin(cpu_job *job);
cpu_job_run_fn cpu_check_screen;
void cpu_check_screen_end(cpu_job *job);
// dispatch.c: runs threadgroups by a job's codes.
cpu_job_run_fn cpu_run_groups;
// The rest does nothing unless something is checked. A command other than a
// dispatch begins.
void cpu_check_command(cpu_queue *queue, const mtli_command *command);
void cpu_check_waited(const cpu_queue *queue, const mtli_command *command);
void cpu_check_host_signals(const mtl_event *event, uint64_t value);
void cpu_check_event_destroyed(const mtl_event *event);
void cpu_check_committed(mtl_command_buffer *command_buffer);
// check_host.c: the work's buffers are held until the host has seen that it is
// complete.
void cpu_check_host_hold(mtl_command_buffer *command_buffer);
void cpu_check_started(const cpu_queue *queue);
void cpu_check_completed(const cpu_queue *queue);
// is_unset: kernels alone can write it, and none has.
void cpu_check_buffer_created(const mtl_buffer *buffer, bool is_unset);
void cpu_check_buffer_destroyed(const mtl_buffer *buffer);

// --- coherence.c: cpu-discrete's two copies ----------------------------------

mtl_status cpu_coherence_modified(cpu_buffer *buffer, size_t offset_bytes,
                                  size_t length_bytes);
// Host to device, before a command buffer's work begins or goes on; device to
// host, before anyone learns that it has.
void cpu_coherence_upload(mtl_command_buffer *command_buffer);
void cpu_coherence_download(mtl_command_buffer *command_buffer);
// Device to host, all of a managed buffer.
void cpu_coherence_synchronize(cpu_buffer *buffer);

// --- late.c ------------------------------------------------------------------

cpu_late *cpu_late_create(void);
void cpu_late_end(cpu_late *late, bool is_inherited);
mtl_status cpu_late_start(cpu_late *late);
void cpu_late_post(cpu_late *late, cpu_late_item *item);

// --- the slots ---------------------------------------------------------------

mtli_device_count_fn cpu_device_count;
mtli_device_name_fn cpu_device_name;
mtli_device_is_listed_fn cpu_device_is_listed;
mtli_device_open_fn cpu_device_open;
mtli_device_close_fn cpu_device_close;
mtli_device_family_fn cpu_device_family;
mtli_device_code_target_fn cpu_device_code_target;
mtli_device_timestamps_fn cpu_device_timestamps;
mtli_buffer_create_fn cpu_buffer_create;
mtli_buffer_destroy_fn cpu_buffer_destroy;
mtli_buffer_modified_fn cpu_buffer_modified;
mtli_buffer_advise_fn cpu_buffer_advise;
mtli_texture_create_fn cpu_texture_create;
mtli_texture_destroy_fn cpu_texture_destroy;
mtli_pipeline_create_fn cpu_pipeline_create;
mtli_pipeline_destroy_fn cpu_pipeline_destroy;
mtli_commands_prepare_fn cpu_commands_prepare;
mtli_commands_clear_fn cpu_commands_clear;
mtli_queue_create_fn cpu_queue_create;
mtli_queue_destroy_fn cpu_queue_destroy;
mtli_queue_submit_fn cpu_queue_submit;
mtli_queue_cancel_fn cpu_queue_cancel;
mtli_queue_help_fn cpu_queue_help;
mtli_event_create_fn cpu_event_create;
mtli_event_destroy_fn cpu_event_destroy;
mtli_event_value_fn cpu_event_value;
mtli_event_signal_fn cpu_event_signal;
mtli_event_signal_fn cpu_event_signal_by_host;
mtli_event_wait_fn cpu_event_wait;
mtli_event_notify_fn cpu_event_notify;

#endif
