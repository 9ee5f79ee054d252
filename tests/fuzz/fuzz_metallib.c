// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_metallib.c: libFuzzer target for the list of a compiled Metal library:
// any bytes are safe to read, and what is listed lies within them.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "code/metallib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// For replay.c: seeds that the reader refuses test nothing.
bool fuzz_accepts(const uint8_t *bytes, size_t size);

static mtl_status read_list(const uint8_t *bytes, size_t size) {
  mtli_arena arena = {0};
  mtli_metallib library;
  const mtli_metallib_source source = mtli_metallib_in_memory(bytes, size);
  const mtl_status status = mtli_metallib_read(&source, &arena, &library);
  for (size_t i = 0; i < library.function_count; ++i) {
    const mtli_metallib_function *function = &library.functions[i];
    if (strlen(function->name) == 0 || function->bitcode_offset > size ||
        function->bitcode_bytes > size - function->bitcode_offset) {
      abort();
    }
  }
  mtli_arena_clear(&arena);
  return status;
}

bool fuzz_accepts(const uint8_t *bytes, size_t size) {
  return read_list(bytes, size) == MTL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)mtli_metallib_is(data, size);
  (void)read_list(data, size);
  // Once more with a header that is valid where fuzzers rarely guess right.
  enum { HEADER_BYTES = 88, SIZE_OFFSET = 16 };
  if (size >= HEADER_BYTES) {
    static const uint8_t start[] = {'M', 'T', 'L', 'B', 1, 0x80,
                                    2,   0,   7,   0,   0, 0x81};
    uint8_t *forged = malloc(size);
    memcpy(forged, data, size);
    memcpy(forged, start, sizeof start);
    for (int i = 0; i < 8; ++i) {
      forged[SIZE_OFFSET + i] = (uint8_t)((uint64_t)size >> (8 * i));
    }
    (void)read_list(forged, size);
    free(forged);
  }
  return 0;
}
