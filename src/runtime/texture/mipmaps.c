// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mipmaps.c: records the generation of mipmap levels: a dispatch for each
// level of a kernel that averages what lies under a texel. It is compiled when
// first asked for; the cache on disk has it afterwards.
#include <string.h>

#include "runtime/record/encoder.h"
#include "runtime/texture/texture.h"

// Where a side is odd, a texel covers parts of three: the weights are the
// lengths covered (area averages, so no texel is left out or moved).
static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "static float3 weights(uint side, uint x) {\n"
    "  if (side == 1) return float3(1, 0, 0);\n"
    "  if (side % 2 == 0) return float3(0.5, 0.5, 0);\n"
    "  uint half_side = side / 2;\n"
    "  return float3(half_side - x, half_side, x + 1) / float(side);\n"
    "}\n"
    "kernel void flat(texture2d_array<float, access::read_write> t,\n"
    "                 constant uint &level, uint3 at "
    "[[thread_position_in_grid]]) {\n"
    "  float3 wx = weights(t.get_width(level), at.x);\n"
    "  float3 wy = weights(t.get_height(level), at.y);\n"
    "  float4 sum = 0;\n"
    "  for (uint y = 0; y < 3; y++)\n"
    "    for (uint x = 0; x < 3; x++)\n"
    "      if (wx[x] * wy[y] != 0)\n"
    "        sum += wx[x] * wy[y] *\n"
    "               t.read(at.xy * 2 + uint2(x, y), at.z, level);\n"
    "  t.write(sum, at.xy, at.z, level + 1);\n"
    "}\n"
    "kernel void solid(texture3d<float, access::read_write> t,\n"
    "                  constant uint &level, uint3 at "
    "[[thread_position_in_grid]]) {\n"
    "  float3 wx = weights(t.get_width(level), at.x);\n"
    "  float3 wy = weights(t.get_height(level), at.y);\n"
    "  float3 wz = weights(t.get_depth(level), at.z);\n"
    "  float4 sum = 0;\n"
    "  for (uint z = 0; z < 3; z++)\n"
    "    for (uint y = 0; y < 3; y++)\n"
    "      for (uint x = 0; x < 3; x++)\n"
    "        if (wx[x] * wy[y] * wz[z] != 0)\n"
    "          sum += wx[x] * wy[y] * wz[z] *\n"
    "                 t.read(at * 2 + uint3(x, y, z), level);\n"
    "  t.write(sum, at, level + 1);\n"
    "}\n";

static mtl_status pipeline_create(mtl_device *device, bool is_3d,
                                  mtl_pipeline **out_pipeline) {
  const mtl_compile_options options = {.math_mode = MTL_MATH_SAFE,
                                       .file_name = "mipmaps.metal"};
  mtl_library *library = NULL;
  mtl_function *function = NULL;
  MTL_TRY(mtl_library_create_from_source(device, kernels, strlen(kernels),
                                         &options, &library));
  mtl_status status =
      mtl_function_create(library, is_3d ? "solid" : "flat", NULL, &function);
  if (status == MTL_OK) {
    status = mtl_pipeline_create(function, NULL, out_pipeline);
  }
  mtl_function_release(function);
  mtl_library_release(library);
  return status;
}

// The levels of all slices as an array, whatever the type.
static mtl_status view_create(mtl_texture *texture, mtl_texture **out_view) {
  const bool is_3d = texture->desc.type == MTL_TEXTURE_3D;
  return mtl_texture_create_view(
      texture,
      &(mtl_texture_view_desc){.type = is_3d ? MTL_TEXTURE_3D
                                             : MTL_TEXTURE_2D_ARRAY},
      out_view);
}

// Records the dispatch that makes level + 1. The kernel's parameters are the
// texture, the level and the position.
static void record_level(mtli_recording *recording, mtl_pipeline *pipeline,
                         const mtl_texture *view, uint32_t level) {
  enum { SLOTS = 3, SIDE = 8 };
  const mtli_texture_level *next = &view->descriptor.levels[level + 1];
  const bool is_3d = view->desc.type == MTL_TEXTURE_3D;
  void **arguments =
      mtli_recording_allocate(recording, SLOTS * sizeof *arguments);
  mtli_inline_argument *inline_arguments =
      mtli_recording_allocate(recording, 2 * sizeof *inline_arguments);
  uint64_t *id = mtli_recording_allocate(recording, sizeof *id);
  uint32_t *number = mtli_recording_allocate(recording, sizeof *number);
  uint64_t *argument_bytes =
      mtli_recording_allocate(recording, SLOTS * sizeof *argument_bytes);
  if (!arguments || !inline_arguments || !id || !number || !argument_bytes) {
    return;
  }
  *id = view->resource_id;
  *number = level;
  arguments[0] = id;
  arguments[1] = number;
  arguments[2] = NULL;
  argument_bytes[0] = sizeof *id;
  argument_bytes[1] = sizeof *number;
  argument_bytes[2] = 0;
  inline_arguments[0] = (mtli_inline_argument){0, sizeof *id};
  inline_arguments[1] = (mtli_inline_argument){1, sizeof *number};
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_DISPATCH, true);
  if (command) {
    command->dispatch = (mtli_dispatch){
        .pipeline = pipeline,
        .arguments = arguments,
        .argument_bytes = argument_bytes,
        .inline_arguments = inline_arguments,
        .inline_count = 2,
        .grid_threads = {next->width, next->height,
                         is_3d ? next->depth : view->desc.array_length},
        .group_threads = {SIDE, SIDE, 1},
    };
  }
}

void mtl_blit_encoder_generate_mipmaps(mtl_blit_encoder *encoder,
                                       mtl_texture *texture) {
  static const char call[] = "mtl_blit_encoder_generate_mipmaps";
  if (!mtli_encoder_check((mtli_encoder *)encoder, call)) {
    return;
  }
  mtli_recording *recording = ((mtli_encoder *)encoder)->recording;
  if (!texture) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: texture is NULL",
                        call);
    return;
  }
  const uint32_t texel_class = texture->descriptor.texel_class;
  if (texture->desc.level_count < 2 || texel_class == MTLI_CLASS_UINT ||
      texel_class == MTLI_CLASS_SINT) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: texture '%s' of pixel format %d and %u levels: "
                        "it takes two levels and numbers with a fraction",
                        call, mtl_texture_label(texture),
                        (int)texture->desc.pixel_format,
                        texture->desc.level_count);
    return;
  }
  mtl_device *device = texture->buffer->device;
  if (!mtli_recording_check_device(recording, device, "a texture")) {
    return;
  }
  mtl_pipeline *pipeline = NULL;
  mtl_texture *view = NULL;
  mtl_status status = view_create(texture, &view);
  if (status == MTL_OK) {
    status = pipeline_create(device, texture->desc.type == MTL_TEXTURE_3D,
                             &pipeline);
  }
  if (status != MTL_OK) {
    mtli_recording_fail(recording, status, "%s: %s", call, mtl_last_error());
  } else {
    mtli_recording_use_texture(recording, texture);
    mtli_recording_keep(recording, &view->object);
    mtli_recording_keep(recording, &pipeline->object);
    for (uint32_t i = 0; i + 1 < texture->desc.level_count; i++) {
      record_level(recording, pipeline, view, i);
    }
  }
  mtl_pipeline_release(pipeline);
  mtl_texture_release(view);
}
