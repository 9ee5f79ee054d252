// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// placement_x86_64.c: where arguments and results go by the System V ABI for
// x86-64, section 3.2.3.
#if defined(__x86_64__)
#include "objc/runtime/invocation/call_frame.h"

typedef struct eightbytes {
  bool general[2];  // holds something but floats
  bool memory;
} eightbytes;

static void classify(char kind, size_t offset, size_t bytes, void *context) {
  eightbytes *of = context;
  (void)bytes;
  if (kind == 'D' || offset >= 16) {
    of->memory = true;
  } else if (kind != 'f' && kind != 'd') {
    of->general[offset / 8] = true;
  }
}

static eightbytes classes_of(const char *type, size_t *out_bytes) {
  size_t alignment;
  eightbytes of = {{false, false}, false};
  type_measure(type, out_bytes, &alignment);
  type_scalars(type, classify, &of);
  return of;
}

// Adds a piece for each of the eight bytes of a value that is not in memory.
static size_t split(const eightbytes *of, size_t bytes, size_t *general,
                    size_t *vector, value_piece out[MAX_PIECES]) {
  size_t count = 0;
  for (size_t offset = 0; offset < bytes; offset += 8) {
    const bool is_general = of->general[offset / 8];
    out[count++] =
        (value_piece){is_general ? IN_GENERAL : IN_VECTOR,
                      is_general ? (*general)++ : (*vector)++, offset,
                      bytes - offset < 8 ? bytes - offset : 8};
  }
  return count;
}

size_t place_argument(placement *used, const char *type,
                      value_piece out[MAX_PIECES]) {
  enum { GENERAL_REGISTERS = 6 };
  size_t bytes, alignment;
  const eightbytes of = classes_of(type, &bytes);
  placement after = *used;
  if (!of.memory && bytes) {
    const size_t count = split(&of, bytes, &after.general, &after.vector, out);
    if (after.general <= GENERAL_REGISTERS && after.vector <= MAX_VECTOR) {
      *used = after;
      return count;
    }
  }
  type_measure(type, &bytes, &alignment);
  if (alignment > 8) {
    used->stack += used->stack & 1;
  }
  out[0] = (value_piece){ON_STACK, used->stack, 0, bytes};
  used->stack += (bytes + 7) / 8;
  return 1;
}

size_t place_result(const char *type, value_piece out[MAX_PIECES]) {
  size_t bytes, general = 0, vector = 0;
  const eightbytes of = classes_of(type, &bytes);
  return of.memory ? 0 : split(&of, bytes, &general, &vector, out);
}

void place_hidden(placement *used) {
  ++used->general;
}

void frame_set_result(call_frame *frame, void *memory) {
  frame->general[0] = (uint64_t)(uintptr_t)memory;
}

size_t frame_first(bool hidden) {
  return hidden;
}
#else
typedef int placement_x86_64_is_empty;
#endif
