// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.h: the pool's parts, for the files that serve it.
#ifndef CPU_POOL_H
#define CPU_POOL_H

#include "drivers/cpu/cpu.h"

enum {
  THREAD_LIMIT = 1024,
  SQUADS = 16,
};

// A squad: threads that spin on one word. A job that is worth few threads is
// told to few squads, so that not all rush for it.
struct cpu_squad {
  // Another with each announcement: one of cpu_jobs_open, or the pool's news
  // behind those.
  _Alignas(64) _Atomic uint64_t news;
  // The numbers of light threads (by LIGHT) and of threads that spin (LOOKING).
  // Sequentially consistent: either the thread sees the queue made ready or the
  // job opened, or the announcer sees the thread.
  _Atomic uint64_t awake;
};
#define LIGHT UINT64_C(1)
#define LOOKING (UINT64_C(1) << 32)
#define POOL_NEWS ((uint64_t)CPU_SLOTS << 32)

struct cpu_pool {
  mtli_object object;  // one reference of the device, one of each thread
  pthread_mutex_t lock;
  uint32_t thread_limit;  // that may run one job
  bool may_look_out;      // on a single CPU spinning would only delay others
  cpu_overseer *overseer;
  cpu_jobs *jobs;  // shared
  // Under lock:
  cpu_queue *first_ready;
  cpu_queue *last_ready;
  cpu_context *free_contexts;
  bool has_napper;
  cpu_context *stayers;  // clients' that look out
  uint32_t quiet_count;  // queues made ready and not announced, to date
  uint32_t sleepers;
  uint32_t woken;         // woken sleepers that do not run yet
  uint32_t to_wake;       // by the next unlock
  uint32_t owed;          // wake-ups that those still owe to others
  bool wants_overseer;    // the next unlock starts it
  uint32_t worker_count;  // threads that the pool begins with
  uint32_t thread_count;  // and those that were added
  uint32_t client_count;  // contexts made for clients' threads
  _Atomic bool is_ending;
  // Counts queues made ready and announced, and wakes; sleepers sleep on it.
  _Atomic uint32_t news;
  _Atomic uint32_t ready_count;  // queues on the list
  _Atomic uint32_t squad_count;  // of workers
  cpu_squad squads[SQUADS];
  cpu_squad clients;
  // Under lock:
  uint64_t taken_count;   // queues taken off the list, to date
  cpu_context *contexts;  // all, free ones too
  pthread_t threads[THREAD_LIMIT];
};

// --- contexts.c --------------------------------------------------------------

// Assigns the context to the calling thread. The lock is held.
void cpu_pool_take_context(cpu_context *context);

// Ends a context. The lock is held.
void cpu_pool_remove_context(cpu_pool *pool, cpu_context *context);

// --- announce.c --------------------------------------------------------------

// True if a worker spins.
bool cpu_pool_has_looking(const cpu_pool *pool);

// Notifies at least count spinning threads. Clients' threads look for work of
// their own queue only.
void cpu_pool_tell_lookouts(cpu_pool *pool, uint64_t news, uint32_t count);

// Makes the next unlock wake some of the threads that are to be woken.
void cpu_pool_wake_some(cpu_pool *pool);

// Announces an open job of queue to count threads.
void cpu_pool_announce_job(cpu_pool *pool, const cpu_queue *queue,
                           uint64_t news, uint32_t count);

// Marks the thread as neither light nor spinning.
void cpu_pool_darken(cpu_context *context);

// Marks whether the thread spins.
void cpu_pool_look(cpu_context *context, bool is_looking);

// --- idle.c ------------------------------------------------------------------

// The announcements that a thread had seen when it last looked at the lists.
typedef struct cpu_pool_seen {
  uint32_t news;   // the pool's
  uint64_t squad;  // the squad's
} cpu_pool_seen;

cpu_pool_seen cpu_pool_see(const cpu_pool *pool, const cpu_squad *squad);

// Waits for work; may return for no reason. The thread is light on entry and
// return. False if an extra one has had nothing to do for long and others are
// idle, too.
bool cpu_pool_idle(cpu_pool *pool, cpu_context *context, cpu_pool_seen before);

#endif
