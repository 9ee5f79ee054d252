// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texel.h: texels in memory: a texture's descriptor, the address of a
// texel, and the meaning of its bits.
//
// Formats are data (src/code/texture_abi.h). The frequent ones have code that
// becomes vectors; the rest go through mettle.texel.*, which are called.
#ifndef METTLE_TEXEL_H
#define METTLE_TEXEL_H

#include <metal_vector>
#include <mettle/float.h>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace __mettle {

typedef plain<float, 4> float_texel;
typedef plain<uint, 4> uint_texel;

// The layout of texture_abi.h.
struct texture_level {
  ulong offset_bytes;
  ulong image_bytes;
  uint row_bytes;
  uint width, height, depth;
};
struct srgb_tables {
  float linear[256];
  float limits[256];
};
struct texture_descriptor {
  device uchar *texels;
  uint array_length;
  uint level_count;
  uint sample_count;
  uint kind;
  uint texel_class;
  uint texel_bytes;
  const device srgb_tables *srgb;
  float divisor[4];
  float missing[4];
  uint shift[4];
  uint bits[4];
  texture_level levels[16];
};
typedef const device texture_descriptor *texture_handle;

enum texel_kind : uint {
  texel_any,
  texel_unorm8,
  texel_unorm32,
  texel_word,
  texel_words4,
  texel_halves4,
};
enum texel_class : uint {
  class_unorm,
  class_snorm,
  class_uint,
  class_sint,
  class_float,
  class_srgb,
  class_shared_exponent,
};

METTLE_INLINE uint mask_of(uint bits) {
  return bits == 32 ? ~0u : (1u << bits) - 1u;
}
// NaN becomes low.
METTLE_INLINE float clamped(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}
// The nearest integer to x * scale, to even, |x * scale| < 2^22.
METTLE_INLINE int nearest_product(float x, float scale) {
  return (int)(to_bits(fused(x, scale, round_shift)) - to_bits(round_shift));
}
METTLE_INLINE uint to_unorm(float x, float most) {
  return (uint)nearest_product(clamped(x, 0.0f, 1.0f), most);
}
METTLE_INLINE float half_value(uint bits) {
  return (float)__builtin_bit_cast(half, (ushort)bits);
}

// --- any format --------------------------------------------------------------

#define METTLE_TEXEL_FUNCTION __attribute__((noinline, nodebug)) inline

struct texel_words {
  uint w[4];
};
METTLE_INLINE texel_words read_words(const device uchar *from, uint bytes) {
  texel_words t = {{0, 0, 0, 0}};
  if (bytes == 1) {
    t.w[0] = *from;
  } else if (bytes == 2) {
    t.w[0] = *(const device ushort *)from;
  } else {
    for (uint i = 0; i < 4; i++)
      if (i * 4 < bytes) t.w[i] = ((const device uint *)from)[i];
  }
  return t;
}
METTLE_INLINE void write_words(device uchar *to, uint bytes, texel_words t) {
  if (bytes == 1) {
    *to = (uchar)t.w[0];
  } else if (bytes == 2) {
    *(device ushort *)to = (ushort)t.w[0];
  } else {
    for (uint i = 0; i < 4; i++)
      if (i * 4 < bytes) ((device uint *)to)[i] = t.w[i];
  }
}
METTLE_INLINE int sign_extended(uint raw, uint bits) {
  return (int)(raw << (32u - bits)) >> (32u - bits);
}

// Only sRGB formats of four bytes have alpha, in the highest; it is linear.
METTLE_INLINE bool is_srgb_alpha(uint shift) {
  return shift == 24;
}

METTLE_INLINE float component_value(texture_handle t, uint c, uint raw,
                                    uint exponent) {
  uint bits = t->bits[c];
  switch (t->texel_class) {
    case class_snorm: {
      float x = (float)sign_extended(raw, bits) / t->divisor[c];
      return x < -1.0f ? -1.0f : x;
    }
    case class_float:
      return bits == 32   ? from_bits(raw)
             : bits == 16 ? half_value(raw)
                          : half_value(raw << (15u - bits));
    case class_srgb:
      return is_srgb_alpha(t->shift[c]) ? (float)raw / 255.0f
                                        : t->srgb->linear[raw];
    case class_shared_exponent:
      return (float)raw * power_of_two((int)exponent - 24);
    default: return (float)raw / t->divisor[c];
  }
}

METTLE_TEXEL_FUNCTION float_texel
decode_float(texture_handle t,
             const device uchar *from) asm("mettle.texel.decode_float");
inline float_texel decode_float(texture_handle t, const device uchar *from) {
  texel_words words = read_words(from, t->texel_bytes);
  float_texel result;
  for (uint c = 0; c < 4; c++) {
    uint bits = t->bits[c];
    uint shift = t->shift[c];
    uint raw = (words.w[shift >> 5] >> (shift & 31)) & mask_of(bits);
    result[c] = bits == 0 ? t->missing[c]
                          : component_value(t, c, raw, words.w[0] >> 27);
  }
  return result;
}

METTLE_TEXEL_FUNCTION uint_texel decode_integer(
    texture_handle t,
    const device uchar *from) asm("mettle.texel.decode_integer");
inline uint_texel decode_integer(texture_handle t, const device uchar *from) {
  texel_words words = read_words(from, t->texel_bytes);
  uint_texel result;
  for (uint c = 0; c < 4; c++) {
    uint bits = t->bits[c];
    uint shift = t->shift[c];
    uint raw = (words.w[shift >> 5] >> (shift & 31)) & mask_of(bits);
    if (t->texel_class == class_sint && bits != 0)
      raw = (uint)sign_extended(raw, bits);
    result[c] = bits == 0 ? (uint)t->missing[c] : raw;
  }
  return result;
}

// Returns an unsigned float with 5 bits of exponent and `mantissa` bits behind
// it. Negative numbers become 0, numbers beyond its range infinity.
METTLE_INLINE uint to_small_float(float x, uint mantissa) {
  uint infinite = 31u << mantissa;
  if (x != x) return infinite | 1u << (mantissa - 1);
  if (!(x > 0.0f)) return 0;
  if (x < 0x1p-14f)
    return (uint)nearest_product(x, power_of_two(14 + (int)mantissa));
  uint bits = to_bits(x);
  uint drop = 23 - mantissa;
  bits += (1u << (drop - 1)) - 1u + (bits >> drop & 1u);
  uint result = (bits >> drop) - (112u << mantissa);
  return result < infinite ? result : infinite;
}

// Source     EXT_texture_shared_exponent, section 3.8.x
METTLE_INLINE uint to_shared_exponent(float_texel color) {
  constexpr float most = 65408.0f;
  float r = clamped(color[0], 0.0f, most);
  float g = clamped(color[1], 0.0f, most);
  float b = clamped(color[2], 0.0f, most);
  float largest = r > g ? r : g;
  largest = largest > b ? largest : b;
  int exponent = (int)(to_bits(largest) >> 23) - 127;
  exponent = (exponent < -16 ? -16 : exponent) + 16;
  if ((uint)(largest * power_of_two(24 - exponent) + 0.5f) == 512u) exponent++;
  float scale = power_of_two(24 - exponent);
  return (uint)(r * scale + 0.5f) | (uint)(g * scale + 0.5f) << 9 |
         (uint)(b * scale + 0.5f) << 18 | (uint)exponent << 27;
}

// Returns how many limits a value has reached, which is its byte.
METTLE_INLINE uint to_srgb(texture_handle t, float x) {
  uint count = 0;
  for (uint step = 128; step != 0; step >>= 1)
    if (x >= t->srgb->limits[count + step - 1]) count += step;
  return count;
}

METTLE_INLINE uint component_bits(texture_handle t, uint c, float x) {
  uint bits = t->bits[c];
  switch (t->texel_class) {
    case class_snorm:
      x = x != x ? 0.0f : x;
      return (uint)nearest_product(clamped(x, -1.0f, 1.0f), t->divisor[c]);
    case class_float:
      return bits == 32 ? to_bits(x)
             : bits == 16
                 ? (uint)__builtin_bit_cast(ushort, (half)x)
                 : to_small_float(x, bits - 5u);
    case class_srgb:
      return is_srgb_alpha(t->shift[c]) ? to_unorm(x, 255.0f) : to_srgb(t, x);
    default: return to_unorm(x, t->divisor[c]);
  }
}

METTLE_TEXEL_FUNCTION void encode_float(
    texture_handle t, device uchar *to,
    float_texel color) asm("mettle.texel.encode_float");
inline void encode_float(texture_handle t, device uchar *to,
                         float_texel color) {
  texel_words words = {{0, 0, 0, 0}};
  if (t->texel_class == class_shared_exponent) {
    words.w[0] = to_shared_exponent(color);
  } else {
    for (uint c = 0; c < 4; c++) {
      uint shift = t->shift[c];
      uint raw = component_bits(t, c, color[c]) & mask_of(t->bits[c]);
      words.w[shift >> 5] |= raw << (shift & 31);
    }
  }
  write_words(to, t->texel_bytes, words);
}

// Values out of range become the nearest in it.
METTLE_TEXEL_FUNCTION void encode_integer(
    texture_handle t, device uchar *to,
    uint_texel color) asm("mettle.texel.encode_integer");
inline void encode_integer(texture_handle t, device uchar *to,
                           uint_texel color) {
  texel_words words = {{0, 0, 0, 0}};
  for (uint c = 0; c < 4; c++) {
    uint bits = t->bits[c];
    uint shift = t->shift[c];
    if (bits == 0) continue;
    uint raw = color[c];
    uint mask = mask_of(bits);
    if (t->texel_class == class_sint) {
      int most = (int)(mask >> 1);
      int value = (int)raw;
      value = value > most ? most : value;
      raw = (uint)(value < -most - 1 ? -most - 1 : value) & mask;
    } else {
      raw = raw < mask ? raw : mask;
    }
    words.w[shift >> 5] |= raw << (shift & 31);
  }
  write_words(to, t->texel_bytes, words);
}

// --- frequent formats as vectors, with the rest behind them ------------------

METTLE_INLINE float unorm32_component(texture_handle t, uint c, uint word) {
  uint raw = (word >> t->shift[c]) & mask_of(t->bits[c]);
  return (float)(int)raw / t->divisor[c] + t->missing[c];
}
METTLE_INLINE uint unorm32_bits(texture_handle t, uint c, float x) {
  return (to_unorm(x, t->divisor[c]) & mask_of(t->bits[c])) << t->shift[c];
}

// Texel x of a row.
METTLE_INLINE float_texel load_texel(texture_handle t, const device uchar *row,
                                     uint x, float) {
  switch (t->kind) {
    case texel_unorm8: {
      float red = (float)(int)row[x] / 255.0f;
      return float_texel{red, 0.0f, 0.0f, 1.0f};
    }
    case texel_unorm32: {
      uint word = ((const device uint *)row)[x];
      return float_texel{
          unorm32_component(t, 0, word), unorm32_component(t, 1, word),
          unorm32_component(t, 2, word), unorm32_component(t, 3, word)};
    }
    case texel_word:
      return float_texel{((const device float *)row)[x], 0.0f, 0.0f, 1.0f};
    case texel_words4: {
      const device float *from = (const device float *)row + (ulong)x * 4;
      return float_texel{from[0], from[1], from[2], from[3]};
    }
    case texel_halves4: {
      const device half *from = (const device half *)row + (ulong)x * 4;
      return float_texel{(float)from[0], (float)from[1], (float)from[2],
                         (float)from[3]};
    }
    default: return decode_float(t, row + (ulong)x * t->texel_bytes);
  }
}
METTLE_INLINE uint_texel load_texel(texture_handle t, const device uchar *row,
                                    uint x, uint) {
  switch (t->kind) {
    case texel_word:
      return uint_texel{((const device uint *)row)[x], 0u, 0u, 1u};
    case texel_words4: {
      const device uint *from = (const device uint *)row + (ulong)x * 4;
      return uint_texel{from[0], from[1], from[2], from[3]};
    }
    default: return decode_integer(t, row + (ulong)x * t->texel_bytes);
  }
}

METTLE_INLINE void store_texel(texture_handle t, device uchar *row, uint x,
                               float_texel color) {
  switch (t->kind) {
    case texel_unorm8: row[x] = (uchar)to_unorm(color[0], 255.0f); break;
    case texel_unorm32:
      ((device uint *)row)[x] =
          unorm32_bits(t, 0, color[0]) | unorm32_bits(t, 1, color[1]) |
          unorm32_bits(t, 2, color[2]) | unorm32_bits(t, 3, color[3]);
      break;
    case texel_word: ((device float *)row)[x] = color[0]; break;
    case texel_words4: {
      device float *to = (device float *)row + (ulong)x * 4;
      to[0] = color[0];
      to[1] = color[1];
      to[2] = color[2];
      to[3] = color[3];
      break;
    }
    case texel_halves4: {
      device half *to = (device half *)row + (ulong)x * 4;
      to[0] = (half)color[0];
      to[1] = (half)color[1];
      to[2] = (half)color[2];
      to[3] = (half)color[3];
      break;
    }
    default: encode_float(t, row + (ulong)x * t->texel_bytes, color); break;
  }
}
METTLE_INLINE void store_texel(texture_handle t, device uchar *row, uint x,
                               uint_texel color) {
  switch (t->kind) {
    case texel_word: ((device uint *)row)[x] = color[0]; break;
    case texel_words4: {
      device uint *to = (device uint *)row + (ulong)x * 4;
      to[0] = color[0];
      to[1] = color[1];
      to[2] = color[2];
      to[3] = color[3];
      break;
    }
    default: encode_integer(t, row + (ulong)x * t->texel_bytes, color); break;
  }
}

// --- places ------------------------------------------------------------------

METTLE_INLINE device uchar *row_of(texture_handle t, uint level, uint y,
                                   uint image) {
  const device texture_level *l = &t->levels[level];
  return t->texels + l->offset_bytes + image * l->image_bytes +
         (ulong)y * l->row_bytes;
}

// The place of a read or write: outside the texture reads give 0 and writes do
// nothing.
struct texel_place {
  uint x, y;
  uint image;        // slice, face or plane
  uint image_count;  // of them
  uint level;
};
METTLE_INLINE bool is_inside(texture_handle t, texel_place p) {
  if (p.level >= t->level_count) return false;
  const device texture_level *l = &t->levels[p.level];
  return (p.x < l->width) & (p.y < l->height) & (p.image < p.image_count);
}

template <typename C>
METTLE_INLINE plain<C, 4> read_texel(texture_handle t, texel_place p) {
  plain<C, 4> result = {C(0), C(0), C(0), C(0)};
  if (is_inside(t, p))
    result = load_texel(t, row_of(t, p.level, p.y, p.image), p.x, C(0));
  return result;
}
template <typename C>
METTLE_INLINE plain<C, 4> read_texel(texture_handle t, texel_place p,
                                     uint sample) {
  plain<C, 4> result = {C(0), C(0), C(0), C(0)};
  if (is_inside(t, p) && sample < t->sample_count)
    result = load_texel(t, row_of(t, p.level, p.y, p.image),
                        p.x * t->sample_count + sample, C(0));
  return result;
}
template <typename C>
METTLE_INLINE void write_texel(texture_handle t, texel_place p,
                               plain<C, 4> color) {
  if (is_inside(t, p))
    store_texel(t, row_of(t, p.level, p.y, p.image), p.x, color);
}

// The type in which components are computed: float, or 32-bit integers.
template <typename T>
using texel_component = metal::conditional_t<
    metal::is_same_v<T, float> || metal::is_same_v<T, half>, float, uint>;

// Converts a texel to Metal's vector, and back. Signed ones are passed as their
// bits.
template <typename T>
METTLE_INLINE metal::vec<T, 4> to_color(plain<texel_component<T>, 4> v) {
  return metal::vec<T, 4>((T)v[0], (T)v[1], (T)v[2], (T)v[3]);
}
template <typename T>
METTLE_INLINE plain<texel_component<T>, 4> to_texel(metal::vec<T, 4> v) {
  typedef texel_component<T> C;
  return plain<C, 4>{(C)v[0], (C)v[1], (C)v[2], (C)v[3]};
}

// A texel of two words, as one number.
template <>
METTLE_INLINE metal::vec<ulong, 4> to_color<ulong>(plain<uint, 4> v) {
  return metal::vec<ulong, 4>(v[0] | (ulong)v[1] << 32, 0, 0, 1);
}
template <>
METTLE_INLINE plain<uint, 4> to_texel<ulong>(metal::vec<ulong, 4> v) {
  return plain<uint, 4>{(uint)v[0], (uint)(v[0] >> 32), 0, 1};
}

}  // namespace __mettle

#pragma float_control(pop)

#endif
