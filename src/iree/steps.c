// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// steps.c: a list of deferred steps for each thread. Signalling one operation's
// semaphores makes others ready, and theirs others again: a list instead of
// recursion keeps the stack flat for a chain of any length.
#include "mettle_hal.h"

static _Thread_local struct {
  mettle_step *first;
  mettle_step *last;
  bool is_running;
} steps;

void mettle_steps_add(mettle_step *step) {
  step->next = NULL;
  if (steps.last) {
    steps.last->next = step;
  } else {
    steps.first = step;
  }
  steps.last = step;
}

void mettle_steps_run(void) {
  if (steps.is_running) {
    return;  // an outer frame of this thread runs them
  }
  steps.is_running = true;
  while (steps.first) {
    mettle_step *step = steps.first;
    steps.first = step->next;
    steps.last = steps.first ? steps.last : NULL;
    step->run(step->op);
  }
  steps.is_running = false;
}

static _Thread_local int callback_depth;

void mettle_callback_enter(void) {
  callback_depth++;
}
void mettle_callback_leave(void) {
  callback_depth--;
}

bool mettle_is_calling_back(void) {
  return steps.is_running || callback_depth > 0;
}
