// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// forks.c: a process that uses Mettle forks.
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs function in a child and checks that it left with status 0.
static void check_child(void (*function)(void *context), void *context) {
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    function(context);
    _exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    test_fail(__FILE__, __LINE__, "the child ended with status %#x",
              (unsigned)status);
  }
}

static worker make_and_run(void) {
  worker it = {new_queue(), new_pipeline(simple_kernels, "add_one"),
               new_buffer(4000)};
  work_once(&it);
  CHECK_EQUAL(words(it.data)[999], 1);
  return it;
}

static void release_all(void *context) {
  worker *it = context;
  mtl_buffer_release(it->data);
  mtl_pipeline_release(it->pipeline);
  mtl_queue_release(it->queue);
}

static void retain_all(worker *it) {
  mtl_buffer_retain(it->data);
  mtl_pipeline_retain(it->pipeline);
  mtl_queue_retain(it->queue);
}

TEST(forks, child_may_release_the_parents_objects) {
  worker it = make_and_run();
  retain_all(&it);
  check_child(release_all, &it);
  release_all(&it);
  work_once(&it);
  CHECK_EQUAL(words(it.data)[999], 2);
}

// A new device in the child either works or fails with a clear message.
static void use_new_device(void *context) {
  (void)context;
  mtl_device *device = NULL;
  const mtl_status status =
      mtl_device_by_name(getenv("METTLE_TEST_DEVICE"), &device);
  if (status != MTL_OK) {
    CHECK(status == MTL_UNSUPPORTED || status == MTL_INVALID_STATE);
    CHECK_CONTAINS(mtl_last_error(), "fork");
    return;
  }
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  worker it = {0};
  CHECK_OK(mtl_library_create_from_source(
      device, simple_kernels, strlen(simple_kernels), NULL, &library));
  CHECK_OK(mtl_function_create(library, "add_one", NULL, &function));
  CHECK_OK(mtl_pipeline_create(function, NULL, &it.pipeline));
  CHECK_OK(mtl_queue_create(device, NULL, &it.queue));
  CHECK_OK(mtl_buffer_create(device, &(mtl_buffer_desc){.length_bytes = 4000},
                             &it.data));
  work_once(&it);
  CHECK_EQUAL(words(it.data)[999], 1);
  release_all(&it);
  mtl_function_release(function);
  mtl_library_release(library);
  mtl_device_release(device);
}

// ThreadSanitizer keeps the parent's threads on its list after a fork, and
// gives up when the child makes one of the same address. AddressSanitizer's
// allocator stays locked in the child if a thread of the parent was in it (GCC
// 12), and the child's threads wait for ever: one run in a thousand.
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { TRUSTS_THREADS_AFTER_FORK = 0 };
#else
enum { TRUSTS_THREADS_AFTER_FORK = 1 };
#endif

TEST(forks, child_of_a_busy_process_uses_a_new_device_or_is_told) {
  if (!TRUSTS_THREADS_AFTER_FORK) {
    test_skip("sanitizers follow no threads through a fork");
  }
  make_and_run();
  check_child(use_new_device, NULL);
}

TEST(forks, child_of_an_idle_process_works) {
  need_device();
  check_child(use_new_device, NULL);
}

static void compile_anew(void *context) {
  (void)context;
  const char *source =
      "kernel void other(device int *p [[buffer(0)]]) {\n"
      "  p[0] = 99;\n"
      "}\n";
  mtl_library *library = NULL;
  const mtl_status status = mtl_library_create_from_source(
      the_device(), source, strlen(source), NULL, &library);
  if (status != MTL_OK) {
    CHECK(status == MTL_UNSUPPORTED || status == MTL_INVALID_STATE);
    CHECK_CONTAINS(mtl_last_error(), "fork");
    return;
  }
  CHECK_TEXT(mtl_library_function_name(library, 0), "other");
  mtl_library_release(library);
}

// Parent and child must not read each other's answers.
TEST(forks, parent_and_child_compile_apart) {
  worker it = make_and_run();
  check_child(compile_anew, NULL);
  mtl_library *library = new_library(
      "kernel void mine(device int *p [[buffer(0)]]) { p[0] = 1; }\n");
  CHECK_TEXT(mtl_library_function_name(library, 0), "mine");
  work_once(&it);
}

static void commit_in_child(void *context) {
  worker *it = context;
  mtl_command_buffer *commands = NULL;
  mtl_status status = mtl_command_buffer_create(it->queue, NULL, &commands);
  if (status == MTL_OK) {
    status = mtl_command_buffer_commit(commands);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_wait_timeout(commands, LONG_NS);
  }
  CHECK(status == MTL_OK || status == MTL_UNSUPPORTED ||
        status == MTL_INVALID_STATE);
  mtl_command_buffer_release(commands);
}

TEST(forks, parents_queue_in_the_child_works_or_says_so) {
  worker it = make_and_run();
  check_child(commit_in_child, &it);
  work_once(&it);
  CHECK_EQUAL(words(it.data)[0], 2);
}
