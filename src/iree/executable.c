// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// executable.c: loads IREE's executables for Metal: compiles the MSL sources of
// a flatbuffer into pipelines.
#include <stdio.h>
#include <string.h>

#include "iree/base/internal/flatcc/parsing.h"
#include "iree/hal/utils/executable_header.h"
#include "iree/schemas/metal_executable_def_reader.h"
#include "iree/schemas/metal_executable_def_verifier.h"
#include "mettle_hal.h"

static const iree_hal_executable_vtable_t executable_vtable;

mettle_executable *mettle_executable_cast(iree_hal_executable_t *base) {
  return iree_hal_resource_is((const iree_hal_resource_t *)base,
                              &executable_vtable)
             ? (mettle_executable *)base
             : NULL;
}

static iree_status_t check_library(iree_hal_metal_LibraryDef_table_t library,
                                   iree_host_size_t i) {
  if (!library) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "library %" PRIhsz " of the executable is missing",
                            i);
  }
  iree_hal_metal_MSLSourceDef_table_t source =
      iree_hal_metal_LibraryDef_source_get(library);
  if (!source || flatbuffers_string_len(
                     iree_hal_metal_MSLSourceDef_code_get(source)) == 0) {
    return iree_make_status(
        IREE_STATUS_INVALID_ARGUMENT,
        "library %" PRIhsz
        " of the executable has no MSL source%s: compile "
        "with --iree-metal-compile-to-metallib=false",
        i,
        iree_hal_metal_LibraryDef_metallib_is_present(library)
            ? ", but Apple's machine code (a metallib)"
            : "");
  }
  return iree_ok_status();
}

static iree_status_t check_pipeline(iree_hal_metal_PipelineDef_table_t pipeline,
                                    iree_host_size_t i,
                                    iree_host_size_t library_count) {
  if (!pipeline ||
      flatbuffers_string_len(
          iree_hal_metal_PipelineDef_entry_point_get(pipeline)) == 0 ||
      !iree_hal_metal_PipelineDef_threadgroup_size_is_present(pipeline)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function %" PRIhsz
                            " of the executable has no "
                            "name or no threadgroup size",
                            i);
  }
  const uint32_t library =
      iree_hal_metal_PipelineDef_library_ordinal_get(pipeline);
  const uint32_t constants =
      iree_hal_metal_PipelineDef_constant_count_get(pipeline);
  const size_t bindings = iree_hal_metal_BindingBits_vec_len(
      iree_hal_metal_PipelineDef_binding_flags_get(pipeline));
  if (library >= library_count || constants > MAX_CONSTANTS ||
      bindings > MAX_BINDINGS) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "function %" PRIhsz
                            " of the executable: library %u of %" PRIhsz
                            ", %u constants of %u, %zu bindings of %u",
                            i, library, library_count, constants, MAX_CONSTANTS,
                            bindings, MAX_BINDINGS);
  }
  return iree_ok_status();
}

static iree_status_t read_definition(
    iree_const_byte_span_t data, bool may_infer,
    iree_const_byte_span_t *out_flatbuffer,
    iree_hal_metal_ExecutableDef_table_t *out_definition) {
  IREE_RETURN_IF_ERROR(iree_hal_read_executable_flatbuffer_header(
      data, may_infer, iree_hal_metal_ExecutableDef_file_identifier,
      out_flatbuffer));
  const int error = iree_hal_metal_ExecutableDef_verify_as_root(
      out_flatbuffer->data, out_flatbuffer->data_length);
  if (error != flatcc_verify_ok) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the executable's flatbuffer is damaged: %s",
                            flatcc_verify_error_string(error));
  }
  *out_definition = iree_hal_metal_ExecutableDef_as_root(out_flatbuffer->data);
  return iree_ok_status();
}

static iree_status_t check_definition(
    iree_hal_metal_ExecutableDef_table_t definition) {
  iree_hal_metal_LibraryDef_vec_t libraries =
      iree_hal_metal_ExecutableDef_libraries_get(definition);
  const iree_host_size_t library_count =
      iree_hal_metal_LibraryDef_vec_len(libraries);
  for (iree_host_size_t i = 0; i < library_count; i++) {
    IREE_RETURN_IF_ERROR(
        check_library(iree_hal_metal_LibraryDef_vec_at(libraries, i), i));
  }
  iree_hal_metal_PipelineDef_vec_t pipelines =
      iree_hal_metal_ExecutableDef_pipelines_get(definition);
  for (iree_host_size_t i = 0;
       i < iree_hal_metal_PipelineDef_vec_len(pipelines); i++) {
    IREE_RETURN_IF_ERROR(check_pipeline(
        iree_hal_metal_PipelineDef_vec_at(pipelines, i), i, library_count));
  }
  return iree_ok_status();
}

iree_status_t mettle_executable_infer_format(iree_const_byte_span_t data,
                                             iree_host_size_t capacity,
                                             char *format,
                                             iree_host_size_t *out_size) {
  iree_const_byte_span_t flatbuffer;
  iree_hal_metal_ExecutableDef_table_t definition;
  IREE_RETURN_IF_ERROR(
      read_definition(data, data.data_length == 0, &flatbuffer, &definition));
  if (capacity < sizeof METTLE_EXECUTABLE_FORMAT) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "the name of the format takes %zu bytes",
                            sizeof METTLE_EXECUTABLE_FORMAT);
  }
  memcpy(format, METTLE_EXECUTABLE_FORMAT, sizeof METTLE_EXECUTABLE_FORMAT);
  *out_size = sizeof(iree_flatbuffer_file_header_t) + flatbuffer.data_length;
  return iree_ok_status();
}

// MTLLanguageVersion has the major version in its upper half.
static mtl_language_version version_of(uint32_t version) {
  switch (version) {
    case (2 << 16) + 4: return MTL_LANGUAGE_2_4;
    case 3 << 16: return MTL_LANGUAGE_3_0;
    case (3 << 16) + 1: return MTL_LANGUAGE_3_1;
    case (3 << 16) + 2: return MTL_LANGUAGE_3_2;
    case 4 << 16: return MTL_LANGUAGE_4_0;
    case (4 << 16) + 1: return MTL_LANGUAGE_4_1;
    default: return MTL_LANGUAGE_DEFAULT;
  }
}

static iree_status_t compile_library(mettle_device *device,
                                     iree_hal_metal_LibraryDef_table_t library,
                                     mtl_library **out_library) {
  iree_hal_metal_MSLSourceDef_table_t source =
      iree_hal_metal_LibraryDef_source_get(library);
  flatbuffers_string_t code = iree_hal_metal_MSLSourceDef_code_get(source);
  const mtl_compile_options options = {
      .language_version =
          version_of(iree_hal_metal_MSLSourceDef_version_get(source)),
      .math_mode = device->math_mode};
  return mettle_status(mtl_library_create_from_source(
                           device->device, code, flatbuffers_string_len(code),
                           &options, out_library),
                       "the executable's MSL does not compile");
}

static bool has_constants(mtl_function *function) {
  size_t count = 0;
  const mtl_argument *arguments = mtl_function_arguments(function, &count);
  for (size_t i = 0; i < count; i++) {
    if (arguments[i].kind == MTL_ARGUMENT_BUFFER &&
        arguments[i].index == CONSTANTS_INDEX) {
      return true;
    }
  }
  return false;
}

static iree_status_t make_pipeline(mtl_function *function,
                                   mettle_pipeline *pipeline) {
  mtl_pipeline_desc desc = {0};
  memcpy(desc.group_threads, pipeline->group_threads,
         sizeof desc.group_threads);
  IREE_RETURN_IF_ERROR(mettle_layout_query(function, pipeline->binding_count,
                                           &pipeline->layout));
  pipeline->takes_constants = has_constants(function);
  return mettle_status(
      mtl_pipeline_create(function, &desc, &pipeline->pipeline),
      "mtl_pipeline_create");
}

static void describe_pipeline(iree_hal_metal_PipelineDef_table_t definition,
                              mettle_pipeline *pipeline) {
  const iree_hal_metal_ThreadgroupSize_t *group =
      iree_hal_metal_PipelineDef_threadgroup_size_get(definition);
  pipeline->group_threads[0] = group->x;
  pipeline->group_threads[1] = group->y;
  pipeline->group_threads[2] = group->z;
  pipeline->constant_count =
      iree_hal_metal_PipelineDef_constant_count_get(definition);
  iree_hal_metal_BindingBits_vec_t flags =
      iree_hal_metal_PipelineDef_binding_flags_get(definition);
  pipeline->binding_count = (uint32_t)iree_hal_metal_BindingBits_vec_len(flags);
  for (uint32_t i = 0; i < pipeline->binding_count; i++) {
    if (iree_hal_metal_BindingBits_vec_at(flags, i) &
        iree_hal_metal_BindingBits_IMMUTABLE) {
      pipeline->read_only |= 1ull << i;
    }
  }
}

static flatbuffers_string_t name_of(
    iree_hal_metal_PipelineDef_table_t definition) {
  flatbuffers_string_t name = iree_hal_metal_PipelineDef_name_get(definition);
  return flatbuffers_string_len(name)
             ? name
             : iree_hal_metal_PipelineDef_entry_point_get(definition);
}

static iree_status_t create_pipeline(
    mtl_library *library, iree_hal_metal_PipelineDef_table_t definition,
    mettle_pipeline *pipeline) {
  describe_pipeline(definition, pipeline);
  mtl_function *function = NULL;
  IREE_RETURN_IF_ERROR(mettle_status(
      mtl_function_create(
          library, iree_hal_metal_PipelineDef_entry_point_get(definition), NULL,
          &function),
      "mtl_function_create"));
  iree_status_t status = make_pipeline(function, pipeline);
  mtl_function_release(function);
  return status;
}

static iree_status_t create_pipelines(
    mettle_executable *executable,
    iree_hal_metal_ExecutableDef_table_t definition) {
  mettle_device *device = executable->device;
  iree_hal_metal_LibraryDef_vec_t libraries =
      iree_hal_metal_ExecutableDef_libraries_get(definition);
  iree_hal_metal_PipelineDef_vec_t pipelines =
      iree_hal_metal_ExecutableDef_pipelines_get(definition);
  iree_status_t status = iree_ok_status();
  for (iree_host_size_t l = 0;
       l < iree_hal_metal_LibraryDef_vec_len(libraries) &&
       iree_status_is_ok(status);
       l++) {
    mtl_library *library = NULL;
    status = compile_library(
        device, iree_hal_metal_LibraryDef_vec_at(libraries, l), &library);
    for (iree_host_size_t i = 0;
         i < executable->pipeline_count && iree_status_is_ok(status); i++) {
      iree_hal_metal_PipelineDef_table_t pipeline =
          iree_hal_metal_PipelineDef_vec_at(pipelines, i);
      if (iree_hal_metal_PipelineDef_library_ordinal_get(pipeline) == l) {
        status = create_pipeline(library, pipeline, &executable->pipelines[i]);
      }
    }
    mtl_library_release(library);
  }
  return status;
}

// Copies the names behind the pipelines: the flatbuffer need not last.
static void copy_names(mettle_executable *executable,
                       iree_hal_metal_PipelineDef_vec_t pipelines) {
  char *text = (char *)&executable->pipelines[executable->pipeline_count];
  for (iree_host_size_t i = 0; i < executable->pipeline_count; i++) {
    flatbuffers_string_t name =
        name_of(iree_hal_metal_PipelineDef_vec_at(pipelines, i));
    const size_t length = flatbuffers_string_len(name);
    memcpy(text, name, length);
    executable->pipelines[i].name = iree_make_string_view(text, length);
    text += length;
  }
}

iree_status_t mettle_executable_create(
    mettle_device *device, const iree_hal_executable_params_t *params,
    iree_hal_executable_t **out_executable) {
  *out_executable = NULL;
  iree_const_byte_span_t flatbuffer;
  iree_hal_metal_ExecutableDef_table_t definition;
  IREE_RETURN_IF_ERROR(read_definition(params->executable_data, false,
                                       &flatbuffer, &definition));
  IREE_RETURN_IF_ERROR(check_definition(definition));
  iree_hal_metal_PipelineDef_vec_t pipelines =
      iree_hal_metal_ExecutableDef_pipelines_get(definition);
  const iree_host_size_t count = iree_hal_metal_PipelineDef_vec_len(pipelines);
  iree_host_size_t bytes =
      sizeof(mettle_executable) + count * sizeof(mettle_pipeline);
  for (iree_host_size_t i = 0; i < count; i++) {
    bytes += flatbuffers_string_len(
        name_of(iree_hal_metal_PipelineDef_vec_at(pipelines, i)));
  }
  mettle_executable *executable = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, bytes,
                                             (void **)&executable));
  memset(executable, 0, bytes);
  iree_hal_resource_initialize(&executable_vtable, &executable->resource);
  executable->device = device;
  mettle_device_retain(device);  // +1
  executable->host_allocator = device->host_allocator;
  executable->pipeline_count = count;
  executable->profile_id = mettle_device_next_id(device);
  copy_names(executable, pipelines);
  iree_status_t status = create_pipelines(executable, definition);
  if (iree_status_is_ok(status)) {
    *out_executable = (iree_hal_executable_t *)executable;
  } else {
    iree_hal_executable_release((iree_hal_executable_t *)executable);
  }
  return status;
}

static void executable_destroy(iree_hal_executable_t *base) {
  mettle_executable *executable = (mettle_executable *)base;
  mettle_device *device = executable->device;
  for (iree_host_size_t i = 0; i < executable->pipeline_count; i++) {
    mtl_pipeline_release(executable->pipelines[i].pipeline);  // -1
  }
  iree_allocator_free(executable->host_allocator, executable);
  mettle_device_release(device);  // -1
}

iree_status_t mettle_executable_pipeline(
    mettle_executable *executable, iree_hal_executable_function_t function,
    mettle_pipeline **out_pipeline) {
  if (!iree_hal_executable_function_is_index_in_range(
          function, executable->pipeline_count)) {
    return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                            "function %" PRIu64 " of %" PRIhsz, function.value,
                            executable->pipeline_count);
  }
  *out_pipeline =
      &executable->pipelines[iree_hal_executable_function_index(function)];
  return iree_ok_status();
}

static iree_host_size_t executable_function_count(iree_hal_executable_t *base) {
  return ((mettle_executable *)base)->pipeline_count;
}

static iree_status_t executable_function_info(
    iree_hal_executable_t *base, iree_hal_executable_function_t function,
    iree_hal_executable_function_info_t *out_info) {
  mettle_pipeline *pipeline = NULL;
  IREE_RETURN_IF_ERROR(mettle_executable_pipeline((mettle_executable *)base,
                                                  function, &pipeline));
  memset(out_info, 0, sizeof *out_info);
  out_info->name = pipeline->name;
  out_info->constant_count = (uint16_t)pipeline->constant_count;
  out_info->binding_count = (uint16_t)pipeline->binding_count;
  out_info->parameter_count =
      (uint16_t)(pipeline->binding_count + pipeline->constant_count);
  memcpy(out_info->workgroup_size, pipeline->group_threads,
         sizeof out_info->workgroup_size);
  return iree_ok_status();
}

// Bindings come first and then the constants, which are words without names.
static iree_status_t executable_function_parameters(
    iree_hal_executable_t *base, iree_hal_executable_function_t function,
    iree_host_size_t capacity,
    iree_hal_executable_function_parameter_t *out_parameters) {
  mettle_pipeline *pipeline = NULL;
  IREE_RETURN_IF_ERROR(mettle_executable_pipeline((mettle_executable *)base,
                                                  function, &pipeline));
  const iree_host_size_t count =
      pipeline->binding_count + pipeline->constant_count;
  for (iree_host_size_t i = 0; i < count && i < capacity; i++) {
    iree_hal_executable_function_parameter_t *parameter = &out_parameters[i];
    memset(parameter, 0, sizeof *parameter);
    if (i < pipeline->binding_count) {
      parameter->type = IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_BINDING;
      parameter->offset = (uint16_t)i;
    } else {
      parameter->type = IREE_HAL_EXECUTABLE_FUNCTION_PARAMETER_TYPE_CONSTANT;
      parameter->size = sizeof(uint32_t);
      parameter->offset =
          (uint16_t)((i - pipeline->binding_count) * sizeof(uint32_t));
    }
  }
  return iree_ok_status();
}

static iree_status_t executable_lookup_function_by_name(
    iree_hal_executable_t *base, iree_string_view_t name,
    iree_hal_executable_function_t *out_function) {
  mettle_executable *executable = (mettle_executable *)base;
  for (iree_host_size_t i = 0; i < executable->pipeline_count; i++) {
    if (iree_string_view_equal(executable->pipelines[i].name, name)) {
      *out_function = iree_hal_executable_function_from_index((uint32_t)i);
      return iree_ok_status();
    }
  }
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "the executable has no function '%.*s'",
                          (int)name.size, name.data);
}

static iree_status_t executable_lookup_global_by_name(
    iree_hal_executable_t *base, iree_string_view_t name,
    iree_hal_queue_affinity_t affinity, iree_hal_buffer_t **out_buffer) {
  (void)base;
  (void)affinity;
  *out_buffer = NULL;
  return iree_make_status(IREE_STATUS_NOT_FOUND,
                          "no global '%.*s': MSL has no writable globals",
                          (int)name.size, name.data);
}

static const iree_hal_executable_vtable_t executable_vtable = {
    .destroy = executable_destroy,
    .function_count = executable_function_count,
    .function_info = executable_function_info,
    .function_parameters = executable_function_parameters,
    .lookup_function_by_name = executable_lookup_function_by_name,
    .lookup_global_by_name = executable_lookup_global_by_name,
};
