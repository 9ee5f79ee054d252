// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal.h: the metal driver's objects and slots. Each object of the runtime
// wraps one of Metal's; a recorded list becomes an MTLCommandBuffer.
#ifndef METAL_DRIVER_H
#define METAL_DRIVER_H

#include "base/memory/pages.h"
#include "drivers/metal/objc.h"
#include "runtime/driver.h"

// An entry of the table from resource ids to Metal's objects.
typedef struct metal_handle {
  struct metal_handle *next;
  uint64_t resource_id;
  id object;
  struct metal_texture *texture;  // NULL if it is none
} metal_handle;
enum { METAL_HANDLE_LISTS = 256 };  // a power of two

typedef struct metal_sampler_state {
  struct metal_sampler_state *next;
  uint64_t bits;
  metal_handle handle;
} metal_sampler_state;

typedef struct metal_device {
  mtl_device device;
  id object;
  char architecture[64];
  id listener;  // of all events
  id staging;  // MTLCommandQueue for work that belongs to no client; under lock
  pthread_mutex_t lock;
  metal_handle *handles[METAL_HANDLE_LISTS];
  metal_sampler_state *samplers;  // never fewer
} metal_device;

typedef struct metal_buffer {
  mtl_buffer buffer;
  id object;
  size_t offset_bytes;  // of the buffer's first byte in object
  mtli_pages pages;     // of a guarded buffer; none otherwise
  // Textures whose texels are a copy of this buffer's; under the device's lock.
  struct metal_texture *shadows;
} metal_buffer;

// A texture. Metal chooses the layout of most: such a texture is a shadow of
// its buffer, which is copied to it before a kernel reads and back after it
// writes. One of two dimensions and one level shares the buffer's memory.
typedef struct metal_texture {
  mtl_texture texture;
  id base;    // before it is swizzled: copies use it
  id object;  // the texture that kernels see; perhaps the same
  bool is_shadow;
  metal_handle handle;
  struct metal_texture *next_shadow;
  struct metal_texture *previous_shadow;
} metal_texture;

typedef struct metal_library {
  mtl_library library;
  id object;
} metal_library;

// A pipeline state and its reflected arguments.
typedef struct metal_reflected {
  id state;
  mtli_arena arena;  // of kernel's parameters
  mtli_kernel kernel;
} metal_reflected;

typedef struct metal_function {
  mtl_function function;
  id object;
  metal_reflected reflected;  // no state if the pipeline needs linked functions
} metal_function;

typedef struct metal_pipeline {
  mtl_pipeline pipeline;
  metal_reflected reflected;
} metal_pipeline;

typedef struct metal_function_table {
  mtl_function_table table;
  id object;
  metal_handle handle;
} metal_function_table;

typedef struct metal_queue {
  mtl_queue queue;
  id object;
  id fence;  // orders encoders, whatever the tracking of their resources
} metal_queue;

typedef struct metal_mirror metal_mirror;
typedef struct metal_event {
  mtl_event event;
  id object;
  metal_mirror *mirror;
} metal_event;

// A command buffer on its way; it outlives the runtime's. queue.c
typedef struct metal_run metal_run;
typedef struct metal_list {
  metal_run *run;  // +1; NULL before prepare
} metal_list;

// --- slots -------------------------------------------------------------------

mtli_device_count_fn metal_device_count;
mtli_device_name_fn metal_device_name;
mtli_device_is_listed_fn metal_device_is_listed;
mtli_device_open_fn metal_device_open;
mtli_device_close_fn metal_device_close;
mtli_device_family_fn metal_device_family;
mtli_device_code_target_fn metal_device_code_target;
mtli_device_timestamps_fn metal_device_timestamps;
mtli_buffer_create_fn metal_buffer_create;
mtli_buffer_destroy_fn metal_buffer_destroy;
mtli_buffer_modified_fn metal_buffer_modified;
mtli_buffer_advise_fn metal_buffer_advise;
mtli_texture_create_fn metal_texture_create;
mtli_texture_destroy_fn metal_texture_destroy;
mtli_sampler_create_fn metal_sampler_create;
mtli_library_compile_fn metal_library_compile;
mtli_library_load_fn metal_library_load;
mtli_library_destroy_fn metal_library_destroy;
mtli_function_describe_fn metal_function_describe;
mtli_function_destroy_fn metal_function_destroy;
mtli_pipeline_create_fn metal_pipeline_create;
mtli_pipeline_destroy_fn metal_pipeline_destroy;
mtli_function_table_create_fn metal_function_table_create;
mtli_function_table_destroy_fn metal_function_table_destroy;
mtli_function_table_set_fn metal_function_table_set;
mtli_commands_prepare_fn metal_commands_prepare;
mtli_commands_clear_fn metal_commands_clear;
mtli_queue_create_fn metal_queue_create;
mtli_queue_destroy_fn metal_queue_destroy;
mtli_queue_submit_fn metal_queue_submit;
mtli_queue_cancel_fn metal_queue_cancel;
mtli_event_create_fn metal_event_create;
mtli_event_destroy_fn metal_event_destroy;
mtli_event_value_fn metal_event_value;
mtli_event_signal_fn metal_event_signal;
mtli_event_wait_fn metal_event_wait;
mtli_event_notify_fn metal_event_notify;

extern const mtli_indirect_slots metal_indirect_slots;  // indirect.c

// --- shared by the files -----------------------------------------------------

static inline metal_device *metal_device_of(const mtl_device *device) {
  return (metal_device *)device;
}
static inline id metal_object_of(const mtl_buffer *buffer) {
  return ((const metal_buffer *)buffer)->object;
}
static inline size_t metal_offset_of(const mtl_buffer *buffer) {
  return ((const metal_buffer *)buffer)->offset_bytes;
}
static inline id metal_event_object(const mtl_event *event) {
  return ((const metal_event *)event)->object;
}

// Releases an object of device's; after a fork it is left alone.
void metal_give_back(const mtl_device *device, id object);

// Adds to, removes from and searches the table of resource ids; device.c.
void metal_handle_add(metal_device *device, metal_handle *handle);
void metal_handle_remove(metal_device *device, metal_handle *handle);
// Returns the object of an id, and with out_texture its texture; NULL if there
// is none.
id metal_handle_find(metal_device *device, uint64_t resource_id,
                     metal_texture **out_texture);

// MTLResourceOptions.
unsigned long metal_resource_options(mtl_storage_mode storage_mode,
                                     mtl_hazard_tracking hazard_tracking);

// Encodes blits by encode and runs them at once, on the device's own queue.
typedef void metal_blit_fn(id encoder, void *context);
mtl_status metal_blit_now(metal_device *device, metal_blit_fn *encode,
                          void *context);

// Makes a pipeline state by a descriptor and reads its arguments; reflect.c.
mtl_status metal_reflect(metal_device *device, id descriptor,
                         metal_reflected *out_reflected);
void metal_reflected_clear(const mtl_device *device,
                           metal_reflected *reflected);

// MTLTextureType and back; data_types.c.
unsigned long metal_texture_type(mtl_texture_type type);
mtl_texture_type metal_texture_type_read(unsigned long number);

// MTLDataType of constants and arguments; data_types.c.
unsigned long metal_data_type(mtl_data_type type, uint32_t components);
// Returns false for anything but a scalar, vector or matrix.
bool metal_data_type_read(unsigned long number, mtl_data_type *out_type,
                          uint32_t *out_components, uint32_t *out_columns);
const char *metal_data_type_name(mtl_data_type type);

// The two samples of a timed command: where its encoder begins and where it
// ends.
typedef struct metal_samples {
  id buffer;  // MTLCounterSampleBuffer, the encoding's
  unsigned long first;
  mtli_command_times *times;
  bool is_blit;  // the encoder that takes them is a blit encoder
} metal_samples;

// All samples of a list, and both clocks when it was encoded; counters.c.
typedef struct metal_timed {
  metal_samples *samples;  // [count] malloc'ed
  size_t count;
  uint64_t host_ns;
  uint64_t ticks;
} metal_timed;

// The encoders of one MTLCommandBuffer, one open at a time; encode.c.
typedef struct metal_encoding {
  mtl_command_buffer *command_buffer;
  id commands;  // MTLCommandBuffer
  id fence;
  id compute;  // NULL while none is open
  id blit;
  bool has_dispatched;   // in the open compute encoder
  mtl_buffer **buffers;  // [buffer_count] by rising address, each once
  size_t buffer_count;
  id *kept;  // [kept_count] staging buffers, +1 each
  size_t kept_count;
  id samples;  // MTLCounterSampleBuffer with sample_count samples
  unsigned long sample_count;
  metal_samples timed;  // the next encoder of its kind takes them; no buffer:
                        // it takes none
  metal_timed all_timed;
} metal_encoding;

id metal_encoding_blit(metal_encoding *encoding);
id metal_encoding_compute(metal_encoding *encoding);
// Opens a new serial compute encoder, even if one is open.
id metal_encoding_serial(metal_encoding *encoding);
// Adds a barrier before command, the next of the open compute encoder, if
// command is ordered.
void metal_encoding_order(metal_encoding *encoding,
                          const mtli_command *command);
// Opens and closes a debug group of that path; NULL for none.
void metal_encoding_push_group(id encoder, const char *path);
void metal_encoding_pop_group(id encoder, const char *path);
void metal_encoding_end(metal_encoding *encoding);
// Creates a shared buffer, filled with bytes unless NULL, that lives as long as
// the list; nil if there is no memory.
id metal_encoding_stage(metal_encoding *encoding, const void *bytes,
                        size_t length_bytes);
// Takes object's reference, for as long as the list lives; false, with object
// released, if there is no memory.
bool metal_encoding_keep(metal_encoding *encoding, id object);
// Finds the buffer of an address, among those of the list.
mtl_buffer *metal_encoding_find(const metal_encoding *encoding,
                                uint64_t address);
// Encodes one command; encode_dispatch.c, encode_blits.c, indirect.c.
mtl_status metal_encode_dispatch(metal_encoding *encoding,
                                 const mtli_command *command);
mtl_status metal_encode_blit(metal_encoding *encoding,
                             const mtli_command *command);

mtl_status metal_encode_sample(metal_encoding *encoding,
                               const mtli_command *command);
// Makes the encoder that is opened for command sample its times; counters.c.
mtl_status metal_time_next(metal_encoding *encoding,
                           const mtli_command *command);
// False if there is no memory. encode.c
bool metal_timed_add(metal_encoding *encoding);
id metal_timed_compute(const metal_encoding *encoding, unsigned long type);
id metal_timed_blit(const metal_encoding *encoding);
// Reports the times of a list that ran from start_ns to end_ns.
void metal_tell_times(mtl_device *device, const metal_timed *timed,
                      uint64_t start_ns, uint64_t end_ns);
void metal_encode_execute(metal_encoding *encoding,
                          const mtli_command *command);
void metal_encode_edit(metal_encoding *encoding, const mtli_command *command);
// Declares to the open compute encoder the indirect commands that its kernels
// may encode.
void metal_use_commands(const metal_encoding *encoding);

// Copies buffers to all shadows of the list, which argument buffers may name;
// and copies back those that may have been written.
void metal_shadows_fill(metal_encoding *encoding);
void metal_shadows_drain(metal_encoding *encoding);

// Encodes the copies between a shadow and its buffer; encode_blits.c.
void metal_shadow_fill(metal_encoding *encoding, metal_texture *texture);
void metal_shadow_drain(metal_encoding *encoding, metal_texture *texture);

#endif
