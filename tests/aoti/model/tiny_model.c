// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiny_model.c: the least that passes for a model of AOTInductor's: what the
// loader asks for, one constant that is only told of, and one kernel,
// out[i] = BODY, a text; MORE is a statement at the end of a run, and OUTPUTS
// the number of results. With STRIDES, its input's are checked; with
// WEIGHT_BYTES, it takes that many in constants of 64 KiB.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "mettle/aoti.h"

#ifndef OUTPUTS
#define OUTPUTS 1
#endif

int32_t aoti_torch_mps_dream(void);  // an operator that does not exist

__attribute__((visibility("default"))) const char *mps_lib_0_source =
    "#include <metal_stdlib>\n"
    "kernel void generated_kernel(device float *out, constant float *in,\n"
    "                             uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = " BODY
    ";\n"
    "}\n";

#define MODEL(name) \
  __attribute__((visibility("default"))) int32_t AOTInductorModelContainer##name

MODEL(CreateWithDevice)(void **container, size_t count, const char *device,
                        const char *folder) {
  (void)count;
  (void)folder;
  *container = container;
  return strcmp(device, "mps");
}
MODEL(Delete)(void *container) {
  return container == NULL;
}
MODEL(GetNumInputs)(void *c, size_t *n) {
  (void)c;
  *n = 1;
  return 0;
}
MODEL(GetNumOutputs)(void *c, size_t *n) {
  (void)c;
  *n = OUTPUTS;
  return 0;
}
MODEL(GetNumConstants)(void *c, size_t *n) {
  (void)c;
  *n = 1;
  return 0;
}
MODEL(GetInputName)(void *c, size_t i, const char **name) {
  (void)c;
  *name = "x";
  return i != 0;
}
MODEL(GetOutputName)(void *c, size_t i, const char **name) {
  (void)c;
  *name = "y";
  return i >= OUTPUTS;
}
MODEL(GetConstantName)(void *c, size_t i, const char **name) {
  (void)c;
  *name = "constant_0";
  return i != 0;
}
MODEL(GetConstantOriginalFQN)(void *c, size_t i, const char **name) {
  (void)c;
  *name = "layer.weight";
  return i != 0;
}
MODEL(GetConstantDtype)(void *c, size_t i, int32_t *type) {
  (void)c;
  *type = aoti_torch_dtype_bfloat16();
  return i != 0;
}
MODEL(GetConstantDataSize)(void *c, size_t i, size_t *size) {
  (void)c;
  *size = 128;
  return i != 0;
}
#ifdef WEIGHT_BYTES
enum { CONSTANT_BYTES = 1 << 16 };

MODEL(GetConstantsBlobSize)(void *c, uint64_t *size) {
  (void)c;
  *size = WEIGHT_BYTES;
  return 0;
}
__attribute__((visibility("default"))) int32_t
AOTInductorModelUpdateConstantsFromBlob(void *c, const uint8_t *bytes) {
  (void)c;
  void *memory = NULL;
  aoti_torch_mps_malloc(&memory, WEIGHT_BYTES);
  for (size_t i = 0; i < WEIGHT_BYTES; i += CONSTANT_BYTES) {
    if (aoti_torch_mps_memcpy(memory, i, i, CONSTANT_BYTES, (uint8_t *)bytes)) {
      return 1;
    }
  }
  return (int32_t)aoti_torch_mps_free(memory);
}
#endif

static char complaint[128];

// As generated code does where it is asked to check inputs.
// Source: torch/_inductor/codegen/cpp_wrapper_cpu.py
static int check_strides(AtenTensorHandle in) {
#ifdef STRIDES
  static const int64_t wanted[] = {STRIDES};
  int64_t *strides;
  aoti_torch_get_strides(in, &strides);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    if (strides[i] != wanted[i]) {
      snprintf(complaint, sizeof complaint,
               "input_handles[0]: unmatched stride value at %zu, expected: "
               "%lld, but got: %lld\n",
               i, (long long)wanted[i], (long long)strides[i]);
      fprintf(stderr, "Error: %s\n", complaint);
      return 1;
    }
  }
#else
  (void)in;
#endif
  return 0;
}

__attribute__((visibility("default"))) int32_t
AOTInductorGetLastError(const char **text) {
  *text = complaint;
  return 0;
}

MODEL(Run)(void *c, AtenTensorHandle *in, size_t in_count,
           AtenTensorHandle *out, size_t out_count, void *stream, void *proxy) {
  (void)c;
  (void)in_count;
  (void)out_count;
  (void)stream;
  (void)proxy;
  if (check_strides(in[0])) return 1;
  int64_t *sizes, rank, count;
  int32_t dtype;
  AOTIMetalShaderLibraryHandle library = NULL;
  AOTIMetalKernelFunctionHandle function = NULL;
  aoti_torch_mps_create_shader_library(mps_lib_0_source, &library);
  aoti_torch_mps_get_kernel_function(library, "generated_kernel", &function);
  aoti_torch_get_sizes(in[0], &sizes);
  aoti_torch_get_dim(in[0], &rank);
  aoti_torch_get_numel(in[0], &count);
  aoti_torch_get_dtype(in[0], &dtype);
  if (dtype != aoti_torch_dtype_float32()) return 1;
  if (aoti_torch_empty_strided(rank, sizes, NULL, dtype, 13, 0, &out[0]))
    return 1;
  aoti_torch_mps_start_encoding(function);
  aoti_torch_mps_set_arg_tensor(function, 0, out[0]);
  aoti_torch_mps_set_arg_tensor(function, 1, in[0]);
  aoti_torch_mps_dispatch_single(function, (uint64_t)count);
  aoti_torch_mps_delete_shader_library(library);
  aoti_torch_delete_tensor_object(in[0]);
  in[0] = NULL;
  MORE;
  return 0;
}
