// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run: gathered --grid 96 --group 32 0=u32:768,14,313,933,871,85,843,844,453,367,980,951,677,399,210,936,268,556,674,240,315,741,197,674,944,684,646,463,967,221,355,640,654,107,162,692,840,635,933,376,329,798,41,194,192,390,156,797,846,380,29,713,107,612,171,941,677,991,616,723,375,808,112,152,360,712,485,847,941,401,423,553,645,479,602,958,734,317,425,402,150,0,791,420,351,631,564,934,615,923,578,327,322,988,586,187,830,823,11,157 1=u32:67,80,2,80,46,51,63,28,97,5,27,38,57,40,13,4,0,4,14,99,19,65,75,23,28,43,26,97,17,89,79,84,11,39,62,49,66,67,66,6,95,55,90,27,36,87,18,6,37,67,12,87,34,22,54,89,88,87,30,1,77,70,77,0,3,50,33,43,93,20,52,32,29,80,15,31,11,14,28,69,57,44,16,79,79,23,5,31,14,79,51,50,29,50,96,23 2=zeros:u32:96
// expect: 2: 847 150 313 150 156 713 152 967 823 85 463 933 991 329 399 871 768 871 210 157 240 712 958 674 967 194 646 823 556 923 402 351 951 376 112 380 485 847 485 843 187 941 578 463 840 934 674 843 635 847 677 934 162 197 171 923 615 934 355 14 317 423 317 768 933 29 107 194 988 315 107 654 221 150 936 640 951 210 967 401 991 192 268 402 402 674 85 640 210 402 713 29 221 29 830 674
// checked: order
// run: scattered --grid 32 --group 32 0=zeros:u32:20 1=u32:13,8,6,1,3,17,16,16,11,2,6,10,19,5,10,9,10,11,14,2,19,17,15,5,8,8,6,1,14,0,15,3
// expect: 0: 30 28 20 32 0 24 27 0 26 16 17 18 0 1 29 31 8 22 0 21
// not on cuda: several threads store to one place
// run: neighbours --grid 96 --group 32 0=u32:1,4,7,10,13,16,19,22,25,28,31,34,37,40,43,46,49,52,55,58,61,64,67,70,73,76,79,82,85,88,91,94,97,100,103,106,109,112,115,118,121,124,127,130,133,136,139,142,145,148,151,154,157,160,163,166,169,172,175,178,181,184,187,190,193,196,199,202,205,208 1=zeros:u32:96 2=u32:70
// expect: 1: 1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 49 52 55 58 61 64 67 70 73 76 79 82 85 88 91 94 97 100 103 106 109 112 115 118 121 124 127 130 133 136 139 142 145 148 151 154 157 160 163 166 169 172 175 178 181 184 187 190 193 196 199 202 205 208 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// expect: 0: 1 5 9 13 17 21 25 29 33 37 41 45 49 53 57 61 65 69 73 77 81 85 89 93 97 101 105 109 113 117 121 125 129 133 137 141 145 149 153 157 161 165 169 173 177 181 185 189 193 197 201 205 209 213 217 221 225 229 233 237 241 245 249 253 257 261 265 269 273 277
// run: bytes --grid 64 --group 64 0=u8:1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1,0,0,1 1=zeros:u32:64
// expect: 1: 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5 9 9 5
// run: one_for_all --grid 64 --group 64 0=u32:2309737967 1=zeros:u32:64
// expect: 1: 2309737967 2309737968 2309737969 2309737970 2309737971 2309737972 2309737973 2309737974 2309737975 2309737976 2309737977 2309737978 2309737979 2309737980 2309737981 2309737982 2309737983 2309737984 2309737985 2309737986 2309737987 2309737988 2309737989 2309737990 2309737991 2309737992 2309737993 2309737994 2309737995 2309737996 2309737997 2309737998 2309737999 2309738000 2309738001 2309738002 2309738003 2309738004 2309738005 2309738006 2309738007 2309738008 2309738009 2309738010 2309738011 2309738012 2309738013 2309738014 2309738015 2309738016 2309738017 2309738018 2309738019 2309738020 2309738021 2309738022 2309738023 2309738024 2309738025 2309738026 2309738027 2309738028 2309738029 2309738030
// run: waits_for_one --grid 128 --group 64 0=zeros:u32:2 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7 7
// schedule: forward
// run: waits_for_its_own --grid 128 --group 64 0=zeros:u32:64 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163
// schedule: forward
// report: 0 instructions lane by lane
// Relaxed loads and stores are those of vectors, done where they stand: one
// address for all, neighbours, any places, the last thread's value where
// several store to one; a loop that waits for what another threadgroup stores
// loads it each time.
#include <metal_stdlib>
using namespace metal;

kernel void gathered(device const atomic_uint *from [[buffer(0)]],
                     device const uint *at [[buffer(1)]],
                     device uint *out [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
  out[i] = atomic_load_explicit(from + at[i], memory_order_relaxed);
}

kernel void scattered(device atomic_uint *to [[buffer(0)]],
                      device const uint *at [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  atomic_store_explicit(to + at[i], i + 1, memory_order_relaxed);
}

kernel void neighbours(device atomic_uint *x [[buffer(0)]],
                       device uint *out [[buffer(1)]],
                       constant uint &n [[buffer(2)]],
                       uint i [[thread_position_in_grid]]) {
  if (i < n) {
    out[i] = atomic_load_explicit(x + i, memory_order_relaxed);
    atomic_store_explicit(x + i, out[i] + i, memory_order_relaxed);
  }
}

kernel void bytes(device const atomic_bool *x [[buffer(0)]],
                  device uint *out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = atomic_load_explicit(x + i, memory_order_relaxed) ? 5 : 9;
}

kernel void one_for_all(device const atomic_uint *x [[buffer(0)]],
                        device uint *out [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  out[i] = atomic_load_explicit(x, memory_order_relaxed) + i;
}

kernel void waits_for_one(device atomic_uint *x [[buffer(0)]],
                          device uint *out [[buffer(1)]],
                          uint i [[thread_position_in_grid]],
                          uint group [[threadgroup_position_in_grid]]) {
  if (group == 0) {
    atomic_store_explicit(x + 1, 7u, memory_order_relaxed);
    return;
  }
  uint value;
  while ((value = atomic_load_explicit(x + 1, memory_order_relaxed)) == 0) {
  }
  out[i] = value;
}

kernel void waits_for_its_own(device atomic_uint *x [[buffer(0)]],
                              device uint *out [[buffer(1)]],
                              uint i [[thread_position_in_grid]],
                              uint t [[thread_position_in_threadgroup]],
                              uint group [[threadgroup_position_in_grid]]) {
  if (group == 0) {
    atomic_store_explicit(x + t, 100 + t, memory_order_relaxed);
    return;
  }
  uint value;
  while ((value = atomic_load_explicit(x + t, memory_order_relaxed)) == 0) {
  }
  out[i] = value;
}
