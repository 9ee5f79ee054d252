// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.c: the device's threads: who looks out for work, who sleeps, who is woken.
//
// Queues that are ready and sleepers are under one lock. Shared jobs are not
// (jobs.c): where a job finds enough threads that look out, nobody takes the
// lock for it.
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
#include <string.h>

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
  SQUADS = 16,
  SQUAD_THREADS = 4,
  // A wake takes the waker 2 to 6 us, so those who are woken wake others.
  WAKES = 2,
};

// Threads that look out together. A job that is worth few threads is told to few
// squads, so that not all rush for it.
struct cpu_squad {
  // Another with each announcement: one of cpu_jobs_open, or the pool's news
  // behind those.
  _Alignas(64) _Atomic uint64_t news;
  // How many threads are light, by LIGHT, and look out, by LOOKING.
  // Sequentially consistent: either the thread sees the queue made ready or the
  // job opened, or who announces that sees the thread.
  _Atomic uint64_t awake;
};
#define LIGHT UINT64_C(1)
#define LOOKING (UINT64_C(1) << 32)
#define POOL_NEWS ((uint64_t)CPU_SLOTS << 32)

struct cpu_pool {
  mtli_object object;  // one reference of the device, one of each thread
  pthread_mutex_t lock;
  uint32_t thread_limit;  // that may run one job
  bool may_look_out;      // spinning on a single CPU only keeps others off it
  cpu_overseer *overseer;
  cpu_jobs *jobs;  // shared
  // Under lock:
  cpu_queue *first_ready;
  cpu_queue *last_ready;
  cpu_context *free_contexts;
  bool has_napper;
  cpu_context *stayers;      // clients' that look out
  uint32_t quiet_count;      // queues made ready and not announced, to date
  uint32_t sleepers;
  uint32_t woken;         // sleepers that were woken and have not come yet
  uint32_t to_wake;       // by the next unlock
  uint32_t owed;          // of those woken: by the ones who come
  bool wants_overseer;    // the next unlock starts it
  uint32_t worker_count;  // threads that the pool begins with
  uint32_t thread_count;  // and those that were added
  uint32_t client_count;  // contexts made for clients' threads
  _Atomic bool is_ending;
  // Counts queues made ready and announced, and wakes; what sleepers sleep on.
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
    context->squad = &pool->clients;
    cpu_pool_lock(pool);
    context->number = pool->thread_limit + pool->client_count++;
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

// How many threads are light.
static uint32_t count_light(const cpu_pool *pool) {
  uint32_t light = (uint32_t)atomic_load(&pool->clients.awake);
  const uint32_t squads =
      atomic_load_explicit(&pool->squad_count, memory_order_relaxed);
  for (uint32_t i = 0; i < squads; i++) {
    light += (uint32_t)atomic_load(&pool->squads[i].awake);
  }
  return light;
}

// True if a worker looks out.
static bool has_looking(const cpu_pool *pool) {
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

// Returns how many threads have been told.
static uint32_t tell_squad(cpu_squad *squad, uint64_t news) {
  const uint64_t awake = atomic_load(&squad->awake);
  if (awake >= LOOKING) {
    // pairs with the acquire in look_out
    atomic_store_explicit(&squad->news, news, memory_order_release);
  }
  return (uint32_t)(awake / LOOKING);
}

// Has count threads or more of those that look out come. Clients' threads look
// for work of their own queue, and see whether it is.
static void tell_lookouts(cpu_pool *pool, uint64_t news, uint32_t count) {
  tell_squad(&pool->clients, news);
  const uint32_t squads =
      atomic_load_explicit(&pool->squad_count, memory_order_relaxed);
  uint32_t told = 0;
  for (uint32_t i = 0; i < squads && told < count; i++) {
    told += tell_squad(&pool->squads[i], news);
  }
}

// How many threads will come for what queue has, without being woken.
static uint32_t count_coming(const cpu_pool *pool, const cpu_queue *queue) {
  uint32_t coming = count_light(pool) + pool->woken;
  const cpu_context *stayer = pool->stayers;
  for (; stayer; stayer = stayer->next_stayer) {
    coming += stayer->stays_for == (uintptr_t)queue;
  }
  return coming;
}

// Has the next unlock wake some of those that are to be woken.
static void wake_some(cpu_pool *pool) {
  const uint32_t wakes = pool->owed < WAKES ? pool->owed : WAKES;
  pool->owed -= wakes;
  pool->to_wake += wakes;
}

// Wakes as many threads as are missing for queue's work for count threads, or
// if it is NULL for some queue's. The lock is held.
static void wake_missing(cpu_pool *pool, const cpu_queue *queue,
                         uint32_t count) {
  const uint32_t coming = count_coming(pool, queue);
  const uint32_t asleep =
      pool->sleepers > pool->woken ? pool->sleepers - pool->woken : 0;
  const uint32_t missing = count > coming ? count - coming : 0;
  const uint32_t wakes = missing < asleep ? missing : asleep;
  pool->woken += wakes;
  pool->owed += wakes;
  wake_some(pool);
  if (missing > wakes && pool->first_ready) {
    cpu_overseer_watch_ready(pool->overseer);
    pool->wants_overseer = cpu_overseer_is_wanted(pool->overseer);
  }
}

// Says that queue, or if it is NULL some queue, is ready, or count are. The
// lock is held.
static void announce(cpu_pool *pool, const cpu_queue *queue, uint32_t count) {
  // Sleepers see it through the futex, who is about to look out before that.
  const uint32_t news = atomic_fetch_add(&pool->news, 1) + 1;
  tell_lookouts(pool, POOL_NEWS | news, count);
  wake_missing(pool, queue, count);
}

// Says that a job of queue has been opened, for count threads.
static void announce_job(cpu_pool *pool, const cpu_queue *queue, uint64_t news,
                         uint32_t count) {
  tell_lookouts(pool, news, count);
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
  if (queue->was_helped && (pool->has_napper || has_looking(pool))) {
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

// The thread is light no longer, nor looks out.
static void darken(cpu_context *context) {
  const uint64_t was = LIGHT + (context->is_looking ? LOOKING : 0);
  context->is_light = context->is_looking = false;
  atomic_fetch_sub(&context->squad->awake, was);
}

// The thread looks out, or no longer.
static void look(cpu_context *context, bool is_looking) {
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
  darken(context);
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
  return has_looking(pool) ||
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

bool cpu_pool_take_slot(cpu_pool *pool, cpu_job *job) {
  return cpu_jobs_take_slot(pool->jobs, job);
}

// Opens a job with users inside, and announces it to helpers threads.
static void open_job(cpu_pool *pool, cpu_job *job, uint32_t users,
                     uint32_t helpers) {
  // The queue is there: this thread runs it. Relaxed: only this thread, which
  // holds one, can make it 0 before the job is open.
  const cpu_queue *queue = job->queue;
  atomic_fetch_add_explicit(&job->queue->outstanding, 1, memory_order_relaxed);
  const uint64_t news = cpu_jobs_open(pool->jobs, job, users);
  announce_job(pool, queue, news, helpers);
}

void cpu_pool_offer(cpu_pool *pool, cpu_job *job, uint32_t helpers) {
  open_job(pool, job, 0, helpers);
}

// What the last to leave a job does. True if that was the last thing that its
// queue waited for.
static bool end_job(cpu_job *job) {
  cpu_queue *queue = job->queue;
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

cpu_job *cpu_pool_join(cpu_pool *pool, uintptr_t queue_address) {
  cpu_job *ended = NULL;
  cpu_job *job = cpu_jobs_join(pool->jobs, queue_address, &ended);
  if (ended) {
    cpu_queue *queue = ended->queue;
    if (end_job(ended)) {
      cpu_queue_hand_over(queue);
    }
  }
  return job;
}

bool cpu_pool_work(cpu_pool *pool, cpu_job *job, cpu_context *context) {
  cpu_queue *queue = job->queue;
  const uint64_t start_ns = job->command->times ? mtli_now_ns() : 0;
  const uint32_t seat = cpu_pieces_choose_run(job, context->number);
  uint64_t first = 0;
  uint64_t end = 0;
  while (!atomic_load_explicit(&queue->has_failed, memory_order_relaxed) &&
         cpu_pieces_take(job, seat, &first, &end)) {
    cpu_fault_run_guarded(job, first, end, context);
  }
  cpu_context_finish(job, context);
  if (job->command->times) {
    mtli_trace_command(job->command, start_ns, mtli_now_ns());
  }
  // Whoever leaves has found nothing more to take, or nothing worth taking.
  return cpu_jobs_leave(pool->jobs, job) && end_job(job);
}

void cpu_pool_share(cpu_pool *pool, cpu_job *job, uint32_t helpers,
                    cpu_context *context) {
  open_job(pool, job, 1, helpers);
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
  return context;
}

void cpu_pool_return_context(cpu_pool *pool, cpu_context *context) {
  cpu_pool_lock(pool);
  context->has_thread = false;
  context->next = pool->free_contexts;
  pool->free_contexts = context;
  cpu_pool_unlock(pool);
}

// What had been announced when the lists were looked at last.
typedef struct seen {
  uint32_t news;   // the pool's
  uint64_t squad;  // the squad's
} seen;

static seen see(const cpu_pool *pool, const cpu_squad *squad) {
  return (seen){
      .news = atomic_load(&pool->news),
      .squad = atomic_load_explicit(&squad->news, memory_order_acquire)};
}

// Looks out until end_ns for news, or a goal that is reached. True if either
// has come.
static bool look_out(cpu_pool *pool, cpu_context *context, seen before,
                     uintptr_t queue_address, const cpu_goal *goal,
                     uint64_t end_ns) {
  const cpu_squad *squad = context->squad;
  look(context, true);
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

// True if there is something to do for a client's thread.
static bool has_come_for(cpu_pool *pool, uintptr_t queue_address,
                         const cpu_goal *goal) {
  cpu_pool_lock(pool);
  const bool is_ready = cpu_pool_find_ready(pool, queue_address) != NULL;
  cpu_pool_unlock(pool);
  return is_ready || cpu_jobs_are_open(pool->jobs, queue_address) ||
         cpu_goal_is_reached(goal);
}

// Notes for whom a client's thread stays, or that it goes.
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
    const seen before = see(pool, context->squad);
    has_come = has_come_for(pool, queue_address, goal);
    is_late = !has_come && (!pool->may_look_out ||
                            !look_out(pool, context, before, queue_address,
                                      goal, end_ns));
  }
  look(context, false);
  forget_stayer(pool, context);
  return has_come;
}

// The lock is held, and the thread not light.
static bool has_work(const cpu_pool *pool, uint32_t news) {
  return pool->first_ready || atomic_load(&pool->is_ending) ||
         atomic_load(&pool->news) != news ||
         cpu_jobs_are_open(pool->jobs, 0);
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
  wake_some(pool);
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
static bool idle(cpu_pool *pool, cpu_context *context, seen before) {
  const uint64_t now_ns = mtli_now_ns();
  const bool is_early = now_ns < context->look_until_ns;
  if (pool->may_look_out && (is_early || !has_looking(pool)) &&
      look_out(pool, context, before, 0, &(cpu_goal){0},
               is_early ? context->look_until_ns : now_ns + MTLI_SPIN_NS)) {
    return true;  // and goes on looking, unless it finds something
  }
  cpu_pool_lock(pool);
  darken(context);
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

// The first ready queue, taken off its list; NULL if there is none.
static cpu_queue *take_first_ready(cpu_pool *pool) {
  if (!atomic_load_explicit(&pool->ready_count, memory_order_relaxed)) {
    return NULL;
  }
  cpu_pool_lock(pool);
  cpu_queue *queue = pool->first_ready;
  if (queue) {
    cpu_pool_take_ready(pool, queue);
    queue->was_helped = false;
  }
  cpu_pool_unlock(pool);
  return queue;
}

// Does one thing that there is to do. The thread is light on entry and return.
static bool work_once(cpu_pool *pool, cpu_context *context) {
  // Extra threads came for the queues that wait.
  const bool is_for_queues =
      context->is_extra &&
      atomic_load_explicit(&pool->ready_count, memory_order_relaxed);
  cpu_job *job = is_for_queues ? NULL : cpu_pool_join(pool, 0);
  cpu_queue *queue = job ? job->queue : take_first_ready(pool);
  if (!queue) {
    return false;
  }
  if (job) {
    cpu_pool_weigh(pool, context);
  } else {
    look(context, false);
  }
  if (!job || cpu_pool_work(pool, job, context)) {
    cpu_queue_run(queue, context, &(cpu_goal){0});
  }
  context->look_until_ns = job ? mtli_now_ns() + CPU_LOOKOUT_NS : 0;
  if (!context->is_light) {
    // It will look out: one addition for both.
    context->is_looking = job && pool->may_look_out;
    context->is_light = true;
    atomic_fetch_add(&context->squad->awake,
                     LIGHT + (context->is_looking ? LOOKING : 0));
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

// Works until there is nothing to do for the thread any more.
static void serve(cpu_pool *pool, cpu_context *context) {
  bool is_to_stay = true;
  while (is_to_stay && !atomic_load(&pool->is_ending)) {
    const seen before = see(pool, context->squad);
    is_to_stay = work_once(pool, context) || idle(pool, context, before);
  }
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
  cpu_pool_unlock(pool);
  cpu_pool_lighten(pool, context);
  serve(pool, context);
  cpu_pool_lock(pool);
  darken(context);
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
  const uint32_t squad = pool->thread_count / SQUAD_THREADS % SQUADS;
  context->is_extra = is_extra;
  context->number = pool->thread_count;
  context->squad = &pool->squads[squad];
  if (squad >= atomic_load_explicit(&pool->squad_count, memory_order_relaxed)) {
    atomic_store_explicit(&pool->squad_count, squad + 1, memory_order_relaxed);
  }
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
  atomic_store(&pool->is_ending, true);
  atomic_fetch_add(&pool->news, 1);
  tell_lookouts(pool, POOL_NEWS | atomic_load(&pool->news), THREAD_LIMIT);
  pool->to_wake = pool->sleepers;
  const uint32_t thread_count = pool->thread_count;
  cpu_pool_unlock(pool);
  for (uint32_t i = 0; i < thread_count; i++) {
    mtli_thread_end(pool->threads[i]);
  }
  mtli_object_release(&pool->object);  // -1
}
