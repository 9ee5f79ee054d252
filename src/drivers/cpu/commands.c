// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: executes a command buffer's list. Where the thread would have to
// wait (for running jobs, for an event), it leaves the queue; another thread
// resumes there later.
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "drivers/cpu/cpu.h"

// Leaves a hint for cpu_event_wait.
static void note_signaller(mtl_event *event, const mtl_queue *queue) {
  if (event->device == queue->device) {
    atomic_store_explicit(&((cpu_event *)event)->signaller, (uintptr_t)queue,
                          memory_order_relaxed);
  }
}

mtl_status cpu_commands_prepare(mtl_command_buffer *command_buffer) {
  cpu_command *previous = NULL;
  if (command_buffer->time_limit_ns) {
    const cpu_queue *queue = (const cpu_queue *)command_buffer->queue;
    MTL_TRY(cpu_overseer_start(cpu_pool_overseer(queue->pool)));
  }
  for (mtli_command *command = command_buffer->commands; command;
       command = command->next) {
    cpu_command *data = mtli_command_data(command);
    data->command = command;
    data->job.command = command;
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      note_signaller(command->event.event, command_buffer->queue);
    }
    if (command->kind == MTLI_COMMAND_DISPATCH && !command_buffer->is_failed) {
      cpu_dispatch_prepare(command);
    }
    if (command->kind == MTLI_COMMAND_ORDER) {
      continue;
    }
    if (!command->is_ordered && previous) {
      previous->job.may_overlap = true;
      data->job.may_overlap = true;
    }
    previous = data;
  }
  return MTL_OK;
}

void cpu_commands_clear(mtl_command_buffer *command_buffer) {
  (void)command_buffer;  // all of it is in the list's own memory
}

// Waits a little for the job's last pieces, which others run. A wake-up takes
// as long, and this thread has the queue in its caches.
static void await_jobs(const cpu_queue *queue) {
  const uint64_t end_ns = mtli_now_ns() + CPU_LOOKOUT_NS;
  do {
    for (int i = 0; i < 16; i++) {
      // Relaxed: cpu_queue_settle reads it again.
      if (atomic_load_explicit(&queue->outstanding, memory_order_relaxed) ==
          1) {
        return;
      }
      mtli_pause();
    }
  } while (mtli_now_ns() < end_ns);
}

bool cpu_queue_settle(cpu_queue *queue, cpu_context *context) {
  // Acquire: pairs with the release of those who finished jobs.
  if (atomic_load_explicit(&queue->outstanding, memory_order_acquire) == 1) {
    return true;
  }
  // Run jobs here that no other thread has joined. This thread's own count in
  // outstanding keeps others from running the queue meanwhile.
  for (cpu_job *job;
       (job = cpu_pool_join(queue->pool, (uintptr_t)queue));) {
    cpu_pool_work(queue->pool, job, context);
  }
  await_jobs(queue);
  // Release: the thread that finishes last continues from what this one has
  // written.
  if (atomic_fetch_sub_explicit(&queue->outstanding, 1, memory_order_acq_rel) !=
      1) {
    return false;
  }
  atomic_store_explicit(&queue->outstanding, 1, memory_order_relaxed);
  return true;
}

// Reads the range of commands that an execution runs.
static void read_range(const mtli_execute *execute, uint32_t out_range[2]) {
  out_range[0] = execute->first;
  out_range[1] = execute->count;
  if (execute->range) {
    memcpy(out_range,
           (const char *)(uintptr_t)execute->range->gpu_address +
               execute->range_offset_bytes,
           2 * sizeof *out_range);
  }
}

// Replaces an execution by the commands that it runs.
static void run_execute(cpu_queue *queue, mtli_command *command) {
  uint32_t range[2];
  read_range(&command->execute, range);
  mtli_command *first = NULL;
  const mtl_status status =
      mtli_execution_begin(queue->current, command, range[0], range[1], &first);
  if (status != MTL_OK) {
    cpu_queue_fail(queue, status, "%s", mtl_last_error());
  }
  queue->next_command = first;
  // Commands that may run beside the execution may run beside its first and
  // last command.
  bool may_overlap =
      ((cpu_command *)mtli_command_data(command))->job.may_overlap;
  cpu_command *previous = NULL;
  for (mtli_command *made = first; made != command->next; made = made->next) {
    cpu_command *data = mtli_command_data(made);
    data->command = made;
    data->job.command = made;
    made->times = command->times;
    if (!made->dispatch.is_repeated) {
      cpu_dispatch_prepare(made);
    }
    may_overlap |= !made->is_ordered && previous;
    data->job.may_overlap = may_overlap;
    if (previous && !made->is_ordered) {
      previous->job.may_overlap = true;
    }
    may_overlap = false;
    previous = data;
  }
  if (previous) {
    previous->job.may_overlap |=
        ((cpu_command *)mtli_command_data(command))->job.may_overlap;
  }
}

// Records the start and end of a command without a job.
static void note_instant(const mtli_command *command) {
  mtli_command_times *times = command->times;
  if (times && !atomic_load_explicit(&times->start_ns, memory_order_relaxed)) {
    const uint64_t now_ns = mtli_now_ns();
    mtli_command_starts(times, now_ns);
    mtli_command_ends(times, now_ns);
  }
}

static void signal_arrives(cpu_late_item *item) {
  cpu_command *data =
      (cpu_command *)((char *)item - offsetof(cpu_command, late));
  (void)mtli_host_event_signal(data->command->event.event,
                         data->command->event.value);
}

static void run_signal(cpu_queue *queue, mtli_command *command) {
  note_instant(command);
  cpu_late *late = ((cpu_device *)queue->queue.device)->late;
  if (!late) {
    (void)mtli_host_event_signal(command->event.event, command->event.value);
    return;
  }
  // Threads that see the event's value must see the device's earlier writes.
  cpu_coherence_download(queue->current);
  cpu_command *data = mtli_command_data(command);
  data->command = command;
  data->late.arrive = signal_arrives;
  cpu_late_post(late, &data->late);
}

static void end_wait(cpu_queue *queue) {
  const mtli_command *command = queue->awaiting;
  queue->awaiting = NULL;
  if (command) {
    cpu_check_waited(queue, command);
  }
  if (command && command->times) {
    mtli_command_ends(command->times, mtli_now_ns());
  }
}

// True if the event has its value; false if the queue is left until then.
static bool run_wait(cpu_queue *queue, const mtli_command *command) {
  mtl_event *event = command->event.event;
  if (command->times) {
    mtli_command_starts(command->times, mtli_now_ns());
  }
  queue->awaiting = command;
  // Writes of the host before its signal are visible after the wait.
  queue->is_stale = cpu_is_discrete(queue->queue.device);
  queue->watcher.threshold = command->event.value;
  cpu_queue_pause(queue, (mtli_host_event *)event);
  // From here on another thread may run the queue.
  if (mtli_host_event_notify(event, &queue->watcher)) {
    return false;
  }
  cpu_queue_unpause(queue);
  end_wait(queue);
  return true;
}

// True unless the command buffer failed to record or was cancelled.
static bool is_to_wait(const cpu_queue *queue) {
  return !queue->current->is_failed &&
         atomic_load_explicit(&queue->stop, memory_order_relaxed) !=
             MTL_CANCELLED;
}

static void run_sample(const cpu_queue *queue, const mtli_command *command) {
  const cpu_device *device = (const cpu_device *)queue->queue.device;
  const uint64_t ticks = cpu_device_ticks(device, mtli_now_ns());
  memcpy((char *)(uintptr_t)command->sample.buffer->gpu_address +
             command->sample.offset_bytes,
         &ticks, sizeof ticks);
}

// Runs a command on buffers, unless the command buffer has failed. False if the
// queue is left until the command can run.
static bool run_work(cpu_queue *queue, mtli_command *command,
                     cpu_context *context) {
  if (queue->current->is_failed ||
      atomic_load_explicit(&queue->has_failed, memory_order_relaxed)) {
    return true;
  }
  cpu_pool_weigh(queue->pool, context);
  if (queue->is_stale) {
    cpu_coherence_upload(queue->current);
    queue->is_stale = false;
  }
  switch (command->kind) {
    case MTLI_COMMAND_DISPATCH:
      if (!cpu_dispatch_run(queue, command, context)) {
        return false;
      }
      break;
    case MTLI_COMMAND_COPY: cpu_copy_run(queue, command, context); break;
    case MTLI_COMMAND_COPY_BOX:
      cpu_copy_box_run(queue, command, context);
      break;
    case MTLI_COMMAND_FILL: cpu_fill_run(queue, command, context); break;
    case MTLI_COMMAND_UPDATE: cpu_update_run(queue, command, context); break;
    case MTLI_COMMAND_HOST_WORK:
      cpu_host_work_run(queue, command, context);
      break;
    case MTLI_COMMAND_SAMPLE: run_sample(queue, command); break;
    case MTLI_COMMAND_SYNCHRONIZE:
      if (cpu_is_discrete(queue->queue.device)) {
        cpu_coherence_synchronize((cpu_buffer *)command->synchronize.buffer);
      }
      break;
    case MTLI_COMMAND_EXECUTE: run_execute(queue, command); break;
    case MTLI_COMMAND_EDIT_INDIRECT:
      mtli_edit_indirect_commands(&command->edit);
      break;
    case MTLI_COMMAND_WAIT:
    case MTLI_COMMAND_SIGNAL:
    case MTLI_COMMAND_ORDER: break;
  }
  note_instant(command);
  return true;
}

bool cpu_commands_run(cpu_queue *queue, cpu_context *context) {
  end_wait(queue);  // the wait for which the queue was left
  for (mtli_command *command; (command = queue->next_command);) {
    if (command->is_ordered && !cpu_queue_settle(queue, context)) {
      return false;
    }
    const bool is_event = command->kind == MTLI_COMMAND_SIGNAL ||
                          command->kind == MTLI_COMMAND_WAIT;
    if (context->is_visiting && !is_event) {
      context->has_left = true;
      cpu_queue_hand_over(queue);
      return false;
    }
    queue->next_command = command->next;
    cpu_check_command(queue, command);
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      run_signal(queue, command);
    } else if (command->kind == MTLI_COMMAND_WAIT) {
      if (is_to_wait(queue) && !run_wait(queue, command)) {
        return false;
      }
    } else if (!run_work(queue, command, context)) {
      return false;
    }
  }
  return cpu_queue_settle(queue, context);
}
