// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: MTLDevice's properties. Its factory methods are categories in the
// files of what they make.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objc/metal/metal.h"
#include "objc/runtime/memory/block.h"

mtl_device *device_of(id device) {
  return device ? ((metal_device *)device)->device : NULL;
}

// --- One object for each device ----------------------------------------------

enum { MAX_DEVICES = 64 };
static id devices[MAX_DEVICES];
static size_t device_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Clients recognise devices by words in their names: tinygrad makes no graphs
// on a "virtual" one, ggml picks tables by "Apple M1".
static id name_for(const mtl_device_info *info) {
  const char *name = getenv("METTLE_OBJC_NAME");
  return name ? string_create(name)
              : objc_retain(string_make_printf("Mettle %s", info->name));
}

id metal_device_for(mtl_device *device) {
  pthread_mutex_lock(&lock);
  id found = NULL;
  for (size_t i = 0; i < device_count && !found; ++i) {
    if (device_of(devices[i]) == device) {
      found = devices[i];
    }
  }
  if (!found && device_count < MAX_DEVICES) {
    metal_device *made = (metal_device *)CREATE(MettleDevice);
    made->device = mtl_device_retain(device);
    made->name = name_for(mtl_device_get_info(device));
    found = devices[device_count++] = &made->object;
  }
  pthread_mutex_unlock(&lock);
  return objc_retain(found);
}

OBJC_EXPORT id MTLCreateSystemDefaultDevice(void) {
  mtl_device *device;
  if (mtl_device_default(&device) != MTL_OK) {
    return NULL;
  }
  const id made = metal_device_for(device);
  mtl_device_release(device);
  return made;
}

// Returns all devices, the default first, which METTLE_DEVICE may name: clients
// take that.
OBJC_EXPORT id MTLCopyAllDevices(void) {
  mtl_device *found[MAX_DEVICES];
  size_t count = 0;
  const id list = mutable_array_create();
  const id first = MTLCreateSystemDefaultDevice();
  if (first) {
    SEND(void (*)(id, SEL, id), list, "addObject:", first);
    objc_release(first);
  }
  if (mtl_device_list(found, MAX_DEVICES, &count) != MTL_OK) {
    return list;
  }
  for (size_t i = 0; i < count && i < MAX_DEVICES; ++i) {
    const id each = metal_device_for(found[i]);
    if (each != first) {
      SEND(void (*)(id, SEL, id), list, "addObject:", each);
    }
    objc_release(each);
    mtl_device_release(found[i]);
  }
  return list;
}

// Devices neither come nor go, so that an observer has nothing to do.
OBJC_EXPORT id MTLCopyAllDevicesWithObserver(id *out_observer, id literal) {
  (void)literal;
  if (out_observer) {
    *out_observer = instance_create(&OBJC_CLASS_$_NSObject, 0);
  }
  return MTLCopyAllDevices();
}

CONSTANT_STRING(MTLDeviceWasAddedNotification, "MTLDeviceWasAddedNotification");
CONSTANT_STRING(MTLDeviceRemovalRequestedNotification,
                "MTLDeviceRemovalRequestedNotification");
CONSTANT_STRING(MTLDeviceWasRemovedNotification,
                "MTLDeviceWasRemovedNotification");

OBJC_EXPORT void MTLRemoveDeviceObserver(id observer) {
  (void)observer;
}

// --- What it is --------------------------------------------------------------

#define INFO(self) mtl_device_get_info(device_of(self))

static id device_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_device *)self)->name;
}

static uint64_t device_registry(id self, SEL _cmd) {
  (void)_cmd;
  return INFO(self)->registry_id;
}

static int device_supports_family(id self, SEL _cmd, NSInteger family) {
  (void)_cmd;
  return mtl_device_supports_family(device_of(self), (mtl_family)family);
}

static int device_unified(id self, SEL _cmd) {
  (void)_cmd;
  return INFO(self)->has_unified_memory;
}

static NSUInteger device_max_buffer(id self, SEL _cmd) {
  (void)_cmd;
  return INFO(self)->max_buffer_bytes;
}

static uint64_t device_working_set(id self, SEL _cmd) {
  (void)_cmd;
  return INFO(self)->recommended_max_working_set_bytes;
}

static NSUInteger device_allocated(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_device_current_allocated_bytes(device_of(self));
}

static NSUInteger device_threadgroup_memory(id self, SEL _cmd) {
  (void)_cmd;
  return INFO(self)->max_threadgroup_memory_bytes;
}

static MTLSize device_max_threads(id self, SEL _cmd) {
  (void)_cmd;
  const uint32_t *max = INFO(self)->max_threadgroup_threads;
  return (MTLSize){max[0], max[1], max[2]};
}

static int yes(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1;
}

static int no(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static NSUInteger zero(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static NSUInteger tier_two(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1;  // MTLArgumentBuffersTier2
}

static NSUInteger read_write_tier_two(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 2;  // MTLReadWriteTextureTier2
}

static int supports_feature_set(id self, SEL _cmd, NSUInteger set) {
  (void)self;
  (void)_cmd;
  (void)set;
  return 0;
}

static int supports_samples(id self, SEL _cmd, NSUInteger count) {
  (void)self;
  (void)_cmd;
  return count == 1 || count == 2 || count == 4 || count == 8;
}

static NSUInteger linear_alignment(id self, SEL _cmd, NSUInteger format) {
  (void)self;
  (void)_cmd;
  const size_t bytes = mtl_pixel_format_bytes((mtl_pixel_format)format);
  return bytes ? bytes : 1;
}

static int supports_amplification(id self, SEL _cmd, NSUInteger count) {
  (void)self;
  (void)_cmd;
  return count == 1;
}

// Samplers are reached by their identifiers: there is no limit.
static NSUInteger sampler_limit(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 2048;  // as devices of Apple7 have
}

// METTLE's settings determine the number of compilation processes; a client's
// request changes nothing.
static NSUInteger compilation_limit(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return (NSUInteger)sysconf(_SC_NPROCESSORS_ONLN);
}

static void wish(id self, SEL _cmd, int value) {
  (void)self;
  (void)_cmd;
  (void)value;
}

static id device_description(id self, SEL _cmd) {
  return string_make_printf("<MTLDevice: %s>",
                            string_utf8(device_name(self, _cmd)));
}

// --- MTLArchitecture ---------------------------------------------------------

typedef struct architecture {
  struct objc_object object;
  id name;
} architecture;

static id architecture_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((architecture *)self)->name;
}

METHODS(architecture_methods, METHOD("name", "@16@0:8", architecture_name));
DEFINE_CLASS(MTLArchitecture, NSObject, sizeof(architecture),
             architecture_methods, NO_METHODS);

// MLX reads the last three characters: a generation and a class of size. These
// are those of an Apple7 device.
static id device_architecture(id self, SEL _cmd) {
  (void)_cmd;
  metal_device *device = (metal_device *)self;
  pthread_mutex_lock(&lock);
  if (!device->architecture) {
    const char *name = getenv("METTLE_OBJC_ARCHITECTURE");
    architecture *made = (architecture *)CREATE(MTLArchitecture);
    made->name = string_create(name ? name : "applegpu_g13g");
    device->architecture = &made->object;
  }
  pthread_mutex_unlock(&lock);
  return device->architecture;
}

METHODS(
    device_methods, METHOD("name", "@16@0:8", device_name),
    METHOD("description", "@16@0:8", device_description),
    METHOD("registryID", "Q16@0:8", device_registry),
    METHOD("architecture", "@16@0:8", device_architecture),
    METHOD("supportsFamily:", "B24@0:8q16", device_supports_family),
    METHOD("supportsFeatureSet:", "B24@0:8Q16", supports_feature_set),
    METHOD("hasUnifiedMemory", "B16@0:8", device_unified),
    METHOD("maxBufferLength", "Q16@0:8", device_max_buffer),
    METHOD("recommendedMaxWorkingSetSize", "Q16@0:8", device_working_set),
    METHOD("currentAllocatedSize", "Q16@0:8", device_allocated),
    METHOD("maxThreadgroupMemoryLength", "Q16@0:8",
           device_threadgroup_memory),
    METHOD("maxThreadsPerThreadgroup", "{?=QQQ}16@0:8", device_max_threads),
    METHOD("argumentBuffersSupport", "Q16@0:8", tier_two),
    METHOD("readWriteTextureSupport", "Q16@0:8", read_write_tier_two),
    METHOD("location", "Q16@0:8", zero),
    METHOD("locationNumber", "Q16@0:8", zero),
    METHOD("maxTransferRate", "Q16@0:8", zero),
    METHOD("peerGroupID", "Q16@0:8", zero),
    METHOD("peerIndex", "I16@0:8", zero), METHOD("peerCount", "I16@0:8", zero),
    METHOD("isLowPower", "B16@0:8", no), METHOD("isHeadless", "B16@0:8", yes),
    METHOD("isRemovable", "B16@0:8", no),
    METHOD("supportsDynamicLibraries", "B16@0:8", no),
    METHOD("supportsRenderDynamicLibraries", "B16@0:8", no),
    METHOD("supportsFunctionPointers", "B16@0:8", yes),
    METHOD("supportsFunctionPointersFromRender", "B16@0:8", no),
    METHOD("supportsRaytracing", "B16@0:8", no),
    METHOD("supportsRaytracingFromRender", "B16@0:8", no),
    METHOD("supportsPrimitiveMotionBlur", "B16@0:8", no),
    METHOD("areBarycentricCoordsSupported", "B16@0:8", no),
    METHOD("isDepth24Stencil8PixelFormatSupported", "B16@0:8", no),
    METHOD("supportsVertexAmplificationCount:", "B24@0:8Q16",
           supports_amplification),
    METHOD("maxArgumentBufferSamplerCount", "Q16@0:8", sampler_limit),
    METHOD("sparseTileSizeInBytes", "Q16@0:8", zero),
    METHOD("maximumConcurrentCompilationTaskCount", "Q16@0:8",
           compilation_limit),
    METHOD("shouldMaximizeConcurrentCompilation", "B16@0:8", no),
    METHOD("setShouldMaximizeConcurrentCompilation:", "v20@0:8B16", wish),
    METHOD("supports32BitFloatFiltering", "B16@0:8", yes),
    METHOD("supports32BitMSAA", "B16@0:8", yes),
    METHOD("supportsQueryTextureLOD", "B16@0:8", no),
    METHOD("supportsBCTextureCompression", "B16@0:8", no),
    METHOD("supportsPullModelInterpolation", "B16@0:8", no),
    METHOD("supportsShaderBarycentricCoordinates", "B16@0:8", no),
    METHOD("areProgrammableSamplePositionsSupported", "B16@0:8", no),
    METHOD("areRasterOrderGroupsSupported", "B16@0:8", no),
    METHOD("supportsTextureSampleCount:", "B24@0:8Q16", supports_samples),
    METHOD("minimumLinearTextureAlignmentForPixelFormat:", "Q24@0:8Q16",
           linear_alignment),
    METHOD("minimumTextureBufferAlignmentForPixelFormat:", "Q24@0:8Q16",
           linear_alignment));
DEFINE_CLASS(MettleDevice, NSObject, sizeof(metal_device), device_methods,
             NO_METHODS);
