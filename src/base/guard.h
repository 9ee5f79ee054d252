// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// guard.h: makes pages of a mapping inaccessible without taking it apart
// (Linux 6.13, MADV_GUARD_INSTALL): a process may have 65530 mappings, and
// joining and parting them is what is slow about mprotect (2 us a buffer;
// 0.3 us this way).
#ifndef MTLI_GUARD_H
#define MTLI_GUARD_H

#include <stdbool.h>
#include <stddef.h>

// True if this system can and METTLE_GUARDS is not "mappings". Cheap to repeat.
bool mtli_guard_is_there(void);
// Drops the contents of whole pages and makes them inaccessible. False if it
// cannot.
bool mtli_guard_install(char *first, size_t size_bytes);
// Makes them accessible again, with zeros in them.
bool mtli_guard_remove(char *first, size_t size_bytes);

#endif
