// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: creates pipelines: requests a function's machine code from the
// compiler, and loads it by the driver.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "base/memory/names.h"
#include "check/check.h"
#include "runtime/library/archives.h"
#include "runtime/library/linked_functions.h"
#include "runtime/library/trace_library.h"
#include "runtime/weak.h"

struct mtli_pipeline_parts {
  mtli_compiled compiled;
  mtl_argument *arguments;  // [argument_count]
  size_t argument_count;
  // The function's other inputs to code, if kept; NULL if one code is enough.
  mtl_function *function;  // +1
  mtli_linked_functions linked;
  mtli_tier tier;
  uint32_t checks;   // MTLI_CHECK_ bits; 0 for none
  bool is_screened;  // MTLI_TIER_SCREENED in the place of _CHECKED
  mtli_archives archives;
  mtl_binary_archive *into;  // while it is made; NULL for none
  char *target;              // NULL for this machine
  char *label;               // NULL for the kernel's name
  char *report;              // NULL for none
};

static void pipeline_free(mtl_pipeline *pipeline) {
  struct mtli_pipeline_parts *parts = pipeline->parts;
  if (parts) {
    mtli_compiled_clear(&parts->compiled);
    free(parts->arguments);
    mtl_function_release(parts->function);  // -1
    mtli_linked_functions_clear(&parts->linked);
    mtli_archives_clear(&parts->archives);
    free(parts->target);
    free(parts->label);
    free(parts->report);
    free(parts);
  }
  free(pipeline);
}

static void pipeline_destroy(mtli_object *object) {
  mtl_pipeline *pipeline = (mtl_pipeline *)object;
  mtl_device *device = pipeline->device;
  if (!mtli_device_is_inherited(device)) {
    mtli_weak_end(&pipeline->weak, mtl_pipeline_label(pipeline));
  }
  device->driver->pipeline_destroy(pipeline);
  pipeline_free(pipeline);
  mtl_device_release(device);  // -1
}

static mtl_status check_parameters(const mtl_function *function) {
  static const uint32_t limits[] = {
      [MTL_ARGUMENT_BUFFER] = MTL_MAX_BUFFER_ARGUMENTS,
      [MTL_ARGUMENT_THREADGROUP_MEMORY] = MTL_MAX_THREADGROUP_ARGUMENTS,
      [MTL_ARGUMENT_TEXTURE] = MTL_MAX_TEXTURE_ARGUMENTS,
      [MTL_ARGUMENT_SAMPLER] = MTL_MAX_SAMPLER_ARGUMENTS,
      [MTL_ARGUMENT_FUNCTION_TABLE] = MTL_MAX_BUFFER_ARGUMENTS,
  };
  for (size_t i = 0; i < function->argument_count; i++) {
    const mtl_argument *argument = &function->arguments[i];
    const uint32_t limit = limits[argument->kind];
    if (argument->index >= limit) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "function '%s': argument '%s' has index %u; the last "
                       "one is %u",
                       function->kernel->name, argument->name, argument->index,
                       limit - 1);
    }
  }
  return MTL_OK;
}

// Checks that the container has the function's code, and finds its limits.
static mtl_status take_code(mtl_pipeline *pipeline,
                            const mtl_pipeline_desc *desc) {
  const mtl_device *device = pipeline->device;
  const mtli_code *code = pipeline->parts->compiled.code;
  // METTLE_CPU_TARGET may name a GPU, to inspect its code.
  const bool is_foreign = device->driver->code_kind == MTLI_BLOB_ELF &&
                          mtli_code_find_blob(code, MTLI_BLOB_PTX);
  if (code->kernel_count != 1 ||
      (!mtli_code_find_blob(code, device->driver->code_kind) && !is_foreign)) {
    return mtli_fail(
        MTL_BAD_DATA,
        "the compiler's answer has %zu functions and %s code for "
        "device '%s'",
        code->kernel_count,
        mtli_code_find_blob(code, device->driver->code_kind) ? "some" : "no",
        device->info.name);
  }
  pipeline->code = pipeline->parts->compiled.code;
  pipeline->kernel = &code->kernels[0];
  return mtli_pipeline_limit_threads(pipeline, desc);
}

mtl_status mtli_pipeline_limit_threads(mtl_pipeline *pipeline,
                                       const mtl_pipeline_desc *desc) {
  const mtl_device *device = pipeline->device;
  pipeline->max_threads = device->info.max_threads_per_threadgroup;
  if (desc->max_total_threads_per_threadgroup > pipeline->max_threads) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "max_total_threads_per_threadgroup is %u; device '%s' "
                     "allows %u",
                     desc->max_total_threads_per_threadgroup, device->info.name,
                     pipeline->max_threads);
  }
  const uint32_t wishes[] = {
      pipeline->kernel->max_total_threads_per_threadgroup,
      desc->max_total_threads_per_threadgroup};
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
    if (wishes[i] && wishes[i] < pipeline->max_threads) {
      pipeline->max_threads = wishes[i];
    }
  }
  if (pipeline->kernel->static_threadgroup_bytes >
      device->info.max_threadgroup_memory_bytes) {
    return mtli_fail(
        MTL_INVALID_ARGUMENT,
        "function '%s' declares %u bytes of threadgroup memory; "
        "device '%s' has %" PRIu64,
        pipeline->kernel->name, pipeline->kernel->static_threadgroup_bytes,
        device->info.name, device->info.max_threadgroup_memory_bytes);
  }
  return MTL_OK;
}

// Copies texts that must outlive function: arguments, label, report.
static mtl_status take_texts(mtl_pipeline *pipeline, mtl_function *function,
                             const mtl_pipeline_desc *desc) {
  struct mtli_pipeline_parts *parts = pipeline->parts;
  parts->arguments =
      calloc(pipeline->kernel->parameter_count + 1, sizeof *parts->arguments);
  if (!parts->arguments) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline");
  }
  // Taken from the pipeline's own container, which lives as long, or from the
  // driver's or the function's facts; the function is retained.
  for (size_t i = 0; i < pipeline->kernel->parameter_count; i++) {
    mtli_parameter *parameter = &pipeline->kernel->parameters[i];
    const size_t count = parts->argument_count;
    if (parameter->builtin != MTLI_BUILTIN_NONE) {
      continue;
    }
    if (pipeline->code && count < function->argument_count) {
      parameter->argument.is_active = function->arguments[count].is_active;
    }
    parts->arguments[parts->argument_count++] = parameter->argument;
  }
  const mtli_kernel *kernel = pipeline->kernel;
  pipeline->name = mtli_name_keep(kernel->name);
  if (!pipeline->code || mtli_cpu_facts_depend(&kernel->facts)) {
    parts->function = mtl_function_retain(function);  // +1
  }
  parts->label = mtli_label_copy(desc->label);
  const mtli_blob *report =
      pipeline->code ? mtli_code_find_blob(pipeline->code, MTLI_BLOB_REPORT)
                     : NULL;
  if (report) {
    parts->report = strndup(report->bytes, report->size_bytes);
  }
  return MTL_OK;
}

static const mtl_pipeline_desc defaults;

// Takes the code from the archives, or else compiles it.
static mtl_status find_code(const struct mtli_pipeline_parts *parts,
                            const mtli_pipeline_request *request,
                            bool fail_on_miss, mtli_compiled *out_compiled) {
  unsigned char key[MTLI_ARCHIVE_KEY_BYTES];
  const bool asks = parts->archives.count && !request->dump_after &&
                    mtli_pipeline_key(request, key) == MTL_OK;
  mtl_status status =
      asks ? mtli_archives_find(&parts->archives, key, out_compiled)
           : MTL_NOT_FOUND;
  if (status != MTL_NOT_FOUND) {
    return status;
  }
  if (fail_on_miss) {
    return mtli_fail(MTL_NOT_FOUND,
                     "the code of function '%s' is in none of %zu archives",
                     request->kernel_name, parts->archives.count);
  }
  MTL_TRY(mtli_compile_pipeline(request, out_compiled));
  status = asks && parts->into
               ? mtli_binary_archive_put(parts->into, key, request->kernel_name,
                                         out_compiled)
               : MTL_OK;
  if (status != MTL_OK) {
    mtli_compiled_clear(out_compiled);
  }
  return status;
}

static mtl_status compile(const mtl_function *function,
                          const struct mtli_pipeline_parts *parts,
                          mtli_group_class group_class, bool is_first,
                          const mtl_pipeline_desc *desc,
                          mtli_compiled *out_compiled) {
  const mtl_library *library = function->library;
  mtli_linked_function *linked = NULL;
  MTL_TRY(mtli_linked_functions_describe(&parts->linked, &linked));
  const mtli_pipeline_request request = {
      .library_bytes = library->compiled.bytes,
      .library_size_bytes = library->compiled.size_bytes,
      .kernel_name = function->kernel->name,
      .constant_values = function->values,
      .constant_count = library->compiled.code->constant_count,
      .linked = linked,
      .linked_count = parts->linked.count,
      .call_depth = parts->linked.call_depth,
      .tier = parts->tier,
      .checks = parts->checks,
      .group_class = group_class,
      .may_change_class = is_first,
      .dump_after = desc->dump_after,
      .report_code = desc->report_code,
      .target = parts->target,
  };
  const uint64_t start_ns = mtli_trace_is_on() ? mtli_now_ns() : 0;
  const mtl_status status = find_code(
      parts, &request, is_first && desc->fail_on_archive_miss, out_compiled);
  free(linked);
  if (start_ns && status == MTL_OK) {
    mtli_trace_pipeline(request.kernel_name, out_compiled->from_cache,
                        start_ns);
  }
  return status;
}

// Returns the threadgroups to make code for first: those that the client has
// named, or else rows of whole simdgroups.
static mtli_group_class first_class(const struct mtli_pipeline_parts *parts,
                                    const mtl_device *device,
                                    const mtl_pipeline_desc *desc) {
  const uint32_t *size = desc->group_threads;
  const uint32_t limit = desc->max_total_threads_per_threadgroup;
  if (size[0] && size[1] && size[2]) {
    // Only tier 1 of the CPU has code for other rows than those along x.
    const bool is_turned = parts->tier == MTLI_TIER_1 &&
                           device->driver->code_kind == MTLI_BLOB_ELF;
    const uint32_t dimension = is_turned ? mtli_row_dimension(size) : 0;
    uint32_t turned[3];
    mtli_turn(size, dimension, turned);
    mtli_group_class first = mtli_group_class_of(turned, 0);
    first.row_dimension = dimension;
    return first;
  }
  return (mtli_group_class){.row = MTLI_LONGEST_ROW,
                            .is_single = limit && limit <= MTL_SIMD_WIDTH,
                            .is_whole = !limit || limit >= MTL_SIMD_WIDTH};
}

// Checks the host's accesses to buffers in use, on devices where kernels have
// memory of their own.
static void check_host(struct mtli_pipeline_parts *parts,
                       const mtl_device *device) {
  if (!(parts->checks & MTLI_CHECK_HOST)) {
    return;
  }
  parts->checks &= ~(uint32_t)MTLI_CHECK_HOST;
  if (device->driver->checks && !device->info.has_unified_memory) {
    mtli_check_turn_on();
    mtli_check_host_turn_on();
  } else {
    mtli_check_note_unchecked(
        "what the host does to buffers in use: unsupported "
        "on device '%s'; on 'cpu-discrete' it is checked",
        device->info.name);
  }
}

// Fills in the source of this and any later code of the pipeline.
static void choose_code(struct mtli_pipeline_parts *parts,
                        const mtl_function *function,
                        const mtl_pipeline_desc *desc) {
  const bool debug = desc->debug || function->library->compiled.code->debug;
  parts->tier = debug ? MTLI_TIER_0 : MTLI_TIER_1;
  parts->checks = desc->check ? desc->check : mtli_check_wanted();
  check_host(parts, function->library->device);
  if (parts->checks && !function->library->device->driver->checks) {
    mtli_check_note_unchecked("device '%s' checks no kernels",
                              function->library->device->info.name);
    parts->checks = 0;
  }
  if (parts->checks) {
    parts->tier = parts->is_screened ? MTLI_TIER_SCREENED : MTLI_TIER_CHECKED;
    mtli_check_turn_on();
  }
  const mtl_device *device = function->library->device;
  parts->target = device->driver->device_code_target(device);
}

mtl_status mtli_pipeline_compile(mtl_pipeline *pipeline,
                                 const mtl_function *function,
                                 const mtl_pipeline_desc *desc) {
  struct mtli_pipeline_parts *parts = pipeline->parts;
  choose_code(parts, function, desc);
  const mtli_group_class first =
      first_class(parts, function->library->device, desc);
  MTL_TRY(compile(function, parts, first, true, desc, &parts->compiled));
  return take_code(pipeline, desc);
}

mtl_status mtli_pipeline_compile_for(mtl_pipeline *pipeline,
                                     mtli_group_class group_class,
                                     mtli_take_code_fn *take, void *context) {
  const struct mtli_pipeline_parts *parts = pipeline->parts;
  mtli_compiled compiled;
  MTL_TRY(compile(parts->function, parts, group_class, false, &defaults,
                  &compiled));
  const mtli_code *code = compiled.code;
  const mtl_status status =
      code->kernel_count == 1 &&
              code->kernels[0].static_threadgroup_bytes ==
                  pipeline->kernel->static_threadgroup_bytes &&
              mtli_code_find_blob(code, pipeline->device->driver->code_kind)
          ? take(context, code)
          : mtli_fail(MTL_BAD_DATA,
                      "the compiler's code for other threadgroups of '%s' is "
                      "not of the same function",
                      pipeline->kernel->name);
  mtli_compiled_clear(&compiled);
  return status;
}

mtl_status mtl_pipeline_create(mtl_function *function,
                               const mtl_pipeline_desc *desc,
                               mtl_pipeline **out_pipeline) {
  return mtli_pipeline_create_into(function, desc, NULL, out_pipeline);
}

static mtl_status create(mtl_function *function, const mtl_pipeline_desc *desc,
                         mtl_binary_archive *into, bool is_screened,
                         mtl_pipeline **out_pipeline) {
  if (!function || !out_pipeline) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_pipeline_create: %s is NULL",
                     function ? "out_pipeline" : "function");
  }
  *out_pipeline = NULL;
  desc = desc ? desc : &defaults;
  mtl_device *device = function->library->device;
  MTL_TRY(mtli_device_check(device));
  if (function->kernel->is_visible) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_pipeline_create: '%s' is a visible function; a "
                     "pipeline is made of a kernel, and linked with those",
                     function->kernel->name);
  }
  MTL_TRY(check_parameters(function));
  mtl_pipeline *pipeline = calloc(1, device->driver->pipeline_bytes);
  struct mtli_pipeline_parts *parts = calloc(1, sizeof *parts);
  if (!pipeline || !parts) {
    free(pipeline);
    free(parts);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline");
  }
  mtli_object_init(&pipeline->object, pipeline_destroy);
  pipeline->device = device;
  pipeline->parts = parts;
  mtl_status status =
      mtli_linked_functions_create(device, desc, &parts->linked);
  parts->into = into;
  parts->is_screened = is_screened;
  if (status == MTL_OK) {
    status = mtli_archives_create(device, desc, &parts->archives);
  }
  if (status == MTL_OK) {
    status = device->driver->pipeline_create(pipeline, function, desc);
  }
  if (status == MTL_OK) {
    status = take_texts(pipeline, function, desc);
    if (status != MTL_OK) {
      device->driver->pipeline_destroy(pipeline);
    }
  }
  if (status != MTL_OK) {
    pipeline_free(pipeline);
    return status;
  }
  parts->into = NULL;
  mtl_device_retain(device);  // +1
  *out_pipeline = pipeline;
  return MTL_OK;
}

mtl_status mtli_pipeline_create_into(mtl_function *function,
                                     const mtl_pipeline_desc *desc,
                                     mtl_binary_archive *into,
                                     mtl_pipeline **out_pipeline) {
  return create(function, desc, into, false, out_pipeline);
}

mtl_status mtli_pipeline_create_screened(mtl_function *function,
                                         const mtl_pipeline_desc *desc,
                                         mtl_pipeline **out_pipeline) {
  mtl_pipeline_desc own = desc ? *desc : defaults;
  own.dump_after = NULL;
  own.report_code = false;
  own.fail_on_archive_miss = false;
  return create(function, &own, NULL, true, out_pipeline);
}

// One creation in the background, in a lane of its own.
typedef struct creation {
  mtli_task task;
  mtli_lane *lane;
  mtl_function *function;  // +1
  mtl_pipeline_desc desc;
  char *label;  // copies of desc's texts
  char *dump_after;
  mtli_linked_functions linked;
  mtli_archives archives;
  mtl_pipeline_callback *callback;
  void *context;
} creation;

static void creation_free(creation *work) {
  mtli_lane_end(work->lane);
  mtl_function_release(work->function);  // -1
  free(work->label);
  free(work->dump_after);
  mtli_linked_functions_clear(&work->linked);
  mtli_archives_clear(&work->archives);
  free(work);
}

// Makes desc name the functions and archives that work retains.
static mtl_status keep_linked(creation *work) {
  mtl_linked_functions *named = &work->desc.linked_functions;
  MTL_TRY(mtli_linked_functions_create(work->function->library->device,
                                       &work->desc, &work->linked));
  named->functions = work->linked.functions;
  named->private_functions = work->linked.functions + work->linked.table_count;
  MTL_TRY(mtli_archives_create(work->function->library->device, &work->desc,
                               &work->archives));
  work->desc.archives = work->archives.items;
  return MTL_OK;
}

static void creation_run(mtli_task *task) {
  creation *work = (creation *)task;
  mtl_pipeline *pipeline;
  const mtl_status status =
      mtl_pipeline_create(work->function, &work->desc, &pipeline);
  work->callback(work->context, pipeline, status,
                 status == MTL_OK ? "" : mtl_last_error());
  creation_free(work);
}

mtl_status mtl_pipeline_create_async(mtl_function *function,
                                     const mtl_pipeline_desc *desc,
                                     mtl_pipeline_callback *callback,
                                     void *context) {
  if (!function || !callback) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_pipeline_create_async: %s is NULL",
                     function ? "callback" : "function");
  }
  MTL_TRY(mtli_device_check(function->library->device));
  creation *work = calloc(1, sizeof *work);
  if (!work) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline");
  }
  work->function = mtl_function_retain(function);  // +1
  work->desc = desc ? *desc : (mtl_pipeline_desc){0};
  work->label = mtli_label_copy(work->desc.label);
  work->dump_after = mtli_label_copy(work->desc.dump_after);
  work->desc.label = work->label;
  work->desc.dump_after = work->dump_after;
  work->callback = callback;
  work->context = context;
  work->task.run = creation_run;
  work->lane = mtli_lane_create();
  mtl_status status =
      work->lane ? keep_linked(work)
                 : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a pipeline");
  if (status != MTL_OK) {
    creation_free(work);
    return status;
  }
  mtli_lane_post(work->lane, &work->task);
  return MTL_OK;
}

mtl_pipeline *mtl_pipeline_retain(mtl_pipeline *pipeline) {
  if (pipeline) {
    mtli_object_retain(&pipeline->object);
  }
  return pipeline;
}

void mtl_pipeline_release(mtl_pipeline *pipeline) {
  if (pipeline) {
    mtli_object_release(&pipeline->object);
  }
}

uint32_t mtl_pipeline_max_total_threads_per_threadgroup(
    const mtl_pipeline *pipeline) {
  return pipeline->max_threads;
}

uint32_t mtl_pipeline_thread_execution_width(const mtl_pipeline *pipeline) {
  return pipeline->device->info.thread_execution_width;
}

size_t mtl_pipeline_static_threadgroup_memory_bytes(
    const mtl_pipeline *pipeline) {
  return pipeline->kernel->static_threadgroup_bytes;
}

const mtl_argument *mtl_pipeline_arguments(const mtl_pipeline *pipeline,
                                           size_t *out_count) {
  if (out_count) {
    *out_count = pipeline->parts->argument_count;
  }
  return pipeline->parts->arguments;
}

const mtli_linked_functions *mtli_pipeline_linked(
    const mtl_pipeline *pipeline) {
  return &pipeline->parts->linked;
}

const char *mtl_pipeline_label(const mtl_pipeline *pipeline) {
  return pipeline->parts->label ? pipeline->parts->label
                                : pipeline->kernel->name;
}

const char *mtl_pipeline_report(const mtl_pipeline *pipeline) {
  return pipeline->parts->report ? pipeline->parts->report : "";
}

const char *mtl_pipeline_dump(const mtl_pipeline *pipeline) {
  return pipeline->parts->compiled.dump ? pipeline->parts->compiled.dump : "";
}
