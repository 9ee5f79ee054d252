// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_npy.c: any bytes as a .npy file: read without harm, and what is read
// comes back the same when it is written.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/values/npy.h"

#define MAX_DATA_BYTES (1u << 20)  // read and written again below this

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool condition) {
  if (!condition) {
    abort();
  }
}

// A file without a name; path [64] opens it.
static int make_file(char path[64]) {
  const int file = memfd_create("npy", MFD_CLOEXEC);
  check(file >= 0);
  snprintf(path, 64, "/proc/self/fd/%d", file);
  return file;
}

// Reads a whole file into malloc'ed memory; false with a text if it is none.
static bool read_array(const char *path, npy_array *array, void **out_data) {
  cli_error error = {0};
  FILE *file;
  *out_data = NULL;
  if (!npy_open(path, array, &file, &error)) {
    check(error.text[0] != '\0' && error.exit_code == CLI_FAILED);
    return false;
  }
  bool ok = array->data_bytes <= MAX_DATA_BYTES;
  if (ok) {
    *out_data = malloc(array->data_bytes + 1);
    check(*out_data != NULL);
    ok = npy_read_data(path, file, array, *out_data, &error);
  }
  fclose(file);
  return ok;
}

static void write_again(const npy_array *array, const void *data) {
  if (array->struct_bytes > 0) {
    return;  // only the reader knows the names of the fields
  }
  char path[64];
  const int file = make_file(path);
  npy_array again;
  void *data_again;
  cli_error error = {0};
  check(npy_write(path, array, data, &error));
  check(read_array(path, &again, &data_again));
  check(memcmp(array, &again, sizeof again) == 0);
  check(memcmp(data, data_again, array->data_bytes) == 0);
  free(data_again);
  close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char path[64];
  const int file = make_file(path);
  check(write(file, bytes, size) == (ssize_t)size);
  npy_array array;
  void *data;
  if (read_array(path, &array, &data)) {
    write_again(&array, data);
  }
  free(data);
  close(file);
  // The header alone, without the frame that most mutations break.
  cli_error error = {0};
  (void)npy_parse_header("input", (const char *)bytes, size, &array, &error);
  return 0;
}
