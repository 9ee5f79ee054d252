// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mach.c: the functions of the kernel's interface that C and C++ clients call.
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "objc/foundation/foundation.h"

enum { KERN_SUCCESS = 0, KERN_NO_SPACE = 3, KERN_INVALID_ARGUMENT = 4 };

OBJC_EXPORT uintptr_t vm_page_size;

static void __attribute__((constructor(110))) find_page_size(void) {
  vm_page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
}

OBJC_EXPORT unsigned mach_task_self(void) {
  return 1;
}

OBJC_EXPORT int vm_allocate(unsigned task, uintptr_t *address, uintptr_t bytes,
                            int flags) {
  (void)task;
  (void)flags;
  void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return KERN_NO_SPACE;
  }
  *address = (uintptr_t)mapped;
  return KERN_SUCCESS;
}

OBJC_EXPORT int vm_deallocate(unsigned task, uintptr_t address,
                              uintptr_t bytes) {
  (void)task;
  return munmap((void *)address, bytes) == 0 ? KERN_SUCCESS
                                             : KERN_INVALID_ARGUMENT;
}

extern uint64_t dispatch_now_ns(void);

OBJC_EXPORT uint64_t mach_absolute_time(void) {
  return dispatch_now_ns();
}

OBJC_EXPORT uint64_t mach_continuous_time(void) {
  return dispatch_now_ns();
}

// A tick of these clocks is a nanosecond.
OBJC_EXPORT int mach_timebase_info(uint32_t *out_info) {
  out_info[0] = 1;
  out_info[1] = 1;
  return KERN_SUCCESS;
}

// --- sysctlbyname ------------------------------------------------------------

static uint64_t memory_bytes(void) {
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

// The names that clients of Metal ask for. Anything else does not exist.
OBJC_EXPORT int sysctlbyname(const char *name, void *out, size_t *length,
                             const void *value, size_t value_length) {
  uint64_t found;
  (void)value;
  (void)value_length;
  if (!strcmp(name, "hw.memsize")) {
    found = memory_bytes();
  } else if (!strcmp(name, "hw.ncpu") || !strcmp(name, "hw.physicalcpu") ||
             !strcmp(name, "hw.logicalcpu")) {
    found = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
  } else if (!strcmp(name, "iogpu.rsrc_limit")) {
    found = 499000;  // resources at a time, as MLX knows it
  } else {
    errno = ENOENT;
    return -1;
  }
  if (out && length) {
    const size_t bytes = *length < sizeof found ? *length : sizeof found;
    memcpy(out, &found, bytes);
    *length = bytes;
  } else if (length) {
    *length = sizeof found;
  }
  return 0;
}
