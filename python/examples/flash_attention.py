# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""flash_attention.py: softmax(Q K^T / sqrt(d)) V without the matrix in
between, a query a simdgroup, beside torch's on the CPU. The kernel reads and
writes the memory of torch's tensors."""

import torch

import mettle

SOURCE = """
#include <metal_stdlib>
using namespace metal;
constant int D = 64;  // of a head: two elements a lane
kernel void attention(device const float *q, device const float *k,
                      device const float *v, device float *out,
                      constant int &keys, constant float &scale,
                      uint2 at [[thread_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint2 size [[threads_per_grid]]) {
  const uint queries = size.x / 32, query = at.x / 32, head = at.y;
  q += (head * queries + query) * D;
  k += head * keys * D;
  v += head * keys * D;
  out += (head * queries + query) * D;
  const float q0 = q[lane] * scale, q1 = q[lane + 32] * scale;
  float most = -INFINITY, sum = 0, o0 = 0, o1 = 0;
  for (int i = 0; i < keys; i++, k += D, v += D) {
    const float score = simd_sum(q0 * k[lane] + q1 * k[lane + 32]);
    const float next = max(most, score);
    const float old = exp(most - next), weight = exp(score - next);
    sum = sum * old + weight;
    o0 = o0 * old + weight * v[lane];
    o1 = o1 * old + weight * v[lane + 32];
    most = next;
  }
  out[lane] = o0 / sum;
  out[lane + 32] = o1 / sum;
}"""


def attention(q, k, v):
    """Of tensors [heads, length, 64]."""
    out = torch.empty_like(q)
    mettle.compile_shader(SOURCE).attention(
        q, k, v, out, k.shape[1], q.shape[2] ** -0.5,
        threads=(32 * q.shape[1], q.shape[0]), group_size=(128, 1))
    return out


def main():
    torch.manual_seed(0)
    q, k, v = (torch.randn(4, n, 64) for n in (96, 200, 200))
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    difference = (attention(q, k, v) - wanted).abs().max().item()
    print(f"largest difference from torch: {difference:.1e}")
    assert difference < 1e-5


if __name__ == "__main__":
    main()
