# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""find_a_race.py: a sum by threadgroups that misses a barrier. Whether it is
wrong depends on which simdgroup comes first; mettle.check names both lines of
each race in any case."""

import numpy as np

import mettle

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void total(device const float *x [[buffer(0)]],
                  device float *sums [[buffer(1)]],
                  threadgroup float *part [[threadgroup(0)]],
                  uint i [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
  part[t] = x[i];
  for (uint half_way = n / 2; half_way > 0; half_way /= 2) {
    BARRIER
    if (t < half_way) {
      part[t] += part[t + half_way];
    }
  }
  if (t == 0) {
    sums[g] = part[0];
  }
}"""


def sums(barrier, x):
    """(the sums of 256 numbers each, what the checker found)."""
    lib = mettle.compile_shader(SOURCE.replace("BARRIER", barrier),
                                file_name="total.metal")
    out = np.zeros(x.size // 256, np.float32)
    with mettle.check("races", raises=False) as findings:
        lib.total(x, out, threads=x.size, group_size=256,
                  threadgroup_memory=256 * 4)
    return out, findings


def main():
    x = np.arange(1024, dtype=np.float32)
    for barrier in ("", "threadgroup_barrier(mem_flags::mem_threadgroup);"):
        out, findings = sums(barrier, x)
        print(f"with {barrier or 'no barrier'}: {out.tolist()}")
        for finding in findings:
            print(finding)
    assert out.tolist() == x.reshape(4, 256).sum(1).tolist()
    assert not findings


if __name__ == "__main__":
    main()
