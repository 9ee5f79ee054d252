// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_matmul.c: matrix products by the device's library. Operands with a
// layout that it does not accept are copied first; a bias initialises the sums.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "stream/libraries/device_library.h"
#include "stream/ops/host.h"

enum {
  LEAST_FLOPS = 1 << 14,  // less is done as quickly by a kernel
  MOST_CALLS = 64,  // calls for a batch whose matrices are not evenly spaced
};

typedef struct products {
  device_product each;
  // Over calls: dimensions outside one call's batch; strides of a, b, out, in
  // elements.
  ops_shape calls;
  uint64_t call_count;
} products;

bool ops_device_is_there(mtl_stream *stream) {
  return mtl_device_get_info(mtl_stream_device(stream))->runs_native_work &&
         device_library_is_there();
}

// --- operands ----------------------------------------------------------------

typedef struct operand {
  const mtl_tensor *tensor;
  mtl_tensor copied;  // with a buffer if it was copied
  ops_scratch scratch;
  int64_t row, column;  // strides
  bool is_transposed;
} operand;

// True if the library takes the matrices as they lie.
static bool take(operand *it) {
  const mtl_tensor *tensor = it->tensor;
  const uint32_t last = tensor->rank - 1;
  const int64_t rows = tensor->sizes[last - 1], columns = tensor->sizes[last];
  it->row = tensor->strides[last - 1];
  it->column = tensor->strides[last];
  if (columns == 1) {
    it->column = 1;
  }
  if (rows == 1) {
    it->row = it->column == 1 ? columns : 1;
  }
  it->is_transposed = !(it->column == 1 && it->row >= columns);
  return !it->is_transposed || (it->row == 1 && it->column >= rows);
}

static int64_t pitch(const operand *it) {
  return it->is_transposed ? it->column : it->row;
}

// Uses an operand of this type in place, or a copy of it. A repeated dimension
// stays repeated.
static mtl_status prepare(mtl_stream *stream, const mtl_tensor *tensor,
                          mtl_data_type type, operand *it) {
  it->tensor = tensor;
  if (tensor->type == type && take(it)) {
    return MTL_OK;
  }
  mtl_tensor once = *tensor;
  for (uint32_t d = 0; d + 2 < once.rank; ++d) {
    if (once.strides[d] == 0) {
      once.sizes[d] = 1;
    }
  }
  STREAM_TRY(
      ops_scratch_create(stream, type, once.rank, once.sizes, &it->scratch));
  STREAM_TRY(mtl_ops_copy(stream, &once, &it->scratch.tensor));
  it->copied = it->scratch.tensor;
  for (uint32_t d = 0; d + 2 < once.rank; ++d) {
    if (once.sizes[d] == 1) {
      it->copied.sizes[d] = tensor->sizes[d];
      it->copied.strides[d] = 0;
    }
  }
  it->tensor = &it->copied;
  (void)take(it);
  return MTL_OK;
}

static void end(operand *it) {
  if (it->scratch.tensor.buffer) {
    ops_scratch_release(&it->scratch);
  }
}

// --- products ----------------------------------------------------------------

static mtl_status run(const void *arguments, const uint64_t *addresses,
                      void *native_queue) {
  const products *p = arguments;
  const uint64_t bytes = mtl_data_type_size(p->each.type);
  const uint64_t out_bytes = mtl_data_type_size(p->each.out_type);
  for (uint64_t i = 0; i < p->call_count; ++i) {
    uint64_t at = i;
    int64_t offsets[3] = {0};
    for (int32_t d = p->calls.rank - 1; d >= 0; --d) {
      const int64_t place = (int64_t)(at % (uint64_t)p->calls.sizes[d]);
      at /= (uint64_t)p->calls.sizes[d];
      for (int t = 0; t < 3; ++t) {
        offsets[t] += place * p->calls.strides[t][d];
      }
    }
    STREAM_TRY(device_library_multiply(
        &p->each, addresses[0] + (uint64_t)offsets[0] * bytes,
        addresses[1] + (uint64_t)offsets[1] * bytes,
        addresses[2] + (uint64_t)offsets[2] * out_bytes, native_queue));
  }
  return MTL_OK;
}

// The innermost dimension of the batch is a call's; false if too many are left.
static bool share_batch(products *p, const operand *a, const operand *b,
                        const operand *out) {
  const uint64_t batches = ops_shape_of(
      &p->calls, out->tensor->rank - 2,
      (const mtl_tensor *[]){a->tensor, b->tensor, out->tensor}, 3);
  p->each.batches = 1;
  if (p->calls.rank > 0) {
    const int32_t last = --p->calls.rank;
    p->each.batches = p->calls.sizes[last];
    p->each.step_a = p->calls.strides[0][last];
    p->each.step_b = p->calls.strides[1][last];
    p->each.step_c = p->calls.strides[2][last];
  }
  p->call_count = batches / (uint64_t)p->each.batches;
  return p->call_count <= MOST_CALLS;
}

static mtl_status record(mtl_stream *stream, const products *p,
                         const mtl_tensor *const tensors[3]) {
  mtl_buffer *buffers[3];
  size_t offsets_bytes[3];
  uint64_t bytes = 0;
  for (int i = 0; i < 3; ++i) {
    const mtl_tensor *tensor = tensors[i];
    STREAM_TRY(stream_check_range(tensor->buffer, tensor->offset_bytes,
                                  mtl_tensor_extent_bytes(tensor),
                                  "matrix product", "a buffer"));
    buffers[i] = tensor->buffer;
    offsets_bytes[i] = tensor->offset_bytes;
    bytes += mtl_tensor_extent_bytes(tensor);
  }
  mtl_stream_lock(stream);
  stream->pending_bytes += bytes;
  stream->statistics.bytes += bytes;
  const mtl_status status = mtl_stream_native_work(
      stream, &(mtl_native_work){.name = "matrix product",
                                 .function = run,
                                 .arguments = p,
                                 .arguments_bytes = sizeof *p,
                                 .buffers = buffers,
                                 .offsets_bytes = offsets_bytes,
                                 .buffer_count = 3});
  mtl_stream_unlock(stream);
  return status;
}

// True if two tensors are the same elements in the same order.
static bool is_same(const mtl_tensor *a, const mtl_tensor *b) {
  return a->buffer == b->buffer && a->offset_bytes == b->offset_bytes &&
         a->type == b->type &&
         memcmp(a->strides, b->strides, b->rank * sizeof *b->strides) == 0;
}

typedef struct work {
  operand a, b, out;
  products products;
} work;

static mtl_status multiply(mtl_stream *stream, work *it, const mtl_tensor *a,
                           const mtl_tensor *b, const mtl_tensor *bias,
                           const mtl_tensor *out, bool *out_done) {
  device_product *p = &it->products.each;
  const mtl_data_type type = a->type == b->type ? a->type : MTL_TYPE_FLOAT;
  const bool is_out_type = out->type == type || out->type == MTL_TYPE_FLOAT;
  p->type = type;
  p->out_type = is_out_type ? out->type : MTL_TYPE_FLOAT;
  // The product goes into a temporary if out has another element type, or a
  // layout that the product cannot write.
  it->out.tensor = out;
  const bool is_direct =
      is_out_type && take(&it->out) && !it->out.is_transposed;
  if (!is_direct) {
    STREAM_TRY(ops_scratch_create(stream, p->out_type, out->rank, out->sizes,
                                  &it->out.scratch));
    it->out.tensor = &it->out.scratch.tensor;
    (void)take(&it->out);
  }
  STREAM_TRY(prepare(stream, a, type, &it->a));
  STREAM_TRY(prepare(stream, b, type, &it->b));
  const int64_t pitches[] = {pitch(&it->a), pitch(&it->b), pitch(&it->out)};
  if (!share_batch(&it->products, &it->a, &it->b, &it->out) ||
      pitches[0] > INT_MAX || pitches[1] > INT_MAX || pitches[2] > INT_MAX) {
    return MTL_OK;
  }
  p->is_a_transposed = it->a.is_transposed;
  p->is_b_transposed = it->b.is_transposed;
  p->row_a = (int)pitches[0];
  p->row_b = (int)pitches[1];
  p->row_c = (int)pitches[2];
  *out_done = true;
  if (bias && !is_same(bias, it->out.tensor)) {
    STREAM_TRY(mtl_ops_copy(stream, bias, it->out.tensor));
  }
  STREAM_TRY(record(
      stream, &it->products,
      (const mtl_tensor *[]){it->a.tensor, it->b.tensor, it->out.tensor}));
  return is_direct ? MTL_OK : mtl_ops_copy(stream, it->out.tensor, out);
}

mtl_status ops_device_matmul(mtl_stream *stream, const mtl_tensor *a,
                             const mtl_tensor *b, const mtl_tensor *bias,
                             float alpha, float beta, const mtl_tensor *out,
                             bool *out_done) {
  *out_done = false;
  const uint32_t row = out->rank - 2;
  const int64_t m = out->sizes[row], n = out->sizes[row + 1];
  const int64_t k = a->sizes[row + 1];
  if (k == 0 || m > INT_MAX || n > INT_MAX || k > INT_MAX ||
      2 * k * mtl_tensor_count(out) < LEAST_FLOPS ||
      // A bias that out overwrites in another order.
      (bias && bias->buffer == out->buffer && !is_same(bias, out)) ||
      !ops_device_is_there(stream)) {
    return MTL_OK;
  }
  work *it = calloc(1, sizeof *it);
  if (!it) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "no memory for a matrix product");
  }
  it->products.each = (device_product){.m = (int)m,
                                       .n = (int)n,
                                       .k = (int)k,
                                       .alpha = alpha,
                                       .beta = bias ? beta : 0};
  const mtl_status status =
      multiply(stream, it, a, b, bias, out, out_done);
  end(&it->a);
  end(&it->b);
  end(&it->out);
  free(it);
  return status;
}
