// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_matmul.c: matrix products by the host's library, in tiles that the
// device's threads share.
#include <limits.h>
#include <string.h>

#include "stream/libraries/host_elements.h"
#include "stream/libraries/host_library.h"
#include "stream/ops/host.h"

enum {
  // Less is done as quickly by a kernel, without another encoder; measured on
  // a 2-core Xeon, 2026-11.
  LEAST_FLOPS = 1 << 16,
  LEAST_ROWS = 4,  // fewer are bound by memory, which matmul_dots is too
  TILE_UNIT = 32,
  SCRATCH_MAX_BYTES = 64 << 20,
};

// One operand: matrix strides and how the library is to take it.
typedef struct operand {
  mtl_data_type type;
  int64_t row, column;
  bool is_direct;      // float, with one of the strides 1
  bool is_transposed;  // the row's
} operand;

typedef struct product {
  ops_shape batch;  // strides of a, b, bias, out
  int64_t m, n, k;
  int64_t tile_m, tile_n;    // of a piece
  int64_t tiles_m, tiles_n;  // for each matrix
  operand a, b, bias, out;
  float alpha, beta;
} product;

static operand operand_of(const mtl_tensor *tensor) {
  const uint32_t last = tensor->rank - 1;
  operand it = {.type = tensor->type,
                .row = tensor->strides[last - 1],
                .column = tensor->strides[last]};
  // A single row or column has no stride of its own; the library wants one at
  // least as long as a row.
  if (tensor->sizes[last] == 1) {
    it.column = 1;
  }
  if (tensor->sizes[last - 1] == 1) {
    it.row = it.column == 1 ? tensor->sizes[last] : 1;
  }
  const bool is_plain = it.column == 1 && it.row >= tensor->sizes[last];
  it.is_transposed = !is_plain;
  it.is_direct =
      tensor->type == MTL_TYPE_FLOAT &&
      (is_plain || (it.row == 1 && it.column >= tensor->sizes[last - 1]));
  return it;
}

// Where each operand of a batch starts, in elements.
static void locate(const ops_shape *shape, uint64_t i, int64_t offsets[4]) {
  memset(offsets, 0, 4 * sizeof *offsets);
  for (int32_t d = shape->rank - 1; d >= 0; --d) {
    const int64_t at = (int64_t)(i % (uint64_t)shape->sizes[d]);
    i /= (uint64_t)shape->sizes[d];
    for (int t = 0; t < 4; ++t) {
      offsets[t] += at * shape->strides[t][d];
    }
  }
}

// Gives an operand's part to the library: where it lies, or as rows in
// *scratch.
static const float *take(const operand *it, const void *data, int64_t from,
                         int64_t rows, int64_t columns, float **scratch,
                         bool *out_transposed, int64_t *out_row) {
  if (it->is_direct) {
    *out_transposed = it->is_transposed;
    *out_row = it->is_transposed ? it->column : it->row;
    return (const float *)data + from;
  }
  float *packed = *scratch;
  *scratch += rows * columns;
  // Cuts along the shorter stride.
  const bool by_columns = it->row == 1 && it->column != 1;
  const int64_t count = by_columns ? columns : rows;
  const int64_t length = by_columns ? rows : columns;
  for (int64_t i = 0; i < count; ++i) {
    host_load_row(
        it->type, data, from + i * (by_columns ? it->column : it->row),
        by_columns ? it->row : it->column, length, packed + i * length);
  }
  *out_transposed = by_columns;
  *out_row = length;
  return packed;
}

static void scale(float *row, int64_t count, float factor) {
  for (int64_t i = 0; i < count; ++i) {
    row[i] *= factor;
  }
}

typedef struct tile {
  int64_t row, column, rows, columns;
  int64_t from[4];  // the batch's start in a, b, bias, out
} tile;

static void run_tile(const product *p, void *const *data, const tile *at,
                     float *scratch) {
  host_product call = {.m = at->rows,
                       .n = at->columns,
                       .k = p->k,
                       .alpha = p->alpha,
                       .beta = p->beta != 0 ? 1.0f : 0.0f};
  call.a = take(&p->a, data[0], at->from[0] + at->row * p->a.row, at->rows,
                p->k, &scratch, &call.is_a_transposed, &call.row_a);
  call.b = take(&p->b, data[1], at->from[1] + at->column * p->b.column, p->k,
                at->columns, &scratch, &call.is_b_transposed, &call.row_b);
  const int64_t out =
      at->from[3] + at->row * p->out.row + at->column * p->out.column;
  const bool is_direct = p->out.is_direct && !p->out.is_transposed;
  call.c = is_direct ? (float *)data[3] + out : scratch;
  call.row_c = is_direct ? p->out.row : at->columns;
  for (int64_t i = 0; p->beta != 0 && i < at->rows; ++i) {
    float *row = call.c + i * call.row_c;
    host_load_row(
        p->bias.type, data[2],
        at->from[2] + (at->row + i) * p->bias.row + at->column * p->bias.column,
        p->bias.column, at->columns, row);
    if (p->beta != 1) {
      scale(row, at->columns, p->beta);
    }
  }
  host_library_multiply(&call);
  for (int64_t i = 0; !is_direct && i < at->rows; ++i) {
    host_store_row(p->out.type, data[3], out + i * p->out.row, p->out.column,
                   at->columns, call.c + i * call.row_c);
  }
}

static void run_pieces(const void *arguments, void *const *data, void *scratch,
                       uint64_t first, uint64_t end) {
  const product *p = arguments;
  const uint64_t tiles = (uint64_t)(p->tiles_m * p->tiles_n);
  for (uint64_t piece = first; piece < end; ++piece) {
    const int64_t index = (int64_t)(piece % tiles);
    tile at = {.row = index / p->tiles_n * p->tile_m,
               .column = index % p->tiles_n * p->tile_n};
    at.rows = at_most(p->tile_m, p->m - at.row);
    at.columns = at_most(p->tile_n, p->n - at.column);
    locate(&p->batch, piece / tiles, at.from);
    run_tile(p, data, &at, scratch);
  }
}

// Cuts the longer side into `pieces`, in whole units.
static void cut(product *p, uint64_t pieces) {
  int64_t *longer = p->n >= p->m ? &p->tile_n : &p->tile_m;
  p->tile_m = p->m;
  p->tile_n = p->n;
  *longer =
      divide_up(divide_up(*longer, (int64_t)pieces), TILE_UNIT) * TILE_UNIT;
  *longer = at_most(*longer, p->n >= p->m ? p->n : p->m);
  p->tiles_m = divide_up(p->m, p->tile_m);
  p->tiles_n = divide_up(p->n, p->tile_n);
}

static size_t scratch_bytes(const product *p) {
  const bool is_out_direct = p->out.is_direct && !p->out.is_transposed;
  const int64_t elements = (p->a.is_direct ? 0 : p->tile_m * p->k) +
                           (p->b.is_direct ? 0 : p->k * p->tile_n) +
                           (is_out_direct ? 0 : p->tile_m * p->tile_n);
  return (size_t)elements * sizeof(float);
}

// True if bias and out share memory in different layouts.
static bool may_overlap(const mtl_tensor *bias, const mtl_tensor *out) {
  return bias->buffer == out->buffer &&
         (bias->offset_bytes != out->offset_bytes ||
          memcmp(bias->strides, out->strides,
                 out->rank * sizeof *out->strides) != 0);
}

mtl_status ops_host_matmul(mtl_stream *stream, const mtl_tensor *a,
                           const mtl_tensor *b, const mtl_tensor *bias,
                           float alpha, float beta, const mtl_tensor *out,
                           bool *out_done) {
  *out_done = false;
  const uint32_t row = out->rank - 2;
  product p = {.m = out->sizes[row],
               .n = out->sizes[row + 1],
               .k = a->sizes[row + 1],
               .a = operand_of(a),
               .b = operand_of(b),
               .bias = operand_of(bias ? bias : out),
               .out = operand_of(out),
               .alpha = alpha,
               .beta = bias ? beta : 0};
  const uint64_t batches = ops_shape_of(
      &p.batch, row, (const mtl_tensor *[]){a, b, bias ? bias : out, out}, 4);
  const uint64_t each = 2 * (uint64_t)(p.m * p.n * p.k);
  if (p.m < LEAST_ROWS || p.n < LEAST_ROWS || each * batches < LEAST_FLOPS ||
      p.k == 0 || p.m > INT_MAX / 2 || p.n > INT_MAX / 2 || p.k > INT_MAX / 2 ||
      (p.beta != 0 && may_overlap(bias, out)) || !ops_host_is_there(stream)) {
    return MTL_OK;
  }
  if (bias) {  // its strides as they are: 0 repeats
    p.bias.row = bias->strides[row];
    p.bias.column = bias->strides[row + 1];
  }
  cut(&p, divide_up(ops_host_pieces(stream, each * batches), batches));
  if (scratch_bytes(&p) > SCRATCH_MAX_BYTES) {
    return MTL_OK;
  }
  *out_done = true;
  return ops_host_record(
      stream, &(ops_host_work){
                  .name = "matrix product",
                  .function = run_pieces,
                  .arguments = &p,
                  .arguments_bytes = sizeof p,
                  .tensors = {a, b, bias ? bias : out, out},
                  .tensor_count = 4,
                  .scratch_bytes = scratch_bytes(&p) + sizeof(float),
                  .piece_count = batches * (uint64_t)(p.tiles_m * p.tiles_n),
                  .flops = each * batches,
              });
}
