// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.c: affinity, memory, and the control groups (versions 1 and 2) that
// cut them. A group's limit holds for all groups below it, so every level from
// the process' own group to the root is asked.
//
// Source  Linux Documentation/admin-guide/cgroup-v2.rst (cpu.max, memory.max)
//         and cgroup-v1 (cpu.cfs_quota_us, memory.limit_in_bytes)
#include "base/machine.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Reads a control file into text. False if there is none.
static bool read_control(const char *folder, const char *name, char *text,
                         size_t capacity) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) {
    return false;
  }
  FILE *file = fopen(path, "re");
  if (!file) {
    return false;
  }
  const bool good = fgets(text, (int)capacity, file) != NULL;
  fclose(file);
  return good;
}

// Visits a control group and each one around it, up to mount.
typedef void visit_fn(const char *folder, void *context);

static void visit_groups(const char *mount, const char *group, visit_fn *visit,
                         void *context) {
  char folder[PATH_MAX];
  const size_t mount_length = strlen(mount);
  if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= PATH_MAX) {
    return;
  }
  for (;;) {
    visit(folder, context);
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < mount_length) {
      return;
    }
    *slash = '\0';
  }
}

// Finds the process' group in the hierarchy of controller; "" asks for the
// unified hierarchy of version 2.
static bool find_group(const char *controller, char *group, size_t capacity) {
  FILE *file = fopen("/proc/self/cgroup", "re");
  if (!file) {
    return false;
  }
  char line[PATH_MAX];
  bool found = false;
  // hierarchy:controllers:path
  while (!found && fgets(line, sizeof line, file)) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) {
      continue;
    }
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    char *rest = controllers + 1;
    found = *controller == '\0' && *rest == '\0';
    for (char *name; !found && (name = strsep(&rest, ","));) {
      found = *controller && strcmp(name, controller) == 0;
    }
    if (found) {
      snprintf(group, capacity, "%s", strcmp(path, "/") == 0 ? "" : path);
    }
  }
  fclose(file);
  return found;
}

static void visit_hierarchies(const char *controller, visit_fn *visit,
                              void *context) {
  char group[PATH_MAX];
  if (find_group("", group, sizeof group)) {
    visit_groups("/sys/fs/cgroup", group, visit, context);
  }
  if (find_group(controller, group, sizeof group)) {
    char mount[64];
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    visit_groups(mount, group, visit, context);
  }
}

static void cut_cpus(const char *folder, void *context) {
  uint32_t *cpus = context;
  char text[64];
  long long quota = -1;
  long long period = 0;
  if (read_control(folder, "cpu.max", text, sizeof text)) {
    if (sscanf(text, "%lld %lld", &quota, &period) != 2) {
      return;  // "max 100000": no limit
    }
  } else if (read_control(folder, "cpu.cfs_quota_us", text, sizeof text)) {
    quota = atoll(text);
    period = read_control(folder, "cpu.cfs_period_us", text, sizeof text)
                 ? atoll(text)
                 : 0;
  }
  if (quota <= 0 || period <= 0) {
    return;
  }
  const long long whole = (quota + period - 1) / period;
  if (whole < (long long)*cpus) {
    *cpus = (uint32_t)whole;
  }
}

uint32_t mtli_machine_cpus(void) {
  // Asks with growing sets: the kernel refuses one smaller than its own.
  uint32_t cpus = 1;
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t *set = CPU_ALLOC(capacity);
    if (!set) {
      break;
    }
    const size_t size_bytes = CPU_ALLOC_SIZE(capacity);
    const bool good = sched_getaffinity(0, size_bytes, set) == 0;
    if (good) {
      cpus = (uint32_t)CPU_COUNT_S(size_bytes, set);
    }
    CPU_FREE(set);
    if (good) {
      break;
    }
  }
  visit_hierarchies("cpu", cut_cpus, &cpus);
  return cpus ? cpus : 1;
}

static void cut_memory(const char *folder, void *context) {
  uint64_t *limit_bytes = context;
  char text[64];
  if (!read_control(folder, "memory.max", text, sizeof text) &&
      !read_control(folder, "memory.limit_in_bytes", text, sizeof text)) {
    return;
  }
  char *end;
  const unsigned long long bytes = strtoull(text, &end, 10);
  if (end != text && bytes < *limit_bytes) {  // "max" has no digits
    *limit_bytes = bytes;
  }
}

uint64_t mtli_machine_memory_bytes(void) {
  uint64_t limit_bytes =
      (uint64_t)sysconf(_SC_PHYS_PAGES) * mtli_machine_page_bytes();
  visit_hierarchies("memory", cut_memory, &limit_bytes);
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < limit_bytes) {
    limit_bytes = space.rlim_cur;
  }
  return limit_bytes;
}

uint64_t mtli_machine_page_bytes(void) {
  return (uint64_t)sysconf(_SC_PAGESIZE);
}

char *mtli_cpu_target(void) {
  const char *target = getenv("METTLE_CPU_TARGET");
  return target && *target ? strdup(target) : NULL;
}
