// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_client.c: product_client [LIBRARY]: loads LIBRARY for the whole
// process, multiplies two matrices and prints "right" or "wrong", then "used"
// if the stand-in for OpenBLAS did it and "unused" if not.
#include <dlfcn.h>
#include <mettle/mettle.h>
#include <mettle/ops.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 127, INNER = 7, COLUMNS = 101 };
// Products that Mettle tries a library with before it takes it.
enum { TRIALS = 8 };

static void must(mtl_status status) {
  if (status != MTL_OK) {
    printf("%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(1);
  }
}

static mtl_buffer *make_matrix(mtl_stream *stream, size_t count, unsigned step,
                               float **out_values) {
  mtl_buffer *buffer;
  must(mtl_buffer_create(mtl_stream_device(stream),
                         &(mtl_buffer_desc){.length_bytes = count * 4},
                         &buffer));
  *out_values = mtl_buffer_contents(buffer);
  for (size_t i = 0; i < count; i++) {
    (*out_values)[i] = (float)((i * step) % 19) - 9;
  }
  return buffer;
}

static int is_right(const float *a, const float *b, const float *c) {
  for (int row = 0; row < ROWS; row++) {
    for (int column = 0; column < COLUMNS; column++) {
      float sum = 0;
      for (int i = 0; i < INNER; i++) {
        sum += a[row * INNER + i] * b[column * INNER + i];
      }
      if (c[row * COLUMNS + column] != sum) {
        return 0;
      }
    }
  }
  return 1;
}

static int is_used(void) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
  const long *products = library ? dlsym(library, "stand_in_products") : NULL;
  return products && *products > TRIALS;
}

int main(int argc, char **argv) {
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) {
    puts(dlerror());
    return 1;
  }
  mtl_stream *stream;
  must(mtl_stream_create(NULL, NULL, &stream));
  float *a, *b, *c;
  mtl_tensor left = {make_matrix(stream, ROWS * INNER, 7, &a),
                     .rank = 2,
                     .sizes = {ROWS, INNER},
                     .strides = {INNER, 1}};
  mtl_tensor right = {make_matrix(stream, INNER * COLUMNS, 5, &b),
                      .rank = 2,
                      .sizes = {INNER, COLUMNS},
                      .strides = {1, INNER}};
  mtl_tensor out = {make_matrix(stream, ROWS * COLUMNS, 3, &c),
                    .rank = 2,
                    .sizes = {ROWS, COLUMNS},
                    .strides = {COLUMNS, 1}};
  left.type = right.type = out.type = MTL_TYPE_FLOAT;
  must(mtl_ops_matmul(stream, &left, &right, NULL, 1, 0, &out));
  must(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  printf("%s %s\n", is_right(a, b, c) ? "right" : "wrong",
         is_used() ? "used" : "unused");
  mtl_buffer_release(left.buffer);
  mtl_buffer_release(right.buffer);
  mtl_buffer_release(out.buffer);
  mtl_stream_release(stream);
  return 0;
}
