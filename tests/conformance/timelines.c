// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timelines.c: files of timelines that several threads fill: whole, with every
// event once.
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mettle/trace.h"

enum { THREADS = 4, ROUNDS = 600 };

static void new_path(char path[64]) {
  snprintf(path, 64, "/tmp/mettle-timeline-XXXXXX");
  const int file = mkstemp(path);
  CHECK(file >= 0);
  close(file);
}

// Reads the file, checks that it is whole and that each line is an object, and
// removes it. free() the text.
static char *read_whole(const char *path) {
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  const size_t length = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(1, length + 1);
  CHECK_EQUAL(fread(text, 1, length, file), length);
  fclose(file);
  unlink(path);
  static const char start[] =
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  CHECK(strncmp(text, start, sizeof start - 1) == 0);
  CHECK(length >= 4 && strcmp(text + length - 4, "\n]}\n") == 0);
  for (char *line = text + sizeof start - 1; strncmp(line, "]}", 2) != 0;) {
    char *end = strchr(line, '\n');
    const char *close = end[1] == ']' ? "}" : "},";
    CHECK(strncmp(line, "{\"ph\":\"", 7) == 0);
    CHECK(strncmp(end - strlen(close), close, strlen(close)) == 0);
    line = end + 1;
  }
  return text;
}

static size_t count(const char *text, const char *what) {
  size_t found = 0;
  for (const char *at = text; (at = strstr(at, what)); at += strlen(what)) {
    found++;
  }
  return found;
}

static const char commits[] = "\"name\":\"commit\",\"cat\":\"commit\"";

// Commits that one piece of work takes: a layer above makes one of its own.
static size_t commits_of_one(const worker *it) {
  char path[64];
  new_path(path);
  CHECK_OK(mtl_trace_start(path));
  work_once(it);
  CHECK_OK(mtl_trace_stop());
  char *text = read_whole(path);
  const size_t found = count(text, commits);
  free(text);
  CHECK(found == 1 || found == 2);
  return found;
}

typedef struct fill {
  worker worker;
  _Atomic bool *ends;  // NULL: after ROUNDS
} fill;

static void *work_often(void *context) {
  fill *mine = context;
  for (int i = 0; mine->ends ? !atomic_load(mine->ends) : i < ROUNDS; i++) {
    work_once(&mine->worker);
  }
  return NULL;
}

static void start_threads(pthread_t threads[THREADS], fill fills[THREADS],
                          _Atomic bool *ends) {
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  for (int i = 0; i < THREADS; i++) {
    fills[i] = (fill){{new_queue(), pipeline, new_buffer(4000)}, ends};
    CHECK_EQUAL(pthread_create(&threads[i], NULL, work_often, &fills[i]), 0);
  }
}

static void join_threads(const pthread_t threads[THREADS]) {
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
}

TEST(timelines, have_what_every_thread_did_once) {
  char path[64];
  new_path(path);
  CHECK_OK(mtl_trace_start(path));
  pthread_t threads[THREADS];
  fill fills[THREADS];
  start_threads(threads, fills, NULL);
  join_threads(threads);
  CHECK_OK(mtl_trace_stop());
  char *text = read_whole(path);
  CHECK_EQUAL(count(text, commits),
              THREADS * ROUNDS * commits_of_one(&fills[0].worker));
  CHECK_EQUAL(count(text, "\"process_name\""), 1);
  free(text);
}

TEST(timelines, are_whole_when_they_end_in_the_middle_of_work) {
  _Atomic bool ends = false;
  pthread_t threads[THREADS];
  fill fills[THREADS];
  start_threads(threads, fills, &ends);
  size_t seen = 0;
  for (int i = 0; i < 20; i++) {
    char path[64];
    new_path(path);
    CHECK_OK(mtl_trace_start(path));
    work_once(&fills[0].worker);
    CHECK_OK(mtl_trace_stop());
    char *text = read_whole(path);
    seen += count(text, commits);
    free(text);
  }
  atomic_store(&ends, true);
  join_threads(threads);
  CHECK(seen >= 20);  // one at least in each
}

TEST(timelines, of_a_parent_have_nothing_of_a_child) {
  char path[64];
  new_path(path);
  fill mine = {{new_queue(), new_pipeline(simple_kernels, "add_one"),
                new_buffer(4000)},
               NULL};
  CHECK_OK(mtl_trace_start(path));
  work_once(&mine.worker);
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    _exit(mtl_trace_stop() == MTL_OK ? 0 : 1);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  work_once(&mine.worker);
  CHECK_OK(mtl_trace_stop());
  char *text = read_whole(path);
  CHECK_EQUAL(count(text, commits), 2 * commits_of_one(&mine.worker));
  free(text);
}

TEST(timelines, keep_names_that_json_must_escape) {
  char path[64];
  new_path(path);
  CHECK_OK(mtl_trace_start(path));
  const mtl_command_buffer_desc desc = {.label = "a \"b\" \\ \n\x01 c"};
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(new_queue(), &desc, &commands));
  release_commands_later(commands);
  finish(commands);
  CHECK_OK(mtl_trace_stop());
  char *text = read_whole(path);
  CHECK(strstr(text, "\"label\":\"a \\\"b\\\" \\\\ \\u000a\\u0001 c\""));
  free(text);
}
