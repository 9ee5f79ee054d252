// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run.c: `mettle iree run`: loads a program that iree-compile made for Metal,
// calls a function of it and prints what it returns.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hal_driver.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/tooling/function_io.h"
#include "tool.h"

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static iree_status_t open_device(const tool_options *options,
                                 iree_hal_driver_registry_t *registry,
                                 iree_hal_device_t **out_device) {
  char uri[256];
  iree_allocator_t allocator = iree_allocator_system();
  iree_async_proactor_pool_t *pool = NULL;
  snprintf(uri, sizeof uri, METTLE_HAL_DRIVER_NAME "%s%s",
           options->device ? "://" : "",
           options->device ? options->device : "");
  IREE_RETURN_IF_ERROR(iree_async_proactor_pool_create(
      1, /*node_ids=*/NULL, iree_async_proactor_pool_options_default(),
      allocator, &pool));
  iree_hal_device_create_params_t params =
      iree_hal_device_create_params_default();
  params.proactor_pool = pool;
  iree_status_t status = iree_hal_create_device(
      registry, iree_make_cstring_view(uri), &params, allocator, out_device);
  iree_async_proactor_pool_release(pool);
  return status;
}

static iree_status_t open_session(const tool_options *options,
                                  iree_runtime_session_t **out_session) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_hal_driver_registry_t *registry = iree_hal_driver_registry_default();
  iree_runtime_instance_options_t instance_options;
  iree_runtime_instance_options_initialize(&instance_options);
  instance_options.driver_registry = registry;
  iree_status_t status = mettle_hal_driver_module_register(registry);
  if (iree_status_is_already_exists(status)) {
    status = iree_status_ignore(status);
  }
  iree_runtime_instance_t *instance = NULL;
  iree_hal_device_t *device = NULL;
  if (iree_status_is_ok(status)) {
    status =
        iree_runtime_instance_create(&instance_options, allocator, &instance);
  }
  if (iree_status_is_ok(status)) {
    status = open_device(options, registry, &device);
  }
  if (iree_status_is_ok(status)) {
    iree_runtime_session_options_t session_options;
    iree_runtime_session_options_initialize(&session_options);
    status = iree_runtime_session_create_with_device(
        instance, &session_options, device, allocator, out_session);
  }
  iree_hal_device_release(device);
  iree_runtime_instance_release(instance);
  return status;
}

// Finds the function: by its name with the module's in front, by its name in
// the program's module, or the only one that is not a variant of another.
static iree_status_t find_function(const tool_options *options,
                                   iree_runtime_session_t *session,
                                   iree_vm_function_t *out_function) {
  iree_vm_context_t *context = iree_runtime_session_context(session);
  iree_vm_module_t *module = iree_vm_context_module_at(
      context, iree_vm_context_module_count(context) - 1);
  if (options->function && strchr(options->function, '.')) {
    return iree_runtime_session_lookup_function(
        session, iree_make_cstring_view(options->function), out_function);
  }
  if (options->function) {
    return iree_vm_module_lookup_function_by_name(
        module, IREE_VM_FUNCTION_LINKAGE_EXPORT,
        iree_make_cstring_view(options->function), out_function);
  }
  iree_host_size_t found = 0;
  const iree_host_size_t count =
      iree_vm_module_signature(module).export_function_count;
  for (iree_host_size_t i = 0; i < count; i++) {
    iree_vm_function_t function;
    IREE_RETURN_IF_ERROR(iree_vm_module_lookup_function_by_ordinal(
        module, IREE_VM_FUNCTION_LINKAGE_EXPORT, i, &function));
    iree_string_view_t name = iree_vm_function_name(&function);
    if (iree_string_view_starts_with(name, IREE_SV("__")) ||
        iree_string_view_find_char(name, '$', 0) != IREE_STRING_VIEW_NPOS) {
      continue;
    }
    *out_function = function;
    found++;
  }
  return found == 1 ? iree_ok_status()
                    : iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                                       "the program has %" PRIhsz
                                       " functions: --function says which",
                                       found);
}

static iree_status_t read_inputs(const tool_options *options,
                                 iree_runtime_session_t *session,
                                 iree_vm_function_t function,
                                 iree_vm_list_t **out_inputs) {
  iree_vm_function_signature_t signature =
      iree_vm_function_signature(&function);
  iree_string_view_t arguments;
  iree_string_view_t results;
  IREE_RETURN_IF_ERROR(iree_vm_function_call_get_cconv_fragments(
      &signature, &arguments, &results));
  return iree_tooling_parse_variants(
      arguments,
      (iree_string_view_list_t){.count = options->input_count,
                                .values = options->inputs},
      iree_runtime_session_device(session),
      iree_runtime_session_device_allocator(session), iree_allocator_system(),
      out_inputs);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

// Calls the function as often as is wanted; results are the last call's.
static iree_status_t call(const tool_options *options,
                          iree_runtime_session_t *session,
                          iree_vm_function_t function, iree_vm_list_t *inputs,
                          iree_vm_list_t *results, double *seconds,
                          tool_times *times) {
  const double cpu_start = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  for (uint32_t i = 0; i < options->repeats; i++) {
    iree_vm_list_clear(results);
    const double start = seconds_of(CLOCK_MONOTONIC);
    IREE_RETURN_IF_ERROR(
        iree_runtime_session_call(session, &function, inputs, results));
    seconds[i] = seconds_of(CLOCK_MONOTONIC) - start;
  }
  times->cpu_seconds = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) /
                       (double)options->repeats;
  qsort(seconds, options->repeats, sizeof *seconds, compare);
  times->min_seconds = seconds[0];
  times->median_seconds = seconds[options->repeats / 2];
  return iree_ok_status();
}

static iree_status_t call_and_report(const tool_options *options,
                                     iree_runtime_session_t *session,
                                     tool_times *times) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_vm_function_t function;
  IREE_RETURN_IF_ERROR(find_function(options, session, &function));
  char name[256];
  iree_string_view_t view = iree_vm_function_name(&function);
  snprintf(name, sizeof name, "%.*s", (int)view.size, view.data);
  iree_vm_list_t *inputs = NULL;
  iree_vm_list_t *results = NULL;
  double *seconds = NULL;
  iree_status_t status = read_inputs(options, session, function, &inputs);
  if (iree_status_is_ok(status)) {
    status = iree_vm_list_create(iree_vm_make_undefined_type_def(), 8,
                                 allocator, &results);
  }
  if (iree_status_is_ok(status)) {
    status = iree_allocator_malloc_array(allocator, options->repeats,
                                         sizeof *seconds, (void **)&seconds);
  }
  if (iree_status_is_ok(status)) {
    status = call(options, session, function, inputs, results, seconds, times);
  }
  if (iree_status_is_ok(status)) {
    status = tool_report(options, name, session, results, times);
  }
  iree_allocator_free(allocator, seconds);
  iree_vm_list_release(results);
  iree_vm_list_release(inputs);
  return status;
}

static iree_status_t run(const tool_options *options) {
  iree_runtime_session_t *session = NULL;
  tool_times times = {0};
  const double start = seconds_of(CLOCK_MONOTONIC);
  iree_status_t status = open_session(options, &session);
  if (iree_status_is_ok(status)) {
    status = iree_runtime_session_append_bytecode_module_from_file(
        session, options->program);
  }
  times.load_seconds = seconds_of(CLOCK_MONOTONIC) - start;
  if (iree_status_is_ok(status)) {
    status = call_and_report(options, session, &times);
  }
  iree_runtime_session_release(session);
  return status;
}

// What the command mettle calls: arguments are those behind "iree", NULL at the
// end. Returns the exit code: 0, 1 if the work failed, 2 if the command line is
// wrong.
TOOL_API int mettle_iree_main(char **arguments);

int mettle_iree_main(char **arguments) {
  tool_options *options = malloc(sizeof *options);
  int code = 2;
  if (!options) {
    fputs("mettle iree: out of memory\n", stderr);
    return 1;
  }
  if (tool_parse(arguments, options)) {
    iree_status_t status = run(options);
    code = iree_status_is_ok(status) ? 0 : 1;
    if (code) {
      fputs("mettle iree: ", stderr);
      iree_status_fprint(stderr, status);
      iree_status_free(status);
    }
  }
  free(options);
  return code;
}
