// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.c: detects host accesses to buffers in use. Their pages are protected
// from the commit of work until the host has seen its completion: an access in
// between faults, is reported, and continues. For devices whose kernels see
// other memory than the host.
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/findings.h"

// The pages of a buffer, and the work on it that is not seen complete.
typedef struct host_range {
  uint64_t first;
  uint64_t bytes;     // whole pages
  uint64_t contents;  // where the buffer's first byte is
  uint32_t reads;     // of it by such work
  uint32_t writes;
  uint32_t opened;   // Mettle's own accesses
  bool is_pardoned;  // the host has been reported
  bool is_behind;    // a managed buffer was written and not synchronised since
  bool is_stale;     // and the host has seen that the work is complete
  char label[64];
  char user[64];  // the reported kernel or command
} host_range;

struct check_hold {
  check_hold *next;
  uint64_t contents;
  bool is_written;
};

static _Atomic bool is_on;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static host_range *ranges;  // [range_count]
static size_t range_count, range_capacity;

bool mtli_check_host_is_on(void) {
  // Relaxed: whoever commits work has its pipeline from the thread that made
  // it.
  return atomic_load_explicit(&is_on, memory_order_relaxed);
}

void mtli_check_host_turn_on(void) {
  atomic_store_explicit(&is_on, true, memory_order_relaxed);
}

static host_range *range_of(uint64_t contents) {
  for (size_t i = 0; i < range_count; ++i) {
    if (ranges[i].contents == contents) {
      return &ranges[i];
    }
  }
  return NULL;
}

static void protect(const host_range *it) {
  const bool is_free = it->opened || it->is_pardoned;
  const int how = is_free || !(it->reads + it->writes + it->is_stale)
                      ? PROT_READ | PROT_WRITE
                  : it->writes || it->is_stale ? PROT_NONE
                                               : PROT_READ;
  mprotect((void *)(uintptr_t)it->first, it->bytes, how);
}

static host_range *add_range(const mtli_check_held *held) {
  const uint64_t mask = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
  const uint64_t end = held->contents + held->bytes;
  uint64_t first = held->contents & ~mask;
  uint64_t last = (end + mask) & ~mask;
  if (!held->has_pages) {
    first = (held->contents + mask) & ~mask;
    last = end & ~mask;
  }
  if (first >= last) {
    return NULL;
  }
  if (range_count == range_capacity) {
    const size_t capacity = range_capacity ? 2 * range_capacity : 16;
    host_range *grown = realloc(ranges, capacity * sizeof *ranges);
    if (!grown) {
      return NULL;
    }
    ranges = grown;
    range_capacity = capacity;
  }
  ranges[range_count] = (host_range){
      .first = first, .bytes = last - first, .contents = held->contents};
  return &ranges[range_count++];
}

void check_host_hold(check_hold **holds, const mtli_check_held *held) {
  check_hold *hold = malloc(sizeof *hold);
  pthread_mutex_lock(&host_lock);
  host_range *it = range_of(held->contents);
  it = it ? it : add_range(held);
  if (it && hold) {
    *hold = (check_hold){*holds, held->contents, held->is_written};
    *holds = hold;
    hold = NULL;
    it->reads += !held->is_written;
    it->writes += held->is_written;
    it->is_behind |= held->is_managed && held->is_written;
    snprintf(it->label, sizeof it->label, "%s", held->label);
    snprintf(it->user, sizeof it->user, "%s", held->user);
    protect(it);
  }
  pthread_mutex_unlock(&host_lock);
  free(hold);
}

void check_host_release(check_hold *holds) {
  pthread_mutex_lock(&host_lock);
  while (holds) {
    check_hold *next = holds->next;
    host_range *it = range_of(holds->contents);
    if (it) {
      it->reads -= !holds->is_written && it->reads;
      it->writes -= holds->is_written && it->writes;
      it->is_pardoned = it->is_pardoned && it->reads + it->writes;
      it->is_stale = it->is_behind && !it->writes;
      protect(it);
    }
    free(holds);
    holds = next;
  }
  pthread_mutex_unlock(&host_lock);
}

void check_hold_free(check_hold *holds) {
  while (holds) {
    check_hold *next = holds->next;
    free(holds);
    holds = next;
  }
}

void mtli_check_host_open(uint64_t contents, bool is_opened) {
  if (!mtli_check_host_is_on()) {
    return;
  }
  pthread_mutex_lock(&host_lock);
  host_range *it = range_of(contents);
  if (it && (is_opened || it->opened)) {
    it->opened += is_opened ? 1 : -1;
    protect(it);
  }
  pthread_mutex_unlock(&host_lock);
}

void mtli_check_host_synchronize(uint64_t contents) {
  if (!mtli_check_host_is_on()) {
    return;
  }
  pthread_mutex_lock(&host_lock);
  host_range *it = range_of(contents);
  if (it) {
    it->is_behind = it->is_stale = false;
    protect(it);
  }
  pthread_mutex_unlock(&host_lock);
}

void mtli_check_host_forget(uint64_t contents) {
  pthread_mutex_lock(&host_lock);
  host_range *it = range_of(contents);
  if (it) {
    it->is_pardoned = true;
    protect(it);
    *it = ranges[--range_count];
  }
  pthread_mutex_unlock(&host_lock);
}

// --- faults ------------------------------------------------------------------

// Describes the host's code: its function if it has a name, and its offset in
// the program or library, for addr2line.
static void describe(uint64_t instruction, char *out, size_t capacity) {
  Dl_info info;
  if (!dladdr((void *)(uintptr_t)instruction, &info) || !info.dli_fname) {
    snprintf(out, capacity, "host at 0x%" PRIx64, instruction);
    return;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  snprintf(out, capacity, "host in %s%s%s+0x%" PRIx64,
           info.dli_sname ? info.dli_sname : "", info.dli_sname ? " of " : "",
           slash ? slash + 1 : info.dli_fname,
           instruction - (uint64_t)(uintptr_t)info.dli_fbase);
}

static void tell(const host_range *it, uint64_t address, bool is_write,
                 uint64_t instruction) {
  static const uint32_t nowhere[3];
  char place[256];
  describe(instruction, place, sizeof place);
  pthread_mutex_lock(&check_lock);
  check_state *s = check_state_prepare();
  if (s) {
    const uint32_t dispatch = s->dispatch;
    s->dispatch = 0;  // no dispatch's finding
    const check_side host = {.sites = check_command_sites(),
                             .site = is_write ? 2 : 1,
                             .kernel = place,
                             .group_count = nowhere};
    check_side work = host;
    work.site = it->writes || it->is_stale ? 2 : 1;
    work.kernel = it->user;
    check_report(
        s, "host", &host, &work, "'%s': byte %" PRId64 " is %s by the host, %s",
        it->label[0] ? it->label : "buffer", (int64_t)(address - it->contents),
        is_write ? "written" : "read",
        it->is_stale ? "and was not synchronised since it was written"
        : it->writes ? "which has not seen that work is complete that writes it"
                     : "which has not seen that work is complete that reads "
                       "it");
    s->dispatch = dispatch;
  }
  pthread_mutex_unlock(&check_lock);
}

bool mtli_check_host_fault(uint64_t address, bool is_write,
                           uint64_t instruction) {
  if (!mtli_check_host_is_on()) {
    return false;
  }
  host_range found = {.bytes = 0};
  pthread_mutex_lock(&host_lock);
  for (size_t i = 0; i < range_count && !found.bytes; ++i) {
    host_range *it = &ranges[i];
    if (address - it->first < it->bytes) {
      found = *it;
      it->is_pardoned = it->reads + it->writes;
      it->is_behind = it->is_stale = false;
      protect(it);
    }
  }
  pthread_mutex_unlock(&host_lock);
  // Otherwise another thread has just seen that the work is complete.
  const bool is_in_use = found.reads + found.writes != 0;
  const bool is_stale = found.is_stale && !is_write;
  if (found.bytes && (is_in_use || is_stale) && !found.is_pardoned &&
      !found.opened) {
    tell(&found, address, is_write, instruction);
  }
  return found.bytes != 0;
}
