// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// steps.c: dumps and timings of passes and of the vectoriser's steps.
#include "compiler/ir/kernel/steps.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/ir/kernel/kernel.h"

bool mtlc_step_is_left_out(const mtlc_kernel *kernel, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = kernel->without; at && *at;) {
    const size_t word = strcspn(at, ",");
    if (word == length && strncmp(at, name, length) == 0) {
      return true;
    }
    at += word + (at[word] == ',');
  }
  return false;
}

bool mtlc_wants_access_plan(const mtlc_kernel *kernel) {
  return kernel->dump_after &&
         strcmp(kernel->dump_after, MTLC_ACCESS_PLAN) == 0;
}

void mtlc_dump_add(mtlc_kernel *kernel, const char *text) {
  const size_t length = kernel->dump ? strlen(kernel->dump) : 0;
  char *grown = realloc(kernel->dump, length + strlen(text) + 1);
  if (!grown) {
    abort();  // the compiler's process ends, and the runtime says so
  }
  strcpy(grown + length, text);
  kernel->dump = grown;
}

static bool wants_table(const mtlc_kernel *kernel) {
  return kernel->dump_after && strcmp(kernel->dump_after, MTLC_STEP_TABLE) == 0;
}

static uint64_t processor_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

uint64_t mtlc_step_begin(const mtlc_kernel *kernel) {
  return wants_table(kernel) ? processor_ns() : 0;
}

static void add_to_table(mtlc_kernel *kernel, const char *name,
                         uint32_t changes, uint64_t time_ns) {
  char line[96];
  char count[16] = "-";
  if (changes != MTLC_NOT_COUNTED) {
    snprintf(count, sizeof count, "%u", changes);
  }
  snprintf(line, sizeof line, "%-36.48s %8s %10.3f ms\n", name, count,
           (double)time_ns * 1e-6);
  mtlc_dump_add(kernel, line);
}

void mtlc_step_done(mtlc_kernel *kernel, const char *name, uint32_t changes,
                    uint64_t start_ns) {
  if (!kernel->dump_after) {
    return;
  }
  if (wants_table(kernel)) {
    add_to_table(kernel, name, changes, processor_ns() - start_ns);
  } else if (strcmp(kernel->dump_after, name) == 0) {
    char *text = LLVMPrintModuleToString(kernel->module);
    free(kernel->dump);
    kernel->dump = strdup(text);
    LLVMDisposeMessage(text);
  }
}
