// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objects.h: shared by the runtime's files, hidden from drivers.
#ifndef MTLI_OBJECTS_H
#define MTLI_OBJECTS_H

#include "compiler/compiler.h"
#include "runtime/driver.h"

struct mtl_fence {
  mtli_object object;
  mtl_device *device;  // +1
};

// The values of a set; constants.c.
typedef struct mtli_constant_entry {
  char *name;  // NULL if set by index
  uint32_t index;
  mtl_data_type type;
  uint32_t components;
  uint8_t bytes[32];
} mtli_constant_entry;

// Returns a type's name in MSL; "struct" for MTL_TYPE_NONE, "?" for unknown
// types.
const char *mtli_data_type_name(mtl_data_type type);

struct mtl_constant_values {
  mtli_constant_entry *entries;  // [count]
  size_t count;
  size_t capacity;
};

// Fills values [library's constant_count] from set, which may be NULL.
mtl_status mtli_constants_resolve(const mtli_code *code,
                                  const mtl_constant_values *set,
                                  mtli_constant_value *values);

// Tells whether an argument is there under the given constant values.
bool mtli_parameter_is_active(const mtli_parameter *parameter,
                              const mtli_code *code,
                              const mtli_constant_value *values);

// Fails with MTL_INVALID_STATE for a device from before a fork.
mtl_status mtli_device_check(const mtl_device *device);

// Counts the bytes from address to the end of the buffer that it lies in; 0 if
// it lies in none of device's.
size_t mtli_bytes_behind(mtl_device *device, uint64_t address);
// addresses.c: the smallest buffer of device that address is in, with one more
// reference; NULL if there is none.
mtl_buffer *mtli_buffer_at(mtl_device *device, uint64_t address);

// pipeline_ids.c: the number by which kernels know a pipeline, never 0 unless
// out of memory; the weak reference of the pipeline that has a number, with one
// more reference, NULL if none had it.
uint64_t mtli_pipeline_id(mtl_pipeline *pipeline);
mtli_weak *mtli_pipeline_of_id(mtl_device *device, uint64_t id);
void mtli_pipeline_ids_clear(mtl_device *device);

// Checks that the device can have a buffer of this length.
mtl_status mtli_buffer_check_length(const mtl_device *device,
                                    size_t length_bytes, const char *call);
// Makes a buffer in memory, that of heap, where the caller has taken the place.
mtl_status mtli_buffer_create_in(mtl_heap *heap, mtl_buffer *memory,
                                 const mtl_buffer_desc *desc,
                                 size_t offset_bytes, mtl_buffer **out_buffer);
// heap.c: gives back the place of a buffer that ends, and its heap.
void mtli_heap_leave(const mtl_buffer *buffer);
// Returns the memory that all of a heap's resources lie in; borrowed.
mtl_buffer *mtli_heap_memory(const mtl_heap *heap);

// Copies a label; NULL stays NULL. Out of memory loses the label.
char *mtli_label_copy(const char *label);

// Finds the time limit of a queue whose desc says wanted_ns; 0 for none. Errors:
// MTL_INVALID_ARGUMENT, METTLE_KERNEL_SECONDS is no number of seconds above 0.
mtl_status mtli_time_limit(uint64_t wanted_ns, uint64_t *out_ns);
// Replaces *slot by a copy of label, under the device's lock.
void mtli_label_set(mtl_device *device, char **slot, const char *label);

// fork.c: has the child of a fork start afresh. Cheap to repeat.
void mtli_watch_forks(void);
// device.c: held around a fork.
void mtli_registry_lock(void);
void mtli_registry_unlock(void);

#endif
