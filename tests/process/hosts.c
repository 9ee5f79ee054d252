// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hosts.c: the compiler process leaves no trace in its host, and the host's
// own state does not reach it.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "process.h"

// --- what a request gives back

TEST(request, gives_the_library_back) {
  use_stand_in();
  mtli_compiled compiled;
  CHECK_OK(compile_text("kernel a\nkernel b\nwarn careful", NULL, &compiled));
  CHECK_EQUAL(compiled.code->kernel_count, 2);
  CHECK_TEXT(compiled.code->kernels[1].name, "b");
  CHECK_TEXT(compiled.code->warnings, "careful");
  CHECK(!compiled.from_cache);
  CHECK(compiled.dump == NULL);
  mtli_compiled_clear(&compiled);
}

TEST(request, gives_the_diagnostics_of_wrong_source) {
  use_stand_in();
  mtli_compiled compiled;
  CHECK_ERROR(compile_text("error a.metal:1:2: error: no", NULL, &compiled),
              MTL_COMPILE_FAILED, "a.metal:1:2: error: no");
}

TEST(request, may_be_empty) {
  use_stand_in();
  mtli_compiled compiled;
  CHECK_OK(mtli_compile_library(NULL, 0, NULL, &compiled));
  CHECK_EQUAL(compiled.code->kernel_count, 0);
  mtli_compiled_clear(&compiled);
}

TEST(request, may_be_50_megabytes) {
  use_stand_in();
  const size_t length = 50 << 20;
  char *text = malloc(length);
  memset(text, 'x', length);
  memcpy(text, "bytes\nwarn ", 11);
  mtli_compiled compiled;
  CHECK_OK(mtli_compile_library(text, length, NULL, &compiled));
  CHECK_TEXT(compiled.code->kernels[0].name, "52428800");
  mtli_compiled_clear(&compiled);
  CHECK_OK(compile_text("blob 52428800", NULL, &compiled));
  CHECK_EQUAL(compiled.code->blobs[0].size_bytes, 52428800);
  mtli_compiled_clear(&compiled);
  free(text);
}

TEST(request, carries_macros) {
  use_stand_in();
  const mtl_macro macros[] = {{"A", "17"}, {"B", NULL}};
  const mtl_compile_options options = {.macros = macros, .macro_count = 2};
  CHECK_TEXT(compile_name("macro A", &options), "17");
  CHECK_TEXT(compile_name("macro B", &options), "1");
}

static bool give_header(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  if (strcmp(name, "there.h") != 0) {
    return false;
  }
  *out_text = context;
  *out_length = strlen(context);
  return true;
}

TEST(request, asks_the_header_callback) {
  use_stand_in();
  mtli_compiled compiled;
  const mtl_compile_options options = {.header_callback = give_header,
                                       .header_context = "kernel from_header"};
  CHECK_TEXT(compile_name("include there.h", &options), "from_header");
  CHECK_ERROR(compile_text("include missing.h", &options, &compiled),
              MTL_COMPILE_FAILED, "no such header");
  CHECK_ERROR(compile_text("include there.h", NULL, &compiled),
              MTL_COMPILE_FAILED, "no such header");
}

// A callback may itself compile.
static bool compile_in_callback(void *context, const char *name,
                                const char **out_text, size_t *out_length) {
  compile_ok("kernel inner");
  return give_header(context, name, out_text, out_length);
}

TEST(request, may_be_made_within_another) {
  use_stand_in();
  const mtl_compile_options options = {.header_callback = compile_in_callback,
                                       .header_context = "kernel outer"};
  CHECK_TEXT(compile_name("include there.h", &options), "outer");
}

// Each waits in its header callback until the other is there too.
static pthread_barrier_t both_are_compiling;
static bool meet(void *context, const char *name, const char **out_text,
                 size_t *out_length) {
  pthread_barrier_wait(&both_are_compiling);
  return give_header(context, name, out_text, out_length);
}

static void *compile_and_meet(void *unused) {
  const mtl_compile_options options = {.header_callback = meet,
                                       .header_context = "kernel a"};
  mtli_compiled compiled;
  CHECK_OK(compile_text("include there.h", &options, &compiled));
  mtli_compiled_clear(&compiled);
  return unused;
}

TEST(request, of_two_threads_are_worked_on_side_by_side) {
  use_stand_in();
  pthread_t other;
  pthread_barrier_init(&both_are_compiling, NULL, 2);
  CHECK_EQUAL(pthread_create(&other, NULL, compile_and_meet, NULL), 0);
  compile_and_meet(NULL);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
}

static void *compile_often(void *name) {
  char text[64];
  snprintf(text, sizeof text, "kernel %s", (const char *)name);
  for (int i = 0; i < 50; ++i) {
    mtli_compiled compiled;
    CHECK_OK(compile_text(text, NULL, &compiled));
    CHECK_TEXT(compiled.code->kernels[0].name, name);
    mtli_compiled_clear(&compiled);
  }
  return NULL;
}

TEST(request, of_many_threads_do_not_mix) {
  use_stand_in();
  char names[8][8];
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) {
    snprintf(names[i], sizeof names[i], "k%d", i);
    CHECK_EQUAL(pthread_create(&threads[i], NULL, compile_often, names[i]), 0);
  }
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
}

TEST(request, of_a_pipeline_gives_code_and_dump) {
  use_stand_in();
  mtli_compiled library, pipeline;
  CHECK_OK(compile_text("kernel a", NULL, &library));
  mtli_pipeline_request request = {.library_bytes = library.bytes,
                                   .library_size_bytes = library.size_bytes,
                                   .kernel_name = "a",
                                   .tier = MTLI_TIER_1};
  request.kernel_name = "kernel x";
  CHECK_OK(mtli_compile_pipeline(&request, &pipeline));
  CHECK_TEXT(pipeline.code->kernels[1].name, "x");
  CHECK(pipeline.dump == NULL);
  mtli_compiled_clear(&pipeline);
  request.dump_after = "frontend";
  CHECK_OK(mtli_compile_pipeline(&request, &pipeline));
  CHECK_TEXT(pipeline.dump, "frontend");
  mtli_compiled_clear(&pipeline);
  mtli_compiled_clear(&library);
}

TEST(request, resolves_relative_paths_where_the_host_stands) {
  const char *folder = use_cache_folder();
  use_stand_in();
  const char *const paths[] = {"."};
  const mtl_compile_options options = {.include_paths = paths,
                                       .include_path_count = 1};
  write_file(folder, "here.h", "kernel found");
  CHECK_EQUAL(chdir(folder), 0);
  CHECK_TEXT(compile_name("include here.h", &options), "found");
  CHECK_TEXT(compile_name("directory", NULL), folder);
  CHECK_EQUAL(chdir("/"), 0);
  CHECK_TEXT(compile_name("directory", NULL), "/");
}

// --- what the host notices: nothing

TEST(host, has_no_child_to_wait_for) {
  use_stand_in();
  compile_ok("kernel a");
  CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
  CHECK_EQUAL(errno, ECHILD);
}

static int count_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder)) {
    ++count;
  }
  closedir(folder);
  return count;
}

TEST(host, has_one_descriptor_more_however_many_requests) {
  use_stand_in();
  mtli_compiled compiled;
  const int before = count_descriptors();
  for (int i = 0; i < 20; ++i) {
    compile_ok("kernel a");
    CHECK_ERROR(compile_text("crash", NULL, &compiled), MTL_COMPILER_LOST, "");
    CHECK_ERROR(compile_text("error e", NULL, &compiled), MTL_COMPILE_FAILED,
                "e");
    kill(server_pid(), SIGKILL);
    compile_ok("kernel a");
  }
  CHECK_EQUAL(count_descriptors(), before + 1);
}

static void check_no_inherited_socket(void) {
  // What exec leaves open: every descriptor must be closed on exec.
  for (int fd = 3; fd < 64; ++fd) {
    const int flags = fcntl(fd, F_GETFD);
    CHECK(flags < 0 || (flags & FD_CLOEXEC));
  }
}

TEST(host, passes_no_descriptor_to_programs_that_it_starts) {
  use_stand_in();
  closefrom(3);
  compile_ok("kernel a");
  check_no_inherited_socket();
}

TEST(host, keeps_its_output_to_itself) {
  use_stand_in();
  const int output = memfd_create("output", 0);
  const int kept = dup(STDERR_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  mtli_compiled compiled;
  compile_ok("say loud\nkernel a");
  const mtl_status status = compile_text("say loud\ncrash", NULL, &compiled);
  dup2(kept, STDERR_FILENO);
  CHECK_EQUAL(status, MTL_COMPILER_LOST);
  CHECK_EQUAL(lseek(output, 0, SEEK_END), 0);
}

TEST(host, may_have_closed_its_standard_descriptors) {
  use_stand_in();
  const int kept = fcntl(STDERR_FILENO, F_DUPFD, 100);
  close(0);
  close(1);
  close(2);
  mtli_compiled compiled;
  const mtl_status status = compile_text("say loud\nkernel a", NULL, &compiled);
  const int lowest = open("/dev/null", O_RDWR);
  dup2(kept, STDERR_FILENO);
  CHECK_EQUAL(status, MTL_OK);
  CHECK_EQUAL(lowest, 0);
  mtli_compiled_clear(&compiled);
}

TEST(host, may_close_descriptors_that_it_does_not_know) {
  use_stand_in();
  compile_ok("kernel a");
  closefrom(3);
  // The number that was ours is another file's now, and must be left alone.
  int pipes[8][2];
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(pipe(pipes[i]), 0);
  }
  compile_ok("kernel a");
  for (int i = 0; i < 8; ++i) {
    CHECK_EQUAL(write(pipes[i][1], "x", 1), 1);
    char byte;
    CHECK_EQUAL(read(pipes[i][0], &byte, 1), 1);
    CHECK_EQUAL(byte, 'x');
  }
}

TEST(host, may_ignore_and_block_every_signal) {
  use_stand_in();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  signal(SIGCHLD, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  mtli_compiled compiled;
  compile_ok("kernel a");
  CHECK_ERROR(compile_text("crash", NULL, &compiled), MTL_COMPILER_LOST,
              "SIGSEGV");
  CHECK_ERROR(compile_text("abort", NULL, &compiled), MTL_COMPILER_LOST,
              "SIGABRT");
  setenv("METTLE_COMPILER_SECONDS", "1", 1);
  CHECK_ERROR(compile_text("hang", NULL, &compiled), MTL_COMPILER_LOST,
              "time limit");
}

static void count_signal(int number) {
  (void)number;
}

// Interrupted calls in the middle of requests are taken up again.
TEST(host, may_be_interrupted_by_signals_all_the_time) {
  use_stand_in();
  struct sigaction action = {.sa_handler = count_signal};
  sigaction(SIGALRM, &action, NULL);
  timer_t timer;
  CHECK_EQUAL(timer_create(CLOCK_MONOTONIC, NULL, &timer), 0);
  const struct itimerspec often = {{0, 200000}, {0, 200000}};
  CHECK_EQUAL(timer_settime(timer, 0, &often, NULL), 0);
  for (int i = 0; i < 50; ++i) {
    compile_ok("kernel a");
  }
  timer_delete(timer);
}

TEST(host, limits_are_not_the_compilers) {
  use_stand_in();
  const struct rlimit small = {1 << 20, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &small);
  setrlimit(RLIMIT_STACK, &small);
  mtli_compiled compiled;
  CHECK_OK(compile_text("blob 8000000", NULL, &compiled));
  mtli_compiled_clear(&compiled);
}

TEST(host, without_a_free_descriptor_gets_an_error) {
  use_stand_in();
  compile_ok("kernel a");
  mtli_compiled compiled;
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t kept = limit.rlim_cur;
  limit.rlim_cur = 4;
  while (dup(0) >= 0) {
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  CHECK_ERROR(compile_text("kernel a", NULL, &compiled), MTL_COMPILER_LOST,
              "Too many open files");
  limit.rlim_cur = kept;
  setrlimit(RLIMIT_NOFILE, &limit);
  compile_ok("kernel a");
}

// --- fork, and the end of the host

static pid_t parents_server;
static void child_compiles(void) {
  const pid_t own = server_pid();
  CHECK(own != parents_server);
  compile_ok("kernel a");
  CHECK_EQUAL(server_pid(), own);
}

TEST(host, may_fork_and_compile_on_both_sides) {
  use_stand_in();
  parents_server = server_pid();
  run_in_child(child_compiles);
  CHECK_EQUAL(server_pid(), parents_server);
  run_in_child(child_compiles);
}

static void do_nothing(void) {}
static bool fork_in_callback(void *context, const char *name,
                             const char **out_text, size_t *out_length) {
  run_in_child(do_nothing);
  run_in_child(child_compiles);
  return give_header(context, name, out_text, out_length);
}

TEST(host, may_fork_in_mid_request) {
  use_stand_in();
  parents_server = server_pid();
  const mtl_compile_options options = {.header_callback = fork_in_callback,
                                       .header_context = "kernel a"};
  CHECK_TEXT(compile_name("include there.h", &options), "a");
}

static void *fork_often(void *unused) {
  for (int i = 0; i < 30; ++i) {
    run_in_child(do_nothing);
  }
  return unused;
}

TEST(host, may_fork_while_other_threads_compile) {
  use_stand_in();
  pthread_t forking;
  CHECK_EQUAL(pthread_create(&forking, NULL, fork_often, NULL), 0);
  mtli_compiled compiled;
  for (int i = 0; i < 60; ++i) {
    compile_ok("kernel a");
    CHECK_ERROR(compile_text("crash", NULL, &compiled), MTL_COMPILER_LOST, "");
  }
  CHECK_EQUAL(pthread_join(forking, NULL), 0);
}

// Starts a host of its own that compiles, tells its server's process, and
// then does what it is told.
static pid_t start_host(void (*then)(void), pid_t *out_server) {
  int answer[2];
  CHECK_EQUAL(pipe(answer), 0);
  const pid_t host = fork();
  if (host == 0) {
    const pid_t server = server_pid();
    CHECK_EQUAL(write(answer[1], &server, sizeof server), sizeof server);
    then();
    _exit(0);
  }
  close(answer[1]);
  CHECK_EQUAL(read(answer[0], out_server, sizeof *out_server),
              sizeof *out_server);
  close(answer[0]);
  return host;
}

static void wait_to_be_killed(void) {
  for (;;) {
    pause();
  }
}

TEST(host, that_ends_takes_its_server_along) {
  use_stand_in();
  pid_t server;
  const pid_t host = start_host(do_nothing, &server);
  wait_for_end_of(server);
  CHECK_EQUAL(waitpid(host, NULL, 0), host);
}

TEST(host, that_is_killed_takes_its_server_along) {
  use_stand_in();
  pid_t server;
  const pid_t host = start_host(wait_to_be_killed, &server);
  kill(host, SIGKILL);
  wait_for_end_of(server);
  CHECK_EQUAL(waitpid(host, NULL, 0), host);
}

static void hang_in_request(void) {
  mtli_compiled compiled;
  (void)compile_text("hang", NULL, &compiled);
}

TEST(host, that_is_killed_in_mid_request_takes_the_worker_along) {
  use_stand_in();
  pid_t server;
  const pid_t host = start_host(hang_in_request, &server);
  kill(host, SIGKILL);
  wait_for_end_of(server);
  CHECK_EQUAL(waitpid(host, NULL, 0), host);
}

// A child that the host leaves behind holds none of the host's files open. It
// lives as long as the test.
static int life[2];
static void leave_child_behind(void) {
  if (fork() == 0) {
    char byte;
    close(life[1]);
    (void)!read(life[0], &byte, 1);
    _exit(0);
  }
}

TEST(host, that_ends_before_its_child_takes_its_server_along) {
  use_stand_in();
  pid_t server;
  CHECK_EQUAL(pipe(life), 0);
  const pid_t host = start_host(leave_child_behind, &server);
  wait_for_end_of(server);
  CHECK_EQUAL(waitpid(host, NULL, 0), host);
}

static void *compile_server(void *out_pid) {
  *(pid_t *)out_pid = server_pid();
  return NULL;
}

TEST(host, keeps_the_server_when_the_thread_that_started_it_ends) {
  use_stand_in();
  pthread_t thread;
  pid_t server;
  CHECK_EQUAL(pthread_create(&thread, NULL, compile_server, &server), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  CHECK_EQUAL(server_pid(), server);
}
