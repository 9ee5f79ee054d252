// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed.metal: convolutions and matrix products whose weights are constants
// that the host has packed: blocks of 32 or 16 output channels, in each the taps
// of the window, in each the input channels. Behind them lie zeros, as many as
// there are input channels. type_0 to type_3 are the types of in, weights, bias
// and out.
constant constexpr uint IN_CHANNELS = 1;   // in's channels lie side by side
constant constexpr uint OUT_CHANNELS = 2;  // out's do
constant constexpr uint POINTWISE = 4;     // one tap, always inside
constant constexpr uint BIAS_CHANNELS = 8;  // bias's do
constant constexpr uint BIAS_ROWS = 16;     // bias changes over positions
constant constexpr uint LINES = 32;  // a line of the window is one run of in
constant constexpr uint FLAT = 64;   // pointwise, positions all a stride apart
constant constexpr uint NARROW = 128;  // blocks of 16 output channels
constant constexpr uint ROWS_SHIFT = 8;    // option's rest: positions a thread
constant constexpr uint ROWS_MAX = 8;
constant const uint WIDTH = option & NARROW ? 16 : 32;

struct packed {
  int in_size[3], out_size[3], window[3];
  int stride[3], padding[3], dilation[3];
  uint in_channels, out_channels;  // of one group
  uint groups;
  uint has_bias;
  // Batch, channel and the three dimensions.
  long in_strides[5], weight_strides[5], out_strides[5];
  long bias_stride;
  // Members that `convolution` lacks.
  long bias_row;     // over positions
  long zeros_bytes;  // where they start
  uint positions;
  float alpha, beta;
};

// The positions of a thread, and where each one's window starts.
struct rows {
  int at[3][ROWS_MAX];
  long out[ROWS_MAX];
};

static inline void find_rows(constant packed &p, uint first, uint count,
                             thread rows &it) {
  if (option & FLAT) {
    for (uint r = 0; r < count; ++r) {
      const int x = int(min(first + r, p.positions - 1));
      it.at[0][r] = 0;
      it.at[1][r] = 0;
      it.at[2][r] = x;
      it.out[r] = x * p.out_strides[4];
    }
    return;
  }
  int x = int(first % uint(p.out_size[2]));
  const uint line = first / uint(p.out_size[2]);
  int y = int(line % uint(p.out_size[1]));
  int z = int(line / uint(p.out_size[1]));
  for (uint r = 0; r < count; ++r) {
    it.at[0][r] = z * p.stride[0] - p.padding[0];
    it.at[1][r] = y * p.stride[1] - p.padding[1];
    it.at[2][r] = x * p.stride[2] - p.padding[2];
    it.out[r] =
        z * p.out_strides[2] + y * p.out_strides[3] + x * p.out_strides[4];
    // Positions beyond the last repeat the last one.
    if (first + r + 1 < p.positions) {
      const bool ends_line = x + 1 == p.out_size[2];
      const bool ends_plane = ends_line && y + 1 == p.out_size[1];
      x = ends_line ? 0 : x + 1;
      y = ends_plane ? 0 : ends_line ? y + 1 : y;
      z = ends_plane ? z + 1 : z;
    }
  }
}

static inline float load_bias(constant packed &p, device const uchar *bias,
                              long channel, uint row) {
  return load_float(type_2, bias,
                    (option & BIAS_CHANNELS ? channel
                                            : channel * p.bias_stride) +
                        (option & BIAS_ROWS ? long(row) * p.bias_row : 0));
}

// True if the window of no position reaches over the ends of a line.
static inline bool are_inside(constant packed &p, thread const rows &it,
                              uint count) {
  bool are = true;
  for (uint r = 0; r < count; ++r) {
    are = are && it.at[2][r] >= 0 &&
          it.at[2][r] + p.window[2] <= p.in_size[2];
  }
  return are;
}

// Adds the products of a run of inputs, from [count] the rows', or zeros.
static inline void add_run(constant packed &p, device const uchar *weights,
                           ulong w, thread device const uchar **from,
                           uint count, uint length, thread float *sums) {
  for (uint c = 0; c < length; ++c) {
    const long i = option & IN_CHANNELS ? long(c) : long(c) * p.in_strides[1];
    const float factor = load_float(type_1, weights, long(w));
    for (uint r = 0; r < count; ++r) {
      sums[r] = fma(load_float(type_0, from[r], i), factor, sums[r]);
    }
    w += WIDTH;
  }
}

static inline uint bytes_of(uint type) {
  return type == FLOAT ? 4 : 2;
}

// x counts output channels of a block, y positions, z blocks within groups
// within batches.
kernel void convolve_packed(device const uchar *in [[buffer(0)]],
                            device const uchar *weights [[buffer(1)]],
                            device const uchar *bias [[buffer(2)]],
                            device uchar *out [[buffer(3)]],
                            constant packed &p [[buffer(4)]],
                            uint3 at [[thread_position_in_grid]]) {
  const uint count = option >> ROWS_SHIFT;
  const uint blocks = (p.out_channels + WIDTH - 1) / WIDTH;
  const uint block = at.z % blocks;
  const uint group = at.z / blocks % p.groups;
  const long batch = at.z / blocks / p.groups;
  // A row of threads behind the last position computes it and stores nothing.
  const uint first = min(at.y * count, p.positions - 1);
  rows it;
  find_rows(p, first, count, it);
  device const uchar *base =
      in + (batch * p.in_strides[0] +
            long(group * p.in_channels) * p.in_strides[1]) *
               bytes_of(type_0);
  device const uchar *from[ROWS_MAX];
  float sums[ROWS_MAX];
  for (uint r = 0; r < count; ++r) {
    sums[r] = 0;
  }
  const uint taps = uint(p.window[0] * p.window[1] * p.window[2]);
  ulong w = ulong(group * blocks + block) * taps * p.in_channels * WIDTH + at.x;
  // Whole lines of a window, or tap by tap.
  const bool has_lines = option & LINES && are_inside(p, it, count);
  const int runs = has_lines ? 1 : p.window[2];
  const uint length =
      has_lines ? uint(p.window[2]) * p.in_channels : p.in_channels;
  for (int kz = 0; kz < p.window[0]; ++kz) {
    for (int ky = 0; ky < p.window[1]; ++ky) {
      for (int kx = 0; kx < runs; ++kx) {
        for (uint r = 0; r < count; ++r) {
          const int iz = it.at[0][r] + kz * p.dilation[0];
          const int iy = it.at[1][r] + ky * p.dilation[1];
          const int ix = it.at[2][r] + kx * p.dilation[2];
          const bool is_inside = option & POINTWISE ||
                                 (uint(iz) < uint(p.in_size[0]) &&
                                  uint(iy) < uint(p.in_size[1]) &&
                                  uint(ix) < uint(p.in_size[2]));
          from[r] = is_inside
                        ? base + (iz * p.in_strides[2] + iy * p.in_strides[3] +
                                  ix * p.in_strides[4]) *
                                     bytes_of(type_0)
                        : weights + p.zeros_bytes;
        }
        add_run(p, weights, w, from, count, length, sums);
        w += ulong(length) * WIDTH;
      }
    }
  }
  const uint own = block * WIDTH + at.x;
  if (own >= p.out_channels || at.y * count >= p.positions) {
    return;
  }
  const long channel = group * p.out_channels + own;
  const long to = batch * p.out_strides[0] +
                  (option & OUT_CHANNELS ? channel : channel * p.out_strides[1]);
  float added = 0;
  if (p.has_bias) {
    added = p.beta * load_bias(p, bias, channel, first);
  }
  for (uint r = 0; r < count; ++r) {
    if (first + r < p.positions) {
      if (option & BIAS_ROWS) {
        added = p.beta * load_bias(p, bias, channel, first + r);
      }
      store(type_3, out, to + it.out[r], fma(p.alpha, sums[r], added));
    }
  }
}
