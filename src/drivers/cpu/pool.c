// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.c: the device's threads. One lock guards the ready queues, the shared
// jobs and who is idle; it is held for some tens of nanoseconds at a time.
//
// An idle thread first looks out for work for a moment, then naps, looking up
// now and then, and then sleeps; one thread at the most does each of the first
// two. Who comes from a job, which others will follow, looks out for longer,
// and so does the client's thread that waits for its queue: for them a job
// costs no wake, and shorter ones are worth sharing. A thread is light while it
// is awake and has not begun on a kernel or a copy: it will look at the lists
// again within a microsecond or so. Who has work for n threads wakes n less the
// light ones; a light thread that does begin on something long wakes others for
// what is then on the lists. So queues that pass events to and fro, or come
// faster than a wake, cost none.
//
// A client that commits and at once waits runs its queue on its own thread
// (cpu_queue_help), and then waking a worker for it is a waste that costs more
// than the work. So a queue that was run that way last time is not announced,
// as long as somebody naps: if the client does not come this time, the napper
// finds the queue, and the next commit is announced again.
#include <fenv.h>
#include <stdlib.h>

#include "base/futex.h"
#include "base/machine.h"
#include "base/thread.h"
#include "drivers/cpu/cpu.h"

enum {
  THREAD_LIMIT = 1024,
  // A thread that was added ends after so long without work.
  EXTRA_IDLE_NS = 1000 * 1000 * 1000,
  // How late a queue may start whose client did not come, once; and how many
  // naps without anything happening before the sleep.
  NAP_NS = 100 * 1000,
  NAP_COUNT = 20,
};

struct cpu_pool {
  mtli_object object;  // one reference of the device, one of each thread
  pthread_mutex_t lock;
  uint32_t thread_limit;  // that may run one job
  bool may_look_out;      // spinning on a single CPU only keeps others off it
  cpu_overseer *overseer;
  // Under lock:
  cpu_queue *first_ready;
  cpu_queue *last_ready;
  cpu_job *jobs;
  cpu_context *free_contexts;
  bool has_napper;
  uint32_t workers_looking;  // out for work
  cpu_context *stayers;      // clients' that look out
  uint32_t quiet_count;      // queues made ready and not announced, to date
  uint32_t sleepers;
  uint32_t woken;         // sleepers that were woken and have not come yet
  uint32_t to_wake;       // by the next unlock
  bool wants_overseer;    // the next unlock starts it
  uint32_t worker_count;  // threads that the pool begins with
  uint32_t thread_count;  // and those that were added
  bool is_ending;
  _Atomic uint32_t news;  // counts announcements; what sleepers sleep on
  // Written under lock but for the decrease in cpu_pool_weigh, and read there
  // too. Sequentially consistent both: either that thread sees the queue made
  // ready or whoever makes it ready sees the thread no longer light.
  _Atomic uint32_t light_count;
  _Atomic uint32_t ready_count;  // queues on the list
  _Atomic uint32_t job_count;    // shared jobs; written under lock
  _Atomic uint32_t lookouts;     // threads that look out; written under lock
  // Under lock:
  uint64_t taken_count;   // queues taken off the list, to date
  cpu_context *contexts;  // all, free ones too
  pthread_t threads[THREAD_LIMIT];
};

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

// --- contexts ----------------------------------------------------------------

static cpu_context *context_add(cpu_pool *pool) {
  cpu_context *context = cpu_context_create(pool);
  if (context) {
    cpu_pool_lock(pool);
    context->next_of_all = pool->contexts;
    pool->contexts = context;
    cpu_pool_unlock(pool);
  }
  return context;
}

// Ends a context. The lock is held.
static void context_remove(cpu_pool *pool, cpu_context *context) {
  cpu_context **link = &pool->contexts;
  while (*link != context) {
    link = &(*link)->next_of_all;
  }
  *link = context->next_of_all;
  cpu_context_destroy(context);
}

// The calling thread takes the context. The lock is held.
static void context_take(cpu_context *context) {
  context->thread = pthread_self();
  context->has_thread = true;
}

void cpu_pool_interrupt(cpu_pool *pool, const cpu_queue *queue) {
  for (cpu_context *context = pool->contexts; context;
       context = context->next_of_all) {
    // Relaxed: the thread asks for itself whether it is meant.
    if (context->has_thread &&
        atomic_load_explicit(&context->busy_with, memory_order_relaxed) ==
            queue) {
      cpu_interrupt_send(context->thread);
    }
  }
}

// --- the pool ----------------------------------------------------------------

static void pool_destroy(mtli_object *object) {
  cpu_pool *pool = (cpu_pool *)object;
  while (pool->free_contexts) {
    cpu_context *next = pool->free_contexts->next;
    cpu_context_destroy(pool->free_contexts);
    pool->free_contexts = next;
  }
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

cpu_pool *cpu_pool_create(void) {
  cpu_pool *pool = calloc(1, sizeof *pool);
  if (!pool) {
    return NULL;
  }
  pool->overseer = cpu_overseer_create(pool);
  if (!pool->overseer) {
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
  pool->thread_limit = choose_threads();
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

// How many threads will come for what queue has, without being woken.
static uint32_t count_coming(const cpu_pool *pool, const cpu_queue *queue) {
  uint32_t coming = atomic_load(&pool->light_count) + pool->woken;
  const cpu_context *stayer = pool->stayers;
  for (; stayer; stayer = stayer->next_stayer) {
    coming += stayer->stays_for == (uintptr_t)queue;
  }
  return coming;
}

// Says that queue, or if it is NULL some queue, has work for count threads. The
// lock is held.
static void announce(cpu_pool *pool, const cpu_queue *queue, uint32_t count) {
  // pairs with the acquire in look_out; sleepers see it through the futex
  atomic_fetch_add_explicit(&pool->news, 1, memory_order_release);
  const uint32_t coming = count_coming(pool, queue);
  const uint32_t asleep =
      pool->sleepers > pool->woken ? pool->sleepers - pool->woken : 0;
  const uint32_t missing = count > coming ? count - coming : 0;
  const uint32_t wakes = missing < asleep ? missing : asleep;
  pool->woken += wakes;
  pool->to_wake += wakes;
  if (missing > wakes && pool->first_ready) {
    cpu_overseer_watch_ready(pool->overseer);
    pool->wants_overseer = cpu_overseer_is_wanted(pool->overseer);
  }
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
  if (queue->was_helped && (pool->workers_looking || pool->has_napper)) {
    pool->quiet_count++;
  } else {
    announce(pool, queue, 1);
  }
}

void cpu_pool_lighten(cpu_pool *pool, cpu_context *context) {
  context->is_light = true;
  atomic_fetch_add(&pool->light_count, 1);
}

void cpu_pool_weigh(cpu_pool *pool, cpu_context *context) {
  if (!context->is_light) {
    return;
  }
  context->is_light = false;
  atomic_fetch_sub(&pool->light_count, 1);
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
         atomic_load_explicit(&pool->job_count, memory_order_relaxed);
}

bool cpu_pool_has_lookout(cpu_pool *pool) {
  return atomic_load_explicit(&pool->lookouts, memory_order_relaxed) > 0;
}

cpu_queue *cpu_pool_find_ready(cpu_pool *pool, uintptr_t address) {
  cpu_queue *queue = pool->first_ready;
  while (queue && address && (uintptr_t)queue != address) {
    queue = queue->next_ready;
  }
  return queue;
}

// Lists a job with users inside, and announces it to helpers threads.
static void list_job(cpu_pool *pool, cpu_job *job, uint32_t users,
                     uint32_t helpers) {
  // Relaxed: only this thread, which holds one, can make it 0 before the job's
  // users are published by the lock.
  atomic_fetch_add_explicit(&job->queue->outstanding, 1, memory_order_relaxed);
  cpu_pool_lock(pool);
  job->users = users;
  job->seats = users;
  job->is_listed = true;
  job->previous = NULL;
  job->next = pool->jobs;
  if (job->next) {
    job->next->previous = job;
  }
  pool->jobs = job;
  atomic_fetch_add_explicit(&pool->job_count, 1, memory_order_relaxed);
  announce(pool, job->queue, helpers);
  cpu_pool_unlock(pool);
}

void cpu_pool_offer(cpu_pool *pool, cpu_job *job, uint32_t helpers) {
  list_job(pool, job, 0, helpers);
}

// Finds the first job with pieces left, of one queue unless the address is 0.
// The lock is held.
static cpu_job *find_job(cpu_pool *pool, uintptr_t queue_address) {
  for (cpu_job *job = pool->jobs; job; job = job->next) {
    if ((!queue_address || (uintptr_t)job->queue == queue_address) &&
        job->users < pool->thread_limit && cpu_pieces_are_left(job)) {
      return job;
    }
  }
  return NULL;
}

// The same, and joins it.
static cpu_job *join(cpu_pool *pool, uintptr_t queue_address,
                     cpu_context *context) {
  cpu_job *job = find_job(pool, queue_address);
  if (job) {
    job->users++;
    context->seat = job->seats++;
  }
  return job;
}

cpu_job *cpu_pool_join(cpu_pool *pool, uintptr_t queue_address,
                       cpu_context *context) {
  cpu_pool_lock(pool);
  cpu_job *job = join(pool, queue_address, context);
  cpu_pool_unlock(pool);
  return job;
}

// Takes a job without pieces off the list. The lock is held.
static void unlist(cpu_pool *pool, cpu_job *job) {
  if (!job->is_listed) {
    return;
  }
  job->is_listed = false;
  atomic_fetch_sub_explicit(&pool->job_count, 1, memory_order_relaxed);
  if (job->previous) {
    job->previous->next = job->next;
  } else {
    pool->jobs = job->next;
  }
  if (job->next) {
    job->next->previous = job->previous;
  }
}

bool cpu_pool_work(cpu_pool *pool, cpu_job *job, cpu_context *context) {
  cpu_queue *queue = job->queue;
  const uint64_t start_ns = job->command->times ? mtli_now_ns() : 0;
  uint64_t first = 0;
  uint64_t end = 0;
  while (!atomic_load_explicit(&queue->has_failed, memory_order_relaxed) &&
         cpu_pieces_take(job, context->seat, &first, &end)) {
    cpu_fault_run_guarded(job, first, end, context);
  }
  cpu_context_finish(job, context);
  if (job->command->times) {
    mtli_trace_command(job->command, start_ns, mtli_now_ns());
  }
  cpu_pool_lock(pool);
  // Whoever leaves has found nothing more to take, or nothing worth taking.
  cpu_pieces_drop(job);
  unlist(pool, job);
  const bool is_finished = --job->users == 0;
  cpu_pool_unlock(pool);
  if (!is_finished) {
    return false;
  }
  if (job->command->times) {
    mtli_command_ends(job->command->times, mtli_now_ns());
  }
  // Acquire and release: the thread that goes on sees all that users did.
  if (atomic_fetch_sub_explicit(&queue->outstanding, 1, memory_order_acq_rel) !=
      1) {
    return false;
  }
  atomic_store_explicit(&queue->outstanding, 1, memory_order_relaxed);
  return true;
}

void cpu_pool_share(cpu_pool *pool, cpu_job *job, uint32_t helpers,
                    cpu_context *context) {
  context->seat = 0;
  list_job(pool, job, 1, helpers);
  // The thread at hand holds its own one of outstanding: never the last.
  (void)cpu_pool_work(pool, job, context);
}

cpu_context *cpu_pool_borrow_context(cpu_pool *pool) {
  cpu_pool_lock(pool);
  cpu_context *context = pool->free_contexts;
  if (context) {
    pool->free_contexts = context->next;
    context_take(context);
  }
  cpu_pool_unlock(pool);
  if (!context) {
    context = context_add(pool);
    if (context) {
      cpu_pool_lock(pool);
      context_take(context);
      cpu_pool_unlock(pool);
    }
    return context;
  }
  // What the last borrower was about is no matter to the next.
  context->is_visiting = false;
  context->has_left = false;
  context->has_worked = false;
  return context;
}

void cpu_pool_return_context(cpu_pool *pool, cpu_context *context) {
  cpu_pool_lock(pool);
  context->has_thread = false;
  context->next = pool->free_contexts;
  pool->free_contexts = context;
  cpu_pool_unlock(pool);
}

// Looks out until end_ns for news, or a goal that is reached, without the lock,
// which is held on entry and return. True if either has come.
static bool look_out(cpu_pool *pool, uint32_t seen, const cpu_goal *goal,
                     uint64_t end_ns) {
  atomic_fetch_add_explicit(&pool->lookouts, 1, memory_order_relaxed);
  cpu_pool_unlock(pool);
  bool has_come = false;
  do {
    for (int i = 0; i < 16 && !has_come; i++) {
      mtli_pause();
      // pairs with the release in announce
      has_come =
          atomic_load_explicit(&pool->news, memory_order_acquire) != seen ||
          cpu_goal_is_reached(goal);
    }
  } while (!has_come && mtli_now_ns() < end_ns);
  cpu_pool_lock(pool);
  atomic_fetch_sub_explicit(&pool->lookouts, 1, memory_order_relaxed);
  return has_come;
}

bool cpu_pool_stay(cpu_pool *pool, uintptr_t queue_address,
                   const cpu_goal *goal, uint64_t end_ns,
                   cpu_context *context) {
  cpu_pool_lock(pool);
  context->stays_for = queue_address;
  context->next_stayer = pool->stayers;
  pool->stayers = context;
  for (;;) {
    const uint32_t seen =
        atomic_load_explicit(&pool->news, memory_order_relaxed);
    if (find_job(pool, queue_address) ||
        cpu_pool_find_ready(pool, queue_address) || cpu_goal_is_reached(goal)) {
      break;
    }
    if (!pool->may_look_out || !look_out(pool, seen, goal, end_ns)) {
      end_ns = 0;
      break;
    }
  }
  cpu_context **link = &pool->stayers;
  while (*link != context) {
    link = &(*link)->next_stayer;
  }
  *link = context->next_stayer;
  cpu_pool_unlock(pool);
  return end_ns != 0;
}

static bool has_work(const cpu_pool *pool, uint32_t seen) {
  return pool->first_ready || pool->is_ending ||
         atomic_load_explicit(&pool->news, memory_order_relaxed) != seen;
}

// Sleeps until news or the deadline. The lock is held on entry and return.
static void sleep_until(cpu_pool *pool, uint32_t seen, uint64_t deadline_ns) {
  pool->sleepers++;
  cpu_pool_unlock(pool);
  mtli_futex_wait(&pool->news, seen, deadline_ns);
  cpu_pool_lock(pool);
  pool->sleepers--;
  if (pool->woken) {
    pool->woken--;
  }
}

// Naps until there is work, or nothing has happened for a while.
static void nap(cpu_pool *pool, uint32_t seen) {
  pool->has_napper = true;
  uint32_t quiet_count = pool->quiet_count;
  for (int i = 0; i < NAP_COUNT && !has_work(pool, seen); i++) {
    sleep_until(pool, seen, mtli_now_ns() + NAP_NS);
    if (pool->quiet_count != quiet_count) {
      quiet_count = pool->quiet_count;
      i = 0;
    }
  }
  pool->has_napper = false;
}

// Waits for work; may return for no reason. The lock is held. The thread is
// light on entry and return. False if an extra one has had nothing to do for
// long and others are idle, too.
static bool idle(cpu_pool *pool, cpu_context *context) {
  const uint32_t seen = atomic_load_explicit(&pool->news, memory_order_relaxed);
  const bool is_early = context->has_worked && pool->may_look_out;
  if (is_early || (!pool->workers_looking && pool->may_look_out)) {
    pool->workers_looking++;
    look_out(pool, seen, &(cpu_goal){0},
             mtli_now_ns() + (is_early ? CPU_LOOKOUT_NS : MTLI_SPIN_NS));
    pool->workers_looking--;
  }
  context->has_worked = false;
  context->is_light = false;
  atomic_fetch_sub(&pool->light_count, 1);
  if (!pool->has_napper && !has_work(pool, seen)) {
    nap(pool, seen);
  }
  if (!has_work(pool, seen)) {
    sleep_until(
        pool, seen,
        context->is_extra ? mtli_deadline_ns(EXTRA_IDLE_NS) : MTLI_FOREVER);
  }
  cpu_pool_lighten(pool, context);
  return !context->is_extra || has_work(pool, seen) || !pool->sleepers;
}

// Does one thing that there is to do. The lock is held on entry and return, and
// the thread is light.
static bool work_once(cpu_pool *pool, cpu_context *context) {
  // Extra threads came for the queues that wait.
  const bool is_for_queues = context->is_extra && pool->first_ready;
  cpu_job *job = is_for_queues ? NULL : join(pool, 0, context);
  cpu_queue *queue = job ? job->queue : pool->first_ready;
  if (!queue) {
    return false;
  }
  if (!job) {
    cpu_pool_take_ready(pool, queue);
    queue->was_helped = false;
  }
  cpu_pool_unlock(pool);
  context->has_worked = job != NULL;
  if (job) {
    cpu_pool_weigh(pool, context);
  }
  if (!job || cpu_pool_work(pool, job, context)) {
    cpu_queue_run(queue, context, &(cpu_goal){0});
  }
  cpu_pool_lock(pool);
  if (!context->is_light) {
    cpu_pool_lighten(pool, context);
  }
  return true;
}

// An extra thread that nothing is left for goes by itself, unless the pool is
// ending and joins it. The lock is held.
static void leave(cpu_pool *pool, cpu_context *context) {
  if (!context->is_extra || pool->is_ending) {
    return;
  }
  uint32_t i = 0;
  while (!pthread_equal(pool->threads[i], pthread_self())) {
    i++;
  }
  pool->threads[i] = pool->threads[--pool->thread_count];
  pthread_detach(pthread_self());
}

static void *pool_main(void *argument) {
  cpu_context *context = argument;
  cpu_pool *pool = context->pool;
  cpu_fault_prepare_thread();
  sigset_t before;
  (void)cpu_interrupt_open_mask(&before);  // all others stay blocked
  fesetenv(FE_DFL_ENV);                    // a thread starts with its creator's
  cpu_pool_lock(pool);
  context_take(context);
  cpu_pool_lighten(pool, context);
  while (!pool->is_ending &&
         (work_once(pool, context) || idle(pool, context))) {
  }
  context->is_light = false;
  atomic_fetch_sub(&pool->light_count, 1);
  leave(pool, context);
  context_remove(pool, context);
  cpu_pool_unlock(pool);
  mtli_object_release(&pool->object);  // -1
  return NULL;
}

// Starts one more thread, which has all that it needs. The lock is held.
static bool start_thread(cpu_pool *pool, bool is_extra) {
  cpu_context *context = cpu_context_create(pool);
  if (!context) {
    return false;
  }
  context->is_extra = is_extra;
  mtli_object_retain(&pool->object);  // +1, the thread's
  if (!mtli_thread_start(&pool->threads[pool->thread_count], "mettle-cpu",
                         pool_main, context)) {
    mtli_object_release(&pool->object);  // -1
    cpu_context_destroy(context);
    return false;
  }
  context->next_of_all = pool->contexts;
  pool->contexts = context;
  pool->thread_count++;
  return true;
}

mtl_status cpu_pool_start(cpu_pool *pool) {
  cpu_pool_lock(pool);
  while (pool->worker_count < pool->thread_limit &&
         pool->thread_count < THREAD_LIMIT && start_thread(pool, false)) {
    pool->worker_count++;
  }
  // Fewer threads than wished do the same work.
  const uint32_t worker_count = pool->worker_count;
  cpu_pool_unlock(pool);
  return worker_count ? MTL_OK
                      : mtli_fail(MTL_OUT_OF_MEMORY,
                                  "no thread for the cpu device's pool");
}

bool cpu_pool_is_waiting(const cpu_pool *pool, uint64_t *out_taken) {
  *out_taken = pool->taken_count;
  return pool->first_ready != NULL;
}

void cpu_pool_grow(cpu_pool *pool) {
  if (pool->thread_count < THREAD_LIMIT && !pool->is_ending) {
    (void)start_thread(pool, true);
  }
}

cpu_overseer *cpu_pool_overseer(cpu_pool *pool) {
  return pool->overseer;
}

void cpu_pool_end(cpu_pool *pool, bool is_inherited) {
  cpu_overseer_end(pool->overseer, is_inherited);
  if (is_inherited) {
    pool_destroy(&pool->object);  // its threads are not in this process
    return;
  }
  cpu_pool_lock(pool);
  pool->is_ending = true;
  atomic_fetch_add_explicit(&pool->news, 1, memory_order_release);
  pool->to_wake = pool->sleepers;
  const uint32_t thread_count = pool->thread_count;
  cpu_pool_unlock(pool);
  for (uint32_t i = 0; i < thread_count; i++) {
    mtli_thread_end(pool->threads[i]);
  }
  mtli_object_release(&pool->object);  // -1
}
