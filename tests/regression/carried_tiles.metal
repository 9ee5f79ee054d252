// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of tiles that nested loops with barriers carry, and that
// thread_elements() takes apart inside the outer loop and at the end.
// run: carry --grid 64 --group 64 0=iota:f32:128 1=zeros:f32:256 2=zeros:f32:256
// expect: 1: 887 770 695 662 770 911 800 731 695 800 947 842 662 731 842 995 671 722 773 887 704 719 713 770 779 758 695 695 896 839 719 662 671 704 779 896 722 719 758 839 773 713 695 719 887 770 695 662 1055 962 785 671 962 1127 893 722 785 893 1022 773 671 722 773 887 887 770 695 662 770 911 800 731 695 800 947 842 662 731 842 995 671 722 773 887 704 719 713 770 779 758 695 695 896 839 719 662 671 704 779 896 722 719 758 839 773 713 695 719 887 770 695 662 1055 962 785 671 962 1127 893 722 785 893 1022 773 671 722 773 887 887 770 695 662 770 911 800 731 695 800 947 842 662 731 842 995 671 722 773 887 704 719 713 770 779 758 695 695 896 839 719 662 671 704 779 896 722 719 758 839 773 713 695 719 887 770 695 662 1055 962 785 671 962 1127 893 722 785 893 1022 773 671 722 773 887 887 770 695 662 770 911 800 731 695 800 947 842 662 731 842 995 671 722 773 887 704 719 713 770 779 758 695 695 896 839 719 662 671 704 779 896 722 719 758 839 773 713 695 719 887 770 695 662 1055 962 785 671 962 1127 893 722 785 893 1022 773 671 722 773 887
// expect: 2: 325 217 329 271 263 353 225 365 221 323 227 260 261 225 323 218 215 307 233 277 258 226 325 217 413 239 433 288 306 358 221 323 325 217 329 271 263 353 225 365 221 323 227 260 261 225 323 218 215 307 233 277 258 226 325 217 413 239 433 288 306 358 221 323 856 648 868 760 740 928 668 956 664 855 680 733 752 667 880 657 652 844 692 788 732 676 856 648 1064 703 1108 805 844 935 664 855 856 648 868 760 740 928 668 956 664 855 680 733 752 667 880 657 652 844 692 788 732 676 856 648 1064 703 1108 805 844 935 664 855 1657 1357 1681 1531 1495 1789 1393 1837 1393 1660 1423 1483 1537 1390 1735 1381 1375 1675 1441 1597 1486 1414 1657 1357 2017 1456 2089 1615 1678 1795 1393 1660 1657 1357 1681 1531 1495 1789 1393 1837 1393 1660 1423 1483 1537 1390 1735 1381 1375 1675 1441 1597 1486 1414 1657 1357 2017 1456 2089 1615 1678 1795 1393 1660 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// Each simdgroup: c = sum over rounds r and k of (a + r) * b, with tiles a and
// b of the k-th 64 of x; the sum of each round's first two elements is kept.
kernel void carry(device const float *x [[buffer(0)]],
                  device float *c [[buffer(1)]],
                  device float *kept [[buffer(2)]],
                  uint t [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  simdgroup_float8x8 sums[2];
  sums[0] = sums[1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (int r = 0; r < 3; r++) {
    for (int k = 0; k < 2; k++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      tile[t] = fmod(x[k * 64 + t], 7.0f) + r;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      simdgroup_float8x8 a, b;
      simdgroup_load(a, tile, 8);
      simdgroup_load(b, tile, 8, ulong2(0, 0), true);
      for (int i = 0; i < 2; i++)
        simdgroup_multiply_accumulate(sums[i], a, i ? a : b, sums[i]);
    }
    kept[(r * 2 + s) * 32 + lane] =
        sums[0].thread_elements()[0] + sums[1].thread_elements()[1];
  }
  for (int i = 0; i < 2; i++) {
    c[(s * 2 + i) * 64 + lane * 2] = sums[i].thread_elements()[0];
    c[(s * 2 + i) * 64 + lane * 2 + 1] = sums[i].thread_elements()[1];
  }
}
