// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// progress.h: a bar on the terminal while something takes long; nothing where
// standard error is no terminal, and nothing for short work.
#ifndef METTLE_CLI_PROGRESS_H
#define METTLE_CLI_PROGRESS_H

#include <stdint.h>

typedef struct progress progress;

// Starts a progress bar. `what` is shown before the bar and borrowed until
// progress_stop. Returns NULL where there is nothing to draw on; the other
// functions allow it.
progress *progress_start(const char *what);
// Sets how much is done; without it only the time is shown.
void progress_set(progress *bar, uint64_t done, uint64_t total);
// Wipes the bar away.
void progress_stop(progress *bar);

#endif
