// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// codegen_service.c: MTLCodeGenService, the private interface by which tinygrad
// compiles Metal source to bytes, and the format of those bytes.
//
// A library is "MTLB", a head, the source, a code container of Mettle's, and
// "ENDT". It carries the source because clients cache the bytes by the source's
// text alone: a container of another version of Mettle is compiled again.
//
// Source  tinygrad's ops_metal.py, for the layout of request and reply
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/metal/metal.h"
#include "objc/runtime/memory/block.h"

typedef struct library_head {
  char magic[4];   // "MTLB"
  char maker[4];   // "MTRL": ours, not Apple's
  uint32_t math;   // mtl_math_mode
  uint32_t language;
  uint64_t source_bytes;
  uint64_t container_bytes;
} library_head;

static const char end_mark[4] = {'E', 'N', 'D', 'T'};

// --- Out ---------------------------------------------------------------------

// Writes head, source, container and mark. NULL if there is no memory.
static char *library_bytes(const library_head *head, const char *source,
                           const void *container, size_t *out_length) {
  const size_t length = sizeof *head + head->source_bytes +
                        head->container_bytes + sizeof end_mark;
  char *bytes = malloc(length);
  if (bytes) {
    char *at = bytes;
    memcpy(at, head, sizeof *head);
    at += sizeof *head;
    memcpy(at, source, head->source_bytes);
    at += head->source_bytes;
    memcpy(at, container, head->container_bytes);
    memcpy(at + head->container_bytes, end_mark, sizeof end_mark);
  }
  *out_length = length;
  return bytes;
}

// --- In ----------------------------------------------------------------------

// True if bytes are whole: their lengths add up.
static bool is_whole(const library_head *head, const char *bytes,
                     size_t length) {
  const size_t rest = length - sizeof *head;
  return rest >= sizeof end_mark && head->source_bytes <= rest &&
         head->container_bytes <= rest - head->source_bytes &&
         head->source_bytes + head->container_bytes + sizeof end_mark == rest &&
         !memcmp(bytes + length - sizeof end_mark, end_mark, sizeof end_mark);
}

bool library_is_of_apple(const char *path) {
  char start[8] = "";
  FILE *file = fopen(path, "rbe");
  const size_t size = file ? fread(start, 1, sizeof start, file) : 0;
  if (file) {
    fclose(file);
  }
  // True for a library that has no source with it and is not joined.
  return size == sizeof start && memcmp(start, "MTLB", 4) == 0 &&
         memcmp(start + 4, "MTRL", 4) != 0 &&
         memcmp(start + 4, "MTLJ", 4) != 0;
}

mtl_status library_from_data(mtl_device *device, const void *data,
                             size_t length, mtl_library **out_library) {
  const char *bytes = data;
  library_head head;
  *out_library = NULL;
  if (length < sizeof head || memcmp(bytes, "MTLB", 4) != 0) {
    return mtl_library_create_from_data(device, data, length, out_library);
  }
  memcpy(&head, bytes, sizeof head);
  if (memcmp(head.maker, "MTRL", 4) != 0) {  // of Apple's compiler
    return mtl_library_create_from_data(device, data, length, out_library);
  }
  if (!is_whole(&head, bytes, length)) {
    return mtl_fail(MTL_BAD_DATA,
                    "a library of %zu bytes is cut short or damaged", length);
  }
  const char *source = bytes + sizeof head;
  const mtl_status status = mtl_library_create_from_data(
      device, source + head.source_bytes, head.container_bytes, out_library);
  if (status != MTL_BAD_DATA) {
    return status;
  }
  const mtl_compile_options options = {
      .math_mode = (mtl_math_mode)head.math,
      .language_version = (mtl_language_version)head.language};
  return mtl_library_create_from_source(device, source, head.source_bytes,
                                        &options, out_library);
}

// --- The service -------------------------------------------------------------

typedef struct service {
  char *name;
} service;

OBJC_EXPORT void *MTLCodeGenServiceCreate(const char *name) {
  service *made = calloc(1, sizeof *made);
  if (made) {
    made->name = strdup(name ? name : "");
  }
  return made;
}

OBJC_EXPORT void MTLCodeGenServiceDestroy(void *created) {
  if (created) {
    free(((service *)created)->name);
    free(created);
  }
}

// The block's invoke is the only field that callers by ctypes have: it is
// called before the request returns, and the block is never copied.
static void reply(const void *literal, int error, const void *bytes,
                  size_t length, const char *message) {
  ((void (*)(const void *, int, const void *, size_t, const char *))((block *)
                                                                         literal)
       ->invoke)(literal, error, bytes, length, message);
}

static mtl_compile_options options_of(const char *params) {
  mtl_compile_options options = {0};
  if (strstr(params, "-fno-fast-math")) {
    options.math_mode = MTL_MATH_SAFE;
  }
  const char *version = strstr(params, "metal3.");
  if (strstr(params, "metal4.")) {
    options.language_version =
        strstr(params, "metal4.0") ? MTL_LANGUAGE_4_0 : MTL_LANGUAGE_4_1;
  } else if (version) {
    options.language_version = (mtl_language_version)(
        300 + 10 * strtol(version + strlen("metal3."), NULL, 10));
    if (options.language_version > MTL_LANGUAGE_3_2) {
      options.language_version = MTL_LANGUAGE_3_2;
    }
  } else if (strstr(params, "metal2.")) {
    options.language_version = MTL_LANGUAGE_2_4;
  }
  return options;
}

// Compiles, and makes the reply: 8 bytes, the sizes of its own head and of the
// warnings, the warnings, the library.
static char *compile(mtl_device *device, const char *source,
                     const mtl_compile_options *options, size_t *out_length) {
  mtl_library *library;
  if (mtl_library_create_from_source(device, source, strlen(source), options,
                                     &library) != MTL_OK) {
    return NULL;
  }
  size_t container_bytes, library_length;
  const void *container = mtl_library_data(library, &container_bytes);
  const library_head head = {.magic = {'M', 'T', 'L', 'B'},
                             .maker = {'M', 'T', 'R', 'L'},
                             .math = options->math_mode,
                             .language = options->language_version,
                             .source_bytes = strlen(source),
                             .container_bytes = container_bytes};
  char *bytes = library_bytes(&head, source, container, &library_length);
  const char *warnings = mtl_library_warnings(library);
  const uint32_t warning_bytes = (uint32_t)strlen(warnings) + 1;
  const uint32_t sizes[4] = {0, 0, 16, warning_bytes};
  *out_length = sizeof sizes + warning_bytes + library_length;
  char *made = bytes ? malloc(*out_length) : NULL;
  if (made) {
    memcpy(made, sizes, sizeof sizes);
    memcpy(made + sizeof sizes, warnings, warning_bytes);
    memcpy(made + sizeof sizes + warning_bytes, bytes, library_length);
  }
  free(bytes);
  mtl_library_release(library);
  return made;
}

enum { REQUEST_COMPILE = 13 };

// request is the bytes of source and of parameters, 64 bits each, and both
// texts, each ended by a 0.
OBJC_EXPORT void MTLCodeGenServiceBuildRequest(void *created, const void *unused,
                                               int kind, const char *request,
                                               size_t length,
                                               const void *literal) {
  (void)created;
  (void)unused;
  uint64_t sizes[2] = {0, 0};
  if (length >= sizeof sizes) {
    memcpy(sizes, request, sizeof sizes);
  }
  const size_t rest = length - sizeof sizes;
  if (kind != REQUEST_COMPILE || length < sizeof sizes || !sizes[0] ||
      sizes[0] > rest || sizes[1] > rest - sizes[0]) {
    reply(literal, 1, NULL, 0, "not a request to compile Metal source");
    return;
  }
  char *source = strndup(request + sizeof sizes, sizes[0]);
  char *params = strndup(request + sizeof sizes + sizes[0], sizes[1]);
  mtl_device *device = NULL;
  char *bytes = NULL;
  size_t reply_length = 0;
  if (source && params && mtl_device_default(&device) == MTL_OK) {
    const mtl_compile_options options = options_of(params);
    bytes = compile(device, source, &options, &reply_length);
  }
  if (bytes) {
    reply(literal, 0, bytes, reply_length, NULL);
  } else {
    reply(literal, 1, NULL, 0, mtl_last_error());
  }
  mtl_device_release(device);
  free(bytes);
  free(source);
  free(params);
}
