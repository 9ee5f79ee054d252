// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency.c: sets of resources that work may use without naming them.
#include "conformance.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    ADD_THERE;

enum { COUNT = 1024, MIB = 1024 * 1024 };

static void release_set(void *set) {
  mtl_residency_set_release(set);
}

static mtl_residency_set *new_set(void) {
  mtl_residency_set *set;
  CHECK_OK(mtl_residency_set_create(
      the_device(), &(mtl_residency_set_desc){.label = "set"}, &set));
  test_defer(release_set, set);
  return set;
}

static void add(mtl_residency_set *set, mtl_allocation allocation) {
  CHECK_OK(mtl_residency_set_add(set, &allocation, 1));
}

static void drop(mtl_residency_set *set, mtl_allocation allocation) {
  CHECK_OK(mtl_residency_set_remove(set, &allocation, 1));
}

#define BUFFER(it) ((mtl_allocation){.buffer = (it)})

// --- what a set holds -------------------------------------------------------

TEST(residency, sets_hold_each_allocation_once) {
  mtl_buffer *first = new_buffer(1000), *second = new_buffer(500);
  mtl_residency_set *set = new_set();
  CHECK(mtl_residency_set_device(set) == the_device());
  CHECK_TEXT(mtl_residency_set_label(set), "set");
  const mtl_allocation both[] = {BUFFER(first), BUFFER(second), BUFFER(first)};
  CHECK_OK(mtl_residency_set_add(set, both, 3));
  CHECK_EQUAL(mtl_residency_set_count(set), 2);
  CHECK(mtl_residency_set_contains(set, BUFFER(second)));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), 0);
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), 1500);
  drop(set, BUFFER(first));
  drop(set, BUFFER(first));
  CHECK_EQUAL(mtl_residency_set_count(set), 1);
  CHECK(!mtl_residency_set_contains(set, BUFFER(first)));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), 1500);
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), 500);
  mtl_allocation held[2] = {{0}};
  CHECK_EQUAL(mtl_residency_set_allocations(set, held, 2), 1);
  CHECK(held[0].buffer == second);
  mtl_residency_set_remove_all(set);
  CHECK_EQUAL(mtl_residency_set_count(set), 0);
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), 0);
}

TEST(residency, textures_and_heaps_are_allocations) {
  mtl_heap *heap;
  mtl_texture *texture;
  CHECK_OK(mtl_heap_create(the_device(), &(mtl_heap_desc){.length_bytes = MIB},
                           &heap));
  CHECK_OK(mtl_texture_create(
      the_device(),
      &(mtl_texture_desc){
          .pixel_format = MTL_FORMAT_R32_UINT, .width = 16, .height = 16},
      &texture));
  mtl_residency_set *set = new_set();
  add(set, (mtl_allocation){.heap = heap});
  add(set, (mtl_allocation){.texture = texture});
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), MIB + 16 * 16 * 4);
  CHECK(mtl_residency_set_contains(set, (mtl_allocation){.heap = heap}));
  CHECK(mtl_residency_set_contains(set, (mtl_allocation){.texture = texture}));
  mtl_heap_release(heap);
  mtl_texture_release(texture);
  CHECK_EQUAL(mtl_residency_set_count(set), 2);
}

TEST(residency, thousands_of_allocations) {
  enum { BUFFERS = 3000 };
  static mtl_buffer *buffers[BUFFERS];
  mtl_heap *heap;
  CHECK_OK(mtl_heap_create(
      the_device(), &(mtl_heap_desc){.length_bytes = BUFFERS * 256}, &heap));
  mtl_residency_set *set = new_set();
  for (int i = 0; i < BUFFERS; i++) {
    CHECK_OK(mtl_heap_create_buffer(heap, &(mtl_buffer_desc){.length_bytes = 4},
                                    0, &buffers[i]));
    add(set, BUFFER(buffers[i]));
  }
  mtl_heap_release(heap);
  CHECK_EQUAL(mtl_residency_set_count(set), BUFFERS);
  for (int i = 0; i < BUFFERS; i += 2) {
    drop(set, BUFFER(buffers[i]));
  }
  for (int i = 0; i < BUFFERS; i++) {
    CHECK_EQUAL(mtl_residency_set_contains(set, BUFFER(buffers[i])), i % 2);
    mtl_buffer_release(buffers[i]);
  }
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_residency_set_allocated_bytes(set), BUFFERS / 2 * 4);
}

TEST(residency, allocations_are_kept_until_their_removal_is_committed) {
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_residency_set *set = new_set();
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){.length_bytes = MIB}, &buffer));
  add(set, BUFFER(buffer));
  CHECK_OK(mtl_residency_set_commit(set));
  mtl_buffer_release(buffer);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before + MIB);
  mtl_residency_set_remove_all(set);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before + MIB);
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
}

// --- memory that is there ---------------------------------------------------

static mtl_buffer *new_untouched(void) {
  return new_buffer_like((mtl_buffer_desc){
      .length_bytes = 16 * MIB, .storage_mode = MTL_STORAGE_PRIVATE});
}

TEST(residency, requested_memory_is_there) {
  mtl_residency_set *set = new_set();
  add(set, BUFFER(new_untouched()));
  mtl_residency_set_request(set);  // nothing is committed
  size_t before = test_resident_bytes();
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK(test_resident_bytes() > before + 12 * MIB);
  // A later commit counts, until it ends.
  before = test_resident_bytes();
  add(set, BUFFER(new_untouched()));
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK(test_resident_bytes() > before + 12 * MIB);
  mtl_residency_set_end(set);
  before = test_resident_bytes();
  add(set, BUFFER(new_untouched()));
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK(test_resident_bytes() < before + 4 * MIB);
  mtl_residency_set_request(set);
  CHECK(test_resident_bytes() > before + 12 * MIB);
}

TEST(residency, contents_stay) {
  mtl_buffer *buffer = new_buffer(MIB);
  words(buffer)[77] = 5;
  mtl_residency_set *set = new_set();
  add(set, BUFFER(buffer));
  CHECK_OK(mtl_residency_set_commit(set));
  mtl_residency_set_request(set);
  CHECK_EQUAL(words(buffer)[77], 5);
  CHECK_EQUAL(words(buffer)[78], 0);
}

// --- work -------------------------------------------------------------------

static mtl_command_buffer *encode_there(mtl_queue *queue, mtl_buffer *data) {
  static mtl_pipeline *pipeline;
  pipeline = pipeline ? pipeline : new_pipeline(kernels, "add_there");
  const uint64_t address = mtl_buffer_gpu_address(data);
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_bytes(encoder, &address, sizeof address, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(COUNT, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  return commands;
}

TEST(residency, queues_make_sets_usable) {
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_residency_set *set = new_set();
  mtl_queue *queue = new_queue();
  add(set, BUFFER(data));
  CHECK_OK(mtl_queue_add_residency_sets(queue, &set, 1));
  CHECK_OK(mtl_queue_add_residency_sets(queue, &set, 1));
  CHECK_OK(mtl_residency_set_commit(set));
  words(data)[5] = 100;
  finish(encode_there(queue, data));
  CHECK_EQUAL(words(data)[5], 104);
  words(data)[5] = 7;
  finish(encode_there(queue, data));
  CHECK_EQUAL(words(data)[5], 11);
  CHECK_EQUAL(words(data)[6], 8);
  CHECK_OK(mtl_queue_remove_residency_sets(queue, &set, 1));
  CHECK_OK(mtl_queue_remove_residency_sets(queue, &set, 1));
}

TEST(residency, command_buffers_use_sets_of_their_own) {
  mtl_buffer *data = new_buffer(COUNT * 4);
  mtl_residency_set *set = new_set();
  mtl_queue *queue = new_queue();
  mtl_heap *heap;
  CHECK_OK(mtl_heap_create(the_device(), &(mtl_heap_desc){.length_bytes = MIB},
                           &heap));
  mtl_buffer *inside;
  CHECK_OK(mtl_heap_create_buffer(
      heap, &(mtl_buffer_desc){.length_bytes = COUNT * 4}, 0, &inside));
  release_buffer_later(inside);
  add(set, BUFFER(data));
  add(set, (mtl_allocation){.heap = heap});
  mtl_heap_release(heap);
  CHECK_OK(mtl_residency_set_commit(set));
  words(data)[5] = 100;
  words(inside)[6] = 50;
  mtl_command_buffer *commands = encode_there(queue, data);
  mtl_command_buffer_use_residency_sets(commands, &set, 1);
  finish(commands);
  CHECK_EQUAL(words(data)[5], 104);
  commands = encode_there(queue, inside);
  mtl_command_buffer_use_residency_sets(commands, &set, 1);
  finish(commands);
  CHECK_EQUAL(words(inside)[6], 54);
}

TEST(residency, work_in_flight_keeps_what_it_uses) {
  mtl_buffer *data;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = COUNT * 4}, &data));
  mtl_residency_set *set;
  CHECK_OK(mtl_residency_set_create(the_device(), NULL, &set));
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  add(set, BUFFER(data));
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_OK(mtl_queue_add_residency_sets(queue, &set, 1));
  mtl_command_buffer *gate = new_commands(queue);
  mtl_command_buffer_wait_event(gate, event, 1);
  CHECK_OK(mtl_command_buffer_commit(gate));
  mtl_command_buffer *commands = encode_there(queue, data);
  CHECK_OK(mtl_command_buffer_commit(commands));
  drop(set, BUFFER(data));
  CHECK_OK(mtl_residency_set_commit(set));
  CHECK_OK(mtl_queue_remove_residency_sets(queue, &set, 1));
  mtl_residency_set_release(set);
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_buffer_release(data);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
}

// --- errors -----------------------------------------------------------------

TEST(residency, what_cannot_be_is_told) {
  mtl_residency_set *set = new_set();
  mtl_queue *queue = new_queue();
  mtl_buffer *buffer = new_buffer(4);
  mtl_texture *texture;
  CHECK_OK(mtl_texture_create(
      the_device(),
      &(mtl_texture_desc){.pixel_format = MTL_FORMAT_R32_UINT, .width = 1},
      &texture));
  const mtl_allocation wrong[] = {BUFFER(buffer), {0}};
  const mtl_allocation two = {.buffer = buffer, .texture = texture};
  CHECK_ERROR(mtl_residency_set_add(set, wrong, 2), MTL_INVALID_ARGUMENT,
              "allocation 1 of 2 names 0 objects");
  CHECK_ERROR(mtl_residency_set_remove(set, &two, 1), MTL_INVALID_ARGUMENT,
              "names 2 objects");
  CHECK_EQUAL(mtl_residency_set_count(set), 0);
  mtl_texture_release(texture);
  CHECK_ERROR(mtl_residency_set_add(NULL, wrong, 1), MTL_INVALID_ARGUMENT,
              "set is NULL");
  CHECK_ERROR(mtl_residency_set_create(NULL, NULL, &set), MTL_INVALID_ARGUMENT,
              "device is NULL");
  CHECK_ERROR(
      mtl_queue_add_residency_sets(queue, &(mtl_residency_set *){NULL}, 1),
      MTL_INVALID_ARGUMENT, "set 0 of 1 is NULL");
  mtl_residency_set_release(NULL);
}

TEST(residency, queues_and_command_buffers_take_32_sets) {
  mtl_residency_set *sets[33];
  for (size_t i = 0; i < COUNT_OF(sets); i++) {
    sets[i] = new_set();
  }
  mtl_queue *queue = new_queue();
  CHECK_OK(mtl_queue_add_residency_sets(queue, sets, 32));
  CHECK_ERROR(mtl_queue_add_residency_sets(queue, &sets[32], 1),
              MTL_INVALID_ARGUMENT, "more than 32 sets");
  mtl_command_buffer *commands = new_commands(queue);
  mtl_command_buffer_use_residency_sets(commands, sets, 33);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_ARGUMENT,
              "more than 32 sets");
}
