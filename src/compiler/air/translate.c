// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// translate.c: runs the job of translate.h, from bitcode to a container.
#include "compiler/air/translate.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"

typedef struct translation {
  air_translation air;
  const mtli_translation_request *request;
  mtli_arena arena;
  mtli_code code;
  mtli_kernel kernel;
  char *llvm_error;
} translation;

static void keep_error(LLVMDiagnosticInfoRef info, void *context) {
  char **error = context;
  if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !*error) {
    char *text = LLVMGetDiagInfoDescription(info);
    *error = strdup(text);
    LLVMDisposeMessage(text);
  }
}

// --- reading -----------------------------------------------------------------

static mtl_status read_source(translation *job) {
  const mtli_translation_request *request = job->request;
  if (!mtlc_load_functions(job->air.context, request->bitcode,
                           request->bitcode_bytes, NULL, 0,
                           &job->air.source)) {
    return mtli_fail(MTL_BAD_DATA, "function %s: its bitcode is damaged",
                     request->name);
  }
  return MTL_OK;
}

// Loads the support library's functions that AIR's may call, as the target's
// module.
static mtl_status load_support(translation *job) {
  air_translation *t = &job->air;
  size_t count = 0, most = 1;
  for (LLVMValueRef f = LLVMGetFirstFunction(t->source); f;
       f = LLVMGetNextFunction(f)) {
    most += AIR_LIBRARY_NAMES;
  }
  const char **names = air_allocate(t, most * sizeof *names);
  for (LLVMValueRef f = LLVMGetFirstFunction(t->source); f;
       f = LLVMGetNextFunction(f)) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    if (strncmp(name, "air.", 4) == 0) {
      air_add_library_names(name + 4, t->arena, names, &count);
    }
  }
  const void *bitcode;
  size_t size;
  if (!air_support_library(&bitcode, &size)) {
    return MTL_COMPILE_FAILED;
  }
  return mtlc_load_functions(t->context, bitcode, size, names ? names : NULL,
                             count, &t->target)
             ? MTL_OK
             : mtli_fail(MTL_COMPILER_LOST, "the support library is damaged");
}

// Returns the node of air.kernel, or of air.visible, that describes the
// function of the request's name, or the only one.
static LLVMValueRef find_function(translation *job, LLVMValueRef *out_node) {
  const char *list = job->request->is_visible ? "air.visible" : "air.kernel";
  unsigned count, operand_count;
  LLVMValueRef *nodes = air_named_nodes(&job->air, list, &count);
  LLVMValueRef found = NULL;
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef *operands = air_node(&job->air, nodes[i], &operand_count);
    LLVMValueRef function = operand_count > 0 ? operands[0] : NULL;
    if (!function || !LLVMIsAFunction(function) ||
        LLVMIsDeclaration(function)) {
      continue;
    }
    size_t length;
    const bool is_it = strcmp(LLVMGetValueName2(function, &length),
                              job->request->name) == 0;
    if (is_it || !found) {
      found = function;
      *out_node = nodes[i];
    }
    if (is_it) {
      break;
    }
  }
  return found;
}

// A visible function need not be described: it is found by name, or is the only
// function that is no constructor.
static LLVMValueRef find_visible(translation *job) {
  LLVMValueRef found =
      LLVMGetNamedFunction(job->air.source, job->request->name);
  if (found && !LLVMIsDeclaration(found)) {
    return found;
  }
  found = NULL;
  for (LLVMValueRef f = LLVMGetFirstFunction(job->air.source); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMInternalLinkage) {
      if (found) {
        return NULL;
      }
      found = f;
    }
  }
  return found;
}

// --- describing --------------------------------------------------------------

static mtl_math_mode find_math_mode(air_translation *t) {
  unsigned count, operand_count;
  LLVMValueRef *nodes = air_named_nodes(t, "air.compile_options", &count);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef *operands = air_node(t, nodes[i], &operand_count);
    const char *option = operand_count ? air_text(t, operands[0]) : NULL;
    if (option && strcmp(option, "air.compile.fast_math_enable") == 0) {
      return MTL_MATH_FAST;
    }
  }
  return MTL_MATH_SAFE;
}

static mtl_language_version find_language(air_translation *t) {
  static const mtl_language_version known[] = {
      MTL_LANGUAGE_4_0, MTL_LANGUAGE_3_2, MTL_LANGUAGE_3_1, MTL_LANGUAGE_3_0};
  unsigned count, operand_count = 0;
  LLVMValueRef *nodes = air_named_nodes(t, "air.language_version", &count);
  LLVMValueRef *operands =
      count ? air_node(t, nodes[0], &operand_count) : NULL;
  if (operand_count < 3) {
    return MTL_LANGUAGE_DEFAULT;
  }
  const int64_t version =
      air_integer(operands[1], 0) * 100 + air_integer(operands[2], 0) * 10;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (version >= known[i]) {
      return known[i];
    }
  }
  return MTL_LANGUAGE_2_4;
}

// Reads the nodes after the arguments: a name and a number each.
static void take_limits(translation *job, LLVMValueRef *operands,
                        unsigned count) {
  for (unsigned i = 3; i < count; ++i) {
    unsigned word_count;
    LLVMValueRef *words = air_node(&job->air, operands[i], &word_count);
    const char *name = word_count > 1 ? air_text(&job->air, words[0]) : NULL;
    if (name && strcmp(name, "air.max_work_group_size") == 0) {
      job->kernel.max_total_threads_per_threadgroup =
          (uint32_t)air_integer(words[1], 0);
    }
  }
}

static void describe_place(translation *job, LLVMValueRef function) {
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  LLVMMetadataRef file = subprogram ? LLVMDIScopeGetFile(subprogram) : NULL;
  unsigned length = 0;
  const char *name = file ? LLVMDIFileGetFilename(file, &length) : "";
  job->kernel.file = air_copy_text(&job->air, name, length);
  job->kernel.line = subprogram ? LLVMDISubprogramGetLine(subprogram) : 0;
}

static void describe(translation *job, LLVMValueRef function,
                     LLVMValueRef node) {
  air_translation *t = &job->air;
  job->code.language_version = find_language(t);
  job->code.math_mode = find_math_mode(t);
  job->code.warnings = "";
  job->code.other_functions = "";
  job->code.kernels = &job->kernel;
  job->code.kernel_count = 1;
  job->kernel.name = job->request->name;
  job->kernel.is_visible = job->request->is_visible;
  describe_place(job, function);
  air_describe_constants(t);
  if (job->kernel.is_visible) {
    size_t length;
    const char *symbol = LLVMGetValueName2(function, &length);
    job->kernel.symbol = air_copy_text(t, symbol, length);
    return;
  }
  unsigned count;
  LLVMValueRef *operands = air_node(t, node, &count);
  job->kernel.symbol = "mettle.kernel.0";
  if (count < 3) {
    air_fail(t, MTL_BAD_DATA, "the arguments are not described");
    return;
  }
  air_describe_parameters(t, operands[2], &job->kernel);
  take_limits(job, operands, count);
}

// --- making ------------------------------------------------------------------

// The support library's functions count as parts of their callers, as functions
// of headers do.
static void hide_support(air_translation *t) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
  LLVMAttributeRef inlined = LLVMCreateEnumAttribute(t->context, kind, 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(t->target); f;
       f = LLVMGetNextFunction(f)) {
    size_t length;
    if (!LLVMIsDeclaration(f)) {
      LLVMSetLinkage(f, LLVMInternalLinkage);
      if (strncmp(LLVMGetValueName2(f, &length), "lib.", 4) == 0) {
        LLVMAddAttributeAtIndex(
            f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, inlined);
      }
    }
  }
}

static void check_missing(air_translation *t) {
  if (t->missing_count > 0) {
    air_fail(t, MTL_UNSUPPORTED, "it uses %s%s, which has no definition here",
             t->missing, t->missing_count > 8 ? " and more" : "");
  }
}

static void make(translation *job, LLVMValueRef function) {
  air_translation *t = &job->air;
  size_t length;
  const char *name = LLVMGetSourceFileName(t->source, &length);
  LLVMSetSourceFileName(t->target, name, length);
  hide_support(t);
  air_declare_globals(t);
  air_begin_lines(t);
  air_translate_bodies(t);
  check_missing(t);
  LLVMValueRef made = air_map_get(&t->values, function);
  if (t->status == MTL_OK && !job->kernel.is_visible) {
    air_make_entry(t, made, &job->kernel);
  } else if (t->status == MTL_OK) {
    LLVMSetLinkage(made, LLVMExternalLinkage);
  }
  air_end_lines(t);
}

static mtl_status check(translation *job) {
  char *message = NULL;
  const bool is_invalid = LLVMVerifyModule(
      job->air.target, LLVMReturnStatusAction, &message);
  const mtl_status status =
      is_invalid ? mtli_fail(MTL_UNSUPPORTED,
                             "function %s: invalid code after translation (a "
                             "mistake in the compiler): %.1000s",
                             job->request->name, message)
                 : MTL_OK;
  LLVMDisposeMessage(message);
  return status;
}

static mtl_status write_container(translation *job, mtlc_result *result) {
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(job->air.target);
  mtli_blob blob = {.kind = MTLI_BLOB_IR,
                    .target = "",
                    .bytes = LLVMGetBufferStart(bitcode),
                    .size_bytes = LLVMGetBufferSize(bitcode)};
  job->code.blobs = &blob;
  job->code.blob_count = 1;
  const mtl_status status =
      mtli_code_write(&job->code, &result->bytes, &result->size_bytes);
  LLVMDisposeMemoryBuffer(bitcode);
  return status;
}

static mtl_status translate(translation *job, mtlc_result *result) {
  air_translation *t = &job->air;
  LLVMValueRef node = NULL;
  MTL_TRY(read_source(job));
  LLVMValueRef function = find_function(job, &node);
  if (!function && job->request->is_visible) {
    function = find_visible(job);
  }
  if (!function) {
    return mtli_fail(MTL_BAD_DATA, "function %s: its bitcode does not have it",
                     job->request->name);
  }
  MTL_TRY(load_support(job));
  t->builder = LLVMCreateBuilderInContext(t->context);
  describe(job, function, node);
  if (t->status == MTL_OK) {
    make(job, function);
  }
  if (t->status != MTL_OK) {
    char *reason = strdup(mtl_last_error());
    t->status = mtli_fail(t->status, "function %s: %s", job->request->name,
                          reason ? reason : "");
    free(reason);
    return t->status;
  }
  MTL_TRY(check(job));
  return write_container(job, result);
}

static void free_translation(void *work) {
  translation *job = work;
  air_translation *t = &job->air;
  air_end_lines(t);
  if (t->builder) {
    LLVMDisposeBuilder(t->builder);
  }
  if (t->target) {
    LLVMDisposeModule(t->target);
  }
  if (t->source) {
    LLVMDisposeModule(t->source);
  }
  LLVMContextDispose(t->context);
  air_map_clear(&t->types);
  air_map_clear(&t->values);
  mtli_arena_clear(&job->arena);
  free(job->llvm_error);
  free(job);
}

void mtlc_translate(const mtli_translation_request *request,
                    mtlc_result *out_result) {
  translation *job = calloc(1, sizeof *job);
  if (!job) {
    abort();  // the compiler's process ends, and the runtime says so
  }
  *out_result = (mtlc_result){.work = job, .free_work = free_translation};
  job->request = request;
  job->air.arena = &job->arena;
  job->air.code = &job->code;
  job->air.context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(job->air.context, keep_error,
                                  &job->llvm_error);
  out_result->status = translate(job, out_result);
  out_result->text =
      strdup(out_result->status == MTL_OK ? "" : mtl_last_error());
  if (!out_result->text) {
    abort();
  }
}
