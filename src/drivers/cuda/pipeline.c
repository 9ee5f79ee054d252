// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: loads PTX by NVIDIA's driver, which assembles it and caches the
// result on disk; and adds code for other threadgroup classes than the first.
#include <stdlib.h>
#include <string.h>

#include "drivers/cuda/cuda.h"

enum {
  LOG_BYTES = 2048,
  REGISTERS = 64 * 1024,  // of a block's threads together, sm_70 and later
  REGISTER_UNIT = 8,
};

// How to assemble: with defaults, or with a limit of registers.
typedef struct assembly {
  uint32_t max_registers;  // 0 for none
  bool is_plain;           // without optimisation
} assembly;

static CUresult assemble(const mtli_blob *ptx, assembly how, char *log,
                         CUmodule *out_module) {
  int options[4] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[4] = {log, (void *)(uintptr_t)LOG_BYTES};
  unsigned count = 2;
  if (how.max_registers) {
    options[count] = CU_JIT_MAX_REGISTERS;
    values[count++] = (void *)(uintptr_t)how.max_registers;
  }
  if (how.is_plain) {
    options[count] = CU_JIT_OPTIMIZATION_LEVEL;
    values[count++] = (void *)0;
  }
  log[0] = '\0';
  return cuda.cuModuleLoadDataEx(out_module, ptx->bytes, count, options,
                                 values);
}

static mtl_status load(const mtli_code *container, uint32_t max_registers,
                       cuda_code *out_code) {
  const mtli_blob *ptx = mtli_code_find_blob(container, MTLI_BLOB_PTX);
  char log[LOG_BYTES];
  assembly how = {.max_registers = max_registers};
  CUresult result = assemble(ptx, how, log, &out_code->module);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) {
    // The assembler runs out of predicates in rare kernels (C7600), but not
    // with optimisation off.
    how.is_plain = true;
    result = assemble(ptx, how, log, &out_code->module);
  }
  if (result != CUDA_SUCCESS) {
    const mtl_status status = cuda_done(result, "cuModuleLoadDataEx");
    return mtli_fail(status, "kernel '%s': %s %s", container->kernels[0].name,
                     mtl_last_error(), log);
  }
  static const char stop[] = "mettle_stop", ask[] = "mettle_ask";
  out_code->may_stop =
      memmem(ptx->bytes, ptx->size_bytes, stop, sizeof stop - 1) != NULL;
  out_code->asks =
      memmem(ptx->bytes, ptx->size_bytes, ask, sizeof ask - 1) != NULL;
  return cuda_done(cuda.cuModuleGetFunction(&out_code->function,
                                            out_code->module, MTLI_PTX_ENTRY),
                   "cuModuleGetFunction");
}

static uint32_t max_threads(const cuda_code *code) {
  int threads = 0;
  cuda.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                          code->function);
  return (uint32_t)threads;
}

static void unload(cuda_code *code) {
  if (code->module) {
    cuda.cuModuleUnload(code->module);
  }
  *code = (cuda_code){0};
}

static cuda_class class_of(const mtli_kernel *kernel) {
  return kernel->group_class.is_uneven ? CUDA_UNEVEN
         : kernel->group_class.is_whole || !kernel->facts.depends_on_whole
             ? CUDA_WHOLE
             : CUDA_FULL;
}

mtl_status cuda_pipeline_create(mtl_pipeline *pipeline,
                                const mtl_function *function,
                                const mtl_pipeline_desc *desc) {
  cuda_pipeline *made = (cuda_pipeline *)pipeline;
  if (cuda_lost_text()) {
    return mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text());
  }
  MTL_TRY(mtli_pipeline_compile(pipeline, function, desc));
  const cuda_class class = class_of(pipeline->kernel);
  cuda_code *code = &made->codes[class];
  cuda_enter(cuda_device_of(pipeline->device));
  mtl_status status = load(pipeline->code, 0, code);
  const uint32_t possible = status == MTL_OK ? max_threads(code) : 0;
  if (status == MTL_OK && possible < pipeline->max_threads) {
    pipeline->max_threads = possible;
  }
  if (status != MTL_OK) {
    unload(code);
  }
  cuda_leave();
  if (status == MTL_OK) {
    pthread_mutex_init(&made->lock, NULL);
    atomic_init(&made->is_ready[class], true);
  }
  return status;
}

void cuda_pipeline_destroy(mtl_pipeline *pipeline) {
  cuda_pipeline *made = (cuda_pipeline *)pipeline;
  if (mtli_device_is_inherited(pipeline->device)) {
    return;
  }
  cuda_enter(cuda_device_of(pipeline->device));
  // Before another can have the same functions.
  atomic_fetch_add(&cuda_device_of(pipeline->device)->unloaded_count, 1);
  for (int i = 0; i < CUDA_CLASSES; i++) {
    unload(&made->codes[i]);
  }
  cuda_leave();
  pthread_mutex_destroy(&made->lock);
}

// --- other classes -----------------------------------------------------------

typedef struct taking {
  const mtl_pipeline *pipeline;
  cuda_code *code;
} taking;

// Takes the code and its largest number of threads, limited by registers.
static mtl_status take_code(void *context, const mtli_code *container) {
  const taking *t = context;
  MTL_TRY(load(container, 0, t->code));
  const uint32_t threads = t->pipeline->max_threads;
  if (max_threads(t->code) >= threads) {
    return MTL_OK;
  }
  unload(t->code);
  return load(container, REGISTERS / threads / REGISTER_UNIT * REGISTER_UNIT,
              t->code);
}

static cuda_class class_for(const mtli_kernel *kernel, const uint32_t grid[3],
                            const uint32_t group[3]) {
  uint32_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (grid[i] % group[i]) {
      return CUDA_UNEVEN;
    }
    threads *= group[i];
  }
  return threads % MTL_SIMD_WIDTH == 0 || !kernel->facts.depends_on_whole
             ? CUDA_WHOLE
             : CUDA_FULL;
}

mtl_status cuda_code_find(cuda_pipeline *pipeline, const uint32_t grid[3],
                          const uint32_t group[3],
                          const cuda_code **out_code) {
  const cuda_class class = class_for(pipeline->pipeline.kernel, grid, group);
  *out_code = &pipeline->codes[class];
  // pairs with the release below
  if (atomic_load_explicit(&pipeline->is_ready[class], memory_order_acquire)) {
    return MTL_OK;
  }
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&pipeline->lock);
  if (!atomic_load_explicit(&pipeline->is_ready[class], memory_order_relaxed)) {
    taking t = {.pipeline = &pipeline->pipeline,
                .code = &pipeline->codes[class]};
    const mtli_group_class wanted = {.row = MTLI_LONGEST_ROW,
                                     .is_uneven = class == CUDA_UNEVEN,
                                     .is_whole = class == CUDA_WHOLE};
    cuda_enter(cuda_device_of(pipeline->pipeline.device));
    status = mtli_pipeline_compile_for(&pipeline->pipeline, wanted, take_code,
                                       &t);
    if (status != MTL_OK) {
      unload(t.code);
    }
    cuda_leave();
    // pairs with the acquire above
    atomic_store_explicit(&pipeline->is_ready[class], status == MTL_OK,
                          memory_order_release);
  }
  pthread_mutex_unlock(&pipeline->lock);
  return status;
}
