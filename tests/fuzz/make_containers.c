// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// make_containers.c FOLDER: writes code containers as today's compiler makes
// them, the seeds of fuzz_container: libraries, and pipelines of both tiers.
// The bitcode and machine code in them are cut short, as nothing that reads a
// container looks into them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"

#define MOST_BLOB_BYTES 256

static const char everything[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint scale [[function_constant(3)]];\n"
    "constant bool has_bias [[function_constant(\n"
    "    4)]];\n"
    "struct Part { device float *data; texture2d<float> image; uint count; };\n"
    "struct Parts { float4 first; array<texture2d<half>, 3> images; };\n"
    "[[visible]] float twice(float a) { return a * 2; }\n"
    "float unused(float a);\n"
    "kernel void k(device const float *x [[buffer(0)]],\n"
    "              constant Part &part [[buffer(1)]],\n"
    "              device float *bias [[buffer(2),\n"
    "                                   function_constant(has_bias)]],\n"
    "              texture2d<float, access::write> out [[texture(0)]],\n"
    "              sampler s [[sampler(0)]],\n"
    "              visible_function_table<float(float)> table [[buffer(5)]],\n"
    "              threadgroup float *shared [[threadgroup(0)]],\n"
    "              uint i [[thread_position_in_grid]],\n"
    "              uint group [[threadgroup_position_in_grid]]) {\n"
    "  shared[i & 31] = x[i] * scale + (has_bias ? bias[i] : 0.0f);\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  part.data[i] = table[0](shared[(i + 1) & 31]) +\n"
    "      part.image.sample(s, float2(i)).x;\n"
    "  out.write(float4(group), uint2(i, 0));\n"
    "}\n"
    "kernel void few(device uint *x [[buffer(0)]]) { x[0] = 1; }\n"
    "vertex float4 v() { return float4(1); }\n";

static const char plain[] =
    "kernel void k(device uint *x [[buffer(0)]],\n"
    "              uint i [[thread_position_in_grid]]) { x[i] += i; }\n";

static void fail(const char *what) {
  fprintf(stderr, "make_containers: %s\n", what);
  exit(EXIT_FAILURE);
}

// Writes a container anew with less in its blobs.
static void write_seed(const char *folder, const char *name,
                       const mtli_compiled *compiled) {
  mtli_code code = *compiled->code;
  mtli_blob *blobs = calloc(code.blob_count + 1, sizeof *blobs);
  void *bytes;
  size_t size;
  char path[4096];
  if (!blobs) {
    fail("no memory");
  }
  for (size_t i = 0; i < code.blob_count; ++i) {
    blobs[i] = code.blobs[i];
    if (blobs[i].size_bytes > MOST_BLOB_BYTES) {
      blobs[i].size_bytes = MOST_BLOB_BYTES;
    }
  }
  code.blobs = blobs;
  if (mtli_code_write(&code, &bytes, &size) != MTL_OK) {
    fail(mtl_last_error());
  }
  snprintf(path, sizeof path, "%s/%s.mtlcode", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    fail(path);
  }
  free(bytes);
  free(blobs);
}

static void write_pipeline(const char *folder, const char *name,
                           const mtli_compiled *library, const char *kernel,
                           mtli_tier tier) {
  const mtli_pipeline_request request = {
      .library_bytes = library->bytes,
      .library_size_bytes = library->size_bytes,
      .kernel_name = kernel,
      .tier = tier,
      .call_depth = 1,
      .group_class = {.row = 32}};
  mtli_compiled pipeline;
  if (mtli_compile_pipeline(&request, &pipeline) != MTL_OK) {
    fail(mtl_last_error());
  }
  write_seed(folder, name, &pipeline);
  mtli_compiled_clear(&pipeline);
}

int main(int count, char **arguments) {
  mtli_compiled library;
  if (count != 2) {
    fail("usage: make_containers FOLDER");
  }
  const char *folder = arguments[1];
  if (mtli_compile_library(everything, sizeof everything - 1, NULL, &library) !=
      MTL_OK) {
    fail(mtl_last_error());
  }
  write_seed(folder, "library", &library);
  write_pipeline(folder, "pipeline_tier_0", &library, "few", MTLI_TIER_0);
  mtli_compiled_clear(&library);
  const mtl_compile_options options = {.debug = true,
                                       .math_mode = MTL_MATH_SAFE};
  if (mtli_compile_library(plain, sizeof plain - 1, &options, &library) !=
      MTL_OK) {
    fail(mtl_last_error());
  }
  write_seed(folder, "library_plain", &library);
  write_pipeline(folder, "pipeline_tier_1", &library, "k", MTLI_TIER_1);
  mtli_compiled_clear(&library);
  return EXIT_SUCCESS;
}
