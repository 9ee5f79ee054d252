// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrix_products.c: products of square matrices by simdgroup_matrix, as one
// writes them for Apple's GPUs, beside OpenBLAS on the same cores: of floats,
// and of halves and bfloats summed up in float, for which OpenBLAS gets the
// same values as floats. The time is that of one run, commit and wait included.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

// Four simdgroups make 64 x 64 of c, 32 x 32 each, from panels of 16 that they
// bring into threadgroup memory together.
static const char staged_msl[] =
    "#include <metal_stdlib>\n"
    "#include <metal_simdgroup_matrix>\n"
    "using namespace metal;\n"
    "kernel void k(device const float *a [[buffer(0)]],\n"
    "              device const float *b [[buffer(1)]],\n"
    "              device float *c [[buffer(2)]],\n"
    "              constant uint &n [[buffer(3)]],\n"
    "              uint2 block [[threadgroup_position_in_grid]],\n"
    "              uint t [[thread_index_in_threadgroup]],\n"
    "              uint s [[simdgroup_index_in_threadgroup]]) {\n"
    "  threadgroup float rows[64 * 16], columns[16 * 64];\n"
    "  simdgroup_float8x8 sums[4][4];\n"
    "  for (int i = 0; i < 4; i++)\n"
    "    for (int j = 0; j < 4; j++)\n"
    "      sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
    "  uint first_row = block.y * 64, first_column = block.x * 64;\n"
    "  for (uint k = 0; k < n; k += 16) {\n"
    "    for (uint i = t; i < 64 * 4; i += 128)\n"
    "      *(threadgroup float4 *)(rows + i * 4) = *(device const float4 *)(\n"
    "          a + (first_row + i / 4) * n + k + i % 4 * 4);\n"
    "    for (uint i = t; i < 16 * 16; i += 128)\n"
    "      *(threadgroup float4 *)(columns + i * 4) =\n"
    "          *(device const float4 *)(\n"
    "              b + (k + i / 16) * n + first_column + i % 16 * 4);\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint kk = 0; kk < 16; kk += 8) {\n"
    "      simdgroup_float8x8 left[4], right[4];\n"
    "      for (uint i = 0; i < 4; i++)\n"
    "        simdgroup_load(left[i],\n"
    "                       rows + (s / 2 * 32 + i * 8) * 16 + kk, 16);\n"
    "      for (uint j = 0; j < 4; j++)\n"
    "        simdgroup_load(right[j],\n"
    "                       columns + kk * 64 + s % 2 * 32 + j * 8, 64);\n"
    "      for (int i = 0; i < 4; i++)\n"
    "        for (int j = 0; j < 4; j++)\n"
    "          simdgroup_multiply_accumulate(sums[i][j], left[i], right[j],\n"
    "                                        sums[i][j]);\n"
    "    }\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "  device float *to = c + (first_row + s / 2 * 32) * n + first_column +\n"
    "                     s % 2 * 32;\n"
    "  for (int i = 0; i < 4; i++)\n"
    "    for (int j = 0; j < 4; j++)\n"
    "      simdgroup_store(sums[i][j], to + i * 8 * n + j * 8, n);\n"
    "}\n";

// Each simdgroup makes 32 x 32 of c straight from device memory; ELEMENT is the
// type of a and b.
static const char direct_msl[] =
    "#include <metal_stdlib>\n"
    "#include <metal_simdgroup_matrix>\n"
    "using namespace metal;\n"
    "kernel void k(device const ELEMENT *a [[buffer(0)]],\n"
    "              device const ELEMENT *b [[buffer(1)]],\n"
    "              device float *c [[buffer(2)]],\n"
    "              constant uint &n [[buffer(3)]],\n"
    "              uint2 block [[threadgroup_position_in_grid]],\n"
    "              uint s [[simdgroup_index_in_threadgroup]]) {\n"
    "  a += (block.y * 64 + s / 2 * 32) * n;\n"
    "  b += block.x * 64 + s % 2 * 32;\n"
    "  c += (block.y * 64 + s / 2 * 32) * n + block.x * 64 + s % 2 * 32;\n"
    "  simdgroup_float8x8 sums[4][4];\n"
    "  simdgroup_matrix<ELEMENT, 8, 8> left[4], right[4];\n"
    "  for (int i = 0; i < 4; i++)\n"
    "    for (int j = 0; j < 4; j++) sums[i][j] = simdgroup_float8x8(0);\n"
    "  for (uint k = 0; k < n; k += 8) {\n"
    "    for (uint i = 0; i < 4; i++)\n"
    "      simdgroup_load(left[i], a + i * 8 * n + k, n);\n"
    "    for (uint j = 0; j < 4; j++)\n"
    "      simdgroup_load(right[j], b + k * n + j * 8, n);\n"
    "    for (int i = 0; i < 4; i++)\n"
    "      for (int j = 0; j < 4; j++)\n"
    "        simdgroup_multiply_accumulate(sums[i][j], left[i], right[j],\n"
    "                                      sums[i][j]);\n"
    "  }\n"
    "  for (int i = 0; i < 4; i++)\n"
    "    for (int j = 0; j < 4; j++)\n"
    "      simdgroup_store(sums[i][j], c + i * 8 * n + j * 8, n);\n"
    "}\n";

typedef struct product_case {
  const char *msl;
  uint32_t side;        // a multiple of 64
  const char *element;  // float, half or bfloat
} product_case;

static const product_case cases[] = {
    {staged_msl, 512, "float"},  {direct_msl, 512, "float"},
    {staged_msl, 1024, "float"}, {direct_msl, 1024, "float"},
    {direct_msl, 1024, "half"},  {direct_msl, 1024, "bfloat"},
};
#define CASE_COUNT (sizeof cases / sizeof cases[0])

typedef struct product_state {
  mtl_pipeline *pipeline;
  mtl_buffer *buffers[3];  // a, b, c
  float *floats[2];        // a and b for OpenBLAS
  float *plain;            // c of OpenBLAS
} product_state;
static product_state states[CASE_COUNT];

// Numbers from -1 to 1 that look random.
static void fill(float *data, uint32_t count, uint32_t seed) {
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t mixed = (i + seed) * 2654435761u;
    data[i] = (float)(mixed >> 8) * (2.0f / (1 << 24)) - 1;
  }
}

// Rounds what it can to elements of the case's type, and both hold the same.
static void give_elements(const product_case *it, float *floats,
                          void *elements) {
  const uint32_t count = it->side * it->side;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(it->element, "half") == 0) {
      const _Float16 half = (_Float16)floats[i];
      ((_Float16 *)elements)[i] = half;
      floats[i] = (float)half;
    } else if (strcmp(it->element, "bfloat") == 0) {
      uint32_t bits = 0;
      memcpy(&bits, &floats[i], sizeof bits);
      bits &= 0xffff0000;
      ((uint16_t *)elements)[i] = (uint16_t)(bits >> 16);
      memcpy(&floats[i], &bits, sizeof bits);
    } else {
      ((float *)elements)[i] = floats[i];
    }
  }
}

static product_state *prepare(const product_case *it) {
  product_state *state = &states[it - cases];
  if (state->pipeline != NULL) {
    return state;
  }
  char msl[4096];
  snprintf(msl, sizeof msl, "#define ELEMENT %s\n%s", it->element, it->msl);
  state->pipeline = bench_pipeline(msl, "k");
  const uint32_t count = it->side * it->side;
  const bool is_float = strcmp(it->element, "float") == 0;
  for (uint32_t i = 0; i < 3; i++) {
    const size_t bytes = i == 2 || is_float ? sizeof(float) : sizeof(uint16_t);
    state->buffers[i] = bench_buffer(count * bytes);
  }
  for (uint32_t i = 0; i < 2; i++) {
    state->floats[i] = bench_allocate(count * sizeof(float));
    fill(state->floats[i], count, i * 77777);
    give_elements(it, state->floats[i], mtl_buffer_contents(state->buffers[i]));
  }
  return state;
}

static double gigaflops(const product_case *it, uint64_t duration_ns) {
  return 2.0 * pow(it->side, 3) / (double)duration_ns;
}

static double measure_mettle(const void *context) {
  const product_case *it = context;
  product_state *state = prepare(it);
  const uint32_t groups = it->side / 64;
  const uint64_t start = now_ns();
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, state->pipeline);
  for (uint32_t i = 0; i < 3; i++) {
    mtl_compute_encoder_set_buffer(encoder, state->buffers[i], 0, i);
  }
  mtl_compute_encoder_set_bytes(encoder, &it->side, sizeof it->side, 3);
  mtl_compute_encoder_dispatch_threadgroups(
      encoder, (mtl_size){groups, groups, 1}, (mtl_size){128, 1, 1});
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const double result = gigaflops(it, now_ns() - start);
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return result;
}

// --- OpenBLAS, found when this runs ------------------------------------------

enum { ROW_MAJOR = 101, PLAIN = 111 };  // CBLAS_ORDER, CBLAS_TRANSPOSE
typedef void sgemm_function(int order, int transpose_a, int transpose_b, int m,
                            int n, int k, float alpha, const float *a, int lda,
                            const float *b, int ldb, float beta, float *c,
                            int ldc);

// OpenBLAS knows CPUs by their model numbers, and takes one that is newer than
// itself for a Pentium 4: a quarter of what it can do.
static void choose_openblas_core(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vl")) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  } else if (__builtin_cpu_supports("avx2")) {
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  }
#endif
}

static sgemm_function *find_sgemm(void) {
  static sgemm_function *found;
  static bool is_searched;
  if (!is_searched) {
    is_searched = true;
    choose_openblas_core();
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "cblas_sgemm") : NULL;
    memcpy(&found, &symbol, sizeof found);
  }
  return found;
}

// Both sums have an error of at most side * 2^-24 * the sum of the products'
// sizes, which is below side.
static void check(const void *context) {
  const product_case *it = context;
  const product_state *state = &states[it - cases];
  if (state->plain == NULL) {
    return;
  }
  const float *ours = mtl_buffer_contents(state->buffers[2]);
  const double limit = 2.0 * it->side * it->side / (1 << 24);
  for (uint32_t i = 0; i < it->side * it->side; i++) {
    if (!(fabs((double)ours[i] - state->plain[i]) <= limit)) {
      fprintf(stderr,
              "mettle-bench: product of %u: element %u is %.9g, %.9g by "
              "OpenBLAS\n",
              it->side, i, ours[i], state->plain[i]);
      exit(1);
    }
  }
}

static double measure_openblas(const void *context) {
  const product_case *it = context;
  product_state *state = prepare(it);
  sgemm_function *sgemm = find_sgemm();
  if (sgemm == NULL) {
    return NAN;
  }
  if (state->plain == NULL) {
    state->plain = bench_allocate(it->side * it->side * sizeof(float));
  }
  const int n = (int)it->side;
  const uint64_t start = now_ns();
  sgemm(ROW_MAJOR, PLAIN, PLAIN, n, n, n, 1, state->floats[0], n,
        state->floats[1], n, 0, state->plain, n);
  const uint64_t duration_ns = now_ns() - start;
  bench_let_threads_sleep();
  return gigaflops(it, duration_ns);
}

static void release(const void *context) {
  product_state *state = &states[(const product_case *)context - cases];
  for (uint32_t i = 0; i < 3 && state->pipeline != NULL; i++) {
    mtl_buffer_release(state->buffers[i]);
  }
  mtl_pipeline_release(state->pipeline);
  free(state->floats[0]);
  free(state->floats[1]);
  free(state->plain);
  *state = (product_state){0};
}

#define ROW(number, title)                    \
  {.name = title,                             \
   .unit = "GF/s",                            \
   .sample_count = 21,                        \
   .mettle = measure_mettle,                  \
   .peers = {{"openblas", measure_openblas}}, \
   .context = &cases[number],                 \
   .check = check,                            \
   .release = release}
static const benchmark rows[CASE_COUNT] = {
    ROW(0, "simdgroup_matrix product of 512, staged"),
    ROW(1, "simdgroup_matrix product of 512, direct"),
    ROW(2, "simdgroup_matrix product of 1024, staged"),
    ROW(3, "simdgroup_matrix product of 1024, direct"),
    ROW(4, "simdgroup_matrix product of 1024, half"),
    ROW(5, "simdgroup_matrix product of 1024, bfloat"),
};
const bench_topic matrix_product_topic = {
    .name = "matrix products", .rows = rows, .row_count = CASE_COUNT};
