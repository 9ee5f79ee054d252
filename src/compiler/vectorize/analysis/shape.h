// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shape.h: what is known about how a value differs between the 32 threads of
// a simdgroup.
#ifndef MTLC_SHAPE_H
#define MTLC_SHAPE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST_LANES = 32 };  // threads of a simdgroup

// In each run of `row` neighbouring lanes (`lanes`: in all of them), lane i of
// the run holds the run's first value plus i * stride. A stride of 0 over all
// lanes is a uniform value. Pointers count bytes; only integers and pointers
// have a stride other than 0.
typedef struct lanes_shape {
  uint8_t lanes;  // of a vector: MOST_LANES, or half of them (width.h)
  uint8_t row;    // lanes, 16, 8, 4 or 1 (varying); 0: not found yet
  uint8_t align;  // each segment's first value is a multiple of 2^align
  uint8_t bits;   // the value is below 2^bits as an unsigned integer
  // first + i * stride does not wrap as an unsigned, a signed number.
  bool no_unsigned_wrap;
  bool no_signed_wrap;
  // The stride holds only where lanes_stride_holds() is true at run time.
  bool conditional;
  int64_t stride;
} lanes_shape;

enum { LANES_ALIGN_ANY = 63 };  // alignment of the value zero

lanes_shape lanes_shape_varying(uint8_t lanes);
lanes_shape lanes_shape_uniform(uint8_t lanes);
lanes_shape lanes_shape_strided(uint8_t lanes, uint8_t row, int64_t stride);

// Returns the shape of a value that has one of two shapes, in uniform flow.
lanes_shape lanes_shape_join(lanes_shape a, lanes_shape b);
bool lanes_shape_equal(lanes_shape a, lanes_shape b);

static inline bool lanes_is_uniform(lanes_shape shape) {
  return shape.row == shape.lanes && shape.stride == 0;
}
// Returns how many elements of a value are kept: the first of each segment. 1
// is a scalar that stands for all lanes; `lanes` is a vector of all of them.
static inline uint32_t lanes_width_of(lanes_shape shape) {
  return (uint32_t)shape.lanes / shape.row;
}
static inline bool lanes_is_scalar(lanes_shape shape) {
  return shape.row == shape.lanes;
}

// Returns the shape of a constant.
lanes_shape lanes_shape_of_constant(LLVMValueRef constant, uint8_t lanes);

typedef struct lanes_layout {
  LLVMTargetDataRef data;
  // Factor of a getelementptr's offsets: the lane count for pointers into
  // lane-interleaved memory, otherwise 1.
  uint32_t offset_scale;
} lanes_layout;

// Returns the shape of an instruction's result from its operands' shapes, in
// their order. For instructions whose result depends on nothing else:
// arithmetic, casts, comparisons, select, getelementptr.
lanes_shape lanes_shape_of_operation(LLVMValueRef instruction,
                                     const lanes_shape *operands,
                                     const lanes_layout *layout);

#endif
