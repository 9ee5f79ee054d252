// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// passes.h: reads pass descriptors for encoders.
#ifndef METTLE_OBJC_PASSES_H
#define METTLE_OBJC_PASSES_H

#include "objc/metal/metal.h"

// Reads an MTLComputePassDescriptor or MTLBlitPassDescriptor; nil for the
// defaults.
mtl_encoder_desc encoder_desc_of(id descriptor);

// Returns the C API's object in an MTLCounterSampleBuffer; NULL for nil.
mtl_counter_sample_buffer *samples_of(id samples);

#endif
