// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// confine.h: drops the compiler process's privileges before it reads a source,
// so that an attacker in it can spoil the answer alone.
#ifndef MTLC_CONFINE_H
#define MTLC_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory/bytes.h"

// In the server, for it and all its workers: no new privileges, no programs,
// no network, no writing to the file system, no signals to others (Landlock),
// no looking into other processes. What the kernel lacks is left out.
//
// Where files in memory cannot be had, the folders of scratch files stay
// writable, and a worker may read there (base/scratch_file.h).
void mtlc_confine_server(void);

// Confines a single-threaded worker: from now on it can read below folders
// only, and use its memory, its threads and its open descriptors.
//
//   folders  [count] relative ones start in the working directory; what is not
//            there is left out
void mtlc_confine_worker(const char *const *folders, size_t count);

// Tries what a confined worker must not, and appends a line "what: why not" for
// each attempt: "read: EACCES", and "done" for one that succeeded. Harmless if
// all of them do.
void mtlc_confine_probe(mtli_bytes *out);

#endif
