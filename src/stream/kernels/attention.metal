// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attention.metal: the softmax between attention's two products, and the gated
// delta rule.
struct masked_softmax {
  shape rows;  // strides of weights and mask over batch, head and query
  long weights_column, mask_column;
  uint keys, queries, first_query;
  uint has_mask, is_causal;
};

// The score of key j after mask.
static inline float masked(constant masked_softmax &p,
                           device const float *scores,
                           device const uchar *mask, long mask_row, uint query,
                           uint j) {
  if (p.is_causal && j > query) {
    return -INFINITY;
  }
  if (!p.has_mask) {
    return scores[j];
  }
  const long from = mask_row + long(j) * p.mask_column;
  if (type_0 == BOOL) {
    return element<uchar>(mask, from) ? scores[j] : -INFINITY;
  }
  return scores[j] + load_float(type_0, mask, from);
}

// A simdgroup for each row; weights may take the place of scores, element by
// element. type_0 is mask's type, type_1 weights'.
kernel void masked_softmax_rows(device const float *scores [[buffer(0)]],
                                device const uchar *mask [[buffer(1)]],
                                device uchar *weights [[buffer(2)]],
                                constant masked_softmax &p [[buffer(3)]],
                                uint2 at [[thread_position_in_grid]]) {
  long base[2];
  locate(p.rows, at.y, 2, base);
  const uint query = p.first_query + at.y % p.queries;
  scores += ulong(at.y) * p.keys;
  float largest = -INFINITY;
  for (uint j = at.x; j < p.keys; j += 32) {
    largest = max(largest, masked(p, scores, mask, base[1], query, j));
  }
  largest = simd_max(largest);
  const float start = largest == -INFINITY ? 0.0f : largest;
  float sum = 0;
  for (uint j = at.x; j < p.keys; j += 32) {
    sum += precise::exp(masked(p, scores, mask, base[1], query, j) - start);
  }
  sum = simd_sum(sum);
  const float factor = sum > 0 ? 1.0f / sum : sum == 0 ? 0.0f : sum;
  for (uint j = at.x; j < p.keys; j += 32) {
    const float e =
        precise::exp(masked(p, scores, mask, base[1], query, j) - start);
    store(type_1, weights, base[0] + long(j) * p.weights_column, e * factor);
  }
}

struct delta_rule {
  uint steps, heads, heads_per_key, value_size, key_size;
  // Batch, step, head, element; state: batch, head, value, key.
  long query[4], key[4], value[4], gate[3], beta[3], state[4], out[4];
};

constant constexpr uint PARTS = 16;  // key elements for each lane, at the most

static inline long at3(constant const long *strides, uint b, uint t, uint h) {
  return long(b) * strides[0] + long(t) * strides[1] + long(h) * strides[2];
}

// A simdgroup for each value element (y) of each head (z), with the key along
// the lanes. type_0 is the type of query, key and value, type_1 gate's, type_2
// state's, type_3 out's, option beta's.
kernel void gated_delta_rule(device const uchar *query [[buffer(0)]],
                             device const uchar *key [[buffer(1)]],
                             device const uchar *value [[buffer(2)]],
                             device const uchar *gate [[buffer(3)]],
                             device const uchar *beta [[buffer(4)]],
                             device uchar *state [[buffer(5)]],
                             device uchar *out [[buffer(6)]],
                             constant delta_rule &p [[buffer(7)]],
                             uint3 at [[thread_position_in_grid]]) {
  const uint batch = at.z / p.heads, head = at.z % p.heads;
  const uint key_head = head / p.heads_per_key;
  const long from = long(batch) * p.state[0] + long(head) * p.state[1] +
                    long(at.y) * p.state[2];
  float s[PARTS];
  for (uint i = 0; i < PARTS; ++i) {
    const uint k = i * 32 + at.x;
    s[i] = k < p.key_size
               ? load_float(type_2, state, from + long(k) * p.state[3])
               : 0.0f;
  }
  for (uint t = 0; t < p.steps; ++t) {
    const long q_at = at3(p.query, batch, t, key_head);
    const long k_at = at3(p.key, batch, t, key_head);
    const float g = load_float(type_1, gate, at3(p.gate, batch, t, head));
    const float b = load_float(option, beta, at3(p.beta, batch, t, head));
    const float v = load_float(
        type_0, value, at3(p.value, batch, t, head) + at.y * p.value[3]);
    float product = 0;
    for (uint i = 0; i < PARTS; ++i) {
      const uint k = i * 32 + at.x;
      if (k < p.key_size) {
        s[i] *= g;
        product = fma(s[i], load_float(type_0, key, k_at + k * p.key[3]),
                      product);
      }
    }
    const float d = (v - simd_sum(product)) * b;
    float y = 0;
    for (uint i = 0; i < PARTS; ++i) {
      const uint k = i * 32 + at.x;
      if (k < p.key_size) {
        s[i] = fma(load_float(type_0, key, k_at + k * p.key[3]), d, s[i]);
        y = fma(s[i], load_float(type_0, query, q_at + k * p.query[3]), y);
      }
    }
    y = simd_sum(y);
    if (at.x == 0) {
      store(type_3, out, at3(p.out, batch, t, head) + at.y * p.out[3], y);
    }
  }
  for (uint i = 0; i < PARTS; ++i) {
    const uint k = i * 32 + at.x;
    if (k < p.key_size) {
      store(type_2, state, from + long(k) * p.state[3], s[i]);
    }
  }
}
