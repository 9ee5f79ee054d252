// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib.c: the functions of a compiled Metal library, translated one by one.
#include "runtime/library/metallib.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/metallib.h"

struct mtli_metallib_state {
  pthread_mutex_t lock;        // of parts, and of the library's bytes
  mtli_metallib_source source;
  int file;                    // -1 for a library in memory
  mtli_code code;              // names alone
  const mtli_metallib_function **functions;  // [code.kernel_count]
  mtl_library **parts;         // likewise; +1 each, NULL for none yet
};

static mtl_status read_file(void *context, uint64_t offset, void *out,
                            size_t size) {
  const struct mtli_metallib_state *state = context;
  for (size_t done = 0; done < size;) {
    const ssize_t count = pread(state->file, (char *)out + done, size - done,
                                (off_t)(offset + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return mtli_fail(MTL_IO_ERROR, "a compiled Metal library: %s",
                       count < 0 ? strerror(errno) : "it has become shorter");
    }
    done += (size_t)count;
  }
  return MTL_OK;
}

// --- the list ----------------------------------------------------------------

static const char *stage_name(uint32_t stage) {
  switch (stage) {
    case MTLI_METALLIB_VERTEX: return "vertex";
    case MTLI_METALLIB_FRAGMENT: return "fragment";
    case MTLI_METALLIB_UNQUALIFIED: return "unqualified";
    case MTLI_METALLIB_EXTERN: return "extern";
    case MTLI_METALLIB_INTERSECTION: return "intersection";
    default: return "unknown";
  }
}

static bool is_ours(const mtli_metallib_function *function) {
  return function->stage == MTLI_METALLIB_KERNEL ||
         function->stage == MTLI_METALLIB_VISIBLE;
}

// Lists the functions that can run here, kernels first.
static void list_functions(struct mtli_metallib_state *state,
                           const mtli_metallib *list, uint32_t stage) {
  for (size_t i = 0; i < list->function_count; i++) {
    const mtli_metallib_function *function = &list->functions[i];
    if (function->stage == stage) {
      const size_t place = state->code.kernel_count++;
      state->functions[place] = function;
      state->code.kernels[place] = (mtli_kernel){
          .name = function->name,
          .is_visible = stage == MTLI_METALLIB_VISIBLE};
    }
  }
}

// Lists the other functions, a line each: the stage, a blank, the name.
static char *list_others(mtli_arena *arena, const mtli_metallib *list) {
  size_t size = 1;
  for (size_t i = 0; i < list->function_count; i++) {
    const mtli_metallib_function *function = &list->functions[i];
    size += is_ours(function) ? 0
                              : strlen(stage_name(function->stage)) +
                                    strlen(function->name) + 2;
  }
  char *text = mtli_arena_allocate(arena, size), *at = text;
  for (size_t i = 0; text && i < list->function_count; i++) {
    const mtli_metallib_function *function = &list->functions[i];
    if (!is_ours(function)) {
      at = stpcpy(stpcpy(at, stage_name(function->stage)), " ");
      at = stpcpy(stpcpy(at, function->name), "\n");
    }
  }
  if (text) {
    *at = '\0';
  }
  return text;
}

static mtl_status make_list(struct mtli_metallib_state *state,
                            mtli_compiled *compiled) {
  mtli_metallib list;
  mtli_arena *arena = &compiled->arena;
  MTL_TRY(mtli_metallib_read(&state->source, arena, &list));
  const size_t room = list.function_count + 1;
  state->code.kernels = mtli_arena_allocate(arena, room * sizeof(mtli_kernel));
  state->functions =
      mtli_arena_allocate(arena, room * sizeof *state->functions);
  state->parts = calloc(room, sizeof *state->parts);
  state->code.other_functions = list_others(arena, &list);
  if (!state->code.kernels || !state->functions || !state->parts ||
      !state->code.other_functions) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu functions",
                     list.function_count);
  }
  list_functions(state, &list, MTLI_METALLIB_KERNEL);
  list_functions(state, &list, MTLI_METALLIB_VISIBLE);
  state->code.warnings =
      list.has_source
          ? "the library has its sources inside, which may be compiled instead"
          : "";
  compiled->code = &state->code;
  return MTL_OK;
}

static struct mtli_metallib_state *make_state(mtl_library *library) {
  struct mtli_metallib_state *state = calloc(1, sizeof *state);
  if (state) {
    pthread_mutex_init(&state->lock, NULL);
    state->file = -1;
    library->metallib = state;
  }
  return state;
}

// --- opening, closing --------------------------------------------------------

mtl_status mtli_metallib_open_memory(mtl_library *library, void *bytes,
                                     size_t size_bytes) {
  library->compiled.bytes = bytes;
  library->compiled.size_bytes = size_bytes;
  struct mtli_metallib_state *state = make_state(library);
  if (!state) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  state->source = mtli_metallib_in_memory(bytes, size_bytes);
  return make_list(state, &library->compiled);
}

static bool begins_as_metallib(int file) {
  unsigned char magic[MTLI_METALLIB_MAGIC_BYTES];
  const ssize_t size = pread(file, magic, sizeof magic, 0);
  return size > 0 && mtli_metallib_is(magic, (size_t)size);
}

mtl_status mtli_metallib_open_file(mtl_library *library, const char *path,
                                   bool *out_is) {
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  *out_is = file >= 0 && fstat(file, &status) == 0 &&
            S_ISREG(status.st_mode) && begins_as_metallib(file);
  if (!*out_is) {
    if (file >= 0) {
      close(file);
    }
    return MTL_OK;
  }
  struct mtli_metallib_state *state = make_state(library);
  if (!state) {
    close(file);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  state->file = file;
  state->source = (mtli_metallib_source){.size_bytes = (uint64_t)status.st_size,
                                         .read = read_file,
                                         .context = state};
  return make_list(state, &library->compiled);
}

void mtli_metallib_close(mtl_library *library) {
  struct mtli_metallib_state *state = library->metallib;
  if (!state) {
    return;
  }
  for (size_t i = 0; state->parts && i < state->code.kernel_count; i++) {
    mtl_library_release(state->parts[i]);  // -1
  }
  free(state->parts);
  if (state->file >= 0) {
    close(state->file);
  }
  pthread_mutex_destroy(&state->lock);
  free(state);
  library->metallib = NULL;
}

mtl_status mtli_metallib_load_bytes(mtl_library *library) {
  struct mtli_metallib_state *state = library->metallib;
  mtli_compiled *compiled = &library->compiled;
  mtl_status status = MTL_OK;
  pthread_mutex_lock(&state->lock);
  if (!compiled->bytes) {
    const size_t size = (size_t)state->source.size_bytes;
    void *bytes = malloc(size ? size : 1);
    status = bytes ? read_file(state, 0, bytes, size)
                   : mtli_fail(MTL_OUT_OF_MEMORY,
                               "no memory for a library of %zu bytes", size);
    if (status == MTL_OK) {
      compiled->bytes = bytes;
      compiled->size_bytes = size;
    } else {
      free(bytes);
    }
  }
  pthread_mutex_unlock(&state->lock);
  return status;
}

// --- parts -------------------------------------------------------------------

static mtl_status translate(mtl_library *library,
                            const mtli_metallib_function *function,
                            mtl_library **out_part) {
  struct mtli_metallib_state *state = library->metallib;
  const size_t size = (size_t)function->bitcode_bytes;
  void *bitcode = malloc(size ? size : 1);
  if (!bitcode) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a function of %zu bytes",
                     size);
  }
  mtl_status status = state->source.read(
      state->source.context, function->bitcode_offset, bitcode, size);
  mtli_compiled compiled = {0};
  if (status == MTL_OK) {
    const mtli_translation_request request = {
        .bitcode = bitcode,
        .bitcode_bytes = size,
        .name = function->name,
        .is_visible = function->stage == MTLI_METALLIB_VISIBLE};
    status = mtli_translate_function(&request, &compiled);
  }
  free(bitcode);
  return status == MTL_OK ? mtli_library_create_compiled(
                                library->device, &compiled, out_part)
                          : status;
}

// Several threads may translate the same function: the first result is kept.
mtl_status mtli_metallib_part(mtl_library *library, size_t index,
                              mtl_library **out_part) {
  struct mtli_metallib_state *state = library->metallib;
  pthread_mutex_lock(&state->lock);
  *out_part = state->parts[index];
  pthread_mutex_unlock(&state->lock);
  if (*out_part) {
    return MTL_OK;
  }
  mtl_library *part = NULL;
  MTL_TRY(translate(library, state->functions[index], &part));
  pthread_mutex_lock(&state->lock);
  if (!state->parts[index]) {
    state->parts[index] = part;  // +1
    part = NULL;
  }
  *out_part = state->parts[index];
  pthread_mutex_unlock(&state->lock);
  mtl_library_release(part);
  return MTL_OK;
}
