// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// call_frame.h: the registers and the stack of a call whose types are known at
// run time only, for C and assembly.
#ifndef METTLE_OBJC_CALL_FRAME_H
#define METTLE_OBJC_CALL_FRAME_H

// Offsets in bytes, checked in types.c.
#define FRAME_GENERAL 0
#define FRAME_VECTOR 64
#define FRAME_RESULT 192
#define FRAME_STACK 200
#define FRAME_STACK_WORDS 208
#define FRAME_BYTES 224

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objc/runtime/abi.h"

enum { MAX_GENERAL = 8, MAX_VECTOR = 8, MAX_PIECES = 4 };

typedef struct call_frame {
  uint64_t general[MAX_GENERAL];  // x86-64 uses six; results in the first two
  struct {
    _Alignas(16) uint64_t words[2];
  } vector[MAX_VECTOR];
  void *result;  // AArch64's x8: where a struct in memory is returned
  uint64_t *stack;
  uint64_t stack_words;
} call_frame;

// Calls imp with the frame's arguments, and stores its results in it.
void call_with_frame(IMP imp, call_frame *frame);

// A method that any selector may have: hands its arguments to
// forward_invocation of Foundation.
extern const char message_forward[];

// --- Types (types.c) ---------------------------------------------------------

// Returns where the type at types ends, its offset digits included, and sets
// the size and alignment in bytes.
const char *type_measure(const char *types, size_t *out_bytes,
                         size_t *out_alignment);
// Skips const and its like.
const char *type_skip_qualifiers(const char *types);
// Calls visit with each scalar of a type, structs and arrays taken apart.
typedef void scalar_visitor(char kind, size_t offset, size_t bytes,
                            void *context);
void type_scalars(const char *type, scalar_visitor *visit, void *context);

// --- Where a value goes (placement_*.c) --------------------------------------

typedef enum value_place {
  IN_GENERAL,
  IN_VECTOR,
  ON_STACK,
  BY_REFERENCE,  // a register or stack slot holds its address
} value_place;

typedef struct placement {
  size_t general, vector, stack;  // used so far; words of the stack
} placement;

// A piece of a value: bytes of it in a register or on the stack.
typedef struct value_piece {
  value_place place;
  size_t index;          // of the register or the stack's word
  size_t offset, bytes;  // in the value
} value_piece;

// Splits the next argument of type; returns the count of pieces in out.
size_t place_argument(placement *used, const char *type,
                      value_piece out[MAX_PIECES]);
// The same of a result. 0: the caller gives memory for it, see place_hidden.
size_t place_result(const char *type, value_piece out[MAX_PIECES]);
// Takes the register that has the address of a result in memory, if that is a
// general one: x86-64.
void place_hidden(placement *used);
// Sets where the callee stores a result that lies in memory.
void frame_set_result(call_frame *frame, void *memory);
// Returns the index in general of the first argument, self: 1 behind a hidden
// address on x86-64.
size_t frame_first(bool hidden);
#endif

#endif
