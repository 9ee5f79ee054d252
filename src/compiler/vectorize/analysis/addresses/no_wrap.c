// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// no_wrap.c: proves that narrow indices do not wrap between two threads.
//
//   device float *x; uint row, columns;
//   x[row * columns + thread_index_in_simdgroup]
//
// The sum may wrap at 32 bits, and then threads in front of that place and
// behind it are not neighbours. But a thread whose index is 2^31 or more would
// access what lies that many elements behind the place where a buffer is bound.
// If no buffer has so many bytes there, no thread does, and it makes no
// difference that such an index is taken for a negative one, the one in front
// of 0: all threads that access anything are even steps apart then. So it is
// with
//
//   if (i > 0) y = x[i - 1];
//
// where the first thread's index is the one in front of its neighbour's. An
// index that is another one's fourth, of vectors of four, leads as far.
#include "compiler/vectorize/analysis/addresses/no_wrap.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum { MOST_VISITED = 64 };

// Values visited on the way from an index to addresses, or from a pointer back.
typedef struct walk {
  const mtli_kernel *kernel;
  LLVMValueRef seen[MOST_VISITED];
  uint32_t seen_count;
} walk;

// Returns true if a value's operands must be followed, too; *out_fits becomes
// false if the value may exceed the index.
static bool enter(walk *w, LLVMValueRef value, bool *out_fits) {
  *out_fits = true;
  for (uint32_t i = 0; i < w->seen_count; i++) {
    if (w->seen[i] == value) {
      return false;
    }
  }
  *out_fits = w->seen_count < MOST_VISITED;
  if (*out_fits) {
    w->seen[w->seen_count++] = value;
  }
  return *out_fits;
}

// --- Where pointers come from ------------------------------------------------

static bool is_buffer(const walk *w, LLVMValueRef call) {
  if (!LLVMIsACallInst(call) ||
      lanes_callee_of(call) != LANES_CALLEE_ARGUMENT) {
    return false;
  }
  const uint64_t index = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
  return w->kernel->parameters[index].argument.kind == MTL_ARGUMENT_BUFFER;
}

static bool comes_from_buffers(walk *w, LLVMValueRef pointer) {
  LLVMValueRef root = mtlc_root_of(pointer);
  bool fits;
  if (!LLVMIsAPHINode(root)) {
    return is_buffer(w, root);
  }
  if (enter(w, root, &fits)) {
    for (unsigned k = 0; fits && k < LLVMCountIncoming(root); k++) {
      fits = comes_from_buffers(w, LLVMGetIncomingValue(root, k));
    }
  }
  return fits;
}

static bool is_in_buffers(const walk *w, LLVMValueRef pointer) {
  walk up = {.kernel = w->kernel};
  return comes_from_buffers(&up, pointer);
}

// --- What indices come to ----------------------------------------------------

static bool makes_addresses(walk *w, LLVMValueRef value);

static bool is_pointer(LLVMValueRef value) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

// True if a user keeps the index a part of an address in a buffer. A difference
// of two pointers does not: it may be small though the index is large.
static bool is_use_in_address(walk *w, LLVMValueRef user, LLVMValueRef value) {
  switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad: return true;
    case LLVMStore: return LLVMGetOperand(user, 0) != value;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return is_pointer(value);
    case LLVMGetElementPtr:
      return is_in_buffers(w, user) && makes_addresses(w, user);
    case LLVMPHI:
      return (!is_pointer(value) || is_in_buffers(w, user)) &&
             makes_addresses(w, user);
    case LLVMOr:
      return LLVMGetIsDisjoint(user) && makes_addresses(w, user);
    case LLVMAdd:
    case LLVMMul: return makes_addresses(w, user);
    case LLVMShl:
      return LLVMGetOperand(user, 0) == value && makes_addresses(w, user);
    default: return false;
  }
}

static bool makes_addresses(walk *w, LLVMValueRef value) {
  bool fits;
  if (enter(w, value, &fits)) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); fits && use;
         use = LLVMGetNextUse(use)) {
      fits = is_use_in_address(w, LLVMGetUser(use), value);
    }
  }
  return fits;
}

static void take_for_signed(LLVMValueRef zero_extension) {
  LLVMTypeRef type = LLVMTypeOf(zero_extension);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(type));
  LLVMPositionBuilderBefore(builder, zero_extension);
  LLVMValueRef extension =
      LLVMBuildSExt(builder, LLVMGetOperand(zero_extension, 0), type, "");
  mtlc_mark(extension, MTLC_UNWRAPPED_MARK);
  LLVMReplaceAllUsesWith(zero_extension, extension);
  LLVMInstructionEraseFromParent(zero_extension);
  LLVMDisposeBuilder(builder);
}

// --- Parts of indices --------------------------------------------------------

// True if the elements that an index counts are so large that an index of 2^(31
// - bits) reaches as far as 2^31 bytes.
static bool counts_large(const lanes_values *values, LLVMValueRef index,
                         uint64_t bits) {
  for (LLVMUseRef use = LLVMGetFirstUse(index); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAGetElementPtrInst(user) || LLVMGetNumOperands(user) != 2 ||
        LLVMABISizeOfType(values->data, LLVMGetGEPSourceElementType(user)) <
            UINT64_C(1) << bits) {
      return false;
    }
  }
  return true;
}

// Returns the quotient of an exact division whose result is extended, or NULL.
// Threads an even distance apart before the division are so after it, unless
// they wrap.
static LLVMValueRef quotient_of(const lanes_values *values,
                                LLVMValueRef extension) {
  LLVMValueRef quotient = LLVMGetOperand(extension, 0);
  if (!LLVMIsASExtInst(extension) || !LLVMIsAInstruction(quotient) ||
      LLVMGetInstructionOpcode(quotient) != LLVMAShr ||
      !LLVMGetExact(quotient) ||
      !LLVMIsAConstantInt(LLVMGetOperand(quotient, 1)) ||
      LLVMGetIntTypeWidth(LLVMTypeOf(quotient)) != 32) {
    return NULL;
  }
  const lanes_shape shape = lanes_shape_of(values, LLVMGetOperand(quotient, 0));
  const uint64_t bits = LLVMConstIntGetZExtValue(LLVMGetOperand(quotient, 1));
  return shape.stride && !shape.no_signed_wrap && bits < 31 &&
                 shape.stride % (INT64_C(1) << bits) == 0 &&
                 counts_large(values, extension, bits)
             ? quotient
             : NULL;
}

// True if threads' indices differ by constants that their shapes do not tell.
static bool has_pattern(lanes_pattern_finder *patterns,
                        LLVMValueRef extension) {
  LLVMValueRef index = LLVMGetOperand(extension, 0);
  const lanes_shape shape = lanes_shape_of(patterns->values, index);
  const lanes_pattern pattern = lanes_pattern_of(patterns, index);
  return shape.row != shape.lanes && lanes_pattern_is_whole(&pattern) &&
         pattern.most == UINT64_MAX &&
         LLVMGetIntTypeWidth(LLVMTypeOf(index)) == 32;
}

static bool is_extension(LLVMValueRef value) {
  return LLVMIsAZExtInst(value) || LLVMIsASExtInst(value);
}

// True if an index differs by a constant from one that is marked. Marking both
// lets their distance be known.
static bool is_beside_marked(const lanes_values *values, const bool *found,
                             uint32_t number) {
  LLVMValueRef extension = values->items[number];
  lanes_affine own, other;
  if (mtlc_is_marked(extension, MTLC_UNWRAPPED_MARK) ||
      !lanes_affine_find_number(LLVMGetOperand(extension, 0), &own)) {
    return false;
  }
  for (uint32_t i = 0; i < values->count; i++) {
    if (found[i] && is_extension(values->items[i]) &&
        LLVMTypeOf(values->items[i]) == LLVMTypeOf(extension) &&
        lanes_affine_find_number(LLVMGetOperand(values->items[i], 0), &other) &&
        lanes_affine_like(&own, &other)) {
      return true;
    }
  }
  return false;
}

static void add_neighbours(const mtli_kernel *kernel,
                           const lanes_values *values, bool *found) {
  bool *beside = lanes_allocate(values->arena, values->count, sizeof *beside);
  for (uint32_t i = 0; i < values->count; i++) {
    walk w = {.kernel = kernel};
    beside[i] = !found[i] && is_extension(values->items[i]) &&
                is_beside_marked(values, found, i) &&
                makes_addresses(&w, values->items[i]);
  }
  for (uint32_t i = 0; i < values->count; i++) {
    found[i] |= beside[i];
  }
}

bool lanes_mark_no_wrap(const mtli_kernel *kernel,
                          const lanes_values *values) {
  lanes_pattern_finder patterns = lanes_patterns_begin(values);
  bool *found = lanes_allocate(values->arena, values->count, sizeof *found);
  bool any = false;
  for (uint32_t i = 0; i < values->count; i++) {
    LLVMValueRef value = values->items[i];
    walk w = {.kernel = kernel};
    if (!is_extension(value)) {
      continue;
    }
    LLVMValueRef quotient = quotient_of(values, value);
    found[i] = (values->shapes[i].conditional || quotient ||
                has_pattern(&patterns, value)) &&
               makes_addresses(&w, value);
    any |= found[i];
    if (found[i] && quotient) {
      mtlc_mark(quotient, MTLC_UNWRAPPED_MARK);
    }
  }
  if (any) {
    add_neighbours(kernel, values, found);
  }
  for (uint32_t i = 0; i < values->count; i++) {
    LLVMValueRef value = values->items[i];
    if (found[i] && LLVMIsAZExtInst(value)) {
      take_for_signed(value);
    } else if (found[i]) {
      mtlc_mark(value, MTLC_UNWRAPPED_MARK);
    }
  }
  return any;
}
