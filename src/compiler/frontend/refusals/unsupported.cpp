// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unsupported.cpp: says once, in plain words, what parts of Metal are
// not here, where clang would list every name that it does not know.
#include <string>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::StringRef;

namespace {

constexpr char RayTracing[] = "ray tracing";
constexpr char MeshShaders[] = "mesh shaders";
constexpr char TileShaders[] = "tile shaders and no imageblocks";
constexpr char Tensors[] = "";  // of Metal 4, which has them
constexpr char Graphics[] = "graphics pipelines";

struct Unsupported {
  const char *Name;
  const char *What;
};

// Headers, namespaces and types of Metal's that programs name. What they
// declare under one of these names themselves is theirs, and no error.
constexpr Unsupported Names[] = {
    {"metal_raytracing", RayTracing},
    {"metal_curves", RayTracing},
    {"metal_intersection_query", RayTracing},
    {"raytracing", RayTracing},
    {"intersector", RayTracing},
    {"intersection_query", RayTracing},
    {"intersection_params", RayTracing},
    {"intersection_function_table", RayTracing},
    {"intersection_function_buffer_arguments", RayTracing},
    {"acceleration_structure", RayTracing},
    {"primitive_acceleration_structure", RayTracing},
    {"instance_acceleration_structure", RayTracing},
    {"triangle_data", RayTracing},
    {"world_space_data", RayTracing},
    {"ray_data", RayTracing},
    {"metal_mesh", MeshShaders},
    {"mesh", MeshShaders},
    {"mesh_grid_properties", MeshShaders},
    {"object_data", MeshShaders},
    {"topology", MeshShaders},
    {"metal_imageblocks", TileShaders},
    {"imageblock", TileShaders},
    {"imageblock_slice", TileShaders},
    {"imageblock_layout_implicit", TileShaders},
    {"imageblock_layout_explicit", TileShaders},
    {"threadgroup_imageblock", TileShaders},
    {"metal_tensor", Tensors},
    {"metal_packed_numeric", Tensors},
    {"metal_cooperative_tensor", Tensors},
    {"MetalPerformancePrimitives", Tensors},
    {"mpp", Tensors},
    {"tensor", Tensors},
    {"tensor_handle", Tensors},
    {"tensor_inline", Tensors},
    {"tensor_ops", Tensors},
    {"cooperative_tensor", Tensors},
    {"int2b_format", Tensors},
    {"uint2b_format", Tensors},
    {"int4b_format", Tensors},
    {"uint4b_format", Tensors},
    {"packed_numeric_type", Tensors},
    {"metal_fp4_e2m1_format", Tensors},
    {"metal_fp8_e4m3_format", Tensors},
    {"metal_fp8_e5m2_format", Tensors},
    {"metal_fp8_ue8m0_format", Tensors},
    {"tensor_blockwise", Tensors},
    {"tensor_plane_scales", Tensors},
    {"render_command", Graphics},
    {"render_pipeline_state", Graphics},
    {"metal_interpolate", Graphics},
    {"metal_tessellation", Graphics},
    {"interpolant", Graphics},
    {"interpolation", Graphics},
    {"patch_control_point", Graphics},
};

// The name that an error does not know: the first that it quotes, if that is
// what it is about, of a header in a folder the folder (but for metal, which
// holds the library's own); "" if it is about something else.
StringRef unknownName(StringRef Text) {
  const bool IsUnknown =
      Text.ends_with(" file not found") ||
      Text.starts_with("unknown type name '") ||
      Text.starts_with("use of undeclared identifier '") ||
      Text.starts_with("no template named '") ||
      Text.starts_with("no type named '") ||
      (Text.starts_with("no member named '") && Text.contains("in namespace"));
  if (!IsUnknown) return "";
  StringRef Name = Text.split('\'').second.split('\'').first;
  Name.consume_front("metal/");
  return Name.split('/').first;
}

// The word at which an error stands.
std::string wordAt(const Diagnostic &Info) {
  if (!Info.hasSourceManager() || Info.getLocation().isInvalid()) return "";
  const SourceManager &SM = Info.getSourceManager();
  const SourceLocation Loc = SM.getSpellingLoc(Info.getLocation());
  bool Invalid = false;
  const char *Begin = SM.getCharacterData(Loc, &Invalid);
  if (Invalid) return "";
  const unsigned Length = Lexer::MeasureTokenLength(Loc, SM, LangOptions());
  return std::string(Begin, Length);
}

}  // namespace

std::string mtlc::unsupportedText(const Diagnostic &Info, StringRef Text,
                                  bool IsMetal4) {
  // An unknown type after an address space is taken for a name.
  const std::string Name =
      Text == "expected namespace name" || Text == "type-id cannot have a name"
          ? wordAt(Info)
          : unknownName(Text).str();
  for (const Unsupported &Known : Names)
    if (Name == Known.Name && Known.What != Tensors)
      return std::string("'") + Known.Name +
             "' is unsupported: Mettle has no " + Known.What;
    else if (Name == Known.Name && !IsMetal4)
      return std::string("'") + Known.Name +
             "' is of Metal 4: compile as language version 4.0 or 4.1";
  return "";
}
