// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// two_queues.c: one queue produces, another consumes, and one event keeps them
// in step: odd values mean "produced", even ones "consumed". The host commits
// everything and waits once.
#include <stdio.h>

#include "common.h"

#define COUNT 100000
#define ROUNDS 20

static const mtl_size group = {256, 1, 1};

// Records one dispatch of pipeline over first and second.
static void record(mtl_command_buffer *commands, mtl_pipeline *pipeline,
                   mtl_buffer *first, mtl_buffer *second,
                   const uint32_t *round) {
  mtl_compute_encoder *encoder;
  check(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  if (second != NULL) {
    mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  } else {
    mtl_compute_encoder_set_bytes(encoder, round, sizeof *round, 1);
  }
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){COUNT, 1, 1},
                                       group);
  check(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
}

// Called when commands has run: nobody waits for it, so its error is told here.
static void report_failure(void *context, mtl_command_buffer *commands) {
  (void)context;
  const char *text;
  if (mtl_command_buffer_error(commands, &text) != MTL_OK) {
    fprintf(stderr, "%s\n", text);
  }
}

// Commits a dispatch that starts at event's value `turn` and ends by raising it
// by one.
static void commit_turn(mtl_queue *queue, mtl_event *event, uint64_t turn,
                        mtl_pipeline *pipeline, mtl_buffer *first,
                        mtl_buffer *second, const uint32_t *round) {
  mtl_command_buffer *commands;
  check(mtl_command_buffer_create(queue, NULL, &commands));
  mtl_command_buffer_wait_event(commands, event, turn);
  record(commands, pipeline, first, second, round);
  mtl_command_buffer_signal_event(commands, event, turn + 1);
  check(mtl_command_buffer_on_completed(commands, report_failure, NULL));
  check(mtl_command_buffer_commit(commands));
  mtl_command_buffer_release(commands);  // runs all the same
}

// Sum over the rounds r of i + r.
static uint32_t count_wrong(const uint32_t *sums) {
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < COUNT; ++i) {
    wrong += sums[i] != ROUNDS * i + ROUNDS * (ROUNDS - 1) / 2;
  }
  return wrong;
}

int main(void) {
  mtl_device *device;
  mtl_queue *producer, *consumer;
  mtl_event *event;
  check(mtl_device_default(&device));
  check(mtl_queue_create(device, NULL, &producer));
  check(mtl_queue_create(device, NULL, &consumer));
  check(mtl_event_create(device, &(mtl_event_desc){.shared = true}, &event));
  mtl_pipeline *produce =
      load_kernel(device, "two_queues.metal", "produce", group);
  mtl_pipeline *consume =
      load_kernel(device, "two_queues.metal", "consume", group);
  mtl_buffer *values = make_buffer(device, COUNT * sizeof(uint32_t));
  mtl_buffer *sums = make_buffer(device, COUNT * sizeof(uint32_t));

  for (uint32_t round = 0; round < ROUNDS; ++round) {
    commit_turn(consumer, event, 2 * round + 1, consume, values, sums, NULL);
    commit_turn(producer, event, 2 * round, produce, values, NULL, &round);
  }
  check(mtl_event_wait(event, 2 * ROUNDS, MTL_WAIT_FOREVER));
  const uint32_t wrong = count_wrong(mtl_buffer_contents(sums));
  printf("two queues: %d rounds over %d values, %u wrong\n", ROUNDS, COUNT,
         wrong);

  mtl_buffer_release(values);
  mtl_buffer_release(sums);
  mtl_pipeline_release(produce);
  mtl_pipeline_release(consume);
  mtl_event_release(event);
  mtl_queue_release(producer);
  mtl_queue_release(consumer);
  mtl_device_release(device);
  return wrong == 0 ? 0 : 1;
}
