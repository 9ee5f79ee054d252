// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// support.c: loads the support library, metal/mettle/air_library as bitcode.
// The build compiles it into a file beside the program: a hash of its inputs
// and its code container.
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/status.h"
#include "compiler/air/translate.h"
#include "compiler/frontend/headers.h"

enum { IDENTITY_BYTES = 16 };  // as containers are aligned

static const char file_name[] = "mettlec.air";
static const char source_text[] = "#include <mettle/air_library>\n";

static struct {
  mtli_arena arena;
  const mtli_blob *ir;
} library;

// Hashes the headers, which contain all of the library.
static XXH128_canonical_t identity_of_headers(void) {
  XXH128_canonical_t identity = {0};
  XXH3_state_t *state = XXH3_createState();
  if (state && XXH3_128bits_reset(state) == XXH_OK) {
    for (const mtlc_header *header = mtlc_headers; header->name; ++header) {
      XXH3_128bits_update(state, header->name, strlen(header->name) + 1);
      XXH3_128bits_update(state, header->text, header->size_bytes);
    }
    XXH128_canonicalFromHash(&identity, XXH3_128bits_digest(state));
  }
  XXH3_freeState(state);
  return identity;
}

static bool take_container(const void *bytes, size_t size_bytes) {
  mtli_code *code = NULL;
  if (mtli_code_read(bytes, size_bytes, &library.arena, &code) != MTL_OK) {
    mtli_arena_clear(&library.arena);
    return false;
  }
  library.ir = mtli_code_find_blob(code, MTLI_BLOB_IR);
  return library.ir != NULL;
}

static bool compile(mtlc_result *result) {
  const mtlc_source source = {
      .text = source_text,
      .size_bytes = sizeof source_text - 1,
      .options = {.file_name = "mettle/air_library"}};
  mtlc_compile_library(&source, result);
  return result->status == MTL_OK;
}

// --- the file ----------------------------------------------------------------

static bool make_path(const char *folder, char out[PATH_MAX]) {
  return snprintf(out, PATH_MAX, "%s/%s", folder, file_name) < PATH_MAX;
}

static void load(const char *path) {
  struct stat file;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return;
  }
  const size_t size = fstat(descriptor, &file) == 0 && file.st_size > 0
                          ? (size_t)file.st_size
                          : 0;
  void *bytes = size > IDENTITY_BYTES ? mmap(NULL, size, PROT_READ,
                                             MAP_PRIVATE, descriptor, 0)
                                      : MAP_FAILED;
  close(descriptor);
  if (bytes == MAP_FAILED) {
    return;
  }
  const XXH128_canonical_t identity = identity_of_headers();
  if (memcmp(bytes, &identity, sizeof identity) != 0 ||
      !take_container((char *)bytes + IDENTITY_BYTES, size - IDENTITY_BYTES)) {
    munmap(bytes, size);
  }
}

void mtlc_translate_prepare(void) {
  char program[PATH_MAX], path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (!library.ir && length > 0 && (size_t)length < sizeof program) {
    program[length] = '\0';
    if (make_path(dirname(program), path)) {
      load(path);
    }
  }
}

bool mtlc_translate_precompile(const char *folder) {
  char path[PATH_MAX];
  mtlc_result result = {0};
  if (!make_path(folder, path) || !compile(&result)) {
    fprintf(stderr, "the support library does not compile: %s\n",
            result.text ? result.text : "");
    return false;
  }
  const XXH128_canonical_t identity = identity_of_headers();
  FILE *file = fopen(path, "wb");
  bool ok = file && fwrite(&identity, sizeof identity, 1, file) == 1 &&
            fwrite(result.bytes, result.size_bytes, 1, file) == 1;
  ok = file && fclose(file) == 0 && ok;
  mtlc_result_clear(&result);
  return ok;
}

bool air_support_library(const void **out_bitcode, size_t *out_size_bytes) {
  if (!library.ir) {
    mtlc_result result = {0};  // lives as long as the process
    if (!compile(&result) ||
        !take_container(result.bytes, result.size_bytes)) {
      (void)mtli_fail(MTL_COMPILE_FAILED, "the support library: %s",
                      result.text ? result.text : "no code");
      return false;
    }
  }
  *out_bitcode = library.ir->bytes;
  *out_size_bytes = library.ir->size_bytes;
  return true;
}
