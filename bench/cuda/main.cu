// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main.cu: times the benchmark's kernels on the device cuda beside their twins
// by nvcc (kernels.cu, products.cu), on the same memory of the same GPU: medians
// of command buffers of many dispatches and of CUDA graphs of as many launches. Of each
// the first run is compared, element by element.
//
//   compare RIVALS PRODUCTS.metal [PATTERN]
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define HAS_CUBLAS
#endif
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <mettle/mettle.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../kernels/kernel.h"
#include "twins.h"

namespace {

constexpr int ROUNDS = 9, WARM = 4, LEAST_LAUNCHES = 20, MOST_LAUNCHES = 400;
constexpr double ROUND_MS = 20;

[[noreturn]] void fail(const char *what, const char *why) {
  fprintf(stderr, "compare: %s: %s\n", what, why);
  exit(1);
}
#define MUST(call)                     \
  do {                                 \
    if ((call) != MTL_OK) {            \
      fail(#call, mtl_last_error());   \
    }                                  \
  } while (0)
void must(cudaError_t result, const char *what) {
  if (result != cudaSuccess) {
    fail(what, cudaGetErrorString(result));
  }
}

mtl_device *device;
mtl_queue *queue;
cudaStream_t stream;

// What is to be run, in both forms.
struct work {
  std::string name, msl, function;
  const void *twin;
  std::vector<kernel_buffer> buffers;
  uint32_t grid[3], group[3];
  uint32_t output;
  int element;  // bytes of an input's elements: 2 for half, -2 for bfloat
  bool is_integer, has_value;  // the last argument is inline
  uint32_t value;
  double tolerance, may_differ, flops;
};

uint32_t mixed(uint64_t value) {
  value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return (uint32_t)(value >> 32);
}

std::vector<uint32_t> contents(const work &w, size_t number) {
  const kernel_buffer &b = w.buffers[number];
  std::vector<uint32_t> words(b.length_bytes / 4);
  for (size_t i = 0; i < words.size() && b.fill != FILL_ZERO; i++) {
    const uint32_t bits = mixed(i + (number << 40));
    const float unit = (float)(bits >> 8) * 0x1p-24f;
    const float value = b.fill == FILL_SIGNED ? 2 * unit - 1 : unit + 0.5f;
    if (b.fill == FILL_BITS) {
      words[i] = bits;
    } else if (w.element == 4 || number == w.output) {
      memcpy(&words[i], &value, 4);
    } else {
      // Two numbers of 1/2 to 1 and a sign, exact in both formats.
      const uint32_t one = w.element == 2 ? 0x3800 : 0x3f00;
      const uint32_t low = w.element == 2 ? 0x83c0 : 0x8078;
      words[i] = (one | (bits & low)) | (one | (bits >> 16 & low)) << 16;
    }
  }
  return words;
}

// The buffers of one side, in the GPU's own memory.
struct side {
  mtl_buffer *buffers[KERNEL_BUFFERS] = {};
  void *addresses[KERNEL_BUFFERS] = {};

  explicit side(const work &w) {
    for (size_t i = 0; i < w.buffers.size(); i++) {
      mtl_buffer_desc desc = {};
      desc.length_bytes = w.buffers[i].length_bytes;
      desc.storage_mode = MTL_STORAGE_PRIVATE;
      MUST(mtl_buffer_create(device, &desc, &buffers[i]));
      addresses[i] = (void *)mtl_buffer_gpu_address(buffers[i]);
      const std::vector<uint32_t> words = contents(w, i);
      must(cudaMemcpy(addresses[i], words.data(), words.size() * 4,
                      cudaMemcpyHostToDevice),
           "a copy");
    }
  }
  ~side() {
    for (mtl_buffer *buffer : buffers) {
      mtl_buffer_release(buffer);
    }
  }
  std::vector<uint32_t> result(const work &w) const {
    std::vector<uint32_t> words(w.buffers[w.output].length_bytes / 4);
    must(cudaMemcpy(words.data(), addresses[w.output], words.size() * 4,
                    cudaMemcpyDeviceToHost),
         "a copy");
    return words;
  }
};

mtl_pipeline *pipeline_of(const work &w) {
  mtl_library *library;
  mtl_function *function;
  mtl_pipeline *pipeline;
  MUST(mtl_library_create_from_source(device, w.msl.c_str(), w.msl.size(),
                                      nullptr, &library));
  MUST(mtl_function_create(library, w.function.c_str(), nullptr, &function));
  MUST(mtl_pipeline_create(function, nullptr, &pipeline));
  mtl_function_release(function);
  mtl_library_release(library);
  return pipeline;
}

// Milliseconds of the GPU for one of count dispatches.
double run_mettle(const work &w, const side &s, mtl_pipeline *pipeline,
                  int count) {
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  MUST(mtl_command_buffer_create(queue, nullptr, &commands));
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < w.buffers.size(); i++) {
    mtl_compute_encoder_set_buffer(encoder, s.buffers[i], 0, i);
  }
  if (w.has_value) {
    mtl_compute_encoder_set_bytes(encoder, &w.value, 4,
                                  (uint32_t)w.buffers.size());
  }
  const mtl_size grid = {w.grid[0], w.grid[1], w.grid[2]};
  const mtl_size group = {w.group[0], w.group[1], w.group[2]};
  for (int i = 0; i < count; i++) {
    mtl_compute_encoder_dispatch_threads(encoder, grid, group);
  }
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const mtl_command_buffer_times t = mtl_command_buffer_get_times(commands);
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return (double)(t.device_end_ns - t.device_start_ns) / 1e6 / count;
}

void launch_twin(const work &w, side &s) {
  void *arguments[KERNEL_BUFFERS + 1];
  for (size_t i = 0; i < w.buffers.size(); i++) {
    arguments[i] = &s.addresses[i];
  }
  uint32_t value = w.value;
  arguments[w.buffers.size()] = &value;
  must(cudaLaunchKernel(w.twin,
                        dim3(w.grid[0] / w.group[0], w.grid[1] / w.group[1],
                             w.grid[2] / w.group[2]),
                        dim3(w.group[0], w.group[1], w.group[2]), arguments, 0,
                        stream),
       "a launch");
}

cudaGraphExec_t graph_of(const work &w, side &s, int count) {
  cudaGraph_t graph;
  cudaGraphExec_t result;
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int i = 0; i < count; i++) {
    launch_twin(w, s);
  }
  must(cudaStreamEndCapture(stream, &graph), "capture");
  must(cudaGraphInstantiate(&result, graph, 0), "a graph");
  cudaGraphDestroy(graph);
  return result;
}

template <typename F>
double timed(int count, F run) {
  static cudaEvent_t start, end;
  if (!start) {
    must(cudaEventCreate(&start), "an event");
    must(cudaEventCreate(&end), "an event");
  }
  must(cudaEventRecord(start, stream), "an event");
  run();
  must(cudaEventRecord(end, stream), "an event");
  must(cudaEventSynchronize(end), "waiting");
  float ms;
  must(cudaEventElapsedTime(&ms, start, end), "a time");
  return ms / count;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double number(const work &w, uint32_t word) {
  float value;
  memcpy(&value, &word, 4);
  return w.is_integer ? (double)word : value;
}

// How many elements of the results differ by more than they may.
size_t compare(const work &w, const std::vector<uint32_t> &ours,
               const std::vector<uint32_t> &theirs) {
  size_t wrong = 0;
  for (size_t i = 0; i < ours.size(); i++) {
    const double a = number(w, ours[i]), b = number(w, theirs[i]);
    wrong += !(std::fabs(a - b) <=
               2 * w.tolerance * (1 + std::max(std::fabs(a), std::fabs(b))));
  }
  return wrong > w.may_differ * ours.size() ? wrong : 0;
}

// How many times faster than the twin.
double measure(const work &w) {
  side ours(w), theirs(w);
  mtl_pipeline *pipeline = pipeline_of(w);
  run_mettle(w, ours, pipeline, 1);
  launch_twin(w, theirs);
  must(cudaStreamSynchronize(stream), w.name.c_str());
  const size_t wrong = compare(w, ours.result(w), theirs.result(w));
  const double one = timed(1, [&] { launch_twin(w, theirs); });
  const int count =
      std::clamp((int)(ROUND_MS / one), LEAST_LAUNCHES, MOST_LAUNCHES);
  cudaGraphExec_t graph = graph_of(w, theirs, count);
  std::vector<double> mettle, twin;
  for (int i = 0; i < WARM + ROUNDS; i++) {
    const double a = run_mettle(w, ours, pipeline, count);
    const double b = timed(count, [&] { cudaGraphLaunch(graph, stream); });
    if (i >= WARM) {
      mettle.push_back(a);
      twin.push_back(b);
    }
  }
  cudaGraphExecDestroy(graph);
  mtl_pipeline_release(pipeline);
  const double a = median(mettle), b = median(twin);
  printf("%-40s %9.4f %9.4f %6.2f", w.name.c_str(), b, a, b / a);
  if (w.flops) {
    printf("  %.1f TFLOP/s", w.flops / a / 1e9);
  }
  if (wrong) {
    printf("  %zu elements differ", wrong);
  }
  printf("\n");
  fflush(stdout);
  return b / a;
}

// --- the kernels -------------------------------------------------------------

const char head[] = "#include <metal_stdlib>\nusing namespace metal;\n";

work own(const char *name, const char *msl, std::vector<kernel_buffer> buffers,
         uint32_t count, uint32_t output) {
  return {name, std::string(head) + msl, "k", nullptr, buffers, {count, 1, 1},
          {256, 1, 1}, output, 4, false, false, 0, 1e-5, 0, 0};
}

std::vector<work> own_works() {
  const uint32_t many = 1 << 24, few = 1 << 16, some = 1 << 22;
  std::vector<work> all;
  all.push_back(own("saxpy of 64 K, factor by set_bytes",
                    "kernel void k(device const float *x [[buffer(0)]], device "
                    "float *y [[buffer(1)]], constant float &a [[buffer(2)]], "
                    "uint i [[thread_position_in_grid]]) {"
                    "  y[i] = a * x[i] + y[i]; }",
                    {{few * 4, FILL_SIGNED}, {few * 4, FILL_SIGNED}}, few, 1));
  all.back().has_value = true;
  all.back().value = 0x3e800000;  // 0.25f
  all.push_back(own("silu of 16 M",
                    "kernel void k(device const float *x [[buffer(0)]], device "
                    "float *y [[buffer(1)]], uint i "
                    "[[thread_position_in_grid]]) {"
                    "  y[i] = x[i] / (1.0f + exp(-x[i])); }",
                    {{many * 4, FILL_SIGNED}, {many * 4, FILL_ZERO}}, many, 1));
  all.push_back(own("float atomics of 4 M to 4096",
                    "kernel void k(device const float *x [[buffer(0)]], device "
                    "atomic_float *y [[buffer(1)]], uint i "
                    "[[thread_position_in_grid]]) {"
                    "  atomic_fetch_add_explicit(&y[i & 4095], x[i], "
                    "memory_order_relaxed); }",
                    {{some * 4, FILL_SIGNED}, {4096 * 4, FILL_ZERO}}, some, 1));
  all.back().tolerance = 1e-3;
  return all;
}

std::vector<work> bench_works(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fail(path, dlerror());
  }
  auto *list = reinterpret_cast<kernel_case_list *>(
      dlsym(library, "mettle_bench_kernel_cases"));
  std::vector<work> all = own_works();
  for (const kernel_case *const *c = list(); *c; c++) {
    work w = {(*c)->name, std::string(head) + (*c)->msl, "k"};
    for (const kernel_buffer &b : (*c)->buffers) {
      if (b.length_bytes) {
        w.buffers.push_back(b);
      }
    }
    memcpy(w.grid, (*c)->grid, sizeof w.grid);
    memcpy(w.group, (*c)->group, sizeof w.group);
    w.output = (*c)->output;
    w.element = 4;
    w.is_integer = (*c)->is_integer;
    w.tolerance = (*c)->tolerance;
    w.may_differ = (*c)->may_differ;
    all.push_back(w);
    if (w.name == "tiled product of 512 x 512") {
      w.name = "tiled product of 2048 x 2048";
      w.grid[0] = w.grid[1] = 2048;
      for (kernel_buffer &b : w.buffers) {
        b.length_bytes = 2048 * 2048 * 4;
      }
      w.tolerance = 1e-3;
      all.push_back(w);
    }
  }
  return all;
}

void compare_kernels(const char *rivals, const char *pattern) {
  std::vector<work> all = bench_works(rivals);
  double logs = 0;
  int count = 0;
  for (const twin *t = kernel_twins; t->name; t++) {
    for (work &w : all) {
      if (w.name == t->name && fnmatch(pattern, t->name, 0) == 0) {
        w.twin = t->kernel;
        logs += std::log(measure(w));
        count++;
      }
    }
  }
  printf("geometric mean over %d: %.3f\n", count, std::exp(logs / count));
}

// --- products ----------------------------------------------------------------

std::string text_of(const char *path) {
  std::string text;
  FILE *file = fopen(path, "r");
  if (!file) {
    fail(path, "cannot be read");
  }
  for (int c; (c = fgetc(file)) != EOF;) {
    text += (char)c;
  }
  fclose(file);
  return text;
}

work product_of(const char *msl, const twin &t, uint32_t n) {
  const bool is_bfloat = strstr(t.name, "bfloat"),
             is_half = strstr(t.name, "half");
  const int element = is_bfloat ? -2 : is_half ? 2 : 4;
  const size_t bytes = (size_t)n * n * std::abs(element);
  return {std::string(t.name) + " " + std::to_string(n), text_of(msl), t.name,
          t.kernel,
          {{bytes, FILL_SIGNED}, {bytes, FILL_SIGNED},
           {(size_t)n * n * 4, FILL_ZERO}},
          {n / 64 * 128, n / 64, 1}, {128, 1, 1}, 2, element, false, true, n,
          2e-2, 0, 2.0 * n * n * n};
}

#ifdef HAS_CUBLAS
void time_cublas(const work &w, const char *name, cudaDataType_t type,
                 cublasComputeType_t how) {
  static cublasHandle_t handle;
  if (!handle) {
    cublasCreate(&handle);
    cublasSetStream(handle, stream);
  }
  side s(w);
  const int n = (int)w.value;
  const float one = 1, zero = 0;
  std::vector<double> times;
  for (int i = 0; i < WARM + ROUNDS; i++) {
    const double ms = timed(MOST_LAUNCHES, [&] {
      for (int l = 0; l < MOST_LAUNCHES; l++) {
        cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one,
                     s.addresses[1], type, n, s.addresses[0], type, n, &zero,
                     s.addresses[2], CUDA_R_32F, n, how, CUBLAS_GEMM_DEFAULT);
      }
    });
    if (i >= WARM) {
      times.push_back(ms);
    }
  }
  printf("%-40s %9.4f            %.1f TFLOP/s\n", name, median(times),
         w.flops / median(times) / 1e9);
}
#endif

void compare_products(const char *msl, const char *pattern) {
  for (const twin *t = product_twins; t->name; t++) {
    for (uint32_t n : {512u, 2048u}) {
      if (fnmatch(pattern, t->name, 0) == 0) {
        measure(product_of(msl, *t, n));
      }
    }
  }
#ifdef HAS_CUBLAS
  if (fnmatch(pattern, "cublas", 0) == 0) {
    const twin floats = {"float", nullptr}, halves = {"half", nullptr};
    const work f = product_of(msl, floats, 2048);
    time_cublas(f, "cuBLAS float 2048", CUDA_R_32F, CUBLAS_COMPUTE_32F);
    time_cublas(f, "cuBLAS TF32 2048", CUDA_R_32F,
                CUBLAS_COMPUTE_32F_FAST_TF32);
    time_cublas(product_of(msl, halves, 2048), "cuBLAS half 2048", CUDA_R_16F,
                CUBLAS_COMPUTE_32F);
  }
#endif
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: compare RIVALS.so PRODUCTS.metal [PATTERN]\n");
    return 2;
  }
  const char *pattern = argc > 3 ? argv[3] : "*";
  MUST(mtl_device_by_name("cuda", &device));
  MUST(mtl_queue_create(device, nullptr, &queue));
  must(cudaSetDevice(0), "the device");
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  printf("%-40s %9s %9s %6s\n", mtl_device_get_info(device)->architecture,
         "nvcc ms", "mettle ms", "times");
  compare_kernels(argv[1], pattern);
  compare_products(argv[2], pattern);
  return 0;
}
