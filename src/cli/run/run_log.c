// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_log.c: prints what a kernel logs by os_log with --log, and otherwise
// counts it, so that nobody looks for it in vain.
#include <inttypes.h>
#include <string.h>

#include "cli/run/run_buffers.h"

static void print_message(void *context, const mtl_log_message *message) {
  (void)context;
  const bool is_default = strcmp(message->subsystem, "default") == 0 &&
                          strcmp(message->category, "default") == 0;
  fputs(mtl_log_level_name(message->level), stderr);
  if (!is_default) {
    fprintf(stderr, " [%s:%s]", message->subsystem, message->category);
  }
  fprintf(stderr, ": %s\n", message->text);
}

static void count_message(void *context, const mtl_log_message *message) {
  (void)message;
  run_state *state = context;
  atomic_fetch_add_explicit(&state->unheard, 1, memory_order_relaxed);
}

mtl_status run_create_log(const run_options *options, run_state *state) {
  // Counting needs little room: messages without room cost least.
  const mtl_log_state_desc desc = {.buffer_bytes = options->log ? 0 : 1024};
  const mtl_status status =
      mtl_log_state_create(state->program.device, &desc, &state->log_state);
  return status == MTL_OK
             ? mtl_log_state_add_handler(
                   state->log_state,
                   options->log ? print_message : count_message, state)
             : status;
}

void run_print_lost_messages(const run_options *options,
                             const run_state *state) {
  const uint64_t dropped =
      state->log_state ? mtl_log_state_dropped(state->log_state) : 0;
  const uint64_t unheard =
      atomic_load_explicit(&state->unheard, memory_order_relaxed) + dropped;
  if (options->log && dropped > 0) {
    fprintf(stderr, "%" PRIu64 " messages found no room\n", dropped);
  }
  if (!options->log && unheard > 0) {
    fprintf(stderr,
            "mettle run: note: %.100s logged %" PRIu64
            " message%s; --log prints what it says\n",
            options->kernel, unheard, unheard == 1 ? "" : "s");
  }
}
