// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_bindings.c: any bytes as calls of an encoder: what is wrongly bound is
// refused with a text, and what is accepted runs. The kernel touches no more
// than what the checks promise to be there, what its references refer to, and
// 16 bytes of threadgroup memory. Those need not be bound; a dispatch without
// them ends as a fault. Needs libmettle and a compiler.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/mettle.h"

#define MAX_CALLS 40
// Most of the time would go into running many threadgroups that are all alike.
#define MAX_GRID_SIDE 10

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Params { float4 scale; uint count; };\n"
    "kernel void k(constant Params &params [[buffer(0)]],\n"
    "              device float4 &sum [[buffer(1)]],\n"
    "              device uint &last [[buffer(7)]],\n"
    "              threadgroup uint *shared [[threadgroup(0)]],\n"
    "              uint i [[thread_index_in_threadgroup]]) {\n"
    "  if (i == 0) { shared[0] = params.count; }\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (i == 0) { sum = params.scale * 2.0f; last = shared[0]; }\n"
    "}\n";

static mtl_device *device;
static mtl_queue *queue;
static mtl_pipeline *pipeline;
static mtl_buffer *buffers[6];
static const size_t buffer_bytes[6] = {1, 4, 16, 47, 64, 8192};

static void check(bool condition) {
  if (!condition) {
    abort();
  }
}

static void must(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    abort();
  }
}

static void prepare(void) {
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  must(mtl_device_by_name("cpu", &device));
  must(mtl_queue_create(device, NULL, &queue));
  must(mtl_library_create_from_source(device, source, sizeof source - 1, NULL,
                                      &library));
  must(mtl_function_create(library, "k", NULL, &function));
  must(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_function_release(function);
  mtl_library_release(library);
  for (size_t i = 0; i < 6; i++) {
    // The host cannot touch a private buffer, the others are guarded, so that
    // an access past the end is a fault.
    const mtl_buffer_desc desc = {
        .length_bytes = buffer_bytes[i],
        .storage_mode = i == 4 ? MTL_STORAGE_PRIVATE : MTL_STORAGE_SHARED,
        .guarded = i != 4};
    must(mtl_buffer_create(device, &desc, &buffers[i]));
  }
}

// The input, read from its front; zeros behind its end.
typedef struct reader {
  const uint8_t *next;
  size_t left;
} reader;

static uint8_t read_byte(reader *input) {
  if (input->left == 0) {
    return 0;
  }
  input->left--;
  return *input->next++;
}

// Half of all sizes are small, the rest are at the edges.
static uint64_t read_size(reader *input) {
  static const uint64_t edges[] = {4096,       4097,       32768, 32784,
                                   UINT32_MAX, 1ull << 32, 8176,  SIZE_MAX};
  const uint8_t byte = read_byte(input);
  return byte < 248 ? (uint64_t)(byte / 4) * (byte % 4 + 1) : edges[byte - 248];
}

static mtl_size read_extent(reader *input, bool is_grid) {
  uint32_t side[3];
  for (int i = 0; i < 3; i++) {
    side[i] = (uint32_t)read_size(input);
    if (is_grid && side[i] > MAX_GRID_SIDE) {
      side[i] = i == 0 ? MAX_GRID_SIDE : 1;
    }
  }
  return (mtl_size){side[0], side[1], side[2]};
}

// The threadgroup memory that an encoder was told of.
typedef struct threadgroup_state {
  bool is_bound;   // at index 0, where the kernel reads and writes
  bool may_fault;  // something was dispatched while it was not
} threadgroup_state;

static void set_threadgroup_memory(mtl_compute_encoder *encoder, reader *input,
                                   threadgroup_state *state) {
  const uint64_t length_bytes = read_size(input);
  const uint32_t index = read_byte(input) % 34;
  mtl_compute_encoder_set_threadgroup_memory(encoder, length_bytes, index);
  if (index == 0) {
    state->is_bound = length_bytes > 0;
  }
}

static void call(mtl_compute_encoder *encoder, reader *input,
                 threadgroup_state *state) {
  static const uint8_t bytes[8192];
  mtl_buffer *buffer = buffers[read_byte(input) % 6];
  switch (read_byte(input) % 8) {
    case 0:
    case 1:
      mtl_compute_encoder_set_buffer(encoder, buffer, read_size(input),
                                     read_byte(input) % 34);
      break;
    case 2:
      mtl_compute_encoder_set_bytes(encoder, bytes, read_size(input),
                                    read_byte(input) % 34);
      break;
    case 3: set_threadgroup_memory(encoder, input, state); break;
    case 4: mtl_compute_encoder_set_pipeline(encoder, pipeline); break;
    case 5: {
      const mtl_size grid = read_extent(input, true);
      state->may_fault |= !state->is_bound;
      mtl_compute_encoder_dispatch_threads(encoder, grid,
                                           read_extent(input, false));
      break;
    }
    case 6: {
      const mtl_size groups = read_extent(input, true);
      const mtl_size group = read_extent(input, false);
      state->may_fault |= !state->is_bound;
      // Whole groups of up to 1024 threads: keep their number down.
      mtl_compute_encoder_dispatch_threadgroups(
          encoder, (mtl_size){groups.x, groups.y % 3, groups.z % 3}, group);
      break;
    }
    default:
      mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
      mtl_compute_encoder_use_buffer(encoder, buffer, MTL_USAGE_READ);
      break;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (device == NULL) {
    prepare();
  }
  reader input = {bytes, size};
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  must(mtl_command_buffer_create(queue, NULL, &commands));
  must(mtl_compute_encoder_create(
      commands, (mtl_dispatch_type)(read_byte(&input) % 2), &encoder));
  threadgroup_state state = {0};
  for (int i = 0; i < MAX_CALLS && input.left > 0; i++) {
    call(encoder, &input, &state);
  }
  const mtl_status ended = mtl_compute_encoder_end(encoder);
  mtl_compute_encoder_release(encoder);
  const mtl_status committed = mtl_command_buffer_commit(commands);
  check(committed == ended);
  if (committed == MTL_OK) {
    const mtl_status ran = mtl_command_buffer_wait(commands);
    if (ran != MTL_KERNEL_FAULT || !state.may_fault) {
      must(ran);
    }
  } else {
    check(committed == MTL_INVALID_ARGUMENT);
    check(mtl_last_error()[0] != '\0');
  }
  mtl_command_buffer_release(commands);
  return 0;
}
