// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rig.c: the passes, the linker and the loader, one after the other.
#include "rig.h"

#include <dlfcn.h>
#include <llvm-c/BitReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "compiler/emit/emit_cpu.h"
#include "compiler/frontend/frontend.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/passes/passes.h"
#include "harness/test.h"

static const char *const builtin_names[MTLI_BUILTIN_COUNT] = {
    [MTLI_THREAD_POSITION_IN_GRID] = "thread_position_in_grid",
    [MTLI_THREAD_POSITION_IN_THREADGROUP] = "thread_position_in_threadgroup",
    [MTLI_THREADGROUP_POSITION_IN_GRID] = "threadgroup_position_in_grid",
    [MTLI_THREADS_PER_THREADGROUP] = "threads_per_threadgroup",
    [MTLI_DISPATCH_THREADS_PER_THREADGROUP] =
        "dispatch_threads_per_threadgroup",
    [MTLI_THREADS_PER_GRID] = "threads_per_grid",
    [MTLI_THREADGROUPS_PER_GRID] = "threadgroups_per_grid",
    [MTLI_GRID_ORIGIN] = "grid_origin",
    [MTLI_GRID_SIZE] = "grid_size",
    [MTLI_THREAD_INDEX_IN_THREADGROUP] = "thread_index_in_threadgroup",
    [MTLI_THREAD_INDEX_IN_SIMDGROUP] = "thread_index_in_simdgroup",
    [MTLI_THREAD_INDEX_IN_QUADGROUP] = "thread_index_in_quadgroup",
    [MTLI_SIMDGROUP_INDEX_IN_THREADGROUP] = "simdgroup_index_in_threadgroup",
    [MTLI_QUADGROUP_INDEX_IN_THREADGROUP] = "quadgroup_index_in_threadgroup",
    [MTLI_SIMDGROUPS_PER_THREADGROUP] = "simdgroups_per_threadgroup",
    [MTLI_QUADGROUPS_PER_THREADGROUP] = "quadgroups_per_threadgroup",
    [MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP] =
        "dispatch_simdgroups_per_threadgroup",
    [MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP] =
        "dispatch_quadgroups_per_threadgroup",
    [MTLI_THREADS_PER_SIMDGROUP] = "threads_per_simdgroup",
    [MTLI_THREADGROUPS_AT_ONCE] = "threadgroups_at_once",
};

static mtli_parameter parse_parameter(const char *word) {
  mtli_parameter parameter = {.argument.name = "", .enabling_constant = -1};
  if (strcmp(word, "threadgroup") == 0) {
    parameter.argument.kind = MTL_ARGUMENT_THREADGROUP_MEMORY;
  }
  char name[64] = "";
  char half = 0;
  unsigned components = 0;
  if (sscanf(word, "%63[^:]:%u%c", name, &components, &half) < 2) {
    return parameter;
  }
  for (int i = 1; i < MTLI_BUILTIN_COUNT; ++i) {
    if (strcmp(name, builtin_names[i]) == 0) {
      parameter.builtin = (mtli_builtin)i;
    }
  }
  parameter.builtin_components = components;
  parameter.builtin_component_bytes = half == 'h' ? 2 : 4;
  CHECK(parameter.builtin != MTLI_BUILTIN_NONE);
  return parameter;
}

static size_t parse_parameters(const char *text, mtli_parameter *parameters) {
  char copy[2048];
  CHECK(strlen(text) < sizeof copy);
  strcpy(copy, text);
  size_t count = 0;
  char *rest = NULL;
  for (char *word = strtok_r(copy, " ", &rest); word;
       word = strtok_r(NULL, " ", &rest)) {
    CHECK(count < RIG_PARAMETERS);
    parameters[count++] = parse_parameter(word);
  }
  return count;
}

static LLVMModuleRef read_kernels(LLVMContextRef context) {
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  LLVMModuleRef module = NULL;
  CHECK(!LLVMCreateMemoryBufferWithContentsOfFile(RIG_KERNELS, &buffer,
                                                  &message));
  CHECK(!LLVMParseBitcodeInContext2(context, buffer, &module));
  LLVMDisposeMemoryBuffer(buffer);
  return module;
}

// The frontend's function that link_functions calls. No kernel here has linked
// functions.
bool mtlc_load_kernel(LLVMContextRef context, const void *bitcode,
                      size_t size_bytes, const char *symbol,
                      LLVMModuleRef *out_module) {
  (void)context, (void)bitcode, (void)size_bytes, (void)symbol;
  *out_module = NULL;
  return false;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void link_and_load(const void *object, size_t bytes, rig_code *code) {
  char folder[] = "/tmp/rig-XXXXXX";
  CHECK(mkdtemp(folder));
  char from[64];
  char to[64];
  char command[512];
  snprintf(from, sizeof from, "%s/kernel.o", folder);
  snprintf(to, sizeof to, "%s/kernel.so", folder);
  FILE *file = fopen(from, "wb");
  CHECK(file && fwrite(object, bytes, 1, file) == 1 && fclose(file) == 0);
  snprintf(command, sizeof command, "%s -shared -z defs -o %s %s", RIG_LINKER,
           to, from);
  CHECK(system(command) == 0);
  code->library = dlopen(to, RTLD_NOW | RTLD_LOCAL);
  if (!code->library) {
    test_fail(__FILE__, __LINE__, "%s", dlerror());
  }
  if (!getenv("RIG_KEEP")) {
    unlink(from);
    unlink(to);
    rmdir(folder);
  }
  code->code = dlsym(code->library, MTLI_CPU_CODE_SYMBOL);
  CHECK(code->code);
}

static mtl_status build(mtlc_kernel *kernel, const char *target,
                        rig_code *code) {
  void *object = NULL;
  size_t bytes = 0;
  const uint64_t begin = now_ns();
  MTL_TRY(mtlc_target_machine(target, kernel->tier, &kernel->target));
  kernel->dump_after = getenv("RIG_DUMP");
  const mtl_status status = mtlc_run_passes(kernel);
  char *dump = kernel->dump;
  if (dump) {
    fputs(dump, stderr);
    free(dump);
  }
  MTL_TRY(status);
  const uint64_t passed = now_ns();
  MTL_TRY(mtlc_emit_object(kernel, &object, &bytes));
  code->pass_ns = passed - begin;
  code->emit_ns = now_ns() - passed;
  if (!target || strncmp(target, "x86_64", 6) == 0) {
    link_and_load(object, bytes, code);
  }
  free(object);
  code->static_threadgroup_bytes = kernel->static_threadgroup_bytes;
  snprintf(code->report, sizeof code->report, "%s",
           kernel->report ? kernel->report : "");
  return MTL_OK;
}

mtl_status rig_try(const rig_kernel *rig, rig_way way, const char *target,
                   rig_code *out_code) {
  *out_code = (rig_code){0};
  mtli_parameter parameters[RIG_PARAMETERS];
  char symbol[32];
  snprintf(symbol, sizeof symbol, "mettle.kernel.%u", rig->number);
  mtli_kernel description = {
      .name = "rig kernel",
      .symbol = symbol,
      .parameters = parameters,
      .parameter_count = parse_parameters(rig->parameters, parameters)};
  const mtli_code library = {.math_mode = MTL_MATH_FAST,
                             .kernels = &description,
                             .kernel_count = 1,
                             .constants = (mtli_constant *)rig->constants,
                             .constant_count = rig->constant_count};
  mtlc_kernel kernel = {.context = LLVMContextCreate(),
                        .library = &library,
                        .kernel = &description,
                        .constant_values = rig->constant_values,

                        .tier = way == RIG_T0 ? MTLI_TIER_0 : MTLI_TIER_1,
                        .without_vectors = way == RIG_T1_WITHOUT_VECTORS};
  kernel.module = read_kernels(kernel.context);
  const mtl_status status = build(&kernel, target, out_code);
  out_code->parameter_count = description.parameter_count;
  free(kernel.report);
  LLVMDisposeModule(kernel.module);
  LLVMContextDispose(kernel.context);
  return status;
}

rig_code rig_compile(const rig_kernel *kernel, rig_way way) {
  rig_code code;
  CHECK_OK(rig_try(kernel, way, NULL, &code));
  return code;
}

void rig_clear(rig_code *code) {
  if (code->library) {
    dlclose(code->library);
  }
  *code = (rig_code){0};
}

// A piece of a worker's memory between its margins.
typedef struct memory_piece {
  uint8_t *memory;
  uint8_t *bytes;
  size_t size_bytes;
} memory_piece;

static memory_piece piece_of(size_t size_bytes) {
  const size_t margin = MTLI_CPU_SCRATCH_MARGIN_BYTES;
  const size_t memory_bytes = (margin + size_bytes + margin + 63) / 64 * 64;
  uint8_t *memory = aligned_alloc(64, memory_bytes);
  CHECK(memory);
  memset(memory, 0xa5, memory_bytes);
  return (memory_piece){memory, memory + margin, size_bytes};
}

// Nothing may be changed around the requested memory.
static void check_margins(const memory_piece *piece) {
  for (size_t i = 0; i < MTLI_CPU_SCRATCH_MARGIN_BYTES; ++i) {
    CHECK(piece->memory[i] == 0xa5 &&
          piece->bytes[piece->size_bytes + i] == 0xa5);
  }
}

uint32_t rig_run(const rig_code *code, const rig_launch *run) {
  const uint64_t threads =
      (uint64_t)run->group[0] * run->group[1] * run->group[2];
  mtli_cpu_launch launch = {.arguments = run->arguments};
  uint32_t groups = 1;
  for (int i = 0; i < 3; ++i) {
    launch.grid_threads[i] = run->grid[i];
    launch.group_threads[i] = run->group[i];
    launch.group_count[i] = (run->grid[i] + run->group[i] - 1) / run->group[i];
    groups *= launch.group_count[i];
  }
  launch.threadgroup_bytes =
      (code->static_threadgroup_bytes + run->threadgroup_bytes + 63) / 64 * 64;
  memory_piece scratch = piece_of(64 + launch.threadgroup_bytes);
  memory_piece kept =
      piece_of(mtli_cpu_code_bytes(code->code, (uint32_t)threads));
  mtli_cpu_code_run(code->code, &launch, 0, groups / 2, scratch.bytes,
                    kept.bytes);
  mtli_cpu_code_run(code->code, &launch, groups / 2, groups, scratch.bytes,
                    kept.bytes);
  check_margins(&scratch);
  check_margins(&kept);
  const uint32_t reason = ((mtli_cpu_position *)scratch.bytes)->reserved[0];
  free(scratch.memory);
  free(kept.memory);
  return reason;
}
