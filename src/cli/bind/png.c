// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// png.c: reads and writes PNG files by libpng. A build without it has
// png_absent.c instead.
#include "cli/bind/png.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The state of a call of libpng that may leave by longjmp: variables changed
// behind setjmp must not be locals of the function itself.
typedef struct png_work {
  const char *path;
  cli_error *error;
  FILE *file;
  png_structp png;
  png_infop info;
  png_bytep *rows;  // [height]
} png_work;

static void fail_in_library(png_structp png, png_const_charp text) {
  png_work *work = png_get_error_ptr(png);
  cli_fail(work->error, CLI_FAILED, "%s: %s", work->path, text);
  longjmp(png_jmpbuf(png), 1);
}

static void ignore_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static bool make_rows(png_work *work, const png_picture *picture) {
  const size_t row_bytes =
      (size_t)picture->width * picture->channels * (picture->bits / 8);
  work->rows = calloc(picture->height, sizeof *work->rows);
  if (work->rows == NULL) {
    return cli_fail(work->error, CLI_FAILED, "%s: out of memory", work->path);
  }
  for (uint32_t i = 0; i < picture->height; ++i) {
    work->rows[i] = picture->samples + i * row_bytes;
  }
  return true;
}

static bool is_little_endian(void) {
  const uint16_t one = 1;
  return *(const unsigned char *)&one == 1;
}

static bool read_picture(png_work *work, png_picture *picture) {
  if (setjmp(png_jmpbuf(work->png))) {
    return false;
  }
  png_init_io(work->png, work->file);
  png_read_info(work->png, work->info);
  png_set_expand(work->png);
  if (png_get_bit_depth(work->png, work->info) == 16 && is_little_endian()) {
    png_set_swap(work->png);
  }
  (void)png_set_interlace_handling(work->png);
  png_read_update_info(work->png, work->info);
  picture->width = png_get_image_width(work->png, work->info);
  picture->height = png_get_image_height(work->png, work->info);
  picture->channels = png_get_channels(work->png, work->info);
  picture->bits = png_get_bit_depth(work->png, work->info);
  size_t size;
  if (__builtin_mul_overflow(png_get_rowbytes(work->png, work->info),
                             (size_t)picture->height, &size) ||
      (picture->samples = malloc(size)) == NULL) {
    return cli_fail(work->error, CLI_FAILED, "%s: no memory for %u x %u texels",
                    work->path, picture->width, picture->height);
  }
  if (!make_rows(work, picture)) {
    return false;
  }
  png_read_image(work->png, work->rows);
  png_read_end(work->png, NULL);
  return true;
}

bool png_read(const char *path, png_picture *out_picture, cli_error *error) {
  memset(out_picture, 0, sizeof *out_picture);
  png_work work = {.path = path, .error = error, .file = fopen(path, "rb")};
  if (work.file == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(errno));
  }
  work.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &work,
                                    fail_in_library, ignore_warning);
  work.info = work.png ? png_create_info_struct(work.png) : NULL;
  const bool ok = work.info != NULL
                      ? read_picture(&work, out_picture)
                      : cli_fail(error, CLI_FAILED, "%s: out of memory", path);
  png_destroy_read_struct(&work.png, &work.info, NULL);
  free(work.rows);
  fclose(work.file);
  return ok;
}

static bool write_picture(png_work *work, const png_picture *picture) {
  static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                              PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(png_jmpbuf(work->png))) {
    return false;
  }
  png_init_io(work->png, work->file);
  png_set_IHDR(work->png, work->info, picture->width, picture->height,
               (int)picture->bits, types[picture->channels], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(work->png, work->info);
  if (picture->bits == 16 && is_little_endian()) {
    png_set_swap(work->png);
  }
  png_write_image(work->png, work->rows);
  png_write_end(work->png, NULL);
  return true;
}

bool png_write(const char *path, const png_picture *picture, cli_error *error) {
  png_work work = {.path = path, .error = error, .file = fopen(path, "wb")};
  if (work.file == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: cannot write: %s", path,
                    strerror(errno));
  }
  work.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &work,
                                     fail_in_library, ignore_warning);
  work.info = work.png ? png_create_info_struct(work.png) : NULL;
  bool ok = work.info != NULL ||
            cli_fail(error, CLI_FAILED, "%s: out of memory", path);
  ok = ok && make_rows(&work, picture) && write_picture(&work, picture);
  png_destroy_write_struct(&work.png, &work.info);
  free(work.rows);
  errno = 0;
  const bool closed = fclose(work.file) == 0;
  return ok && (closed || cli_fail(error, CLI_FAILED, "%s: cannot write: %s",
                                   path, strerror(errno)));
}
