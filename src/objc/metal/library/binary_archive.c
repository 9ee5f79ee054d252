// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binary_archive.c: MTLBinaryArchive.
#include "objc/metal/library/pipeline.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleBinaryArchive;

CONSTANT_STRING(MTLBinaryArchiveDomain, "MTLBinaryArchiveDomain");

typedef struct archive_descriptor {
  struct objc_object object;
  id url;
} archive_descriptor;

COPY_PROPERTY(archive_descriptor, url)
REFERENCES(archive_descriptor, url, url)
METHODS(archive_descriptor_methods, REFERENCES_METHODS(archive_descriptor),
        OBJECT_METHODS(archive_descriptor, url, "setUrl:"));
DEFINE_CLASS(MTLBinaryArchiveDescriptor, NSObject, sizeof(archive_descriptor),
             archive_descriptor_methods, NO_METHODS);

typedef struct metal_archive {
  struct objc_object object;
  id device;  // +1
  mtl_binary_archive *archive;
  id label;
} metal_archive;

COPY_PROPERTY(metal_archive, label)
READ_PROPERTY(metal_archive, id, device)

mtl_binary_archive *archive_of(id archive) {
  return archive ? ((metal_archive *)archive)->archive : NULL;
}

static const char *path_of(id url) {
  return SEND(const char *(*)(id, SEL), url, "fileSystemRepresentation");
}

static id new_archive(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const id url = descriptor ? ((archive_descriptor *)descriptor)->url : NULL;
  const mtl_binary_archive_desc desc = {.path = url ? path_of(url) : NULL};
  mtl_binary_archive *archive;
  const mtl_status status =
      mtl_binary_archive_create(device_of(self), &desc, &archive);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLBinaryArchiveDomain, status);
    return NULL;
  }
  metal_archive *made = (metal_archive *)CREATE(MettleBinaryArchive);
  made->device = objc_retain(self);
  made->archive = archive;
  return &made->object;
}

METHODS(device_methods, METHOD("newBinaryArchiveWithDescriptor:error:",
                               "@32@0:8@16^@24", new_archive));
DEFINE_CATEGORY(MettleDevice, binary_archives, device_methods);

static void archive_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_binary_archive_release(archive_of(self));
  objc_release(((metal_archive *)self)->label);
  objc_release(((metal_archive *)self)->device);
  instance_dispose(self);
}

static int archive_add(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  pipeline_request request;
  pipeline_request_open(&request, descriptor, NULL, 0);
  const mtl_status status =
      request.function ? mtl_binary_archive_add(archive_of(self),
                                                request.function, &request.desc)
                       : MTL_INVALID_ARGUMENT;
  if (!request.function && out_error) {
    *out_error = error_make(MTLBinaryArchiveDomain, 1, request.missing);
  } else if (status != MTL_OK) {
    error_from_mettle(out_error, MTLBinaryArchiveDomain, status);
  }
  pipeline_request_close(&request);
  return status == MTL_OK;
}

// Functions that others call are compiled with the calling kernel.
static int archive_add_function(id self, SEL _cmd, id descriptor, id library,
                                id *out_error) {
  (void)self;
  (void)_cmd;
  (void)descriptor;
  (void)library;
  if (out_error) {
    *out_error = error_make(
        MTLBinaryArchiveDomain, 3,
        "a function has code only in a pipeline: add the pipeline's descriptor "
        "with its linkedFunctions");
  }
  return 0;
}

static int archive_write(id self, SEL _cmd, id url, id *out_error) {
  (void)_cmd;
  const mtl_status status =
      mtl_binary_archive_write(archive_of(self), path_of(url));
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLBinaryArchiveDomain, status);
  }
  return status == MTL_OK;
}

METHODS(archive_methods, METHOD("dealloc", "v16@0:8", archive_dealloc),
        METHOD("device", "@16@0:8", metal_archive_get_device),
        OBJECT_METHODS(metal_archive, label, "setLabel:"),
        METHOD("addComputePipelineFunctionsWithDescriptor:error:",
               "B32@0:8@16^@24", archive_add),
        METHOD("addFunctionWithDescriptor:library:error:", "B40@0:8@16@24^@32",
               archive_add_function),
        METHOD("serializeToURL:error:", "B32@0:8@16^@24", archive_write));
DEFINE_CLASS(MettleBinaryArchive, NSObject, sizeof(metal_archive),
             archive_methods, NO_METHODS);
