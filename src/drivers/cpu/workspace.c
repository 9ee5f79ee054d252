// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// workspace.c: reserves one range of address space and opens parts of it. Only
// pages that are touched take memory.
#include "drivers/cpu/workspace.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/machine.h"
#include "code/cpu_abi.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#define MIB ((size_t)1024 * 1024)

enum { SMALLEST_FRONT_BYTES = 4096 };

// How much address space is reserved. The second set is for a process with a
// limit (ulimit -v), and for a machine where the first cannot be reserved.
typedef struct sizes {
  size_t guard_bytes;
  size_t stack_bytes;  // a kernel's largest private memory (private_limit.h),
                       // for 32 threads at once, with room for calls
  size_t kept_bytes;
} sizes;

static const sizes wide = {256 * MIB, 64 * MIB, 4096 * MIB};
static const sizes narrow = {MIB, 16 * MIB, 256 * MIB};

static size_t front_bytes(int front) {
  const size_t bytes = (size_t)SMALLEST_FRONT_BYTES << front;
  const size_t page_bytes = mtli_machine_page_bytes();
  return bytes > page_bytes ? bytes : page_bytes;
}

static size_t all_bytes(const sizes *s) {
  size_t bytes = s->stack_bytes + s->kept_bytes + 3 * s->guard_bytes;
  for (int i = 0; i < CPU_FRONTS; i++) {
    bytes += front_bytes(i) + s->guard_bytes;
  }
  return bytes;
}

static bool open_part(char *first, size_t bytes) {
  return mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

static bool reserve(cpu_workspace *workspace, const sizes *s) {
  const size_t map_bytes = all_bytes(s);
  char *first = mmap(NULL, map_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) {
    return false;
  }
  *workspace = (cpu_workspace){.first = first,
                               .map_bytes = map_bytes,
                               .guard_bytes = s->guard_bytes,
                               .kept_most_bytes = s->kept_bytes};
  char *at = first + s->guard_bytes;
  workspace->stack = at;
  workspace->stack_end = at + s->stack_bytes;
  bool is_open = open_part(at, s->stack_bytes);
  at += s->stack_bytes + s->guard_bytes;
  for (int i = 0; i < CPU_FRONTS; i++) {
    is_open = is_open && open_part(at, front_bytes(i));
    at += front_bytes(i);
    workspace->front_ends[i] = at;
    at += s->guard_bytes;
  }
  workspace->kept = at;
  if (!is_open) {
    cpu_workspace_destroy(workspace);
  }
  return is_open;
}

bool cpu_workspace_create(cpu_workspace *workspace) {
  struct rlimit limit;
  const bool is_unlimited =
      getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
  return (is_unlimited && reserve(workspace, &wide)) ||
         reserve(workspace, &narrow);
}

void cpu_workspace_destroy(cpu_workspace *workspace) {
  if (workspace->first) {
    munmap(workspace->first, workspace->map_bytes);
  }
  *workspace = (cpu_workspace){0};
}

char *cpu_workspace_front(const cpu_workspace *workspace, size_t size_bytes,
                          size_t margin_bytes) {
  const size_t rounded_bytes = (size_bytes + MTLI_CPU_SCRATCH_ALIGNMENT - 1) &
                               ~(size_t)(MTLI_CPU_SCRATCH_ALIGNMENT - 1);
  for (int i = 0; i < CPU_FRONTS; i++) {
    if (front_bytes(i) >= rounded_bytes + 2 * margin_bytes) {
      return workspace->front_ends[i] - margin_bytes - rounded_bytes;
    }
  }
  return NULL;
}

bool cpu_workspace_keep(cpu_workspace *workspace, size_t size_bytes) {
  if (size_bytes <= workspace->kept_bytes) {
    return true;
  }
  const size_t page_bytes = mtli_machine_page_bytes();
  size_bytes = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
  if (size_bytes > workspace->kept_most_bytes ||
      !open_part(workspace->kept, size_bytes)) {
    return false;
  }
  workspace->kept_bytes = size_bytes;
  return true;
}

void cpu_workspace_recover(cpu_workspace *workspace, uintptr_t address) {
  const size_t stack_bytes = (size_t)(workspace->stack_end - workspace->stack);
#if defined(__SANITIZE_ADDRESS__)
  // Unpoisons frames that the longjmp has left.
  __asan_unpoison_memory_region(workspace->stack, stack_bytes);
#endif
  if (cpu_workspace_has_stack(workspace, address)) {
    madvise(workspace->stack, stack_bytes, MADV_DONTNEED);
  }
}

bool cpu_workspace_has_stack(const cpu_workspace *workspace,
                             uintptr_t address) {
  return address >= (uintptr_t)workspace->stack - workspace->guard_bytes &&
         address < (uintptr_t)workspace->stack_end + workspace->guard_bytes;
}
