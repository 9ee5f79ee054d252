// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// devices.c: `mettle devices`: lists devices and their limits.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/arguments.h"
#include "cli/base/json.h"
#include "mettle/device.h"
#include "mettle/library.h"

static const struct {
  mtl_family family;
  const char *name;
} families[] = {
    {MTL_FAMILY_APPLE7, "apple7"},   {MTL_FAMILY_APPLE8, "apple8"},
    {MTL_FAMILY_APPLE9, "apple9"},   {MTL_FAMILY_MAC2, "mac2"},
    {MTL_FAMILY_COMMON1, "common1"}, {MTL_FAMILY_COMMON2, "common2"},
    {MTL_FAMILY_COMMON3, "common3"}, {MTL_FAMILY_METAL3, "metal3"},
};

static void print_families(const mtl_device *device, bool as_json) {
  bool first = true;
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    if (mtl_device_supports_family(device, families[i].family)) {
      printf(as_json ? "%s\"%s\"" : "%s%s", first ? "" : (as_json ? ", " : " "),
             families[i].name);
      first = false;
    }
  }
}

// The sandboxes of the compiler process, which serves all devices.
typedef struct compiler_fences {
  char *error;      // malloc'ed; NULL if it could be asked
  uint32_t fences;  // mtl_confinement
} compiler_fences;

static compiler_fences find_fences(void) {
  compiler_fences found = {0};
  if (mtl_compiler_confinement(&found.fences) != MTL_OK) {
    found.error = strdup(mtl_last_error());
  }
  return found;
}

static void print_fences(const compiler_fences *found) {
  static const char *const texts[] = {
      "not confined: no seccomp and no Landlock here",
      "confined by seccomp; no Landlock here",
      "confined by Landlock; no seccomp here",
      "confined by seccomp and Landlock",
  };
  printf("  compiler             %s\n",
         found->error ? found->error : texts[found->fences & 3]);
}

static void print_json_fences(const compiler_fences *found) {
  fputs(", \"compiler_fences\": ", stdout);
  if (found->error) {
    fputs("null", stdout);
    return;
  }
  const bool calls = found->fences & MTL_CONFINED_CALLS;
  const bool files = found->fences & MTL_CONFINED_FILES;
  printf("[%s%s%s]", calls ? "\"seccomp\"" : "", calls && files ? ", " : "",
         files ? "\"landlock\"" : "");
}

static void print_device(const mtl_device *device, bool is_default,
                         const compiler_fences *fences) {
  const mtl_device_info *info = mtl_device_get_info(device);
  printf("%s%s\n", info->name, is_default ? " (default)" : "");
  printf("  architecture         %s\n", info->architecture);
  printf("  compute units        %u\n", info->compute_units);
  printf("  simdgroup            %u threads\n", info->thread_execution_width);
  printf("  threadgroup          %u threads, %u x %u x %u at most\n",
         info->max_threads_per_threadgroup, info->max_threadgroup_threads[0],
         info->max_threadgroup_threads[1], info->max_threadgroup_threads[2]);
  printf("  threadgroup memory   %" PRIu64 " bytes\n",
         info->max_threadgroup_memory_bytes);
  printf("  buffer               %" PRIu64 " bytes at most\n",
         info->max_buffer_bytes);
  printf("  working set          %" PRIu64 " bytes recommended\n",
         info->recommended_max_working_set_bytes);
  printf("  unified memory       %s\n",
         info->has_unified_memory ? "yes" : "no");
  fputs("  families             ", stdout);
  print_families(device, false);
  putchar('\n');
  print_fences(fences);
}

static void print_json_device(const mtl_device *device, bool is_default,
                              const compiler_fences *fences) {
  const mtl_device_info *info = mtl_device_get_info(device);
  fputs("{\"name\": ", stdout);
  json_write_text(stdout, info->name);
  fputs(", \"architecture\": ", stdout);
  json_write_text(stdout, info->architecture);
  // 64-bit identities lose digits as JSON numbers in some readers.
  printf(", \"default\": %s, \"registry_id\": \"%" PRIu64 "\"",
         is_default ? "true" : "false", info->registry_id);
  printf(
      ", \"thread_execution_width\": %u, "
      "\"max_threads_per_threadgroup\": %u, \"max_threadgroup_threads\": ",
      info->thread_execution_width, info->max_threads_per_threadgroup);
  json_write_size(stdout, info->max_threadgroup_threads);
  printf(", \"max_threadgroup_memory_bytes\": %" PRIu64
         ", \"max_buffer_bytes\": %" PRIu64
         ", \"recommended_max_working_set_bytes\": %" PRIu64
         ", \"buffer_offset_alignment_bytes\": %" PRIu64,
         info->max_threadgroup_memory_bytes, info->max_buffer_bytes,
         info->recommended_max_working_set_bytes,
         info->buffer_offset_alignment_bytes);
  printf(", \"compute_units\": %u, \"has_unified_memory\": %s, \"families\": [",
         info->compute_units, info->has_unified_memory ? "true" : "false");
  print_families(device, true);
  putchar(']');
  print_json_fences(fences);
  putchar('}');
}

// Returns the name of the default device; NULL if METTLE_DEVICE names none.
static char *default_name(void) {
  mtl_device *device;
  if (mtl_device_default(&device) != MTL_OK) {
    fprintf(stderr, "mettle devices: warning: %s\n", mtl_last_error());
    return NULL;
  }
  char *name = strdup(mtl_device_get_info(device)->name);
  mtl_device_release(device);
  return name;
}

static void print_devices(mtl_device *const *devices, size_t count,
                          bool as_json) {
  char *chosen = default_name();
  compiler_fences fences = find_fences();
  fputs(as_json ? "[" : "", stdout);
  for (size_t i = 0; i < count; ++i) {
    const char *name = mtl_device_get_info(devices[i])->name;
    const bool is_default = chosen != NULL && strcmp(name, chosen) == 0;
    if (as_json) {
      fputs(i == 0 ? "" : ", ", stdout);
      print_json_device(devices[i], is_default, &fences);
    } else {
      print_device(devices[i], is_default, &fences);
    }
  }
  fputs(as_json ? "]\n" : "", stdout);
  free(chosen);
  free(fences.error);
}

enum { DEVICES_MOST = 64 };

// Finds the listed devices and the device that METTLE_DEVICE names.
static mtl_status find_all(mtl_device **devices, size_t *out_count) {
  size_t count;
  mtl_device *chosen;
  const mtl_status status =
      mtl_device_list(devices, DEVICES_MOST - 1, &count);
  if (status != MTL_OK) {
    return status;
  }
  count = count < DEVICES_MOST ? count : DEVICES_MOST - 1;
  if (mtl_device_default(&chosen) == MTL_OK) {
    bool is_listed = false;
    for (size_t i = 0; i < count; ++i) {
      is_listed |= devices[i] == chosen;
    }
    if (is_listed) {
      mtl_device_release(chosen);
    } else {
      devices[count++] = chosen;
    }
  }
  *out_count = count;
  return MTL_OK;
}

static mtl_status find_named(const char *const *names, size_t name_count,
                             mtl_device **devices, size_t *out_count) {
  for (; *out_count < name_count; ++*out_count) {
    const mtl_status status =
        mtl_device_by_name(names[*out_count], &devices[*out_count]);
    if (status != MTL_OK) {
      return status;
    }
  }
  return MTL_OK;
}

static bool list_devices(const char *const *names, size_t name_count, bool as_json,
                         cli_error *error) {
  mtl_device *devices[DEVICES_MOST];
  size_t count = 0;
  const mtl_status status = name_count > 0 ? find_named(names, name_count,
                                                        devices, &count)
                                           : find_all(devices, &count);
  if (status == MTL_OK) {
    print_devices(devices, count, as_json);
  }
  for (size_t i = 0; i < count; ++i) {
    mtl_device_release(devices[i]);
  }
  return status == MTL_OK ||
         (status == MTL_NOT_FOUND
              ? cli_fail(error, CLI_USAGE, "%s", mtl_last_error())
              : cli_fail_status(error, status, "devices"));
}

static bool devices(char **arguments, cli_error *error) {
  enum { OPTION_JSON = 1 };
  static const option_spec specs[] = {{"--json", OPTION_JSON, false},
                                      {NULL, 0, false}};
  argument_walk walk = {.next = arguments, .options = specs};
  const char *value;
  const char *names[DEVICES_MOST];
  size_t name_count = 0;
  bool as_json = false;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == ARGUMENT_WRONG) {
      return false;
    }
    if (id != ARGUMENT_POSITIONAL) {
      as_json = true;
    } else if (name_count < DEVICES_MOST) {
      names[name_count++] = value;
    }
  }
  return list_devices(names, name_count, as_json, error);
}

static const char devices_help[] =
    "usage: mettle devices [NAME...] [--json]\n"
    "\n"
    "Lists the devices of this machine and their limits, the default one\n"
    "marked; METTLE_DEVICE names another default. Or those that are named:\n"
    "cpu-discrete, which behaves like a device with memory of its own, and\n"
    "null, which does nothing, are for tests and listed by name alone. Tells,\n"
    "too, what confines the compiler process.\n"
    "\n"
    "  --json                 print one JSON array\n"
    "\n"
    "exit code: 0 done, 1 failed, 2 wrong usage\n";

const cli_verb cli_verb_devices = {
    .name = "devices",
    .summary = "list the devices of this machine",
    .help = devices_help,
    .run = devices,
};
