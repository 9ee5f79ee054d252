// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threads.h: the pool's interface for the rest of the driver: its threads, the
// ready queues and the shared jobs.
#ifndef MTLI_CPU_THREADS_H
#define MTLI_CPU_THREADS_H

#include "drivers/cpu/cpu_objects.h"

// --- pool.c ------------------------------------------------------------------

// How long a thread spins where work is likely to come: a wake takes that long
// on a virtual machine whose other processor sleeps (10 to 20 us of the thread
// that wakes and as much until the other runs; 2-core Xeon, 2026-11).
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
// Marks context's thread as light: it will look at the lists soon. The lock is
// held.
void cpu_pool_lighten(cpu_pool *pool, cpu_context *context);
// Marks context's thread as no longer light: it begins long work, or leaves.
// Cheap to repeat.
void cpu_pool_weigh(cpu_pool *pool, cpu_context *context);
// Takes queue off the ready list if it is there. The lock is held.
bool cpu_pool_take_ready(cpu_pool *pool, cpu_queue *queue);
// Returns a hint whether there is a ready queue or a shared job. Needs no lock.
bool cpu_pool_has_work(cpu_pool *pool);
// Returns a hint whether a thread spins and would join a job at once.
bool cpu_pool_has_lookout(cpu_pool *pool);
// Spins, on a client's thread, for work of the queue at an address that may be
// no queue any more, or until the goal is reached. False if neither comes
// before end_ns.
bool cpu_pool_stay(cpu_pool *pool, uintptr_t queue_address,
                   const cpu_goal *goal, uint64_t end_ns, cpu_context *context);
// Finds the ready queue at an address that may be no queue any more, or with 0
// the first one; NULL if there is none. The lock is held.
cpu_queue *cpu_pool_find_ready(cpu_pool *pool, uintptr_t address);

// Assigns a job a slot, before its pieces are cut. False if none is free.
bool cpu_pool_take_slot(cpu_pool *pool, cpu_job *job);
// Shares job, whose pieces are cut, with helpers other threads, and adds it to
// its queue's outstanding ones. The caller becomes a user and works on it.
void cpu_pool_share(cpu_pool *pool, cpu_job *job, uint32_t helpers,
                    cpu_context *context);
// The same, but the caller takes no part now.
void cpu_pool_offer(cpu_pool *pool, cpu_job *job, uint32_t helpers);
// Joins a job that may have pieces left, of the queue at an address that may be
// no queue any more, or with 0 of any; NULL if there is none.
cpu_job *cpu_pool_join(cpu_pool *pool, uintptr_t queue_address);
// Runs pieces of a joined job until none is left, then leaves it. Returns true
// if that was the last thing its queue waited for: the caller now runs it.
bool cpu_pool_work(cpu_pool *pool, cpu_job *job, cpu_context *context);

// Lends a context to the calling thread; NULL when out of memory.
cpu_context *cpu_pool_borrow_context(cpu_pool *pool);
void cpu_pool_return_context(cpu_pool *pool, cpu_context *context);

cpu_overseer *cpu_pool_overseer(cpu_pool *pool);
// The rest is for the overseer; the lock is held. Interrupts every thread that
// works for queue.
void cpu_pool_interrupt(cpu_pool *pool, const cpu_queue *queue);
// True if queues are ready; *out_taken counts those that were taken, to date.
bool cpu_pool_is_waiting(const cpu_pool *pool, uint64_t *out_taken);
// Starts one more thread.
void cpu_pool_grow(cpu_pool *pool);

// --- overseer.c --------------------------------------------------------------

cpu_overseer *cpu_overseer_create(cpu_pool *pool);
// Ends its thread; the lock is not held.
void cpu_overseer_end(cpu_overseer *overseer, bool is_inherited);
// Starts its thread if that has not been done. Not under the pool's lock.
mtl_status cpu_overseer_start(cpu_overseer *overseer);
// All below require the pool's lock. Tells the overseer that a queue is ready
// and that no thread takes it.
void cpu_overseer_watch_ready(cpu_overseer *overseer);
// True if the overseer has been told so, but its thread is not started yet.
bool cpu_overseer_is_wanted(const cpu_overseer *overseer);
// Adds a queue whose deadline_ns is set, or that must stop, to those watched.
void cpu_overseer_add(cpu_overseer *overseer, cpu_queue *queue);
void cpu_overseer_remove(cpu_overseer *overseer, cpu_queue *queue);  // overseen

// --- jobs.c ------------------------------------------------------------------

// NULL when out of memory.
cpu_jobs *cpu_jobs_create(uint32_t thread_limit);
void cpu_jobs_free(cpu_jobs *jobs);
// False if no slot is free.
bool cpu_jobs_take_slot(cpu_jobs *jobs, cpu_job *job);
// Opens a job that has a slot, and pieces, to other threads; users are in it
// already. Returns a number that no other opening has, below CPU_SLOTS << 32.
uint64_t cpu_jobs_open(cpu_jobs *jobs, cpu_job *job, uint32_t users);
// Returns a hint whether there is a job to join, of a queue unless the address
// is 0.
bool cpu_jobs_are_open(const cpu_jobs *jobs, uintptr_t queue_address);
// Joins one; NULL if there is none. A job that ended by this call, because it
// was joined too late, is the caller's to settle.
cpu_job *cpu_jobs_join(cpu_jobs *jobs, uintptr_t queue_address,
                       cpu_job **out_ended);
// Leaves a job and closes it to others. True if that has ended it.
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
// Records the time that piece_count pieces took.
void cpu_habit_note(cpu_habit *habit, bool was_shared, uint64_t spent_ns,
                    uint64_t piece_count);

// --- share.c -----------------------------------------------------------------

// Runs all pieces of a job on this thread, or shares them with the pool.
// *lately_ns is the time of a piece in the last runs, in nanoseconds, 0 if
// unknown; the call updates it. Without habits (NULL) every job that is long
// enough is shared. The last threadgroup's code may still have to be ended
// (cpu_context_finish).
void cpu_job_run(cpu_queue *queue, cpu_job *job, _Atomic uint64_t *lately_ns,
                 cpu_habit *habits, cpu_context *context);
// The same for a job with a known time for each piece.
void cpu_job_run_known(cpu_queue *queue, cpu_job *job, uint64_t piece_ns,
                       cpu_context *context);

// --- late.c ------------------------------------------------------------------

cpu_late *cpu_late_create(void);
void cpu_late_end(cpu_late *late, bool is_inherited);
mtl_status cpu_late_start(cpu_late *late);
void cpu_late_post(cpu_late *late, cpu_late_item *item);

#endif
