// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binary_archive.c: the code of pipelines, in files of the program's own.
#include "mettle/binary_archive.h"

#include <stdlib.h>
#include <string.h>

#include "code/archive.h"
#include "runtime/files.h"
#include "runtime/library/archives.h"
#include "runtime/objects.h"

struct mtl_binary_archive {
  mtli_object object;
  mtl_device *device;  // +1
  char *label;         // NULL for none
  pthread_mutex_t lock;
  mtli_archive contents;
};

static void archive_destroy(mtli_object *object) {
  mtl_binary_archive *archive = (mtl_binary_archive *)object;
  mtl_device *device = archive->device;
  mtli_archive_clear(&archive->contents);
  pthread_mutex_destroy(&archive->lock);
  free(archive->label);
  free(archive);
  mtl_device_release(device);  // -1
}

static mtl_status read_file(const char *path, mtli_archive *out_contents) {
  void *bytes = NULL;
  size_t size_bytes = 0;
  MTL_TRY(mtli_file_read(path, &bytes, &size_bytes));
  const mtl_status status = mtli_archive_read(bytes, size_bytes, out_contents);
  free(bytes);
  return status == MTL_OK
             ? MTL_OK
             : mtli_fail(status, "'%s': %s", path, mtl_last_error());
}

static mtl_status read_contents(const mtl_binary_archive_desc *desc,
                                mtli_archive *out_contents) {
  *out_contents = (mtli_archive){0};
  if (desc->path && desc->data) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_binary_archive_create: both path and data are given");
  }
  if (desc->path) {
    return read_file(desc->path, out_contents);
  }
  return desc->data
             ? mtli_archive_read(desc->data, desc->data_bytes, out_contents)
             : MTL_OK;
}

mtl_status mtl_binary_archive_create(mtl_device *device,
                                     const mtl_binary_archive_desc *desc,
                                     mtl_binary_archive **out_archive) {
  static const mtl_binary_archive_desc defaults;
  if (!device || !out_archive) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_binary_archive_create: %s is NULL",
                     device ? "out_archive" : "device");
  }
  *out_archive = NULL;
  desc = desc ? desc : &defaults;
  MTL_TRY(mtli_device_check(device));
  if (device->driver->code_kind == MTLI_BLOB_SOURCE) {
    return mtli_fail(
        MTL_UNSUPPORTED,
        "device '%s' compiles by itself: its code is in no archive",
        device->info.name);
  }
  mtli_archive contents;
  MTL_TRY(read_contents(desc, &contents));
  mtl_binary_archive *archive = calloc(1, sizeof *archive);
  if (!archive) {
    mtli_archive_clear(&contents);
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an archive");
  }
  mtli_object_init(&archive->object, archive_destroy);
  archive->device = mtl_device_retain(device);  // +1
  archive->label = mtli_label_copy(desc->label);
  archive->contents = contents;
  pthread_mutex_init(&archive->lock, NULL);
  *out_archive = archive;
  return MTL_OK;
}

mtl_binary_archive *mtl_binary_archive_retain(mtl_binary_archive *archive) {
  if (archive) {
    mtli_object_retain(&archive->object);
  }
  return archive;
}

void mtl_binary_archive_release(mtl_binary_archive *archive) {
  if (archive) {
    mtli_object_release(&archive->object);
  }
}

size_t mtl_binary_archive_count(const mtl_binary_archive *archive) {
  pthread_mutex_t *lock = (pthread_mutex_t *)&archive->lock;
  pthread_mutex_lock(lock);
  const size_t count = archive->contents.count;
  pthread_mutex_unlock(lock);
  return count;
}

const char *mtl_binary_archive_label(const mtl_binary_archive *archive) {
  return archive->label ? archive->label : "";
}

mtl_device *mtl_binary_archive_device(const mtl_binary_archive *archive) {
  return archive->device;
}

mtl_status mtl_binary_archive_add(mtl_binary_archive *archive,
                                  mtl_function *function,
                                  const mtl_pipeline_desc *desc) {
  static const char call[] = "mtl_binary_archive_add";
  if (!archive || !function) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     archive ? "function" : "archive");
  }
  if (function->library->device != archive->device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: function '%s' is of device '%s', the archive of '%s'",
                     call, function->kernel->name,
                     function->library->device->info.name,
                     archive->device->info.name);
  }
  mtl_pipeline_desc wanted = desc ? *desc : (mtl_pipeline_desc){0};
  wanted.archives = &archive;  // code that is already in the archive is not
                               // compiled again
  wanted.archive_count = 1;
  wanted.fail_on_archive_miss = false;
  wanted.dump_after = NULL;
  mtl_pipeline *pipeline = NULL;
  MTL_TRY(mtli_pipeline_create_into(function, &wanted, archive, &pipeline));
  mtl_pipeline_release(pipeline);
  return MTL_OK;
}

mtl_status mtl_binary_archive_write(const mtl_binary_archive *archive,
                                    const char *path) {
  if (!archive || !path) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_binary_archive_write: %s is NULL",
                     archive ? "path" : "archive");
  }
  mtli_bytes bytes = {0};
  pthread_mutex_t *lock = (pthread_mutex_t *)&archive->lock;
  pthread_mutex_lock(lock);
  mtl_status status = mtli_archive_write(&archive->contents, &bytes);
  pthread_mutex_unlock(lock);
  if (status == MTL_OK) {
    status = mtli_file_write(path, bytes.data, bytes.size);
  }
  mtli_bytes_clear(&bytes);
  return status;
}

// --- pipelines ---------------------------------------------------------------

void mtli_archives_clear(mtli_archives *archives) {
  for (size_t i = 0; i < archives->count; i++) {
    mtl_binary_archive_release(archives->items[i]);  // -1
  }
  free(archives->items);
  *archives = (mtli_archives){0};
}

mtl_status mtli_archives_create(const mtl_device *device,
                                const mtl_pipeline_desc *desc,
                                mtli_archives *out_archives) {
  *out_archives = (mtli_archives){0};
  for (size_t i = 0; i < desc->archive_count; i++) {
    if (!desc->archives || !desc->archives[i] ||
        desc->archives[i]->device != device) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "archive %zu of %zu is NULL or of another device", i,
                       desc->archive_count);
    }
  }
  if (!desc->archive_count) {
    return MTL_OK;
  }
  out_archives->items =
      malloc(desc->archive_count * sizeof *out_archives->items);
  if (!out_archives->items) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu archives",
                     desc->archive_count);
  }
  for (size_t i = 0; i < desc->archive_count; i++) {
    out_archives->items[i] =
        mtl_binary_archive_retain(desc->archives[i]);  // +1
  }
  out_archives->count = desc->archive_count;
  return MTL_OK;
}

// Copies a container out and decodes it. The lock is held.
static mtl_status take(const mtli_archive_entry *entry,
                       mtli_compiled *out_compiled) {
  *out_compiled = (mtli_compiled){.size_bytes = entry->size_bytes,
                                  .bytes = malloc(entry->size_bytes + 1),
                                  .from_cache = true};
  if (!out_compiled->bytes) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for %zu bytes of code",
                     entry->size_bytes);
  }
  memcpy(out_compiled->bytes, entry->bytes, entry->size_bytes);
  const mtl_status status =
      mtli_code_read(out_compiled->bytes, out_compiled->size_bytes,
                     &out_compiled->arena, &out_compiled->code);
  if (status != MTL_OK) {
    mtli_compiled_clear(out_compiled);
  }
  return status;
}

mtl_status mtli_archives_find(const mtli_archives *archives,
                              const unsigned char key[MTLI_ARCHIVE_KEY_BYTES],
                              mtli_compiled *out_compiled) {
  for (size_t i = 0; i < archives->count; i++) {
    mtl_binary_archive *archive = archives->items[i];
    pthread_mutex_lock(&archive->lock);
    const mtli_archive_entry *entry =
        mtli_archive_find(&archive->contents, key);
    const mtl_status status = entry ? take(entry, out_compiled) : MTL_NOT_FOUND;
    pthread_mutex_unlock(&archive->lock);
    if (entry) {
      return status;
    }
  }
  return MTL_NOT_FOUND;
}

mtl_status mtli_binary_archive_put(
    mtl_binary_archive *archive,
    const unsigned char key[MTLI_ARCHIVE_KEY_BYTES], const char *name,
    const mtli_compiled *compiled) {
  pthread_mutex_lock(&archive->lock);
  const mtl_status status = mtli_archive_add(
      &archive->contents, key, name, compiled->bytes, compiled->size_bytes);
  pthread_mutex_unlock(&archive->lock);
  return status;
}
