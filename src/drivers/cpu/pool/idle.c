// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// idle.c: threads without work: they spin, then nap, then sleep.
#include "base/futex.h"
#include "drivers/cpu/pool/pool.h"

enum {
  // an added thread ends after this long without work
  EXTRA_IDLE_NS = 1000 * 1000 * 1000,
  // The delay that one queue may see if its client did not come; and how many
  // naps without news before a thread sleeps.
  NAP_NS = 100 * 1000,
  NAP_COUNT = 20,
};

cpu_pool_seen cpu_pool_see(const cpu_pool *pool, const cpu_squad *squad) {
  return (cpu_pool_seen){
      .news = atomic_load(&pool->news),
      .squad = atomic_load_explicit(&squad->news, memory_order_acquire)};
}

// Spins until end_ns for news, or for a goal. True if either has arrived.
static bool look_out(cpu_pool *pool, cpu_context *context, cpu_pool_seen before,
                     uintptr_t queue_address, const cpu_goal *goal,
                     uint64_t end_ns) {
  const cpu_squad *squad = context->squad;
  cpu_pool_look(context, true);
  bool has_come = atomic_load(&pool->news) != before.news ||
                  cpu_jobs_are_open(pool->jobs, queue_address);
  while (!has_come && mtli_now_ns() < end_ns) {
    for (int i = 0; i < 16 && !has_come; i++) {
      mtli_pause();
      // pairs with the release in tell_squad
      has_come = atomic_load_explicit(&squad->news, memory_order_acquire) !=
                     before.squad ||
                 cpu_goal_is_reached(goal);
    }
  }
  return has_come;
}

// True if a client's thread has something to do.
static bool has_work_for(cpu_pool *pool, uintptr_t queue_address,
                         const cpu_goal *goal) {
  cpu_pool_lock(pool);
  const bool is_ready = cpu_pool_find_ready(pool, queue_address) != NULL;
  cpu_pool_unlock(pool);
  return is_ready || cpu_jobs_are_open(pool->jobs, queue_address) ||
         cpu_goal_is_reached(goal);
}

// Records which queue a client's thread spins for.
static void note_stayer(cpu_pool *pool, uintptr_t queue_address,
                        cpu_context *context) {
  cpu_pool_lock(pool);
  context->stays_for = queue_address;
  context->next_stayer = pool->stayers;
  pool->stayers = context;
  cpu_pool_unlock(pool);
}

static void forget_stayer(cpu_pool *pool, const cpu_context *context) {
  cpu_pool_lock(pool);
  cpu_context **link = &pool->stayers;
  while (*link != context) {
    link = &(*link)->next_stayer;
  }
  *link = context->next_stayer;
  cpu_pool_unlock(pool);
}

bool cpu_pool_stay(cpu_pool *pool, uintptr_t queue_address,
                   const cpu_goal *goal, uint64_t end_ns,
                   cpu_context *context) {
  note_stayer(pool, queue_address, context);
  bool has_come = false;
  bool is_late = false;
  while (!has_come && !is_late) {
    const cpu_pool_seen before = cpu_pool_see(pool, context->squad);
    has_come = has_work_for(pool, queue_address, goal);
    is_late = !has_come &&
              (!pool->may_look_out ||
               !look_out(pool, context, before, queue_address, goal, end_ns));
  }
  cpu_pool_look(context, false);
  forget_stayer(pool, context);
  return has_come;
}

// True if there is work. The lock is held, and the thread is not counted as
// light.
static bool has_work(const cpu_pool *pool, uint32_t news) {
  return pool->first_ready || atomic_load(&pool->is_ending) ||
         atomic_load(&pool->news) != news || cpu_jobs_are_open(pool->jobs, 0);
}

// Sleeps until news or the deadline. The lock is held on entry and return.
static void sleep_until(cpu_pool *pool, uint32_t news, uint64_t deadline_ns) {
  pool->sleepers++;
  cpu_pool_unlock(pool);
  mtli_futex_wait(&pool->news, news, deadline_ns);
  cpu_pool_lock(pool);
  pool->sleepers--;
  if (pool->woken) {
    pool->woken--;
  }
  pool->owed = pool->owed < pool->sleepers ? pool->owed : pool->sleepers;
  cpu_pool_wake_some(pool);
}

// Naps until there is work, or nothing has happened for a while.
static void nap(cpu_pool *pool, uint32_t news) {
  pool->has_napper = true;
  uint32_t quiet_count = pool->quiet_count;
  for (int i = 0; i < NAP_COUNT && !has_work(pool, news); i++) {
    sleep_until(pool, news, mtli_now_ns() + NAP_NS);
    if (pool->quiet_count != quiet_count) {
      quiet_count = pool->quiet_count;
      i = 0;
    }
  }
  pool->has_napper = false;
}

// Waits for work; may return for no reason. The thread is light on entry and
// return. False if an extra one has had nothing to do for long and others are
// idle, too.
bool cpu_pool_idle(cpu_pool *pool, cpu_context *context, cpu_pool_seen before) {
  const uint64_t now_ns = mtli_now_ns();
  const bool is_early = now_ns < context->look_until_ns;
  if (pool->may_look_out && (is_early || !cpu_pool_has_looking(pool)) &&
      look_out(pool, context, before, 0, &(cpu_goal){0},
               is_early ? context->look_until_ns : now_ns + MTLI_SPIN_NS)) {
    return true;  // the thread spins on, unless it finds work
  }
  cpu_pool_lock(pool);
  cpu_pool_darken(context);
  if (!pool->has_napper && !has_work(pool, before.news)) {
    nap(pool, before.news);
  }
  if (!has_work(pool, before.news)) {
    sleep_until(
        pool, before.news,
        context->is_extra ? mtli_deadline_ns(EXTRA_IDLE_NS) : MTLI_FOREVER);
  }
  cpu_pool_lighten(pool, context);
  const bool is_to_stay =
      !context->is_extra || has_work(pool, before.news) || !pool->sleepers;
  cpu_pool_unlock(pool);
  return is_to_stay;
}
