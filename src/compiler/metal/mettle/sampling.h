// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sampling.h: samples textures: samplers, filters and address modes.
//
// A sampler is a word of bits (src/code/texture_abi.h): one declared constexpr
// is a constant, and every question about it is answered by the compiler.
#ifndef METTLE_SAMPLING_H
#define METTLE_SAMPLING_H

#include <metal_math>
#include <mettle/texel.h>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace metal {

enum class coord { normalized, pixel };
// The values of mtl_address_mode.
enum class address {
  clamp_to_edge = 0,
  repeat = 2,
  mirrored_repeat = 3,
  clamp_to_zero = 4,
  clamp_to_border = 5,
};
enum class s_address {
  clamp_to_edge = 0,
  repeat = 2,
  mirrored_repeat = 3,
  clamp_to_zero = 4,
  clamp_to_border = 5,
};
enum class t_address {
  clamp_to_edge = 0,
  repeat = 2,
  mirrored_repeat = 3,
  clamp_to_zero = 4,
  clamp_to_border = 5,
};
enum class r_address {
  clamp_to_edge = 0,
  repeat = 2,
  mirrored_repeat = 3,
  clamp_to_zero = 4,
  clamp_to_border = 5,
};
enum class filter { nearest, linear };
enum class mag_filter { nearest, linear };
enum class min_filter { nearest, linear };
enum class mip_filter { none, nearest, linear };
enum class compare_func {
  never,
  less,
  equal,
  less_equal,
  greater,
  not_equal,
  greater_equal,
  always,
  none = never,
};
enum class border_color { transparent_black, opaque_black, opaque_white };

struct max_anisotropy {
  int value;
  constexpr explicit max_anisotropy(int v) : value(v) {}
};
struct lod_clamp {
  float low, high;
  constexpr lod_clamp(float a, float b) : low(a), high(b) {}
};

}  // namespace metal

namespace __mettle {

// Where the fields of a sampler begin.
enum sampler_field : uint {
  sampler_pixel = 0,
  sampler_s = 1,
  sampler_t = 4,
  sampler_r = 7,
  sampler_mag = 10,
  sampler_min = 11,
  sampler_mip = 12,
  sampler_compare = 14,
  sampler_border = 17,
  sampler_anisotropy = 19,
  sampler_lod_min = 24,
  sampler_lod_max = 40,
  sampler_set = 63,
};

METTLE_INLINE constexpr ulong with_field(ulong bits, uint field, uint width,
                                         ulong value) {
  ulong mask = ((1ul << width) - 1) << field;
  return (bits & ~mask) | (value << field & mask);
}
METTLE_INLINE constexpr uint field_of(ulong bits, uint field, uint width) {
  return (uint)(bits >> field) & ((1u << width) - 1u);
}
METTLE_INLINE constexpr ulong half_field(float value) {
  return __builtin_bit_cast(ushort, (half)value);
}
// No limits to the level of detail: 0 to infinity.
constexpr ulong plain_sampler =
    1ul << sampler_set | 0x7c00ul << sampler_lod_max;

METTLE_INLINE constexpr ulong apply(ulong bits, metal::coord c) {
  return with_field(bits, sampler_pixel, 1, (ulong)c);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::s_address a) {
  return with_field(bits, sampler_s, 3, (ulong)a);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::t_address a) {
  return with_field(bits, sampler_t, 3, (ulong)a);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::r_address a) {
  return with_field(bits, sampler_r, 3, (ulong)a);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::address a) {
  return apply(apply(apply(bits, (metal::s_address)a), (metal::t_address)a),
               (metal::r_address)a);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::mag_filter f) {
  return with_field(bits, sampler_mag, 1, (ulong)f);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::min_filter f) {
  return with_field(bits, sampler_min, 1, (ulong)f);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::filter f) {
  return apply(apply(bits, (metal::mag_filter)f), (metal::min_filter)f);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::mip_filter f) {
  return with_field(bits, sampler_mip, 2, (ulong)f);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::compare_func f) {
  return with_field(bits, sampler_compare, 3, (ulong)f);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::border_color c) {
  return with_field(bits, sampler_border, 2, (ulong)c);
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::max_anisotropy a) {
  return with_field(bits, sampler_anisotropy, 4, (ulong)(a.value - 1));
}
METTLE_INLINE constexpr ulong apply(ulong bits, metal::lod_clamp c) {
  return with_field(with_field(bits, sampler_lod_min, 16, half_field(c.low)),
                    sampler_lod_max, 16, half_field(c.high));
}

}  // namespace __mettle

namespace metal {

struct sampler {
  ulong __bits;
  METTLE_INLINE constexpr sampler() : __bits(__mettle::plain_sampler) {}
  // The fields in any order.
  template <typename First, typename... More>
  METTLE_INLINE constexpr explicit sampler(First first, More... more)
      : __bits(__mettle::apply(__mettle::plain_sampler, first)) {
    ((__bits = __mettle::apply(__bits, more)), ...);
  }
};

// Options for the level of detail. Kernels have no derivatives: without level
// or gradients they sample level 0.
struct bias {
  float value;
  METTLE_INLINE explicit bias(float v) : value(v) {}
};
struct level {
  float value;
  METTLE_INLINE explicit level(float v) : value(v) {}
};
struct min_lod_clamp {
  float value;
  METTLE_INLINE explicit min_lod_clamp(float v) : value(v) {}
};
struct gradient2d {
  float2 dx, dy;
  METTLE_INLINE gradient2d(float2 x, float2 y) : dx(x), dy(y) {}
};
struct gradient3d {
  float3 dx, dy;
  METTLE_INLINE gradient3d(float3 x, float3 y) : dx(x), dy(y) {}
};
struct gradientcube {
  float3 dx, dy;
  METTLE_INLINE gradientcube(float3 x, float3 y) : dx(x), dy(y) {}
};

}  // namespace metal

namespace __mettle {

METTLE_INLINE float floor_of(float x) {
  return __builtin_floorf(x);
}
// A float that is an integer below 2^22 in magnitude.
METTLE_INLINE int small_integer(float x) {
  return (int)(to_bits(x + round_shift) - to_bits(round_shift));
}

enum address_mode : uint {
  address_edge = 0,
  address_mirror_edge = 1,
  address_repeat = 2,
  address_mirror = 3,
  address_zero = 4,
  address_border = 5,
};

// --- one axis ----------------------------------------------------------------

// The two texels that a coordinate lies between, and how far it is from the
// first. Nearest sampling takes the first.
struct sample_axis {
  int low, high;
  float fraction;
};

METTLE_INLINE int bounded_index(int i, int size) {
  i = i < 0 ? 0 : i;
  return i < size ? i : size - 1;
}
METTLE_INLINE int wrapped_index(int i, int size, uint mode) {
  if (mode == address_repeat) {
    i = i < 0 ? i + size : i;
    return bounded_index(i >= size ? i - size : i, size);
  }
  return mode >= address_zero ? i : bounded_index(i, size);
}
// The same for an index that an offset has moved any distance.
METTLE_INLINE int folded_index(int i, int size, uint mode) {
  if (mode == address_repeat) {
    i %= size;
    return i < 0 ? i + size : i;
  }
  if (mode == address_mirror) {
    i %= 2 * size;
    i = i < 0 ? i + 2 * size : i;
    return i < size ? i : 2 * size - 1 - i;
  }
  if (mode == address_mirror_edge) i = i < 0 ? -1 - i : i;
  return mode >= address_zero ? i : bounded_index(i, size);
}

// Source     MSL specification, "Sampler", and the formulas of the OpenCL C
//            specification, 8.2, which say the same in full
//
// Returns the result by reference: a struct returned by value travels as 64-bit
// words, which is slow for 32 threads.
METTLE_INLINE void find_axis(thread sample_axis &axis, float c, int offset,
                             uint side, uint mode, bool is_pixel,
                             bool is_linear) {
  int size = (int)side;
  float n = (float)size;
  if (is_pixel) {
    mode = mode >= address_zero ? mode : address_edge;
  } else if (offset == 0) {
    if (mode == address_repeat) {
      c = c - floor_of(c);
    } else if (mode == address_mirror) {
      c = magnitude(c - 2.0f * __builtin_rintf(0.5f * c));
    } else if (mode == address_mirror_edge) {
      c = magnitude(c);
    }
  }
  float u = is_pixel ? c : c * n;
  u = is_linear ? u - 0.5f : u;
  // Coordinates far outside count as just outside; with an offset the period
  // counts.
  float far = offset == 0 ? 1.0f : 0x1p21f;
  u = u > -far - 1.0f ? u : -far - 1.0f;
  u = u < n + far ? u : n + far;
  float whole = floor_of(u);
  int low = small_integer(whole) + offset;
  axis.fraction = u - whole;
  if (offset == 0) {
    axis.low = wrapped_index(low, size, mode);
    axis.high = wrapped_index(low + 1, size, mode);
  } else {
    axis.low = folded_index(low, size, mode);
    axis.high = folded_index(low + 1, size, mode);
  }
}

// --- cubes -------------------------------------------------------------------

struct cube_place {
  uint face;
  float s, t;  // 0 to 1 in the face
};
// Source     MSL specification, "Cube map faces": +x, -x, +y, -y, +z, -z
METTLE_INLINE cube_place find_face(float x, float y, float z) {
  float ax = magnitude(x), ay = magnitude(y), az = magnitude(z);
  bool is_z = (az >= ax) & (az >= ay);
  bool is_y = !is_z & (ay >= ax);
  float major = is_z ? z : is_y ? y : x;
  bool is_negative = major < 0.0f;
  uint face = (is_z ? 4u : is_y ? 2u : 0u) + (is_negative ? 1u : 0u);
  float sc = is_z ? (is_negative ? -x : x) : is_y ? x : (is_negative ? z : -z);
  float tc = is_y ? (is_negative ? -z : z) : -y;
  float length = magnitude(major);
  return {face, 0.5f * (sc / length + 1.0f), 0.5f * (tc / length + 1.0f)};
}

struct face_texel {
  uint face;
  int x, y;
};
// The texel of a neighbouring face that lies across an edge, one step outside.
// Everything is counted in half texels from the cube's middle.
METTLE_INLINE face_texel cross_edge(face_texel at, int size) {
  int p = 2 * at.x + 1 - size;
  int q = 2 * at.y + 1 - size;
  bool is_negative = at.face & 1;
  int m = is_negative ? -size : size;
  uint axis = at.face >> 1;
  int x = axis == 0 ? m : axis == 1 ? p : (is_negative ? -p : p);
  int y = axis == 1 ? m : -q;
  int z = axis == 2   ? m
          : axis == 1 ? (is_negative ? -q : q)
                      : (is_negative ? p : -p);
  int ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, az = z < 0 ? -z : z;
  bool is_z = (az >= ax) & (az >= ay);
  bool is_y = !is_z & (ay >= ax);
  bool turned = (is_z ? z : is_y ? y : x) < 0;
  int sc = is_z ? (turned ? -x : x) : is_y ? x : (turned ? z : -z);
  int tc = is_y ? (turned ? -z : z) : -y;
  return {(is_z ? 4u : is_y ? 2u : 0u) + (turned ? 1u : 0u),
          bounded_index((sc + size - 1) >> 1, size),
          bounded_index((tc + size - 1) >> 1, size)};
}

// --- taps --------------------------------------------------------------------

// Returns a border texel: the colour, as a texel of the format can hold it.
template <typename C>
METTLE_INLINE plain<C, 4> border_texel(texture_handle t, ulong sampler,
                                       uint mode) {
  uint color = mode == address_zero ? 0u : field_of(sampler, sampler_border, 2);
  C rgb = color == 2 ? C(1) : C(0);
  C alpha = color != 0 || t->bits[3] == 0 ? C(1) : C(0);
  return plain<C, 4>{rgb, t->bits[1] == 0 ? C(0) : rgb,
                     t->bits[2] == 0 ? C(0) : rgb, alpha};
}

// Reads a texel of a level as a colour.
template <typename C>
struct color_tap {
  typedef plain<C, 4> result;
  METTLE_INLINE result operator()(result texel) const {
    return texel;
  }
};
// Compares the texel with a reference instead of returning it.
struct compare_tap {
  typedef plain<float, 4> result;
  ulong sampler;
  float reference;
  METTLE_INLINE result operator()(result texel) const {
    float depth = texel[0];
    uint function = field_of(sampler, sampler_compare, 3);
    // less, equal and greater are its bits.
    bool passes = (((function & 1) != 0) & (reference < depth)) |
                  (((function & 2) != 0) & (reference == depth)) |
                  (((function & 4) != 0) & (reference > depth)) |
                  (function == 7);
    return result{passes ? 1.0f : 0.0f, 0.0f, 0.0f, 0.0f};
  }
};

// The facts shared by all taps of one level.
template <int Sides, bool IsCube, typename C>
struct level_taps {
  texture_handle t;
  ulong sampler;
  uint level;
  uint image;  // the image of the first slice, plane or face
  uint face;
  sample_axis x, y, z;

  // Reads the texel with the higher of both neighbours for each bit of
  // `corner`.
  METTLE_INLINE plain<C, 4> read(uint corner) const {
    const device texture_level *l = &t->levels[level];
    int at_x = corner & 1 ? x.high : x.low;
    int at_y = corner & 2 ? y.high : y.low;
    int at_z = corner & 4 ? z.high : z.low;
    uint at_image = image;
    if constexpr (IsCube) {
      int size = (int)l->width;
      face_texel at = {face, at_x, at_y};
      if (((uint)at_x >= (uint)size) | ((uint)at_y >= (uint)size))
        at = cross_edge(at, size);
      at_x = at.x;
      at_y = at.y;
      at_image = image + at.face;
    } else if constexpr (Sides == 3) {
      at_image = (uint)at_z;
    }
    bool inside = (uint)at_x < l->width;
    if constexpr (Sides >= 2) inside &= (uint)at_y < l->height;
    if constexpr (Sides == 3) inside &= (uint)at_z < l->depth;
    plain<C, 4> texel = border_texel<C>(t, sampler, outside_mode());
    if (inside)
      texel = load_texel(t, row_of(t, level, (uint)at_y, at_image), (uint)at_x,
                         C(0));
    return texel;
  }
  // The mode of the first axis that has a border.
  METTLE_INLINE uint outside_mode() const {
    uint s = field_of(sampler, sampler_s, 3);
    uint u = field_of(sampler, sampler_t, 3);
    uint r = field_of(sampler, sampler_r, 3);
    return s >= address_zero                 ? s
           : Sides >= 2 && u >= address_zero ? u
           : Sides == 3                      ? r
                                             : s;
  }
  // At a cube's corner three texels meet: the fourth has no place.
  METTLE_INLINE bool is_corner(uint corner) const {
    if constexpr (!IsCube) return false;
    uint size = t->levels[level].width;
    int at_x = corner & 1 ? x.high : x.low;
    int at_y = corner & 2 ? y.high : y.low;
    return ((uint)at_x >= size) & ((uint)at_y >= size);
  }
};

// A place to sample: coordinates, offset, and the image or cube of an array.
struct sample_point {
  float c[3];
  int offset[3];
  uint image;
};

template <int Sides, bool IsCube, typename C>
METTLE_INLINE level_taps<Sides, IsCube, C> find_taps(
    texture_handle t, ulong sampler, uint level, const thread sample_point &at,
    bool is_linear) {
  const device texture_level *l = &t->levels[level];
  level_taps<Sides, IsCube, C> taps = {
      t, sampler, level, at.image, 0, {}, {}, {}};
  bool is_pixel = field_of(sampler, sampler_pixel, 1) != 0;
  if constexpr (IsCube) {
    cube_place place = find_face(at.c[0], at.c[1], at.c[2]);
    taps.face = place.face;
    // Neighbours outside stay so, for cross_edge.
    uint mode = is_linear ? address_zero : address_edge;
    find_axis(taps.x, place.s, 0, l->width, mode, false, is_linear);
    find_axis(taps.y, place.t, 0, l->width, mode, false, is_linear);
  } else {
    find_axis(taps.x, at.c[0], at.offset[0], l->width,
                       field_of(sampler, sampler_s, 3), is_pixel, is_linear);
    if constexpr (Sides >= 2)
      find_axis(taps.y, at.c[1], at.offset[1], l->height,
                         field_of(sampler, sampler_t, 3), is_pixel, is_linear);
    if constexpr (Sides == 3)
      find_axis(taps.z, at.c[2], at.offset[2], l->depth,
                         field_of(sampler, sampler_r, 3), is_pixel, is_linear);
  }
  return taps;
}

METTLE_INLINE float weight_of(const thread sample_axis &axis, bool is_high) {
  return is_high ? axis.fraction : 1.0f - axis.fraction;
}

// The texels' shares: (1-a)(1-b), a(1-b), (1-a)b, ab for two sides, products
// from left to right. What a cube's corner lacks goes to the other three.
template <int Sides, bool IsCube, typename C>
METTLE_INLINE float share_of(const thread level_taps<Sides, IsCube, C> &taps,
                             uint corner) {
  float share = weight_of(taps.x, corner & 1);
  if constexpr (Sides >= 2)
    share = share * weight_of(taps.y, (corner & 2) != 0);
  if constexpr (Sides == 3)
    share = share * weight_of(taps.z, (corner & 4) != 0);
  return share;
}
template <int Sides, bool IsCube, typename C>
METTLE_INLINE float lost_share(
    const thread level_taps<Sides, IsCube, C> &taps) {
  float lost = 0.0f;
  if constexpr (IsCube)
    for (uint corner = 0; corner < 4; corner++)
      lost = taps.is_corner(corner) ? share_of(taps, corner) : lost;
  return lost / 3.0f;
}

// --- levels of detail --------------------------------------------------------

// Options besides the coordinates; zero asks for level 0.
struct sample_detail {
  float lambda;
};

template <typename T>
METTLE_INLINE sample_detail detail_of(texture_handle, T, metal::bias) {
  return {0.0f};
}
template <typename T>
METTLE_INLINE sample_detail detail_of(texture_handle, T, metal::level l) {
  return {l.value};
}
template <typename T>
METTLE_INLINE sample_detail detail_of(texture_handle, T,
                                      metal::min_lod_clamp l) {
  return {l.value};
}
// log2 of the longer side of a pixel's footprint, in texels.
METTLE_INLINE sample_detail detail_of_squares(float x, float y) {
  float longest = x > y ? x : y;
  return {longest > 0.0f ? 0.5f * metal::precise::log2(longest) : -infinity};
}
METTLE_INLINE float square(float x) {
  return x * x;
}
METTLE_INLINE sample_detail detail_of(texture_handle t, ulong sampler,
                                      metal::gradient2d g) {
  bool is_pixel = field_of(sampler, sampler_pixel, 1) != 0;
  float w = is_pixel ? 1.0f : (float)t->levels[0].width;
  float h = is_pixel ? 1.0f : (float)t->levels[0].height;
  return detail_of_squares(square(g.dx[0] * w) + square(g.dx[1] * h),
                           square(g.dy[0] * w) + square(g.dy[1] * h));
}
METTLE_INLINE sample_detail detail_of(texture_handle t, ulong,
                                      metal::gradient3d g) {
  float w = (float)t->levels[0].width;
  float h = (float)t->levels[0].height;
  float d = (float)t->levels[0].depth;
  return detail_of_squares(
      square(g.dx[0] * w) + square(g.dx[1] * h) + square(g.dx[2] * d),
      square(g.dy[0] * w) + square(g.dy[1] * h) + square(g.dy[2] * d));
}
// A face is 2 wide at distance 1.
METTLE_INLINE sample_detail detail_of(texture_handle t, ulong,
                                      metal::gradientcube g) {
  float half_side = 0.5f * (float)t->levels[0].width;
  return detail_of_squares(
      square(half_side) *
          (square(g.dx[0]) + square(g.dx[1]) + square(g.dx[2])),
      square(half_side) *
          (square(g.dy[0]) + square(g.dy[1]) + square(g.dy[2])));
}

// Samples at a level of detail. All texels are read in one loop, since the code
// that reads a texel is long.
template <int Sides, bool IsCube, typename C, typename Tap>
METTLE_INLINE plain<C, 4> sample_texture(texture_handle t, ulong sampler,
                                         sample_point at, float lambda,
                                         Tap tap) {
  float low = half_value(field_of(sampler, sampler_lod_min, 16));
  float high = half_value(field_of(sampler, sampler_lod_max, 16));
  lambda = lambda > low ? lambda : low;
  lambda = lambda < high ? lambda : high;
  uint filter = lambda > 0.0f ? field_of(sampler, sampler_min, 1)
                              : field_of(sampler, sampler_mag, 1);
  bool is_linear = metal::is_same_v<C, float> && filter != 0;
  uint mip = field_of(sampler, sampler_mip, 2);
  uint level = 0;
  uint level_end = 1;
  float fraction = 0.0f;
  if (mip != 0) {
    int last = (int)t->level_count - 1;
    lambda = lambda < (float)last ? lambda : (float)last;
    float whole = floor_of(mip == 1 ? lambda + 0.5f : lambda);
    level = (uint)bounded_index(small_integer(whole), last + 1);
    fraction = mip == 1 ? 0.0f : lambda - whole;
    level_end = level + (fraction > 0.0f ? 2 : 1);
  }
  float level_share = 1.0f - fraction;
  plain<C, 4> result = {C(0), C(0), C(0), C(0)};
#pragma clang loop unroll(disable)
  for (; level < level_end; level++) {
    level_taps<Sides, IsCube, C> taps =
        find_taps<Sides, IsCube, C>(t, sampler, level, at, is_linear);
    float lost = lost_share(taps);
    uint corner_end = is_linear ? 1u << Sides : 1u;
    plain<C, 4> sum = {C(0), C(0), C(0), C(0)};
#pragma clang loop unroll(disable)
    for (uint corner = 0; corner < corner_end; corner++) {
      plain<C, 4> texel = tap(taps.read(corner));
      if constexpr (metal::is_same_v<C, float>) {
        float share = share_of(taps, corner);
        if constexpr (IsCube)
          share = taps.is_corner(corner) ? 0.0f : share + lost;
        sum = is_linear ? sum + texel * share : texel;
      } else {
        sum = texel;
      }
    }
    if constexpr (metal::is_same_v<C, float>) {
      result = fraction > 0.0f ? result + sum * level_share : sum;
      level_share = fraction;
    } else {
      result = sum;
    }
  }
  return result;
}

// The four texels that linear filtering would use, one component of each, in
// Metal's order: left below, right below, right above, left above.
//
// Source     MSL specification, "gather": (i0, j1), (i1, j1), (i1, j0),
//            (i0, j0)
template <bool IsCube, typename C, typename Tap>
METTLE_INLINE plain<C, 4> gather_texels(texture_handle t, ulong sampler,
                                        sample_point at, uint component,
                                        Tap tap) {
  level_taps<2, IsCube, C> taps =
      find_taps<2, IsCube, C>(t, sampler, 0, at, true);
  plain<C, 4> result = {C(0), C(0), C(0), C(0)};
#pragma clang loop unroll(disable)
  for (uint i = 0; i < 4; i++) {
    uint corner = i == 0 ? 2 : i == 1 ? 3 : i == 2 ? 1 : 0;
    plain<C, 4> texel = tap(taps.read(corner));
    C value = component == 0   ? texel[0]
              : component == 1 ? texel[1]
              : component == 2 ? texel[2]
                               : texel[3];
    result[0] = i == 0 ? value : result[0];
    result[1] = i == 1 ? value : result[1];
    result[2] = i == 2 ? value : result[2];
    result[3] = i == 3 ? value : result[3];
  }
  return result;
}

// --- what is sampled a thread at a time --------------------------------------

// All but colours of 2-D textures is called: it is rarer, and long.
#define METTLE_TEXEL_SAMPLE(name, sides, is_cube, C, Tap)                    \
  METTLE_TEXEL_FUNCTION plain<C, 4> sample_##name(                           \
      texture_handle t, ulong sampler, float x, float y, float z,            \
      int offset_x, int offset_y, int offset_z, uint image, float lambda,    \
      float reference) asm("mettle.texel.sample_" #name);                    \
  inline plain<C, 4> sample_##name(texture_handle t, ulong sampler, float x, \
                                   float y, float z, int offset_x,           \
                                   int offset_y, int offset_z, uint image,   \
                                   float lambda, float reference) {          \
    sample_point at = {{x, y, z}, {offset_x, offset_y, offset_z}, image};    \
    return sample_texture<sides, is_cube, C>(t, sampler, at, lambda, Tap);   \
  }
#define METTLE_COMPARE_TAP \
  compare_tap { sampler, reference }
METTLE_TEXEL_SAMPLE(1d, 1, false, float, color_tap<float>())
METTLE_TEXEL_SAMPLE(3d, 3, false, float, color_tap<float>())
METTLE_TEXEL_SAMPLE(cube, 2, true, float, color_tap<float>())
METTLE_TEXEL_SAMPLE(integer_1d, 1, false, uint, color_tap<uint>())
METTLE_TEXEL_SAMPLE(integer_3d, 3, false, uint, color_tap<uint>())
METTLE_TEXEL_SAMPLE(integer_cube, 2, true, uint, color_tap<uint>())
METTLE_TEXEL_SAMPLE(compare_2d, 2, false, float, METTLE_COMPARE_TAP)
METTLE_TEXEL_SAMPLE(compare_cube, 2, true, float, METTLE_COMPARE_TAP)
#undef METTLE_TEXEL_SAMPLE

#define METTLE_TEXEL_GATHER(name, is_cube, C, Tap)                           \
  METTLE_TEXEL_FUNCTION plain<C, 4> gather_##name(                           \
      texture_handle t, ulong sampler, float x, float y, float z,            \
      int offset_x, int offset_y, uint image, uint component,                \
      float reference) asm("mettle.texel.gather_" #name);                    \
  inline plain<C, 4> gather_##name(texture_handle t, ulong sampler, float x, \
                                   float y, float z, int offset_x,           \
                                   int offset_y, uint image, uint component, \
                                   float reference) {                        \
    sample_point at = {{x, y, z}, {offset_x, offset_y, 0}, image};           \
    return gather_texels<is_cube, C>(t, sampler, at, component, Tap);        \
  }
METTLE_TEXEL_GATHER(cube, true, float, color_tap<float>())
METTLE_TEXEL_GATHER(integer_cube, true, uint, color_tap<uint>())
METTLE_TEXEL_GATHER(compare_2d, false, float, METTLE_COMPARE_TAP)
METTLE_TEXEL_GATHER(compare_cube, true, float, METTLE_COMPARE_TAP)
#undef METTLE_TEXEL_GATHER

#define METTLE_POINT                                                   \
  at.c[0], at.c[1], at.c[2], at.offset[0], at.offset[1], at.offset[2], \
      at.image, lambda
// A colour: as a vector of threads or by a call.
template <int Sides, bool IsCube, typename C>
METTLE_INLINE plain<C, 4> sample_color(texture_handle t, ulong sampler,
                                       sample_point at, float lambda) {
  constexpr bool is_float = metal::is_same_v<C, float>;
  if constexpr (Sides == 2 && !IsCube)
    return sample_texture<2, false, C>(t, sampler, at, lambda, color_tap<C>());
  else if constexpr (is_float && IsCube)
    return sample_cube(t, sampler, METTLE_POINT, 0.0f);
  else if constexpr (is_float && Sides == 1)
    return sample_1d(t, sampler, METTLE_POINT, 0.0f);
  else if constexpr (is_float)
    return sample_3d(t, sampler, METTLE_POINT, 0.0f);
  else if constexpr (IsCube)
    return sample_integer_cube(t, sampler, METTLE_POINT, 0.0f);
  else if constexpr (Sides == 1)
    return sample_integer_1d(t, sampler, METTLE_POINT, 0.0f);
  else
    return sample_integer_3d(t, sampler, METTLE_POINT, 0.0f);
}
template <bool IsCube>
METTLE_INLINE float sample_comparison(texture_handle t, ulong sampler,
                                      sample_point at, float lambda,
                                      float reference) {
  if constexpr (IsCube)
    return sample_compare_cube(t, sampler, METTLE_POINT, reference)[0];
  else
    return sample_compare_2d(t, sampler, METTLE_POINT, reference)[0];
}
#undef METTLE_POINT
template <bool IsCube, typename C>
METTLE_INLINE plain<C, 4> gather_color(texture_handle t, ulong sampler,
                                       sample_point at, uint component) {
  if constexpr (!IsCube)
    return gather_texels<false, C>(t, sampler, at, component, color_tap<C>());
  else if constexpr (metal::is_same_v<C, float>)
    return gather_cube(t, sampler, at.c[0], at.c[1], at.c[2], 0, 0, at.image,
                       component, 0.0f);
  else
    return gather_integer_cube(t, sampler, at.c[0], at.c[1], at.c[2], 0, 0,
                               at.image, component, 0.0f);
}
template <bool IsCube>
METTLE_INLINE float_texel gather_comparison(texture_handle t, ulong sampler,
                                            sample_point at, float reference) {
  if constexpr (IsCube)
    return gather_compare_cube(t, sampler, at.c[0], at.c[1], at.c[2], 0, 0,
                               at.image, 0, reference);
  else
    return gather_compare_2d(t, sampler, at.c[0], at.c[1], at.c[2],
                             at.offset[0], at.offset[1], at.image, 0,
                             reference);
}

}  // namespace __mettle

#pragma float_control(pop)

#endif
