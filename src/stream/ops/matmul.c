// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matmul.c: matrix products in half, bfloat and float.
#include "stream/ops/host.h"

// `matmul` of matmul.metal.
typedef struct matmul {
  ops_shape batch;
  uint32_t m, n, k;
  uint32_t row_blocks;
  int64_t a_row, a_column, b_row, b_column;
  int64_t bias_row, bias_column, out_row, out_column;
  float alpha, beta;
} matmul;

// The operands, the leading dimensions broadcast to out's.
typedef struct operands {
  mtl_tensor a, b, bias;
  bool has_bias;
  const mtl_tensor *out;
} operands;

static const char name[] = "matrix product";

// Broadcasts all but the last two dimensions.
static mtl_status widen(const char *part, const mtl_tensor *in,
                        const mtl_tensor *out, int64_t rows, int64_t columns,
                        mtl_tensor *wide) {
  STREAM_TRY(ops_check_floating(name, part, in));
  int64_t sizes[MTL_TENSOR_MAX_RANK];
  for (uint32_t d = 0; d + 2 < out->rank; ++d) {
    sizes[d] = out->sizes[d];
  }
  sizes[out->rank - 2] = rows;
  sizes[out->rank - 1] = columns;
  if (in->rank < 2 || in->sizes[in->rank - 2] != rows ||
      in->sizes[in->rank - 1] != columns) {
    return ops_check_sizes(name, part, in, out->rank, sizes);
  }
  return ops_broadcast(name, part, in, out->rank, sizes, wide);
}

static mtl_status prepare(const mtl_tensor *a, const mtl_tensor *b,
                          const mtl_tensor *bias, double beta,
                          const mtl_tensor *out, operands *it) {
  STREAM_TRY(ops_check_floating(name, "out", out));
  if (a->rank < 2 || b->rank < 2 || out->rank < 2) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "%s: ranks %u, %u and %u; matrices have two dimensions",
                    name, a->rank, b->rank, out->rank);
  }
  const int64_t m = out->sizes[out->rank - 2], n = out->sizes[out->rank - 1];
  const int64_t k = a->sizes[a->rank - 1];
  STREAM_TRY(widen("a", a, out, m, k, &it->a));
  STREAM_TRY(widen("b", b, out, k, n, &it->b));
  it->out = out;
  it->has_bias = bias && beta != 0;
  if (!it->has_bias) {
    it->bias = *out;
    return MTL_OK;
  }
  STREAM_TRY(ops_check_floating(name, "bias", bias));
  return ops_broadcast(name, "bias", bias, out->rank, out->sizes, &it->bias);
}

static matmul arguments_of(const operands *it, double alpha, double beta,
                           uint64_t *out_batches) {
  const uint32_t row = it->out->rank - 2, column = it->out->rank - 1;
  matmul arguments = {
      .m = (uint32_t)it->out->sizes[row],
      .n = (uint32_t)it->out->sizes[column],
      .k = (uint32_t)it->a.sizes[column],
      .a_row = it->a.strides[row],
      .a_column = it->a.strides[column],
      .b_row = it->b.strides[row],
      .b_column = it->b.strides[column],
      .bias_row = it->bias.strides[row],
      .bias_column = it->bias.strides[column],
      .out_row = it->out->strides[row],
      .out_column = it->out->strides[column],
      .alpha = (float)alpha,
      .beta = it->has_bias ? (float)beta : 0.0f,
  };
  *out_batches = ops_shape_of(
      &arguments.batch, row,
      (const mtl_tensor *[]){&it->a, &it->b, &it->bias, it->out}, 4);
  return arguments;
}

enum {
  // As in matmul.metal.
  COLUMNS = 64,
  PACKED_ROWS = 32,
  PACKED = 3,
  // Rows that pay for packing, and columns that repay lanes without one.
  TALL = 16,
  LEAST_COLUMNS = 8,
  PACKED_MAX_BYTES = 64 << 20,
};

// True if packing b pays: many rows read it, and unpacked it would be read
// across cache lines or from few cache sets.
static bool is_worth_packing(const matmul *it, uint64_t batches) {
  const bool is_awkward = it->b_column != 1 || it->b_row % 256 == 0;
  return is_awkward && it->m >= TALL && it->n >= LEAST_COLUMNS && it->k >= 8 &&
         batches * it->n * it->k <= PACKED_MAX_BYTES / sizeof(float);
}

static mtl_status record_packed(mtl_stream *stream, ops_dispatch *product,
                                const matmul *arguments, uint64_t batches) {
  const uint64_t blocks = (arguments->n + COLUMNS - 1) / COLUMNS;
  const int64_t size = (int64_t)(batches * blocks * COLUMNS * arguments->k);
  ops_scratch scratch;
  STREAM_TRY(ops_scratch_create(stream, MTL_TYPE_FLOAT, 1, &size, &scratch));
  ops_dispatch pack = *product;
  pack.kernel = "pack_columns";
  pack.constants[4] = arguments->b_column == 1 ? 1
                      : arguments->b_row == 1  ? 2
                                               : 0;
  pack.tensors[0] = product->tensors[1];
  pack.tensors[1] = &scratch.tensor;
  pack.tensor_count = 2;
  pack.grid_threads[0] = arguments->n;
  pack.grid_threads[1] = (arguments->k + PACKED_ROWS - 1) / PACKED_ROWS;
  mtl_status status = ops_record(stream, &pack);
  if (status == MTL_OK) {
    product->tensors[1] = &scratch.tensor;
    product->constants[1] = MTL_TYPE_FLOAT;
    product->constants[4] = PACKED;
    status = ops_record(stream, product);
  }
  ops_scratch_release(&scratch);
  return status;
}

static mtl_status record(mtl_stream *stream, const operands *it,
                         matmul *arguments, uint64_t batches) {
  ops_dispatch dispatch = {
      .source = ops_matmul_metal,
      .kernel = "matmul_columns",
      .constants = {it->a.type, it->b.type, it->bias.type, it->out->type,
                    arguments->b_column == 1},
      .tensors = {&it->a, &it->b, &it->bias, it->out},
      .tensor_count = 4,
      .arguments = arguments,
      .arguments_bytes = sizeof *arguments,
      .grid_threads = {arguments->n, (arguments->m + 7) / 8, batches},
      .group_threads = {64, 1, 1},
  };
  if (is_worth_packing(arguments, batches)) {
    return record_packed(stream, &dispatch, arguments, batches);
  }
  // With k in one piece in both, and long enough to fill the lanes.
  if (arguments->b_row == 1 && arguments->a_column == 1 &&
      arguments->b_column != 1 && arguments->k >= 32) {
    const uint32_t rows = arguments->m < 4 ? arguments->m : 4;
    arguments->row_blocks = (arguments->m + rows - 1) / rows;
    dispatch.kernel = "matmul_dots";
    dispatch.constants[4] = rows;
    dispatch.grid_threads[0] = 32;
    dispatch.grid_threads[1] = arguments->n;
    dispatch.grid_threads[2] = batches * arguments->row_blocks;
    dispatch.group_threads[0] = 32;
    dispatch.group_threads[1] = 8;
  }
  return ops_record(stream, &dispatch);
}

static mtl_status multiply(mtl_stream *stream, const mtl_tensor *a,
                           const mtl_tensor *b, const mtl_tensor *bias,
                           double alpha, double beta, const mtl_tensor *out) {
  operands it;
  STREAM_TRY(prepare(a, b, bias, beta, out, &it));
  uint64_t batches;
  matmul arguments = arguments_of(&it, alpha, beta, &batches);
  if (batches * arguments.m * arguments.n == 0) {
    return MTL_OK;
  }
  bool is_done = false;
  STREAM_TRY(ops_host_matmul(stream, &it.a, &it.b,
                             it.has_bias ? &it.bias : NULL, arguments.alpha,
                             arguments.beta, out, &is_done));
  if (!is_done) {
    STREAM_TRY(ops_device_matmul(stream, &it.a, &it.b,
                                 it.has_bias ? &it.bias : NULL, arguments.alpha,
                                 arguments.beta, out, &is_done));
  }
  if (!is_done) {
    STREAM_TRY(ops_packed_matmul(stream, &it.a, &it.b,
                                 it.has_bias ? &it.bias : NULL, arguments.alpha,
                                 arguments.beta, out, &is_done));
  }
  return is_done ? MTL_OK : record(stream, &it, &arguments, batches);
}

mtl_status mtl_ops_matmul(mtl_stream *stream, const mtl_tensor *a,
                          const mtl_tensor *b, const mtl_tensor *bias,
                          double alpha, double beta, const mtl_tensor *out) {
  return ops_finish(stream, multiply(stream, a, b, bias, alpha, beta, out));
}
