// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indexing.metal: elements whose places are data. A thread has all elements
// that can meet in one place, and takes them in order: no atomics, the same
// result in every run.
enum combination : uint { SET, ADD, MULTIPLY, MEAN, LARGEST, LEAST };

static inline void load(uint type, device const uchar *data, long i,
                        thread float &value) {
  value = load_float(type, data, i);
}
static inline void load(uint type, device const uchar *data, long i,
                        thread long &value) {
  value = load_long(type, data, i);
}

static inline bool is_none(float value) {
  return value != value;
}
static inline bool is_none(long value) {
  return false;
}

static inline float lowest(float) {
  return -INFINITY;
}
static inline long lowest(long) {
  return -0x7fffffffffffffffL - 1;
}
static inline float highest(float) {
  return INFINITY;
}
static inline long highest(long) {
  return 0x7fffffffffffffffL;
}

template <typename V>
static inline V combine(uint how, V old, V value) {
  switch (how) {
    case ADD:
    case MEAN: return old + value;
    case MULTIPLY: return old * value;
    case LARGEST: return is_none(old) || old > value ? old : value;
    case LEAST: return is_none(old) || old < value ? old : value;
    default: return value;
  }
}

template <typename V>
static inline V neutral(uint how) {
  return how == MULTIPLY ? V(1)
         : how == LARGEST ? lowest(V(0))
         : how == LEAST   ? highest(V(0))
                          : V(0);
}

struct scatter {
  shape rows;  // strides of index, source, out over all dimensions but one
  long index_step, source_step, out_step;
  uint count, size;  // along that dimension, of index and of out
  uint includes_self, has_source;
  long whole;  // the value without a source
  float value;
};

// Returns the place that element i of a row of index refers to, -1 if none.
static inline long place_of(device const uchar *index, long at, uint size) {
  long place = load_long(type_0, index, at);
  place += place < 0 ? long(size) : 0;
  return place < long(size) ? max(place, -1L) : -1;
}

template <typename V>
static inline void scatter_row(constant scatter &p, device const uchar *index,
                               device const uchar *source, device uchar *out,
                               device int *counts, thread const long *base,
                               V constant_value) {
  for (uint i = 0; option == MEAN && i < p.size; ++i) {
    counts[i] = p.includes_self ? 1 : 0;
  }
  for (uint i = 0; !p.includes_self && option != SET && i < p.count; ++i) {
    const long place = place_of(index, base[0] + i * p.index_step, p.size);
    if (place >= 0) {
      store(type_2, out, base[2] + place * p.out_step, neutral<V>(option));
    }
  }
  for (uint i = 0; i < p.count; ++i) {
    const long place = place_of(index, base[0] + i * p.index_step, p.size);
    if (place < 0) {
      continue;
    }
    V old = 0, value = constant_value;
    load(type_2, out, base[2] + place * p.out_step, old);
    if (p.has_source) {
      load(type_1, source, base[1] + i * p.source_step, value);
    }
    store(type_2, out, base[2] + place * p.out_step,
          combine(option, old, value));
    if (option == MEAN) {
      counts[place] += 1;
    }
  }
  for (uint i = 0; option == MEAN && i < p.size; ++i) {
    if (counts[i] > 1) {
      V sum = 0;
      load(type_2, out, base[2] + i * p.out_step, sum);
      V mean = sum / V(counts[i]);
      // Whole numbers are rounded down, as PyTorch does.
      mean -= V(mean * V(counts[i]) > sum && !is_floating(type_2) ? 1 : 0);
      store(type_2, out, base[2] + i * p.out_step, mean);
    }
  }
}

// A thread a row. type_0 to type_2 are index's, source's and out's; option is
// the combination.
kernel void scatter_rows(device const uchar *index [[buffer(0)]],
                         device const uchar *source [[buffer(1)]],
                         device uchar *out [[buffer(2)]],
                         device int *counts [[buffer(3)]],
                         constant scatter &p [[buffer(4)]],
                         uint row [[thread_position_in_grid]]) {
  long base[3];
  locate(p.rows, row, 3, base);
  counts += ulong(row) * p.size;
  if (is_floating(type_2)) {
    scatter_row(p, index, source, out, counts, base, p.value);
  } else {
    scatter_row(p, index, source, out, counts, base, p.whole);
  }
}

struct index_put {
  shape rest;       // strides of out over the dimensions without an index
  long strides[4];  // strides of out over the indexed dimensions
  int sizes[4];
  uint indices, count, rest_count;
};

template <typename V>
static inline void put(constant index_put &p, device const long *const *index,
                       device const uchar *values, device uchar *out,
                       uint rest, long base, V value) {
  for (uint i = 0; i < p.count; ++i) {
    long to = base;
    bool is_there = true;
    for (uint d = 0; d < p.indices; ++d) {
      long place = index[d][i];
      place += place < 0 ? long(p.sizes[d]) : 0;
      is_there = is_there && place >= 0 && place < long(p.sizes[d]);
      to += place * p.strides[d];
    }
    if (is_there) {
      load(type_0, values, long(i) * p.rest_count + rest, value);
      V old = 0;
      if (option == ADD) {
        load(type_1, out, to, old);
      }
      store(type_1, out, to, old + value);
    }
  }
}

// A thread for each element of the dimensions without an index. type_0 and
// type_1 are values' and out's.
kernel void put_indexed(device const long *first [[buffer(0)]],
                        device const long *second [[buffer(1)]],
                        device const long *third [[buffer(2)]],
                        device const long *fourth [[buffer(3)]],
                        device const uchar *values [[buffer(4)]],
                        device uchar *out [[buffer(5)]],
                        constant index_put &p [[buffer(6)]],
                        uint rest [[thread_position_in_grid]]) {
  long base[1];
  locate(p.rest, rest, 1, base);
  device const long *index[4] = {first, second, third, fourth};
  if (is_floating(type_1)) {
    put(p, index, values, out, rest, base[0], 0.0f);
  } else {
    put(p, index, values, out, rest, base[0], 0L);
  }
}

struct scan {
  shape rows;  // strides of in, out, indices
  long in_step, out_step, indices_step;
  uint count;
};

template <typename V>
static inline void scan_row(constant scan &p, device const uchar *in,
                            device uchar *out, device uchar *indices,
                            thread const long *base, V value) {
  V best = 0;
  long place = 0;
  for (uint i = 0; i < p.count; ++i) {
    load(type_0, in, base[0] + i * p.in_step, value);
    if (option == MULTIPLY) {
      best = i == 0 ? value : best * value;
    } else if (i == 0 || is_none(value) ||
               (option == LARGEST ? value >= best : value <= best)) {
      // Of equal elements the last wins; a NaN stays.
      const bool stays = i > 0 && is_none(best) && !is_none(value);
      best = stays ? best : value;
      place = stays ? place : long(i);
    }
    store(type_1, out, base[1] + i * p.out_step, best);
    if (option != MULTIPLY) {
      set_element(indices, base[2] + i * p.indices_step, place);
    }
  }
}

// A thread a row: products, largest and least so far. type_0 and type_1 are
// in's and out's.
kernel void scan_rows(device const uchar *in [[buffer(0)]],
                      device uchar *out [[buffer(1)]],
                      device uchar *indices [[buffer(2)]],
                      constant scan &p [[buffer(3)]],
                      uint row [[thread_position_in_grid]]) {
  long base[3];
  locate(p.rows, row, 3, base);
  if (is_floating(type_0)) {
    scan_row(p, in, out, indices, base, 0.0f);
  } else {
    scan_row(p, in, out, indices, base, 0L);
  }
}
