// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine_limits.c: the processors and memory that the process may use, and
// pages.
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/machine.h"
#include "base/memory/pages.h"
#include "harness/test.h"

TEST(machine, cpus_follow_the_affinity) {
  cpu_set_t all;
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  CHECK(mtli_machine_cpus() >= 1);
  CHECK(mtli_machine_cpus() <= (uint32_t)CPU_COUNT(&all));
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &all)) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
      break;
    }
  }
  CHECK_EQUAL(mtli_machine_cpus(), 1);
}

TEST(machine, memory_follows_the_limit_of_the_address_space) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  test_skip("a sanitizer's shadow memory is over any limit");
#endif
  const uint64_t before_bytes = mtli_machine_memory_bytes();
  CHECK(before_bytes > 16u << 20);
  struct rlimit limit;
  CHECK_EQUAL(getrlimit(RLIMIT_AS, &limit), 0);
  limit.rlim_cur = before_bytes / 2;
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
  CHECK_EQUAL(mtli_machine_memory_bytes(), before_bytes / 2);
}

TEST(pages, are_zero_and_aligned) {
  mtli_pages pages;
  CHECK_OK(mtli_pages_create(5000, 0, &pages));
  CHECK_EQUAL((uintptr_t)pages.bytes % mtli_machine_page_bytes(), 0);
  for (int i = 0; i < 5000; i++) {
    CHECK_EQUAL(pages.bytes[i], 0);
  }
  mtli_pages_destroy(&pages);
}

static int status_after_touch(volatile char *byte) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer's looks up symbols for a second
    *byte = 1;
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(pages, that_are_wide_end_at_their_last_byte) {
  mtli_pages pages;
  CHECK_OK(mtli_pages_create_wide(4096 + 32, 16, &pages));
  CHECK_EQUAL((uintptr_t)pages.bytes % 16, 0);
  CHECK_EQUAL(status_after_touch(pages.bytes + 4096 + 31), 0);
  CHECK(status_after_touch(pages.bytes + 4096 + 32) != 0);
  mtli_pages_destroy(&pages);
}

TEST(pages, may_end_with_any_byte) {
  for (size_t alignment = 1; alignment <= 16; alignment *= 2) {
    mtli_pages pages;
    const size_t length = 37 * alignment;
    CHECK_OK(mtli_pages_create(length, alignment, &pages));
    CHECK_EQUAL(status_after_touch(pages.bytes), 0);
    CHECK_EQUAL(status_after_touch(pages.bytes + length - 1), 0);
    CHECK(status_after_touch(pages.bytes + length) != 0);
    mtli_pages_destroy(&pages);
  }
}

static size_t count_mappings(void) {
  size_t count = 0;
  FILE *file = fopen("/proc/self/maps", "re");
  CHECK(file != NULL);
  for (int c; (c = getc(file)) != EOF;) {
    count += c == '\n';
  }
  fclose(file);
  return count;
}

// METTLE_GUARDS chooses: one mapping for all, or two for each.
TEST(pages, are_kept_apart_as_the_setting_says) {
  enum { COUNT = 64, LENGTH = 100 };
  mtli_pages pages[COUNT];
  // a request that every kind of machine meets
  CHECK_OK(mtli_pages_create(LENGTH, 0, &pages[0]));
  const size_t before = count_mappings();
  for (size_t i = 1; i < COUNT; i++) {
    CHECK_OK(mtli_pages_create(LENGTH, 0, &pages[i]));
    CHECK_EQUAL(status_after_touch(pages[i].bytes), 0);
    CHECK(status_after_touch(pages[i].bytes - 1) != 0);
    CHECK(status_after_touch(pages[i].bytes + 4096) != 0);
  }
  const size_t more = count_mappings() - before;
  const char *setting = getenv("METTLE_GUARDS");
  if (setting && strcmp(setting, "mappings") == 0) {
    CHECK(!mtli_guard_is_there());
    CHECK(more >= COUNT - 1);
  } else if (mtli_guard_is_there()) {
    CHECK(more < COUNT / 2);
  }
  for (size_t i = 0; i < COUNT; i++) {
    mtli_pages_destroy(&pages[i]);
  }
}

TEST(pages, that_cannot_be_had_are_an_error) {
  mtli_pages pages;
  CHECK_ERROR(mtli_pages_create((size_t)1 << 60, 0, &pages), MTL_OUT_OF_MEMORY,
              "1152921504606846976");
  CHECK(pages.bytes == NULL);
}
