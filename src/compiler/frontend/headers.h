// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// headers.h: the files of src/compiler/metal, which the build embeds into the
// compiler (embed_headers.cmake), so that it needs none at run time.
#ifndef MTLC_HEADERS_H
#define MTLC_HEADERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtlc_header {
  const char *name;  // "metal_stdlib"
  const char *text;  // [size_bytes] and a terminating zero
  uint64_t size_bytes;
} mtlc_header;

extern const mtlc_header mtlc_headers[];  // up to one without a name

#ifdef __cplusplus
}
#endif
#endif
