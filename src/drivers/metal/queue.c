// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: encodes a list when it is committed, commits it to Metal in order,
// and completes it when Metal calls back.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "code/log_abi.h"
#include "drivers/metal/metal.h"

// The state that Metal's callbacks retain. The runtime's command buffer is gone
// once it has been told of its end.
struct metal_run {
  mtli_object object;
  mtl_device *device;  // valid until the command buffer is done
  mtl_command_buffer *command_buffer;
  id commands;  // MTLCommandBuffer, +1
  id *kept;     // [kept_count] +1 each
  size_t kept_count;
  metal_timed timed;
  pthread_mutex_t lock;
  bool is_submitted;
  bool is_scheduled;
  bool is_done;
  bool is_cancelled;  // before it was submitted
};

static void run_destroy(mtli_object *object) {
  metal_run *run = (metal_run *)object;
  pthread_mutex_destroy(&run->lock);
  free(run);
}

// --- queues --------------------------------------------------------------------

mtl_status metal_queue_create(mtl_queue *queue) {
  // Metal's own limit makes a caller over it wait. The runtime keeps ours, and
  // a command buffer of Metal's ends a little after the runtime's.
  enum { MORE = 64, MOST = 16384 };
  const unsigned long wanted = (unsigned long)queue->max_command_buffers + MORE;
  metal_queue *made = (metal_queue *)queue;
  const id device = metal_device_of(queue->device)->object;
  void *pool = metal.pool_push();
  made->object = SEND(id(*)(id, SEL, unsigned long), device, newQueue,
                      wanted < MOST ? wanted : MOST);
  made->fence = made->object ? GET_OBJECT(device, newFence) : NULL;
  mtl_status status = MTL_OK;
  if (!made->fence) {
    metal_release(made->object);
    status = mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no queue");
  }
  metal.pool_pop(pool);
  return status;
}

void metal_queue_destroy(mtl_queue *queue) {
  const metal_queue *made = (const metal_queue *)queue;
  metal_give_back(queue->device, made->fence);
  metal_give_back(queue->device, made->object);
}

// --- recording -----------------------------------------------------------------

static void logged(const metal_block *block, id subsystem, id category,
                   long level, id text) {
  metal_run *run = (metal_run *)block->object;
  const mtl_log_message message = {.subsystem = metal_text(subsystem),
                                   .category = metal_text(category),
                                   .level = (mtl_log_level)level,
                                   .text = metal_text(text)};
  mtli_command_buffer_logged(run->command_buffer, &message);
}

// Returns an MTLLogState that tells run; nil if Metal has none, before macOS
// 15.
static id make_log_state(metal_run *run) {
  const mtli_log_header *log = run->command_buffer->log;
  const id device = metal_device_of(run->device)->object;
  if (!log || !RESPONDS(device, newLogState)) {
    return NULL;
  }
  const id descriptor = metal_new("MTLLogStateDescriptor");
  SET_NUMBER(descriptor, setLevel, log->level);
  SET_NUMBER(descriptor, setBufferSize, log->capacity_bytes);
  id error = NULL;
  const id state = SEND(id(*)(id, SEL, id, id *), device, newLogState,
                        descriptor, &error);
  metal_release(descriptor);
  if (state) {
    const metal_block block =
        metal_block_of((void (*)(void))logged, &run->object);
    SEND(void (*)(id, SEL, const metal_block *), state, addLogHandler, &block);
  }
  return state;
}

static id new_commands(metal_run *run) {
  const id queue = ((metal_queue *)run->command_buffer->queue)->object;
  const id state = make_log_state(run);
  if (!state) {
    return GET_OBJECT(queue, commandBuffer);
  }
  const id descriptor = metal_new("MTLCommandBufferDescriptor");
  SET_OBJECT(descriptor, setLogState, state);
  const id commands =
      SEND(id(*)(id, SEL, id), queue, commandBufferWithDescriptor, descriptor);
  metal_release(descriptor);
  metal_release(state);
  return commands;
}

static mtl_status make_commands(metal_run *run, id *out_commands) {
  *out_commands = metal_retain(new_commands(run));
  return *out_commands
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no command buffer");
}

static void encode_event(metal_encoding *encoding,
                         const mtli_command *command) {
  const id event = metal_event_object(command->event.event);
  metal_encoding_end(encoding);
  if (command->kind == MTLI_COMMAND_WAIT) {
    SEND(void (*)(id, SEL, id, uint64_t), encoding->commands,
         encodeWaitForEvent, event, command->event.value);
  } else {
    SEND(void (*)(id, SEL, id, uint64_t), encoding->commands,
         encodeSignalEvent, event, command->event.value);
  }
}

static mtl_status encode_kind(metal_encoding *encoding,
                              const mtli_command *command) {
  switch (command->kind) {
    case MTLI_COMMAND_DISPATCH: return metal_encode_dispatch(encoding, command);
    case MTLI_COMMAND_EXECUTE:
      metal_encode_execute(encoding, command);
      return MTL_OK;
    case MTLI_COMMAND_EDIT_INDIRECT:
      metal_encode_edit(encoding, command);
      return MTL_OK;
    case MTLI_COMMAND_SAMPLE: return metal_encode_sample(encoding, command);
    case MTLI_COMMAND_WAIT:
    case MTLI_COMMAND_SIGNAL: encode_event(encoding, command); return MTL_OK;
    case MTLI_COMMAND_ORDER: return MTL_OK;
    default: return metal_encode_blit(encoding, command);
  }
}

static mtl_status encode_one(metal_encoding *encoding,
                             const mtli_command *command) {
  if (!command->times) {
    return encode_kind(encoding, command);
  }
  MTL_TRY(metal_time_next(encoding, command));
  const mtl_status status = encode_kind(encoding, command);
  metal_encoding_end(encoding);
  encoding->timed.buffer = NULL;
  return status;
}

static mtl_status encode_all(metal_encoding *encoding) {
  mtl_status status = MTL_OK;
  const mtli_command *next = encoding->command_buffer->commands;
  for (; next && status == MTL_OK; next = next->next) {
    status = encode_one(encoding, next);
  }
  metal_encoding_end(encoding);
  return status;
}

static void encode_signals(id commands, const mtli_command *command) {
  for (; command; command = command->next) {
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      SEND(void (*)(id, SEL, id, uint64_t), commands, encodeSignalEvent,
           metal_event_object(command->event.event), command->event.value);
    }
  }
}

static int by_address(const void *a, const void *b) {
  const uint64_t first = (*(mtl_buffer *const *)a)->gpu_address;
  const uint64_t second = (*(mtl_buffer *const *)b)->gpu_address;
  return first < second ? -1 : first > second;
}

// Lists the buffers once each, by rising address.
static mtl_status sort_buffers(metal_encoding *encoding) {
  const mtl_command_buffer *from = encoding->command_buffer;
  if (!from->buffer_count) {
    return MTL_OK;
  }
  encoding->buffers = calloc(from->buffer_count, sizeof(mtl_buffer *));
  if (!encoding->buffers) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a command buffer");
  }
  memcpy(encoding->buffers, from->buffers,
         from->buffer_count * sizeof(mtl_buffer *));
  qsort(encoding->buffers, from->buffer_count, sizeof(mtl_buffer *),
        by_address);
  for (size_t i = 0; i < from->buffer_count; i++) {
    if (!encoding->buffer_count ||
        encoding->buffers[encoding->buffer_count - 1] != encoding->buffers[i]) {
      encoding->buffers[encoding->buffer_count++] = encoding->buffers[i];
    }
  }
  return MTL_OK;
}

static mtl_status encode(metal_run *run) {
  const metal_queue *queue = (metal_queue *)run->command_buffer->queue;
  MTL_TRY(make_commands(run, &run->commands));
  metal_encoding encoding = {.command_buffer = run->command_buffer,
                             .commands = run->commands,
                             .fence = queue->fence};
  metal_label(run->commands, mtl_command_buffer_label(run->command_buffer));
  mtl_status status = sort_buffers(&encoding);
  if (status == MTL_OK) {
    status = encode_all(&encoding);
  }
  free(encoding.buffers);
  run->kept = encoding.kept;
  run->kept_count = encoding.kept_count;
  run->timed = encoding.all_timed;
  return status;
}

static metal_run *run_create(mtl_command_buffer *command_buffer) {
  metal_run *run = calloc(1, sizeof *run);
  if (run) {
    mtli_object_init(&run->object, run_destroy);
    pthread_mutex_init(&run->lock, NULL);
    run->device = command_buffer->queue->device;
    run->command_buffer = command_buffer;
    ((metal_list *)command_buffer->driver_data)->run = run;
  }
  return run;
}

mtl_status metal_commands_prepare(mtl_command_buffer *command_buffer) {
  metal_run *run = run_create(command_buffer);
  if (!run) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a command buffer");
  }
  void *pool = metal.pool_push();
  const mtl_status status = encode(run);
  metal.pool_pop(pool);
  return status;
}

void metal_commands_clear(mtl_command_buffer *command_buffer) {
  metal_list *list = command_buffer->driver_data;
  metal_run *run = list->run;
  if (!run) {
    return;
  }
  for (size_t i = 0; i < run->kept_count; i++) {
    metal_give_back(run->device, run->kept[i]);
  }
  free(run->kept);
  free(run->timed.samples);
  metal_give_back(run->device, run->commands);
  list->run = NULL;
  mtli_object_release(&run->object);  // -1
}

// --- what Metal calls ----------------------------------------------------------

static void scheduled(const metal_block *block, id commands) {
  metal_run *run = (metal_run *)block->object;
  (void)commands;
  pthread_mutex_lock(&run->lock);
  if (!run->is_scheduled && !run->is_done) {
    run->is_scheduled = true;
    mtli_command_buffer_scheduled(run->command_buffer);
  }
  pthread_mutex_unlock(&run->lock);
}

static void tell_times(metal_run *run, id commands) {
  const double start = SEND(double (*)(id, SEL), commands, gpuStartTime);
  const double end = SEND(double (*)(id, SEL), commands, gpuEndTime);
  if (end > 0) {
    const uint64_t start_ns = (uint64_t)(start * 1e9);
    const uint64_t end_ns = (uint64_t)(end * 1e9);
    mtli_command_buffer_ran(run->command_buffer, start_ns, end_ns);
    if (run->timed.count) {
      metal_tell_times(run->device, &run->timed, start_ns, end_ns);
    }
  }
}

// Metal calls it once; after that a late call of scheduled finds is_done.
static void completed(const metal_block *block, id commands) {
  metal_run *run = (metal_run *)block->object;
  mtl_command_buffer *command_buffer = run->command_buffer;
  pthread_mutex_lock(&run->lock);
  if (!run->is_scheduled) {
    mtli_command_buffer_scheduled(command_buffer);
  }
  run->is_scheduled = run->is_done = true;
  pthread_mutex_unlock(&run->lock);
  void *pool = metal.pool_push();
  const id error = GET_OBJECT(commands, error);
  mtl_status status = error ? metal_status(error) : MTL_OK;
  const char *text =
      error ? metal_text(GET_OBJECT(error, localizedDescription)) : "";
  if (run->is_cancelled) {
    status = MTL_CANCELLED;
    text = "it was cancelled";
  } else if (!command_buffer->is_failed) {
    tell_times(run, commands);
  }
  mtli_command_buffer_completed(command_buffer, status, text);
  metal.pool_pop(pool);
}

// --- submitting ----------------------------------------------------------------

// Drops everything encoded except the signals.
static void leave_signals(metal_run *run) {
  id commands = NULL;
  while (make_commands(run, &commands) != MTL_OK) {
    sched_yield();  // nothing can be said here
  }
  encode_signals(commands, run->command_buffer->commands);
  metal_release(run->commands);
  run->commands = commands;
}

static void add_handlers(metal_run *run) {
  const metal_block on_scheduled =
      metal_block_of((void (*)(void))scheduled, &run->object);
  const metal_block on_completed =
      metal_block_of((void (*)(void))completed, &run->object);
  SEND(void (*)(id, SEL, const metal_block *), run->commands,
       addScheduledHandler, &on_scheduled);
  SEND(void (*)(id, SEL, const metal_block *), run->commands,
       addCompletedHandler, &on_completed);
}

void metal_queue_submit(mtl_queue *queue, mtl_command_buffer *command_buffer) {
  (void)queue;
  metal_run *run = ((metal_list *)command_buffer->driver_data)->run;
  while (!run) {
    run = run_create(command_buffer);
  }
  void *pool = metal.pool_push();
  pthread_mutex_lock(&run->lock);
  run->is_submitted = true;
  run->is_cancelled = atomic_load(&command_buffer->is_cancelled);
  const bool is_whole = !run->is_cancelled && !command_buffer->is_failed;
  pthread_mutex_unlock(&run->lock);
  if (!is_whole) {
    leave_signals(run);
  }
  add_handlers(run);
  const id commands = metal_retain(run->commands);
  CALL(commands, commit);  // from here on run may be done
  metal_release(commands);
  metal.pool_pop(pool);
}

// Cancels a command buffer that Metal has not begun; Metal cannot stop others.
mtl_status metal_queue_cancel(mtl_queue *queue,
                              mtl_command_buffer *command_buffer) {
  metal_run *run = ((metal_list *)command_buffer->driver_data)->run;
  if (!run) {
    return MTL_OK;  // not committed yet, or done
  }
  pthread_mutex_lock(&run->lock);
  const bool is_late = run->is_submitted && !run->is_cancelled && !run->is_done;
  pthread_mutex_unlock(&run->lock);
  return is_late ? mtli_fail(MTL_UNSUPPORTED,
                             "device '%s': Metal does not stop a command "
                             "buffer that it has begun",
                             queue->device->info.name)
                 : MTL_OK;
}
