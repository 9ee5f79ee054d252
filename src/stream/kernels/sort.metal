// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort.metal: sorting rows by keys of 64 bits that order as the elements do,
// and running sums. type_0 is the type of the elements.
struct sorting {
  shape rows;  // strides of in, values, indices
  long in_stride, values_stride, indices_stride;
  uint count;     // of each row
  uint capacity;  // the next power of two
  uint wanted;    // how many are written
  uint descending, has_values, has_indices;
};

static inline ulong sort_key(device const uchar *in, long from) {
  if (is_floating(type_0)) {
    const float value = load_float(type_0, in, from) + 0.0f;  // -0 is 0
    const uint bits = as_type<uint>(value);
    return isnan(value) ? ~0u : bits >> 31 ? ~bits : bits | 0x80000000u;
  }
  const ulong bits = ulong(load_long(type_0, in, from));
  return type_0 == ULONG ? bits : bits ^ (1ul << 63);
}

// x counts places, y rows. Places behind the row's end sort last.
kernel void sort_keys(device const uchar *in [[buffer(0)]],
                      device ulong *keys [[buffer(1)]],
                      device uint *places [[buffer(2)]],
                      constant sorting &p [[buffer(3)]],
                      uint2 at [[thread_position_in_grid]]) {
  ulong key = ~0ul;
  if (at.x < p.count) {
    long base[1];
    locate(p.rows, at.y, 1, base);
    key = sort_key(in, base[0] + long(at.x) * p.in_stride);
    key = p.descending ? ~key : key;
  }
  const ulong to = ulong(at.y) * p.capacity + at.x;
  keys[to] = key;
  places[to] = at.x;
}

// One threadgroup for each row: Batcher's bitonic network (1968), by key and
// then by place, which makes it stable.
kernel void sort_rows(device ulong *keys [[buffer(0)]],
                      device uint *places [[buffer(1)]],
                      constant sorting &p [[buffer(2)]],
                      uint row [[threadgroup_position_in_grid]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  keys += ulong(row) * p.capacity;
  places += ulong(row) * p.capacity;
  for (uint size = 2; size <= p.capacity; size *= 2) {
    for (uint distance = size / 2; distance > 0; distance /= 2) {
      for (uint i = thread_index; i < p.capacity / 2; i += threads) {
        const uint low = i / distance * (2 * distance) + i % distance;
        const uint high = low + distance;
        const ulong a = keys[low], b = keys[high];
        const uint from_a = places[low], from_b = places[high];
        const bool is_after = a > b || (a == b && from_a > from_b);
        if (is_after == ((low & size) == 0)) {
          keys[low] = b;
          keys[high] = a;
          places[low] = from_b;
          places[high] = from_a;
        }
      }
      threadgroup_barrier(mem_flags::mem_device);
    }
  }
}

static inline void copy_bits(device const uchar *in, long from,
                             device uchar *out, long to) {
  switch (type_0) {
    case BOOL:
    case CHAR:
    case UCHAR: out[to] = in[from]; break;
    case SHORT:
    case USHORT:
    case HALF:
    case BFLOAT: set_element(out, to, element<ushort>(in, from)); break;
    case LONG:
    case ULONG: set_element(out, to, element<ulong>(in, from)); break;
    default: set_element(out, to, element<uint>(in, from)); break;
  }
}

// x counts places that are wanted, y rows.
kernel void sort_results(device const uchar *in [[buffer(0)]],
                         device const uint *places [[buffer(1)]],
                         device uchar *values [[buffer(2)]],
                         device long *indices [[buffer(3)]],
                         constant sorting &p [[buffer(4)]],
                         uint2 at [[thread_position_in_grid]]) {
  long base[3];
  locate(p.rows, at.y, 3, base);
  const uint place = places[ulong(at.y) * p.capacity + at.x];
  if (p.has_values) {
    copy_bits(in, base[0] + long(place) * p.in_stride, values,
              base[1] + long(at.x) * p.values_stride);
  }
  if (p.has_indices) {
    indices[base[2] + long(at.x) * p.indices_stride] = long(place);
  }
}

struct running_sum {
  shape rows;  // strides of in and out
  long in_stride, out_stride;
  uint count;
};

// A thread for each row. type_1 is out's type.
kernel void running_sums(device const uchar *in [[buffer(0)]],
                         device uchar *out [[buffer(1)]],
                         constant running_sum &p [[buffer(2)]],
                         uint row [[thread_position_in_grid]]) {
  long at[2];
  locate(p.rows, row, 2, at);
  float sum = 0, correction = 0;
  long whole = 0;
  for (uint i = 0; i < p.count; ++i) {
    if (is_floating(type_0)) {
      const float value = load_float(type_0, in, at[0]);
      const float next = sum + value;
      correction += abs(sum) >= abs(value) ? (sum - next) + value
                                           : (value - next) + sum;
      sum = next;
      // Infinities need no correction.
      store(type_1, out, at[1], isfinite(sum) ? sum + correction : sum);
    } else {
      whole += load_long(type_0, in, at[0]);
      store(type_1, out, at[1], whole);
    }
    at[0] += p.in_stride;
    at[1] += p.out_stride;
  }
}
