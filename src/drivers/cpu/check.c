// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.c: reports dispatches, buffers, queues and events to the checker.
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/cpu/cpu.h"

static uint64_t number_of(const cpu_queue *queue) {
  return (uintptr_t)queue;
}

// Returns the buffer whose memory a buffer is a part of, or itself.
static const mtl_buffer *whole_of(const mtl_buffer *buffer) {
  return buffer->parent ? buffer->parent : buffer;
}

static bool is_untracked(const mtl_buffer *buffer) {
  return buffer->hazard_tracking == MTL_HAZARD_UNTRACKED;
}

// Other buffers are registered before the next checked dispatch (learn_all).
void cpu_check_buffer_created(const mtl_buffer *buffer, bool is_unset) {
  if (mtli_check_is_on() && !buffer->parent && buffer->length_bytes &&
      is_unset) {
    mtli_check_memory_add(buffer->gpu_address, buffer->length_bytes, true,
                          is_untracked(buffer), buffer->label);
  } else if (mtli_check_is_on() && buffer->parent && !is_unset) {
    mtli_check_memory_set(buffer->gpu_address, buffer->length_bytes);
  }
}

void cpu_check_buffer_destroyed(const mtl_buffer *buffer) {
  if (mtli_check_host_is_on()) {
    mtli_check_host_forget((uintptr_t)buffer->contents);
  }
  if (mtli_check_is_on() && !buffer->parent && buffer->length_bytes) {
    mtli_check_memory_remove(buffer->gpu_address, buffer->length_bytes);
  }
}

// Makes a buffer known. The device's lock is held, so that the buffer cannot
// end meanwhile.
static void learn(const mtl_buffer *part) {
  const mtl_buffer *buffer = whole_of(part);
  if (buffer->length_bytes) {
    mtli_check_memory_add(buffer->gpu_address, buffer->length_bytes, false,
                          is_untracked(buffer), buffer->label);
  }
}

// Makes all buffers of the device known, before a dispatch that may reach them
// by addresses. Overlapping buffers are one piece of memory, and must be known
// as one before the first access.
static void learn_all(mtl_device *device) {
  pthread_mutex_lock(&device->lock);
  for (const mtl_buffer *it = device->buffers; it; it = it->next) {
    learn(it);
  }
  pthread_mutex_unlock(&device->lock);
}

static bool is_inline(const mtli_dispatch *dispatch, uint32_t slot) {
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    if (dispatch->inline_arguments[i].slot == slot) {
      return true;
    }
  }
  return false;
}

// Returns the size of a threadgroup argument: up to the next one, or to the end
// of all.
static uint64_t threadgroup_bytes(const mtli_dispatch *dispatch,
                                  uint32_t slot) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const uintptr_t first = (uintptr_t)dispatch->arguments[slot];
  uintptr_t end = dispatch->threadgroup_end;
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    const uintptr_t other = (uintptr_t)dispatch->arguments[i];
    if (kernel->parameters[i].builtin == MTLI_BUILTIN_NONE &&
        kernel->parameters[i].argument.kind ==
            MTL_ARGUMENT_THREADGROUP_MEMORY &&
        other > first && other < end) {
      end = other;
    }
  }
  return first < end ? end - first : 0;
}

static void describe(const mtli_dispatch *dispatch, uint32_t slot,
                     mtli_check_argument *out) {
  const mtli_parameter *parameter =
      &dispatch->pipeline->kernel->parameters[slot];
  *out = (mtli_check_argument){0};
  if (parameter->builtin != MTLI_BUILTIN_NONE) {
    return;
  }
  out->name = parameter->argument.name;
  out->type = parameter->argument.type;
  if (parameter->argument.kind == MTL_ARGUMENT_THREADGROUP_MEMORY) {
    out->bytes = threadgroup_bytes(dispatch, slot);
  } else if (parameter->argument.kind == MTL_ARGUMENT_BUFFER) {
    out->first = (uintptr_t)dispatch->arguments[slot];
    out->bytes = dispatch->argument_bytes ? dispatch->argument_bytes[slot] : 0;
    out->is_buffer = out->first && !is_inline(dispatch, slot);
  }
}

// A kernel's sites, kept after its code is unloaded, since findings of later
// dispatches may name them.
typedef struct kept_kernel {
  struct kept_kernel *next;
  char *name;
  mtli_check_sites sites;
} kept_kernel;

static kept_kernel *kept;  // the process's list; equal contents share an entry
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t text_bytes(const mtli_check_sites *sites) {
  size_t bytes = 1;
  for (uint32_t i = 0; i < sites->count; ++i) {
    const uint32_t texts[] = {sites->sites[i].file, sites->sites[i].name,
                              sites->sites[i].inlined};
    for (size_t k = 0; k < 3; ++k) {
      const size_t end = texts[k] + strlen(sites->texts + texts[k]) + 1;
      bytes = end > bytes ? end : bytes;
    }
  }
  return bytes;
}

static void *copy_of(const void *bytes, size_t count) {
  void *copy = malloc(count);
  return copy ? memcpy(copy, bytes, count) : NULL;
}

static const kept_kernel *keep(const char *name,
                               const mtli_check_sites *sites) {
  const size_t bytes = sites->count * sizeof *sites->sites;
  pthread_mutex_lock(&kept_lock);
  kept_kernel *it = kept;
  while (it &&
         (strcmp(it->name, name) != 0 || it->sites.count != sites->count ||
          it->sites.checks != sites->checks ||
          memcmp(it->sites.sites, sites->sites, bytes) != 0 ||
          memcmp(it->sites.texts, sites->texts, text_bytes(sites)) != 0)) {
    it = it->next;
  }
  if (!it && (it = calloc(1, sizeof *it))) {
    it->name = strdup(name);
    it->sites = *sites;
    it->sites.sites = copy_of(sites->sites, bytes);
    it->sites.texts = copy_of(sites->texts, text_bytes(sites));
    it->next = kept;
    kept = it;
  }
  pthread_mutex_unlock(&kept_lock);
  return it && it->name && it->sites.sites && it->sites.texts ? it : NULL;
}

// Adds the buffers that the kernel may reach by addresses; a part of a heap
// counts as the heap.
static void add_resident(const mtl_buffer *buffer, uint64_t *addresses,
                         size_t *count) {
  addresses[(*count)++] = whole_of(buffer)->gpu_address;
}

// Returns them malloc'ed; NULL for none.
static uint64_t *residents_of(const mtl_command_buffer *command_buffer,
                              const mtli_dispatch *dispatch,
                              size_t *out_count) {
  size_t most = 0, count = 0;
  for (const mtli_used_buffer *it = dispatch->used; it; it = it->next) {
    most++;
  }
  for (size_t i = 0; i < command_buffer->resident_count; ++i) {
    most += command_buffer->residents[i]->count;
  }
  uint64_t *addresses = most ? malloc(most * sizeof *addresses) : NULL;
  for (const mtli_used_buffer *it = dispatch->used; addresses && it;
       it = it->next) {
    add_resident(it->buffer, addresses, &count);
  }
  for (size_t i = 0; addresses && i < command_buffer->resident_count; ++i) {
    const mtli_residents *set = command_buffer->residents[i];
    for (size_t k = 0; k < set->count; ++k) {
      add_resident(set->buffers[k], addresses, &count);
    }
  }
  *out_count = count;
  return addresses;
}

static unsigned orders_of(const mtli_command *command) {
  return command->is_ordered ? command->orders : 0;
}

bool cpu_check_begin(cpu_queue *queue, mtli_command *command, cpu_job *job) {
  enum { MOST = 256 };
  const mtli_dispatch *dispatch = &command->dispatch;
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  mtli_check_argument arguments[MOST];
  const kept_kernel *own = keep(kernel->name, job->code->code->sites);
  if (!own || kernel->parameter_count > MOST) {
    mtli_check_note_unchecked("kernel '%s' has too many parameters",
                              kernel->name);
    return false;
  }
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    describe(dispatch, slot, &arguments[slot]);
  }
  learn_all(queue->queue.device);
  size_t resident_count = 0;
  uint64_t *residents = residents_of(queue->current, dispatch, &resident_count);
  mtli_check_dispatch it = {.kernel = own->name,
                            .sites = &own->sites,
                            .arguments = arguments,
                            .argument_count = kernel->parameter_count,
                            .residents = residents,
                            .resident_count = resident_count,
                            .queue = number_of(queue),
                            .orders = orders_of(command)};
  memcpy(it.group_count, job->launch.group_count, sizeof it.group_count);
  job->launch.check = mtli_check_begin(&it);
  free(residents);
  return job->launch.check != NULL;
}

void cpu_check_run(cpu_job *job, uint64_t first, uint64_t end,
                   cpu_context *context) {
  mtli_check *check = job->launch.check;
  for (uint64_t i = first; i < end && !mtli_check_is_to_stop(check); ++i) {
    const uint32_t group = mtli_check_group_at(check, (uint32_t)i);
    mtli_cpu_code_run(job->code->code, &job->launch, group, group + 1,
                      context->scratch, context->kept);
  }
}

bool cpu_check_again(cpu_job *job) {
  return mtli_check_again(job->launch.check);
}

void cpu_check_pipeline_created(cpu_pipeline *pipeline,
                                const mtl_function *function,
                                const mtl_pipeline_desc *desc) {
  mtl_pipeline *screened = NULL;
  if (pipeline->pipeline.kernel->tier == MTLI_TIER_CHECKED &&
      mtli_check_screens() &&
      mtli_pipeline_create_screened((mtl_function *)function, desc,
                                    &screened) == MTL_OK) {
    pipeline->screened = (cpu_pipeline *)screened;
  }
}

bool cpu_check_screen_begin(cpu_job *job) {
  const uint32_t *group = job->launch.group_threads;
  job->is_suspect =
      job->may_overlap || !mtli_check_screen_begin(
                              job->launch.check, group[0] * group[1] * group[2],
                              job->launch.threadgroup_bytes, &job->is_by_group);
  return !job->is_suspect;
}

// A thread that stops leaves the code by a longjmp (fault.c).
void cpu_check_screen(cpu_job *job, uint64_t first, uint64_t end,
                      cpu_context *context) {
  if (!job->is_by_group) {
    cpu_run_groups(job, first, end, context);
    return;
  }
  for (uint64_t i = first; i < end; ++i) {
    mtli_check_screen_group(job->launch.check, (char *)context->scratch +
                                                   sizeof(mtli_cpu_position));
    cpu_run_groups(job, i, i + 1, context);
  }
}

void cpu_check_screen_end(cpu_job *job) {
  mtli_check_screen_end(job->launch.check, !job->is_suspect);
}

// Takes the first finding as the command buffer's error; it runs on.
static void take_finding(cpu_queue *queue, char *text) {
  if (!text) {
    return;
  }
  cpu_list *list = cpu_list_of(queue->current);
  cpu_pool_lock(queue->pool);
  if (list->status == MTL_OK) {
    list->status = MTL_KERNEL_FAULT;
    list->text = text;
    text = NULL;
  }
  cpu_pool_unlock(queue->pool);
  free(text);
}

void cpu_check_end(cpu_queue *queue, cpu_job *job) {
  char *text = NULL;
  mtli_check_end(job->launch.check, &text);
  job->launch.check = NULL;
  take_finding(queue, text);
}

// --- other commands ----------------------------------------------------------

static uint64_t address_in(const mtl_buffer *buffer, size_t offset_bytes) {
  return buffer->gpu_address + offset_bytes;
}

// Reports the reads and writes of a command other than a dispatch.
static void look_at(cpu_queue *queue, const mtli_command *command,
                    const char *name, uint64_t read, uint64_t written,
                    uint64_t bytes) {
  take_finding(queue,
               mtli_check_command(&(mtli_check_piece){
                   .name = name,
                   .queue = number_of(queue),
                   .orders = orders_of(command),
                   .is_of_dispatch = command->kind == MTLI_COMMAND_DISPATCH,
                   .read = read,
                   .written = written,
                   .bytes = bytes}));
}

static void note_copy(cpu_queue *queue, const mtli_command *command,
                      const char *name, uint64_t source, uint64_t target,
                      uint64_t bytes) {
  mtli_check_memory_copy(target, source, bytes);
  look_at(queue, command, name, source, target, bytes);
}

static void note_write(cpu_queue *queue, const mtli_command *command,
                       const char *name, uint64_t target, uint64_t bytes) {
  mtli_check_memory_set(target, bytes);
  look_at(queue, command, name, 0, target, bytes);
}

static void note_box(cpu_queue *queue, const mtli_command *command) {
  const mtli_box_side *to = &command->copy_box.target;
  const mtli_box_side *from = &command->copy_box.source;
  for (uint64_t image = 0; image < command->copy_box.images; ++image) {
    for (uint64_t row = 0; row < command->copy_box.rows; ++row) {
      const uint64_t target = address_in(to->buffer, to->offset_bytes) +
                              image * to->image_pitch + row * to->row_pitch;
      const uint64_t source = address_in(from->buffer, from->offset_bytes) +
                              image * from->image_pitch + row * from->row_pitch;
      note_copy(queue, command, "copy of texels", source, target,
                command->copy_box.row_bytes);
    }
  }
}

void cpu_check_command(cpu_queue *queue, const mtli_command *command) {
  if (!mtli_check_is_on()) {
    return;
  }
  mtli_check_encoder(number_of(queue), command->encoder,
                     queue->queue.is_ordered_by_barriers);
  if (command->is_ordered && command->kind != MTLI_COMMAND_DISPATCH) {
    mtli_check_queue_orders(number_of(queue));
  }
  if (command->kind <= MTLI_COMMAND_UPDATE) {
    learn_all(queue->queue.device);
  }
  for (const mtli_ordered_piece *it = command->ordered; it; it = it->next) {
    mtli_check_memory_orders(number_of(queue), it->gpu_address);
  }
  switch (command->kind) {
    case MTLI_COMMAND_ORDER:
      mtli_check_order(number_of(queue), &command->order);
      break;
    case MTLI_COMMAND_DISPATCH:
      if (command->dispatch.indirect) {
        look_at(queue, command, "count of threadgroups",
                address_in(command->dispatch.indirect,
                           command->dispatch.indirect_offset_bytes),
                0, 3 * sizeof(uint32_t));
      }
      break;
    case MTLI_COMMAND_COPY:
      note_copy(
          queue, command, "copy",
          address_in(command->copy.source, command->copy.source_offset_bytes),
          address_in(command->copy.target, command->copy.target_offset_bytes),
          command->copy.length_bytes);
      break;
    case MTLI_COMMAND_COPY_BOX: note_box(queue, command); break;
    case MTLI_COMMAND_FILL:
      note_write(queue, command, "fill",
                 address_in(command->fill.buffer, command->fill.offset_bytes),
                 command->fill.length_bytes);
      break;
    case MTLI_COMMAND_UPDATE:
      note_write(
          queue, command, "update",
          address_in(command->update.buffer, command->update.offset_bytes),
          command->update.length_bytes);
      break;
    case MTLI_COMMAND_SAMPLE:
      mtli_check_memory_set(
          address_in(command->sample.buffer, command->sample.offset_bytes),
          sizeof(uint64_t));
      break;
    case MTLI_COMMAND_SIGNAL:
      mtli_check_signal(number_of(queue), (uintptr_t)command->event.event,
                        command->event.value);
      break;
    default: break;
  }
}

void cpu_check_waited(const cpu_queue *queue, const mtli_command *command) {
  if (mtli_check_is_on()) {
    mtli_check_waited(number_of(queue), (uintptr_t)command->event.event,
                      command->event.value);
  }
}

void cpu_check_host_signals(const mtl_event *event, uint64_t value) {
  if (mtli_check_is_on()) {
    mtli_check_host_signal((uintptr_t)event, value);
  }
}

void cpu_check_event_destroyed(const mtl_event *event) {
  if (mtli_check_is_on()) {
    mtli_check_event_ends((uintptr_t)event);
  }
}

void cpu_check_committed(mtl_command_buffer *command_buffer) {
  if (mtli_check_is_on()) {
    command_buffer->check_committed = mtli_check_commit();
  }
  if (mtli_check_host_is_on()) {
    cpu_check_host_hold(command_buffer);
  }
}

void cpu_check_started(const cpu_queue *queue) {
  if (mtli_check_is_on()) {
    mtli_check_start(number_of(queue), queue->current->check_committed);
  }
}

void cpu_check_completed(const cpu_queue *queue) {
  if (mtli_check_is_on()) {
    queue->current->check_completed =
        mtli_check_complete(number_of(queue), queue->current->check_committed);
  }
}
