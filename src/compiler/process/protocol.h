// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocol.h: the messages between the runtime and the compiler process.
//
// The runtime holds one control socket to the server (SOCK_SEQPACKET). For
// each request it sends a packet with two descriptors: one end of a stream,
// and the writing end of a pipe. The server forks a worker, which answers on
// the stream; what the server itself has to say about a worker that ended
// badly, the obituary, comes through the pipe. Requests need no order and no
// numbers, and the end of a worker is the end of its stream.
//
// On the stream:   worker                        runtime
//                  ACCEPTED
//                                                LIBRARY, PIPELINE, TRANSLATION
//                                                or PROBE
//                  HEADER_WANTED (any number)    HEADER
//                  RESULT
//
// Integers are little-endian; texts and blocks are those of
// base/memory/bytes.h. Both sides take what they receive for input from
// outside.
#ifndef MTLC_PROTOCOL_H
#define MTLC_PROTOCOL_H

#include <xxhash.h>

#include "base/memory/bytes.h"
#include "compiler/compiler.h"

enum {
  MTLC_PROTOCOL_VERSION = 9,
  MTLC_CONTROL_FD = 3,           // in the server
  MTLC_FRAME_HEADER_BYTES = 16,  // u32 magic, u32 kind, u64 length
  MTLC_OBITUARY_BYTES = 4096,    // one atomic write to a pipe: PIPE_BUF
  MTLC_HELLO_BYTES = 64 * 1024,
};

// A frame's contents at the most: larger ones are refused, not allocated.
#define MTLC_FRAME_LIMIT_BYTES ((uint64_t)2 << 30)

typedef enum mtlc_frame_kind {
  MTLC_FRAME_ACCEPTED = 1,
  MTLC_FRAME_LIBRARY,
  MTLC_FRAME_PIPELINE,
  MTLC_FRAME_HEADER_WANTED,  // text
  MTLC_FRAME_HEADER,         // mtlc_header
  MTLC_FRAME_RESULT,         // mtlc_reply
  MTLC_FRAME_PROBE,          // nothing: asks what a worker can do (confine.h)
  MTLC_FRAME_TRANSLATION,
} mtlc_frame_kind;

// Writes a frame's header for contents of length bytes, or checks one.
void mtlc_frame_header(unsigned char out_header[MTLC_FRAME_HEADER_BYTES],
                       mtlc_frame_kind kind, uint64_t length);
bool mtlc_frame_parse(const unsigned char header[MTLC_FRAME_HEADER_BYTES],
                      mtlc_frame_kind *out_kind, uint64_t *out_length);

// The control packet of a request; two descriptors go with it.
// How many times its processor seconds a compilation may last: a busy machine
// gives it few, and what hangs uses none.
#define MTLC_WALL_FACTOR 4

typedef struct mtlc_limits {
  uint32_t seconds;
  uint32_t memory_mb;
} mtlc_limits;
enum { MTLC_LIMITS_BYTES = 12 };
void mtlc_limits_write(const mtlc_limits *limits, mtli_bytes *out);
bool mtlc_limits_read(const void *data, size_t size, mtlc_limits *out_limits);

// Writes the server's first packet: its identity, as mtlc_stamp_append for each
// file that it is made of, its own program first.
void mtlc_hello_write(const mtli_bytes *identity, mtli_bytes *out);
bool mtlc_hello_read(const void *data, size_t size, const void **out_identity,
                     size_t *out_size);

// Appends path and the state of that file (size, time, inode), which tells a
// changed file. False if there is no such file.
bool mtlc_stamp_append(mtli_bytes *bytes, const char *path);
// True if all files of an identity are unchanged, and the first of them is the
// program at path.
bool mtlc_identity_is_current(const void *identity, size_t size,
                              const char *path);

// How a worker without a result ended.
typedef enum mtlc_end {
  MTLC_END_SIGNAL = 1,  // detail: the signal
  MTLC_END_EXIT,        // detail: the exit status
  MTLC_END_TIME,        // passed its time limit
  MTLC_END_MEMORY,      // passed its memory limit
  MTLC_END_STACK,       // ran out of stack
  MTLC_END_NO_PROCESS,  // never began; detail: errno of fork
  MTLC_END_COUNT,
} mtlc_end;

typedef struct mtlc_obituary {
  mtlc_end end;
  uint32_t detail;
  char text[1024];  // the last that it wrote to its standard error
} mtlc_obituary;
void mtlc_obituary_write(const mtlc_obituary *obituary, mtli_bytes *out);
bool mtlc_obituary_read(const void *data, size_t size,
                        mtlc_obituary *out_obituary);

// A request to compile a library, as laid out in a frame.
typedef struct mtlc_library_request {
  const char *text;  // [size_bytes]
  size_t size_bytes;
  mtl_compile_options options;  // header_callback unused
  bool has_header_callback;
  const char *working_directory;  // where relative paths start
} mtlc_library_request;

void mtlc_library_request_write(const mtlc_library_request *request,
                                mtli_bytes *out);
// Ownership  Arrays live in arena, texts in data.
bool mtlc_library_request_read(const void *data, size_t size, mtli_arena *arena,
                               mtlc_library_request *out_request);

void mtlc_pipeline_request_write(const mtli_pipeline_request *request,
                                 mtli_bytes *out);
// Writes all of a pipeline's request except the libraries' bytes, for the
// cache's key.
void mtlc_pipeline_request_write_rest(const mtli_pipeline_request *request,
                                      mtli_bytes *out);
bool mtlc_pipeline_request_read(const void *data, size_t size,
                                mtli_arena *arena,
                                mtli_pipeline_request *out_request);

void mtlc_translation_request_write(const mtli_translation_request *request,
                                    mtli_bytes *out);
bool mtlc_translation_request_read(const void *data, size_t size,
                                   mtli_translation_request *out_request);

// Writes a header's text, or that there is none.
void mtlc_header_write(bool found, const char *text, size_t length,
                       mtli_bytes *out);
bool mtlc_header_read(const void *data, size_t size, bool *out_found,
                      const char **out_text, size_t *out_length);

// A file that a compilation read besides the source, or looked for in vain.
typedef struct mtlc_dependency {
  bool is_header;  // a header from the callback; otherwise a file
  bool found;
  const char *name;
  XXH128_canonical_t hash;  // of its text; zero if not found
} mtlc_dependency;

void mtlc_dependency_write(const mtlc_dependency *dependency, mtli_bytes *out);
bool mtlc_dependency_read(mtli_cursor *cursor, mtlc_dependency *out_dependency);
XXH128_canonical_t mtlc_text_hash(const void *text, size_t length);

typedef struct mtlc_reply {
  mtl_status status;
  const char *text;
  const void *container;  // [container_bytes]
  size_t container_bytes;
  const void *dependencies;   // [dependencies_bytes] mtlc_dependency_write's,
  size_t dependencies_bytes;  // one after another
} mtlc_reply;

void mtlc_reply_write(const mtlc_reply *reply, mtli_bytes *out);
bool mtlc_reply_read(const void *data, size_t size, mtlc_reply *out_reply);

#endif
