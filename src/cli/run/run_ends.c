// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_ends.c: runs a kernel once beforehand to find accesses past the end of an
// argument. Memory can have a guard page at one end only, unless it is whole
// pages: the actual run has arguments that begin with a page, this one copies
// that end with one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/run_buffers.h"

enum { MOST_ALIGNMENT = 16 };  // the alignment of bound memory that kernels may
                               // rely on

// True if some argument ends inside of a page, whose rest is accessible.
static bool has_open_end(const run_options *options, const run_state *state) {
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < options->binding_count; ++i) {
    if (state->buffers[i] != NULL &&
        mtl_buffer_length(state->buffers[i]) % page_bytes != 0) {
      return true;
    }
  }
  return false;
}

// Returns an argument's alignment such that it can end with its page: as little
// as its elements allow.
static uint8_t least_alignment(const mtl_argument *argument,
                               size_t length_bytes) {
  size_t alignment_bytes = length_bytes & -length_bytes;
  if (argument == NULL || alignment_bytes > MOST_ALIGNMENT ||
      argument->alignment_bytes > MOST_ALIGNMENT) {
    return MOST_ALIGNMENT;
  }
  if (alignment_bytes < argument->alignment_bytes) {
    alignment_bytes = argument->alignment_bytes;
  }
  return (uint8_t)alignment_bytes;
}

static mtl_status copy_buffers(const run_options *options,
                               const run_state *state, bool is_exact,
                               mtl_buffer **copies) {
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < options->binding_count && status == MTL_OK; ++i) {
    const mtl_buffer *buffer = state->buffers[i];
    if (buffer == NULL) {
      continue;
    }
    const mtl_argument *argument =
        run_find_argument(state, &options->bindings[i]);
    const size_t length_bytes = mtl_buffer_length(buffer);
    const mtl_buffer_desc desc = {
        .length_bytes = length_bytes,
        .bytes = mtl_buffer_contents(buffer),
        .guarded = true,
        .guard_alignment_bytes =
            is_exact ? least_alignment(argument, length_bytes) : MOST_ALIGNMENT,
        .label = mtl_buffer_label(buffer)};
    status = mtl_buffer_create(state->program.device, &desc, &copies[i]);
  }
  return status;
}

static void release_buffers(mtl_buffer **buffers, size_t count) {
  for (size_t i = 0; buffers != NULL && i < count; ++i) {
    mtl_buffer_release(buffers[i]);
  }
  free(buffers);
}

// True if the last error names an argument: other errors of this run may be due
// to how its arguments lie, and may not occur in the next run.
static bool names_an_argument(const run_options *options,
                              const run_state *state) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    char quoted[128];
    if (state->buffers[i] != NULL) {
      snprintf(quoted, sizeof quoted, "'%s'",
               mtl_buffer_label(state->buffers[i]));
      if (strstr(mtl_last_error(), quoted) != NULL) {
        return true;
      }
    }
  }
  return false;
}

typedef enum ends_verdict {
  ENDS_HELD,     // the kernel went behind none
  ENDS_CROSSED,  // *error says which end; or the run took too long
  ENDS_UNKNOWN,  // it stopped for another reason
} ends_verdict;

static ends_verdict run_copies(const run_options *options, run_state *state,
                               mtl_buffer **copies, cli_error *error) {
  const mtl_queue_desc desc = {.time_limit_ns = options->time_limit_ns};
  run_attempt attempt = {.buffers = copies};
  uint64_t time_ns;
  mtl_status status =
      mtl_queue_create(state->program.device, &desc, &attempt.queue);
  if (status == MTL_OK) {
    status = run_dispatch(options, state, &attempt, &time_ns);
  }
  const bool is_told =
      status == MTL_TIMED_OUT ||
      (status == MTL_KERNEL_FAULT && names_an_argument(options, state));
  if (is_told) {
    cli_fail_status(error, status, options->kernel);
  }
  mtl_queue_release(attempt.queue);
  return status == MTL_OK ? ENDS_HELD : is_told ? ENDS_CROSSED : ENDS_UNKNOWN;
}

static ends_verdict try_ends(const run_options *options, run_state *state,
                             bool is_exact, cli_error *error) {
  mtl_buffer **copies = calloc(options->binding_count + 1, sizeof *copies);
  const mtl_status status =
      copies ? copy_buffers(options, state, is_exact, copies)
             : MTL_OUT_OF_MEMORY;
  ends_verdict verdict = ENDS_HELD;
  if (status == MTL_OK) {
    verdict = run_copies(options, state, copies, error);
  } else {
    fprintf(stderr,
            "mettle run: warning: no memory for copies of the arguments: "
            "accesses behind their ends may not be found\n");
  }
  release_buffers(copies, options->binding_count);
  return verdict;
}

bool run_check_ends(const run_options *options, run_state *state,
                    cli_error *error) {
  // A timeline is to show one run.
  if (options->unchecked || cli_is_traced() || cli_is_checked() ||
      !has_open_end(options, state)) {
    return true;
  }
  // A kernel that reads bytes as vectors wants more alignment than bytes have.
  ends_verdict verdict = try_ends(options, state, true, error);
  if (verdict == ENDS_UNKNOWN) {
    verdict = try_ends(options, state, false, error);
  }
  const mtl_status status = run_restore_textures(options, state);
  return verdict != ENDS_CROSSED &&
         (status == MTL_OK || cli_fail_status(error, status, options->kernel));
}
