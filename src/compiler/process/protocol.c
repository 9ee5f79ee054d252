// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocol.c: encodes and decodes messages. No sockets here.
#include "compiler/process/protocol.h"

#include <string.h>
#include <sys/stat.h>

#define FRAME_MAGIC 0x4C54454Du  // "METL"

// True if all of a message has been read; otherwise it is not one of ours.
static bool is_whole(const mtli_cursor *cursor) {
  return !cursor->failed && cursor->offset == cursor->size;
}

void mtlc_frame_header(unsigned char out_header[MTLC_FRAME_HEADER_BYTES],
                       mtlc_frame_kind kind, uint64_t length) {
  const uint64_t words[] = {FRAME_MAGIC | (uint64_t)kind << 32, length};
  for (int i = 0; i < MTLC_FRAME_HEADER_BYTES; ++i) {
    out_header[i] = (unsigned char)(words[i / 8] >> (8 * (i % 8)));
  }
}

bool mtlc_frame_parse(const unsigned char header[MTLC_FRAME_HEADER_BYTES],
                      mtlc_frame_kind *out_kind, uint64_t *out_length) {
  mtli_cursor cursor = {.data = header, .size = MTLC_FRAME_HEADER_BYTES};
  const uint32_t magic = mtli_cursor_u32(&cursor);
  const uint32_t kind = mtli_cursor_u32(&cursor);
  *out_length = mtli_cursor_u64(&cursor);
  *out_kind = (mtlc_frame_kind)kind;
  return magic == FRAME_MAGIC && kind >= MTLC_FRAME_ACCEPTED &&
         kind <= MTLC_FRAME_TRANSLATION && *out_length <= MTLC_FRAME_LIMIT_BYTES;
}

void mtlc_limits_write(const mtlc_limits *limits, mtli_bytes *out) {
  mtli_bytes_append_u32(out, MTLC_PROTOCOL_VERSION);
  mtli_bytes_append_u32(out, limits->seconds);
  mtli_bytes_append_u32(out, limits->memory_mb);
}

bool mtlc_limits_read(const void *data, size_t size, mtlc_limits *out_limits) {
  mtli_cursor cursor = {.data = data, .size = size};
  const uint32_t version = mtli_cursor_u32(&cursor);
  out_limits->seconds = mtli_cursor_u32(&cursor);
  out_limits->memory_mb = mtli_cursor_u32(&cursor);
  return is_whole(&cursor) && version == MTLC_PROTOCOL_VERSION;
}

void mtlc_hello_write(const mtli_bytes *identity, mtli_bytes *out) {
  mtli_bytes_append_u32(out, MTLC_PROTOCOL_VERSION);
  mtli_bytes_append_block(out, identity->data, identity->size);
}

bool mtlc_hello_read(const void *data, size_t size, const void **out_identity,
                     size_t *out_size) {
  mtli_cursor cursor = {.data = data, .size = size};
  const uint32_t version = mtli_cursor_u32(&cursor);
  *out_identity = mtli_cursor_block(&cursor, out_size);
  return is_whole(&cursor) && version == MTLC_PROTOCOL_VERSION;
}

static void append_stamp(mtli_bytes *bytes, const struct stat *file) {
  mtli_bytes_append_u64(bytes, (uint64_t)file->st_size);
  mtli_bytes_append_u64(bytes, (uint64_t)file->st_mtim.tv_sec);
  mtli_bytes_append_u64(bytes, (uint64_t)file->st_mtim.tv_nsec);
  mtli_bytes_append_u64(bytes, (uint64_t)file->st_dev);
  mtli_bytes_append_u64(bytes, (uint64_t)file->st_ino);
}
enum { STAMP_BYTES = 5 * 8 };

bool mtlc_stamp_append(mtli_bytes *bytes, const char *path) {
  struct stat file;
  if (stat(path, &file) != 0) {
    return false;
  }
  mtli_bytes_append_text(bytes, path);
  append_stamp(bytes, &file);
  return true;
}

static bool stamp_fits(const char *path, const void *stamp) {
  struct stat file;
  mtli_bytes now = {0};
  if (stat(path, &file) != 0) {
    return false;
  }
  append_stamp(&now, &file);
  const bool fits = !now.failed && memcmp(now.data, stamp, STAMP_BYTES) == 0;
  mtli_bytes_clear(&now);
  return fits;
}

bool mtlc_identity_is_current(const void *identity, size_t size,
                              const char *path) {
  mtli_cursor cursor = {.data = identity, .size = size};
  for (bool is_first = true; cursor.offset < size; is_first = false) {
    const char *file = mtli_cursor_text(&cursor);
    const void *stamp = mtli_cursor_take(&cursor, STAMP_BYTES);
    if (!file || !stamp || !stamp_fits(file, stamp) ||
        (is_first && !stamp_fits(path, stamp))) {
      return false;
    }
  }
  return size > 0;
}

void mtlc_obituary_write(const mtlc_obituary *obituary, mtli_bytes *out) {
  mtli_bytes_append_u32(out, (uint32_t)obituary->end);
  mtli_bytes_append_u32(out, obituary->detail);
  mtli_bytes_append_text(out, obituary->text);
}

bool mtlc_obituary_read(const void *data, size_t size,
                        mtlc_obituary *out_obituary) {
  mtli_cursor cursor = {.data = data, .size = size};
  const uint32_t end = mtli_cursor_u32(&cursor);
  out_obituary->detail = mtli_cursor_u32(&cursor);
  const char *text = mtli_cursor_text(&cursor);
  if (!text || !is_whole(&cursor) || end < MTLC_END_SIGNAL ||
      end >= MTLC_END_COUNT || strlen(text) >= sizeof out_obituary->text) {
    return false;
  }
  out_obituary->end = (mtlc_end)end;
  strcpy(out_obituary->text, text);
  return true;
}

void mtlc_library_request_write(const mtlc_library_request *request,
                                mtli_bytes *out) {
  const mtl_compile_options *options = &request->options;
  mtli_bytes_append_u32(out, (uint32_t)options->language_version);
  mtli_bytes_append_u32(out, (uint32_t)options->math_mode);
  mtli_bytes_append_u32(out, options->debug);
  mtli_bytes_append_u32(out, options->permissive);
  mtli_bytes_append_u32(out, request->has_header_callback);
  mtli_bytes_append_text(out, options->file_name);
  mtli_bytes_append_text(out, request->working_directory);
  mtli_bytes_append_u64(out, options->macro_count);
  for (size_t i = 0; i < options->macro_count; ++i) {
    mtli_bytes_append_text(out, options->macros[i].name);
    mtli_bytes_append_text(out, options->macros[i].value);
  }
  mtli_bytes_append_u64(out, options->include_path_count);
  for (size_t i = 0; i < options->include_path_count; ++i) {
    mtli_bytes_append_text(out, options->include_paths[i]);
  }
  mtli_bytes_append_block(out, request->text, request->size_bytes);
}

// Makes an array for a count that was read; each element takes at least
// least_bytes more of the message, so that a wrong count cannot ask for much.
static void *take_array(mtli_cursor *cursor, mtli_arena *arena, size_t count,
                        size_t element_bytes, size_t least_bytes) {
  if (cursor->failed || count > (cursor->size - cursor->offset) / least_bytes) {
    cursor->failed = true;
    return NULL;
  }
  void *array = mtli_arena_allocate(arena, count * element_bytes);
  cursor->failed |= !array;
  return array;
}

static void read_macros(mtli_cursor *cursor, mtli_arena *arena,
                        mtl_compile_options *options) {
  options->macro_count = (size_t)mtli_cursor_u64(cursor);
  mtl_macro *macros = take_array(cursor, arena, options->macro_count,
                                 sizeof *macros, 2 * sizeof(uint64_t));
  for (size_t i = 0; macros && i < options->macro_count; ++i) {
    macros[i].name = mtli_cursor_text(cursor);
    macros[i].value = mtli_cursor_text(cursor);
    cursor->failed |= !macros[i].name;
  }
  options->macros = macros;
}

static void read_include_paths(mtli_cursor *cursor, mtli_arena *arena,
                               mtl_compile_options *options) {
  options->include_path_count = (size_t)mtli_cursor_u64(cursor);
  const char **paths = take_array(cursor, arena, options->include_path_count,
                                  sizeof *paths, sizeof(uint64_t));
  for (size_t i = 0; paths && i < options->include_path_count; ++i) {
    paths[i] = mtli_cursor_text(cursor);
    cursor->failed |= !paths[i];
  }
  options->include_paths = paths;
}

bool mtlc_library_request_read(const void *data, size_t size, mtli_arena *arena,
                               mtlc_library_request *out_request) {
  *out_request = (mtlc_library_request){0};
  mtl_compile_options *options = &out_request->options;
  mtli_cursor cursor = {.data = data, .size = size};
  options->language_version = (mtl_language_version)mtli_cursor_u32(&cursor);
  options->math_mode = (mtl_math_mode)mtli_cursor_u32(&cursor);
  options->debug = mtli_cursor_u32(&cursor) != 0;
  options->permissive = mtli_cursor_u32(&cursor) != 0;
  out_request->has_header_callback = mtli_cursor_u32(&cursor) != 0;
  options->file_name = mtli_cursor_text(&cursor);
  out_request->working_directory = mtli_cursor_text(&cursor);
  read_macros(&cursor, arena, options);
  read_include_paths(&cursor, arena, options);
  out_request->text = mtli_cursor_block(&cursor, &out_request->size_bytes);
  return is_whole(&cursor);
}

static void append_constant_values(const mtli_constant_value *values,
                                   size_t count, mtli_bytes *out) {
  count = values ? count : 0;
  mtli_bytes_append_u64(out, count);
  for (size_t i = 0; i < count; ++i) {
    mtli_bytes_append_u32(out, values[i].is_set);
    mtli_bytes_append(out, values[i].bytes, sizeof values[i].bytes);
  }
}

void mtlc_pipeline_request_write_rest(const mtli_pipeline_request *request,
                                      mtli_bytes *out) {
  mtli_bytes_append_text(out, request->kernel_name);
  mtli_bytes_append_u32(out, (uint32_t)request->tier);
  mtli_bytes_append_text(out, request->target);
  mtli_bytes_append_u32(out, request->group_class.row);
  mtli_bytes_append_u32(out, request->group_class.is_exact);
  mtli_bytes_append_u32(out, request->group_class.is_single);
  mtli_bytes_append_u32(out, request->group_class.is_uneven);
  mtli_bytes_append_u32(out, request->group_class.is_whole);
  mtli_bytes_append_u32(out, request->group_class.is_far);
  mtli_bytes_append_u32(out, request->group_class.simdgroups);
  mtli_bytes_append_u32(out, request->group_class.row_dimension);
  mtli_bytes_append_u32(out, request->may_change_class);
  mtli_bytes_append_text(out, request->dump_after);
  mtli_bytes_append_u32(out, request->report_code);
  mtli_bytes_append_u32(out, request->call_depth);
  mtli_bytes_append_u32(out, request->checks);
  append_constant_values(request->constant_values, request->constant_count,
                         out);
  mtli_bytes_append_u64(out, request->linked_count);
  for (size_t i = 0; i < request->linked_count; ++i) {
    const mtli_linked_function *linked = &request->linked[i];
    mtli_bytes_append_text(out, linked->name);
    mtli_bytes_append_u32(out, linked->is_private);
    append_constant_values(linked->constant_values, linked->constant_count,
                           out);
  }
}

// Linked functions mostly come out of few libraries, the kernel's among them:
// each is sent once, and named by its place after that.
static size_t find_same_library(const mtli_pipeline_request *request,
                                size_t index) {
  const void *bytes = request->linked[index].library_bytes;
  size_t place = 0;
  if (bytes == request->library_bytes) {
    return place;
  }
  for (place = 1; place <= index; ++place) {
    if (request->linked[place - 1].library_bytes == bytes) {
      break;
    }
  }
  return place;  // its own, if no other
}

void mtlc_pipeline_request_write(const mtli_pipeline_request *request,
                                 mtli_bytes *out) {
  mtlc_pipeline_request_write_rest(request, out);
  mtli_bytes_append_block(out, request->library_bytes,
                          request->library_size_bytes);
  for (size_t i = 0; i < request->linked_count; ++i) {
    const size_t same = find_same_library(request, i);
    mtli_bytes_append_u64(out, same);
    if (same == i + 1) {
      mtli_bytes_append_block(out, request->linked[i].library_bytes,
                              request->linked[i].library_size_bytes);
    }
  }
}

static const mtli_constant_value *read_constant_values(mtli_cursor *cursor,
                                                       mtli_arena *arena,
                                                       size_t *out_count) {
  const size_t count = (size_t)mtli_cursor_u64(cursor);
  mtli_constant_value *values;
  values = take_array(cursor, arena, count, sizeof *values,
                      sizeof(uint32_t) + sizeof values->bytes);
  for (size_t i = 0; values && i < count; ++i) {
    values[i].is_set = mtli_cursor_u32(cursor) != 0;
    const void *bytes = mtli_cursor_take(cursor, sizeof values[i].bytes);
    if (bytes) {
      memcpy(values[i].bytes, bytes, sizeof values[i].bytes);
    }
  }
  *out_count = count;
  return count ? values : NULL;
}

static mtli_linked_function *read_linked(mtli_cursor *cursor, mtli_arena *arena,
                                         size_t *out_count) {
  const size_t count = (size_t)mtli_cursor_u64(cursor);
  mtli_linked_function *linked = take_array(
      cursor, arena, count, sizeof *linked, 3 * sizeof(uint64_t));
  for (size_t i = 0; linked && i < count; ++i) {
    linked[i] = (mtli_linked_function){0};
    linked[i].name = mtli_cursor_text(cursor);
    linked[i].is_private = mtli_cursor_u32(cursor) != 0;
    linked[i].constant_values =
        read_constant_values(cursor, arena, &linked[i].constant_count);
    cursor->failed |= !linked[i].name;
  }
  *out_count = count;
  return linked;
}

static void read_linked_libraries(mtli_cursor *cursor,
                                  const mtli_pipeline_request *request,
                                  mtli_linked_function *linked) {
  for (size_t i = 0; linked && i < request->linked_count; ++i) {
    const uint64_t same = mtli_cursor_u64(cursor);
    if (same == i + 1) {
      linked[i].library_bytes =
          mtli_cursor_block(cursor, &linked[i].library_size_bytes);
    } else if (same == 0) {
      linked[i].library_bytes = request->library_bytes;
      linked[i].library_size_bytes = request->library_size_bytes;
    } else if (same <= i) {
      linked[i].library_bytes = linked[same - 1].library_bytes;
      linked[i].library_size_bytes = linked[same - 1].library_size_bytes;
    } else {
      cursor->failed = true;
    }
  }
}

bool mtlc_pipeline_request_read(const void *data, size_t size,
                                mtli_arena *arena,
                                mtli_pipeline_request *out_request) {
  *out_request = (mtli_pipeline_request){0};
  mtli_cursor cursor = {.data = data, .size = size};
  out_request->kernel_name = mtli_cursor_text(&cursor);
  const uint32_t tier = mtli_cursor_u32(&cursor);
  out_request->tier = (mtli_tier)tier;
  out_request->target = mtli_cursor_text(&cursor);
  out_request->group_class.row = mtli_cursor_u32(&cursor);
  out_request->group_class.is_exact = mtli_cursor_u32(&cursor) != 0;
  out_request->group_class.is_single = mtli_cursor_u32(&cursor) != 0;
  out_request->group_class.is_uneven = mtli_cursor_u32(&cursor) != 0;
  out_request->group_class.is_whole = mtli_cursor_u32(&cursor) != 0;
  out_request->group_class.is_far = mtli_cursor_u32(&cursor) != 0;
  out_request->group_class.simdgroups = mtli_cursor_u32(&cursor);
  out_request->group_class.row_dimension = mtli_cursor_u32(&cursor);
  out_request->may_change_class = mtli_cursor_u32(&cursor) != 0;
  out_request->dump_after = mtli_cursor_text(&cursor);
  out_request->report_code = mtli_cursor_u32(&cursor) != 0;
  out_request->call_depth = mtli_cursor_u32(&cursor);
  out_request->checks = mtli_cursor_u32(&cursor);
  out_request->constant_values =
      read_constant_values(&cursor, arena, &out_request->constant_count);
  mtli_linked_function *linked =
      read_linked(&cursor, arena, &out_request->linked_count);
  out_request->linked = linked;
  out_request->library_bytes =
      mtli_cursor_block(&cursor, &out_request->library_size_bytes);
  read_linked_libraries(&cursor, out_request, linked);
  return is_whole(&cursor) && out_request->kernel_name &&
         tier <= MTLI_TIER_SCREENED;
}

void mtlc_translation_request_write(const mtli_translation_request *request,
                                    mtli_bytes *out) {
  mtli_bytes_append_text(out, request->name);
  mtli_bytes_append_u32(out, request->is_visible);
  mtli_bytes_append_block(out, request->bitcode, request->bitcode_bytes);
}

bool mtlc_translation_request_read(const void *data, size_t size,
                                   mtli_translation_request *out_request) {
  mtli_cursor cursor = {.data = data, .size = size};
  *out_request = (mtli_translation_request){
      .name = mtli_cursor_text(&cursor),
      .is_visible = mtli_cursor_u32(&cursor) != 0};
  out_request->bitcode =
      mtli_cursor_block(&cursor, &out_request->bitcode_bytes);
  return is_whole(&cursor) && out_request->name;
}

void mtlc_header_write(bool found, const char *text, size_t length,
                       mtli_bytes *out) {
  mtli_bytes_append_u32(out, found);
  mtli_bytes_append_block(out, text, found ? length : 0);
}

bool mtlc_header_read(const void *data, size_t size, bool *out_found,
                      const char **out_text, size_t *out_length) {
  mtli_cursor cursor = {.data = data, .size = size};
  *out_found = mtli_cursor_u32(&cursor) != 0;
  *out_text = mtli_cursor_block(&cursor, out_length);
  return is_whole(&cursor);
}

XXH128_canonical_t mtlc_text_hash(const void *text, size_t length) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(text, length));
  return hash;
}

void mtlc_dependency_write(const mtlc_dependency *dependency, mtli_bytes *out) {
  mtli_bytes_append_u32(out, dependency->is_header);
  mtli_bytes_append_u32(out, dependency->found);
  mtli_bytes_append_text(out, dependency->name);
  mtli_bytes_append(out, &dependency->hash, sizeof dependency->hash);
}

bool mtlc_dependency_read(mtli_cursor *cursor,
                          mtlc_dependency *out_dependency) {
  out_dependency->is_header = mtli_cursor_u32(cursor) != 0;
  out_dependency->found = mtli_cursor_u32(cursor) != 0;
  out_dependency->name = mtli_cursor_text(cursor);
  const void *hash = mtli_cursor_take(cursor, sizeof out_dependency->hash);
  if (!hash || !out_dependency->name) {
    cursor->failed = true;
    return false;
  }
  memcpy(&out_dependency->hash, hash, sizeof out_dependency->hash);
  return true;
}

void mtlc_reply_write(const mtlc_reply *reply, mtli_bytes *out) {
  mtli_bytes_append_u32(out, (uint32_t)reply->status);
  mtli_bytes_append_text(out, reply->text ? reply->text : "");
  mtli_bytes_append_block(out, reply->container, reply->container_bytes);
  mtli_bytes_append_block(out, reply->dependencies, reply->dependencies_bytes);
}

bool mtlc_reply_read(const void *data, size_t size, mtlc_reply *out_reply) {
  mtli_cursor cursor = {.data = data, .size = size};
  const uint32_t status = mtli_cursor_u32(&cursor);
  out_reply->status = (mtl_status)status;
  out_reply->text = mtli_cursor_text(&cursor);
  out_reply->container =
      mtli_cursor_block(&cursor, &out_reply->container_bytes);
  out_reply->dependencies =
      mtli_cursor_block(&cursor, &out_reply->dependencies_bytes);
  return is_whole(&cursor) && out_reply->text && status <= MTL_CANCELLED;
}
