// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// diff.c: `mettle diff`: runs a kernel in several tiers and on several devices
// and tells the first element that comes out differently, and who stored it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/diff.h"
#include "cli/run/run_buffers.h"

enum { MOST_VARIANTS = 32, NAME_BYTES = 64 };

// One way to run the kernel: a tier and a device.
typedef struct variant {
  char name[NAME_BYTES];  // "tier 1 on cpu"
  char device[NAME_BYTES];  // "" for the default device
  char tier;              // '0', '1' or 'C'
  run_options options;
  run_state state;
} variant;

typedef struct comparison {
  variant *variants;  // [count]
  size_t count;
  const char *tiers, *devices;  // lists, as given
  uint64_t most_ulps;
  size_t different;  // arguments
} comparison;

// --- the command line ------------------------------------------------------------

// Takes OPTION VALUE out of arguments.
static bool take_option(char **arguments, const char *option,
                        const char **out_value, cli_error *error) {
  char **to = arguments;
  for (char **word = arguments; *word; ++word) {
    const size_t length = strlen(option);
    if (strcmp(*word, option) == 0) {
      *out_value = *++word;
    } else if (strncmp(*word, option, length) == 0 && (*word)[length] == '=') {
      *out_value = *word + length + 1;
    } else {
      *to++ = *word;
      continue;
    }
    if (!*out_value || !**out_value) {
      return cli_fail(error, CLI_USAGE, "%s needs a value", option);
    }
  }
  *to = NULL;
  return true;
}

// Returns the next word of a list between commas; its length, 0 at the end.
static size_t next_word(const char **list) {
  *list += strspn(*list, ",");
  return strcspn(*list, ",");
}

static bool add_variant(comparison *c, char tier, const char *device,
                        size_t length, cli_error *error) {
  if (c->count == MOST_VARIANTS || length >= NAME_BYTES - 16) {
    return cli_fail(error, CLI_USAGE, "--devices %.60s: too many, or too long",
                    c->devices);
  }
  variant *it = &c->variants[c->count++];
  it->tier = tier;
  snprintf(it->device, sizeof it->device, "%.*s", (int)length, device);
  return true;
}

static bool add_variants(comparison *c, cli_error *error) {
  const char *device = c->devices ? c->devices : "";
  size_t device_length = next_word(&device);
  do {
    const char *tier = c->tiers ? c->tiers : "0,1,C";
    for (size_t length; (length = next_word(&tier)) > 0; tier += length) {
      if (length != 1 || !strchr("01Cc", *tier)) {
        return cli_fail(error, CLI_USAGE, "--tiers %.60s: a list of 0, 1, C",
                        c->tiers);
      }
      if (!add_variant(c, *tier == 'c' ? 'C' : *tier, device, device_length,
                       error)) {
        return false;
      }
    }
    device += device_length;
    device_length = next_word(&device);
  } while (device_length > 0);
  return c->count > 1 ||
         cli_fail(error, CLI_USAGE, "there is nothing to compare: name two "
                                    "tiers or two devices");
}

// --- runs --------------------------------------------------------------------------

static bool run_variant(variant *it, char **arguments, cli_error *error) {
  size_t count = 0;
  while (arguments[count]) {
    ++count;
  }
  char **own = malloc((count + 1) * sizeof *own);
  if (!own) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  memcpy(own, arguments, (count + 1) * sizeof *own);
  bool ok = run_options_parse(own, &it->options, error);
  if (ok && (it->options.output_count || it->options.json ||
             it->options.repeat > 1)) {
    ok = cli_fail(error, CLI_USAGE,
                  "--save, --print, --json and --repeat are 'mettle run's");
  }
  if (ok) {
    it->options.program.compile.debug = it->tier == '0';
    it->options.checks = it->tier == 'C' ? MTL_CHECK_DEFAULT : 0;
    it->options.unchecked = true;
    if (it->device[0]) {
      it->options.program.device_name = it->device;
    }
    ok = run_execute(&it->options, &it->state, error);
  }
  if (ok) {
    snprintf(it->name, sizeof it->name, "tier %c on %.40s", it->tier,
             it->state.result.device_name);
  }
  free(own);
  return ok;
}

// --- what differs -------------------------------------------------------------------

static const void *contents_of(const variant *it, size_t number) {
  return it->state.result.contents[number];
}

static const char *name_of(const variant *it, size_t number) {
  const mtl_argument *argument =
      run_find_argument(&it->state, &it->options.bindings[number]);
  return argument ? argument->name : "?";
}

// Prints which thread stored a byte, by a run of tier C on cpu, which is made
// if there is none.
static void print_writer(comparison *c, char **arguments, size_t number,
                         uint64_t offset) {
  variant *checked = NULL;
  for (size_t i = 0; i < c->count && !checked; ++i) {
    checked = c->variants[i].tier == 'C' ? &c->variants[i] : NULL;
  }
  cli_error error = {0};
  variant *added = &c->variants[c->count];
  if (!checked) {
    *added = (variant){.tier = 'C', .device = "cpu"};
    if (run_variant(added, arguments, &error)) {
      checked = added;
    }
    free(error.diagnostics);
    ++c->count;  // to be cleared
  }
  mtl_check_place place;
  const mtl_buffer *buffer = checked ? checked->state.buffers[number] : NULL;
  if (!buffer ||
      !mtl_check_writer(mtl_buffer_gpu_address(buffer) + offset, &place)) {
    return;
  }
  const char *slash = strrchr(place.file, '/');
  printf("  stored by %s:%u:%u, thread %u of threadgroup (%u,%u,%u)\n",
         slash ? slash + 1 : place.file, place.line, place.column, place.thread,
         place.group[0], place.group[1], place.group[2]);
  if (place.inlined[0]) {
    printf("  inlined into %s\n", place.inlined);
  }
}

static void print_difference(comparison *c, char **arguments, size_t number,
                             const variant *other, const diff_result *result) {
  const variant *first = &c->variants[0];
  char one[VALUE_TEXT_SIZE], two[VALUE_TEXT_SIZE];
  value_format(result->type,
               (const char *)contents_of(first, number) + result->offset_bytes,
               one);
  value_format(result->type,
               (const char *)contents_of(other, number) + result->offset_bytes,
               two);
  printf("%s[%" PRIu64 "]", name_of(first, number), result->element);
  if (result->scalars > 1) {
    printf(" scalar %" PRIu64, result->scalar);
  }
  printf(": %s in %s, %s in %s", one, first->name, two, other->name);
  if (result->ulps == UINT64_MAX) {
    printf(": one is no number");
  } else if (result->is_float) {
    printf(": %" PRIu64 " ULP%s", result->ulps, result->ulps == 1 ? "" : "s");
  }
  printf("; %" PRIu64 " of %" PRIu64 " values differ", result->different,
         result->values);
  if (result->is_float && result->most_ulps != UINT64_MAX) {
    printf(", by at most %" PRIu64 " ULP%s", result->most_ulps,
           result->most_ulps == 1 ? "" : "s");
  }
  putchar('\n');
  print_writer(c, arguments, number, result->offset_bytes);
}

static void compare(comparison *c, char **arguments, size_t which) {
  const variant *first = &c->variants[0];
  for (size_t i = 0; i < first->options.binding_count; ++i) {
    const variant *other = &c->variants[which];
    const void *left = contents_of(first, i);
    const void *right = contents_of(other, i);
    diff_result result;
    if (left && right &&
        diff_contents(&first->options.bindings[i], left, right, c->most_ulps,
                      &result)) {
      ++c->different;
      print_difference(c, arguments, i, other, &result);
    }
  }
}

static bool compare_all(comparison *c, char **arguments, cli_error *error) {
  const size_t count = c->count;
  for (size_t i = 0; i < count; ++i) {
    if (!run_variant(&c->variants[i], arguments, error)) {
      return false;
    }
  }
  if (cli_check_has_found()) {
    fprintf(stderr, "mettle diff: the checker has findings: 'mettle run "
                    "--check' tells them\n");
  }
  for (size_t i = 1; i < count; ++i) {
    compare(c, arguments, i);
  }
  if (c->different) {
    fflush(stdout);
    return cli_fail(error, CLI_DIFFERS, "%zu argument%s differ%s", c->different,
                    c->different == 1 ? "" : "s", c->different == 1 ? "s" : "");
  }
  printf("%s: the same in ", c->variants[0].options.kernel);
  for (size_t i = 0; i < count; ++i) {
    printf("%s%s", i == 0 ? "" : i + 1 == count ? " and " : ", ",
           c->variants[i].name);
  }
  putchar('\n');
  return true;
}

static bool diff(char **arguments, cli_error *error) {
  // One more than there may be: print_writer's.
  comparison c = {.variants = calloc(MOST_VARIANTS + 1, sizeof(variant))};
  const char *ulps = NULL;
  // Checks each access, to find which thread stored each value.
  bool ok = c.variants && setenv("METTLE_CHECK_SCREEN", "0", 1) == 0;
  ok = (ok || cli_fail(error, CLI_FAILED, "out of memory")) &&
       take_option(arguments, "--tiers", &c.tiers, error) &&
       take_option(arguments, "--devices", &c.devices, error) &&
       take_option(arguments, "--ulps", &ulps, error);
  if (ok && ulps &&
      !value_parse_count(ulps, strlen(ulps), UINT64_MAX, &c.most_ulps)) {
    ok = cli_fail(error, CLI_USAGE, "--ulps %.60s is no number", ulps);
  }
  ok = ok && add_variants(&c, error) && compare_all(&c, arguments, error);
  for (size_t i = 0; i < c.count; ++i) {
    run_state_clear(&c.variants[i].state, c.variants[i].options.binding_count);
    run_options_clear(&c.variants[i].options);
  }
  free(c.variants);
  return ok;
}

static const char diff_help[] =
    "usage: mettle diff FILE.metal [KERNEL] --grid X[,Y[,Z]] [option...] "
    "[BINDING...]\n"
    "\n"
    "Runs a kernel in several tiers and on several devices, each from the same\n"
    "contents, and tells the first value of each argument that is not the one "
    "of\n"
    "the first run, and the line that stored it.\n"
    "\n"
    "  mettle diff saxpy.metal --grid x x=@x.npy y=zeros:1000 a=0.5 \\\n"
    "      --devices cpu,cpu-discrete\n"
    "\n"
    "  --tiers LIST           of 0 (as written, one thread at a time), 1 (fast "
    "code)\n"
    "                         and C (checked); 0,1,C if not given\n"
    "  --devices LIST         names that 'mettle devices' lists; the default "
    "device\n"
    "                         if not given\n"
    "  --ulps N               floats that are N units in the last place apart "
    "are\n"
    "                         alike; 0 if not given\n"
    "\n"
    "Bindings and other options are those of 'mettle run' but for --save,\n"
    "--print, --json, --repeat and --check.\n"
    "\n"
    "exit code: 0 all are alike, 1 a run failed, 2 wrong usage, 3 the source "
    "did\n"
    "not compile, 5 they differ\n";

const cli_verb cli_verb_diff = {
    .name = "diff",
    .summary = "compare a kernel's results in several tiers and on devices",
    .help = diff_help,
    .run = diff,
};
