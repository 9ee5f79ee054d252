// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_stamps.c: functions that look at the stamps of an access's words and
// leave the thread's own, without a call or a branch that vectors must follow.
//
// A word has two stamps: of the thread that wrote it last, and of the one that
// read it. A stamp below `floor` is ordered before the access: of an earlier
// dispatch, threadgroup or barrier. Behind `floor` each thread has one, and the
// topmost bit with `floor` itself stands for any of several readers, or for
// atomic writes.
//
// Lanes of a vector look at stamps together and leave theirs together: what
// lanes did to one word is seen when each looks whether its own has stayed. It
// does so by another pointer to the same memory, or LLVM would know the answer.
#include <stdio.h>

#include "compiler/check/check.h"

enum { WORD_BYTES = 4, MOST_WORDS = MTLC_MOST_STAMPED_WORDS };

// Parameters of such a function.
enum {
  WRITES,
  READS,
  WRITES_AGAIN,
  READS_AGAIN,
  OFFSET,
  OWN,
  FLOOR,
  LEAST,
  PARAMETER_COUNT
};

typedef struct emitter {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  unsigned words;
  LLVMValueRef several;
  LLVMValueRef ok;
} emitter;

static LLVMValueRef parameter(const emitter *e, unsigned which) {
  return LLVMGetParam(e->function, which);
}

static LLVMValueRef stamp_at(const emitter *e, unsigned array, unsigned word) {
  LLVMValueRef offset = parameter(e, OFFSET);
  LLVMValueRef first = LLVMBuildGEP2(e->builder, e->types.i8,
                                     parameter(e, array), &offset, 1, "");
  return mtlc_offset(e->builder, first, (uint64_t)word * WORD_BYTES);
}

static LLVMValueRef load(const emitter *e, unsigned array, unsigned word) {
  return LLVMBuildLoad2(e->builder, e->types.i32, stamp_at(e, array, word), "");
}

static void store(const emitter *e, LLVMValueRef stamp, unsigned array,
                  unsigned word) {
  LLVMBuildStore(e->builder, stamp, stamp_at(e, array, word));
}

static LLVMValueRef compare(const emitter *e, LLVMIntPredicate how,
                            LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildICmp(e->builder, how, a, b, "");
}

static LLVMValueRef either(const emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildOr(e->builder, a, b, "");
}

static void must(emitter *e, LLVMValueRef holds) {
  e->ok = e->ok ? LLVMBuildAnd(e->builder, e->ok, holds, "") : holds;
}

// Returns an i1: least <= stamp < floor, for any thread's stamp.
static LLVMValueRef is_past(const emitter *e, LLVMValueRef stamp,
                            LLVMValueRef least) {
  LLVMValueRef bits = LLVMBuildAnd(
      e->builder, stamp, mtlc_i32(e->kernel->context, 0x7fffffffu), "");
  LLVMValueRef floor = parameter(e, FLOOR);
  if (least) {
    bits = LLVMBuildSub(e->builder, bits, least, "");
    floor = LLVMBuildSub(e->builder, floor, least, "");
  }
  return compare(e, LLVMIntULT, bits, floor);
}

static LLVMValueRef is_own(const emitter *e, LLVMValueRef stamp) {
  return compare(e, LLVMIntEQ, stamp, parameter(e, OWN));
}

static LLVMBasicBlockRef add_block(const emitter *e) {
  return LLVMAppendBasicBlockInContext(e->kernel->context, e->function, "");
}

// Marks words as read: by this thread if no other thread has read them since
// the barrier, else by several. Threads may do this at once, so each loads the
// stamp again and falls back to "several" if another thread overwrote its own.
static void note_read(emitter *e, const LLVMValueRef *stamps) {
  LLVMBasicBlockRef lost = add_block(e), done = add_block(e),
                    alone = add_block(e);
  LLVMValueRef left[MOST_WORDS], is_lost = NULL;
  LLVMTypeRef i64 = e->types.i64;
  LLVMValueRef function =
      mtlc_declare(e->kernel->module, "mettle.check.shared",
                   LLVMFunctionType(e->types.i1, &i64, 1, false));
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "convergent", 0);
  mtlc_set_attribute(function, "willreturn", 0);
  mtlc_set_attribute(function, "memory", 0);
  LLVMValueRef offset = parameter(e, OFFSET);
  LLVMBuildCondBr(e->builder, mtlc_call(e->builder, function, &offset, 1), lost,
                  alone);
  LLVMPositionBuilderAtEnd(e->builder, alone);
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef is_first =
        either(e, is_past(e, stamps[k], NULL), is_own(e, stamps[k]));
    left[k] = LLVMBuildSelect(e->builder, is_first, parameter(e, OWN),
                              e->several, "");
    store(e, left[k], READS, k);
  }
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef differs =
        compare(e, LLVMIntNE, load(e, READS_AGAIN, k), left[k]);
    is_lost = is_lost ? either(e, is_lost, differs) : differs;
  }
  LLVMBuildCondBr(e->builder, is_lost, lost, done);
  LLVMPositionBuilderAtEnd(e->builder, lost);
  for (unsigned k = 0; k < e->words; ++k) {
    store(e, e->several, READS, k);
  }
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
}

static void look_at_read(emitter *e, bool is_written) {
  LLVMValueRef stamps[MOST_WORDS], is_noted = NULL;
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef write = load(e, WRITES, k);
    LLVMValueRef past = is_past(e, write, parameter(e, LEAST));
    must(e, is_written ? either(e, past, is_own(e, write)) : past);
  }
  if (!is_written) {
    return;
  }
  for (unsigned k = 0; k < e->words; ++k) {
    stamps[k] = load(e, READS, k);
    LLVMValueRef stays = either(e, is_own(e, stamps[k]),
                                compare(e, LLVMIntEQ, stamps[k], e->several));
    is_noted = is_noted ? LLVMBuildAnd(e->builder, is_noted, stays, "") : stays;
  }
  LLVMBasicBlockRef note = add_block(e), done = add_block(e);
  LLVMBuildCondBr(e->builder, is_noted, done, note);
  LLVMPositionBuilderAtEnd(e->builder, note);
  note_read(e, stamps);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
}

static void look_at_reads(emitter *e) {
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef read = load(e, READS, k);
    must(e, either(e, is_past(e, read, NULL), is_own(e, read)));
  }
}

static void look_at_write(emitter *e, bool is_read) {
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef write = load(e, WRITES, k);
    must(e, either(e, is_past(e, write, NULL), is_own(e, write)));
  }
  if (is_read) {
    look_at_reads(e);
  }
  for (unsigned k = 0; k < e->words; ++k) {
    store(e, parameter(e, OWN), WRITES, k);
  }
  for (unsigned k = 0; k < e->words; ++k) {
    must(e, is_own(e, load(e, WRITES_AGAIN, k)));
  }
}

// Atomics of all threads do not race with each other. They must not read unset
// bytes.
static void look_at_atomic(emitter *e, bool is_read) {
  for (unsigned k = 0; k < e->words; ++k) {
    LLVMValueRef write = load(e, WRITES, k);
    LLVMValueRef own = is_own(e, write);
    LLVMValueRef is_atomic = compare(e, LLVMIntEQ, write, e->several);
    must(e, either(e, is_past(e, write, parameter(e, LEAST)),
                   either(e, own, is_atomic)));
    store(e,
          LLVMBuildSelect(e->builder, own, parameter(e, OWN), e->several, ""),
          WRITES, k);
  }
  if (is_read) {
    look_at_reads(e);
  }
}

static LLVMTypeRef function_type(const mtlc_types *types) {
  LLVMTypeRef parameters[PARAMETER_COUNT] = {[WRITES] = types->pointer,
                                             [READS] = types->pointer,
                                             [WRITES_AGAIN] = types->pointer,
                                             [READS_AGAIN] = types->pointer,
                                             [OFFSET] = types->i64,
                                             [OWN] = types->i32,
                                             [FLOOR] = types->i32,
                                             [LEAST] = types->i32};
  return LLVMFunctionType(types->i1, parameters, PARAMETER_COUNT, false);
}

static LLVMValueRef make_function(mtlc_kernel *kernel, const char *name,
                                  const mtlc_stamped *access) {
  emitter e = {.kernel = kernel,
               .types = mtlc_types_of(kernel->context),
               .builder = LLVMCreateBuilderInContext(kernel->context),
               .words = access->words};
  e.function = LLVMAddFunction(kernel->module, name, function_type(&e.types));
  LLVMSetLinkage(e.function, LLVMInternalLinkage);
  mtlc_set_attribute(e.function, "nounwind", 0);
  mtlc_set_attribute(e.function, "alwaysinline", 0);
  LLVMPositionBuilderAtEnd(e.builder, add_block(&e));
  e.several = LLVMBuildOr(e.builder, parameter(&e, FLOOR),
                          mtlc_i32(kernel->context, 0x80000000u), "");
  switch (access->kind) {
    case MTLI_CHECK_READ: look_at_read(&e, access->is_also_written); break;
    case MTLI_CHECK_WRITE: look_at_write(&e, access->is_also_read); break;
    default: look_at_atomic(&e, access->is_also_read); break;
  }
  LLVMBuildRet(e.builder, e.ok);
  LLVMDisposeBuilder(e.builder);
  return e.function;
}

LLVMValueRef mtlc_stamp(mtlc_kernel *kernel, LLVMBuilderRef builder,
                        const mtlc_stamped *access) {
  char name[64];
  snprintf(name, sizeof name, "mettle.screened.%u.%u.%u.%u",
           (unsigned)access->kind, access->words, access->is_also_read,
           access->is_also_written);
  LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
  if (!function) {
    function = make_function(kernel, name, access);
  }
  LLVMValueRef arguments[PARAMETER_COUNT] = {
      [WRITES] = access->writes,
      [READS] = access->reads,
      [WRITES_AGAIN] = access->writes_again,
      [READS_AGAIN] = access->reads_again,
      [OFFSET] = access->offset,
      [OWN] = access->own,
      [FLOOR] = access->floor,
      [LEAST] = access->least};
  return mtlc_call(builder, function, arguments, PARAMETER_COUNT);
}
