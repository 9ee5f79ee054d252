// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// server.h: the compiler process: server.c keeps a warm process that forks,
// worker.c is one fork and does one request.
#ifndef MTLC_SERVER_H
#define MTLC_SERVER_H

#include <signal.h>

#include "compiler/process/protocol.h"

// The least step by which a heap grows, in the server and its workers.
enum { MTLC_MEMORY_STEP_BYTES = 4 << 20 };

// Serves requests from the control socket MTLC_CONTROL_FD until it closes or
// the process of host_pid_fd (-1 for none) has ended. Returns the exit status.
int mtlc_serve(int host_pid_fd);

// A worker's last message to the server, in shared memory, written by a signal
// handler as it ends.
typedef struct mtlc_last_words {
  volatile sig_atomic_t were_spoken;  // the handler could run
  volatile sig_atomic_t out_of_stack;
  volatile sig_atomic_t out_of_memory;
} mtlc_last_words;

typedef struct mtlc_worker_setup {
  int stream_fd;
  int error_fd;  // becomes standard output and standard error
  mtlc_limits limits;
  mtlc_last_words *last_words;
} mtlc_worker_setup;

// Answers one request and ends the process.
_Noreturn void mtlc_worker_run(const mtlc_worker_setup *setup);

#endif
