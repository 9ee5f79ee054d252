// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pooling.metal: means and largest elements of windows over the last two
// dimensions. type_0 and type_1 are in's and out's; option is 1 for the largest.
struct pooling {
  shape planes;  // strides of in, out, indices over the leading dimensions
  long in_strides[2], out_strides[2], indices_strides[2];
  int in_size[2], out_size[2];
  int window[2], stride[2], padding[2], dilation[2];
  uint is_adaptive, counts_padding, has_indices;
  int divisor;  // 0: the number of elements
};

// The window of output position at: first place, end and step in the input,
// and its length with padding.
struct span {
  int first, end, step, length;
};

static inline span span_of(constant pooling &p, int d, int at) {
  span s;
  if (p.is_adaptive) {
    s.first = int(long(at) * p.in_size[d] / p.out_size[d]);
    s.end = int((long(at + 1) * p.in_size[d] + p.out_size[d] - 1) /
                p.out_size[d]);
    s.step = 1;
    s.length = s.end - s.first;
    return s;
  }
  s.step = p.dilation[d];
  s.first = at * p.stride[d] - p.padding[d];
  s.end = min(s.first + (p.window[d] - 1) * s.step + 1,
              p.in_size[d] + p.padding[d]);
  s.length = s.end - s.first;
  s.end = min(s.end, p.in_size[d]);
  if (s.first < 0) {
    s.first += (-s.first + s.step - 1) / s.step * s.step;
  }
  return s;
}

// A thread for each element of out: x and y its place in a plane, z the plane.
kernel void pool_planes(device const uchar *in [[buffer(0)]],
                        device uchar *out [[buffer(1)]],
                        device uchar *indices [[buffer(2)]],
                        constant pooling &p [[buffer(3)]],
                        uint3 at [[thread_position_in_grid]]) {
  long base[3];
  locate(p.planes, at.z, 3, base);
  const span rows = span_of(p, 0, int(at.y)),
             columns = span_of(p, 1, int(at.x));
  float sum = 0, largest = -INFINITY;
  long place = long(rows.first) * p.in_size[1] + columns.first;
  int count = 0;
  for (int y = rows.first; y < rows.end; y += rows.step) {
    for (int x = columns.first; x < columns.end; x += columns.step) {
      const float value = load_float(
          type_0, in, base[0] + y * p.in_strides[0] + x * p.in_strides[1]);
      sum += value;
      count += 1;
      if (value > largest || value != value) {
        largest = value;
        place = long(y) * p.in_size[1] + x;
      }
    }
  }
  const int divisor = p.divisor != 0     ? p.divisor
                      : p.counts_padding ? rows.length * columns.length
                                         : count;
  store(type_1, out,
        base[1] + at.y * p.out_strides[0] + at.x * p.out_strides[1],
        option == 1 ? largest : sum / float(divisor));
  if (p.has_indices) {
    set_element(indices,
                base[2] + at.y * p.indices_strides[0] +
                    at.x * p.indices_strides[1],
                place);
  }
}
