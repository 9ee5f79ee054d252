// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linked_functions.h: the visible functions of a pipeline, as pipeline.c keeps
// them and function_table.c looks them up.
#ifndef MTLI_LINKED_FUNCTIONS_H
#define MTLI_LINKED_FUNCTIONS_H

#include "mettle/function_table.h"
#include "runtime/objects.h"

// Checks and retains the functions that desc names, for a kernel of device. On
// failure nothing is kept.
mtl_status mtli_linked_functions_create(mtl_device *device,
                                        const mtl_pipeline_desc *desc,
                                        mtli_linked_functions *out_linked);
void mtli_linked_functions_clear(mtli_linked_functions *linked);

// Describes them to the compiler: malloc'ed [linked->count].
mtl_status mtli_linked_functions_describe(const mtli_linked_functions *linked,
                                          mtli_linked_function **out_requests);

#endif
