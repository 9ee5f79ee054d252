// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// client.h: shared by the tests that check from C: a device with three queues,
// kernels, encoders of one dispatch, and findings.
#ifndef CHECK_CLIENT_H
#define CHECK_CLIENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "mettle/mettle.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void put(device int *x [[buffer(0)]],\n"
    "                uint i [[thread_position_in_grid]]) { x[i] = i; }\n"
    "kernel void get(device const int *x [[buffer(0)]],\n"
    "                device int *y [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { y[i] = x[63 - i]; "
    "}\n"
    "kernel void pairs(device const int *x [[buffer(0)]],\n"
    "                  device int *y [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  y[i] = x[i] +\n"
    "         x[i ^ 1];\n"
    "}\n"
    "struct list { device int *items; };\n"
    "kernel void follow(constant list &l [[buffer(0)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  l.items[i] = i;\n"
    "}\n"
    "kernel void add(device atomic_int *x [[buffer(0)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  atomic_fetch_add_explicit(&x[i], 1, memory_order_relaxed);\n"
    "}\n"
    "kernel void put_bytes(device uchar *x [[buffer(0)]],\n"
    "                      uint i [[thread_position_in_grid]]) { x[i] = i; }\n"
    "kernel void get_bytes(device const uchar *x [[buffer(0)]],\n"
    "                      device int *y [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "  y[i] = x[i];\n"
    "}\n";

enum { THREADS = 64, BYTES = 4 * THREADS };

static mtl_device *device;
static mtl_queue *queues[3];
static mtl_library *library;

static inline void open_all_of(const char *name) {
  CHECK_OK(name ? mtl_device_by_name(name, &device)
                : mtl_device_default(&device));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(mtl_queue_create(device, NULL, &queues[i]));
  }
  CHECK_OK(mtl_library_create_from_source(device, source, strlen(source), NULL,
                                          &library));
}

static inline void open_all(void) {
  open_all_of(NULL);
}

static inline mtl_pipeline *pipeline_of(const char *name, uint32_t check) {
  mtl_function *function;
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_function_create(library, name, NULL, &function));
  CHECK_OK(mtl_pipeline_create(function, &(mtl_pipeline_desc){.check = check},
                               &pipeline));
  mtl_function_release(function);
  return pipeline;
}

static inline mtl_buffer *buffer_of(size_t bytes) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(
      device,
      &(mtl_buffer_desc){.length_bytes = bytes,
                         .hazard_tracking = MTL_HAZARD_UNTRACKED},
      &buffer));
  return buffer;
}

static inline mtl_command_buffer *commands_of(int queue) {
  mtl_command_buffer *commands;
  CHECK_OK(mtl_command_buffer_create(queues[queue], NULL, &commands));
  return commands;
}

static inline void dispatch(mtl_compute_encoder *encoder, const char *name,
                            mtl_buffer *first, mtl_buffer *second) {
  mtl_compute_encoder_set_pipeline(encoder,
                                   pipeline_of(name, MTL_CHECK_DEFAULT));
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  if (second) {
    mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  }
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){THREADS, 1, 1},
                                       (mtl_size){32, 1, 1});
}

static inline void encode(mtl_command_buffer *commands, const char *name,
                          mtl_buffer *first, mtl_buffer *second) {
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  dispatch(encoder, name, first, second);
  CHECK_OK(mtl_compute_encoder_end(encoder));
}

typedef struct expected {
  const char *kind;
  const char *first, *second;  // kernels
  bool is_found;
} expected;

static inline void look(void *context, const mtl_check_finding *finding) {
  expected *it = context;
  it->is_found |= strcmp(finding->kind, it->kind) == 0 &&
                  strcmp(finding->first.kernel, it->first) == 0 &&
                  strcmp(finding->second.kernel, it->second) == 0;
}

static inline bool is_found(const char *kind, const char *first,
                            const char *second) {
  expected it = {kind, first, second, false};
  CHECK_OK(mtl_check_report(look, &it));
  return it.is_found;
}

static inline uint64_t count_findings(void) {
  uint64_t findings = 0;
  mtl_check_counts(&findings, NULL, NULL, NULL);
  return findings;
}

static inline mtl_event *event_of(bool shared) {
  mtl_event *event;
  CHECK_OK(
      mtl_event_create(device, &(mtl_event_desc){.shared = shared}, &event));
  return event;
}

static inline void wait_for_clean(mtl_command_buffer *commands) {
  CHECK_OK(mtl_command_buffer_wait(commands));
}

#endif
