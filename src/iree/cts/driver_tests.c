// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver_tests.c: tests what IREE's conformance tests do not: long queues,
// failures that let nothing run, faults, programs without end, and devices
// released while work is in flight. Prints one line a test and exits with 1 if
// one failed. METTLE_DEVICE chooses the device.
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal_driver.h"
#include "iree/async/semaphore.h"
#include "iree/async/util/proactor_pool.h"
#include "testdata_msl.h"

static int failures;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define IS_SANITIZED  // whose own memory grows
#endif
#endif

#define CHECK(what)                                               \
  do {                                                            \
    if (!(what)) {                                                \
      printf("  %s:%d: not so: %s\n", __func__, __LINE__, #what); \
      failures++;                                                 \
    }                                                             \
  } while (0)

static bool is_ok(iree_status_t status, const char *function, int line) {
  if (iree_status_is_ok(status)) {
    return true;
  }
  printf("  %s:%d: ", function, line);
  iree_status_fprint(stdout, status);
  iree_status_free(status);
  failures++;
  return false;
}
#define MUST(call) is_ok(call, __func__, __LINE__)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// 0 where that says nothing.
static size_t resident_bytes(void) {
#ifdef IS_SANITIZED
  return 0;
#endif
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*s %ld", &pages) != 1) {
    pages = 0;
  }
  if (file) {
    fclose(file);
  }
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static iree_hal_device_t *open_device(void) {
  iree_allocator_t allocator = iree_allocator_system();
  iree_async_proactor_pool_t *pool = NULL;
  MUST(iree_async_proactor_pool_create(
      1, NULL, iree_async_proactor_pool_options_default(), allocator, &pool));
  iree_hal_device_create_params_t params =
      iree_hal_device_create_params_default();
  params.proactor_pool = pool;
  mtl_device *mtl = NULL;
  if (mtl_device_default(&mtl) != MTL_OK) {
    printf("no device: %s\n", mtl_last_error());
    exit(1);
  }
  mettle_hal_device_options options;
  mettle_hal_device_options_initialize(&options);
  iree_hal_device_t *device = NULL;
  MUST(mettle_hal_device_create(mtl, &options, &params, allocator, &device));
  mtl_device_release(mtl);
  iree_async_proactor_pool_release(pool);
  return device;
}

static iree_hal_semaphore_t *semaphore(iree_hal_device_t *device) {
  iree_hal_semaphore_t *made = NULL;
  MUST(iree_hal_semaphore_create(device, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
                                 IREE_HAL_SEMAPHORE_FLAG_DEFAULT, &made));
  return made;
}

static iree_hal_buffer_t *buffer(iree_hal_device_t *device, size_t bytes) {
  const iree_hal_buffer_params_t params = {
      .type = IREE_HAL_MEMORY_TYPE_HOST_VISIBLE |
              IREE_HAL_MEMORY_TYPE_DEVICE_VISIBLE,
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER |
               IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
               IREE_HAL_BUFFER_USAGE_MAPPING};
  iree_hal_buffer_t *made = NULL;
  MUST(iree_hal_allocator_allocate_buffer(iree_hal_device_allocator(device),
                                          params, bytes, &made));
  MUST(iree_hal_buffer_map_zero(made, 0, IREE_HAL_WHOLE_BUFFER));
  return made;
}

// One semaphore and value, as a list.
typedef struct point {
  iree_hal_semaphore_t *semaphore;
  uint64_t value;
} point;

static iree_hal_semaphore_list_t list(point *p) {
  return (iree_hal_semaphore_list_t){.count = p->semaphore ? 1 : 0,
                                     .semaphores = &p->semaphore,
                                     .payload_values = &p->value};
}

static iree_status_t fill(iree_hal_device_t *device,
                          iree_hal_queue_affinity_t affinity, point wait,
                          point signal, iree_hal_buffer_t *target,
                          uint32_t value) {
  return iree_hal_device_queue_fill(device, affinity, list(&wait),
                                    list(&signal), target, 0, 4, &value,
                                    sizeof value, IREE_HAL_FILL_FLAG_NONE);
}

static uint32_t read_word(iree_hal_buffer_t *source) {
  uint32_t word = 0;
  MUST(iree_hal_buffer_map_read(source, 0, &word, sizeof word));
  return word;
}

enum { MANY = 10000 };

// Submits MANY fills, each behind the one before, the first behind a gate.
static double submit_chain(iree_hal_device_t *device,
                           iree_hal_semaphore_t *gate,
                           iree_hal_semaphore_t *chain,
                           iree_hal_buffer_t *target) {
  const double start = now();
  for (uint32_t i = 0; i < MANY; i++) {
    const point wait = i ? (point){chain, i} : (point){gate, 1};
    MUST(fill(device, 1, wait, (point){chain, i + 1}, target, i + 1));
  }
  return now() - start;
}

static void many_behind_one_semaphore_run(void) {
  iree_hal_device_t *device = open_device();
  iree_hal_semaphore_t *gate = semaphore(device);
  iree_hal_semaphore_t *chain = semaphore(device);
  iree_hal_buffer_t *target = buffer(device, 64);
  const double submission = submit_chain(device, gate, chain, target);
  const double start = now();
  MUST(iree_hal_semaphore_signal(gate, 1, NULL));
  MUST(iree_hal_semaphore_wait(chain, MANY, iree_infinite_timeout(),
                               IREE_ASYNC_WAIT_FLAG_NONE));
  printf("  submitted in %.2f us each, run in %.2f us each\n",
         submission / MANY * 1e6, (now() - start) / MANY * 1e6);
  CHECK(read_word(target) == MANY);
  iree_hal_buffer_release(target);
  iree_hal_semaphore_release(chain);
  iree_hal_semaphore_release(gate);
  iree_hal_device_release(device);
}

// The waits come before the work that they wait for: the last operation first.
static void many_backwards(void) {
  iree_hal_device_t *device = open_device();
  iree_hal_semaphore_t *chain = semaphore(device);
  iree_hal_buffer_t *target = buffer(device, 64);
  for (uint32_t i = MANY; i > 0; i--) {
    const point wait = i > 1 ? (point){chain, i - 1} : (point){0};
    MUST(fill(device, i % 2 ? 1 : 2, wait, (point){chain, i}, target, i));
  }
  MUST(iree_hal_semaphore_wait(chain, MANY, iree_infinite_timeout(),
                               IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK(read_word(target) == MANY);
  iree_hal_buffer_release(target);
  iree_hal_semaphore_release(chain);
  iree_hal_device_release(device);
}

static void many_behind_one_semaphore_fail(void) {
  iree_hal_device_t *device = open_device();
  iree_hal_buffer_t *target = buffer(device, 64);
  size_t before = 0;
  for (int round = 0; round < 4; round++) {
    iree_hal_semaphore_t *gate = semaphore(device);
    iree_hal_semaphore_t *ends[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
      ends[i] = semaphore(device);
      MUST(fill(device, 1, (point){gate, 1}, (point){ends[i], 1}, target, 7));
    }
    iree_hal_semaphore_fail(
        gate, iree_make_status(IREE_STATUS_DATA_LOSS, "the gate broke"));
    for (uint32_t i = 0; i < MANY; i++) {
      uint64_t value = 0;
      iree_status_t status = iree_hal_semaphore_query(ends[i], &value);
      CHECK(iree_status_code(status) == IREE_STATUS_DATA_LOSS);
      iree_status_free(status);
      iree_hal_semaphore_release(ends[i]);
    }
    iree_hal_semaphore_release(gate);
    malloc_trim(0);
    before = round == 0 ? resident_bytes() : before;
  }
  CHECK(resident_bytes() <= before + 8 * 1024 * 1024);
  CHECK(read_word(target) == 0);
  iree_hal_buffer_release(target);
  iree_hal_device_release(device);
}

// Reads an executable for the kernel abs, changed as a client would not.
static iree_hal_executable_t *abs_executable(iree_hal_device_t *device,
                                             const char *from, const char *to) {
  const iree_file_toc_t *files = mettle_cts_testdata_msl_create();
  while (strcmp(files->name, "command_buffer_dispatch_test.bin") != 0) {
    files++;
  }
  char *data = malloc(files->size);
  memcpy(data, files->data, files->size);
  if (from) {
    char *at = memmem(data, files->size, from, strlen(from));
    CHECK(at && strlen(from) == strlen(to));
    memcpy(at, to, strlen(to));
  }
  iree_hal_executable_cache_t *cache = NULL;
  iree_hal_executable_t *executable = NULL;
  iree_hal_executable_params_t params;
  iree_hal_executable_params_initialize(&params);
  params.executable_format = IREE_SV("metal-msl-fb");
  params.executable_data = iree_make_const_byte_span(data, files->size);
  MUST(iree_hal_executable_cache_create(device, IREE_SV("tests"), &cache));
  MUST(iree_hal_executable_cache_prepare_executable(cache, &params,
                                                    &executable));
  iree_hal_executable_cache_release(cache);
  free(data);
  return executable;
}

static iree_status_t dispatch_abs(iree_hal_device_t *device,
                                  iree_hal_executable_t *executable, point wait,
                                  point signal, iree_hal_buffer_t *source,
                                  iree_hal_buffer_t *target) {
  const iree_hal_buffer_ref_t refs[2] = {{.buffer = source, .length = 8},
                                         {.buffer = target, .length = 8}};
  return iree_hal_device_queue_dispatch(
      device, 1, list(&wait), list(&signal), executable,
      iree_hal_executable_function_from_index(0),
      iree_hal_make_static_dispatch_config(1, 1, 1),
      iree_const_byte_span_empty(),
      (iree_hal_buffer_ref_list_t){.count = 2, .values = refs},
      IREE_HAL_DISPATCH_FLAG_NONE);
}

// Returns a command buffer that may be executed again and again.
static iree_hal_command_buffer_t *record_abs(iree_hal_device_t *device,
                                             iree_hal_executable_t *executable,
                                             iree_hal_buffer_t *source,
                                             iree_hal_buffer_t *target) {
  const iree_hal_buffer_ref_t refs[2] = {{.buffer = source, .length = 8},
                                         {.buffer = target, .length = 8}};
  iree_hal_command_buffer_t *commands = NULL;
  MUST(iree_hal_command_buffer_create(
      device, IREE_HAL_COMMAND_BUFFER_MODE_DEFAULT,
      IREE_HAL_COMMAND_CATEGORY_ANY, IREE_HAL_QUEUE_AFFINITY_ANY, 0,
      &commands));
  MUST(iree_hal_command_buffer_begin(commands));
  MUST(iree_hal_command_buffer_dispatch(
      commands, executable, iree_hal_executable_function_from_index(0),
      iree_hal_make_static_dispatch_config(1, 1, 1),
      iree_const_byte_span_empty(),
      (iree_hal_buffer_ref_list_t){.count = 2, .values = refs},
      IREE_HAL_DISPATCH_FLAG_NONE));
  MUST(iree_hal_command_buffer_end(commands));
  return commands;
}

static void execute(iree_hal_device_t *device,
                    iree_hal_command_buffer_t *commands, point wait,
                    point signal) {
  MUST(iree_hal_device_queue_execute(
      device, 1, list(&wait), list(&signal), commands,
      iree_hal_buffer_binding_table_empty(), IREE_HAL_EXECUTE_FLAG_NONE));
}

static uint64_t query(iree_hal_semaphore_t *asked) {
  uint64_t value = 0;
  MUST(iree_hal_semaphore_query(asked, &value));
  return value;
}

// A thread that submits short work and then queries its semaphore runs it at
// once, but does not wait for others' signals.
static void who_asks_for_short_work_does_it(void) {
  enum { ROUNDS = 200 };
  iree_hal_device_t *device = open_device();
  iree_hal_executable_t *executable = abs_executable(device, NULL, NULL);
  iree_hal_buffer_t *source = buffer(device, 8);
  iree_hal_buffer_t *target = buffer(device, 8);
  iree_hal_command_buffer_t *commands =
      record_abs(device, executable, source, target);
  iree_hal_semaphore_t *end = semaphore(device);
  iree_hal_semaphore_t *gate = semaphore(device);
  uint32_t at_once = 0;
  for (uint32_t i = 1; i <= ROUNDS; i++) {
    const float value = -(float)i;
    MUST(iree_hal_buffer_map_write(source, 0, &value, sizeof value));
    execute(device, commands, (point){0}, (point){end, i});
    at_once += query(end) == i;
    MUST(iree_hal_semaphore_wait(end, i, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE));
    float result = 0;
    MUST(iree_hal_buffer_map_read(target, 0, &result, sizeof result));
    CHECK(result == (float)i);
  }
  printf("  done when asked for: %u of %d\n", at_once, ROUNDS);
  // Not the first time, nor when another program delayed it.
  CHECK(at_once >= ROUNDS / 2);
  execute(device, commands, (point){gate, 1}, (point){end, ROUNDS + 1});
  CHECK(query(end) == ROUNDS);
  MUST(iree_hal_semaphore_signal(gate, 1, NULL));
  MUST(iree_hal_semaphore_wait(end, ROUNDS + 1, iree_infinite_timeout(),
                               IREE_ASYNC_WAIT_FLAG_NONE));
  iree_hal_semaphore_release(gate);
  iree_hal_semaphore_release(end);
  iree_hal_command_buffer_release(commands);
  iree_hal_buffer_release(target);
  iree_hal_buffer_release(source);
  iree_hal_executable_release(executable);
  iree_hal_device_release(device);
}

// What a fault of the device's first queue does to what waits for it there and
// in the second queue.
static void a_fault_is_told_and_lets_nothing_run(void) {
  iree_hal_device_t *device = open_device();
  iree_hal_executable_t *wrong =
      abs_executable(device, "_m0[gl_LocalInvocationID.x] = abs(",
                     "_m0[1u<<30]                 = abs(");
  iree_hal_executable_t *right = abs_executable(device, NULL, NULL);
  iree_hal_buffer_t *source = buffer(device, 8);
  iree_hal_buffer_t *target = buffer(device, 8);
  for (int round = 0; round < 100; round++) {
    iree_hal_semaphore_t *chain = semaphore(device);
    iree_hal_semaphore_t *other = semaphore(device);
    MUST(dispatch_abs(device, wrong, (point){0}, (point){chain, 1}, source,
                      target));
    MUST(fill(device, 1, (point){chain, 1}, (point){chain, 2}, target, 8));
    MUST(fill(device, 1, (point){chain, 2}, (point){chain, 3}, target, 9));
    MUST(fill(device, 2, (point){chain, 1}, (point){other, 1}, target, 10));
    iree_status_t status = iree_hal_semaphore_wait(
        other, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    CHECK(!iree_status_is_ok(status));
    iree_status_free(status);
    uint64_t value = 0;
    status = iree_hal_semaphore_query(chain, &value);
    char *text = NULL;
    iree_host_size_t length = 0;
    iree_allocator_t allocator = iree_allocator_system();
    CHECK(iree_status_code(status) == IREE_STATUS_INTERNAL);
    if (iree_status_to_string(status, &allocator, &text, &length)) {
      CHECK(strstr(text, "MTL_KERNEL_FAULT") && strstr(text, "'_abs'"));
      CHECK(strstr(text, "program_source:") && strstr(text, "thread ("));
      CHECK(strstr(text, "address 0x"));
      if (round == 0) {
        printf("  %s\n", text);
      }
      iree_allocator_free(allocator, text);
    }
    iree_status_free(status);
    iree_hal_semaphore_release(other);
    iree_hal_semaphore_release(chain);
  }
  CHECK(read_word(target) == 0);
  iree_hal_semaphore_t *end = semaphore(device);
  MUST(iree_hal_buffer_map_write(source, 0, &(float){-2.5f}, sizeof(float)));
  MUST(
      dispatch_abs(device, right, (point){0}, (point){end, 1}, source, target));
  MUST(iree_hal_semaphore_wait(end, 1, iree_infinite_timeout(),
                               IREE_ASYNC_WAIT_FLAG_NONE));
  CHECK(read_word(target) == 0x40200000);  // 2.5f
  iree_hal_semaphore_release(end);
  iree_hal_buffer_release(target);
  iree_hal_buffer_release(source);
  iree_hal_executable_release(right);
  iree_hal_executable_release(wrong);
  iree_hal_device_release(device);
}

static void thousand_programs_leave_nothing(void) {
  iree_hal_device_t *device = open_device();
  size_t before = 0;
  for (int i = 0; i < 1000; i++) {
    iree_hal_executable_release(abs_executable(device, NULL, NULL));
    if (i == 200) {
      malloc_trim(0);
      before = resident_bytes();
    }
  }
  malloc_trim(0);
  printf("  %zu KiB after 200, %zu KiB after 1000\n", before / 1024,
         resident_bytes() / 1024);
  CHECK(resident_bytes() <= before + 4 * 1024 * 1024);
  iree_hal_device_release(device);
}

// --- Devices that go ---------------------------------------------------------

static void a_device_goes_with_work_in_flight(void) {
  for (int i = 0; i < 20; i++) {
    iree_hal_device_t *device = open_device();
    iree_hal_semaphore_t *gate = semaphore(device);
    iree_hal_semaphore_t *never = semaphore(device);
    iree_hal_semaphore_t *chain = semaphore(device);
    iree_hal_buffer_t *target = buffer(device, 1 << 20);
    for (uint32_t n = 0; n < 50; n++) {
      MUST(fill(device, 1, (point){chain, n}, (point){chain, n + 1}, target,
                n + 1));
    }
    MUST(fill(device, 2, (point){never, 1}, (point){gate, 1}, target, 99));
    iree_hal_device_release(device);
    uint64_t value = 0;
    iree_status_t status = iree_hal_semaphore_query(gate, &value);
    CHECK(iree_status_code(status) == IREE_STATUS_ABORTED);
    iree_status_free(status);
    MUST(iree_hal_semaphore_query(chain, &value));
    CHECK(value == 50 && read_word(target) == 50);
    iree_hal_buffer_release(target);
    iree_hal_semaphore_release(chain);
    iree_hal_semaphore_release(never);
    iree_hal_semaphore_release(gate);
  }
}

typedef struct releaser {
  iree_async_semaphore_timepoint_t timepoint;
  iree_hal_device_t *device;
  atomic_int done;
} releaser;

static void release_in_callback(void *user_data,
                                iree_async_semaphore_timepoint_t *timepoint,
                                iree_status_t status) {
  (void)timepoint;
  releaser *r = user_data;
  iree_status_ignore(status);
  iree_hal_device_release(r->device);
  atomic_store(&r->done, 1);
}

static void a_device_goes_in_a_callback(void) {
  for (int i = 0; i < 50; i++) {
    releaser r = {.device = open_device()};
    iree_hal_semaphore_t *end = semaphore(r.device);
    iree_hal_buffer_t *target = buffer(r.device, 64);
    r.timepoint.callback = release_in_callback;
    r.timepoint.user_data = &r;
    MUST(iree_async_semaphore_acquire_timepoint((iree_async_semaphore_t *)end,
                                                1, &r.timepoint));
    MUST(fill(r.device, 1, (point){0}, (point){end, 1}, target, 5));
    while (!atomic_load(&r.done)) {
      sched_yield();
    }
    CHECK(read_word(target) == 5);
    iree_hal_buffer_release(target);
    iree_hal_semaphore_release(end);
  }
}

static iree_status_t release_in_call(void *user_data, const uint64_t args[4],
                                     iree_hal_host_call_context_t *context) {
  (void)args;
  (void)context;
  releaser *r = user_data;
  iree_hal_device_release(r->device);
  atomic_store(&r->done, 1);
  return iree_ok_status();
}

// With work behind it, and more work that nobody will ever release.
static void a_device_goes_in_a_host_call(void) {
  for (int i = 0; i < 20; i++) {
    releaser r = {.device = open_device()};
    iree_hal_semaphore_t *end = semaphore(r.device);
    iree_hal_semaphore_t *never = semaphore(r.device);
    iree_hal_semaphore_t *lost = semaphore(r.device);
    iree_hal_buffer_t *target = buffer(r.device, 64);
    point called = {end, 1};
    const uint64_t args[4] = {0};
    MUST(fill(r.device, 1, (point){never, 1}, (point){lost, 1}, target, 8));
    MUST(iree_hal_device_queue_host_call(
        r.device, 1, iree_hal_semaphore_list_empty(), list(&called),
        iree_hal_make_host_call(release_in_call, &r), args,
        IREE_HAL_HOST_CALL_FLAG_NONE));
    iree_status_t status = iree_hal_semaphore_wait(
        lost, 1, iree_infinite_timeout(), IREE_ASYNC_WAIT_FLAG_NONE);
    CHECK(iree_status_code(status) == IREE_STATUS_ABORTED);
    iree_status_free(status);
    MUST(iree_hal_semaphore_wait(end, 1, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE));
    CHECK(atomic_load(&r.done));
    CHECK(read_word(target) == 0);
    iree_hal_buffer_release(target);
    iree_hal_semaphore_release(lost);
    iree_hal_semaphore_release(never);
    iree_hal_semaphore_release(end);
  }
}

static void *release_in_thread(void *device) {
  iree_hal_device_release(device);
  return NULL;
}

static void a_device_goes_in_another_thread(void) {
  for (int i = 0; i < 50; i++) {
    iree_hal_device_t *device = open_device();
    iree_hal_semaphore_t *end = semaphore(device);
    iree_hal_buffer_t *target = buffer(device, 64);
    pthread_t thread;
    MUST(fill(device, 1, (point){0}, (point){end, 1}, target, 6));
    pthread_create(&thread, NULL, release_in_thread, device);
    MUST(iree_hal_semaphore_wait(end, 1, iree_infinite_timeout(),
                                 IREE_ASYNC_WAIT_FLAG_NONE));
    pthread_join(thread, NULL);
    CHECK(read_word(target) == 6);
    iree_hal_buffer_release(target);
    iree_hal_semaphore_release(end);
  }
}

static const struct {
  const char *name;
  void (*run)(void);
} tests[] = {
    {"many_behind_one_semaphore_run", many_behind_one_semaphore_run},
    {"many_behind_one_semaphore_fail", many_behind_one_semaphore_fail},
    {"many_backwards", many_backwards},
    {"who_asks_for_short_work_does_it", who_asks_for_short_work_does_it},
    {"a_fault_is_told_and_lets_nothing_run",
     a_fault_is_told_and_lets_nothing_run},
    {"thousand_programs_leave_nothing", thousand_programs_leave_nothing},
    {"a_device_goes_with_work_in_flight", a_device_goes_with_work_in_flight},
    {"a_device_goes_in_a_callback", a_device_goes_in_a_callback},
    {"a_device_goes_in_a_host_call", a_device_goes_in_a_host_call},
    {"a_device_goes_in_another_thread", a_device_goes_in_another_thread},
};

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  int failed = 0;
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    if (argc > 1 && strcmp(argv[1], tests[i].name) != 0) {
      continue;
    }
    failures = 0;
    tests[i].run();
    printf("%s %s\n", failures ? "FAILED" : "passed", tests[i].name);
    failed += failures != 0;
  }
  return failed != 0;
}
