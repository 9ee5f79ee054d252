// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.c: reports values that were never set, come from an inactive thread,
// are not finite, or are divided by zero.
#include "check/findings.h"

static const char *kind_of_origin(const mtli_check_site *origin) {
  switch (origin->access) {
    case MTLI_CHECK_SHUFFLE: return "sync.simdgroup";
    case MTLI_CHECK_VARIABLE: return "init.private";
    default: break;
  }
  switch (origin->space) {
    case MTLI_CHECK_THREADGROUP: return "init.threadgroup";
    case MTLI_CHECK_TEXELS:
    case MTLI_CHECK_DEVICE: return "init.device";
    default: return "init.private";
  }
}

// A store to device memory only copies an unset value; where only kernels read
// that memory, it is not a use yet.
static bool is_passed_on(const check_state *s, const mtli_check_site *site) {
  if (site->access != MTLI_CHECK_WRITE &&
      site->access != MTLI_CHECK_ATOMIC_WRITE) {
    return false;
  }
  return site->slot != MTLI_CHECK_NO_SLOT && s->ranges[site->slot].memory &&
         s->ranges[site->slot].memory->set != NULL;
}

// True if it was one of these.
static bool use_number(check_state *s, uint32_t number, uint32_t what) {
  const check_side side = check_side_now(s, number);
  switch (what) {
    case MTLI_CHECK_DIVISION:
      check_report(s, "integer.division", &side, NULL,
                   "a division of integers by zero, which gives 0");
      return true;
    case MTLI_CHECK_SHIFT:
      check_report(s, "integer.shift", &side, NULL,
                   "a shift by the width of its type or more");
      return true;
    case MTLI_CHECK_OVERFLOW:
      check_report(s, "integer.overflow", &side, NULL,
                   "a division of the least integer by -1, whose result its "
                   "type does not have");
      return true;
    case MTLI_CHECK_BORN:
      if (!s->thread[s->check.thread].born) {
        s->thread[s->check.thread].born = number;
      }
      return true;
    case MTLI_CHECK_KEPT:
      if (s->thread[s->check.thread].born) {
        const check_side born =
            check_side_now(s, s->thread[s->check.thread].born);
        check_report(s, "nan", &born, &side,
                     "a value that is not finite, made of finite ones, is "
                     "stored in '%s'",
                     check_text(s, check_site(s, number)->name));
      }
      return true;
    default: return false;
  }
}

void check_use(mtli_check *check, uint32_t number, uint32_t origin) {
  check_state *s = (check_state *)check;
  if (use_number(s, number, origin)) {
    return;
  }
  const mtli_check_site *site = check_site(s, number);
  const mtli_check_site *from = check_site(s, origin);
  const char *kind = kind_of_origin(from);
  const unsigned wanted = from->access == MTLI_CHECK_SHUFFLE ? MTLI_CHECK_SYNC
                                                             : MTLI_CHECK_INIT;
  if (!(s->checks & wanted) || is_passed_on(s, site)) {
    return;
  }
  const char *name = check_text(s, from->name);
  const char *how = site->access == MTLI_CHECK_BRANCH    ? "decides a branch"
                    : site->access == MTLI_CHECK_ADDRESS ? "is in an address"
                    : number == origin ? "is changed by an atomic"
                                                         : "is stored";
  check_side use = check_side_now(s, number);
  check_side began = check_side_now(s, origin);
  began.has_thread = false;
  if (from->access == MTLI_CHECK_SHUFFLE) {
    check_report(s, kind, &began, &use,
                 "the value of a thread that takes no part in it %s", how);
  } else if (from->access == MTLI_CHECK_VARIABLE) {
    check_report(s, kind, &use, &began,
                 "'%s' was given no value, and %s", name, how);
  } else {
    const size_t entry =
        check_report(s, kind, &use, number == origin ? NULL : &began,
                     "what was read of '%s' was never set, and %s", name, how);
    if (entry != SIZE_MAX) {
      check_causes_use(entry, origin);
    }
  }
}

