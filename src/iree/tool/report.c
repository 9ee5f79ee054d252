// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.c: results and times of `mettle iree run`, for people or as JSON.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "iree/io/stdio_stream.h"
#include "iree/modules/hal/types.h"
#include "iree/tooling/function_io.h"
#include "iree/tooling/function_util.h"
#include "tool.h"

enum { MAX_ELEMENTS = 1024 };

static void write_text(const char *text) {
  putchar('"');
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') {
      printf("\\%c", *text);
    } else if ((unsigned char)*text < 0x20) {
      printf("\\u%04x", (unsigned)*text);
    } else {
      putchar(*text);
    }
  }
  putchar('"');
}

// JSON has no word for infinities and NaN.
static void write_number(double value, int digits) {
  if (isfinite(value)) {
    printf("%.*g", digits, value);
  } else {
    fputs(isnan(value) ? "\"nan\""
          : value > 0  ? "\"inf\""
                       : "\"-inf\"",
          stdout);
  }
}

static iree_status_t write_element(iree_const_byte_span_t bytes,
                                   iree_hal_element_type_t type) {
  if (type == IREE_HAL_ELEMENT_TYPE_FLOAT_32) {
    float value;
    memcpy(&value, bytes.data, sizeof value);
    write_number((double)value, 9);
    return iree_ok_status();
  }
  if (type == IREE_HAL_ELEMENT_TYPE_FLOAT_64) {
    double value;
    memcpy(&value, bytes.data, sizeof value);
    write_number(value, 17);
    return iree_ok_status();
  }
  char text[128];
  iree_host_size_t length = 0;
  IREE_RETURN_IF_ERROR(
      iree_hal_format_element(bytes, type, sizeof text, text, &length));
  const bool is_number = strspn(text, "+-.0123456789e") == length && length;
  if (is_number) {
    fputs(text, stdout);
  } else {
    write_text(text);
  }
  return iree_ok_status();
}

static iree_status_t write_values(iree_runtime_session_t *session,
                                  iree_hal_buffer_view_t *view) {
  const iree_hal_element_type_t type = iree_hal_buffer_view_element_type(view);
  const size_t bytes_each = (size_t)iree_hal_element_dense_byte_count(type);
  iree_host_size_t count = iree_hal_buffer_view_element_count(view);
  count = count < MAX_ELEMENTS ? count : MAX_ELEMENTS;
  char *bytes = calloc(count ? count : 1, bytes_each);
  if (!bytes) {
    return iree_make_status(IREE_STATUS_RESOURCE_EXHAUSTED, "out of memory");
  }
  iree_status_t status = iree_hal_device_transfer_d2h(
      iree_runtime_session_device(session), iree_hal_buffer_view_buffer(view),
      0, bytes, count * bytes_each, IREE_HAL_TRANSFER_BUFFER_FLAG_DEFAULT,
      iree_infinite_timeout());
  for (iree_host_size_t i = 0; i < count && iree_status_is_ok(status); i++) {
    fputs(i ? ", " : "", stdout);
    status = write_element(
        iree_make_const_byte_span(bytes + i * bytes_each, bytes_each), type);
  }
  free(bytes);
  return status;
}

static iree_status_t write_view(iree_runtime_session_t *session,
                                iree_hal_buffer_view_t *view) {
  char type[64] = "";
  iree_host_size_t length = 0;
  IREE_RETURN_IF_ERROR(iree_hal_format_element_type(
      iree_hal_buffer_view_element_type(view), sizeof type, type, &length));
  fputs("{\"type\": ", stdout);
  write_text(type);
  fputs(", \"shape\": [", stdout);
  for (iree_host_size_t i = 0; i < iree_hal_buffer_view_shape_rank(view); i++) {
    printf("%s%" PRIdim, i ? ", " : "",
           iree_hal_buffer_view_shape_dim(view, i));
  }
  fputs("], \"values\": [", stdout);
  IREE_RETURN_IF_ERROR(write_values(session, view));
  fputs("]}", stdout);
  return iree_ok_status();
}

static iree_status_t write_result(iree_runtime_session_t *session,
                                  iree_vm_list_t *results,
                                  iree_host_size_t index) {
  iree_vm_variant_t variant = iree_vm_variant_empty();
  IREE_RETURN_IF_ERROR(
      iree_vm_list_get_variant_assign(results, index, &variant));
  if (iree_vm_variant_is_ref(variant) &&
      iree_hal_buffer_view_isa(variant.ref)) {
    return write_view(session, iree_hal_buffer_view_deref(variant.ref));
  }
  iree_vm_value_t value = iree_vm_variant_value(variant);
  if (value.type == IREE_VM_VALUE_TYPE_I32) {
    printf("{\"type\": \"i32\", \"values\": [%" PRId32 "]}", value.i32);
  } else if (value.type == IREE_VM_VALUE_TYPE_I64) {
    printf("{\"type\": \"i64\", \"values\": [%" PRId64 "]}", value.i64);
  } else if (value.type == IREE_VM_VALUE_TYPE_F32) {
    fputs("{\"type\": \"f32\", \"values\": [", stdout);
    write_number((double)value.f32, 9);
    fputs("]}", stdout);
  } else {
    fputs("null", stdout);
  }
  return iree_ok_status();
}

static iree_status_t write_json(const tool_options *options,
                                const char *function,
                                iree_runtime_session_t *session,
                                iree_vm_list_t *results,
                                const tool_times *times) {
  fputs("{\"program\": ", stdout);
  write_text(options->program);
  fputs(", \"function\": ", stdout);
  write_text(function);
  printf(
      ", \"runs\": %u, \"load_seconds\": %.6g, \"min_seconds\": %.6g, "
      "\"median_seconds\": %.6g, \"cpu_seconds\": %.6g, \"results\": [",
      options->repeats, times->load_seconds, times->min_seconds,
      times->median_seconds, times->cpu_seconds);
  for (iree_host_size_t i = 0; i < iree_vm_list_size(results); i++) {
    fputs(i ? ", " : "", stdout);
    IREE_RETURN_IF_ERROR(write_result(session, results, i));
  }
  puts("]}");
  return iree_ok_status();
}

// Copies the results to memory that the host sees.
static iree_status_t fetch(iree_runtime_session_t *session,
                           iree_vm_list_t *results) {
  const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_MAPPING,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_HOST_LOCAL |
              IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE};
  return iree_tooling_transfer_variants(
      results, iree_runtime_session_device(session),
      iree_runtime_session_device_allocator(session), params,
      /*wait_fence=*/NULL, /*signal_fence=*/NULL);
}

static iree_status_t write_results(const tool_options *options,
                                   iree_runtime_session_t *session,
                                   iree_vm_list_t *results) {
  iree_io_stream_t *stream = NULL;
  iree_allocator_t allocator = iree_allocator_system();
  IREE_RETURN_IF_ERROR(fetch(session, results));
  IREE_RETURN_IF_ERROR(iree_io_stdio_stream_wrap(IREE_IO_STREAM_MODE_WRITABLE,
                                                 stdout, /*owns_handle=*/false,
                                                 allocator, &stream));
  iree_status_t status =
      options->output_count
          ? iree_tooling_write_variants(
                results,
                (iree_string_view_list_t){.count = options->output_count,
                                          .values = options->outputs},
                MAX_ELEMENTS, stream, allocator)
          : iree_tooling_print_variants(IREE_SV("result"), results,
                                        MAX_ELEMENTS, stream, allocator);
  iree_io_stream_release(stream);
  return status;
}

iree_status_t tool_report(const tool_options *options, const char *function,
                          iree_runtime_session_t *session,
                          iree_vm_list_t *results, const tool_times *times) {
  if (options->output_count || !options->as_json) {
    IREE_RETURN_IF_ERROR(write_results(options, session, results));
  }
  if (options->as_json) {
    return write_json(options, function, session, results, times);
  }
  if (options->repeats > 1) {
    printf(
        "%u runs: %.3f ms at least, %.3f ms in the middle, %.3f ms of "
        "processor time each\n",
        options->repeats, times->min_seconds * 1e3, times->median_seconds * 1e3,
        times->cpu_seconds * 1e3);
  }
  return iree_ok_status();
}
