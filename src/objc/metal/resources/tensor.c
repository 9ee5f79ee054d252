// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.c: MTLTensor, its descriptor and extents, and their binding.
#include <string.h>

#include "objc/metal/metal.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleComputeEncoder;
extern struct objc_class OBJC_CLASS_$_MettleTensor;
extern struct objc_class OBJC_CLASS_$_MTLTensorExtents;

CONSTANT_STRING(MTLTensorDomain, "MTLTensorDomain");

// --- MTLTensorExtents --------------------------------------------------------

typedef struct tensor_extents {
  struct objc_object object;
  NSUInteger rank;
  NSInteger values[MTL_MAX_TENSOR_RANK];
} tensor_extents;

READ_PROPERTY(tensor_extents, NSUInteger, rank)

// nil for a rank over MTL_MAX_TENSOR_RANK. Without values all are 1.
static id extents_init(id self, SEL _cmd, NSUInteger rank,
                       const NSInteger *values) {
  (void)_cmd;
  if (rank > MTL_MAX_TENSOR_RANK) {
    objc_release(self);
    return NULL;
  }
  tensor_extents *made = (tensor_extents *)self;
  made->rank = rank;
  for (NSUInteger i = 0; i < rank; ++i) {
    made->values[i] = values ? values[i] : 1;
  }
  return self;
}

// -1 past the last dimension.
static NSInteger extents_at(id self, SEL _cmd, NSUInteger dimension) {
  (void)_cmd;
  const tensor_extents *from = (tensor_extents *)self;
  return dimension < from->rank ? from->values[dimension] : -1;
}

static int extents_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  const tensor_extents *a = (tensor_extents *)self;
  const tensor_extents *b = (tensor_extents *)other;
  return other && other->isa == self->isa && a->rank == b->rank &&
         memcmp(a->values, b->values, a->rank * sizeof a->values[0]) == 0;
}

static NSUInteger extents_hash(id self, SEL _cmd) {
  (void)_cmd;
  const tensor_extents *from = (tensor_extents *)self;
  NSUInteger hash = from->rank;
  for (NSUInteger i = 0; i < from->rank; ++i) {
    hash = hash * 31 + (NSUInteger)from->values[i];
  }
  return hash;
}

// Tensor extents never change.
static id extents_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(extents_methods,
        METHOD("initWithRank:values:", "@32@0:8Q16r^q24", extents_init),
        METHOD("rank", "Q16@0:8", tensor_extents_get_rank),
        METHOD("extentAtDimensionIndex:", "q24@0:8Q16", extents_at),
        METHOD("isEqual:", "B24@0:8@16", extents_equal),
        METHOD("hash", "Q16@0:8", extents_hash),
        METHOD("copyWithZone:", "@24@0:8^v16", extents_copy));
DEFINE_CLASS(MTLTensorExtents, NSObject, sizeof(tensor_extents),
             extents_methods, NO_METHODS);

id tensor_extents_make(uint32_t rank, const int64_t *values) {
  tensor_extents *made = (tensor_extents *)CREATE(MTLTensorExtents);
  made->rank = rank;
  for (uint32_t i = 0; i < rank; ++i) {
    made->values[i] = values[i];
  }
  return objc_autorelease(&made->object);
}

// --- MTLTensorDescriptor -----------------------------------------------------

enum { TYPE_FLOAT32 = 3, USAGE_COMPUTE = 1 };

typedef struct tensor_descriptor {
  struct objc_object object;
  id dimensions;
  id strides;  // nil for packed
  NSUInteger dataType;
  NSUInteger usage;
  NSUInteger cpuCacheMode;
  NSUInteger storageMode;
  NSUInteger hazardTrackingMode;
} tensor_descriptor;

REFERENCES(tensor_descriptor, dimensions, strides)
OBJECT_PROPERTY(tensor_descriptor, dimensions)
OBJECT_PROPERTY(tensor_descriptor, strides)
VALUE_PROPERTY(tensor_descriptor, NSUInteger, dataType)
VALUE_PROPERTY(tensor_descriptor, NSUInteger, usage)
VALUE_PROPERTY(tensor_descriptor, NSUInteger, cpuCacheMode)
VALUE_PROPERTY(tensor_descriptor, NSUInteger, storageMode)
VALUE_PROPERTY(tensor_descriptor, NSUInteger, hazardTrackingMode)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  tensor_descriptor *made = (tensor_descriptor *)self;
  const int64_t one = 1;
  made->dimensions = objc_retain(tensor_extents_make(1, &one));
  made->dataType = TYPE_FLOAT32;
  made->usage = USAGE_COMPUTE;
  return self;
}

static NSUInteger options_of(const tensor_descriptor *from) {
  return from->cpuCacheMode | from->storageMode << 4 |
         from->hazardTrackingMode << 8;
}

static NSUInteger descriptor_options(id self, SEL _cmd) {
  (void)_cmd;
  return options_of((tensor_descriptor *)self);
}

static void descriptor_set_options(id self, SEL _cmd, NSUInteger options) {
  (void)_cmd;
  tensor_descriptor *to = (tensor_descriptor *)self;
  to->cpuCacheMode = options & 15;
  to->storageMode = options >> 4 & 15;
  to->hazardTrackingMode = options >> 8 & 3;
}

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        REFERENCES_METHODS(tensor_descriptor),
        OBJECT_METHODS(tensor_descriptor, dimensions, "setDimensions:"),
        OBJECT_METHODS(tensor_descriptor, strides, "setStrides:"),
        VALUE_METHODS(tensor_descriptor, dataType, "setDataType:", "q"),
        VALUE_METHODS(tensor_descriptor, usage, "setUsage:", "Q"),
        VALUE_METHODS(tensor_descriptor, cpuCacheMode, "setCpuCacheMode:", "Q"),
        VALUE_METHODS(tensor_descriptor, storageMode, "setStorageMode:", "Q"),
        VALUE_METHODS(tensor_descriptor, hazardTrackingMode,
                      "setHazardTrackingMode:", "Q"),
        METHOD("resourceOptions", "Q16@0:8", descriptor_options),
        METHOD("setResourceOptions:", "v24@0:8Q16", descriptor_set_options));
DEFINE_CLASS(MTLTensorDescriptor, NSObject, sizeof(tensor_descriptor),
             descriptor_methods, NO_METHODS);

// MTLTensorDataType, as MTLDataType; MTL_TYPE_NONE for any other.
static mtl_data_type tensor_type_of(NSUInteger type) {
  switch (type) {
    case TYPE_FLOAT32: return MTL_TYPE_FLOAT;
    case 16: return MTL_TYPE_HALF;
    case 29: return MTL_TYPE_INT;
    case 33: return MTL_TYPE_UINT;
    case 37: return MTL_TYPE_SHORT;
    case 41: return MTL_TYPE_USHORT;
    case 45: return MTL_TYPE_CHAR;
    case 49: return MTL_TYPE_UCHAR;
    case 81: return MTL_TYPE_LONG;
    case 85: return MTL_TYPE_ULONG;
    case 121: return MTL_TYPE_BFLOAT;
    default: return MTL_TYPE_NONE;
  }
}

typedef struct wanted_tensor {
  mtl_buffer_tensor_desc desc;
  int64_t extents[MTL_MAX_TENSOR_RANK];
  int64_t strides[MTL_MAX_TENSOR_RANK];
} wanted_tensor;

// Reads a descriptor; false with the thread's error if it has other strides
// than dimensions.
static bool read_descriptor(id descriptor, wanted_tensor *out) {
  const tensor_descriptor *from = (tensor_descriptor *)descriptor;
  const tensor_extents *extents = (tensor_extents *)from->dimensions;
  const tensor_extents *strides = (tensor_extents *)from->strides;
  *out = (wanted_tensor){.desc = {.type = tensor_type_of(from->dataType),
                                  .rank = extents ? (uint32_t)extents->rank : 0,
                                  .extents = out->extents}};
  if (strides && strides->rank != out->desc.rank) {
    (void)mtl_fail(MTL_INVALID_ARGUMENT,
                   "an MTLTensorDescriptor has %u dimensions and %u strides",
                   out->desc.rank, (unsigned)strides->rank);
    return false;
  }
  for (uint32_t i = 0; i < out->desc.rank; ++i) {
    out->extents[i] = extents->values[i];
    out->strides[i] = strides ? strides->values[i] : 0;
  }
  out->desc.strides = strides ? out->strides : NULL;
  return true;
}

// --- MTLTensor ---------------------------------------------------------------

typedef struct metal_tensor {
  struct objc_object object;
  id device;  // +1
  id buffer;  // +1, the buffer that the client made it of; or nil
  NSUInteger buffer_offset;
  id dimensions;  // +1
  id strides;     // +1
  NSUInteger data_type;
  NSUInteger usage;
  NSUInteger options;
  mtl_buffer_tensor *tensor;
  id label;
} metal_tensor;

COPY_PROPERTY(metal_tensor, label)
READ_PROPERTY(metal_tensor, id, device)
READ_PROPERTY(metal_tensor, id, buffer)
READ_PROPERTY(metal_tensor, id, dimensions)
READ_PROPERTY(metal_tensor, id, strides)
READ_PROPERTY(metal_tensor, NSUInteger, buffer_offset)
READ_PROPERTY(metal_tensor, NSUInteger, data_type)
READ_PROPERTY(metal_tensor, NSUInteger, usage)
READ_PROPERTY(metal_tensor, NSUInteger, options)

static mtl_buffer_tensor *tensor_of(id tensor) {
  return tensor ? ((metal_tensor *)tensor)->tensor : NULL;
}

mtl_buffer *tensor_buffer(id object) {
  return object && object->isa == &OBJC_CLASS_$_MettleTensor
             ? mtl_buffer_tensor_buffer(tensor_of(object))
             : NULL;
}

static id tensor_make(id device, id descriptor, mtl_buffer_tensor *tensor) {
  const tensor_descriptor *from = (tensor_descriptor *)descriptor;
  const mtl_buffer_tensor_desc *info = mtl_buffer_tensor_info(tensor);
  metal_tensor *made = (metal_tensor *)CREATE(MettleTensor);
  made->device = objc_retain(device);
  made->dimensions =
      objc_retain(tensor_extents_make(info->rank, info->extents));
  made->strides = objc_retain(tensor_extents_make(info->rank, info->strides));
  made->data_type = from->dataType;
  made->usage = from->usage;
  made->options = options_of(from);
  made->tensor = tensor;
  resource_add((uint64_t)(uintptr_t)made, &made->object);
  return &made->object;
}

static id failed(id *out_error, mtl_status status) {
  if (out_error) {
    error_from_mettle(out_error, MTLTensorDomain, status);
  }
  return NULL;
}

// Creates a tensor in memory of its own.
static id new_tensor(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  wanted_tensor wanted;
  size_t size_bytes = 0;
  mtl_buffer *buffer = NULL;
  mtl_buffer_tensor *tensor = NULL;
  mtl_status status = MTL_INVALID_ARGUMENT;
  if (read_descriptor(descriptor, &wanted)) {
    status = mtl_buffer_tensor_size(&wanted.desc, &size_bytes);
  }
  if (status == MTL_OK) {
    const NSUInteger options = options_of((tensor_descriptor *)descriptor);
    status = mtl_buffer_create(
        device_of(self),
        &(mtl_buffer_desc){.length_bytes = size_bytes,
                           .storage_mode = storage_mode_of(options),
                           .hazard_tracking = hazard_tracking_of(options)},
        &buffer);
  }
  if (status == MTL_OK) {
    status = mtl_buffer_tensor_create(buffer, &wanted.desc, &tensor);
    mtl_buffer_release(buffer);  // the tensor has it
  }
  return status == MTL_OK ? tensor_make(self, descriptor, tensor)
                          : failed(out_error, status);
}

static MTLSizeAndAlign tensor_size(id self, SEL _cmd, id descriptor) {
  (void)self;
  (void)_cmd;
  wanted_tensor wanted;
  size_t size_bytes = 0;
  if (!read_descriptor(descriptor, &wanted) ||
      mtl_buffer_tensor_size(&wanted.desc, &size_bytes) != MTL_OK) {
    metal_assert("tensorSizeAndAlignWithDescriptor: %s", mtl_last_error());
  }
  return (MTLSizeAndAlign){size_bytes, mtl_data_type_size(wanted.desc.type)};
}

METHODS(device_methods,
        METHOD("newTensorWithDescriptor:error:", "@32@0:8@16^@24", new_tensor),
        METHOD("tensorSizeAndAlignWithDescriptor:", "{?=QQ}24@0:8@16",
               tensor_size));
DEFINE_CATEGORY(MettleDevice, tensors, device_methods);

static id buffer_tensor(id self, SEL _cmd, id descriptor, NSUInteger offset,
                        id *out_error) {
  (void)_cmd;
  wanted_tensor wanted;
  mtl_buffer_tensor *tensor = NULL;
  mtl_status status = MTL_INVALID_ARGUMENT;
  if (read_descriptor(descriptor, &wanted)) {
    wanted.desc.offset_bytes = buffer_offset_of(self) + offset;
    status = mtl_buffer_tensor_create(buffer_of(self), &wanted.desc, &tensor);
  }
  if (status != MTL_OK) {
    return failed(out_error, status);
  }
  const id made =
      tensor_make(((metal_buffer *)self)->device, descriptor, tensor);
  ((metal_tensor *)made)->buffer = objc_retain(self);
  ((metal_tensor *)made)->buffer_offset = offset;
  return made;
}

METHODS(buffer_methods, METHOD("newTensorWithDescriptor:offset:error:",
                               "@40@0:8@16Q24^@32", buffer_tensor));
DEFINE_CATEGORY(MettleBuffer, tensors, buffer_methods);

static void tensor_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_tensor *tensor = (metal_tensor *)self;
  mtl_buffer_tensor_release(tensor->tensor);
  objc_release(tensor->strides);
  objc_release(tensor->dimensions);
  objc_release(tensor->buffer);
  objc_release(tensor->label);
  objc_release(tensor->device);
  instance_dispose(self);
}

static NSUInteger tensor_storage(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_tensor *)self)->options >> 4 & 15;
}

static NSUInteger tensor_cache_mode(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_tensor *)self)->options & 15;
}

static NSUInteger tensor_hazards(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_tensor *)self)->options >> 8 & 3;
}

static NSUInteger tensor_allocated(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_buffer_length(mtl_buffer_tensor_buffer(tensor_of(self)));
}

// A part of a tensor, and its address on the host.
typedef struct tensor_part {
  const tensor_extents *origin;
  const tensor_extents *dimensions;
  const tensor_extents *strides;
  char *host;
  bool writes_tensor;
} tensor_part;

static void check_part(const mtl_buffer_tensor_desc *info,
                       const tensor_part *part, const char *call) {
  const uint32_t rank = info->rank;
  if (!part->origin || !part->dimensions || !part->strides ||
      part->origin->rank != rank || part->dimensions->rank != rank ||
      part->strides->rank != rank) {
    metal_assert("%s: origin, dimensions and strides are of %u dimensions",
                 call, rank);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    const NSInteger first = part->origin->values[i];
    const NSInteger count = part->dimensions->values[i];
    if (first < 0 || count < 0 || first > info->extents[i] ||
        count > info->extents[i] - first) {
      metal_assert(
          "%s: %ld elements from %ld on in dimension %u; the tensor "
          "has %ld",
          call, (long)count, (long)first, i, (long)info->extents[i]);
    }
  }
}

// Copies one dimension of a part after the other, from the outermost on.
static void copy_part(const mtl_buffer_tensor_desc *info,
                      const tensor_part *part, uint32_t dimension, char *tensor,
                      char *host) {
  const size_t size = mtl_data_type_size(info->type);
  tensor += part->origin->values[dimension] * info->strides[dimension] *
            (int64_t)size;
  for (NSInteger i = 0; i < part->dimensions->values[dimension]; ++i) {
    if (dimension) {
      copy_part(info, part, dimension - 1, tensor, host);
    } else {
      memcpy(part->writes_tensor ? tensor : host,
             part->writes_tensor ? host : tensor, size);
    }
    tensor += info->strides[dimension] * (int64_t)size;
    host += part->strides->values[dimension] * (NSInteger)size;
  }
}

static void copy(id self, const tensor_part *part, const char *call) {
  const mtl_buffer_tensor_desc *info = mtl_buffer_tensor_info(tensor_of(self));
  mtl_buffer *buffer = mtl_buffer_tensor_buffer(tensor_of(self));
  char *contents = mtl_buffer_contents(buffer);
  if (!contents) {
    metal_assert("%s: the tensor's storage is private", call);
  }
  check_part(info, part, call);
  copy_part(info, part, info->rank - 1, contents + info->offset_bytes,
            part->host);
  if (part->writes_tensor &&
      mtl_buffer_did_modify_range(buffer, 0, mtl_buffer_length(buffer)) !=
          MTL_OK) {
    metal_assert("%s: %s", call, mtl_last_error());
  }
}

static void tensor_replace(id self, SEL _cmd, id origin, id dimensions,
                           const void *bytes, id strides) {
  (void)_cmd;
  copy(
      self,
      &(tensor_part){(tensor_extents *)origin, (tensor_extents *)dimensions,
                     (tensor_extents *)strides, (char *)(uintptr_t)bytes, true},
      "replaceSliceOrigin");
}

static void tensor_get(id self, SEL _cmd, void *bytes, id strides, id origin,
                       id dimensions) {
  (void)_cmd;
  copy(self,
       &(tensor_part){(tensor_extents *)origin, (tensor_extents *)dimensions,
                      (tensor_extents *)strides, bytes, false},
       "getBytes");
}

// The identifier by which an argument table of Metal 4 binds the tensor.
// Kernels find no tensors in memory.
static uint64_t tensor_resource(id self, SEL _cmd) {
  (void)_cmd;
  return (uint64_t)(uintptr_t)self;
}

METHODS(tensor_methods,
        METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", tensor_resource),
        METHOD("dealloc", "v16@0:8", tensor_dealloc),
        OBJECT_METHODS(metal_tensor, label, "setLabel:"),
        METHOD("device", "@16@0:8", metal_tensor_get_device),
        METHOD("buffer", "@16@0:8", metal_tensor_get_buffer),
        METHOD("bufferOffset", "Q16@0:8", metal_tensor_get_buffer_offset),
        METHOD("dimensions", "@16@0:8", metal_tensor_get_dimensions),
        METHOD("strides", "@16@0:8", metal_tensor_get_strides),
        METHOD("dataType", "q16@0:8", metal_tensor_get_data_type),
        METHOD("usage", "Q16@0:8", metal_tensor_get_usage),
        METHOD("resourceOptions", "Q16@0:8", metal_tensor_get_options),
        METHOD("storageMode", "Q16@0:8", tensor_storage),
        METHOD("cpuCacheMode", "Q16@0:8", tensor_cache_mode),
        METHOD("hazardTrackingMode", "Q16@0:8", tensor_hazards),
        METHOD("allocatedSize", "Q16@0:8", tensor_allocated),
        METHOD("replaceSliceOrigin:sliceDimensions:withBytes:strides:",
               "v48@0:8@16@24r^v32@40", tensor_replace),
        METHOD("getBytes:strides:fromSliceOrigin:sliceDimensions:",
               "v48@0:8^v16@24@32@40", tensor_get));
DEFINE_CLASS(MettleTensor, NSObject, sizeof(metal_tensor), tensor_methods,
             NO_METHODS);

// --- Binding -----------------------------------------------------------------

static void set_tensor(id self, SEL _cmd, id tensor, NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_tensor(((metal_encoder *)self)->compute,
                                 tensor_of(tensor), (uint32_t)index);
}

METHODS(encoder_methods,
        METHOD("setTensor:atBufferIndex:", "v32@0:8@16Q24", set_tensor));
DEFINE_CATEGORY(MettleComputeEncoder, tensors, encoder_methods);
