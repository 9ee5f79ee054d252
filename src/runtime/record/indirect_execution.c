// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_execution.c: makes dispatches of indirect commands when they run. An
// execution keeps them for the next one: a command that was not edited since is
// not checked again, except that its buffers and its pipeline still exist.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "runtime/record/indirect_commands.h"

// A command, ready to run; the mtli_command lies behind it, at PREPARED_BYTES.
typedef struct prepared {
  uint64_t version;        // of the record that it was made from; 0 for none
  mtl_pipeline *pipeline;  // +1 while it is executed, unless inherited
  uint32_t buffers;        // a bit for each [[buffer(n)]] that the kernel has
  uint32_t capacity;       // of both arrays of the dispatch
} prepared;
enum { PREPARED_BYTES = (sizeof(prepared) + 15) / 16 * 16 };

struct mtli_execution {
  mtli_execution *next;  // free one of the same commands
  mtl_indirect_command_buffer *commands;
  uint32_t first;  // that it executes now
  uint32_t count;
  prepared **places;  // [max_commands] NULL if never executed
  // Takes a command's state, to be checked as an encoder's is, and the error.
  mtl_compute_encoder resolver;
  mtli_recording recording;
};

static mtli_command *command_of(prepared *it) {
  return (mtli_command *)((char *)it + PREPARED_BYTES);
}

// --- life -------------------------------------------------------------------

static mtli_execution *execution_create(mtl_indirect_command_buffer *commands) {
  mtli_execution *execution = calloc(1, sizeof *execution);
  prepared **places =
      calloc(commands->desc.max_commands, sizeof *execution->places);
  if (!execution || !places) {
    free(execution);
    free(places);
    return NULL;
  }
  execution->commands = commands;
  execution->places = places;
  execution->recording.driver = commands->device->driver;
  execution->resolver.base.recording = &execution->recording;
  return execution;
}

void mtli_execution_destroy(mtli_execution *execution) {
  mtl_indirect_command_buffer *commands = execution->commands;
  commands->executions = execution->next;
  for (uint32_t i = 0; i < commands->desc.max_commands; i++) {
    prepared *it = execution->places[i];
    if (it) {
      free(command_of(it)->dispatch.arguments);
      free(command_of(it)->dispatch.argument_bytes);
      free(it);
    }
  }
  free(execution->places);
  free(execution);
}

// Releases the objects kept for the present execution alone.
static void unhold(mtli_execution *execution) {
  for (uint32_t i = 0; i < execution->count; i++) {
    prepared *it = execution->places[execution->first + i];
    if (it && it->pipeline) {
      mtl_pipeline *pipeline = it->pipeline;
      it->pipeline = NULL;
      mtl_pipeline_release(pipeline);  // -1
    }
  }
  execution->count = 0;
  mtli_inline_bytes_clear(&execution->recording);
  mtli_arena_clear(&execution->recording.arena);
}

void mtli_execution_end(const mtli_execute *execute) {
  mtli_execution *execution = execute->execution;
  if (!execution) {
    return;
  }
  mtl_indirect_command_buffer *commands = execution->commands;
  if (mtli_device_is_inherited(commands->device)) {
    return;  // the lock may have been held at the fork
  }
  unhold(execution);
  pthread_mutex_lock(&commands->lock);
  execution->next = commands->executions;
  commands->executions = execution;
  pthread_mutex_unlock(&commands->lock);
}

// --- one command ------------------------------------------------------------

#define FAIL(execution, status, ...) \
  mtli_recording_fail(&(execution)->recording, status, __VA_ARGS__)

// Gives the place of a command, with room for its arguments.
static prepared *find_place(mtli_execution *execution, uint32_t index) {
  prepared **place = &execution->places[index];
  if (!*place) {
    *place = calloc(1, PREPARED_BYTES + MTLI_COMMAND_BYTES +
                           execution->recording.driver->command_bytes);
  }
  return *place;
}

static bool make_room(prepared *it, uint32_t count) {
  mtli_dispatch *dispatch = &command_of(it)->dispatch;
  if (count <= it->capacity) {
    return true;
  }
  void **arguments = calloc(count, sizeof *arguments);
  uint64_t *argument_bytes = calloc(count, sizeof *argument_bytes);
  if (!arguments || !argument_bytes) {
    free(arguments);
    free(argument_bytes);
    return false;
  }
  free(dispatch->arguments);
  free(dispatch->argument_bytes);
  dispatch->arguments = arguments;
  dispatch->argument_bytes = argument_bytes;
  it->capacity = count;
  return true;
}

// Retains the record's pipeline until the command is done. If the client has
// released it, the execution fails and this returns false.
static bool hold_pipeline(mtli_execution *execution,
                          const mtli_indirect_record *record, prepared *it) {
  it->pipeline = (mtl_pipeline *)mtli_weak_promote(record->pipeline);  // +1
  if (!it->pipeline) {
    FAIL(execution, MTL_KERNEL_FAULT,
         "pipeline '%s' was released; commands keep none",
         record->pipeline->name);
  }
  return it->pipeline;
}

// Checks commands that a kernel may have encoded wrongly; the host's edits have
// been checked before.
static bool check_encoded(mtli_execution *execution, uint32_t index) {
  const mtl_indirect_command_buffer *commands = execution->commands;
  const mtli_indirect_record *record = &commands->records[index];
  const uint32_t types = commands->desc.command_types;
  const uint32_t type = record->kind == MTLI_INDIRECT_THREADGROUPS
                            ? MTL_INDIRECT_DISPATCH_THREADGROUPS
                        : record->kind == MTLI_INDIRECT_THREADS
                            ? MTL_INDIRECT_DISPATCH_THREADS
                            : 0;
  if (!(types & type)) {
    FAIL(execution, MTL_INVALID_ARGUMENT,
         "a kernel encoded a dispatch of type %#x; the command types are %#x",
         type, types);
    return false;
  }
  const uint32_t *lengths = mtli_indirect_threadgroup_bytes(commands, index);
  for (uint32_t i = 0; i < commands->desc.max_threadgroup_memory; i++) {
    if (lengths[i] % 16) {
      FAIL(execution, MTL_INVALID_ARGUMENT,
           "a kernel encoded %u bytes of threadgroup memory at index %u, not a "
           "multiple of 16",
           lengths[i], i);
      return false;
    }
  }
  return true;
}

// Tells whether the buffers that the kernel has are still there.
static bool check_buffers(mtli_execution *execution, uint32_t index,
                          uint32_t buffers, const char *kernel) {
  const mtli_indirect_binding *bindings =
      mtli_indirect_bindings(execution->commands, index);
  for (; buffers; buffers &= buffers - 1) {
    const int n = __builtin_ctz(buffers);
    const mtli_weak *weak = bindings[n].buffer;
    if (!weak && bindings[n].address) {
      FAIL(execution, MTL_KERNEL_FAULT,
           "kernel '%s': [[buffer(%d)]] was encoded as address %#" PRIx64
           ", where no buffer is",
           kernel, n, bindings[n].address);
      return false;
    }
    if (weak && !mtli_weak_target(weak)) {
      FAIL(execution, MTL_KERNEL_FAULT,
           "kernel '%s': buffer '%s', bound to [[buffer(%d)]], was released; "
           "mtl_compute_encoder_use_buffer keeps it",
           kernel, weak->name, n);
      return false;
    }
  }
  return true;
}

// Notes the kernel's buffers, and refuses arguments that commands cannot bind.
static bool check_parameters(mtli_execution *execution,
                             const mtli_kernel *kernel, uint32_t *out_buffers) {
  *out_buffers = 0;
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &kernel->parameters[i];
    const mtl_argument *argument = &parameter->argument;
    if (parameter->builtin != MTLI_BUILTIN_NONE || !argument->is_active ||
        parameter->is_unused) {
      continue;
    }
    if (argument->kind == MTL_ARGUMENT_BUFFER) {
      *out_buffers |= 1u << argument->index;
    } else if (argument->kind == MTL_ARGUMENT_TEXTURE ||
               argument->kind == MTL_ARGUMENT_SAMPLER) {
      FAIL(execution, MTL_INVALID_ARGUMENT,
           "kernel '%s': argument '%s': indirect commands bind no textures and "
           "samplers; put it into an argument buffer",
           kernel->name, argument->name);
      return false;
    }
  }
  return true;
}

// Sets the resolver as an encoder would be for the command.
static void load(mtli_execution *execution, uint32_t index,
                 const mtli_inherited *inherited) {
  const mtl_indirect_command_buffer *commands = execution->commands;
  const mtl_indirect_command_buffer_desc *desc = &commands->desc;
  mtl_compute_encoder *resolver = &execution->resolver;
  if (desc->inherit_buffers) {
    memcpy(resolver->bindings, inherited->bindings, sizeof resolver->bindings);
  } else {
    memset(resolver->bindings, 0, sizeof resolver->bindings);
    const mtli_indirect_binding *bindings =
        mtli_indirect_bindings(commands, index);
    for (uint32_t i = 0; i < desc->max_buffers; i++) {
      if (bindings[i].buffer) {
        mtl_buffer *buffer =
            (mtl_buffer *)mtli_weak_target(bindings[i].buffer);
        resolver->bindings[i] = (mtli_binding){
            .buffer = buffer,
            .offset_bytes =
                buffer ? bindings[i].address - buffer->gpu_address : 0};
      }
    }
  }
  const uint32_t *lengths = mtli_indirect_threadgroup_bytes(commands, index);
  for (uint32_t i = 0; i < MTL_MAX_THREADGROUP_ARGUMENTS; i++) {
    const size_t own = i < desc->max_threadgroup_memory ? lengths[i] : 0;
    resolver->threadgroup_bytes[i] = own == 0 && desc->inherit_buffers
                                         ? inherited->threadgroup_bytes[i]
                                         : own;
  }
}

// Makes the dispatch of a record anew. The pipeline is held.
static bool prepare(mtli_execution *execution, uint32_t index, prepared *it,
                    const mtli_inherited *inherited) {
  const mtli_indirect_record *record = &execution->commands->records[index];
  mtl_compute_encoder *resolver = &execution->resolver;
  const mtli_kernel *kernel = resolver->pipeline->kernel;
  mtl_size grid = record->grid;
  it->version = 0;
  if (!check_encoded(execution, index) ||
      !mtli_check_group(resolver, record->group) ||
      (record->kind == MTLI_INDIRECT_THREADGROUPS &&
       !mtli_threads_of(resolver, record->grid, record->group, &grid)) ||
      !mtli_check_grid(resolver, grid, record->group) ||
      !check_parameters(execution, kernel, &it->buffers) ||
      (!execution->commands->desc.inherit_buffers &&
       !check_buffers(execution, index, it->buffers, kernel->name))) {
    return false;
  }
  if (!make_room(it, kernel->parameter_count)) {
    FAIL(execution, MTL_OUT_OF_MEMORY, "no memory for its arguments");
    return false;
  }
  mtli_dispatch *dispatch = &command_of(it)->dispatch;
  void **arguments = dispatch->arguments;
  uint64_t *argument_bytes = dispatch->argument_bytes;
  memset(arguments, 0, it->capacity * sizeof *arguments);
  memset(argument_bytes, 0, it->capacity * sizeof *argument_bytes);
  *dispatch = (mtli_dispatch){
      .pipeline = resolver->pipeline,
      .arguments = arguments,
      .argument_bytes = argument_bytes,
      .grid_threads = {grid.x, grid.y, grid.z},
      .group_threads = {record->group.x, record->group.y, record->group.z}};
  load(execution, index, inherited);
  if (!mtli_resolve_arguments(resolver, dispatch)) {
    return false;
  }
  it->version = record->version;
  return true;
}

// Updates a prepared command. NULL if that failed.
static prepared *take(mtli_execution *execution, uint32_t index,
                      const mtli_inherited *inherited) {
  const mtl_indirect_command_buffer *commands = execution->commands;
  const mtli_indirect_record *record = &commands->records[index];
  prepared *it = find_place(execution, index);
  if (!it) {
    FAIL(execution, MTL_OUT_OF_MEMORY, "no memory to prepare it");
    return NULL;
  }
  if (commands->desc.inherit_pipeline) {
    execution->resolver.pipeline = inherited->pipeline;
  } else if (!record->pipeline && record->pipeline_id) {
    FAIL(execution, MTL_KERNEL_FAULT,
         "a kernel encoded pipeline %" PRIu64 ", which is none",
         record->pipeline_id);
    return NULL;
  } else if (!record->pipeline) {
    FAIL(execution, MTL_INVALID_ARGUMENT, "it has a dispatch and no pipeline");
    return NULL;
  } else if (!hold_pipeline(execution, record, it)) {
    return NULL;
  } else {
    execution->resolver.pipeline = it->pipeline;
  }
  mtli_dispatch *dispatch = &command_of(it)->dispatch;
  if (inherited || it->version != record->version) {
    return prepare(execution, index, it, inherited) ? it : NULL;
  }
  dispatch->is_repeated = true;
  const char *kernel = dispatch->pipeline->kernel->name;
  return check_buffers(execution, index, it->buffers, kernel) ? it : NULL;
}

static bool is_empty(const mtli_indirect_record *record) {
  return record->kind == MTLI_INDIRECT_NONE || !record->grid.x ||
         !record->grid.y || !record->grid.z;
}

// --- all of an execution ----------------------------------------------------

// Links the range's commands, and the code behind them. The lock is held.
static bool link_commands(mtli_execution *execution, mtli_command *command,
                          mtli_command **out_first) {
  const mtli_execute *execute = &command->execute;
  const size_t driver_bytes = execution->recording.driver->command_bytes;
  mtli_command **link = out_first;
  // Commands may overlap, whichever encoder executes them, and the checker
  // treats them so.
  const bool is_serial = execute->is_serial && !mtli_check_is_on();
  bool is_ordered = is_serial;
  for (uint32_t i = 0; i < execution->count; i++) {
    const uint32_t index = execution->first + i;
    const mtli_indirect_record *record = &execution->commands->records[index];
    mtli_indirect_take_in(execution->commands, index);
    is_ordered |= record->has_barrier;
    if (is_empty(record)) {
      continue;
    }
    prepared *it = take(execution, index, execute->inherited);
    if (!it) {
      *out_first = command->next;
      const mtl_status status = execution->recording.error;
      const char *text = execution->recording.error_text;
      (void)mtli_fail(status, "command %u of indirect command buffer '%s': %s",
                      index,
                      mtl_indirect_command_buffer_label(execution->commands),
                      text ? text : "out of memory");
      return false;
    }
    mtli_command *made = command_of(it);
    made->kind = MTLI_COMMAND_DISPATCH;
    made->is_ordered = is_ordered;
    made->orders = MTLI_ORDERS_ALL;
    made->encoder = command->encoder;
    made->dispatch.debug_group = execute->debug_group;
    made->dispatch.used = execute->used;
    memset(mtli_command_data(made), 0, driver_bytes);
    *link = made;
    link = &made->next;
    is_ordered = is_serial;
  }
  *link = command->next;
  return true;
}

mtl_status mtli_execution_begin(mtl_command_buffer *command_buffer,
                                mtli_command *command, uint32_t first,
                                uint32_t count, mtli_command **out_first) {
  mtl_indirect_command_buffer *commands = command->execute.commands;
  *out_first = command->next;
  if (!mtli_indirect_has_range(commands, first, count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%u commands from %u on of indirect command buffer '%s', "
                     "which has %u",
                     count, first, mtl_indirect_command_buffer_label(commands),
                     commands->desc.max_commands);
  }
  pthread_mutex_lock(&commands->lock);
  mtli_execution *execution = commands->executions;
  if (execution) {
    commands->executions = execution->next;
  } else {
    execution = execution_create(commands);
  }
  if (!execution) {
    pthread_mutex_unlock(&commands->lock);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to execute commands");
  }
  execution->first = first;
  execution->count = count;
  execution->recording.command_buffer.queue = command_buffer->queue;
  command->execute.execution = execution;
  const bool is_done = link_commands(execution, command, out_first);
  const mtl_status status = is_done ? MTL_OK : execution->recording.error;
  execution->recording.error = MTL_OK;
  free(execution->recording.error_text);
  execution->recording.error_text = NULL;
  pthread_mutex_unlock(&commands->lock);
  return status;
}
