// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copy.metal: strided copies with conversion. Threads are counted over the last
// dimension in x and over the others in y. type_0 is in's, type_1 out's.
struct copying {
  shape rows;  // strides of in and out
  long in_stride, out_stride;
};

kernel void copy(device const uchar *in [[buffer(0)]],
                 device uchar *out [[buffer(1)]],
                 constant copying &p [[buffer(2)]],
                 uint2 at [[thread_position_in_grid]]) {
  long row[2];
  locate(p.rows, at.y, 2, row);
  const long from = row[0] + long(at.x) * p.in_stride;
  const long to = row[1] + long(at.x) * p.out_stride;
  if (is_floating(type_0) || (type_0 == ULONG && is_floating(type_1))) {
    store(type_1, out, to, load_float(type_0, in, from));
  } else {
    store(type_1, out, to, load_long(type_0, in, from));
  }
}
