// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// profile.c: reports queue operations (submission, start and end) and
// dispatches with their times to IREE's profilers. The device's clock is the
// host's CLOCK_MONOTONIC.
#include <string.h>
#include <time.h>

#include "mettle_hal.h"

typedef struct mettle_profile {
  uint64_t session;
  uint64_t submission;
  iree_time_t submitted_ns;
  bool times_dispatches;
} mettle_profile;

static uint64_t device_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t device_ordinal(const mettle_device *device) {
  return device->topology_info.topology
             ? (uint32_t)device->topology_info.topology_index
             : 0;
}

static iree_hal_local_profile_queue_scope_t scope_of(
    const mettle_queue *queue) {
  const uint32_t ordinal = device_ordinal(queue->device);
  return (iree_hal_local_profile_queue_scope_t){
      .physical_device_ordinal = ordinal,
      .queue_ordinal = queue->ordinal,
      .stream_id = ((uint64_t)ordinal << 32) | queue->ordinal};
}

// Reports the device's and the host's clock at one moment. The profile mutex is
// held.
static iree_status_t correlate(mettle_device *device) {
  iree_hal_profile_clock_correlation_record_t record;
  memset(&record, 0, sizeof record);
  record.record_length = sizeof record;
  record.flags = IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_DEVICE_TICK |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_CPU_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_SYSTEM_TIMESTAMP |
                 IREE_HAL_PROFILE_CLOCK_CORRELATION_FLAG_HOST_TIME_BRACKET;
  record.physical_device_ordinal = device_ordinal(device);
  record.sample_id = ++device->profile_sample;
  record.host_time_begin_ns = iree_time_now();
  record.device_tick = device_now();
  record.host_time_end_ns = iree_time_now();
  record.host_cpu_timestamp_ns = record.device_tick;
  record.host_system_timestamp = record.device_tick;
  record.host_system_frequency_hz = 1000000000;
  return iree_hal_local_profile_recorder_write_clock_correlations(
      device->recorder, 1, &record);
}

static iree_status_t create_recorder(
    mettle_device *device, const iree_hal_device_profiling_options_t *options) {
  iree_hal_profile_device_record_t device_record =
      iree_hal_profile_device_record_default();
  device_record.physical_device_ordinal = device_ordinal(device);
  device_record.queue_count = device->queue_count;
  iree_hal_profile_queue_record_t queue_records[MAX_QUEUES];
  for (uint32_t i = 0; i < device->queue_count; i++) {
    const iree_hal_local_profile_queue_scope_t scope =
        scope_of(&device->queues[i]);
    queue_records[i] = iree_hal_profile_queue_record_default();
    queue_records[i].physical_device_ordinal = scope.physical_device_ordinal;
    queue_records[i].queue_ordinal = scope.queue_ordinal;
    queue_records[i].stream_id = scope.stream_id;
  }
  const iree_hal_local_profile_recorder_options_t recorder_options = {
      .name = device->identifier,
      .session_id = device->profile_session + 1,
      .device_record_count = 1,
      .device_records = &device_record,
      .queue_record_count = device->queue_count,
      .queue_records = queue_records,
      .producer_data_families =
          IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS |
          IREE_HAL_DEVICE_PROFILING_DATA_DEVICE_QUEUE_EVENTS};
  return iree_hal_local_profile_recorder_create(
      &recorder_options, options, device->host_allocator, &device->recorder);
}

iree_status_t mettle_profile_begin(
    mettle_device *device, const iree_hal_device_profiling_options_t *options) {
  iree_slim_mutex_lock(&device->profile_mutex);
  iree_status_t status = iree_ok_status();
  if (device->recorder) {
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "the device is being profiled already");
  } else {
    status = create_recorder(device, options);
  }
  if (iree_status_is_ok(status) && device->recorder) {
    device->profile_session++;
    device->profile_submission = 0;
    status = correlate(device);
  }
  iree_slim_mutex_unlock(&device->profile_mutex);
  return status;
}

iree_status_t mettle_profile_flush(mettle_device *device) {
  iree_slim_mutex_lock(&device->profile_mutex);
  iree_status_t status = iree_ok_status();
  if (device->recorder) {
    status = correlate(device);
    status = iree_status_join(
        status, iree_hal_local_profile_recorder_flush(device->recorder));
  }
  iree_slim_mutex_unlock(&device->profile_mutex);
  return status;
}

iree_status_t mettle_profile_end(mettle_device *device) {
  iree_slim_mutex_lock(&device->profile_mutex);
  iree_status_t status = iree_ok_status();
  if (device->recorder) {
    status = correlate(device);
    status = iree_status_join(
        status, iree_hal_local_profile_recorder_end(device->recorder));
    iree_hal_local_profile_recorder_destroy(device->recorder);
    device->recorder = NULL;
  }
  iree_slim_mutex_unlock(&device->profile_mutex);
  return status;
}

static iree_hal_profile_queue_event_type_t type_of(const mettle_op *op) {
  switch (op->kind) {
    case OP_BARRIER: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
    case OP_EXECUTE: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_EXECUTE;
    case OP_ALLOCA: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_ALLOCA;
    case OP_DEALLOCA: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DEALLOCA;
    case OP_JOB: return op->job_type;
    case OP_COMMANDS: break;
  }
  switch (op->own_commands->kind) {
    case COMMAND_FILL: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_FILL;
    case COMMAND_UPDATE: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_UPDATE;
    case COMMAND_COPY: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_COPY;
    case COMMAND_DISPATCH: return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_DISPATCH;
    case COMMAND_BARRIER: break;
  }
  return IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_BARRIER;
}

static const mettle_command *commands_of(const mettle_op *op,
                                         uint32_t *out_count) {
  *out_count = op->own_commands ? 1 : 0;
  return op->command_buffer
             ? mettle_command_buffer_commands(op->command_buffer, out_count)
             : op->own_commands;
}

static uint64_t bytes_of(const mettle_op *op) {
  if (op->alloca) {
    return op->alloca->length;
  }
  return op->own_commands && op->own_commands->kind != COMMAND_DISPATCH
             ? op->own_commands->target.length
             : op->job_bytes;
}

void mettle_profile_op_begin(mettle_op *op) {
  mettle_device *device = op->device;
  if (!device->recorder) {
    return;  // a session that begins just now begins with the next one
  }
  mettle_profile *profile = NULL;
  iree_status_t status = iree_allocator_malloc(
      device->host_allocator, sizeof *profile, (void **)&profile);
  if (!iree_status_is_ok(status)) {
    iree_status_ignore(status);
    return;
  }
  iree_slim_mutex_lock(&device->profile_mutex);
  profile->session = device->recorder ? device->profile_session : 0;
  profile->submission = ++device->profile_submission;
  profile->times_dispatches =
      device->recorder &&
      iree_hal_local_profile_recorder_is_enabled(
          device->recorder, IREE_HAL_DEVICE_PROFILING_DATA_DISPATCH_EVENTS);
  iree_slim_mutex_unlock(&device->profile_mutex);
  profile->submitted_ns = iree_time_now();
  op->profile = profile;
}

bool mettle_profile_times_dispatches(const mettle_op *op) {
  return op->profile && op->profile->times_dispatches;
}

static bool is_wanted(const mettle_op *op, const mettle_command *command,
                      uint64_t command_buffer_id, uint32_t command_index) {
  const iree_hal_profile_capture_filter_t *filter =
      &iree_hal_local_profile_recorder_options(op->device->recorder)
           ->capture_filter;
  if ((filter->flags &
       IREE_HAL_PROFILE_CAPTURE_FILTER_FLAG_EXECUTABLE_FUNCTION_PATTERN) &&
      !iree_string_view_match_pattern(command->dispatch.pipeline->name,
                                      filter->executable_function_pattern)) {
    return false;
  }
  return iree_hal_profile_capture_filter_matches_location(
      filter, command_buffer_id, command_index, device_ordinal(op->device),
      op->queue->ordinal);
}

static iree_status_t record_dispatch(const mettle_op *op,
                                     const mettle_command *command,
                                     const mtl_work_time *times) {
  iree_hal_local_profile_recorder_t *recorder = op->device->recorder;
  const mettle_dispatch *dispatch = &command->dispatch;
  iree_hal_local_profile_dispatch_event_info_t info =
      iree_hal_local_profile_dispatch_event_info_default();
  info.scope = scope_of(op->queue);
  info.submission_id = op->profile->submission;
  if (op->command_buffer) {
    info.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_COMMAND_BUFFER;
    info.command_buffer_id =
        mettle_command_buffer_profile_id(op->command_buffer);
    info.command_index = command->index;
  }
  if (dispatch->is_indirect) {
    info.flags |= IREE_HAL_PROFILE_DISPATCH_EVENT_FLAG_INDIRECT_PARAMETERS;
  }
  info.executable_id = dispatch->executable->profile_id;
  info.function_ordinal = dispatch->function_ordinal;
  memcpy(info.workgroup_count, dispatch->group_count,
         sizeof info.workgroup_count);
  memcpy(info.workgroup_size, dispatch->pipeline->group_threads,
         sizeof info.workgroup_size);
  info.start_tick = times->start_ns;
  info.end_tick = times->end_ns;
  if (!is_wanted(op, command, info.command_buffer_id, info.command_index)) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(
      iree_hal_local_profile_recorder_record_executable_with_id(
          recorder, dispatch->base_executable, info.executable_id));
  return iree_hal_local_profile_recorder_append_dispatch_event(recorder, &info,
                                                               NULL);
}

// Mettle's dispatches come in the order of the commands.
static iree_status_t record_dispatches(const mettle_op *op,
                                       const mtl_command_buffer *commands) {
  size_t count = 0;
  uint32_t command_count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  const mettle_command *command = commands_of(op, &command_count);
  for (size_t i = 0; i < count; i++) {
    if (times[i].kind != MTL_WORK_DISPATCH) {
      continue;
    }
    while (command && command->kind != COMMAND_DISPATCH) {
      command = command->next;
    }
    if (!command) {
      break;
    }
    if (times[i].end_ns) {
      IREE_RETURN_IF_ERROR(record_dispatch(op, command, &times[i]));
    }
    command = command->next;
  }
  return iree_ok_status();
}

static iree_hal_profile_command_operation_record_t operation_record(
    const mettle_op *op, const mettle_command *command) {
  static const iree_hal_profile_command_operation_type_t types[] = {
      [COMMAND_BARRIER] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER,
      [COMMAND_FILL] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL,
      [COMMAND_UPDATE] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE,
      [COMMAND_COPY] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY,
      [COMMAND_DISPATCH] = IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_DISPATCH};
  iree_hal_profile_command_operation_record_t record =
      iree_hal_profile_command_operation_record_default();
  record.type = types[command->kind];
  record.command_index = command->index;
  record.command_buffer_id =
      mettle_command_buffer_profile_id(op->command_buffer);
  record.source_offset = command->source.offset;
  record.target_offset = command->target.offset;
  record.length = command->target.length;
  if (command->kind == COMMAND_DISPATCH) {
    const mettle_dispatch *dispatch = &command->dispatch;
    record.executable_id = dispatch->executable->profile_id;
    record.function_ordinal = dispatch->function_ordinal;
    record.binding_count = dispatch->binding_count;
    memcpy(record.workgroup_count, dispatch->group_count,
           sizeof record.workgroup_count);
    memcpy(record.workgroup_size, dispatch->pipeline->group_threads,
           sizeof record.workgroup_size);
  }
  return record;
}

static iree_status_t record_command_buffer(const mettle_op *op) {
  uint32_t count = 0;
  const mettle_command *command =
      mettle_command_buffer_commands(op->command_buffer, &count);
  iree_hal_profile_command_operation_record_t *operations = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_array(op->device->host_allocator,
                                                   count, sizeof *operations,
                                                   (void **)&operations));
  for (uint32_t i = 0; command; command = command->next, i++) {
    operations[i] = operation_record(op, command);
  }
  iree_hal_profile_command_buffer_record_t record =
      iree_hal_profile_command_buffer_record_default();
  record.command_buffer_id =
      mettle_command_buffer_profile_id(op->command_buffer);
  record.mode = iree_hal_command_buffer_mode(op->command_buffer);
  record.command_categories =
      iree_hal_command_buffer_allowed_categories(op->command_buffer);
  record.queue_affinity = mettle_queue_affinity(op->queue);
  record.physical_device_ordinal = device_ordinal(op->device);
  iree_status_t status = iree_hal_local_profile_recorder_record_command_buffer(
      op->device->recorder, &record, count, operations);
  iree_allocator_free(op->device->host_allocator, operations);
  return status;
}

// When the operation ran, by the device's clock.
typedef struct span {
  uint64_t start;
  uint64_t end;
} span;

static span span_of(const mtl_command_buffer *commands) {
  const uint64_t now = device_now();
  if (!commands) {
    return (span){now, now};
  }
  const mtl_command_buffer_times times = mtl_command_buffer_get_times(commands);
  return times.device_end_ns
             ? (span){times.device_start_ns, times.device_end_ns}
             : (span){now, now};
}

static void record_queue_event(const mettle_op *op, uint32_t operation_count) {
  iree_hal_local_profile_queue_event_info_t info =
      iree_hal_local_profile_queue_event_info_default();
  info.type = type_of(op);
  info.dependency_strategy =
      op->wait_count == 0 ? IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_NONE
                          : IREE_HAL_PROFILE_QUEUE_DEPENDENCY_STRATEGY_INLINE;
  info.scope = scope_of(op->queue);
  info.host_time_ns = op->profile->submitted_ns;
  info.submission_id = op->profile->submission;
  info.command_buffer_id =
      op->command_buffer ? mettle_command_buffer_profile_id(op->command_buffer)
                         : 0;
  info.wait_count = op->wait_count;
  info.signal_count = (uint32_t)op->signals.count;
  info.operation_count = operation_count;
  info.payload_length = bytes_of(op);
  iree_hal_local_profile_recorder_append_queue_event(op->device->recorder,
                                                     &info, NULL);
}

static void record_host_event(const mettle_op *op, uint32_t operation_count,
                              span ran) {
  const iree_time_t to_host = iree_time_now() - (iree_time_t)device_now();
  iree_hal_local_profile_host_execution_event_info_t info =
      iree_hal_local_profile_host_execution_event_info_default();
  info.type = type_of(op);
  info.status_code = (uint32_t)iree_status_code(
      (iree_status_t)iree_atomic_load(&op->failure, iree_memory_order_acquire));
  info.scope = scope_of(op->queue);
  info.submission_id = op->profile->submission;
  info.payload_length = bytes_of(op);
  info.operation_count = operation_count;
  info.start_host_time_ns = (iree_time_t)ran.start + to_host;
  info.end_host_time_ns = (iree_time_t)ran.end + to_host;
  if (op->command_buffer) {
    info.command_buffer_id =
        mettle_command_buffer_profile_id(op->command_buffer);
  } else if (op->own_commands && op->own_commands->kind == COMMAND_DISPATCH) {
    const mettle_dispatch *dispatch = &op->own_commands->dispatch;
    info.executable_id = dispatch->executable->profile_id;
    info.function_ordinal = dispatch->function_ordinal;
    memcpy(info.workgroup_count, dispatch->group_count,
           sizeof info.workgroup_count);
    memcpy(info.workgroup_size, dispatch->pipeline->group_threads,
           sizeof info.workgroup_size);
  }
  iree_hal_local_profile_recorder_append_host_execution_event(
      op->device->recorder, &info, NULL);
}

static iree_status_t record_device_event(const mettle_op *op,
                                         uint32_t operation_count, span ran) {
  iree_hal_local_profile_queue_device_event_info_t info =
      iree_hal_local_profile_queue_device_event_info_default();
  info.type = type_of(op);
  info.scope = scope_of(op->queue);
  info.submission_id = op->profile->submission;
  info.command_buffer_id =
      op->command_buffer ? mettle_command_buffer_profile_id(op->command_buffer)
                         : 0;
  info.operation_count = operation_count;
  info.payload_length = bytes_of(op);
  info.start_tick = ran.start;
  info.end_tick = ran.end;
  return iree_hal_local_profile_recorder_append_queue_device_event(
      op->device->recorder, &info, NULL);
}

static iree_status_t record_op(const mettle_op *op) {
  const mtl_command_buffer *commands =
      (const mtl_command_buffer *)iree_atomic_load(&op->commands,
                                                   iree_memory_order_acquire);
  uint32_t count = 0;
  commands_of(op, &count);
  const uint32_t operation_count = count ? count : 1;
  const span ran = span_of(commands);
  record_queue_event(op, operation_count);
  record_host_event(op, operation_count, ran);
  if (!commands) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(record_device_event(op, operation_count, ran));
  if (op->command_buffer) {
    IREE_RETURN_IF_ERROR(record_command_buffer(op));
  }
  return op->profile->times_dispatches ? record_dispatches(op, commands)
                                       : iree_ok_status();
}

void mettle_profile_op_end(mettle_op *op) {
  if (!op->profile) {
    return;
  }
  mettle_device *device = op->device;
  iree_slim_mutex_lock(&device->profile_mutex);
  if (device->recorder && op->profile->session == device->profile_session) {
    // A failing sink reports the error again when the session is flushed.
    iree_status_ignore(record_op(op));
  }
  iree_slim_mutex_unlock(&device->profile_mutex);
}
