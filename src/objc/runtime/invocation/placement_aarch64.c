// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// placement_aarch64.c: where arguments and results go by the procedure call
// standard of AArch64 (AAPCS64), section 6.8.
#if defined(__aarch64__)
#include "objc/runtime/invocation/call_frame.h"

// A homogeneous aggregate: up to four floats of one kind.
typedef struct aggregate {
  char kind;
  size_t count;
  bool mixed;
} aggregate;

static void classify(char kind, size_t offset, size_t bytes, void *context) {
  aggregate *of = context;
  (void)offset;
  (void)bytes;
  const bool is_float = kind == 'f' || kind == 'd' || kind == 'D';
  of->mixed |= !is_float || (of->count && kind != of->kind);
  of->kind = kind;
  ++of->count;
}

static bool is_homogeneous(const char *type, aggregate *of) {
  *of = (aggregate){0, 0, false};
  type_scalars(type, classify, of);
  return of->count && of->count <= 4 && !of->mixed;
}

static size_t split_vector(size_t bytes, size_t count, size_t first,
                           value_piece out[MAX_PIECES]) {
  for (size_t i = 0; i < count; ++i) {
    out[i] =
        (value_piece){IN_VECTOR, first + i, i * bytes / count, bytes / count};
  }
  return count;
}

static size_t split_general(size_t bytes, size_t first,
                            value_piece out[MAX_PIECES]) {
  size_t count = 0;
  for (size_t offset = 0; offset < bytes; offset += 8, ++count) {
    out[count] = (value_piece){IN_GENERAL, first + count, offset,
                               bytes - offset < 8 ? bytes - offset : 8};
  }
  return count;
}

size_t place_argument(placement *used, const char *type,
                      value_piece out[MAX_PIECES]) {
  size_t bytes, alignment;
  aggregate of;
  type_measure(type, &bytes, &alignment);
  if (is_homogeneous(type, &of)) {
    if (used->vector + of.count <= MAX_VECTOR) {
      used->vector += of.count;
      return split_vector(bytes, of.count, used->vector - of.count, out);
    }
    used->vector = MAX_VECTOR;
  } else {
    const bool by_reference = bytes > 16;
    const size_t words = by_reference ? 1 : (bytes + 7) / 8;
    if (used->general + words <= MAX_GENERAL) {
      used->general += words;
      if (!by_reference) {
        return split_general(bytes, used->general - words, out);
      }
      out[0] = (value_piece){BY_REFERENCE, used->general - 1, 0, bytes};
      return 1;
    }
    used->general = MAX_GENERAL;
    if (by_reference) {
      out[0] =
          (value_piece){BY_REFERENCE, MAX_GENERAL + used->stack++, 0, bytes};
      return 1;
    }
  }
  if (alignment > 8) {
    used->stack += used->stack & 1;
  }
  out[0] = (value_piece){ON_STACK, used->stack, 0, bytes};
  used->stack += (bytes + 7) / 8;
  return 1;
}

size_t place_result(const char *type, value_piece out[MAX_PIECES]) {
  size_t bytes, alignment;
  aggregate of;
  type_measure(type, &bytes, &alignment);
  if (is_homogeneous(type, &of)) {
    return split_vector(bytes, of.count, 0, out);
  }
  return bytes > 16 ? 0 : split_general(bytes, 0, out);
}

void place_hidden(placement *used) {
  (void)used;
}

void frame_set_result(call_frame *frame, void *memory) {
  frame->result = memory;
}

size_t frame_first(bool hidden) {
  (void)hidden;
  return 0;
}
#else
typedef int placement_aarch64_is_empty;
#endif
