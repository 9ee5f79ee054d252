// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// client.c: the jobs of compiler.h: from the cache if it has the result,
// from the compiler process otherwise.
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu_identity.h"
#include "base/settings.h"
#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/client/cache.h"
#include "compiler/compiler.h"
#include "compiler/client/connection.h"
#include "compiler/client/exchange.h"

// Increased with each change of the key's contents.
enum { KEY_VERSION = 3, CHECKSUM_BYTES = 16 };

typedef struct job {
  mtlc_exchange exchange;
  // What the result depends on, besides compiler, machine and headers: the
  // request, in the form that goes into the cache's key.
  mtli_bytes key_part;
  bool wants_dump;  // the passes must run: the cache is no help
} job;

// --- keys

// Finds which compiler it would be. Known from the running process, or from
// the cache; as a last resort the process is started.
static bool find_identity(mtli_bytes *out_identity) {
  char path[PATH_MAX];
  if (mtlc_connection_identity(out_identity)) {
    return true;
  }
  if (mtlc_compiler_path(path) != MTL_OK) {
    return false;
  }
  if (mtlc_cache_load_identity(path, out_identity)) {
    return true;
  }
  if (mtlc_exchange_prepare() != MTL_OK ||
      !mtlc_connection_identity(out_identity)) {
    return false;
  }
  mtlc_cache_store_identity(path, out_identity->data, out_identity->size);
  return true;
}

static bool is_same_bytes(const mtli_bytes *a, const mtli_bytes *b) {
  return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

// The compiler that answered may be newer than the compiler that was looked up.
static bool is_identity_of_answer(const mtli_bytes *identity) {
  mtli_bytes now = {0};
  const bool is_same = mtlc_connection_identity(&now) && !now.failed &&
                       is_same_bytes(&now, identity);
  mtli_bytes_clear(&now);
  return is_same;
}

static mtli_bytes cpu_identity;
static void find_cpu_identity(void) {
  mtli_cpu_identity_append(&cpu_identity);
}

static void make_key(const job *self, const mtli_bytes *identity,
                     mtli_bytes *key) {
  static pthread_once_t cpu_once = PTHREAD_ONCE_INIT;
  pthread_once(&cpu_once, find_cpu_identity);
  mtli_bytes_append_u32(key, KEY_VERSION);
  mtli_bytes_append_u32(key, MTLI_CPU_ABI_VERSION);
  mtli_bytes_append_u32(key, (uint32_t)self->exchange.kind);
  mtli_bytes_append_block(key, cpu_identity.data, cpu_identity.size);
  mtli_bytes_append_block(key, self->key_part.data, self->key_part.size);
  mtli_bytes_append_block(key, identity->data, identity->size);
}

// --- answers

static mtl_status decode(const void *container, size_t size_bytes,
                         mtli_compiled *out) {
  out->bytes = malloc(size_bytes ? size_bytes : 1);
  if (!out->bytes) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu bytes of code",
                     size_bytes);
  }
  memcpy(out->bytes, container, size_bytes);
  out->size_bytes = size_bytes;
  return mtli_code_read(out->bytes, size_bytes, &out->arena, &out->code);
}

static bool load(const job *self, const mtli_bytes *key, mtli_compiled *out) {
  mtli_bytes container;
  if (!mtlc_cache_load(key, self->exchange.header_callback,
                       self->exchange.header_context, &container)) {
    return false;
  }
  *out = (mtli_compiled){.bytes = container.data,
                         .size_bytes = container.size,
                         .from_cache = true};
  if (mtli_code_read(out->bytes, out->size_bytes, &out->arena, &out->code) !=
      MTL_OK) {
    mtli_compiled_clear(out);
    return false;
  }
  return true;
}

static mtl_status accept_reply(const job *self, const mtlc_reply *reply,
                               mtli_compiled *out) {
  if (reply->status != MTL_OK) {
    return mtli_fail_text(reply->status, reply->text);
  }
  if (decode(reply->container, reply->container_bytes, out) != MTL_OK) {
    mtli_compiled_clear(out);
    return mtli_fail(MTL_COMPILER_LOST, "the compiler's code for %s is damaged",
                     self->exchange.name);
  }
  return MTL_OK;
}

// --- jobs

static mtl_status compile_anew(const job *self, const mtli_bytes *identity,
                               const mtli_bytes *key, mtli_compiled *out) {
  mtli_bytes bytes = {0};
  mtlc_reply reply;
  MTL_TRY(mtlc_exchange_run(&self->exchange, &bytes, &reply));
  const mtl_status status = accept_reply(self, &reply, out);
  if (status == MTL_OK && key && !key->failed &&
      is_identity_of_answer(identity)) {
    mtlc_cache_store(key, &reply);
  }
  if (status == MTL_OK && self->wants_dump) {
    out->dump = strdup(reply.text);
  }
  mtli_bytes_clear(&bytes);
  return status;
}

// Starts the compiler. The cache's word on it is another process's, for which
// it may have loaded other files: LD_LIBRARY_PATH and links change unseen.
// Then identity and key become those of the compiler that runs.
static mtl_status meet_compiler(const job *self, mtli_bytes *identity,
                                mtli_bytes *key, bool *out_is_other) {
  mtli_bytes now = {0};
  char path[PATH_MAX];
  *out_is_other = false;
  MTL_TRY(mtlc_exchange_prepare());
  if (!mtlc_connection_identity(&now) || now.failed ||
      is_same_bytes(&now, identity)) {
    mtli_bytes_clear(&now);
    return MTL_OK;
  }
  if (mtlc_compiler_path(path) == MTL_OK) {
    mtlc_cache_store_identity(path, now.data, now.size);
  }
  mtli_bytes_clear(identity);
  mtli_bytes_clear(key);
  *identity = now;
  make_key(self, identity, key);
  *out_is_other = !key->failed;
  return MTL_OK;
}

static mtl_status run_missed(const job *self, mtli_bytes *identity,
                             mtli_bytes *key, mtli_compiled *out) {
  bool is_other;
  MTL_TRY(meet_compiler(self, identity, key, &is_other));
  return is_other && load(self, key, out)
             ? MTL_OK
             : compile_anew(self, identity, key, out);
}

static mtl_status run_cached(const job *self, mtli_compiled *out) {
  mtli_bytes identity = {0}, key = {0};
  mtl_status status = MTL_OK;
  const bool is_known = find_identity(&identity);
  make_key(self, &identity, &key);
  if (!is_known || identity.failed || key.failed) {
    status = compile_anew(self, NULL, NULL, out);
  } else if (!load(self, &key, out)) {
    status = run_missed(self, &identity, &key, out);
  }
  mtli_bytes_clear(&identity);
  mtli_bytes_clear(&key);
  return status;
}

// Cancelling the thread in the middle would leave files and descriptors open.
static mtl_status run(const job *self, mtli_compiled *out) {
  int cancel_state;
  MTL_TRY(mtli_settings_check());
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
  const mtl_status status = self->wants_dump
                                ? compile_anew(self, NULL, NULL, out)
                                : run_cached(self, out);
  pthread_setcancelstate(cancel_state, NULL);
  return status;
}

static bool is_relative(const char *path) {
  return path && *path != '/';
}

// The working directory shows in a result only through relative paths: two
// programs that compile the same text in two places share the entry otherwise.
static bool depends_on_directory(const mtl_compile_options *options) {
  bool depends = is_relative(options->file_name);
  for (size_t i = 0; i < options->include_path_count; ++i) {
    depends |= is_relative(options->include_paths[i]);
  }
  return depends;
}

mtl_status mtli_compile_library(const char *source, size_t source_bytes,
                                const mtl_compile_options *options,
                                mtli_compiled *out_compiled) {
  *out_compiled = (mtli_compiled){0};
  char directory[PATH_MAX];
  mtlc_library_request request = {
      .text = source,
      .size_bytes = source_bytes,
      .options = options ? *options : (mtl_compile_options){0}};
  const mtl_compile_options *given = &request.options;
  request.has_header_callback = given->header_callback != NULL;
  mtli_bytes contents = {0};
  job self = {.exchange = {.kind = MTLC_FRAME_LIBRARY,
                           .contents = &contents,
                           .name = given->file_name ? given->file_name
                                                    : "program_source",
                           .header_callback = given->header_callback,
                           .header_context = given->header_context}};
  const char *here = getcwd(directory, sizeof directory);
  request.working_directory = depends_on_directory(given) ? here : NULL;
  mtlc_library_request_write(&request, &self.key_part);
  request.working_directory = here;
  mtlc_library_request_write(&request, &contents);
  const mtl_status status = run(&self, out_compiled);
  mtli_bytes_clear(&self.key_part);
  mtli_bytes_clear(&contents);
  return status;
}

// In the key the library stands by its size and the checksum of 128 bits that
// ends each container: a large one with thousands of kernels would otherwise
// be kept once more for every pipeline.
static void append_library(const void *library, size_t size,
                           mtli_bytes *key_part) {
  const size_t checksum = size < CHECKSUM_BYTES ? size : CHECKSUM_BYTES;
  mtli_bytes_append_u64(key_part, size);
  mtli_bytes_append(key_part, (const unsigned char *)library + size - checksum,
                    checksum);
}

static void append_request(const mtli_pipeline_request *request,
                           mtli_bytes *key_part) {
  mtlc_pipeline_request_write_rest(request, key_part);
  append_library(request->library_bytes, request->library_size_bytes, key_part);
  for (size_t i = 0; i < request->linked_count; ++i) {
    append_library(request->linked[i].library_bytes,
                   request->linked[i].library_size_bytes, key_part);
  }
}

mtl_status mtli_pipeline_key(const mtli_pipeline_request *request,
                             unsigned char out_key[16]) {
  static const mtli_bytes no_identity;
  job self = {.exchange = {.kind = MTLC_FRAME_PIPELINE}};
  mtli_bytes key = {0};
  append_request(request, &self.key_part);
  make_key(&self, &no_identity, &key);
  const bool good = !key.failed && !self.key_part.failed;
  if (good) {
    const XXH128_canonical_t hash = mtlc_text_hash(key.data, key.size);
    memcpy(out_key, &hash, sizeof hash);
  }
  mtli_bytes_clear(&self.key_part);
  mtli_bytes_clear(&key);
  return good ? MTL_OK : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a key");
}

mtl_status mtli_compile_pipeline(const mtli_pipeline_request *request,
                                 mtli_compiled *out_compiled) {
  *out_compiled = (mtli_compiled){0};
  mtli_bytes contents = {0};
  job self = {.exchange = {.kind = MTLC_FRAME_PIPELINE,
                           .contents = &contents,
                           .name = request->kernel_name},
              .wants_dump = request->dump_after != NULL};
  append_request(request, &self.key_part);
  mtlc_pipeline_request_write(request, &contents);
  const mtl_status status = run(&self, out_compiled);
  mtli_bytes_clear(&self.key_part);
  mtli_bytes_clear(&contents);
  return status;
}

// Translates a function; the cache key has the bitcode's hash, as for
// libraries.
mtl_status mtli_translate_function(const mtli_translation_request *request,
                                   mtli_compiled *out_compiled) {
  *out_compiled = (mtli_compiled){0};
  mtli_bytes contents = {0};
  job self = {.exchange = {.kind = MTLC_FRAME_TRANSLATION,
                           .contents = &contents,
                           .name = request->name}};
  const XXH128_canonical_t hash =
      mtlc_text_hash(request->bitcode, request->bitcode_bytes);
  mtlc_translation_request_write(
      &(mtli_translation_request){.name = request->name,
                                  .is_visible = request->is_visible,
                                  .bitcode = &hash,
                                  .bitcode_bytes = sizeof hash},
      &self.key_part);
  mtlc_translation_request_write(request, &contents);
  const mtl_status status = run(&self, out_compiled);
  mtli_bytes_clear(&self.key_part);
  mtli_bytes_clear(&contents);
  return status;
}

mtl_status mtli_probe_compiler(char **out_text) {
  const mtli_bytes nothing = {0};
  const mtlc_exchange exchange = {
      .kind = MTLC_FRAME_PROBE, .contents = &nothing, .name = "a probe"};
  mtli_bytes bytes = {0};
  mtlc_reply reply;
  *out_text = NULL;
  MTL_TRY(mtlc_exchange_run(&exchange, &bytes, &reply));
  *out_text = strdup(reply.text);
  mtli_bytes_clear(&bytes);
  return *out_text ? MTL_OK : mtli_fail(MTL_OUT_OF_MEMORY, "a probe's answer");
}
