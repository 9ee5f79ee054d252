// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_failure.c: fails with the text that a model left for its last failure.
#include "aoti/model/model.h"

mtl_status model_fail_call(const mtl_model *model, const char *what) {
  const char *text = NULL;
  if (model->call.last_error) {
    (void)model->call.last_error(&text);
  }
  const char *ours = mtl_last_error();
  return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s%s%s", what, ours,
                  *ours ? ": " : "", text && *text ? text : "the model failed");
}
