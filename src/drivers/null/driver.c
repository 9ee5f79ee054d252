// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver.c: the null driver's table.
#include "drivers/null/null.h"

extern const mtli_driver mtli_null_driver;

const mtli_driver mtli_null_driver = {
    .name = "null",
    .code_kind = MTLI_BLOB_ELF,
    .device_bytes = sizeof(mtl_device),
    .buffer_bytes = sizeof(null_buffer),
    .texture_bytes = sizeof(mtl_texture),
    .pipeline_bytes = sizeof(mtl_pipeline),
    .queue_bytes = sizeof(null_queue),
    .event_bytes = sizeof(null_event),
    .command_buffer_bytes = 0,
    .command_bytes = 0,
    .device_count = null_device_count,
    .device_name = null_device_name,
    .device_is_listed = null_device_is_listed,
    .device_open = null_device_open,
    .device_close = null_device_close,
    .device_family = null_device_family,
    .buffer_create = null_buffer_create,
    .buffer_destroy = null_buffer_destroy,
    .buffer_modified = null_buffer_modified,
    .texture_create = null_texture_create,
    .texture_destroy = null_texture_destroy,
    .pipeline_create = null_pipeline_create,
    .pipeline_destroy = null_pipeline_destroy,
    .commands_prepare = null_commands_prepare,
    .commands_clear = null_commands_clear,
    .queue_create = null_queue_create,
    .queue_destroy = null_queue_destroy,
    .queue_submit = null_queue_submit,
    .queue_cancel = null_queue_cancel,
    .queue_help = mtli_no_queue_help,
    .event_create = null_event_create,
    .event_destroy = null_event_destroy,
    .event_value = null_event_value,
    .event_signal = null_event_signal,
    .event_wait = null_event_wait,
    .event_notify = null_event_notify,
};
