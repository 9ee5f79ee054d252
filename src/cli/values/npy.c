// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// npy.c: .npy files: the frame around the header, the data, and writing.
#include "cli/values/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Room for 64 dimensions of 20 digits is a tenth of this.
#define MAX_HEADER_BYTES (64u << 10)

// Magic, version, and the length of the header: 2 bytes in format 1.0, 4 in
// 2.0 and 3.0, little-endian.
#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6

static bool fail_cut(const char *path, const char *where, cli_error *error) {
  return cli_fail(error, CLI_FAILED, "%s: cut short: the file ends in %s", path,
                  where);
}

// Reads magic, version and length.
static bool read_frame(const char *path, FILE *file, uint32_t *out_length,
                       cli_error *error) {
  unsigned char frame[MAGIC_BYTES + 2 + 4] = {0};
  const size_t got = fread(frame, 1, MAGIC_BYTES + 2, file);
  if (ferror(file)) {
    return cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(errno));
  }
  if (got < MAGIC_BYTES || memcmp(frame, MAGIC, MAGIC_BYTES) != 0) {
    return cli_fail(error, CLI_FAILED, "%s: not a .npy file", path);
  }
  const unsigned major = frame[MAGIC_BYTES];
  if (got < MAGIC_BYTES + 2) {
    return fail_cut(path, "its version", error);
  }
  if (major < 1 || major > 3 || frame[MAGIC_BYTES + 1] != 0) {
    return cli_fail(error, CLI_FAILED,
                    "%s: .npy format %u.%u is unknown: 1.0, 2.0 and 3.0 are "
                    "known",
                    path, major, frame[MAGIC_BYTES + 1]);
  }
  unsigned char *length = frame + MAGIC_BYTES + 2;
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (fread(length, 1, length_bytes, file) < length_bytes) {
    return fail_cut(path, "its header's length", error);
  }
  *out_length = length[0] | (uint32_t)length[1] << 8 |
                (uint32_t)length[2] << 16 | (uint32_t)length[3] << 24;
  return true;
}

static bool read_header(const char *path, FILE *file, npy_array *out_array,
                        cli_error *error) {
  uint32_t length = 0;
  if (!read_frame(path, file, &length, error)) {
    return false;
  }
  if (length > MAX_HEADER_BYTES) {
    return cli_fail(error, CLI_FAILED,
                    "%s: bad .npy header: %" PRIu32
                    " bytes long, %u is the "
                    "limit",
                    path, length, MAX_HEADER_BYTES);
  }
  char *text = malloc(length + 1);
  if (text == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  const bool ok = fread(text, 1, length, file) == length
                      ? npy_parse_header(path, text, length, out_array, error)
                      : fail_cut(path, "its header", error);
  free(text);
  return ok;
}

static bool fail_size(const char *path, const npy_array *array,
                      uint64_t data_bytes, cli_error *error) {
  return cli_fail(error, CLI_FAILED,
                  "%s: %s: the shape takes %" PRIu64
                  " bytes of data, the file "
                  "has %" PRIu64,
                  path,
                  data_bytes < array->data_bytes ? "cut short"
                                                 : "something follows the data",
                  array->data_bytes, data_bytes);
}

// A pipe tells its length only at its end: npy_read_data looks there.
static bool check_size(const char *path, FILE *file, const npy_array *array,
                       cli_error *error) {
  struct stat status;
  const off_t position = ftello(file);
  if (position < 0 || fstat(fileno(file), &status) != 0 ||
      !S_ISREG(status.st_mode) || status.st_size < position) {
    return true;
  }
  const uint64_t data_bytes = (uint64_t)(status.st_size - position);
  return data_bytes == array->data_bytes ||
         fail_size(path, array, data_bytes, error);
}

bool npy_open(const char *path, npy_array *out_array, FILE **out_file,
              cli_error *error) {
  *out_file = NULL;
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(errno));
  }
  if (!read_header(path, file, out_array, error) ||
      !check_size(path, file, out_array, error)) {
    fclose(file);
    return false;
  }
  *out_file = file;
  return true;
}

bool npy_read_data(const char *path, FILE *file, const npy_array *array,
                   void *target, cli_error *error) {
  const size_t got =
      array->data_bytes == 0 ? 0 : fread(target, 1, array->data_bytes, file);
  if (ferror(file)) {
    return cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(errno));
  }
  if (got < array->data_bytes) {
    return fail_size(path, array, got, error);
  }
  return fgetc(file) == EOF ||
         fail_size(path, array, array->data_bytes + 1, error);
}

static void write_shape(FILE *text, const npy_array *array) {
  fputc('(', text);
  for (uint32_t i = 0; i < array->dimension_count; ++i) {
    fprintf(text, "%s%" PRIu64, i == 0 ? "" : ", ", array->shape[i]);
  }
  fputs(array->dimension_count == 1 ? ",)" : ")", text);
}

// Makes frame and header; [*out_size] bytes, malloc'ed, NULL out of memory.
static char *make_header(const npy_array *array, size_t *out_size) {
  char *bytes = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&bytes, &size);
  if (text == NULL) {
    return NULL;
  }
  fwrite(MAGIC "\x01\x00..", 1, MAGIC_BYTES + 4, text);
  const char *quote = array->fields ? "" : "'";
  fprintf(text, "{'descr': %s%s%s, 'fortran_order': %s, 'shape': ", quote,
          array->fields ? array->fields : array->descr, quote,
          array->fortran_order ? "True" : "False");
  write_shape(text, array);
  fputs(", }", text);
  // Spaces and a newline up to a multiple of 64, so that data can be mapped
  // aligned, as NumPy does.
  fflush(text);
  fprintf(text, "%*s", (int)(63 - size % 64) + 1, "\n");
  const bool ok = fclose(text) == 0;
  const size_t header_bytes = size - (MAGIC_BYTES + 4);
  if (!ok || header_bytes > UINT16_MAX) {
    free(bytes);
    return NULL;
  }
  bytes[MAGIC_BYTES + 2] = (char)(header_bytes & 255);
  bytes[MAGIC_BYTES + 3] = (char)(header_bytes >> 8);
  *out_size = size;
  return bytes;
}

bool npy_write(const char *path, const npy_array *array, const void *data,
               cli_error *error) {
  size_t header_bytes;
  char *header = make_header(array, &header_bytes);
  if (header == NULL) {
    return cli_fail(error, CLI_FAILED,
                    "%s: no memory for a header, or more than 65535 bytes of "
                    "it",
                    path);
  }
  FILE *file = fopen(path, "wb");
  bool ok = file != NULL;
  if (ok) {
    ok = fwrite(header, 1, header_bytes, file) == header_bytes &&
         (array->data_bytes == 0 ||
          fwrite(data, 1, array->data_bytes, file) == array->data_bytes);
    ok = fclose(file) == 0 && ok;
  }
  free(header);
  return ok || cli_fail(error, CLI_FAILED, "%s: cannot write: %s", path,
                        strerror(errno));
}
