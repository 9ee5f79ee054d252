// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadgroups that walk through rows of any length, their simdgroups in turn.
// run: sums --grid 288 --group 96 0=iota:f32:3000 1=zeros:f32:3 2=u32:1000
// expect: 1: 998667 2997667 4996667
// run: sums --grid 128 --group 64 0=iota:f32:256 1=zeros:f32:2 2=u32:128
// expect: 1: 16150 48662
// run: sums --grid 512 --group 256 0=iota:f32:4120 1=zeros:f32:2 2=u32:2060
// expect: 1: 4233700 12704420
// run: sums --grid 64 --group 32 0=iota:f32:66 1=zeros:f32:2 2=u32:33
// expect: 1: 1014 3126
// run: turns --grid 192 --group 96 0=iota:f32:4000 1=zeros:f32:192 2=i32:500
// expect: 1: 10752 10740 10728 10716 10704 10692 10680 10668 10656 10644 10632 10620 10608 10596 10584 10572 10560 10548 10536 10524 10512 10500 10488 10476 10464 10452 10440 10428 10416 10404 10392 10380 10368 10356 10344 10332 10320 10308 10296 10284 10272 10260 10248 10236 10224 10212 10200 10188 10176 10164 10152 10140 10128 10116 10104 10092 10080 10068 10056 10044 10032 10020 10008 9996 9984 9972 9960 9948 9936 9924 9912 9900 9888 9876 9864 9852 11992 11980 11968 11956 11944 11932 11920 11908 11896 11884 11872 11860 11848 11836 11824 11812 11800 11788 11776 11764 16752 16740 16728 16716 16704 16692 16680 16668 16656 16644 16632 16620 16608 16596 16584 16572 16560 16548 16536 16524 16512 16500 16488 16476 16464 16452 16440 16428 16416 16404 16392 16380 16368 16356 16344 16332 16320 16308 16296 16284 16272 16260 16248 16236 16224 16212 16200 16188 16176 16164 16152 16140 16128 16116 16104 16092 16080 16068 16056 16044 16032 16020 16008 15996 15984 15972 15960 15948 15936 15924 15912 15900 15888 15876 15864 15852 17992 17980 17968 17956 17944 17932 17920 17908 17896 17884 17872 17860 17848 17836 17824 17812 17800 17788 17776 17764
// run: turns --grid 128 --group 64 0=iota:f32:560 1=zeros:f32:128 2=i32:70
// expect: 1: 1760 1748 1736 1724 1712 1700 1688 1676 1664 1652 1640 1628 1616 1604 1592 1580 1568 1556 1544 1532 1520 1508 1496 1484 1472 1460 1448 1436 1424 1412 1400 1388 1376 1364 1352 1340 1328 1316 1304 1292 1280 1268 1256 1244 1232 1220 1208 1196 1184 1172 1160 1148 1136 1124 1112 1100 1088 1076 2832 2820 2808 2796 2784 2772 2600 2588 2576 2564 2552 2540 2528 2516 2504 2492 2480 2468 2456 2444 2432 2420 2408 2396 2384 2372 2360 2348 2336 2324 2312 2300 2288 2276 2264 2252 2240 2228 2216 2204 2192 2180 2168 2156 2144 2132 2120 2108 2096 2084 2072 2060 2048 2036 2024 2012 2000 1988 1976 1964 1952 1940 1928 1916 3672 3660 3648 3636 3624 3612
// run: together --grid 128 --group 64 0=iota:f32:2000 1=zeros:f32:128 2=u32:1000
// expect: 1: 7696 7680 7728 7712 7760 7744 7792 7776 7824 7808 7856 7840 7888 7872 7920 7904 7952 7936 7984 7968 8016 8000 8048 8032 8080 8064 8112 8096 8144 8128 8176 8160 8208 8192 8240 8224 8272 8256 8304 8288 7335 7320 7365 7350 7395 7380 7425 7410 7455 7440 7485 7470 7515 7500 7545 7530 7575 7560 7605 7590 7635 7620 7665 7650 23696 23680 23728 23712 23760 23744 23792 23776 23824 23808 23856 23840 23888 23872 23920 23904 23952 23936 23984 23968 24016 24000 24048 24032 24080 24064 24112 24096 24144 24128 24176 24160 24208 24192 24240 24224 24272 24256 24304 24288 22335 22320 22365 22350 22395 22380 22425 22410 22455 22440 22485 22470 22515 22500 22545 22530 22575 22560 22605 22590 22635 22620 22665 22650
// run: known --grid 128 --group 64 0=iota:f32:2200 1=zeros:f32:128
// expect: 1: 19424 19392 19360 19328 19296 19264 19232 19200 19168 19136 19104 19072 19040 19008 18976 18944 18912 18880 18848 18816 18784 18752 18720 18688 18656 18624 18592 18560 18528 18496 18464 18432 18400 18368 18336 18304 18272 18240 18208 18176 18144 18112 18080 18048 18016 17984 17952 17920 17888 17856 17824 17792 19958 19924 19890 19856 19822 19788 19754 19720 19686 19652 19618 19584 54624 54592 54560 54528 54496 54464 54432 54400 54368 54336 54304 54272 54240 54208 54176 54144 54112 54080 54048 54016 53984 53952 53920 53888 53856 53824 53792 53760 53728 53696 53664 53632 53600 53568 53536 53504 53472 53440 53408 53376 53344 53312 53280 53248 53216 53184 53152 53120 53088 53056 53024 52992 57358 57324 57290 57256 57222 57188 57154 57120 57086 57052 57018 56984
// run: wrapped --grid 128 --group 64 0=iota:f32:1000 1=zeros:f32:128 2=u32:500
// expect: 1: 1764 1757 1750 1743 1736 1729 1722 1715 1708 2200 2192 2184 2176 2168 2160 2152 2144 2136 2128 2120 2112 2104 2096 2088 2080 2072 2064 2056 2048 2040 2032 2024 2016 2008 2000 1992 1984 1976 1968 1960 1952 1944 1936 1928 1920 1912 1904 1896 1888 1880 1872 1864 1856 1848 1840 1832 1824 1816 1808 1800 1792 0 0 0 5264 5257 5250 5243 5236 5229 5222 5215 5208 6200 6192 6184 6176 6168 6160 6152 6144 6136 6128 6120 6112 6104 6096 6088 6080 6072 6064 6056 6048 6040 6032 6024 6016 6008 6000 5992 5984 5976 5968 5960 5952 5944 5936 5928 5920 5912 5904 5896 5888 5880 5872 5864 5856 5848 5840 5832 5824 5816 5808 5800 5792 0 0 0
#include <metal_stdlib>
using namespace metal;

// Threadgroups walk through rows; threads take different numbers of iterations.
kernel void sums(device const float *x [[buffer(0)]],
                 device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
                 uint g [[threadgroup_position_in_grid]],
                 uint l [[thread_index_in_threadgroup]],
                 uint size [[threads_per_threadgroup]]) {
  threadgroup float shared[1024];
  float sum = 0;
  for (uint i = l; i < n; i += size) sum += x[g * n + i];
  shared[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) {
    sum = 0;
    for (uint k = 0; k < size; k++) sum += shared[k] * (k % 3 + 1);
    out[g] = sum;
  }
}

// The number of iterations of each thread and the last element, used behind the
// loop.
kernel void turns(device const float4 *x [[buffer(0)]],
                  device float *out [[buffer(1)]], constant int &n [[buffer(2)]],
                  uint g [[threadgroup_position_in_grid]],
                  ushort l [[thread_index_in_threadgroup]],
                  ushort size [[threads_per_threadgroup]]) {
  threadgroup float shared[1024];
  int count = 0;
  float most = -1;
  for (int i = l; i < n; i += size) {
    most = max(most, dot(x[int(g) * n + i], float4(1, 0, 2, 0)));
    count++;
  }
  shared[l] = most + 1000 * count;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * size + l] = shared[size - 1 - l];
}

// A counter that all have in common, and one that is known.
kernel void together(device const float *x [[buffer(0)]],
                     device float *out [[buffer(1)]],
                     constant uint &n [[buffer(2)]],
                     uint g [[threadgroup_position_in_grid]],
                     uint l [[thread_index_in_threadgroup]],
                     uint size [[threads_per_threadgroup]]) {
  threadgroup float shared[1024];
  float sum = 0;
  for (uint r = 0; r < n; r += size)
    if (r + l < n) sum += x[g * n + r + l];
  shared[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * size + l] = shared[l ^ 1];
}

kernel void known(device const float *x [[buffer(0)]],
                  device float *out [[buffer(1)]],
                  uint g [[threadgroup_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]]) {
  threadgroup float shared[64];
  float sum = 0;
  for (uint i = l + 64; i < 1100; i += 64) sum += x[g * 1100 + i] * 2;
  shared[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * 64 + l] = shared[63 - l];
}

// The first thread begins last: its index wraps around.
kernel void wrapped(device const float *x [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    constant uint &n [[buffer(2)]],
                    uint g [[threadgroup_position_in_grid]],
                    uint l [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
  threadgroup float shared[1024];
  float sum = 0;
  for (uint i = l - 3; i < n; i += size) sum += x[g * n + i];
  shared[l] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[g * size + l] = shared[size - 1 - l];
}
