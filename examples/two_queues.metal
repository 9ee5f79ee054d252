// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// two_queues.metal: the two halves of two_queues.c.

kernel void produce(device uint *values [[buffer(0)]],
                    constant uint &round [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  values[i] = i + round;
}

kernel void consume(device const uint *values [[buffer(0)]],
                    device uint *sums [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  sums[i] += values[i];
}
