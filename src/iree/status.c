// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// status.c: converts Mettle's failures to IREE's.
#include "mettle_hal.h"

static iree_status_code_t code_of(mtl_status status) {
  switch (status) {
    case MTL_OK: return IREE_STATUS_OK;
    case MTL_INVALID_ARGUMENT:
    case MTL_COMPILE_FAILED: return IREE_STATUS_INVALID_ARGUMENT;
    case MTL_INVALID_STATE: return IREE_STATUS_FAILED_PRECONDITION;
    case MTL_OUT_OF_MEMORY: return IREE_STATUS_RESOURCE_EXHAUSTED;
    case MTL_NOT_FOUND: return IREE_STATUS_NOT_FOUND;
    case MTL_UNSUPPORTED: return IREE_STATUS_UNIMPLEMENTED;
    case MTL_COMPILER_LOST: return IREE_STATUS_UNAVAILABLE;
    case MTL_BAD_DATA: return IREE_STATUS_DATA_LOSS;
    case MTL_TIMED_OUT: return IREE_STATUS_DEADLINE_EXCEEDED;
    case MTL_CANCELLED: return IREE_STATUS_CANCELLED;
    case MTL_IO_ERROR:
    case MTL_KERNEL_FAULT: return IREE_STATUS_INTERNAL;
  }
  return IREE_STATUS_UNKNOWN;
}

iree_status_t mettle_status_text(mtl_status status, const char *text) {
  if (status == MTL_OK) {
    return iree_ok_status();
  }
  return iree_make_status(code_of(status), "%s: %s", mtl_status_name(status),
                          text);
}

iree_status_t mettle_status(mtl_status status, const char *what) {
  if (status == MTL_OK) {
    return iree_ok_status();
  }
  return iree_make_status(code_of(status), "%s: %s: %s", what,
                          mtl_status_name(status), mtl_last_error());
}
