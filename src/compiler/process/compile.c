// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile.c: the two jobs of compile.h, from bytes to bytes.
#include "compiler/process/compile.h"

#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/emit/emit_cpu.h"
#include "compiler/emit/list_code.h"
#include "compiler/emit/report_code.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/steps.h"
#include "compiler/passes/link/load_ir.h"
#include "compiler/passes/passes.h"
#include "compiler/ptx/ptx.h"

void mtlc_result_clear(mtlc_result *result) {
  free(result->text);
  free(result->bytes);
  if (result->work) {
    result->free_work(result->work);
  }
  *result = (mtlc_result){0};
}

static void *allocate(size_t size_bytes) {
  void *memory = calloc(1, size_bytes);
  if (!memory) {
    abort();  // the compiler's process ends, and the runtime says so
  }
  return memory;
}

static char *copy_text(const char *text) {
  char *copy = strdup(text ? text : "");
  if (!copy) {
    abort();  // as above
  }
  return copy;
}

// Ends a job: the error's text, if it failed, is the thread's last.
static void finish(mtlc_result *result, mtl_status status, char *text) {
  result->status = status;
  if (status != MTL_OK) {
    free(text);
    text = copy_text(mtl_last_error());
  }
  result->text = text ? text : copy_text("");
}

// --- source to a library -----------------------------------------------------

static mtl_status write_library(mtlc_parsed *parsed, mtlc_result *result) {
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(parsed->module);
  mtli_blob blob = {.kind = MTLI_BLOB_IR,
                    .target = "",
                    .bytes = LLVMGetBufferStart(bitcode),
                    .size_bytes = LLVMGetBufferSize(bitcode)};
  mtli_code code = parsed->code;
  code.blobs = &blob;
  code.blob_count = 1;
  if (!code.warnings) {
    code.warnings = "";
  }
  const mtl_status status =
      mtli_code_write(&code, &result->bytes, &result->size_bytes);
  LLVMDisposeMemoryBuffer(bitcode);
  return status;
}

static void free_parsed(void *work) {
  mtlc_parsed_clear(work);
  free(work);
}

void mtlc_compile_library(const mtlc_source *source, mtlc_result *out_result) {
  mtlc_parsed *parsed = allocate(sizeof *parsed);
  *out_result = (mtlc_result){.work = parsed, .free_work = free_parsed};
  if (!mtlc_parse(source, parsed)) {
    out_result->status = MTL_COMPILE_FAILED;
    out_result->text = copy_text(parsed->diagnostics);
  } else {
    const mtl_status status = write_library(parsed, out_result);
    finish(out_result, status, copy_text(parsed->diagnostics));
  }
}

// --- one kernel of a library to a pipeline -----------------------------------

// All that a pipeline's compilation holds.
typedef struct pipeline {
  const mtli_pipeline_request *request;
  mtli_arena arena;
  mtli_code *library;
  mtlc_kernel kernel;
  mtli_constant_value *no_values;  // where the request has none
  char *wanted;  // a copy of dump_after, cut in two
  void *object;
  size_t object_bytes;
  void *shared;
  size_t shared_bytes;
  char *llvm_error;
} pipeline;

// LLVM's remarks and warnings are about its own work, not the user's source.
static void ignore_remarks(LLVMDiagnosticInfoRef info, void *context) {
  char **error = context;
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError) {
    char *text = LLVMGetDiagInfoDescription(info);
    free(*error);
    *error = strdup(text);
    LLVMDisposeMessage(text);
  }
}

static mtl_status read_library(pipeline *p) {
  const mtli_pipeline_request *request = p->request;
  MTL_TRY(mtli_code_read(request->library_bytes, request->library_size_bytes,
                         &p->arena, &p->library));
  p->kernel.library = p->library;
  p->kernel.kernel = mtli_code_find_kernel(p->library, request->kernel_name);
  if (!p->kernel.kernel) {
    return mtli_fail(MTL_NOT_FOUND, "the library has no kernel %s",
                     request->kernel_name);
  }
  if (p->kernel.kernel->is_visible) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s is no kernel",
                     request->kernel_name);
  }
  const mtli_blob *blob = mtli_code_find_blob(p->library, MTLI_BLOB_IR);
  if (!blob) {
    return mtli_fail(MTL_BAD_DATA, "the container has no portable IR");
  }
  return mtlc_load_ir(p->kernel.context, blob->bytes, blob->size_bytes,
                      p->kernel.kernel->symbol, &p->kernel.module)
             ? MTL_OK
             : mtli_fail(MTL_BAD_DATA, "the container's IR is damaged");
}

static mtl_status take_constants(pipeline *p) {
  const size_t wanted = p->library->constant_count;
  p->kernel.constant_values = p->request->constant_values;
  if (p->request->constant_values) {
    return p->request->constant_count == wanted
               ? MTL_OK
               : mtli_fail(MTL_INVALID_ARGUMENT,
                           "%zu function constants given, the library has %zu",
                           p->request->constant_count, wanted);
  }
  p->no_values = calloc(wanted + 1, sizeof p->no_values[0]);
  p->kernel.constant_values = p->no_values;
  return p->no_values ? MTL_OK : mtli_fail(MTL_OUT_OF_MEMORY, "constants");
}

static mtl_status check_target(const char *target) {
  char *wrong = target ? mtlc_target_error(target) : NULL;
  const mtl_status status =
      wrong ? mtli_fail(MTL_INVALID_ARGUMENT, "METTLE_CPU_TARGET is \"%s\": %s",
                        target, wrong)
            : MTL_OK;
  free(wrong);
  return status;
}

static bool wants_listing(const pipeline *p) {
  const char *wanted = p->kernel.dump_after;
  return wanted && strcmp(wanted, MTLC_CODE_LISTING) == 0;
}

static mtl_status make_ptx(pipeline *p) {
  p->kernel.is_ptx = true;
  MTL_TRY(mtlc_make_ptx_machine(p->request->target, &p->kernel.target,
                                &p->kernel.may_approximate));
  mtlc_set_ptx_module(&p->kernel);
  MTL_TRY(mtlc_run_passes(&p->kernel));
  MTL_TRY(mtlc_emit_ptx(&p->kernel, &p->shared, &p->shared_bytes));
  if (wants_listing(p)) {
    p->kernel.dump = copy_text(p->shared);
  }
  return MTL_OK;
}

static mtl_status make_code(pipeline *p) {
  if (mtlc_is_ptx_target(p->request->target)) {
    return make_ptx(p);
  }
  MTL_TRY(check_target(p->request->target));
  MTL_TRY(mtlc_target_machine(p->request->target, p->kernel.tier,
                              &p->kernel.target));
  MTL_TRY(mtlc_run_passes(&p->kernel));
  if (wants_listing(p)) {
    MTL_TRY(mtlc_list_code(&p->kernel, &p->kernel.dump));
  }
  const uint64_t start_ns = mtlc_step_begin(&p->kernel);
  MTL_TRY(mtlc_emit_object(&p->kernel, &p->object, &p->object_bytes));
  mtlc_step_done(&p->kernel, "emit_object", MTLC_NOT_COUNTED, start_ns);
  if (p->request->report_code && p->kernel.tier == MTLI_TIER_1) {
    mtlc_report_code(&p->kernel, p->object, p->object_bytes);
  }
  char *error = NULL;
  mtl_status status = mtlc_link_shared(p->object, p->object_bytes, &p->shared,
                                       &p->shared_bytes, &error);
  if (status != MTL_OK) {
    status = mtli_fail(status, "kernel %s does not link: %s",
                       p->request->kernel_name, error ? error : "");
  }
  free(error);
  return status;
}

// Returns "x86_64 znver4 +avx2,...": the target that the code is made for.
static char *target_text(LLVMTargetMachineRef target) {
  char *triple = LLVMGetTargetMachineTriple(target);
  char *cpu = LLVMGetTargetMachineCPU(target);
  char *features = LLVMGetTargetMachineFeatureString(target);
  const size_t bytes = strlen(triple) + strlen(cpu) + strlen(features) + 3;
  char *text = malloc(bytes);
  if (text) {
    snprintf(text, bytes, "%.*s %s %s", (int)strcspn(triple, "-"), triple, cpu,
             features);
  }
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return text;
}

static mtl_status write_pipeline(pipeline *p, mtlc_result *result) {
  mtli_kernel kernel = *p->kernel.kernel;
  kernel.static_threadgroup_bytes = p->kernel.static_threadgroup_bytes;
  kernel.tier = p->kernel.tier;
  kernel.group_class = p->kernel.group_class;
  kernel.facts = p->kernel.facts;
  const char *report = p->kernel.report ? p->kernel.report : "";
  char *target = target_text(p->kernel.target);
  mtli_blob blobs[] = {{.kind = p->kernel.is_ptx ? MTLI_BLOB_PTX : MTLI_BLOB_ELF,
                        .target = target ? target : "",
                        .bytes = p->shared,
                        .size_bytes = p->shared_bytes},
                       {.kind = MTLI_BLOB_REPORT,
                        .target = "",
                        .bytes = report,
                        .size_bytes = strlen(report)}};
  mtli_code code = *p->library;
  code.warnings = "";
  code.kernels = &kernel;
  code.kernel_count = 1;
  code.blobs = blobs;
  code.blob_count = sizeof blobs / sizeof blobs[0];
  const mtl_status status =
      mtli_code_write(&code, &result->bytes, &result->size_bytes);
  free(target);
  return status;
}

static mtl_status compile(pipeline *p, mtlc_result *result) {
  MTL_TRY(read_library(p));
  MTL_TRY(take_constants(p));
  MTL_TRY(make_code(p));
  return write_pipeline(p, result);
}

static void free_pipeline(void *work) {
  pipeline *p = work;
  if (p->kernel.module) {
    LLVMDisposeModule(p->kernel.module);
  }
  LLVMContextDispose(p->kernel.context);
  if (p->kernel.is_ptx && p->kernel.target) {
    LLVMDisposeTargetMachine(p->kernel.target);
  }
  free(p->kernel.report);
  free(p->wanted);
  free(p->no_values);
  free(p->object);
  free(p->shared);
  free(p->llvm_error);
  mtli_arena_clear(&p->arena);
  free(p);
}

// After a failure past the requested stage: appends the dump that was made to
// the error's text.
static void append_dump(const char *kernel, const char *pass,
                        const char *dump) {
  char *text = NULL;
  if (asprintf(&text, "%s\n; kernel %s after %s\n%s", mtl_last_error(), kernel,
               pass, dump) >= 0) {
    (void)mtli_fail_text(MTL_UNSUPPORTED, text);
    free(text);
  }
}

// Splits the dump request "PASS without STEP,STEP".
static void take_wanted(pipeline *p, const char *dump_after) {
  if (!dump_after) {
    return;
  }
  p->wanted = copy_text(dump_after);
  char *without = strstr(p->wanted, MTLC_STEPS_WITHOUT);
  if (without) {
    *without = '\0';
    p->kernel.without = without + strlen(MTLC_STEPS_WITHOUT);
  }
  p->kernel.dump_after = *p->wanted ? p->wanted : NULL;
}

void mtlc_compile_pipeline(const mtli_pipeline_request *request,
                           const char *dump_after, mtlc_result *out_result) {
  pipeline *p = allocate(sizeof *p);
  *out_result = (mtlc_result){.work = p, .free_work = free_pipeline};
  p->request = request;
  p->kernel = (mtlc_kernel){.context = LLVMContextCreate(),
                            .tier = request->tier,
                            .checks = request->checks,
                            .linked = request->linked,
                            .linked_count = request->linked_count,
                            .call_depth = request->call_depth,
                            .group_class = request->group_class,
                            .may_change_class = request->may_change_class};
  LLVMContextSetDiagnosticHandler(p->kernel.context, ignore_remarks,
                                  &p->llvm_error);
  take_wanted(p, dump_after);
  mtl_status status = compile(p, out_result);
  if (status == MTL_OK && p->llvm_error) {
    status = mtli_fail(MTL_UNSUPPORTED, "kernel %s: %s", request->kernel_name,
                       p->llvm_error);
  }
  char *dump = p->kernel.dump;
  p->kernel.dump = NULL;
  if (status != MTL_OK && dump) {
    append_dump(request->kernel_name, p->wanted, dump);
  }
  finish(out_result, status, dump);
}
