// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.c: reads files into buffers and writes buffers to files, in queue
// order, on threads of workers.c. Memory that the host cannot access is staged
// piece by piece.
#include "iree/hal/utils/file_registry.h"
#include "memory/slots.h"
#include "mettle_hal.h"

enum { STAGING_BYTES = 16 * 1024 * 1024 };

typedef struct transfer {
  iree_hal_file_t *file;
  uint64_t file_offset;
  iree_hal_buffer_t *buffer;
  iree_device_size_t buffer_offset;
  iree_device_size_t length;
  bool is_read;
} transfer;

static iree_status_t move(const transfer *t, uint64_t file_offset,
                          iree_hal_buffer_t *buffer, iree_device_size_t offset,
                          iree_device_size_t length) {
  return t->is_read
             ? iree_hal_file_read(t->file, file_offset, buffer, offset, length)
             : iree_hal_file_write(t->file, file_offset, buffer, offset,
                                   length);
}

// Copies between the staging buffer and the real one, and waits for it.
static iree_status_t copy(mettle_op *op, const transfer *t,
                          const mettle_range *staging, iree_device_size_t done,
                          size_t length) {
  mettle_range range;
  IREE_RETURN_IF_ERROR(
      mettle_range_resolve(t->buffer, t->buffer_offset + done, length, &range));
  mtl_command_buffer *commands = NULL;
  mtl_blit_encoder *blit = NULL;
  mtl_status status =
      mtl_command_buffer_create(op->queue->queue, NULL, &commands);
  if (status == MTL_OK) {
    status = mtl_blit_encoder_create(commands, &blit);
  }
  if (status == MTL_OK) {
    const mettle_range *from = t->is_read ? staging : &range;
    const mettle_range *to = t->is_read ? &range : staging;
    mtl_blit_encoder_copy(blit, from->buffer->buffer, from->offset,
                          to->buffer->buffer, to->offset, length);
    status = mtl_blit_encoder_end(blit);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_commit(commands);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_wait(commands);
  }
  iree_status_t result = mettle_status(status, "staging a file");
  mtl_blit_encoder_release(blit);
  mtl_command_buffer_release(commands);
  return result;
}

static iree_status_t move_pieces(mettle_op *op, const transfer *t,
                                 iree_hal_buffer_t *staging,
                                 iree_device_size_t piece_bytes) {
  mettle_range staged;
  IREE_RETURN_IF_ERROR(
      mettle_range_resolve(staging, 0, IREE_HAL_WHOLE_BUFFER, &staged));
  for (iree_device_size_t done = 0; done < t->length; done += piece_bytes) {
    const iree_device_size_t rest = t->length - done;
    const iree_device_size_t length = rest < piece_bytes ? rest : piece_bytes;
    const uint64_t file_offset = t->file_offset + done;
    if (t->is_read) {
      IREE_RETURN_IF_ERROR(move(t, file_offset, staging, 0, length));
    }
    IREE_RETURN_IF_ERROR(copy(op, t, &staged, done, (size_t)length));
    if (!t->is_read) {
      IREE_RETURN_IF_ERROR(move(t, file_offset, staging, 0, length));
    }
  }
  return iree_ok_status();
}

static iree_status_t run(mettle_op *op, bool *out_deferred) {
  (void)out_deferred;
  const transfer *t = op->work_context;
  if (iree_hal_buffer_memory_type(t->buffer) &
      IREE_HAL_MEMORY_TYPE_HOST_VISIBLE) {
    return move(t, t->file_offset, t->buffer, t->buffer_offset, t->length);
  }
  const iree_device_size_t piece_bytes =
      t->length < STAGING_BYTES ? t->length : STAGING_BYTES;
  const iree_hal_buffer_params_t params = {
      .type =
          IREE_HAL_MEMORY_TYPE_HOST_LOCAL | IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER |
               IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED};
  iree_hal_buffer_t *staging = NULL;
  IREE_RETURN_IF_ERROR(iree_hal_allocator_allocate_buffer(
      op->device->allocator, params, piece_bytes, &staging));
  iree_status_t status = move_pieces(op, t, staging, piece_bytes);
  iree_hal_buffer_release(staging);
  return status;
}

static iree_status_t check_file(iree_hal_file_t *file, uint64_t offset,
                                iree_device_size_t length, bool is_read) {
  if (!iree_hal_file_supports_synchronous_io(file)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the file can neither be mapped nor read and "
                            "written");
  }
  const uint64_t end = iree_hal_file_length(file);
  if (is_read && end > 0 && (offset > end || length > end - offset)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "bytes %" PRIu64 " to %" PRIu64
                            " of a file of %" PRIu64,
                            offset, offset + (uint64_t)length, end);
  }
  return iree_ok_status();
}

static iree_status_t submit(iree_hal_device_t *base,
                            iree_hal_queue_affinity_t affinity,
                            iree_hal_semaphore_list_t waits,
                            iree_hal_semaphore_list_t signals,
                            const transfer *t) {
  IREE_RETURN_IF_ERROR(iree_hal_file_validate_access(
      t->file,
      t->is_read ? IREE_HAL_MEMORY_ACCESS_READ : IREE_HAL_MEMORY_ACCESS_WRITE));
  iree_hal_buffer_t *storage = iree_hal_file_storage_buffer(t->file);
  if (t->length == 0) {
    return iree_hal_device_queue_barrier(base, affinity, waits, signals,
                                         IREE_HAL_EXECUTE_FLAG_NONE);
  }
  if (storage && t->is_read) {
    return iree_hal_device_queue_copy(
        base, affinity, waits, signals, storage, t->file_offset, t->buffer,
        t->buffer_offset, t->length, IREE_HAL_COPY_FLAG_NONE);
  }
  if (storage) {
    return iree_hal_device_queue_copy(base, affinity, waits, signals, t->buffer,
                                      t->buffer_offset, storage, t->file_offset,
                                      t->length, IREE_HAL_COPY_FLAG_NONE);
  }
  IREE_RETURN_IF_ERROR(
      check_file(t->file, t->file_offset, t->length, t->is_read));
  mettle_op *op = NULL;
  transfer *context = NULL;
  IREE_RETURN_IF_ERROR(
      mettle_op_create(mettle_device_cast(base), affinity, waits, signals,
                       OP_JOB, 2, sizeof *context, &op, (void **)&context));
  *context = *t;
  mettle_op_keep(op, t->file);
  mettle_op_keep(op, t->buffer);
  op->job_type = t->is_read ? IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_READ
                            : IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_WRITE;
  op->job_bytes = t->length;
  op->work = run;
  op->work_context = context;
  return mettle_op_submit(op);
}

iree_status_t mettle_queue_read(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_file_t *file,
    uint64_t file_offset, iree_hal_buffer_t *buffer, iree_device_size_t offset,
    iree_device_size_t length, iree_hal_read_flags_t flags) {
  (void)flags;
  const transfer t = {file, file_offset, buffer, offset, length, true};
  return submit(base, affinity, waits, signals, &t);
}

iree_status_t mettle_queue_write(
    iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
    const iree_hal_semaphore_list_t waits,
    const iree_hal_semaphore_list_t signals, iree_hal_buffer_t *buffer,
    iree_device_size_t offset, iree_hal_file_t *file, uint64_t file_offset,
    iree_device_size_t length, iree_hal_write_flags_t flags) {
  (void)flags;
  const transfer t = {file, file_offset, buffer, offset, length, false};
  return submit(base, affinity, waits, signals, &t);
}

iree_status_t mettle_import_file(iree_hal_device_t *base,
                                 iree_hal_queue_affinity_t affinity,
                                 iree_hal_memory_access_t access,
                                 iree_io_file_handle_t *handle,
                                 iree_hal_external_file_flags_t flags,
                                 iree_hal_file_t **out_file) {
  (void)flags;
  mettle_device *device = mettle_device_cast(base);
  return iree_hal_file_from_handle(device->allocator, affinity, access, handle,
                                   device->proactor, device->host_allocator,
                                   out_file);
}
