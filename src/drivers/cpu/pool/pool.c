// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.c: the device's pool of threads and its lock.
//
// The lock guards the list of ready queues and the sleeping threads. Shared
// jobs have no lock (jobs.c): if enough threads spin for work, publishing a job
// does not take the pool's. announce.c tells and wakes threads, idle.c is what
// they do without work, workers.c what they do with it.
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "base/machine.h"
#include "base/thread.h"
#include "drivers/cpu/pool/pool.h"

// METTLE_CPU_THREADS, or the CPUs that the process may use.
static uint32_t choose_threads(void) {
  const char *text = getenv("METTLE_CPU_THREADS");
  char *end = NULL;
  const long wish = text ? strtol(text, &end, 10) : 0;
  const bool is_wish = text && end != text && *end == '\0' && wish > 0;
  const uint32_t threads = is_wish && wish < THREAD_LIMIT ? (uint32_t)wish
                           : is_wish                      ? THREAD_LIMIT
                                                          : mtli_machine_cpus();
  return threads < THREAD_LIMIT ? threads : THREAD_LIMIT;
}

static void pool_destroy(mtli_object *object) {
  cpu_pool *pool = (cpu_pool *)object;
  while (pool->free_contexts) {
    cpu_context *next = pool->free_contexts->next;
    cpu_context_destroy(pool->free_contexts);
    pool->free_contexts = next;
  }
  pthread_mutex_destroy(&pool->lock);
  cpu_jobs_free(pool->jobs);
  free(pool);
}

cpu_pool *cpu_pool_create(void) {
  cpu_pool *pool = aligned_alloc(_Alignof(cpu_pool), sizeof *pool);
  if (!pool) {
    return NULL;
  }
  memset(pool, 0, sizeof *pool);
  pool->thread_limit = choose_threads();
  pool->jobs = cpu_jobs_create(pool->thread_limit);
  pool->overseer = cpu_overseer_create(pool);
  if (!pool->overseer || !pool->jobs) {
    cpu_jobs_free(pool->jobs);
    free(pool->overseer);
    free(pool);
    return NULL;
  }
  mtli_object_init(&pool->object, pool_destroy);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  // Spins before it sleeps: the lock is never held for long.
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&pool->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pool->may_look_out = mtli_machine_cpus() > 1;
  return pool;
}

uint32_t cpu_pool_threads(const cpu_pool *pool) {
  return pool->thread_limit;
}

void cpu_pool_lock(cpu_pool *pool) {
  pthread_mutex_lock(&pool->lock);
}

void cpu_pool_unlock(cpu_pool *pool) {
  const uint32_t to_wake = pool->to_wake;
  const bool wants_overseer = pool->wants_overseer;
  pool->to_wake = 0;
  if (wants_overseer) {
    pool->wants_overseer = false;
  }
  pthread_mutex_unlock(&pool->lock);
  if (to_wake) {
    mtli_futex_wake(&pool->news, to_wake);
  }
  if (wants_overseer) {
    (void)cpu_overseer_start(pool->overseer);  // or not until the next time
  }
}

cpu_overseer *cpu_pool_overseer(cpu_pool *pool) {
  return pool->overseer;
}

void cpu_pool_end(cpu_pool *pool, bool is_inherited) {
  cpu_overseer_end(pool->overseer, is_inherited);
  if (is_inherited) {
    pool_destroy(&pool->object);  // its threads do not exist in this process
    return;
  }
  cpu_pool_lock(pool);
  atomic_store(&pool->is_ending, true);
  atomic_fetch_add(&pool->news, 1);
  cpu_pool_tell_lookouts(pool, POOL_NEWS | atomic_load(&pool->news),
                         THREAD_LIMIT);
  pool->to_wake = pool->sleepers;
  const uint32_t thread_count = pool->thread_count;
  cpu_pool_unlock(pool);
  for (uint32_t i = 0; i < thread_count; i++) {
    mtli_thread_end(pool->threads[i]);
  }
  mtli_object_release(&pool->object);  // -1
}
