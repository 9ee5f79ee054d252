// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.h: shared by the files about compute pipelines.
#ifndef METTLE_OBJC_PIPELINE_H
#define METTLE_OBJC_PIPELINE_H

#include "objc/metal/metal.h"

enum { FAIL_ON_ARCHIVE_MISS = 1 << 2 };  // MTLPipelineOption

// A request to the C API for a pipeline, by a descriptor or by a function
// alone.
typedef struct pipeline_request {
  mtl_pipeline_desc desc;
  mtl_function *function;  // NULL if there is none
  // Why there is none: nobody named one, or its constants have no values.
  const char *missing;
  bool in_indirect_commands;
  mtl_function **linked;  // desc's, malloc'ed
  mtl_function **private_ones;
  mtl_binary_archive **archives;
} pipeline_request;

// Fills request in from a MTLComputePipelineDescriptor, or from function alone
// where descriptor is nil. Borrows both until it is closed.
void pipeline_request_open(pipeline_request *request, id descriptor,
                           id function, NSUInteger options);
void pipeline_request_close(pipeline_request *request);

mtl_binary_archive *archive_of(id archive);

// Methods of MTLComputePipelineState, in function_table.c.
id pipeline_handle(id self, SEL _cmd, id function);
id pipeline_new_table(id self, SEL _cmd, id descriptor);

#endif
