// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lost_compilers.c: whatever becomes of the compiler process is an error with
// a text, and the next request works.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/test.h"
#include "process.h"

static void check_lost(const char *text, const char *part) {
  mtli_compiled compiled;
  CHECK_ERROR(compile_text(text, NULL, &compiled), MTL_COMPILER_LOST, part);
  CHECK(compiled.code == NULL && compiled.bytes == NULL);
  compile_ok("kernel next");
}

TEST(lost, crash_names_the_signal) {
  use_stand_in();
  check_lost("crash", "crashed (SIGSEGV) while compiling program_source");
}

TEST(lost, abort_tells_last_words) {
  use_stand_in();
  check_lost("say Assertion failed: x\nabort",
             "crashed (SIGABRT) while compiling program_source; it last "
             "wrote: Assertion failed: x");
}

TEST(lost, exit_tells_the_status) {
  use_stand_in();
  check_lost("exit 70", "exit status 70");
}

TEST(lost, a_server_outlives_the_crash_of_a_request) {
  use_stand_in();
  const pid_t server = server_pid();
  check_lost("crash", "SIGSEGV");
  CHECK_EQUAL(server_pid(), server);
}

TEST(lost, endless_recursion_is_out_of_stack) {
  use_stand_in();
  check_lost("recurse", "ran out of stack");
}

TEST(lost, a_hang_ends_at_the_time_limit) {
  use_stand_in();
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  check_lost("hang", "passed its time limit of 1 s (METTLE_COMPILER_SECONDS)");
  check_lost("spin", "passed its time limit of 1 s");
}

TEST(lost, memory_ends_at_the_limit) {
  use_stand_in();
  setenv("METTLE_COMPILER_MEMORY_MB", "64", 1);
  check_lost("allocate",
             "passed its memory limit of 64 MB (METTLE_COMPILER_MEMORY_MB)");
}

TEST(lost, one_huge_allocation_is_the_memory_limit_too) {
  use_stand_in();
  check_lost("allocate-at-once", "passed its memory limit of 4096 MB");
  check_lost("refuse-memory", "passed its memory limit of 4096 MB");
}

static void stand_still(long milliseconds) {
  nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000,
                               .tv_nsec = milliseconds % 1000 * 1000000},
            NULL);
}

// Stops the process that the header is named after, for longer than it may run.
static bool stop_worker(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  const pid_t worker = atoi(name);
  CHECK_EQUAL(kill(worker, SIGSTOP), 0);
  stand_still(1100);
  CHECK_EQUAL(kill(worker, SIGCONT), 0);
  *out_text = context;
  *out_length = strlen(context);
  return true;
}

TEST(lost, time_limits_count_the_processors_time) {
  use_stand_in();
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  mtl_compile_options options = {.header_callback = stop_worker,
                                 .header_context = "kernel stopped"};
  // Time in which a busy machine does not run the compiler does not count
  // towards its limit.
  CHECK_TEXT(compile_name("include-pid", &options), "stopped");
  // Its own processor time still counts.
  mtli_compiled compiled;
  options.header_context = "spin";
  CHECK_ERROR(compile_text("include-pid", &options, &compiled),
              MTL_COMPILER_LOST, "passed its time limit of 1 s");
}

static void check_refused(const char *variable, const char *value) {
  mtli_compiled compiled;
  setenv(variable, value, 1);
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_INVALID_ARGUMENT,
              variable);
  unsetenv(variable);
}

TEST(lost, limits_that_make_no_sense_are_errors) {
  use_stand_in();
  check_refused("METTLE_COMPILER_MEMORY_MB", "-1");
  check_refused("METTLE_COMPILER_MEMORY_MB", "many");
  check_refused("METTLE_COMPILER_SECONDS", "0");
  check_refused("METTLE_COMPILER_SECONDS", "1.5");
  compile_ok("kernel next");
}

// Kills a process from within a request: from the header callback.
static pid_t victim;
static bool kill_victim(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  (void)name;
  *out_text = context ? context : "kernel late";
  *out_length = strlen(*out_text);
  kill(victim, SIGKILL);
  return true;
}

static void check_killed(const char *text, const char *header,
                         const char *part) {
  const mtl_compile_options options = {
      .header_callback = kill_victim,
      .header_context = (void *)(uintptr_t)header};
  mtli_compiled compiled;
  CHECK_ERROR(compile_text(text, &options, &compiled), MTL_COMPILER_LOST, part);
  compile_ok("kernel next");
}

TEST(lost, killed_server_in_mid_request) {
  use_stand_in();
  victim = server_pid();
  check_killed("include late\nhang", NULL, "was killed");
  CHECK(server_pid() != victim);
}

// The header's name is the worker's process number.
static bool kill_worker(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  victim = atoi(name);
  return kill_victim(context, name, out_text, out_length);
}

TEST(lost, killed_worker_in_mid_request) {
  use_stand_in();
  const mtl_compile_options options = {.header_callback = kill_worker};
  mtli_compiled compiled;
  const pid_t server = server_pid();
  CHECK_ERROR(compile_text("include-pid", &options, &compiled),
              MTL_COMPILER_LOST, "was killed (SIGKILL)");
  CHECK_EQUAL(server_pid(), server);
}

TEST(lost, killed_while_megabytes_are_sent_to_it) {
  use_stand_in();
  const size_t length = 64 << 20;
  char *header = malloc(length + 1);
  memset(header, '\n', length);
  header[length] = '\0';
  victim = server_pid();  // its workers die with it
  check_killed("include late\nhang", header, "was killed");
  free(header);
}

TEST(lost, killed_server_between_requests_goes_unnoticed) {
  use_stand_in();
  for (int i = 0; i < 20; ++i) {
    kill(server_pid(), SIGKILL);
    compile_ok("kernel next");
  }
}

TEST(lost, a_server_that_stands_still_is_given_up) {
  use_stand_in();
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  const pid_t server = server_pid();
  mtli_compiled compiled;
  kill(server, SIGSTOP);
  CHECK_ERROR(compile_text("kernel late", NULL, &compiled), MTL_COMPILER_LOST,
              "time limit");
  compile_ok("kernel next");
  CHECK(server_pid() != server);
  kill(server, SIGCONT);  // it finds that the server's peer is gone
  wait_for_end_of(server);
}

TEST(lost, no_compiler_where_the_variable_says) {
  use_stand_in();
  setenv("METTLE_COMPILER", "/nowhere/mettlec", 1);
  mtli_compiled compiled;
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_COMPILER_LOST,
              "METTLE_COMPILER is /nowhere/mettlec");
  use_stand_in();
  compile_ok("kernel next");
}

// A program that is started as the compiler, a script.
static void check_start(const char *script, const char *part) {
  char path[] = "/tmp/mettle-compiler-XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  CHECK(dprintf(file, "#!/bin/sh\n%s\n", script) > 0);
  CHECK_EQUAL(fchmod(file, 0700), 0);
  close(file);
  use_stand_in();
  setenv("METTLE_COMPILER", path, 1);
  mtli_compiled compiled;
  const mtl_status status = compile_text("kernel a", NULL, &compiled);
  unlink(path);
  CHECK_EQUAL(status, MTL_COMPILER_LOST);
  CHECK_CONTAINS(mtl_last_error(), part);
}

TEST(lost, a_compiler_that_does_not_start_has_last_words) {
  check_start("echo 'libLLVM.so: cannot open' >&2; exit 127",
              "ended with exit status 127 before it was ready; it last wrote: "
              "libLLVM.so: cannot open");
  check_start("echo alas >&2; kill -SEGV $$",
              "was ended by SIGSEGV before it was ready; it last wrote: alas");
  check_start("echo one >&2; echo two >&2; exit 3",
              "exit status 3 before it was ready; it last wrote: one two");
  check_start("exit 3", "ended with exit status 3 before it was ready");
  check_start("echo hello >&3; echo ho >&2",
              "is not the compiler of this Mettle");
}

TEST(lost, a_compiler_that_does_not_become_ready_has_last_words) {
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  char path[] = "/tmp/mettle-compiler-XXXXXX";
  const int file = mkstemp(path);
  CHECK(dprintf(file, "#!/bin/sh\necho slow >&2; exec sleep 60\n") > 0);
  CHECK_EQUAL(fchmod(file, 0700), 0);
  close(file);
  setenv("METTLE_COMPILER", path, 1);
  setenv("METTLE_CACHE", "0", 1);
  mtli_compiled compiled;
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_COMPILER_LOST,
              "did not become ready within 1 s (METTLE_COMPILER_SECONDS); it "
              "last wrote: slow");
  unlink(path);
}

TEST(lost, a_program_that_is_no_compiler) {
  use_stand_in();
  mtli_compiled compiled;
  setenv("METTLE_COMPILER", "/bin/true", 1);
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_COMPILER_LOST,
              "/bin/true");
  use_stand_in();
  compile_ok("kernel next");
}
