// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_object.c: dispatch_block_create: blocks that can be cancelled, waited
// for and followed by others.
#include <stdatomic.h>
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"

typedef struct block_state {
  _Atomic size_t references;
  id literal;  // +1, the block's literal
  id group;    // +1; left when the block has run
  _Atomic bool has_begun;
  _Atomic bool is_cancelled;
} block_state;

typedef struct block_object {
  block block;
  block_state *state;
} block_object;

static void state_release(block_state *state) {
  if (--state->references) {
    return;
  }
  if (!state->has_begun) {
    dispatch_group_leave(state->group);
  }
  _Block_release(state->literal);
  objc_release(state->group);
  free(state);
}

static void object_copy(void *to, const void *from) {
  (void)to;
  ++((const block_object *)from)->state->references;
}

static void object_dispose(const void *object) {
  state_release(((const block_object *)object)->state);
}

// It counts as run after its first run.
static void object_run(const block_object *object) {
  block_state *state = object->state;
  ++state->references;
  const bool is_first = !atomic_exchange(&state->has_begun, true);
  if (!state->is_cancelled) {
    BLOCK_CALL(void (*)(id), state->literal);
  }
  if (is_first) {
    dispatch_group_leave(state->group);
  }
  state_release(state);
}

static const struct object_descriptor {
  unsigned long reserved, size;
  void (*copy)(void *, const void *);
  void (*dispose)(const void *);
} descriptor = {0, sizeof(block_object), object_copy, object_dispose};

extern void *_NSConcreteStackBlock[];

OBJC_EXPORT id dispatch_block_create(unsigned long flags, id literal) {
  enum { HAS_COPY_DISPOSE = 1 << 25 };
  (void)flags;
  block_state *state = calloc(1, sizeof *state);
  if (!state) {
    runtime_fail("no memory for a block of dispatch");
  }
  state->references = 1;
  state->literal = _Block_copy(literal);
  state->group = dispatch_group_create();
  dispatch_group_enter(state->group);
  const block_object made = {
      {.isa = (Class)(void *)_NSConcreteStackBlock,
       .flags = HAS_COPY_DISPOSE,
       .invoke = (void (*)(void))object_run,
       .descriptor =
           (const struct block_descriptor *)(const void *)&descriptor},
      state};
  const id copied = _Block_copy(&made);
  state_release(state);
  return copied;
}

OBJC_EXPORT id dispatch_block_create_with_qos_class(unsigned long flags,
                                                    unsigned qos, int priority,
                                                    id literal) {
  (void)qos;
  (void)priority;
  return dispatch_block_create(flags, literal);
}

static block_state *state_of(id literal, const char *call) {
  const block_object *object = (const block_object *)literal;
  if (object->block.invoke != (void (*)(void))object_run) {
    runtime_fail("%s: the block is not of dispatch_block_create", call);
  }
  return object->state;
}

OBJC_EXPORT void dispatch_block_perform(unsigned long flags, id literal) {
  (void)flags;
  BLOCK_CALL(void (*)(id), literal);
}

OBJC_EXPORT long dispatch_block_wait(id literal, uint64_t when) {
  return dispatch_group_wait(state_of(literal, "dispatch_block_wait")->group,
                             when);
}

OBJC_EXPORT void dispatch_block_notify(id literal, id queue, id notified) {
  dispatch_group_notify(state_of(literal, "dispatch_block_notify")->group,
                        queue, notified);
}

// Cancels a block; one that has started continues.
OBJC_EXPORT void dispatch_block_cancel(id literal) {
  state_of(literal, "dispatch_block_cancel")->is_cancelled = true;
}

OBJC_EXPORT long dispatch_block_testcancel(id literal) {
  return state_of(literal, "dispatch_block_testcancel")->is_cancelled;
}
