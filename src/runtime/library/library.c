// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library.c: creates libraries from source, from memory and from files.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "check/check.h"
#include "code/metallib.h"
#include "runtime/files.h"
#include "runtime/library/metallib.h"
#include "runtime/library/trace_library.h"
#include "runtime/objects.h"

static void library_free(mtl_library *library) {
  mtli_metallib_close(library);
  mtli_compiled_clear(&library->compiled);
  free(library->constants);
  free(library);
}

static void library_destroy(mtli_object *object) {
  mtl_library *library = (mtl_library *)object;
  mtl_device *device = library->device;
  if (!library->metallib) {
    device->driver->library_destroy(library);
  }
  library_free(library);
  mtl_device_release(device);  // -1
}

static mtl_status library_allocate(mtl_device *device,
                                   mtl_library **out_library) {
  mtl_library *library = calloc(1, device->driver->library_bytes);
  if (!library) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  mtli_object_init(&library->object, library_destroy);
  library->device = device;
  *out_library = library;
  return MTL_OK;
}

// Returns a library whose container the driver has made or taken, with that
// call's status.
static mtl_status library_finish(mtl_library *library, mtl_status status,
                                 mtl_library **out_library) {
  if (status != MTL_OK) {
    library_free(library);
    return status;
  }
  const mtli_code *code = library->compiled.code;
  library->constants =
      calloc(code->constant_count + 1, sizeof *library->constants);
  if (!library->constants) {
    if (!library->metallib) {
      library->device->driver->library_destroy(library);
    }
    library_free(library);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  for (size_t i = 0; i < code->constant_count; i++) {
    library->constants[i] = code->constants[i].info;
  }
  mtl_device_retain(library->device);  // +1
  *out_library = library;
  return MTL_OK;
}

// Puts the source into the container.
static mtl_status keep_source(mtli_compiled *compiled, const char *source,
                              size_t source_bytes) {
  mtli_code *code = compiled->code;
  if (mtli_code_find_blob(code, MTLI_BLOB_SOURCE)) {
    return MTL_OK;
  }
  mtli_blob *blobs = calloc(code->blob_count + 1, sizeof *blobs);
  if (!blobs) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to keep a source");
  }
  memcpy(blobs, code->blobs, code->blob_count * sizeof *blobs);
  blobs[code->blob_count] = (mtli_blob){
      .kind = MTLI_BLOB_SOURCE, .bytes = source, .size_bytes = source_bytes};
  mtli_code with = *code;
  with.blobs = blobs;
  with.blob_count++;
  void *bytes = NULL;
  size_t size_bytes = 0;
  mtl_status status = mtli_code_write(&with, &bytes, &size_bytes);
  free(blobs);
  if (status != MTL_OK) {
    return status;
  }
  mtli_compiled made = {.bytes = bytes, .size_bytes = size_bytes};
  status = mtli_code_read(bytes, size_bytes, &made.arena, &made.code);
  if (status != MTL_OK) {
    mtli_compiled_clear(&made);
    return status;
  }
  mtli_compiled_clear(compiled);
  *compiled = made;
  return MTL_OK;
}

mtl_status mtli_library_compile(mtl_library *library, const char *source,
                                size_t source_bytes,
                                const mtl_compile_options *options) {
  // Findings name variables, which debug information tells of.
  mtl_compile_options own = *options;
  own.debug |= mtli_check_wanted() != 0;
  MTL_TRY(mtli_compile_library(source, source_bytes, &own, &library->compiled));
  return options->keep_source
             ? keep_source(&library->compiled, source, source_bytes)
             : MTL_OK;
}

mtl_status mtli_library_load(mtl_library *library) {
  const mtli_code *code = library->compiled.code;
  if (!mtli_code_find_blob(code, MTLI_BLOB_IR) &&
      mtli_code_find_blob(code, MTLI_BLOB_SOURCE)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "the library has source for Metal's own compiler, which "
                     "device '%s' does not use",
                     library->device->info.name);
  }
  return MTL_OK;
}

void mtli_library_has_no_part(mtl_library *library) {
  (void)library;
}

// A name, with parameters in parentheses if it has any, and a value, all on one
// line: text that can follow #define without starting another line.
static bool is_macro(const mtl_macro *macro) {
  const char *name = macro->name;
  if (!name || (!isalpha((unsigned char)*name) && *name != '_')) {
    return false;
  }
  while (isalnum((unsigned char)*name) || *name == '_') {
    name++;
  }
  const size_t length = strlen(name);
  if (length > 0 && (*name != '(' || name[length - 1] != ')')) {
    return false;
  }
  return !strpbrk(name, "\r\n") &&
         !(macro->value && strpbrk(macro->value, "\r\n"));
}

static mtl_status check_options(const mtl_compile_options *options) {
  for (size_t i = 0; i < options->macro_count; i++) {
    if (!options->macros || !is_macro(&options->macros[i])) {
      const char *name = options->macros ? options->macros[i].name : NULL;
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "macro %zu of %zu: '%s' cannot be defined", i,
                       options->macro_count, name ? name : "(NULL)");
    }
  }
  for (size_t i = 0; i < options->include_path_count; i++) {
    if (!options->include_paths || !options->include_paths[i]) {
      return mtli_fail(MTL_INVALID_ARGUMENT, "include path %zu of %zu is NULL",
                       i, options->include_path_count);
    }
  }
  switch (options->language_version) {
    case MTL_LANGUAGE_DEFAULT:
    case MTL_LANGUAGE_2_4:
    case MTL_LANGUAGE_3_0:
    case MTL_LANGUAGE_3_1:
    case MTL_LANGUAGE_3_2:
    case MTL_LANGUAGE_4_0:
    case MTL_LANGUAGE_4_1: break;
    default:
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "language version %d is not one of 240, 300, 310, 320, "
                       "400, 410",
                       (int)options->language_version);
  }
  if ((unsigned)options->math_mode > MTL_MATH_SAFE) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "math mode %d does not exist",
                     (int)options->math_mode);
  }
  return MTL_OK;
}

mtl_status mtl_library_create_from_source(mtl_device *device,
                                          const char *source,
                                          size_t source_bytes,
                                          const mtl_compile_options *options,
                                          mtl_library **out_library) {
  if (!device || !source || !out_library) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_library_create_from_source: %s is NULL",
                     !device   ? "device"
                     : !source ? "source"
                               : "out_library");
  }
  *out_library = NULL;
  MTL_TRY(mtli_device_check(device));
  static const mtl_compile_options defaults;
  options = options ? options : &defaults;
  MTL_TRY(check_options(options));
  mtl_library *library = NULL;
  MTL_TRY(library_allocate(device, &library));
  const uint64_t start_ns = mtli_trace_is_on() ? mtli_now_ns() : 0;
  const mtl_status status = device->driver->library_compile(
      library, source, source_bytes, options);
  if (start_ns) {
    mtli_trace_library(source_bytes, start_ns);
  }
  return library_finish(library, status, out_library);
}

mtl_status mtl_library_create_from_data(mtl_device *device, const void *data,
                                        size_t data_bytes,
                                        mtl_library **out_library) {
  if (!device || !data || !out_library) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_library_create_from_data: %s is NULL",
                     !device ? "device"
                     : !data ? "data"
                             : "out_library");
  }
  *out_library = NULL;
  MTL_TRY(mtli_device_check(device));
  mtl_library *library = NULL;
  MTL_TRY(library_allocate(device, &library));
  void *bytes = malloc(data_bytes ? data_bytes : 1);
  if (!bytes) {
    library_free(library);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library of %zu bytes",
                     data_bytes);
  }
  memcpy(bytes, data, data_bytes);
  if (mtli_metallib_is(bytes, data_bytes)) {
    return library_finish(
        library, mtli_metallib_open_memory(library, bytes, data_bytes),
        out_library);
  }
  mtli_compiled *compiled = &library->compiled;
  compiled->size_bytes = data_bytes;
  compiled->bytes = bytes;
  mtl_status status = mtli_code_read(compiled->bytes, data_bytes,
                                     &compiled->arena, &compiled->code);
  if (status == MTL_OK) {
    status = device->driver->library_load(library);
  }
  return library_finish(library, status, out_library);
}

mtl_status mtli_library_create_compiled(mtl_device *device,
                                        mtli_compiled *compiled,
                                        mtl_library **out_library) {
  mtl_library *library = NULL;
  const mtl_status status = library_allocate(device, &library);
  if (status != MTL_OK) {
    mtli_compiled_clear(compiled);
    return status;
  }
  library->compiled = *compiled;
  *compiled = (mtli_compiled){0};
  return library_finish(library, device->driver->library_load(library),
                        out_library);
}

// A large file is not read into memory.
static mtl_status open_metallib(mtl_device *device, const char *path,
                                bool *out_is, mtl_library **out_library) {
  mtl_library *library = NULL;
  MTL_TRY(library_allocate(device, &library));
  const mtl_status status = mtli_metallib_open_file(library, path, out_is);
  if (!*out_is) {
    library_free(library);
    return status;
  }
  return library_finish(library, status, out_library);
}

static mtl_status open_file(mtl_device *device, const char *path,
                            mtl_library **out_library) {
  bool is_metallib = false;
  MTL_TRY(open_metallib(device, path, &is_metallib, out_library));
  if (is_metallib) {
    return MTL_OK;
  }
  void *bytes = NULL;
  size_t size_bytes = 0;
  MTL_TRY(mtli_file_read(path, &bytes, &size_bytes));
  const mtl_status status =
      mtl_library_create_from_data(device, bytes, size_bytes, out_library);
  free(bytes);
  return status;
}

mtl_status mtl_library_create_from_file(mtl_device *device, const char *path,
                                        mtl_library **out_library) {
  if (!device || !path || !out_library) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_library_create_from_file: %s is NULL",
                     !device ? "device"
                     : !path ? "path"
                             : "out_library");
  }
  *out_library = NULL;
  MTL_TRY(mtli_device_check(device));
  const mtl_status status = open_file(device, path, out_library);
  return status == MTL_OK || strstr(mtl_last_error(), path)
             ? status
             : mtli_fail(status, "'%s': %s", path, mtl_last_error());
}

mtl_status mtl_library_write(const mtl_library *library, const char *path) {
  if (!library || !path) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_library_write: %s is NULL",
                     library ? "path" : "library");
  }
  if (library->metallib) {
    MTL_TRY(mtli_metallib_load_bytes((mtl_library *)library));
  }
  return mtli_file_write(path, library->compiled.bytes,
                         library->compiled.size_bytes);
}

const char *mtl_library_source(const mtl_library *library, size_t *out_length) {
  const mtli_blob *source =
      mtli_code_find_blob(library->compiled.code, MTLI_BLOB_SOURCE);
  if (out_length) {
    *out_length = source ? source->size_bytes : 0;
  }
  return source ? source->bytes : NULL;
}

const void *mtl_library_data(const mtl_library *library,
                             size_t *out_size_bytes) {
  if (library->metallib &&
      mtli_metallib_load_bytes((mtl_library *)library) != MTL_OK) {
    *out_size_bytes = 0;
    return NULL;
  }
  *out_size_bytes = library->compiled.size_bytes;
  return library->compiled.bytes;
}

mtl_library *mtl_library_retain(mtl_library *library) {
  if (library) {
    mtli_object_retain(&library->object);
  }
  return library;
}

void mtl_library_release(mtl_library *library) {
  if (library) {
    mtli_object_release(&library->object);
  }
}

const char *mtl_library_warnings(const mtl_library *library) {
  const char *warnings = library->compiled.code->warnings;
  return warnings ? warnings : "";
}

size_t mtl_library_function_count(const mtl_library *library) {
  return library->compiled.code->kernel_count;
}

const char *mtl_library_function_name(const mtl_library *library,
                                      size_t index) {
  const mtli_code *code = library->compiled.code;
  return index < code->kernel_count ? code->kernels[index].name : NULL;
}

bool mtl_library_function_is_visible(const mtl_library *library, size_t index) {
  const mtli_code *code = library->compiled.code;
  return index < code->kernel_count && code->kernels[index].is_visible;
}

mtl_status mtl_library_function_constants(mtl_library *library,
                                          const char *name,
                                          const mtl_constant_info **out_infos,
                                          size_t *out_count) {
  if (!library || !name || !out_infos || !out_count) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_library_function_constants: %s is NULL",
                     !library    ? "library"
                     : !name     ? "name"
                     : out_count ? "out_infos"
                                 : "out_count");
  }
  *out_infos = NULL;
  *out_count = 0;
  const mtli_code *code = library->compiled.code;
  const mtli_kernel *kernel = mtli_code_find_kernel(code, name);
  if (!kernel) {
    return mtli_fail(MTL_NOT_FOUND, "the library has no function '%s'", name);
  }
  if (library->metallib) {
    MTL_TRY(mtli_metallib_part(library, (size_t)(kernel - code->kernels),
                               &library));
  }
  *out_infos = mtl_library_constants(library, out_count);
  return MTL_OK;
}

const mtl_constant_info *mtl_library_constants(const mtl_library *library,
                                               size_t *out_count) {
  if (out_count) {
    *out_count = library->compiled.code->constant_count;
  }
  return library->constants;
}
