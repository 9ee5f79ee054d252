// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// connection.h: the runtime's hold on the compiler process: starts it, starts
// it anew when it is lost, and opens a channel for each request.
//
// The process that forks keeps its compiler; the child has none until it needs
// one, and then starts its own.
#ifndef MTLC_CONNECTION_H
#define MTLC_CONNECTION_H

#include <limits.h>

#include "compiler/process/protocol.h"

// The connection of one request to its worker.
typedef struct mtlc_channel {
  int stream_fd;
  int obituary_fd;
  uint64_t server;  // which start of the compiler process it belongs to
  struct mtlc_channel *next;
} mtlc_channel;

// Hands a request to the compiler process, which is started if there is none.
//
// Errors     MTL_COMPILER_LOST  it cannot be started, or takes no request
mtl_status mtlc_channel_open(const mtlc_limits *limits,
                             mtlc_channel *out_channel);
void mtlc_channel_close(mtlc_channel *channel);

// Drops a compiler process that does not answer, unless a new one has been
// started already.
void mtlc_connection_drop(uint64_t server);

// Finds the compiler: $METTLE_COMPILER, else mettlec beside the library, else
// in the libexec folder.
mtl_status mtlc_compiler_path(char out_path[PATH_MAX]);

// Appends the identity that the running compiler process gave. False if none
// was started yet.
bool mtlc_connection_identity(mtli_bytes *out);

// Starts the compiler process if there is none.
mtl_status mtlc_connection_start(const mtlc_limits *limits);

// Nanoseconds of CLOCK_MONOTONIC, and milliseconds until then for poll(2),
// rounded up, at least 0.
uint64_t mtlc_now_ns(void);
int mtlc_poll_timeout_ms(uint64_t deadline_ns);

#endif
