// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// contexts.c: creates the contexts in which threads run kernels: one for each
// thread of the pool, and others lent to clients' threads.
#include "drivers/cpu/pool/pool.h"

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
void cpu_pool_remove_context(cpu_pool *pool, cpu_context *context) {
  cpu_context **link = &pool->contexts;
  while (*link != context) {
    link = &(*link)->next_of_all;
  }
  *link = context->next_of_all;
  cpu_context_destroy(context);
}

// Assigns the context to the calling thread. The lock is held.
void cpu_pool_take_context(cpu_context *context) {
  context->thread = pthread_self();
  context->has_thread = true;
}

void cpu_pool_interrupt(cpu_pool *pool, const cpu_queue *queue) {
  for (cpu_context *context = pool->contexts; context;
       context = context->next_of_all) {
    // Relaxed: the interrupted thread tests again whether it must stop.
    if (context->has_thread &&
        atomic_load_explicit(&context->busy_with, memory_order_relaxed) ==
            queue) {
      cpu_interrupt_send(context->thread);
    }
  }
}

cpu_context *cpu_pool_borrow_context(cpu_pool *pool) {
  cpu_pool_lock(pool);
  cpu_context *context = pool->free_contexts;
  if (context) {
    pool->free_contexts = context->next;
    cpu_pool_take_context(context);
  }
  cpu_pool_unlock(pool);
  if (!context) {
    context = context_add(pool);
    if (context) {
      cpu_pool_lock(pool);
      cpu_pool_take_context(context);
      cpu_pool_unlock(pool);
    }
    return context;
  }
  // Clears the last borrower's state.
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
