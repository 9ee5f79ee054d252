// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convolution.metal: convolutions of one to three dimensions, as three. type_0
// to type_3 are the types of in, weight, bias and out; bits of option say what
// is known of the strides, so that neighbours are read as such.
constant constexpr uint TRANSPOSED = 1;
constant constexpr uint OUT_CHANNELS = 2;  // out's channels lie side by side
constant constexpr uint IN_LINES = 4;     // in's lines lie in one piece
constant constexpr uint OUT_LINES = 8;    // out's do

struct convolution {
  int in_size[3], out_size[3], window[3];
  int stride[3], padding[3], dilation[3];
  uint in_channels, out_channels;  // of one group
  uint groups;
  uint has_bias;
  // Batch, channel and the three dimensions; weight: its first two, as stored.
  long in_strides[5], weight_strides[5], out_strides[5];
  long bias_stride;
};

constant constexpr uint CHANNELS = 8;  // output channels for each thread

// Where tap of the window meets the input for output position at; -1 if
// outside.
static inline int input_at(constant convolution &p, int d, int at, int tap) {
  if (option & TRANSPOSED) {
    const int from = at + p.padding[d] - tap * p.dilation[d];
    if (from < 0 || from % p.stride[d] != 0) {
      return -1;
    }
    const int i = from / p.stride[d];
    return i < p.in_size[d] ? i : -1;
  }
  const int i = at * p.stride[d] - p.padding[d] + tap * p.dilation[d];
  return i < p.in_size[d] ? max(i, -1) : -1;
}

// The strides of weight over input and output channels.
static inline long2 weight_channels(constant convolution &p) {
  return option & TRANSPOSED ? long2(p.weight_strides[0], p.weight_strides[1])
                     : long2(p.weight_strides[1], p.weight_strides[0]);
}

// Adds the products of one tap of the window to all output channels of a
// thread.
static inline void add_tap(constant convolution &p, device const uchar *in,
                           device const uchar *weight, long from, long w,
                           long2 w_strides, uint count, thread float *sums) {
  for (uint c = 0; c < p.in_channels; ++c) {
    const float value = load_float(type_0, in, from);
    for (uint o = 0; o < CHANNELS; ++o) {
      const long last = long(min(o, count - 1));
      sums[o] = fma(value, load_float(type_1, weight, w + last * w_strides.y),
                    sums[o]);
    }
    from += p.in_strides[1];
    w += w_strides.x;
  }
}

// x counts the last dimension, y the other two, z output channels by eights
// within groups within batches.
kernel void convolve(device const uchar *in [[buffer(0)]],
                     device const uchar *weight [[buffer(1)]],
                     device const uchar *bias [[buffer(2)]],
                     device uchar *out [[buffer(3)]],
                     constant convolution &p [[buffer(4)]],
                     uint3 at [[thread_position_in_grid]]) {
  const uint blocks = (p.out_channels + CHANNELS - 1) / CHANNELS;
  const uint first = at.z % blocks * CHANNELS;
  const uint group = at.z / blocks % p.groups;
  const long batch = at.z / blocks / p.groups;
  const uint count = min(CHANNELS, p.out_channels - first);
  const int x = int(at.x), y = int(at.y) % p.out_size[1],
            z = int(at.y) / p.out_size[1];
  const long2 w_strides = weight_channels(p);
  const long in_base = batch * p.in_strides[0] +
                       long(group * p.in_channels) * p.in_strides[1];
  // A group's weights start at its output channels, or, transposed, at its
  // input channels.
  const long w_base =
      (option & TRANSPOSED ? long(group * p.in_channels) * w_strides.x
                   : long(group * p.out_channels) * w_strides.y) +
      long(first) * w_strides.y;
  float sums[CHANNELS];
  for (uint o = 0; o < CHANNELS; ++o) {
    sums[o] = 0;
  }
  for (int kz = 0; kz < p.window[0]; ++kz) {
    const int iz = input_at(p, 0, z, kz);
    if (iz < 0) {
      continue;
    }
    for (int ky = 0; ky < p.window[1]; ++ky) {
      const int iy = input_at(p, 1, y, ky);
      if (iy < 0) {
        continue;
      }
      for (int kx = 0; kx < p.window[2]; ++kx) {
        const int ix = input_at(p, 2, x, kx);
        if (ix < 0) {
          continue;
        }
        add_tap(p, in, weight,
                in_base + iz * p.in_strides[2] + iy * p.in_strides[3] +
                    (option & IN_LINES ? long(ix) : ix * p.in_strides[4]),
                w_base + kz * p.weight_strides[2] + ky * p.weight_strides[3] +
                    kx * p.weight_strides[4],
                w_strides, count, sums);
      }
    }
  }
  const uint channel = group * p.out_channels + first;
  long to = batch * p.out_strides[0] + long(channel) * p.out_strides[1] +
            z * p.out_strides[2] + y * p.out_strides[3] +
            (option & OUT_LINES ? long(x) : x * p.out_strides[4]);
  for (uint o = 0; o < count; ++o, to += p.out_strides[1]) {
    const float start =
        p.has_bias ? load_float(type_2, bias, long(channel + o) * p.bias_stride)
                   : 0.0f;
    store(type_3, out, to, start + sums[o]);
  }
}

// One input and one output channel in each group: a thread for each element of
// the output.
kernel void convolve_depthwise(device const uchar *in [[buffer(0)]],
                               device const uchar *weight [[buffer(1)]],
                               device const uchar *bias [[buffer(2)]],
                               device uchar *out [[buffer(3)]],
                               constant convolution &p [[buffer(4)]],
                               uint3 at [[thread_position_in_grid]]) {
  const uint channel = at.z % p.groups;
  const long batch = at.z / p.groups;
  const int x = int(at.x), y = int(at.y) % p.out_size[1],
            z = int(at.y) / p.out_size[1];
  const long in_base =
      batch * p.in_strides[0] + long(channel) * p.in_strides[1];
  const long w_base = long(channel) * p.weight_strides[0];
  float sum = 0;
  for (int kz = 0; kz < p.window[0]; ++kz) {
    const int iz = z * p.stride[0] - p.padding[0] + kz * p.dilation[0];
    for (int ky = 0; ky < p.window[1]; ++ky) {
      const int iy = y * p.stride[1] - p.padding[1] + ky * p.dilation[1];
      if (uint(iz) >= uint(p.in_size[0]) || uint(iy) >= uint(p.in_size[1])) {
        continue;
      }
      const long row = in_base + iz * p.in_strides[2] + iy * p.in_strides[3];
      const long w_row = w_base + kz * p.weight_strides[2] +
                         ky * p.weight_strides[3];
      for (int kx = 0; kx < p.window[2]; ++kx) {
        const int ix = x * p.stride[2] - p.padding[2] + kx * p.dilation[2];
        if (uint(ix) < uint(p.in_size[2])) {
          sum = fma(load_float(type_0, in,
                               row + (option & IN_LINES
                                          ? long(ix)
                                          : ix * p.in_strides[4])),
                    load_float(type_1, weight,
                               w_row + kx * p.weight_strides[4]),
                    sum);
        }
      }
    }
  }
  const float start =
      p.has_bias ? load_float(type_2, bias, long(channel) * p.bias_stride)
                 : 0.0f;
  store(type_3, out,
        batch * p.out_strides[0] + long(channel) * p.out_strides[1] +
            z * p.out_strides[2] + y * p.out_strides[3] +
            (option & OUT_LINES ? long(x) : x * p.out_strides[4]),
        start + sum);
}

constant constexpr int POSITIONS = 8;  // positions of a line for each thread

// Adds the products of one line of the window to a thread's outputs, of which
// the first meets the input at ix.
static inline void add_line(constant convolution &p, device const uchar *in,
                            device const float *weight, long row, int ix,
                            bool is_inside, thread float *sums) {
  const long step = long(p.stride[2]) * p.in_strides[4];
  for (int kx = 0; kx < p.window[2]; ++kx) {
    const float w = weight[long(kx) * p.groups];
    long from = row + ix * p.in_strides[4];
    for (int j = 0; j < POSITIONS; ++j, from += step) {
      if (is_inside || uint(ix + j * p.stride[2]) < uint(p.in_size[2])) {
        sums[j] = fma(load_float(type_0, in, from), w, sums[j]);
      }
    }
    ix += p.dilation[2];
  }
}

// The same where channels lie side by side: they lie along the lanes, and a
// thread takes several positions of a line. weight is float, [taps, groups].
kernel void convolve_depthwise_channels(
    device const uchar *in [[buffer(0)]],
    device const float *weight [[buffer(1)]],
    device const uchar *bias [[buffer(2)]], device uchar *out [[buffer(3)]],
    constant convolution &p [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
  const int parts = (p.out_size[2] + POSITIONS - 1) / POSITIONS;
  const int x = int(at.y) % parts * POSITIONS;
  const int line = int(at.y) / parts;
  const int y = line % p.out_size[1], z = line / p.out_size[1];
  const long channel = at.x, batch = at.z;
  const int count = min(POSITIONS, p.out_size[2] - x);
  const int ix = x * p.stride[2] - p.padding[2];
  const int end = ix + (POSITIONS - 1) * p.stride[2] +
                  (p.window[2] - 1) * p.dilation[2];
  const bool is_inside = ix >= 0 && end < p.in_size[2];
  const long base = batch * p.in_strides[0] + channel;
  float sums[POSITIONS];
  for (int j = 0; j < POSITIONS; ++j) {
    sums[j] = 0;
  }
  device const float *w = weight + channel;
  for (int kz = 0; kz < p.window[0]; ++kz) {
    const int iz = z * p.stride[0] - p.padding[0] + kz * p.dilation[0];
    for (int ky = 0; ky < p.window[1]; ++ky) {
      const int iy = y * p.stride[1] - p.padding[1] + ky * p.dilation[1];
      if (uint(iz) < uint(p.in_size[0]) && uint(iy) < uint(p.in_size[1])) {
        const long row = base + iz * p.in_strides[2] + iy * p.in_strides[3];
        if (is_inside) {
          add_line(p, in, w, row, ix, true, sums);
        } else {
          add_line(p, in, w, row, ix, false, sums);
        }
      }
      w += long(p.window[2]) * p.groups;
    }
  }
  const float start =
      p.has_bias ? load_float(type_2, bias, channel * p.bias_stride) : 0.0f;
  long to = batch * p.out_strides[0] +
            (option & OUT_CHANNELS ? channel : channel * p.out_strides[1]) +
            z * p.out_strides[2] + y * p.out_strides[3] + x * p.out_strides[4];
  const long step = option & OUT_LINES ? 1 : p.out_strides[4];
  if (count == POSITIONS) {
    for (int j = 0; j < POSITIONS; ++j) {
      store(type_3, out, to + j * step, start + sums[j]);
    }
    return;
  }
  for (int j = 0; j < POSITIONS; ++j) {
    if (j < count) {
      store(type_3, out, to + j * step, start + sums[j]);
    }
  }
}

// Gathers the input under the window as a matrix: a row for each channel and
// tap, a column for each of `count` output positions from `first` on, in float.
struct columns {
  convolution shape;
  uint first, count;
  uint by_taps;  // rows: the channels of each tap, not the taps of each channel
};

kernel void gather_columns(device const uchar *in [[buffer(0)]],
                           device float *out [[buffer(1)]],
                           constant columns &p [[buffer(2)]],
                           uint3 at [[thread_position_in_grid]]) {
  constant convolution &s = p.shape;
  const uint position = p.first + at.x;
  const uint line = position / uint(s.out_size[2]);
  const int x = int(position % uint(s.out_size[2]));
  const int y = int(line % uint(s.out_size[1]));
  const int z = int(line / uint(s.out_size[1]));
  const uint taps = uint(s.window[0] * s.window[1] * s.window[2]);
  const uint depth = taps * s.in_channels;
  const uint step = p.by_taps ? s.in_channels : 1;
  uint row = at.z * depth + (p.by_taps ? at.y : at.y * taps);
  const long from = long(at.z) * s.in_strides[0] + long(at.y) * s.in_strides[1];
  for (int kz = 0; kz < s.window[0]; ++kz) {
    const int iz = z * s.stride[0] - s.padding[0] + kz * s.dilation[0];
    for (int ky = 0; ky < s.window[1]; ++ky) {
      const int iy = y * s.stride[1] - s.padding[1] + ky * s.dilation[1];
      const bool is_inside =
          uint(iz) < uint(s.in_size[0]) && uint(iy) < uint(s.in_size[1]);
      const long start = from + iz * s.in_strides[2] + iy * s.in_strides[3];
      for (int kx = 0; kx < s.window[2]; ++kx) {
        const int ix = x * s.stride[2] - s.padding[2] + kx * s.dilation[2];
        float value = 0;
        if (is_inside && uint(ix) < uint(s.in_size[2])) {
          value = load_float(type_0, in,
                             start + (option & IN_LINES ? long(ix)
                                                : ix * s.in_strides[4]));
        }
        out[ulong(row) * p.count + at.x] = value;
        row += step;
      }
    }
  }
}
