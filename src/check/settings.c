// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// settings.c: the checker's settings from the environment, and the report at
// the process's end.
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "check/findings.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t wanted;
static atomic_bool is_asked;  // by a pipeline
static uint32_t schedule_kind;
static uint64_t schedule_seed;
static bool schedule_is_stale;
static uint32_t schedule_runs;  // of explore:N; 0: not exploring
static char schedule_text[64] = "forward";
static pid_t process;  // that asked for it
static int exit_status = -1;  // the report's own

static const struct {
  const char *name;
  uint32_t bits;
} names[] = {
    {"bounds", MTLI_CHECK_BOUNDS},
    {"races", MTLI_CHECK_RACES},
    {"init", MTLI_CHECK_INIT},
    {"sync", MTLI_CHECK_SYNC},
    {"align", MTLI_CHECK_ALIGN},
    {"nan", MTLI_CHECK_NAN},
    {"integer", MTLI_CHECK_INTEGER},
    {"host", MTLI_CHECK_HOST},
    {"uniform", MTLI_CHECK_UNIFORM},
    {"stop", MTLI_CHECK_STOP},
    {"default", MTL_CHECK_DEFAULT},
    {"1", MTL_CHECK_DEFAULT},
    {"all", 127},
};

static uint32_t bits_of(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strlen(names[i].name) == length &&
        strncmp(names[i].name, word, length) == 0) {
      return names[i].bits;
    }
  }
  return 0;
}

bool mtli_check_parse(const char *text, uint32_t *out_checks) {
  uint32_t checks = 0;
  while (*text) {
    const size_t length = strcspn(text, ",");
    const uint32_t bits = bits_of(text, length);
    if (!bits) {
      return false;
    }
    checks |= bits;
    text += length + (text[length] == ',');
  }
  // "stop" without a check checks nothing.
  *out_checks = checks & 255 ? checks : checks | MTL_CHECK_DEFAULT;
  return true;
}

static char wrong[256];  // "" if the settings are right

// True if text is NAME:NUMBER.
static bool take_number(const char *text, const char *name,
                        uint64_t *out_number) {
  const size_t length = strlen(name);
  if (strncmp(text, name, length) != 0 || text[length] != ':') {
    return false;
  }
  const char *number = text + length + 1;
  char *end = NULL;
  errno = 0;
  *out_number = strtoull(number, &end, 10);
  return errno == 0 && *end == '\0' && *number >= '0' && *number <= '9';
}

enum { MOST_RUNS = 1 << 16 };

static void take_schedule(const char *text) {
  uint64_t number = 0;
  schedule_is_stale = take_number(text, "stale", &number);
  if (schedule_is_stale || take_number(text, "random", &number)) {
    schedule_kind = CHECK_RANDOM;
    schedule_seed = number;
    snprintf(schedule_text, sizeof schedule_text, "%s:%" PRIu64,
             schedule_is_stale ? "stale" : "random", number);
    return;
  }
  if (take_number(text, "explore", &number) && number > 1 &&
      number <= MOST_RUNS) {
    schedule_runs = (uint32_t)number;
    return;
  }
  if (strcmp(text, "reverse") == 0) {
    schedule_kind = CHECK_REVERSE;
    snprintf(schedule_text, sizeof schedule_text, "reverse");
    return;
  } else if (strcmp(text, "forward") == 0) {
    return;
  }
  snprintf(wrong, sizeof wrong,
           "METTLE_CHECK_SCHEDULE is \"%.64s\": it may be forward, reverse, "
           "random:SEED, stale:SEED or explore:N, N from 2 to %d",
           text, MOST_RUNS);
}

static void read_settings(void) {
  const char *text = secure_getenv("METTLE_CHECK");
  const char *schedule = secure_getenv("METTLE_CHECK_SCHEDULE");
  const char *status = secure_getenv("METTLE_CHECK_EXIT");
  if (schedule && *schedule) {
    take_schedule(schedule);
  }
  if (!text || !*text || strcmp(text, "0") == 0) {
    return;
  }
  if (!mtli_check_parse(text, &wanted)) {
    wanted = MTL_CHECK_DEFAULT;
    snprintf(wrong, sizeof wrong,
             "METTLE_CHECK is \"%.64s\": it may be a list of races, bounds, "
             "init, sync, align, nan, integer, host, uniform, stop, all",
             text);
  }
  process = getpid();
  exit_status = status && *status ? atoi(status) : 3;
}

mtl_status mtl_check_settings(void) {
  pthread_once(&once, read_settings);
  return wrong[0] ? mtli_fail(MTL_INVALID_ARGUMENT, "%s", wrong) : MTL_OK;
}

uint32_t mtli_check_wanted(void) {
  pthread_once(&once, read_settings);
  return wanted;
}

bool mtli_check_is_on(void) {
  // Relaxed: whoever uses the pipeline has it from the thread that made it.
  return mtli_check_wanted() != 0 ||
         atomic_load_explicit(&is_asked, memory_order_relaxed);
}

void mtli_check_turn_on(void) {
  atomic_store_explicit(&is_asked, true, memory_order_relaxed);
}

uint32_t check_schedule_runs(void) {
  return schedule_runs ? schedule_runs : 1;
}

bool check_schedule_is_stale(void) {
  return schedule_is_stale || schedule_runs > 3;
}

// Chooses an explored schedule: the first two are forward and reverse, the
// others random; every second one is stale.
uint32_t check_schedule(uint32_t run, uint64_t *out_seed, bool *out_is_stale) {
  pthread_once(&once, read_settings);
  *out_seed = schedule_seed;
  *out_is_stale = schedule_is_stale;
  if (!schedule_runs) {
    return schedule_kind;
  }
  *out_seed = run;
  *out_is_stale = run > 2 && run % 2 == 1;
  check_schedule_name(run, schedule_text);
  return run < 2 ? (run ? CHECK_REVERSE : CHECK_FORWARD) : CHECK_RANDOM;
}

void check_schedule_name(uint32_t run, char *out) {
  if (run < 2) {
    snprintf(out, sizeof schedule_text, "%s", run ? "reverse" : "forward");
  } else {
    snprintf(out, sizeof schedule_text, "%s:%u",
             run % 2 ? "stale" : "random", run);
  }
}

static bool screen_is(const char *text) {
  const char *screen = secure_getenv("METTLE_CHECK_SCREEN");
  return screen && strcmp(screen, text) == 0;
}

bool check_screens_only(void) {
  return screen_is("only");
}

bool mtli_check_screens(void) {
  pthread_once(&once, read_settings);
  return schedule_kind == CHECK_FORWARD && !schedule_runs &&
         !screen_is("0");
}

const char *check_schedule_text(void) {
  return schedule_text;
}

const char *check_report_path(void) {
  const char *path = secure_getenv("METTLE_CHECK_REPORT");
  return path && *path ? path : NULL;
}

// Runs after all that the program has registered for its end. A forked process
// has no findings of its own yet.
__attribute__((destructor)) static void finish_process(void) {
  static bool is_done;
  if (!wanted || is_done || getpid() != process) {
    return;
  }
  is_done = true;
  const int status = mtl_check_finish();
  if (status == 0 || exit_status == 0) {
    return;
  }
  fflush(NULL);
  _exit(status == 3 ? exit_status : status);
}
