// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: checks of commands that command buffers and queues share.
#include <string.h>

#include "mettle_hal.h"

iree_status_t mettle_command_set_pattern(mettle_command *command,
                                         const void *pattern,
                                         iree_host_size_t pattern_bytes) {
  if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a fill pattern of %" PRIhsz
                            " bytes: 1, 2 and 4 are possible",
                            pattern_bytes);
  }
  memcpy(&command->pattern, pattern, pattern_bytes);
  command->pattern_bytes = (uint32_t)pattern_bytes;
  return iree_ok_status();
}

static iree_status_t check_flags(const mettle_pipeline *pipeline,
                                 const iree_hal_dispatch_config_t *config,
                                 iree_hal_dispatch_flags_t flags) {
  if (iree_hal_dispatch_uses_custom_arguments(flags)) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "custom and indirect arguments are not supported");
  }
  if (config->dynamic_workgroup_local_memory) {
    return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                            "workgroup memory of a dynamic size is not "
                            "supported");
  }
  for (int i = 0; i < 3; i++) {
    if (config->workgroup_size[i] &&
        config->workgroup_size[i] != pipeline->group_threads[i]) {
      return iree_make_status(
          IREE_STATUS_UNIMPLEMENTED,
          "workgroups of %ux%ux%u threads; the function is made for %ux%ux%u",
          config->workgroup_size[0], config->workgroup_size[1],
          config->workgroup_size[2], pipeline->group_threads[0],
          pipeline->group_threads[1], pipeline->group_threads[2]);
    }
  }
  return iree_ok_status();
}

iree_status_t mettle_dispatch_prepare(iree_hal_executable_t *base,
                                      iree_hal_executable_function_t function,
                                      iree_hal_dispatch_config_t config,
                                      iree_const_byte_span_t constants,
                                      iree_host_size_t binding_count,
                                      iree_hal_dispatch_flags_t flags,
                                      mettle_dispatch *out_dispatch) {
  mettle_executable *executable = mettle_executable_cast(base);
  if (!executable) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the executable is another driver's");
  }
  mettle_pipeline *pipeline = NULL;
  IREE_RETURN_IF_ERROR(
      mettle_executable_pipeline(executable, function, &pipeline));
  IREE_RETURN_IF_ERROR(check_flags(pipeline, &config, flags));
  if (constants.data_length != pipeline->constant_count * sizeof(uint32_t) ||
      binding_count < pipeline->binding_count) {
    return iree_make_status(
        IREE_STATUS_INVALID_ARGUMENT,
        "function '%.*s' takes %u words of constants and %u bindings; there "
        "are %" PRIhsz " bytes and %" PRIhsz " bindings",
        (int)pipeline->name.size, pipeline->name.data, pipeline->constant_count,
        pipeline->binding_count, constants.data_length, binding_count);
  }
  *out_dispatch = (mettle_dispatch){
      .base_executable = base,
      .executable = executable,
      .pipeline = pipeline,
      .function_ordinal = iree_hal_executable_function_index(function),
      .group_count = {config.workgroup_count[0], config.workgroup_count[1],
                      config.workgroup_count[2]},
      .is_indirect = iree_hal_dispatch_uses_indirect_parameters(flags),
      .constants_bytes = (uint32_t)constants.data_length,
      .binding_count = (uint32_t)binding_count};
  if (out_dispatch->is_indirect) {
    out_dispatch->group_count_ref = config.workgroup_count_ref;
  }
  return iree_ok_status();
}
