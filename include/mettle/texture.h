// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture.h: images that kernels read, write and sample, and samplers.
#ifndef METTLE_TEXTURE_H
#define METTLE_TEXTURE_H

#include "buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_texture mtl_texture;
typedef struct mtl_sampler mtl_sampler;

// Source     Metal feature set tables; the same on every device here
#define MTL_MAX_TEXTURE_ARGUMENTS 128
#define MTL_MAX_SAMPLER_ARGUMENTS 16
#define MTL_MAX_TEXTURE_SIDE 16384        // texels: 1-D, 2-D and cube
#define MTL_MAX_TEXTURE_3D_SIDE 2048      // texels
#define MTL_MAX_TEXTURE_LAYERS 2048       // elements of an array
#define MTL_MAX_TEXTURE_BUFFER_WIDTH (1u << 28)  // texels of a texture buffer
#define MTL_MAX_TEXTURE_LEVELS 15

typedef enum mtl_texture_type {
  MTL_TEXTURE_TYPE_DEFAULT = 0,  // 2-D; in a view, that of its texture
  MTL_TEXTURE_1D,
  MTL_TEXTURE_1D_ARRAY,
  MTL_TEXTURE_2D,
  MTL_TEXTURE_2D_ARRAY,
  MTL_TEXTURE_2D_MULTISAMPLE,
  MTL_TEXTURE_2D_MULTISAMPLE_ARRAY,
  MTL_TEXTURE_CUBE,
  MTL_TEXTURE_CUBE_ARRAY,
  MTL_TEXTURE_3D,
  MTL_TEXTURE_BUFFER,
} mtl_texture_type;

// Metal's names and raw values (MTLPixelFormat). Components lie in memory from
// the lowest bit up, in the order of the name; bytes are little endian.
typedef enum mtl_pixel_format {
  MTL_FORMAT_NONE = 0,
  MTL_FORMAT_A8_UNORM = 1,
  MTL_FORMAT_R8_UNORM = 10,
  MTL_FORMAT_R8_UNORM_SRGB = 11,
  MTL_FORMAT_R8_SNORM = 12,
  MTL_FORMAT_R8_UINT = 13,
  MTL_FORMAT_R8_SINT = 14,
  MTL_FORMAT_R16_UNORM = 20,
  MTL_FORMAT_R16_SNORM = 22,
  MTL_FORMAT_R16_UINT = 23,
  MTL_FORMAT_R16_SINT = 24,
  MTL_FORMAT_R16_FLOAT = 25,
  MTL_FORMAT_RG8_UNORM = 30,
  MTL_FORMAT_RG8_UNORM_SRGB = 31,
  MTL_FORMAT_RG8_SNORM = 32,
  MTL_FORMAT_RG8_UINT = 33,
  MTL_FORMAT_RG8_SINT = 34,
  MTL_FORMAT_B5G6R5_UNORM = 40,
  MTL_FORMAT_A1BGR5_UNORM = 41,
  MTL_FORMAT_ABGR4_UNORM = 42,
  MTL_FORMAT_BGR5A1_UNORM = 43,
  MTL_FORMAT_R32_UINT = 53,
  MTL_FORMAT_R32_SINT = 54,
  MTL_FORMAT_R32_FLOAT = 55,
  MTL_FORMAT_RG16_UNORM = 60,
  MTL_FORMAT_RG16_SNORM = 62,
  MTL_FORMAT_RG16_UINT = 63,
  MTL_FORMAT_RG16_SINT = 64,
  MTL_FORMAT_RG16_FLOAT = 65,
  MTL_FORMAT_RGBA8_UNORM = 70,
  MTL_FORMAT_RGBA8_UNORM_SRGB = 71,
  MTL_FORMAT_RGBA8_SNORM = 72,
  MTL_FORMAT_RGBA8_UINT = 73,
  MTL_FORMAT_RGBA8_SINT = 74,
  MTL_FORMAT_BGRA8_UNORM = 80,
  MTL_FORMAT_BGRA8_UNORM_SRGB = 81,
  MTL_FORMAT_RGB10A2_UNORM = 90,
  MTL_FORMAT_RGB10A2_UINT = 91,
  MTL_FORMAT_RG11B10_FLOAT = 92,
  MTL_FORMAT_RGB9E5_FLOAT = 93,
  MTL_FORMAT_BGR10A2_UNORM = 94,
  MTL_FORMAT_RG32_UINT = 103,
  MTL_FORMAT_RG32_SINT = 104,
  MTL_FORMAT_RG32_FLOAT = 105,
  MTL_FORMAT_RGBA16_UNORM = 110,
  MTL_FORMAT_RGBA16_SNORM = 112,
  MTL_FORMAT_RGBA16_UINT = 113,
  MTL_FORMAT_RGBA16_SINT = 114,
  MTL_FORMAT_RGBA16_FLOAT = 115,
  MTL_FORMAT_RGBA32_UINT = 123,
  MTL_FORMAT_RGBA32_SINT = 124,
  MTL_FORMAT_RGBA32_FLOAT = 125,
  MTL_FORMAT_DEPTH16_UNORM = 250,
  MTL_FORMAT_DEPTH32_FLOAT = 252,
} mtl_pixel_format;

// Returns the bytes of one texel; 0 for a format that does not exist here.
MTL_API size_t mtl_pixel_format_bytes(mtl_pixel_format format);

// What kernels may do with a texture. Source: MTLTextureUsage.
typedef enum mtl_texture_usage {
  MTL_TEXTURE_USAGE_ANY = 0,
  MTL_TEXTURE_USAGE_SHADER_READ = 1,
  MTL_TEXTURE_USAGE_SHADER_WRITE = 2,
  MTL_TEXTURE_USAGE_PIXEL_FORMAT_VIEW = 0x10,
  MTL_TEXTURE_USAGE_SHADER_ATOMIC = 0x20,
} mtl_texture_usage;

typedef struct mtl_texture_desc {
  mtl_texture_type type;
  mtl_pixel_format pixel_format;
  uint32_t width;         // texels, 1 to the limit of the type
  uint32_t height;        // 0 means 1, here and below
  uint32_t depth;         // of a 3-D texture
  uint32_t level_count;   // mipmap levels, at most log2(longest side) + 1
  uint32_t array_length;  // of an array type; a cube counts as one
  uint32_t sample_count;  // of a multisample type: 2, 4 or 8
  mtl_storage_mode storage_mode;
  mtl_hazard_tracking hazard_tracking;
  uint32_t usage;     // mtl_texture_usage, or-ed
  const char *label;  // copied; NULL for none
} mtl_texture_desc;

// A box of texels in one level and slice. y and z are 0, height and depth 1
// where the texture has no such side.
typedef struct mtl_region {
  uint32_t x, y, z;
  uint32_t width, height, depth;  // any 0 makes it empty
} mtl_region;

// Makes a texture of zeros.
//
// Ownership  The texture is yours; it retains device.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  a format, type or size that cannot be
//            MTL_OUT_OF_MEMORY     the text has the length
// Source     Metal: -[MTLDevice newTextureWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status mtl_texture_create(mtl_device *device,
                                                   const mtl_texture_desc *desc,
                                                   mtl_texture **out_texture);

// Makes a texture of the bytes of a buffer: one level of a 2-D texture or of a
// texture buffer. storage_mode and hazard_tracking are the buffer's.
//
//   offset_bytes   a multiple of MTL_TEXTURE_LINEAR_ALIGNMENT
//   bytes_per_row  such a multiple, at least a row; ignored for a texture
//                  buffer
//
// Ownership  The texture is yours; it retains buffer.
// Source     Metal: -[MTLBuffer newTextureWithDescriptor:offset:bytesPerRow:]
MTL_API MTL_MUST_USE mtl_status mtl_texture_create_from_buffer(
    mtl_buffer *buffer, const mtl_texture_desc *desc, size_t offset_bytes,
    size_t bytes_per_row, mtl_texture **out_texture);
#define MTL_TEXTURE_LINEAR_ALIGNMENT 16  // bytes

// Where a component of a view comes from. Source: MTLTextureSwizzle.
typedef enum mtl_swizzle {
  MTL_SWIZZLE_SAME = 0,
  MTL_SWIZZLE_ZERO,
  MTL_SWIZZLE_ONE,
  MTL_SWIZZLE_RED,
  MTL_SWIZZLE_GREEN,
  MTL_SWIZZLE_BLUE,
  MTL_SWIZZLE_ALPHA,
} mtl_swizzle;

// Zero takes all of the texture as it is.
typedef struct mtl_texture_view_desc {
  mtl_texture_type type;
  mtl_pixel_format pixel_format;  // of as many bytes
  uint32_t first_level;
  uint32_t level_count;  // 0 for all from first_level on
  uint32_t first_slice;  // layers; 6 for each cube
  uint32_t slice_count;  // 0 for all from first_slice on
  mtl_swizzle swizzle[4];
} mtl_texture_view_desc;

// Makes a texture that shows levels and slices of another's memory.
//
// Ownership  The view is yours; it retains texture.
// Source     Metal: -[MTLTexture newTextureViewWithPixelFormat:…]
MTL_API MTL_MUST_USE mtl_status
mtl_texture_create_view(mtl_texture *texture, const mtl_texture_view_desc *desc,
                        mtl_texture **out_view);

MTL_API mtl_texture *mtl_texture_retain(mtl_texture *texture);
// NULL is allowed; work in flight keeps the texture alive.
MTL_API void mtl_texture_release(mtl_texture *texture);

// Returns what the texture is, every number as it has come to be. label is
// NULL. Valid as long as the texture.
MTL_API const mtl_texture_desc *mtl_texture_info(const mtl_texture *texture);
MTL_API mtl_device *mtl_texture_device(const mtl_texture *texture);  // borrowed
// The buffer whose bytes the texels are; of the texture's own if it was not
// made from one. Borrowed.
MTL_API mtl_buffer *mtl_texture_buffer(const mtl_texture *texture);

// Returns what a texture member of an argument buffer is set to.
//
// Source     Metal: -[MTLTexture gpuResourceID]
MTL_API uint64_t mtl_texture_resource_id(const mtl_texture *texture);

// Copies bytes into a region of a level and slice.
//
//   bytes            rows of the region, bytes_per_row apart, in images
//                    bytes_per_image apart
//   bytes_per_row    0 for rows without a gap
//   bytes_per_image  0 for images without a gap
//
// Threads    Any; not while a kernel uses the region.
// Errors     MTL_INVALID_ARGUMENT  the region is not in the texture; it is
//                                  private
// Source     Metal: -[MTLTexture replaceRegion:mipmapLevel:slice:…]
MTL_API MTL_MUST_USE mtl_status mtl_texture_replace_region(
    mtl_texture *texture, mtl_region region, uint32_t level, uint32_t slice,
    const void *bytes, size_t bytes_per_row, size_t bytes_per_image);
// The other way. Of a managed texture it sees what
// mtl_blit_encoder_synchronize_texture brought.
MTL_API MTL_MUST_USE mtl_status mtl_texture_get_bytes(
    mtl_texture *texture, mtl_region region, uint32_t level, uint32_t slice,
    void *out_bytes, size_t bytes_per_row, size_t bytes_per_image);

// Sets the label shown in errors; copied, NULL for none.
MTL_API void mtl_texture_set_label(mtl_texture *texture, const char *label);
// Returns the label, "" if there is none. Valid until the next set_label.
MTL_API const char *mtl_texture_label(const mtl_texture *texture);

// --- samplers ----------------------------------------------------------------
// Names and raw values are those of Metal's MTLSamplerDescriptor.

typedef enum mtl_address_mode {
  MTL_ADDRESS_CLAMP_TO_EDGE = 0,
  MTL_ADDRESS_MIRROR_CLAMP_TO_EDGE,
  MTL_ADDRESS_REPEAT,
  MTL_ADDRESS_MIRROR_REPEAT,
  MTL_ADDRESS_CLAMP_TO_ZERO,
  MTL_ADDRESS_CLAMP_TO_BORDER_COLOR,
} mtl_address_mode;

typedef enum mtl_filter {
  MTL_FILTER_NEAREST = 0,
  MTL_FILTER_LINEAR
} mtl_filter;

typedef enum mtl_mip_filter {
  MTL_MIP_FILTER_NONE = 0,
  MTL_MIP_FILTER_NEAREST,
  MTL_MIP_FILTER_LINEAR,
} mtl_mip_filter;

typedef enum mtl_compare_function {
  MTL_COMPARE_NEVER = 0,
  MTL_COMPARE_LESS,
  MTL_COMPARE_EQUAL,
  MTL_COMPARE_LESS_EQUAL,
  MTL_COMPARE_GREATER,
  MTL_COMPARE_NOT_EQUAL,
  MTL_COMPARE_GREATER_EQUAL,
  MTL_COMPARE_ALWAYS,
} mtl_compare_function;

typedef enum mtl_border_color {
  MTL_BORDER_TRANSPARENT_BLACK = 0,
  MTL_BORDER_OPAQUE_BLACK,
  MTL_BORDER_OPAQUE_WHITE,
} mtl_border_color;

typedef struct mtl_sampler_desc {
  mtl_filter min_filter, mag_filter;
  mtl_mip_filter mip_filter;
  mtl_address_mode s_address, t_address, r_address;
  uint32_t max_anisotropy;     // 1 to 16, 0 means 1; kept, and filtered as 1
  bool is_pixel_coordinates;   // 0 to the width, in place of 0 to 1
  float lod_min_clamp;         // kept as a half, as the next
  float lod_max_clamp;         // 0 means no limit; below 0, level 0 alone
  mtl_compare_function compare_function;
  mtl_border_color border_color;
  const char *label;  // copied; NULL for none
} mtl_sampler_desc;

// Makes a sampler.
//
// Ownership  The sampler is yours; it retains device.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  a value that does not exist
// Source     Metal: -[MTLDevice newSamplerStateWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status mtl_sampler_create(mtl_device *device,
                                                   const mtl_sampler_desc *desc,
                                                   mtl_sampler **out_sampler);
MTL_API mtl_sampler *mtl_sampler_retain(mtl_sampler *sampler);
MTL_API void mtl_sampler_release(mtl_sampler *sampler);
MTL_API const char *mtl_sampler_label(const mtl_sampler *sampler);
// Returns what a sampler member of an argument buffer is set to.
MTL_API uint64_t mtl_sampler_resource_id(const mtl_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
