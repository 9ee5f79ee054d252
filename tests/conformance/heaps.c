// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heaps.c: buffers and textures that share the memory of a heap.
#include "conformance.h"

#include <string.h>

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    ADD_AND_TRIPLE
    ADD_THERE;

enum { KIB = 1024, MIB = 1024 * 1024, COUNT = 1024 };

static void release_heap(void *heap) {
  mtl_heap_release(heap);
}

static mtl_heap *new_heap(mtl_heap_desc desc) {
  mtl_heap *heap;
  CHECK_OK(mtl_heap_create(the_device(), &desc, &heap));
  test_defer(release_heap, heap);
  return heap;
}

// The caller releases it.
static mtl_buffer *take(mtl_heap *heap, size_t length_bytes, size_t offset) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_heap_create_buffer(
      heap,
      &(mtl_buffer_desc){.length_bytes = length_bytes,
                         .storage_mode = mtl_heap_storage_mode(heap)},
      offset, &buffer));
  return buffer;
}

static mtl_buffer *new_in(mtl_heap *heap, size_t length_bytes, size_t offset) {
  mtl_buffer *buffer = take(heap, length_bytes, offset);
  release_buffer_later(buffer);
  return buffer;
}

// --- what a heap tells ------------------------------------------------------

TEST(heaps, tell_what_they_are) {
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 3 * MIB,
                                            .storage_mode = MTL_STORAGE_PRIVATE,
                                            .label = "pool"});
  CHECK_EQUAL(mtl_heap_length(heap), 3 * MIB);
  CHECK_EQUAL(mtl_heap_get_type(heap), MTL_HEAP_AUTOMATIC);
  CHECK_EQUAL(mtl_heap_storage_mode(heap), MTL_STORAGE_PRIVATE);
  CHECK(!mtl_heap_tracks_hazards(heap));
  CHECK(mtl_heap_device(heap) == the_device());
  CHECK_TEXT(mtl_heap_label(heap), "pool");
  mtl_heap_set_label(heap, "other");
  CHECK_TEXT(mtl_heap_label(heap), "other");
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 0);
  CHECK_EQUAL(mtl_heap_current_allocated_bytes(heap), 3 * MIB);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 0), 3 * MIB);
  // The heap's resources take no more memory of the device.
  mtl_buffer *buffer = new_in(heap, MIB, 0);
  CHECK(mtl_buffer_heap(buffer) == heap);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()),
              before + 3 * MIB);
  CHECK(mtl_buffer_heap(new_buffer(16)) == NULL);
}

TEST(heaps, tell_what_resources_will_take) {
  mtl_size_and_align size;
  CHECK_OK(mtl_device_heap_buffer_size_and_align(the_device(), 1, &size));
  CHECK_EQUAL(size.size_bytes, 256);
  CHECK_EQUAL(size.align_bytes, 256);
  CHECK_OK(mtl_device_heap_buffer_size_and_align(the_device(), 1025, &size));
  CHECK_EQUAL(size.size_bytes, 1280);
  // 100 texels of 4 bytes are 400 bytes a row; 60 rows.
  CHECK_OK(mtl_device_heap_texture_size_and_align(
      the_device(),
      &(mtl_texture_desc){
          .pixel_format = MTL_FORMAT_RGBA8_UNORM, .width = 100, .height = 60},
      &size));
  CHECK_EQUAL(size.size_bytes, (400 * 60 + 255) / 256 * 256);
  CHECK_ERROR(mtl_device_heap_buffer_size_and_align(the_device(), 0, &size),
              MTL_INVALID_ARGUMENT, "length 0");
  CHECK_ERROR(mtl_device_heap_texture_size_and_align(
                  the_device(), &(mtl_texture_desc){.width = 4}, &size),
              MTL_INVALID_ARGUMENT, "pixel format 0");
}

// --- places -----------------------------------------------------------------

TEST(heaps, resources_lie_apart_and_come_back) {
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 4 * KIB});
  mtl_buffer *parts[4];
  for (size_t i = 0; i < 4; i++) {
    parts[i] = take(heap, KIB, 0);
    CHECK_EQUAL(mtl_buffer_heap_offset(parts[i]), i * KIB);
    CHECK_EQUAL(mtl_buffer_length(parts[i]), KIB);
    memset(mtl_buffer_contents(parts[i]), (int)i + 1, KIB);
  }
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 4 * KIB);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 256), 0);
  for (size_t i = 0; i < 4; i++) {
    CHECK_EQUAL(((char *)mtl_buffer_contents(parts[i]))[0], i + 1);
    CHECK_EQUAL(((char *)mtl_buffer_contents(parts[i]))[KIB - 1], i + 1);
  }
  mtl_buffer *more;
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap, &(mtl_buffer_desc){.length_bytes = 1}, 0, &more),
              MTL_OUT_OF_MEMORY,
              "no place for 1 bytes in heap '': 4096 of 4096 are in use");
  CHECK(more == NULL);
  // Two that are no neighbours do not make one large place; three do.
  mtl_buffer_release(parts[0]);
  mtl_buffer_release(parts[2]);
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 2 * KIB);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 256), KIB);
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap, &(mtl_buffer_desc){.length_bytes = 2 * KIB}, 0, &more),
              MTL_OUT_OF_MEMORY, "the largest place has 1024");
  mtl_buffer_release(parts[1]);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 256), 3 * KIB);
  more = take(heap, 3 * KIB, 0);
  CHECK_EQUAL(mtl_buffer_heap_offset(more), 0);
  mtl_buffer_release(more);
  mtl_buffer_release(parts[3]);
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 0);
}

TEST(heaps, the_place_that_fits_best_is_taken) {
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 16 * KIB});
  mtl_buffer *large = take(heap, 4 * KIB, 0);
  new_in(heap, KIB, 0);
  mtl_buffer *small = take(heap, KIB, 0);
  new_in(heap, KIB, 0);
  mtl_buffer_release(large);
  mtl_buffer_release(small);
  mtl_buffer *tiny = new_in(heap, 700, 0);
  CHECK_EQUAL(mtl_buffer_heap_offset(tiny), 5 * KIB);
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 2 * KIB + 768);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 4 * KIB), 8 * KIB);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 3), 9 * KIB);
}

TEST(heaps, thousands_of_resources) {
  enum { RESOURCES = 4096 };
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = RESOURCES * 256});
  static mtl_buffer *parts[RESOURCES];
  for (uint32_t i = 0; i < RESOURCES; i++) {
    parts[i] = take(heap, 4, 0);
    *words(parts[i]) = i;
  }
  for (uint32_t i = 0; i < RESOURCES; i++) {
    CHECK_EQUAL(*words(parts[i]), i);
  }
  CHECK_EQUAL(mtl_heap_used_bytes(heap), RESOURCES * 256);
  for (uint32_t i = 0; i < RESOURCES; i++) {
    mtl_buffer_release(parts[i * 5 % RESOURCES]);  // odd: each once
  }
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 0);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 0), RESOURCES * 256);
}

TEST(heaps, placement_puts_resources_where_the_client_says) {
  mtl_heap *heap = new_heap(
      (mtl_heap_desc){.length_bytes = 64 * KIB, .type = MTL_HEAP_PLACEMENT});
  CHECK_EQUAL(mtl_heap_get_type(heap), MTL_HEAP_PLACEMENT);
  mtl_buffer *first = new_in(heap, 16 * KIB, 8 * KIB);
  mtl_buffer *second = new_in(heap, 16 * KIB, 16 * KIB);
  CHECK_EQUAL(mtl_buffer_heap_offset(second), 16 * KIB);
  CHECK(mtl_buffer_is_aliasable(first));
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 24 * KIB);
  CHECK_EQUAL(mtl_heap_max_available_bytes(heap, 0), 32 * KIB);
  CHECK_EQUAL(mtl_buffer_gpu_address(second) - mtl_buffer_gpu_address(first),
              8 * KIB);
  words(first)[8 * KIB / 4 + 3] = 77;
  CHECK_EQUAL(words(second)[3], 77);
  mtl_buffer *wrong;
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap, &(mtl_buffer_desc){.length_bytes = 4}, 100, &wrong),
              MTL_INVALID_ARGUMENT, "offset 100, a multiple of 256");
  CHECK_ERROR(
      mtl_heap_create_buffer(heap, &(mtl_buffer_desc){.length_bytes = 16 * KIB},
                             56 * KIB, &wrong),
      MTL_INVALID_ARGUMENT, "do not lie in heap '' of 65536 bytes");
}

TEST(heaps, aliasable_resources_share_their_place) {
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 4 * KIB});
  mtl_buffer *first = take(heap, 4 * KIB, 0);
  CHECK(!mtl_buffer_is_aliasable(first));
  words(first)[5] = 12;
  CHECK_OK(mtl_buffer_make_aliasable(first));
  CHECK_OK(mtl_buffer_make_aliasable(first));
  CHECK(mtl_buffer_is_aliasable(first));
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 0);
  mtl_buffer *second = take(heap, 4 * KIB, 0);
  CHECK_EQUAL(words(second)[5], 12);
  words(second)[5] = 13;
  CHECK_EQUAL(words(first)[5], 13);
  mtl_buffer_release(first);  // frees no place that is now another resource's
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 4 * KIB);
  mtl_buffer_release(second);
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 0);
  CHECK_ERROR(mtl_buffer_make_aliasable(new_buffer(16)), MTL_INVALID_ARGUMENT,
              "lies in no heap");
  CHECK(!mtl_buffer_is_aliasable(new_buffer(16)));
}

TEST(heaps, resources_keep_their_heap) {
  mtl_heap *heap;
  CHECK_OK(mtl_heap_create(the_device(),
                           &(mtl_heap_desc){.length_bytes = 4 * KIB}, &heap));
  mtl_buffer *buffer = new_in(heap, KIB, 0);
  mtl_heap_release(heap);
  words(buffer)[0] = 5;
  CHECK_EQUAL(mtl_heap_used_bytes(mtl_buffer_heap(buffer)), KIB);
}

// --- kernels ----------------------------------------------------------------

static void encode_on(mtl_compute_encoder *encoder, mtl_pipeline *pipeline,
                      mtl_buffer *data, uint32_t amount) {
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_set_bytes(encoder, &amount, sizeof amount, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(64, 1, 1));
}

TEST(heaps, kernels_and_blits_work_on_their_buffers) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  for (int mode = MTL_STORAGE_SHARED; mode <= MTL_STORAGE_PRIVATE; mode++) {
    mtl_heap *heap = new_heap((mtl_heap_desc){
        .length_bytes = 16 * KIB, .storage_mode = (mtl_storage_mode)mode});
    mtl_buffer *first = new_in(heap, COUNT * 4, 0);
    mtl_buffer *second = new_in(heap, COUNT * 4, 0);
    mtl_buffer *out = new_buffer(COUNT * 8);
    CHECK((mtl_buffer_contents(first) == NULL) == (mode == 2));
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_fill(blit, first, 0, COUNT * 4, 0);
    mtl_blit_encoder_fill(blit, second, 0, COUNT * 4, 1);
    end_blit(blit);
    mtl_compute_encoder *encoder = new_encoder(commands);
    encode_on(encoder, add, first, 3);
    encode_on(encoder, add, second, 5);
    end(encoder);
    blit = new_blit(commands);
    mtl_blit_encoder_copy(blit, first, 0, out, 0, COUNT * 4);
    mtl_blit_encoder_copy(blit, second, 0, out, COUNT * 4, COUNT * 4);
    end_blit(blit);
    finish(commands);
    for (uint32_t i = 0; i < COUNT; i++) {
      CHECK_EQUAL(words(out)[i], 3);
      CHECK_EQUAL(words(out)[COUNT + i], 0x01010106);
    }
  }
}

TEST(heaps, host_and_device_see_each_others_writes) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 16 * KIB});
  static uint32_t initial[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    initial[i] = i;
  }
  mtl_buffer *buffer;
  CHECK_OK(mtl_heap_create_buffer(
      heap,
      &(mtl_buffer_desc){.length_bytes = sizeof initial, .bytes = initial}, 0,
      &buffer));
  release_buffer_later(buffer);
  words(buffer)[7] = 1000;
  for (uint32_t amount = 1; amount <= 10; amount += 9) {
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_compute_encoder *encoder = new_encoder(commands);
    encode_on(encoder, add, buffer, amount);
    end(encoder);
    finish(commands);
  }
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(buffer)[i], (i == 7 ? 1000 : i) + 11);
  }
}

TEST(heaps, used_heap_is_reached_through_addresses) {
  mtl_pipeline *add = new_pipeline(kernels, "add_there");
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 64 * KIB});
  mtl_buffer *data = new_in(heap, COUNT * 4, 0);
  words(data)[3] = 40;
  const uint64_t address = mtl_buffer_gpu_address(data);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_use_heaps(encoder, &heap, 1);
  mtl_compute_encoder_set_pipeline(encoder, add);
  mtl_compute_encoder_set_bytes(encoder, &address, sizeof address, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(data)[3], 44);
  CHECK_EQUAL(words(data)[COUNT - 1], 4);
  commands = new_commands(new_queue());
  words(data)[3] = 30;
  encoder = new_encoder(commands);
  mtl_compute_encoder_use_heap(encoder, heap);
  mtl_compute_encoder_set_pipeline(encoder, add);
  mtl_compute_encoder_set_bytes(encoder, &address, sizeof address, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(data)[3], 34);
  encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_use_heap(encoder, NULL);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "heap is NULL");
}

enum { STEPS = 20 };

// Dispatches write two buffers at one place of a heap in turn, in a concurrent
// encoder.
static void run_steps(mtl_heap *heap, bool has_barriers) {
  mtl_pipeline *triple = new_pipeline(kernels, "triple");
  mtl_buffer *same[2] = {new_in(heap, COUNT * 4, 0),
                         new_in(heap, COUNT * 4, 0)};
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_concurrent_encoder(commands);
  uint32_t expected = 0;
  for (uint32_t i = 0; i < STEPS; i++) {
    encode_on(encoder, triple, same[i % 2], i);
    expected = expected * 3 + i;
    if (has_barriers) {
      mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
    }
  }
  end(encoder);
  finish(commands);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(same[0])[i], expected);
  }
}

TEST(heaps, tracked_ones_are_tracked_as_one) {
  run_steps(new_heap((mtl_heap_desc){.length_bytes = 64 * KIB,
                                     .type = MTL_HEAP_PLACEMENT,
                                     .tracks_hazards = true}),
            false);
}

TEST(heaps, untracked_ones_are_the_clients_to_order) {
  run_steps(new_heap((mtl_heap_desc){.length_bytes = 64 * KIB,
                                     .type = MTL_HEAP_PLACEMENT}),
            true);
}

TEST(heaps, work_in_flight_keeps_the_memory) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_heap *heap;
  CHECK_OK(mtl_heap_create(the_device(),
                           &(mtl_heap_desc){.length_bytes = 16 * KIB}, &heap));
  mtl_buffer *data = take(heap, COUNT * 4, 0);
  mtl_buffer *out = new_buffer(COUNT * 4);
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_wait_event(commands, event, 1);
  mtl_compute_encoder *encoder = new_encoder(commands);
  encode_on(encoder, add, data, 6);
  end(encoder);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, data, 0, out, 0, COUNT * 4);
  end_blit(blit);
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_buffer_release(data);
  mtl_heap_release(heap);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(words(out)[COUNT - 1], 6);
}

// --- textures ---------------------------------------------------------------

static void release_texture(void *texture) {
  mtl_texture_release(texture);
}

TEST(heaps, textures_lie_in_heaps) {
  const mtl_texture_desc desc = {.pixel_format = MTL_FORMAT_R32_UINT,
                                 .width = 8,
                                 .height = 4,
                                 .level_count = 2};
  mtl_size_and_align size;
  CHECK_OK(mtl_device_heap_texture_size_and_align(the_device(), &desc, &size));
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 4 * KIB});
  new_in(heap, 256, 0);
  mtl_texture *texture;
  CHECK_OK(mtl_heap_create_texture(heap, &desc, 0, &texture));
  test_defer(release_texture, texture);
  CHECK(mtl_texture_heap(texture) == heap);
  CHECK_EQUAL(mtl_texture_heap_offset(texture), 256);
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 256 + size.size_bytes);
  CHECK_EQUAL(mtl_texture_info(texture)->hazard_tracking, MTL_HAZARD_UNTRACKED);
  uint32_t texels[32], back[32] = {0};
  for (uint32_t i = 0; i < 32; i++) {
    texels[i] = i * 3;
  }
  const mtl_region all = {.width = 8, .height = 4, .depth = 1};
  CHECK_OK(mtl_texture_replace_region(texture, all, 0, 0, texels, 32, 128));
  CHECK_OK(mtl_texture_get_bytes(texture, all, 0, 0, back, 32, 128));
  CHECK_EQUAL(memcmp(texels, back, sizeof texels), 0);
  CHECK(!mtl_texture_is_aliasable(texture));
  CHECK_OK(mtl_texture_make_aliasable(texture));
  CHECK(mtl_texture_is_aliasable(texture));
  CHECK_EQUAL(mtl_heap_used_bytes(heap), 256);
  mtl_texture *wrong;
  CHECK_ERROR(
      mtl_heap_create_texture(
          heap,
          &(mtl_texture_desc){
              .pixel_format = MTL_FORMAT_R32_UINT, .width = 512, .height = 512},
          0, &wrong),
      MTL_OUT_OF_MEMORY, "all of heap ''");
  CHECK(wrong == NULL);
}

// --- purgeable states -------------------------------------------------------

static mtl_purgeable_state set(mtl_buffer *buffer, mtl_purgeable_state state) {
  mtl_purgeable_state before;
  CHECK_OK(mtl_buffer_set_purgeable_state(buffer, state, &before));
  return before;
}

TEST(heaps, purgeable_states_of_buffers) {
  mtl_buffer *buffer = new_buffer(16 * MIB);
  memset(mtl_buffer_contents(buffer), 1, 16 * MIB);
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_KEEP_CURRENT),
              MTL_PURGEABLE_NON_VOLATILE);
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_VOLATILE), MTL_PURGEABLE_NON_VOLATILE);
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_NON_VOLATILE), MTL_PURGEABLE_VOLATILE);
  CHECK_EQUAL(words(buffer)[MIB], 0x01010101);
  const size_t before = test_resident_bytes();
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_EMPTY), MTL_PURGEABLE_NON_VOLATILE);
  CHECK(test_resident_bytes() + 12 * MIB < before);
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_NON_VOLATILE), MTL_PURGEABLE_EMPTY);
  memset(mtl_buffer_contents(buffer), 2, 16 * MIB);
  CHECK_EQUAL(words(buffer)[MIB], 0x02020202);
  CHECK_ERROR(
      mtl_buffer_set_purgeable_state(buffer, (mtl_purgeable_state)5, NULL),
      MTL_INVALID_ARGUMENT, "state 5 does not exist");
}

TEST(heaps, purgeable_states_of_heaps_are_their_resources) {
  mtl_heap *heap = new_heap((mtl_heap_desc){.length_bytes = 16 * MIB});
  mtl_buffer *buffer = new_in(heap, 8 * MIB, 0);
  memset(mtl_buffer_contents(buffer), 1, 8 * MIB);
  mtl_purgeable_state state;
  CHECK_OK(mtl_heap_set_purgeable_state(heap, MTL_PURGEABLE_VOLATILE, &state));
  CHECK_EQUAL(state, MTL_PURGEABLE_NON_VOLATILE);
  CHECK_EQUAL(set(buffer, MTL_PURGEABLE_KEEP_CURRENT), MTL_PURGEABLE_VOLATILE);
  CHECK_ERROR(mtl_buffer_set_purgeable_state(buffer, MTL_PURGEABLE_EMPTY, NULL),
              MTL_INVALID_ARGUMENT, "whose state it has");
  const size_t before = test_resident_bytes();
  CHECK_OK(mtl_heap_set_purgeable_state(heap, MTL_PURGEABLE_EMPTY, NULL));
  CHECK(test_resident_bytes() + 6 * MIB < before);
  CHECK_OK(
      mtl_heap_set_purgeable_state(heap, MTL_PURGEABLE_NON_VOLATILE, &state));
  CHECK_EQUAL(state, MTL_PURGEABLE_EMPTY);
  words(buffer)[0] = 9;
  CHECK_EQUAL(words(buffer)[0], 9);
}

TEST(heaps, emptied_buffers_work_again) {
  mtl_pipeline *add = new_pipeline(kernels, "add");
  mtl_buffer *data = new_buffer(COUNT * 4);
  words(data)[1] = 3;
  CHECK_EQUAL(set(data, MTL_PURGEABLE_EMPTY), MTL_PURGEABLE_NON_VOLATILE);
  CHECK_EQUAL(set(data, MTL_PURGEABLE_NON_VOLATILE), MTL_PURGEABLE_EMPTY);
  for (uint32_t i = 0; i < COUNT; i++) {
    words(data)[i] = i;
  }
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  encode_on(encoder, add, data, 2);
  end(encoder);
  finish(commands);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], i + 2);
  }
}

// --- errors -----------------------------------------------------------------

TEST(heaps, what_cannot_be_is_told) {
  mtl_heap *heap;
  CHECK_ERROR(mtl_heap_create(the_device(), &(mtl_heap_desc){0}, &heap),
              MTL_INVALID_ARGUMENT, "length 0");
  CHECK(heap == NULL);
  CHECK_ERROR(
      mtl_heap_create(the_device(),
                      &(mtl_heap_desc){.length_bytes = SIZE_MAX / 2}, &heap),
      MTL_INVALID_ARGUMENT, "the limit of device");
  CHECK_ERROR(mtl_heap_create(the_device(),
                              &(mtl_heap_desc){.length_bytes = 256,
                                               .type = (mtl_heap_type)2},
                              &heap),
              MTL_INVALID_ARGUMENT, "type 2 does not exist");
  CHECK_ERROR(
      mtl_heap_create(the_device(),
                      &(mtl_heap_desc){.length_bytes = 256,
                                       .storage_mode = (mtl_storage_mode)7},
                      &heap),
      MTL_INVALID_ARGUMENT, "storage mode 7 does not exist");
  heap = new_heap((mtl_heap_desc){.length_bytes = 4 * KIB});
  mtl_buffer *buffer;
  CHECK_ERROR(mtl_heap_create_buffer(heap, NULL, 0, &buffer),
              MTL_INVALID_ARGUMENT, "desc is NULL");
  CHECK_ERROR(mtl_heap_create_buffer(heap, &(mtl_buffer_desc){0}, 0, &buffer),
              MTL_INVALID_ARGUMENT, "length 0");
  CHECK_ERROR(
      mtl_heap_create_buffer(heap, &(mtl_buffer_desc){.length_bytes = 5 * KIB},
                             0, &buffer),
      MTL_OUT_OF_MEMORY, "length 5120");
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap,
                  &(mtl_buffer_desc){.length_bytes = 4,
                                     .storage_mode = MTL_STORAGE_PRIVATE},
                  0, &buffer),
              MTL_INVALID_ARGUMENT, "storage mode 2; that of heap '' is 0");
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap, &(mtl_buffer_desc){.length_bytes = 4, .guarded = true},
                  0, &buffer),
              MTL_INVALID_ARGUMENT, "guarded");
  CHECK_ERROR(mtl_heap_create_buffer(
                  heap, &(mtl_buffer_desc){.length_bytes = 4}, 256, &buffer),
              MTL_INVALID_ARGUMENT, "which finds places itself");
  mtl_heap_release(NULL);
}
