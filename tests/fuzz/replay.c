// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// replay.c FOLDER: a fuzz target without libFuzzer. Feeds it every file of the
// folder, each cut short, with bytes flipped, and noise; a crash is the
// failure, and so is a seed that a target with fuzz_accepts does not accept.
// The last line is "N passed, N failed", where a test is a seed.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEED_BYTES (1 << 20)
#define NOISE_ROUNDS 2000

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
// True if an input is whole, so that changes of it go deep. Some targets have
// it.
__attribute__((weak)) bool fuzz_accepts(const uint8_t *bytes, size_t size);

static uint32_t next_number(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;  // Numerical Recipes' generator
  return *state >> 8;
}

// Every input is a heap block of its exact size, so that a read past the end
// is seen by AddressSanitizer.
static void feed(const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, bytes, size);
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static void feed_damaged(uint8_t *bytes, size_t size) {
  feed(bytes, size);
  const size_t step = size / 200 + 1;
  for (size_t i = 0; i < size; i += step) {
    feed(bytes, i);
    bytes[i] ^= 0x41;
    feed(bytes, size);
    bytes[i] ^= 0x41;
  }
}

static void feed_noise(void) {
  uint32_t state = 1;
  uint8_t bytes[512];
  for (int round = 0; round < NOISE_ROUNDS; round++) {
    const size_t size = next_number(&state) % sizeof bytes;
    for (size_t i = 0; i < size; i++) {
      bytes[i] = (uint8_t)next_number(&state);
    }
    feed(bytes, size);
  }
}

typedef enum outcome { NO_SEED, PASSED, FAILED } outcome;

static outcome feed_file(const char *folder, const char *name) {
  static uint8_t bytes[MAX_SEED_BYTES];
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (name[0] == '.' || file == NULL) {
    return NO_SEED;
  }
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  feed_damaged(bytes, size);
  if (fuzz_accepts && !fuzz_accepts(bytes, size)) {
    printf("FAILED %s: not accepted\n", path);
    return FAILED;
  }
  return PASSED;
}

int main(int argument_count, char **arguments) {
  int counts[] = {[PASSED] = 1, [FAILED] = 0};  // the noise
  feed_noise();
  DIR *folder = argument_count > 1 ? opendir(arguments[1]) : NULL;
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    counts[feed_file(arguments[1], entry->d_name)]++;
  }
  if (folder != NULL) {
    closedir(folder);
  } else {
    printf("FAILED: no folder of seeds\n");
    counts[FAILED]++;
  }
  printf("%d passed, %d failed\n", counts[PASSED], counts[FAILED]);
  return counts[FAILED] != 0;
}
