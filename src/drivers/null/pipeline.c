// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: creates pipelines without code, since no kernel runs.
#include "drivers/null/null.h"

mtl_status null_pipeline_create(mtl_pipeline *pipeline,
                                const mtl_function *function,
                                const mtl_pipeline_desc *desc) {
  return mtli_pipeline_compile(pipeline, function, desc);
}

void null_pipeline_destroy(mtl_pipeline *pipeline) {
  (void)pipeline;
}
