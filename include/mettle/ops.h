// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ops.h: graph operations over tensors, recorded on a stream: what MPSGraph
// does for PyTorch's Metal backends.
//
// Tensors may be strided in any way, overlap in reading (strides of 0), and
// start anywhere in their buffers; results are written where out's strides
// say. Each operation allocates what it needs besides. Floating-point operands
// of one call may differ in type; sums are formed in float.
//
// Ownership  Tensors are borrowed; recorded work retains their buffers.
// Threads    Each call locks its stream.
// Errors     MTL_INVALID_ARGUMENT  shapes that do not fit, with the numbers
//            MTL_UNSUPPORTED       a type or a rank that is not there
//            Both are kept on the stream too, like any failed recording.
#ifndef METTLE_OPS_H
#define METTLE_OPS_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Copies ------------------------------------------------------------------

// Copies in to out element by element, converting as C does; to bool, what is
// not 0 is true. in's sizes are broadcast to out's, aligned at the last
// dimension.
//
// Source     PyTorch: Tensor.copy_
MTL_API MTL_MUST_USE mtl_status mtl_ops_copy(mtl_stream *stream,
                                             const mtl_tensor *in,
                                             const mtl_tensor *out);

// --- Products ----------------------------------------------------------------

// out = alpha * (a x b) + beta * bias.
//
//   a     [..., M, K] half, bfloat or float
//   b     [..., K, N] the same
//   bias  broadcast to out; NULL for none; not read where beta is 0
//   out   [..., M, N]; the leading sizes of a and b are broadcast to its
//
// Source     PyTorch: mm, bmm, addmm, baddbmm
MTL_API MTL_MUST_USE mtl_status mtl_ops_matmul(mtl_stream *stream,
                                               const mtl_tensor *a,
                                               const mtl_tensor *b,
                                               const mtl_tensor *bias,
                                               double alpha, double beta,
                                               const mtl_tensor *out);

// y = a x (scale * q + zero)^T for weights q of 4 bits, in groups along K that
// share a scale and a zero.
//
//   a            [M, K] half, bfloat or float
//   weights      [N, K / 2] uchar; the low half is the even k
//   scales       [N, K / group_size]
//   zeros        [N, K / group_size], added as they are
//   group_size   even, divides K
//   out          [M, N]
//
// Source     torchao: _linear_fp_act_4bit_weight
MTL_API MTL_MUST_USE mtl_status mtl_ops_int4_linear(
    mtl_stream *stream, const mtl_tensor *a, const mtl_tensor *weights,
    int64_t group_size, const mtl_tensor *scales, const mtl_tensor *zeros,
    const mtl_tensor *out);

// out[p] = W[experts[p]] x a[p], with each W as above.
//
//   a         [P, K]
//   weights   [E, N, K / 2] uchar
//   scales    [E, N, K / group_size]
//   zeros     [E, N, K / group_size]
//   experts   [P] int or uint; an expert that does not exist gives a row of NaN
//   out       [P, N]
//
// Source     ExecuTorch: metal::gather_qmv
MTL_API MTL_MUST_USE mtl_status mtl_ops_gather_qmv(
    mtl_stream *stream, const mtl_tensor *a, const mtl_tensor *weights,
    const mtl_tensor *scales, const mtl_tensor *zeros,
    const mtl_tensor *experts, int64_t group_size, const mtl_tensor *out);

// --- Convolution -------------------------------------------------------------

#define MTL_CONVOLUTION_MAX_RANK 3

// Zeros mean what they say, but for stride, dilation and groups, where 0 means
// 1. All arrays are [rank], counted in elements.
typedef struct mtl_convolution_desc {
  uint32_t rank;  // dimensions besides batch and channels, 1 to 3
  int64_t stride[MTL_CONVOLUTION_MAX_RANK];
  int64_t padding[MTL_CONVOLUTION_MAX_RANK];
  int64_t dilation[MTL_CONVOLUTION_MAX_RANK];
  int64_t output_padding[MTL_CONVOLUTION_MAX_RANK];  // transposed ones only
  int64_t groups;
  bool transposed;
} mtl_convolution_desc;

// Computes the sizes of the result.
//
//   in, weight   as in mtl_ops_convolution
//   out_sizes    [rank + 2] receives batch, channels and the rest
MTL_API MTL_MUST_USE mtl_status mtl_ops_convolution_sizes(
    const mtl_tensor *in, const mtl_tensor *weight,
    const mtl_convolution_desc *desc,
    int64_t out_sizes[MTL_CONVOLUTION_MAX_RANK + 2]);

// Convolves; the sum runs over the input channels of the group and the window.
//
//   in       [B, C, spatial...] half, bfloat or float
//   weight   [O, C / groups, window...]; transposed: [C, O / groups, window...]
//   bias     [O]; NULL for none
//   out      [B, O, spatial...] as mtl_ops_convolution_sizes says
//
// Source     PyTorch: convolution
MTL_API MTL_MUST_USE mtl_status mtl_ops_convolution(
    mtl_stream *stream, const mtl_tensor *in, const mtl_tensor *weight,
    const mtl_tensor *bias, const mtl_convolution_desc *desc,
    const mtl_tensor *out);

// --- Attention ---------------------------------------------------------------

typedef struct mtl_attention_desc {
  const mtl_tensor *mask;  // broadcast to [B, H, Lq, Lk]: bool, where false
                           // leaves out, or floating point, added; or NULL
  bool is_causal;          // query i sees keys 0 to i; not with a mask
  double scale;            // 0 means 1 / sqrt(D)
} mtl_attention_desc;

// weights = softmax(scale * query x key^T + mask), out = weights x value. A row
// whose keys are all left out is 0.
//
//   query     [B, H, Lq, D] half, bfloat or float
//   key       [B, Hk, Lk, D], H a multiple of Hk: H / Hk queries share a key
//   value     [B, Hk, Lk, Dv]
//   out       [B, H, Lq, Dv]
//   weights   [B, H, Lq, Lk]; NULL if they are not wanted
//
// Source     PyTorch: _scaled_dot_product_attention_math_for_mps
MTL_API MTL_MUST_USE mtl_status mtl_ops_attention(
    mtl_stream *stream, const mtl_tensor *query, const mtl_tensor *key,
    const mtl_tensor *value, const mtl_attention_desc *desc,
    const mtl_tensor *out, const mtl_tensor *weights);

// One step after the other of the gated delta rule, in float:
//   s *= g; d = (v - s k) * beta; s += d k^T; y = s q
//
//   query, key   [B, T, Hk, Dk]
//   value        [B, T, Hv, Dv], Hv a multiple of Hk
//   gate, beta   [B, T, Hv]; gate is a factor, not its logarithm
//   state        [B, Hv, Dv, Dk], read and written
//   out          [B, T, Hv, Dv]
//
// Source     ExecuTorch: metal::gated_delta_rule; Yang et al., "Gated Delta
//            Networks", 2024
MTL_API MTL_MUST_USE mtl_status mtl_ops_gated_delta_rule(
    mtl_stream *stream, const mtl_tensor *query, const mtl_tensor *key,
    const mtl_tensor *value, const mtl_tensor *gate, const mtl_tensor *beta,
    const mtl_tensor *state, const mtl_tensor *out);

// --- Order and sums ----------------------------------------------------------

// Sorts along dimension; equal elements keep their order. NaN is greatest.
//
//   in          any type
//   dimension   -rank to rank - 1; 0 and -1 for a scalar
//   values      like in; NULL if not wanted
//   indices     in's sizes, long; NULL if not wanted
//
// Source     PyTorch: sort(stable=True)
MTL_API MTL_MUST_USE mtl_status mtl_ops_sort(mtl_stream *stream,
                                             const mtl_tensor *in,
                                             int64_t dimension, bool descending,
                                             const mtl_tensor *values,
                                             const mtl_tensor *indices);

// Takes the k largest or smallest along dimension, in order.
//
//   k   0 to in's size; values and indices have size k there
//
// Source     PyTorch: topk
MTL_API MTL_MUST_USE mtl_status mtl_ops_topk(mtl_stream *stream,
                                             const mtl_tensor *in, int64_t k,
                                             int64_t dimension, bool largest,
                                             const mtl_tensor *values,
                                             const mtl_tensor *indices);

// out[i] = in[0] + ... + in[i] along dimension: integers and bools in 64 bits,
// floating point in float with a running correction (Neumaier, 1974).
//
// Source     PyTorch: cumsum
MTL_API MTL_MUST_USE mtl_status mtl_ops_cumulative_sum(mtl_stream *stream,
                                                       const mtl_tensor *in,
                                                       int64_t dimension,
                                                       const mtl_tensor *out);

// --- Pooling -----------------------------------------------------------------

// Windows over the last two dimensions; numbers as PyTorch's.
typedef struct mtl_pool_desc {
  int64_t window[2];    // adaptive: the sizes of the result
  int64_t stride[2];    // 0: window's
  int64_t padding[2];   // at most half of window
  int64_t dilation[2];  // 0 counts as 1; of the largest only
  bool is_largest;      // the largest element instead of the mean
  bool is_adaptive;     // windows that cover the input evenly
  bool rounds_up;       // a last window may end past the padding
  bool counts_padding;  // as zeros of the mean
  int64_t divisor;      // of the mean; 0: the count of elements
} mtl_pool_desc;

// Computes the last two sizes of the result.
MTL_API MTL_MUST_USE mtl_status mtl_ops_pool_sizes(const mtl_tensor *in,
                                                   const mtl_pool_desc *desc,
                                                   int64_t out_sizes[2]);

// Pools in into out; the leading dimensions are equal.
//
//   indices  of long, where in the plane the largest lies; NULL if not wanted
//
// Source     PyTorch: avg_pool2d, max_pool2d_with_indices, adaptive_*_pool2d
MTL_API MTL_MUST_USE mtl_status mtl_ops_pool(mtl_stream *stream,
                                             const mtl_tensor *in,
                                             const mtl_pool_desc *desc,
                                             const mtl_tensor *out,
                                             const mtl_tensor *indices);

// --- Elements whose places are data ------------------------------------------
//
// Threads of the device take what meets in one place in order, so that results
// are the same in every run. Indices are of int or long; one below 0 counts
// from the end, one outside is left out.

// How what comes to an element meets what is there.
typedef enum mtl_combination {
  MTL_COMBINE_SET = 0,
  MTL_COMBINE_SUM,
  MTL_COMBINE_PRODUCT,
  MTL_COMBINE_MEAN,
  MTL_COMBINE_LARGEST,  // of numbers and NaN: NaN
  MTL_COMBINE_LEAST,
} mtl_combination;

typedef struct mtl_scatter_desc {
  int64_t dimension;         // -rank to rank - 1
  const mtl_tensor *index;   // borrowed; its rank is out's
  const mtl_tensor *source;  // borrowed; at least index's sizes; NULL: value
  double value;
  mtl_combination combination;
  bool includes_self;  // out's own elements count; ignored by SET
} mtl_scatter_desc;

// out[i][index[i][j][k]][k] = out's combined with source[i][j][k], for
// dimension 1 of three.
//
// Source     PyTorch: Tensor.scatter_, scatter_reduce_
MTL_API MTL_MUST_USE mtl_status mtl_ops_scatter(mtl_stream *stream,
                                                const mtl_scatter_desc *desc,
                                                const mtl_tensor *out);

#define MTL_OPS_MAX_INDICES 4

// out[indices[0], indices[1], ...] = values, or += with accumulate.
//
//   indices  [count] one for each leading dimension of out; NULL takes all of
//            it. Up to MTL_OPS_MAX_INDICES are not NULL; they are broadcast
//   values   broadcast to NumPy's shape of out[indices]
//
// Source     PyTorch: Tensor.index_put_
MTL_API MTL_MUST_USE mtl_status mtl_ops_index_put(
    mtl_stream *stream, const mtl_tensor *const *indices, uint32_t count,
    const mtl_tensor *values, bool accumulate, const mtl_tensor *out);

// The products, largest or least of in[0] to in[i] along dimension.
//
//   indices  of long, where the extreme lies, the last of equal ones; NULL for
//            products
//
// Source     PyTorch: cumprod, cummax, cummin
MTL_API MTL_MUST_USE mtl_status mtl_ops_scan(mtl_stream *stream,
                                             const mtl_tensor *in,
                                             int64_t dimension,
                                             mtl_combination combination,
                                             const mtl_tensor *out,
                                             const mtl_tensor *indices);

#ifdef __cplusplus
}
#endif
#endif
