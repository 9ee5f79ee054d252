// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emit_cpu.c: creates the target machine and emits the object file.
#include "compiler/emit/emit_cpu.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/emit/source_order.h"
#include "compiler/ir/analysis/loops.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"

enum {
  FEATURES_LIMIT = 4096,  // bytes; a host's list is about 1200
  // A function of more instructions than this is huge.
  HUGE_INSTRUCTIONS = 20000,
  // One of more blocks than this has many.
  MANY_BLOCKS = 2000,
};

static pthread_once_t targets_once = PTHREAD_ONCE_INIT;

static void prepare_targets(void) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

// The parts of a target string: architecture, CPU and features.
typedef struct target_parts {
  char triple[64];
  char cpu[64];
  char features[FEATURES_LIMIT];  // "+avx2,-sse4a"
} target_parts;

// Whether to pass on what LLVM says of one of the host's features, present or
// absent: a CPU's name alone promises what a virtual machine may hide. Left out
// is what names a mode rather than an instruction set, and avx10, which LLVM 19
// takes for another machine than the avx512 features that come with it.
static bool is_wanted_feature(const char *name) {
  static const char *const left_out[] = {"avx10", "shstk",  "amx",  "sgx",
                                         "kl",    "widekl", "uintr"};
  for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; ++i) {
    if (mtlc_starts_with(name + 1, left_out[i])) {
      return false;
    }
  }
  return true;
}

static void append_feature(target_parts *parts, const char *feature) {
  const size_t length = strlen(parts->features);
  if (length + strlen(feature) + 2 < FEATURES_LIMIT) {
    if (length > 0) {
      strcat(parts->features, ",");
    }
    strcat(parts->features, feature);
  }
}

static void host_parts(target_parts *parts) {
#if defined(__aarch64__)
  strcpy(parts->triple, "aarch64-unknown-linux-gnu");
#else
  strcpy(parts->triple, "x86_64-unknown-linux-gnu");
#endif
  char *cpu = LLVMGetHostCPUName();
  char *features = LLVMGetHostCPUFeatures();
  strncat(parts->cpu, cpu, sizeof parts->cpu - 1);
  char *rest = NULL;
  for (char *name = strtok_r(features, ",", &rest); name;
       name = strtok_r(NULL, ",", &rest)) {
    if (is_wanted_feature(name)) {
      append_feature(parts, name);
    }
  }
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}

// A CPU's name says which features it has, but only to the code generator.
// Those that passes ask about are spelled out.
static void spell_features(target_parts *parts) {
#define LEVEL_3 "+avx2,+fma,+f16c,+bmi2"
#define LEVEL_4                                                 \
  LEVEL_3 ",+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512cd," \
          "+evex512"
  static const char *const levels[][2] = {
      {"x86-64-v3", LEVEL_3},
      {"haswell", LEVEL_3},
      {"skylake", LEVEL_3},
      {"alderlake", LEVEL_3},
      {"znver1", LEVEL_3},
      {"znver2", LEVEL_3},
      {"znver3", LEVEL_3},
      {"x86-64-v4", LEVEL_4},
      {"skylake-avx512", LEVEL_4},
      {"cascadelake", LEVEL_4},
      {"icelake-server", LEVEL_4 ",+avx512vpopcntdq"},
      {"sapphirerapids", LEVEL_4 ",+avx512vpopcntdq,+avx512bf16"},
      {"znver4", LEVEL_4 ",+avx512vpopcntdq,+avx512bf16"},
      {"znver5", LEVEL_4 ",+avx512vpopcntdq,+avx512bf16"},
  };
#undef LEVEL_4
#undef LEVEL_3
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; ++i) {
    if (strcmp(parts->cpu, levels[i][0]) == 0) {
      append_feature(parts, levels[i][1]);
    }
  }
}

// "x86_64 x86-64-v3 +f16c,-sse4a": an architecture, then a CPU, then features;
// the last two may be left out.
static mtl_status parse_parts(const char *target, target_parts *parts) {
  char text[FEATURES_LIMIT];
  if (strlen(target) >= sizeof text) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "the target's text has %zu bytes",
                     strlen(target));
  }
  strcpy(text, target);
  char *rest = NULL;
  const char *architecture = strtok_r(text, " ", &rest);
  if (!architecture || (strcmp(architecture, "x86_64") != 0 &&
                        strcmp(architecture, "aarch64") != 0)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "target \"%s\": x86_64 and aarch64 are known", target);
  }
  strcpy(parts->triple, architecture);
  strcat(parts->triple, "-unknown-linux-gnu");
  strcpy(parts->cpu,
         strcmp(architecture, "x86_64") == 0 ? "x86-64-v2" : "generic");
  const char *word;
  while ((word = strtok_r(NULL, " ", &rest))) {
    if (word[0] == '+' || word[0] == '-') {
      append_feature(parts, word);
    } else {
      parts->cpu[0] = '\0';
      strncat(parts->cpu, word, sizeof parts->cpu - 1);
    }
  }
  spell_features(parts);
  return MTL_OK;
}

// LLVM takes the gathers of some CPUs with AVX2 for slow and makes a branch of
// each lane, which is slower still, and takes twice as long to compile.
static void want_gathers(target_parts *parts) {
  if (strstr(parts->features, "+avx2")) {
    append_feature(parts, "+fast-gather");
  }
}

static mtl_status make_machine(const char *target, mtli_tier tier,
                               LLVMTargetMachineRef *out_machine) {
  target_parts parts = {0};
  if (target) {
    MTL_TRY(parse_parts(target, &parts));
  } else {
    host_parts(&parts);
  }
  want_gathers(&parts);
  LLVMTargetRef found = NULL;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(parts.triple, &found, &message)) {
    const mtl_status status = mtli_fail(MTL_UNSUPPORTED, "%s", message);
    LLVMDisposeMessage(message);
    return status;
  }
  *out_machine = LLVMCreateTargetMachine(
      found, parts.triple, parts.cpu, parts.features,
      tier == MTLI_TIER_0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault,
      LLVMRelocPIC, LLVMCodeModelSmall);
  return *out_machine ? MTL_OK
                      : mtli_fail(MTL_UNSUPPORTED,
                                  "no code generation for %s %s", parts.triple,
                                  parts.cpu);
}

// A machine that was made before.
typedef struct known_machine {
  char *target;  // NULL for the host
  mtli_tier tier;
  LLVMTargetMachineRef machine;
  struct known_machine *next;
} known_machine;

static known_machine *known_machines;

static bool is_machine(const known_machine *known, const char *target,
                       mtli_tier tier) {
  return known->tier == tier &&
         (target && known->target ? strcmp(target, known->target) == 0
                                  : target == known->target);
}

mtl_status mtlc_target_machine(const char *target, mtli_tier tier,
                               LLVMTargetMachineRef *out_target) {
  pthread_once(&targets_once, prepare_targets);
  *out_target = NULL;
  known_machine *known = known_machines;
  while (known && !is_machine(known, target, tier)) {
    known = known->next;
  }
  if (!known) {
    LLVMTargetMachineRef machine = NULL;
    MTL_TRY(make_machine(target, tier, &machine));
    known = calloc(1, sizeof *known);
    if (!known) {
      abort();  // as mtlc_values_add
    }
    *known = (known_machine){.target = target ? strdup(target) : NULL,
                             .tier = tier,
                             .machine = machine,
                             .next = known_machines};
    known_machines = known;
  }
  *out_target = known->machine;
  return MTL_OK;
}

// Returns the most instructions or blocks, as count_in tells, of one function.
static uint32_t most_of(LLVMModuleRef module,
                        uint32_t (*count_in)(LLVMValueRef function)) {
  uint32_t most = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    const uint32_t count = count_in(f);
    most = count > most ? count : most;
  }
  return most;
}

// Sets what LLVM has as switches of the process, and not of a function or a
// target machine. For each object anew: lld takes all switches back.
static void set_switches(const mtlc_kernel *kernel) {
  LLVMModuleRef module = kernel->module;
  const char *switches[10] = {"mettlec"};
  int count = 1;
  // Which variables are where, of which we say nothing, else takes a fifth of
  // the time of code with many blocks.
  switches[count++] = "-experimental-debug-variable-locations=false";
  // Scheduling behind register allocation, which LLVM has for Zen alone, is for
  // a CPU that does not reorder: a third of the time of code with long blocks.
  switches[count++] = "-post-RA-scheduler=false";
  // After each change CodeGenPrepare goes through the new blocks again, not
  // through the whole function: 5000 lines with many diamonds 4.5 to 0.1 s.
  switches[count++] = "-cgpp-huge-func=0";
  // The scheduler in front of register allocation.
  if (mtlc_keeps_source_order(kernel)) {
    switches[count++] = "-enable-misched=false";
  }
  if (mtlc_most_loops(module) > MTLC_TOO_MANY_LOOPS) {
    switches[count++] = "-disable-lsr";
  }
  // Whether masks live in general registers or in mask registers: to ask for
  // all of a huge function takes time that grows with the square, 65 s of the
  // 90 for 80,000 instructions of 256-bit arithmetic in loops (x86-64-v4,
  // 2026-11).
  if (most_of(module, mtlc_count_instructions) > HUGE_INSTRUCTIONS) {
    switches[count++] = "-disable-x86-domain-reassignment";
    // Asks for the register pressure of each block that something may be moved
    // to: of 9.2 s for 5000 lines 4.0, and the code is as large.
    switches[count++] = "-disable-machine-sink";
  }
  // Each instruction that it drops has it go through all uses of an operand,
  // and what all cases of a switch use has as many: of 13.3 s for 5000 cases
  // 5.6.
  if (most_of(module, LLVMCountBasicBlocks) > MANY_BLOCKS) {
    switches[count++] = "-disable-machine-cse";
  }
  LLVMParseCommandLineOptions(count, switches, NULL);
}

mtl_status mtlc_emit_object(mtlc_kernel *kernel, void **out_object,
                            size_t *out_size_bytes) {
  *out_object = NULL;
  *out_size_bytes = 0;
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  set_switches(kernel);
  if (LLVMTargetMachineEmitToMemoryBuffer(kernel->target, kernel->module,
                                          LLVMObjectFile, &message, &buffer)) {
    const mtl_status status =
        mtli_fail(MTL_UNSUPPORTED, "kernel %s: code generation: %s",
                  kernel->kernel->name, message);
    LLVMDisposeMessage(message);
    return status;
  }
  const size_t size = LLVMGetBufferSize(buffer);
  *out_object = malloc(size);
  if (*out_object) {
    memcpy(*out_object, LLVMGetBufferStart(buffer), size);
    *out_size_bytes = size;
  }
  LLVMDisposeMemoryBuffer(buffer);
  return *out_object
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY, "an object of %zu bytes", size);
}
