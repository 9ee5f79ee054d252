// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// overseer.c: a thread that runs no work and watches the others. It ends
// command buffers that exceed their time limit, interrupts threads that run one
// that is to end, and adds threads to the pool if all are busy for long while
// queues wait. It starts when first needed and sleeps otherwise.
#include <stdlib.h>

#include "base/futex.h"
#include "base/thread.h"
#include "drivers/cpu/cpu.h"

enum {
  // The interval between looks at whether ready queues are taken, the number of
  // looks at untaken queues that adds a thread, and the number of looks without
  // a ready queue that ends the watch.
  LOOK_NS = 10 * 1000 * 1000,
  LOOKS_TO_GROW = 2,
  LOOKS_TO_END = 10,
  // An interrupt comes to nothing where a thread is not in a kernel's own
  // instructions, and is repeated then, less and less often.
  INTERRUPT_NS = 1000 * 1000,
  INTERRUPT_LONGEST_NS = 16 * 1000 * 1000,
};

// All of it, except news, is under the pool's lock.
struct cpu_overseer {
  cpu_pool *pool;
  pthread_t thread;
  bool is_started;
  bool is_ending;
  bool is_wanted;  // queues are ready and no thread takes them
  uint64_t wake_ns;     // it sleeps until then
  cpu_queue *overseen;  // queues with a deadline, or that must stop
  // The watch over ready queues, as of its last look:
  bool is_watching;
  uint64_t look_ns;  // the next one
  uint64_t taken;
  uint32_t still_count;  // consecutive looks at which no queue had been taken
  uint32_t quiet_count;  // consecutive looks at which no queue was ready
  _Atomic uint32_t news;
};

cpu_overseer *cpu_overseer_create(cpu_pool *pool) {
  cpu_overseer *overseer = calloc(1, sizeof *overseer);
  if (overseer) {
    overseer->pool = pool;
  }
  return overseer;
}

static void wake(cpu_overseer *overseer) {
  atomic_fetch_add_explicit(&overseer->news, 1, memory_order_release);
  mtli_futex_wake(&overseer->news, 1);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

// Performs the due work for one queue; returns when to look at it again.
static uint64_t oversee(cpu_overseer *overseer, cpu_queue *queue,
                        uint64_t now_ns) {
  if (queue->deadline_ns && queue->deadline_ns <= now_ns) {
    cpu_queue_stop(queue, MTL_TIMED_OUT);
  }
  if (atomic_load_explicit(&queue->stop, memory_order_relaxed) == MTL_OK) {
    return queue->deadline_ns ? queue->deadline_ns : MTLI_FOREVER;
  }
  cpu_pool_interrupt(overseer->pool, queue);
  cpu_queue_stop_waiting(queue);
  queue->interrupt_ns = earlier(
      queue->interrupt_ns ? 2 * queue->interrupt_ns : INTERRUPT_NS,
      INTERRUPT_LONGEST_NS);
  return now_ns + queue->interrupt_ns;
}

// Checks whether ready queues are taken; returns when to look again.
static uint64_t look(cpu_overseer *overseer, uint64_t now_ns) {
  uint64_t taken = 0;
  const bool is_waiting = cpu_pool_is_waiting(overseer->pool, &taken);
  const bool is_still = is_waiting && taken == overseer->taken;
  overseer->taken = taken;
  overseer->still_count = is_still ? overseer->still_count + 1 : 0;
  overseer->quiet_count = is_waiting ? 0 : overseer->quiet_count + 1;
  if (overseer->still_count >= LOOKS_TO_GROW) {
    cpu_pool_grow(overseer->pool);
    overseer->still_count = 0;
  }
  overseer->is_watching = overseer->quiet_count < LOOKS_TO_END;
  return overseer->is_watching ? now_ns + LOOK_NS : MTLI_FOREVER;
}

// Performs all due work; returns when the next is due. The lock is held.
static uint64_t oversee_all(cpu_overseer *overseer) {
  const uint64_t now_ns = mtli_now_ns();
  uint64_t next_ns = MTLI_FOREVER;
  for (cpu_queue *queue = overseer->overseen; queue;) {
    cpu_queue *next = queue->next_overseen;
    next_ns = earlier(next_ns, oversee(overseer, queue, now_ns));
    queue = next;
  }
  if (overseer->is_wanted && !overseer->is_watching) {
    overseer->is_watching = true;
    overseer->still_count = overseer->quiet_count = 0;
    overseer->look_ns = now_ns;
  }
  overseer->is_wanted = false;
  if (overseer->is_watching) {
    if (overseer->look_ns <= now_ns) {
      overseer->look_ns = look(overseer, now_ns);
    }
    next_ns = earlier(next_ns, overseer->look_ns);
  }
  return next_ns;
}

static void *overseer_main(void *argument) {
  cpu_overseer *overseer = argument;
  cpu_pool_lock(overseer->pool);
  while (!overseer->is_ending) {
    const uint32_t seen =
        atomic_load_explicit(&overseer->news, memory_order_acquire);
    overseer->wake_ns = oversee_all(overseer);
    const uint64_t wake_ns = overseer->wake_ns;
    cpu_pool_unlock(overseer->pool);
    mtli_futex_wait(&overseer->news, seen, wake_ns);
    cpu_pool_lock(overseer->pool);
  }
  cpu_pool_unlock(overseer->pool);
  return NULL;
}

mtl_status cpu_overseer_start(cpu_overseer *overseer) {
  cpu_pool_lock(overseer->pool);
  if (!overseer->is_started) {
    overseer->is_started = mtli_thread_start(&overseer->thread, "mettle-watch",
                                             overseer_main, overseer);
  }
  const bool is_started = overseer->is_started;
  cpu_pool_unlock(overseer->pool);
  return is_started ? MTL_OK
                    : mtli_fail(MTL_OUT_OF_MEMORY,
                                "no thread to end work that runs for too long");
}

void cpu_overseer_end(cpu_overseer *overseer, bool is_inherited) {
  if (!is_inherited && overseer->is_started) {
    cpu_pool_lock(overseer->pool);
    overseer->is_ending = true;
    cpu_pool_unlock(overseer->pool);
    wake(overseer);
    mtli_thread_end(overseer->thread);
  }
  free(overseer);
}

void cpu_overseer_watch_ready(cpu_overseer *overseer) {
  if (!overseer->is_watching && !overseer->is_wanted) {
    overseer->is_wanted = true;
    if (overseer->is_started) {
      wake(overseer);
    }
  }
}

bool cpu_overseer_is_wanted(const cpu_overseer *overseer) {
  return overseer->is_wanted && !overseer->is_started;
}

void cpu_overseer_add(cpu_overseer *overseer, cpu_queue *queue) {
  if (!queue->is_overseen) {
    queue->is_overseen = true;
    queue->next_overseen = overseer->overseen;
    overseer->overseen = queue;
  }
  const uint64_t due_ns = queue->deadline_ns ? queue->deadline_ns : 0;
  if (overseer->is_started && due_ns < overseer->wake_ns) {
    overseer->wake_ns = due_ns;
    wake(overseer);
  }
}

void cpu_overseer_remove(cpu_overseer *overseer, cpu_queue *queue) {
  queue->is_overseen = false;
  cpu_queue **link = &overseer->overseen;
  while (*link != queue) {
    link = &(*link)->next_overseen;
  }
  *link = queue->next_overseen;
}
