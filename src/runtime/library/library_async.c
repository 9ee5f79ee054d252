// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library_async.c: compiles libraries in the background.
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

// One compilation, in a lane of its own, with copies of all that it was given.
typedef struct creation {
  mtli_task task;
  mtli_lane *lane;
  mtl_device *device;  // +1
  mtli_arena arena;    // of the copies
  const char *source;
  size_t source_bytes;
  mtl_compile_options options;
  mtl_library_callback *callback;
  void *context;
} creation;

static void creation_free(creation *work) {
  mtl_device *device = work->device;
  mtli_lane_end(work->lane);
  mtli_arena_clear(&work->arena);
  free(work);
  mtl_device_release(device);  // -1
}

// Copies a text; NULL stays NULL. Clears *good when out of memory.
static const char *copy(creation *work, const char *text, bool *good) {
  const char *copied =
      text ? mtli_arena_copy_text(&work->arena, text, strlen(text)) : NULL;
  *good = *good && (copied || !text);
  return copied;
}

// Makes the options' arrays and texts the creation's own. What is NULL and must
// not be stays so, to be told of when it is compiled.
static bool keep_options(creation *work) {
  mtl_compile_options *options = &work->options;
  bool good = true;
  mtl_macro *macros = mtli_arena_allocate(
      &work->arena, (options->macro_count + 1) * sizeof *macros);
  const char **paths = mtli_arena_allocate(
      &work->arena, (options->include_path_count + 1) * sizeof *paths);
  if (!macros || !paths) {
    return false;
  }
  for (size_t i = 0; options->macros && i < options->macro_count; i++) {
    macros[i].name = copy(work, options->macros[i].name, &good);
    macros[i].value = copy(work, options->macros[i].value, &good);
  }
  for (size_t i = 0; options->include_paths && i < options->include_path_count;
       i++) {
    paths[i] = copy(work, options->include_paths[i], &good);
  }
  options->macros = options->macros ? macros : NULL;
  options->include_paths = options->include_paths ? paths : NULL;
  options->file_name = copy(work, options->file_name, &good);
  return good;
}

static void creation_run(mtli_task *task) {
  creation *work = (creation *)task;
  mtl_library *library;
  const mtl_status status = mtl_library_create_from_source(
      work->device, work->source, work->source_bytes, &work->options, &library);
  work->callback(work->context, library, status,
                 status == MTL_OK ? "" : mtl_last_error());
  creation_free(work);
}

mtl_status mtl_library_create_from_source_async(
    mtl_device *device, const char *source, size_t source_bytes,
    const mtl_compile_options *options, mtl_library_callback *callback,
    void *context) {
  if (!device || !source || !callback) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_library_create_from_source_async: %s is NULL",
                     !device   ? "device"
                     : !source ? "source"
                               : "callback");
  }
  MTL_TRY(mtli_device_check(device));
  creation *work = calloc(1, sizeof *work);
  if (!work) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  work->device = mtl_device_retain(device);  // +1
  work->options = options ? *options : (mtl_compile_options){0};
  work->source_bytes = source_bytes;
  work->source = mtli_arena_copy_text(&work->arena, source, source_bytes);
  work->callback = callback;
  work->context = context;
  work->task.run = creation_run;
  work->lane = mtli_lane_create();
  if (!work->source || !work->lane || !keep_options(work)) {
    creation_free(work);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a library");
  }
  mtli_lane_post(work->lane, &work->task);
  return MTL_OK;
}
