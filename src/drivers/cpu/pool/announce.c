// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// announce.c: publishes work, and wakes threads for it.
//
// An idle thread spins for a moment, then naps with short timeouts, then
// sleeps; at most one thread spins and one naps. A thread that comes from a
// job, which others tend to follow, spins longer, and so does a client's thread
// that waits for its queue: a job then costs no wake, and shorter jobs are
// worth sharing. A thread is light while it is awake and has begun neither a
// kernel nor a copy: it looks at the lists again within about a microsecond.
// Work for n threads wakes n minus the light ones. A light thread that begins
// long work wakes others for what is then on the lists. So queues that signal
// each other, or arrive faster than a wake, cost none.
//
// A client that commits and waits at once runs its queue on its own thread
// (cpu_queue_help): waking a worker would cost more than the work. So a queue
// that was run that way last time is not announced while another thread naps.
// If the client does not come this time, that thread finds the queue, and the
// next commit is announced again.
#include "drivers/cpu/pool/pool.h"

enum {
  // A wake-up costs the waker 2 to 6 us, so woken threads wake others.
  WAKES = 2,
};

// Returns how many threads will look for work soon.
static uint32_t count_light(const cpu_pool *pool) {
  uint32_t light = (uint32_t)atomic_load(&pool->clients.awake);
  const uint32_t squads =
      atomic_load_explicit(&pool->squad_count, memory_order_relaxed);
  for (uint32_t i = 0; i < squads; i++) {
    light += (uint32_t)atomic_load(&pool->squads[i].awake);
  }
  return light;
}

// True if a worker spins for work.
bool cpu_pool_has_looking(const cpu_pool *pool) {
  const uint32_t squads =
      atomic_load_explicit(&pool->squad_count, memory_order_relaxed);
  for (uint32_t i = 0; i < squads; i++) {
    if (atomic_load_explicit(&pool->squads[i].awake, memory_order_relaxed) >=
        LOOKING) {
      return true;
    }
  }
  return false;
}

// Notifies a squad; returns how many of its threads spin.
static uint32_t tell_squad(cpu_squad *squad, uint64_t news) {
  const uint64_t awake = atomic_load(&squad->awake);
  if (awake >= LOOKING) {
    // pairs with the acquire in look_out
    atomic_store_explicit(&squad->news, news, memory_order_release);
  }
  return (uint32_t)(awake / LOOKING);
}

// Notifies at least `count` spinning threads. A client's thread only looks for
// work of its own queue.
void cpu_pool_tell_lookouts(cpu_pool *pool, uint64_t news, uint32_t count) {
  tell_squad(&pool->clients, news);
  const uint32_t squads =
      atomic_load_explicit(&pool->squad_count, memory_order_relaxed);
  uint32_t told = 0;
  for (uint32_t i = 0; i < squads && told < count; i++) {
    told += tell_squad(&pool->squads[i], news);
  }
}

// Returns how many threads will come for a queue's work without being woken.
static uint32_t count_coming(const cpu_pool *pool, const cpu_queue *queue) {
  uint32_t coming = count_light(pool) + pool->woken;
  const cpu_context *stayer = pool->stayers;
  for (; stayer; stayer = stayer->next_stayer) {
    coming += stayer->stays_for == (uintptr_t)queue;
  }
  return coming;
}

// Makes the next unlock wake some of the threads that are to be woken.
void cpu_pool_wake_some(cpu_pool *pool) {
  const uint32_t wakes = pool->owed < WAKES ? pool->owed : WAKES;
  pool->owed -= wakes;
  pool->to_wake += wakes;
}

// Wakes as many threads as are missing to have count of them for a queue's
// work; NULL for any queue. The lock is held.
static void wake_missing(cpu_pool *pool, const cpu_queue *queue,
                         uint32_t count) {
  const uint32_t coming = count_coming(pool, queue);
  const uint32_t asleep =
      pool->sleepers > pool->woken ? pool->sleepers - pool->woken : 0;
  const uint32_t missing = count > coming ? count - coming : 0;
  const uint32_t wakes = missing < asleep ? missing : asleep;
  pool->woken += wakes;
  pool->owed += wakes;
  cpu_pool_wake_some(pool);
  if (missing > wakes && pool->first_ready) {
    cpu_overseer_watch_ready(pool->overseer);
    pool->wants_overseer = cpu_overseer_is_wanted(pool->overseer);
  }
}

// Announces that a queue, or with NULL some queue, or count queues, are ready.
// The lock is held.
static void announce(cpu_pool *pool, const cpu_queue *queue, uint32_t count) {
  // Sleeping threads see the change by the futex; threads about to spin see it
  // before they do.
  const uint32_t news = atomic_fetch_add(&pool->news, 1) + 1;
  cpu_pool_tell_lookouts(pool, POOL_NEWS | news, count);
  wake_missing(pool, queue, count);
}

// Announces a shared job of a queue, for count threads.
void cpu_pool_announce_job(cpu_pool *pool, const cpu_queue *queue,
                           uint64_t news, uint32_t count) {
  cpu_pool_tell_lookouts(pool, news, count);
  if (count_light(pool) >= count) {
    return;
  }
  cpu_pool_lock(pool);
  atomic_fetch_add(&pool->news, 1);
  wake_missing(pool, queue, count);
  cpu_pool_unlock(pool);
}

void cpu_pool_add_ready(cpu_pool *pool, cpu_queue *queue) {
  queue->state = CPU_QUEUE_READY;
  queue->next_ready = NULL;
  if (pool->last_ready) {
    pool->last_ready->next_ready = queue;
  } else {
    pool->first_ready = queue;
  }
  pool->last_ready = queue;
  atomic_fetch_add(&pool->ready_count, 1);
  if (queue->was_helped && (pool->has_napper || cpu_pool_has_looking(pool))) {
    pool->quiet_count++;
  } else {
    announce(pool, queue, 1);
  }
}

void cpu_pool_lighten(cpu_pool *pool, cpu_context *context) {
  (void)pool;
  context->is_light = true;
  atomic_fetch_add(&context->squad->awake, LIGHT);
}

// Marks the thread as neither light nor spinning.
void cpu_pool_darken(cpu_context *context) {
  const uint64_t was = LIGHT + (context->is_looking ? LOOKING : 0);
  context->is_light = context->is_looking = false;
  atomic_fetch_sub(&context->squad->awake, was);
}

// Marks whether the thread spins.
void cpu_pool_look(cpu_context *context, bool is_looking) {
  if (context->is_looking != is_looking) {
    context->is_looking = is_looking;
    if (is_looking) {
      atomic_fetch_add(&context->squad->awake, LOOKING);
    } else {
      atomic_fetch_sub(&context->squad->awake, LOOKING);
    }
  }
}

void cpu_pool_weigh(cpu_pool *pool, cpu_context *context) {
  if (!context->is_light) {
    return;
  }
  cpu_pool_darken(context);
  if (atomic_load(&pool->ready_count)) {
    cpu_pool_lock(pool);
    announce(pool, NULL, atomic_load(&pool->ready_count));
    cpu_pool_unlock(pool);
  }
}

bool cpu_pool_take_ready(cpu_pool *pool, cpu_queue *queue) {
  if (queue->state != CPU_QUEUE_READY) {
    return false;
  }
  cpu_queue *previous = NULL;
  cpu_queue **link = &pool->first_ready;
  while (*link != queue) {
    previous = *link;
    link = &previous->next_ready;
  }
  *link = queue->next_ready;
  if (pool->last_ready == queue) {
    pool->last_ready = previous;
  }
  atomic_fetch_sub(&pool->ready_count, 1);
  pool->taken_count++;
  queue->state = CPU_QUEUE_RUNNING;
  return true;
}

bool cpu_pool_has_work(cpu_pool *pool) {
  return atomic_load_explicit(&pool->ready_count, memory_order_relaxed) ||
         cpu_jobs_are_open(pool->jobs, 0);
}

bool cpu_pool_has_lookout(cpu_pool *pool) {
  return cpu_pool_has_looking(pool) ||
         atomic_load_explicit(&pool->clients.awake, memory_order_relaxed) >=
             LOOKING;
}

cpu_queue *cpu_pool_find_ready(cpu_pool *pool, uintptr_t address) {
  cpu_queue *queue = pool->first_ready;
  while (queue && address && (uintptr_t)queue != address) {
    queue = queue->next_ready;
  }
  return queue;
}
