// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_container.c: libFuzzer target for the code container: any bytes are
// safe to read, and what was read can be written and read again.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "code/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
// For replay.c: seeds that the reader refuses test nothing.
bool fuzz_accepts(const uint8_t *bytes, size_t size);

bool fuzz_accepts(const uint8_t *bytes, size_t size) {
  mtli_arena arena = {0};
  mtli_code *code;
  const mtl_status status = mtli_code_read(bytes, size, &arena, &code);
  mtli_arena_clear(&arena);
  return status == MTL_OK;
}

static void read_and_rewrite(const uint8_t *bytes, size_t size_bytes) {
  mtli_arena arena = {0};
  mtli_code *code;
  if (mtli_code_read(bytes, size_bytes, &arena, &code) == MTL_OK) {
    void *again;
    size_t again_bytes;
    mtli_code *code_again;
    if (mtli_code_write(code, &again, &again_bytes) != MTL_OK ||
        mtli_code_read(again, again_bytes, &arena, &code_again) != MTL_OK ||
        code_again->kernel_count != code->kernel_count ||
        code_again->blob_count != code->blob_count) {
      abort();
    }
    free(again);
  }
  mtli_arena_clear(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_and_rewrite(data, size);
  // Once more with the size and the checksum made right, which no fuzzer
  // guesses, so that the checks behind them are reached.
  enum { SIZE_OFFSET = 16, CHECKSUM_BYTES = 16 };
  if (size < SIZE_OFFSET + 8) {
    return 0;
  }
  const size_t total = size + CHECKSUM_BYTES;
  uint8_t *forged = malloc(total);
  memcpy(forged, data, size);
  for (int i = 0; i < 8; ++i) {
    forged[SIZE_OFFSET + i] = (uint8_t)((uint64_t)total >> (8 * i));
  }
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(forged, size));
  memcpy(forged + size, &checksum, CHECKSUM_BYTES);
  read_and_rewrite(forged, total);
  free(forged);
  return 0;
}
