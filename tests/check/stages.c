// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stages.c: a queue that is ordered by barriers, as Metal 4's are: each case
// runs with its barrier or fence, which leaves nothing to find, and without.
#include "client.h"

// What is done, in turn; an encoder goes on until an 'e'.
//   p, g    dispatches that write x, read it
//   c, r    copies from x, to x
//   d, b    barriers within the encoder: dispatches before dispatches, and
//           blits before dispatches; B: dispatches before blits
//   q, Q    behind the queue's dispatches, blits, before dispatches
//   n       before the queue's dispatches, of this encoder's
//   u, w    a fence behind dispatches, before dispatches
//   !       the command buffer ends, the host waits
typedef struct script {
  mtl_queue *queue;
  mtl_command_buffer *commands;
  mtl_compute_encoder *compute;
  mtl_blit_encoder *blit;
  mtl_buffer *x, *y, *z;
  mtl_fence *fence;
  bool is_begun;
  bool is_bad;
} script;

static void close_open(script *s) {
  if (s->compute) {
    CHECK_OK(mtl_compute_encoder_end(s->compute));
  }
  if (s->blit) {
    CHECK_OK(mtl_blit_encoder_end(s->blit));
  }
  s->compute = NULL;
  s->blit = NULL;
}

static mtl_compute_encoder *compute_of(script *s) {
  if (!s->compute) {
    close_open(s);
    CHECK_OK(mtl_compute_encoder_create_with(
        s->commands, &(mtl_encoder_desc){.continues_encoder = s->is_begun},
        &s->compute));
    s->is_begun = true;
  }
  return s->compute;
}

static void copy(script *s, mtl_buffer *from, mtl_buffer *to) {
  if (!s->blit) {
    close_open(s);
    CHECK_OK(mtl_blit_encoder_create_with(
        s->commands, &(mtl_encoder_desc){.continues_encoder = s->is_begun},
        &s->blit));
    s->is_begun = true;
  }
  mtl_blit_encoder_copy(s->blit, from, 0, to, 0, BYTES);
}

static void order(script *s, mtl_order_kind kind, int after, int before) {
  mtl_compute_encoder_order(compute_of(s),
                            &(mtl_order){.kind = kind,
                                         .after = (mtl_stages)after,
                                         .before = (mtl_stages)before,
                                         .fence = s->fence});
}

static void step(script *s, char what) {
  enum { DISPATCH = MTL_STAGE_DISPATCH, BLIT = MTL_STAGE_BLIT };
  switch (what) {
    case 'p': dispatch(compute_of(s), "put", s->x, NULL); break;
    case 'g': dispatch(compute_of(s), "get", s->x, s->y); break;
    case 'c': copy(s, s->x, s->z); break;
    case 'r': copy(s, s->z, s->x); break;
    case 'd': order(s, MTL_ORDER_WITHIN_ENCODER, DISPATCH, DISPATCH); break;
    case 'b': order(s, MTL_ORDER_WITHIN_ENCODER, BLIT, DISPATCH); break;
    case 'B': order(s, MTL_ORDER_WITHIN_ENCODER, DISPATCH, BLIT); break;
    case 'q': order(s, MTL_ORDER_BEHIND_QUEUE, DISPATCH, DISPATCH); break;
    case 'Q': order(s, MTL_ORDER_BEHIND_QUEUE, BLIT, DISPATCH); break;
    case 'n': order(s, MTL_ORDER_BEFORE_QUEUE, DISPATCH, DISPATCH); break;
    case 'u': order(s, MTL_ORDER_UPDATE_FENCE, DISPATCH, 0); break;
    case 'w': order(s, MTL_ORDER_WAIT_FENCE, 0, DISPATCH); break;
    default: close_open(s); s->is_begun = false;
  }
  if (what == '!') {
    CHECK_OK(mtl_command_buffer_commit(s->commands));
    s->is_bad |= mtl_command_buffer_wait(s->commands) == MTL_KERNEL_FAULT;
    CHECK_OK(mtl_command_buffer_create(s->queue, NULL, &s->commands));
  }
}

// True if there is a finding; buffers are tracked, which is ignored.
static bool found(const char *steps) {
  script s = {0};
  const mtl_buffer_desc desc = {.length_bytes = BYTES};
  CHECK_OK(mtl_buffer_create(device, &desc, &s.x));
  CHECK_OK(mtl_buffer_create(device, &desc, &s.y));
  CHECK_OK(mtl_buffer_create(device, &desc, &s.z));
  CHECK_OK(mtl_fence_create(device, &s.fence));
  CHECK_OK(mtl_queue_create(
      device, &(mtl_queue_desc){.is_ordered_by_barriers = true}, &s.queue));
  CHECK_OK(mtl_command_buffer_create(s.queue, NULL, &s.commands));
  for (; *steps; ++steps) {
    step(&s, *steps);
  }
  step(&s, '!');
  mtl_command_buffer_release(s.commands);
  mtl_queue_release(s.queue);
  return s.is_bad;
}

#define ORDERED(steps) CHECK(!found(steps))
#define RACE(steps) CHECK(found(steps))

TEST(stages, of_an_encoder_are_ordered_by_barriers) {
  open_all();
  RACE("pg");
  ORDERED("pdg");
  RACE("pcg");
  RACE("pBcg");  // of the dispatches
  ORDERED("pBdcg");
  RACE("rg");
  RACE("rdg");
  ORDERED("rbg");
  RACE("pbg");
  RACE("pdgp");
  ORDERED("pdgdp");
}

TEST(stages, are_ordered_by_what_they_are_ordered_behind) {
  open_all();
  ORDERED("pBcbgdp");
  ORDERED("pBcbp");
  RACE("pBcp");
  ORDERED("pdgBrbg");
}

TEST(encoders, are_ordered_by_barriers_of_the_queue) {
  open_all();
  RACE("peg");
  ORDERED("peqg");
  RACE("peQg");
  ORDERED("pneg");
  RACE("npeg");
  RACE("pnpeg");
  ORDERED("reQg");
  ORDERED("reQdgeqp");
  RACE("pegqp");
  RACE("peceqg!");
}

TEST(encoders, are_ordered_by_fences) {
  open_all();
  ORDERED("puewg");
  RACE("puegw");
  RACE("upewg");
  RACE("ruewg");
  ORDERED("puewgueewp");
}

TEST(encoders, are_ordered_by_a_host_that_waits) {
  open_all();
  ORDERED("p!g!r!g");
}

TEST(orders, that_do_not_exist_are_refused) {
  open_all();
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_order(encoder,
                            &(mtl_order){.kind = MTL_ORDER_WAIT_FENCE});
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "fence is NULL");
}
