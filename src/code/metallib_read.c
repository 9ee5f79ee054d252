// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib_read.c: reads the list of functions of a compiled Metal library.
//
// Little-endian throughout. A header of 88 bytes says where four sections are:
//
//   0   "MTLB"                       24  list of functions: offset, bytes
//   4   u16 platform                 40  public metadata: offset, bytes
//   6   u16, u16 container version   56  private metadata: offset, bytes
//   10  u8 kind, u8 system           72  bitcode: offset, bytes
//   16  u64 bytes of the file
//
// The list is u32 count (which its bytes do not include) and for each function
// u32 bytes, itself included, and tags: four letters, u16 bytes, that many
// bytes; ENDT, which is the letters alone, ends them. Their order differs from
// file to file, and tags that are not known here are none of our business.
// Behind the list, up to the public metadata, may be tags of the whole file.
#include "code/metallib.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

enum {
  HEADER_BYTES = 88,
  TAG_HEAD_BYTES = 6,   // letters, u16
  FUNCTION_BYTES = 8,   // of a function at the least: u32, ENDT
  PLATFORM_MACOS = 0x8001,
  SYSTEM_MACOS = 0x81,
  SYSTEM_NONE = 0,  // in files from before Apple's systems had separate numbers
  OLDEST_VERSION = 2,   // 2.9 is the newest that is known
};

// --- bytes -------------------------------------------------------------------

static uint16_t u16_at(const unsigned char *at) {
  return (uint16_t)(at[0] | at[1] << 8);
}
static uint32_t u32_at(const unsigned char *at) {
  return u16_at(at) | (uint32_t)u16_at(at + 2) << 16;
}
static uint64_t u64_at(const unsigned char *at) {
  return u32_at(at) | (uint64_t)u32_at(at + 4) << 32;
}

static mtl_status read_memory(void *context, uint64_t offset, void *out,
                              size_t size) {
  memcpy(out, (const unsigned char *)context + offset, size);
  return MTL_OK;
}

mtli_metallib_source mtli_metallib_in_memory(const void *bytes,
                                             size_t size_bytes) {
  return (mtli_metallib_source){.size_bytes = size_bytes,
                                .read = read_memory,
                                .context = (void *)bytes};
}

// --- the header --------------------------------------------------------------

typedef struct range {
  uint64_t offset, bytes;
} range;

typedef struct metallib_header {
  range functions, public_metadata, bitcode;
} metallib_header;

// Files that hold a library for each of several GPUs or systems, and programs:
// their magics in the order of the file's bytes.
static bool is_universal(const unsigned char *bytes, size_t size_bytes) {
  static const unsigned char magics[][4] = {{0xca, 0xfe, 0xba, 0xbe},
                                            {0xca, 0xfe, 0xba, 0xbf},
                                            {0xcb, 0xfe, 0xba, 0xbe},
                                            {0xbe, 0xba, 0xfe, 0xcb},
                                            {0xcf, 0xfa, 0xed, 0xfe}};
  for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
    if (size_bytes >= sizeof magics[0] &&
        memcmp(bytes, magics[i], sizeof magics[0]) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_library(const unsigned char *bytes, size_t size_bytes) {
  return size_bytes >= 4 && memcmp(bytes, "MTLB", 4) == 0;
}

bool mtli_metallib_is(const void *bytes, size_t size_bytes) {
  return is_library(bytes, size_bytes) || is_universal(bytes, size_bytes);
}

static const char *system_name(uint16_t platform, uint8_t system) {
  switch (system) {
    case 0x82: return "iOS";
    case 0x83: return "tvOS";
    case 0x84: return "watchOS";
    case 0x86: return "Mac Catalyst";
    case 0x87: return "the iOS simulator";
    case 0x88: return "the tvOS simulator";
    case 0x8b: return "visionOS";
    case 0x8c: return "the visionOS simulator";
    default: return platform == 1 ? "iOS" : "a system that is not known here";
  }
}

static mtl_status check_kind(const unsigned char *header) {
  static const char *const kinds[] = {"executable", "Core Image", "dynamic",
                                      "symbol companion"};
  const uint16_t platform = u16_at(header + 4);
  const uint16_t major = u16_at(header + 6), minor = u16_at(header + 8);
  const uint8_t kind = header[10], system = header[11];
  if (major < OLDEST_VERSION || major > OLDEST_VERSION) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "a compiled Metal library of container version %u.%u; 2.x "
                     "can be read",
                     major, minor);
  }
  if (platform != PLATFORM_MACOS ||
      (system != SYSTEM_MACOS && system != SYSTEM_NONE)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "a compiled Metal library for %s; those for macOS can be "
                     "read",
                     system_name(platform, system));
  }
  if (kind > 3) {
    return mtli_fail(MTL_BAD_DATA,
                     "a compiled Metal library is of kind %u, which does not "
                     "exist",
                     kind);
  }
  return kind == 0 || kind == 2
             ? MTL_OK
             : mtli_fail(MTL_UNSUPPORTED,
                         "a compiled Metal library of the kind '%s'; executable "
                         "and dynamic ones can be read",
                         kinds[kind]);
}

static mtl_status read_range(const unsigned char *header, size_t at,
                             const char *name, uint64_t file_bytes,
                             range *out) {
  *out = (range){u64_at(header + at), u64_at(header + at + 8)};
  return out->offset <= file_bytes && out->bytes <= file_bytes - out->offset
             ? MTL_OK
             : mtli_fail(MTL_BAD_DATA,
                         "a compiled Metal library of %llu bytes is damaged or "
                         "cut short: its %s is at %llu, %llu bytes",
                         (unsigned long long)file_bytes, name,
                         (unsigned long long)out->offset,
                         (unsigned long long)out->bytes);
}

static mtl_status read_header(const mtli_metallib_source *source,
                              metallib_header *out) {
  unsigned char header[HEADER_BYTES] = {0};
  const uint64_t size = source->size_bytes;
  const size_t got = size < sizeof header ? (size_t)size : sizeof header;
  MTL_TRY(source->read(source->context, 0, header, got));
  if (is_universal(header, got)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "a universal file, or one with machine code of Apple's "
                     "GPUs; take the library (metallib) for macOS out of it: "
                     "its bytes begin with MTLB");
  }
  if (!is_library(header, got) || got < sizeof header) {
    return mtli_fail(MTL_BAD_DATA, "%llu bytes are no compiled Metal library",
                     (unsigned long long)size);
  }
  MTL_TRY(check_kind(header));
  const uint64_t file_bytes = u64_at(header + 16);
  if (file_bytes > size || file_bytes < sizeof header) {
    return mtli_fail(MTL_BAD_DATA,
                     "a compiled Metal library of %llu bytes is cut short: it "
                     "says that it has %llu",
                     (unsigned long long)size, (unsigned long long)file_bytes);
  }
  MTL_TRY(read_range(header, 24, "list of functions", file_bytes,
                     &out->functions));
  MTL_TRY(read_range(header, 40, "public metadata", file_bytes,
                     &out->public_metadata));
  return read_range(header, 72, "bitcode", file_bytes, &out->bitcode);
}

// --- tags --------------------------------------------------------------------

typedef struct tag {
  const unsigned char *name;  // [4]
  const unsigned char *data;  // [size]
  size_t size;
} tag;

typedef enum tag_result { TAG_FOUND, TAG_END, TAG_DAMAGED } tag_result;

// Takes the next tag of *at, before end.
static tag_result next_tag(const unsigned char **at, const unsigned char *end,
                           tag *out) {
  const size_t left = (size_t)(end - *at);
  if (left < 4) {
    return TAG_DAMAGED;
  }
  if (memcmp(*at, "ENDT", 4) == 0) {
    return TAG_END;
  }
  const size_t size = left < TAG_HEAD_BYTES ? 0 : u16_at(*at + 4);
  if (left < TAG_HEAD_BYTES || size > left - TAG_HEAD_BYTES) {
    return TAG_DAMAGED;
  }
  *out = (tag){.name = *at, .data = *at + TAG_HEAD_BYTES, .size = size};
  *at = out->data + size;
  return TAG_FOUND;
}

static bool is_tag(const tag *t, const char *name, size_t least_bytes) {
  return memcmp(t->name, name, 4) == 0 && t->size >= least_bytes;
}

// --- the list ----------------------------------------------------------------

typedef struct list_reader {
  const metallib_header *header;
  mtli_arena *arena;
  const unsigned char *start;  // of the list, for error texts
  uint64_t offset;             // of start in the file
} list_reader;

static mtl_status fail_function(const list_reader *r, size_t number,
                                const unsigned char *at, const char *what) {
  return mtli_fail(MTL_BAD_DATA,
                   "a compiled Metal library is damaged: function %zu, at "
                   "offset %llu: %s",
                   number,
                   (unsigned long long)r->offset + (unsigned long long)(at - r->start),
                   what);
}

static mtl_status take_name(const list_reader *r, size_t number, const tag *t,
                            mtli_metallib_function *out) {
  const unsigned char *end = memchr(t->data, '\0', t->size);
  if (!end || end == t->data) {
    return fail_function(r, number, t->data, "its name is empty or has no end");
  }
  out->name = mtli_arena_copy_text(r->arena, (const char *)t->data,
                                   (size_t)(end - t->data));
  return out->name ? MTL_OK
                   : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
}

static mtl_status take_tag(const list_reader *r, size_t number, const tag *t,
                           mtli_metallib_function *out) {
  if (is_tag(t, "NAME", 0)) {
    return take_name(r, number, t, out);
  }
  if (is_tag(t, "TYPE", 1)) {
    out->stage = t->data[0];
  } else if (is_tag(t, "OFFT", 24)) {
    out->bitcode_offset = u64_at(t->data + 16);
  } else if (is_tag(t, "MDSZ", 8)) {
    out->bitcode_bytes = u64_at(t->data);
  } else if (is_tag(t, "VERS", 8)) {
    for (size_t i = 0; i < 2; i++) {
      out->air_version[i] = u16_at(t->data + 2 * i);
      out->language_version[i] = u16_at(t->data + 4 + 2 * i);
    }
  }
  return MTL_OK;
}

// Reads the function whose record is at *at, and moves *at past it.
static mtl_status read_function(const list_reader *r, size_t number,
                                const unsigned char **at,
                                const unsigned char *end,
                                mtli_metallib_function *out) {
  const unsigned char *record = *at;
  const size_t left = (size_t)(end - record);
  const size_t size = left < 4 ? 0 : u32_at(record);
  if (size < FUNCTION_BYTES || size > left) {
    return fail_function(r, number, record, "its record does not fit");
  }
  const unsigned char *next = record + 4;
  tag t;
  tag_result result;
  out->stage = UINT32_MAX;
  while ((result = next_tag(&next, record + size, &t)) == TAG_FOUND) {
    MTL_TRY(take_tag(r, number, &t, out));
  }
  if (result == TAG_DAMAGED) {
    return fail_function(r, number, next, "a tag does not fit");
  }
  if (!out->name || out->stage == UINT32_MAX) {
    return fail_function(r, number, record, "it has no name, or no type");
  }
  const range *bitcode = &r->header->bitcode;
  if (out->bitcode_offset > bitcode->bytes ||
      out->bitcode_bytes > bitcode->bytes - out->bitcode_offset) {
    return fail_function(r, number, record, "its bitcode lies outside");
  }
  out->bitcode_offset += bitcode->offset;
  *at = record + size;
  return MTL_OK;
}

// Finds the sources: the only tag of the whole file that is used.
static bool find_sources(const unsigned char *at, const unsigned char *end) {
  tag t;
  while (next_tag(&at, end, &t) == TAG_FOUND) {
    if (is_tag(&t, "HSRD", 16) && u64_at(t.data + 8) > 0) {
      return true;
    }
  }
  return false;
}

static mtl_status read_list(list_reader *r, const unsigned char *bytes,
                            size_t list_bytes, size_t extension_bytes,
                            mtli_metallib *out) {
  const unsigned char *at = bytes + 4, *end = at + list_bytes;
  const size_t count = u32_at(bytes);
  if (count > list_bytes / FUNCTION_BYTES) {
    return mtli_fail(MTL_BAD_DATA,
                     "a compiled Metal library is damaged: %zu functions in a "
                     "list of %zu bytes",
                     count, list_bytes);
  }
  out->functions =
      mtli_arena_allocate(r->arena, (count + 1) * sizeof *out->functions);
  if (!out->functions) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu functions", count);
  }
  memset(out->functions, 0, (count + 1) * sizeof *out->functions);
  for (size_t i = 0; i < count; i++) {
    MTL_TRY(read_function(r, i, &at, end, &out->functions[i]));
    out->function_count = i + 1;
  }
  out->has_source = find_sources(end, end + extension_bytes);
  return MTL_OK;
}

mtl_status mtli_metallib_read(const mtli_metallib_source *source,
                              mtli_arena *arena, mtli_metallib *out_library) {
  *out_library = (mtli_metallib){0};
  metallib_header header = {0};
  MTL_TRY(read_header(source, &header));
  const range *list = &header.functions;
  const uint64_t left = source->size_bytes - list->offset;
  if (left < 4 || list->bytes > left - 4) {
    return mtli_fail(MTL_BAD_DATA,
                     "a compiled Metal library is cut short in its list of "
                     "functions");
  }
  const uint64_t end = list->offset + 4 + list->bytes;
  const uint64_t extension = header.public_metadata.offset > end
                                 ? header.public_metadata.offset - end
                                 : 0;
  const size_t size = (size_t)(4 + list->bytes + extension);
  unsigned char *bytes = malloc(size);
  if (!bytes) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a list of %zu bytes",
                     size);
  }
  mtl_status status = source->read(source->context, list->offset, bytes, size);
  if (status == MTL_OK) {
    list_reader reader = {.header = &header,
                          .arena = arena,
                          .start = bytes,
                          .offset = list->offset};
    status = read_list(&reader, bytes, (size_t)list->bytes, (size_t)extension,
                       out_library);
  }
  free(bytes);
  if (status != MTL_OK) {
    *out_library = (mtli_metallib){0};
  }
  return status;
}
