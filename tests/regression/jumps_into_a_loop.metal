// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that a switch jumps into is three loops for the vectoriser, and a
// uniform branch leaves all of them at once. Nodes that no thread waits for lie
// between that branch and the way out, and a latch that no thread has come to
// must not go round: this one went round for ever.
// run: leaves_all --math safe --grid 70,9 --group 32,4 out=zeros:630 five=5 some=3
// expect: 0: 4 4 4 4
#include <metal_stdlib>
using namespace metal;

struct parts { char m0; uchar m1; uint m2; int list[4]; };

kernel void leaves_all(device uint *out [[buffer(0)]],
                       constant uint &five [[buffer(1)]],
                       constant int &some [[buffer(2)]],
                       uint3 at [[thread_position_in_grid]],
                       uint3 grid [[threads_per_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint3 size [[threads_per_threadgroup]]) {
  const uint count = size.x * size.y * size.z;
  const uint self = at.x + grid.x * (at.y + grid.y * at.z);
  int v = 7, turns = 3;
  parts s = {}, w[3] = {};
  uint k = 0;
  while (k++ < 9u) {
    uint i = 0;
    switch (3u & k) {
      case 0: do {
        s.m2 += 2288976066u;
      case 1: {
        w[1].list[lane % 4u] = v;
        uint n = 0;
        while (n++ < 9u && five != 0u) v = v * some;
      }
      default:
        turns = turns + 1;
      } while (++i < 5u && uchar(uchar(lane) / s.m1) == uchar(s.m1 - uchar(count)));
    }
    if (short(short(short(32767) | s.m2) *
              short(long(w[uint(turns) % 3u].m1))) < short(13)) break;
  }
  out[self] = uint(turns);
}
