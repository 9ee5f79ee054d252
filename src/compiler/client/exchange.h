// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exchange.h: one request to the compiler process and its answer.
#ifndef MTLC_EXCHANGE_H
#define MTLC_EXCHANGE_H

#include "compiler/process/protocol.h"

typedef struct mtlc_exchange {
  mtlc_frame_kind kind;        // MTLC_FRAME_LIBRARY or MTLC_FRAME_PIPELINE
  const mtli_bytes *contents;  // of the request's frame
  const char *name;            // what is compiled, for error texts
  mtl_header_callback *header_callback;  // NULL for none
  void *header_context;
} mtlc_exchange;

// Sends a request to the compiler process and waits for its reply, within
// METTLE_COMPILER_SECONDS and METTLE_COMPILER_MEMORY_MB.
//
//   out_reply  points into *out_bytes, which is yours
//
// Threads    Any; requests of several threads are worked on side by side.
// Errors     MTL_COMPILER_LOST  the text says what became of the process
mtl_status mtlc_exchange_run(const mtlc_exchange *exchange,
                             mtli_bytes *out_bytes, mtlc_reply *out_reply);

// Starts the compiler process if there is none.
mtl_status mtlc_exchange_prepare(void);

#endif
