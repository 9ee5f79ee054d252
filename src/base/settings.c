// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// settings.c: the table of METTLE_ variables that are numbers or words, and
// what they may be. docs/man/mettle.1 describes them.
#include "base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct setting {
  const char *name;
  uint64_t least, most;  // of a number
  const char *words;     // "a|b": one of these instead
  bool is_folder;  // a folder that exists or can be created
  bool is_file;          // one that can be read
  bool is_seconds;       // a number above 0 that may have a decimal point
} setting;

static const setting settings[] = {
    {.name = "METTLE_CACHE", .words = "0|1"},
    {.name = "METTLE_CACHE_DIR", .is_folder = true},
    {.name = "METTLE_CACHE_MB", .most = UINT32_MAX},
    {.name = "METTLE_CALLS", .words = "all|none"},
    {.name = "METTLE_CHECK_EXIT", .most = 255},
    {.name = "METTLE_CHECK_SCREEN", .words = "0|1|only"},
    {.name = "METTLE_CHECK_SUPPRESS", .is_file = true},
    {.name = "METTLE_CODE_DIR", .is_folder = true},
    // Larger than any use, and small enough not to overflow.
    {.name = "METTLE_COMPILER_MEMORY_MB", .least = 1, .most = 1 << 24},
    {.name = "METTLE_COMPILER_SECONDS", .least = 1, .most = 1 << 24},
    {.name = "METTLE_CONSTANTS_MB", .most = UINT32_MAX},
    // The device takes as many as it can use.
    {.name = "METTLE_CPU_THREADS", .least = 1, .most = 1 << 16},
    {.name = "METTLE_DEVICE_LIBRARY", .words = "cublas|cudnn|none|0"},
    {.name = "METTLE_EXACT", .words = "0|1"},
    {.name = "METTLE_FAMILY", .words = "apple8|apple9|apple10|metal4"},
    {.name = "METTLE_GUARD_ENDS", .words = "0|1"},
    {.name = "METTLE_GUARDS", .words = "advice|mappings"},
    {.name = "METTLE_HOST_LIBRARY", .words = "onednn|openblas|none|0"},
    {.name = "METTLE_KERNEL_SECONDS", .is_seconds = true},
    {.name = "METTLE_POOL_MB", .most = UINT32_MAX},
};
enum { SETTING_COUNT = sizeof settings / sizeof *settings };

static bool is_word(const char *words, const char *text) {
  const size_t length = strlen(text);
  for (const char *word = words; word;) {
    const size_t here = strcspn(word, "|");
    if (here == length && strncmp(word, text, length) == 0) {
      return true;
    }
    word = word[here] ? word + here + 1 : NULL;
  }
  return false;
}

// Digits alone: no sign, no blanks, no unit.
static bool read_number(const setting *self, const char *text,
                        uint64_t *out_value) {
  if (strspn(text, "0123456789") != strlen(text)) {
    return false;
  }
  errno = 0;
  *out_value = strtoull(text, NULL, 10);
  return errno == 0 && *out_value >= self->least && *out_value <= self->most;
}

// Digits, and perhaps a point and more digits, whatever the locale's decimal
// point is.
static bool read_seconds(const char *text, uint64_t *out_ns) {
  enum { SECOND_NS = 1000000000, MOST_SECONDS = 1 << 24 };
  const size_t whole = strspn(text, "0123456789");
  const size_t part =
      text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
  const size_t length = whole + (text[whole] == '.') + part;
  if (text[length] != '\0' || whole + part == 0) {
    return false;
  }
  errno = 0;
  const uint64_t seconds = strtoull(text, NULL, 10);
  uint64_t unit_ns = SECOND_NS;
  uint64_t part_ns = 0;
  for (size_t i = 0; i < part; ++i) {
    unit_ns /= 10;
    part_ns += unit_ns * (uint64_t)(text[whole + 1 + i] - '0');
  }
  *out_ns = seconds * SECOND_NS + part_ns;
  return errno == 0 && seconds <= MOST_SECONDS && *out_ns > 0;
}

// True unless the path is something other than a folder. A folder that may not
// be used is checked elsewhere; a missing one will be made.
static bool is_folder(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? S_ISDIR(status.st_mode) : errno != ENOTDIR;
}

static mtl_status check(const setting *self) {
  const char *text = getenv(self->name);
  uint64_t value;
  if (!text || !*text) {
    return MTL_OK;
  }
  if (self->is_folder) {
    return is_folder(text) ? MTL_OK
                           : mtli_fail(MTL_INVALID_ARGUMENT,
                                       "%s is \"%s\", which is no folder",
                                       self->name, text);
  }
  if (self->is_file) {
    return access(text, R_OK) == 0
               ? MTL_OK
               : mtli_fail(MTL_INVALID_ARGUMENT,
                           "%s is \"%s\", which cannot be read: %s", self->name,
                           text, strerror(errno));
  }
  if (self->words) {
    return is_word(self->words, text)
               ? MTL_OK
               : mtli_fail(MTL_INVALID_ARGUMENT, "%s is \"%s\": it may be %s",
                           self->name, text, self->words);
  }
  if (self->is_seconds) {
    return read_seconds(text, &value)
               ? MTL_OK
               : mtli_fail(MTL_INVALID_ARGUMENT,
                           "%s is \"%s\": it may be a number of seconds above "
                           "0, such as 10 or 0.5",
                           self->name, text);
  }
  return read_number(self, text, &value)
             ? MTL_OK
             : mtli_fail(MTL_INVALID_ARGUMENT,
                         "%s is \"%s\": it may be a number from %" PRIu64
                         " to %" PRIu64,
                         self->name, text, self->least, self->most);
}

mtl_status mtli_settings_check(void) {
  for (size_t i = 0; i < SETTING_COUNT; ++i) {
    MTL_TRY(check(&settings[i]));
  }
  return MTL_OK;
}

mtl_status mtli_setting_number(const char *name, uint64_t otherwise,
                               uint64_t *out_value) {
  *out_value = otherwise;
  for (size_t i = 0; i < SETTING_COUNT; ++i) {
    if (strcmp(settings[i].name, name) == 0) {
      const char *text = getenv(name);
      MTL_TRY(check(&settings[i]));
      if (text && *text) {
        (void)(settings[i].is_seconds
                   ? read_seconds(text, out_value)
                   : read_number(&settings[i], text, out_value));
      }
    }
  }
  return MTL_OK;
}
