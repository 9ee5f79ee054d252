// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// null.h: the null driver's objects and slots. It has every slot and runs no
// kernel: command buffers complete in order and events work, so that a program
// can be run for its use of the API alone. It is the template of a new driver:
// copy the folder, rename null to the driver's name, fill in (docs/drivers.md).
#ifndef MTLI_NULL_H
#define MTLI_NULL_H

#include "base/memory/pages.h"
#include "runtime/driver.h"

typedef struct null_buffer {
  mtl_buffer buffer;
  mtli_pages pages;  // none if the memory is the client's
} null_buffer;

typedef struct null_worker null_worker;

typedef struct null_queue {
  mtl_queue queue;
  null_worker *worker;
} null_queue;

mtli_device_count_fn null_device_count;
mtli_device_name_fn null_device_name;
mtli_device_is_listed_fn null_device_is_listed;
mtli_device_open_fn null_device_open;
mtli_device_close_fn null_device_close;
mtli_device_family_fn null_device_family;
mtli_device_code_target_fn null_device_code_target;
mtli_device_timestamps_fn null_device_timestamps;
mtli_buffer_create_fn null_buffer_create;
mtli_buffer_destroy_fn null_buffer_destroy;
mtli_buffer_modified_fn null_buffer_modified;
mtli_buffer_advise_fn null_buffer_advise;
mtli_texture_create_fn null_texture_create;
mtli_texture_destroy_fn null_texture_destroy;
mtli_pipeline_create_fn null_pipeline_create;
mtli_pipeline_destroy_fn null_pipeline_destroy;
mtli_commands_prepare_fn null_commands_prepare;
mtli_commands_clear_fn null_commands_clear;
mtli_queue_create_fn null_queue_create;
mtli_queue_destroy_fn null_queue_destroy;
mtli_queue_submit_fn null_queue_submit;
mtli_queue_cancel_fn null_queue_cancel;

// Runs a list, commands.c: the order and the events of it, and no work.
void null_commands_run(mtl_command_buffer *command_buffer);

#endif
