// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver.c: the cpu driver's table.
#include "drivers/cpu/cpu.h"

extern const mtli_driver mtli_cpu_driver;

const mtli_driver mtli_cpu_driver = {
    .name = "cpu",
    .code_kind = MTLI_BLOB_ELF,
    .device_bytes = sizeof(cpu_device),
    .buffer_bytes = sizeof(cpu_buffer),
    .texture_bytes = sizeof(mtl_texture),
    .pipeline_bytes = sizeof(cpu_pipeline),
    .queue_bytes = sizeof(cpu_queue),
    .event_bytes = sizeof(cpu_event),
    .command_buffer_bytes = sizeof(cpu_list),
    .command_bytes = sizeof(cpu_command),
    .device_count = cpu_device_count,
    .device_name = cpu_device_name,
    .device_is_listed = cpu_device_is_listed,
    .device_open = cpu_device_open,
    .device_close = cpu_device_close,
    .device_family = cpu_device_family,
    .buffer_create = cpu_buffer_create,
    .buffer_destroy = cpu_buffer_destroy,
    .buffer_modified = cpu_buffer_modified,
    .texture_create = cpu_texture_create,
    .texture_destroy = cpu_texture_destroy,
    .pipeline_create = cpu_pipeline_create,
    .pipeline_destroy = cpu_pipeline_destroy,
    .commands_prepare = cpu_commands_prepare,
    .commands_clear = cpu_commands_clear,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .queue_submit = cpu_queue_submit,
    .queue_cancel = cpu_queue_cancel,
    .queue_help = cpu_queue_help,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_value = cpu_event_value,
    .event_signal = cpu_event_signal,
    .event_wait = cpu_event_wait,
    .event_notify = cpu_event_notify,
};
