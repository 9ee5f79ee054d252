// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IOKitLib.h: the registry, which holds a service of class IOAccelerator for
// each device of Metal, with the properties gpu-core-count and model.
#ifndef METTLE_OBJC_IOKITLIB_H
#define METTLE_OBJC_IOKITLIB_H

#include <CoreFoundation/CoreFoundation.h>
#include <mach/mach.h>

typedef mach_port_t io_object_t;
typedef io_object_t io_service_t;
typedef io_object_t io_iterator_t;
typedef io_object_t io_registry_entry_t;
typedef char io_name_t[128];
typedef UInt32 IOOptionBits;
typedef kern_return_t IOReturn;

#define IO_OBJECT_NULL ((io_object_t)0)
#define kIOMainPortDefault ((mach_port_t)0)
#define kIOMasterPortDefault ((mach_port_t)0)
#define kIOReturnSuccess 0
#define kIOServicePlane "IOService"
enum {
  kIORegistryIterateRecursively = 1,
  kIORegistryIterateParents = 2,
};

CF_EXPORT CFMutableDictionaryRef IOServiceMatching(const char *name);
// Both consume the dictionary.
CF_EXPORT io_service_t IOServiceGetMatchingService(mach_port_t port,
                                                   CFDictionaryRef matching);
CF_EXPORT kern_return_t IOServiceGetMatchingServices(mach_port_t port,
                                                     CFDictionaryRef matching,
                                                     io_iterator_t *existing);
CF_EXPORT io_object_t IOIteratorNext(io_iterator_t iterator);
CF_EXPORT kern_return_t IOObjectRelease(io_object_t object);
CF_EXPORT kern_return_t
IORegistryEntryGetRegistryEntryID(io_registry_entry_t entry, uint64_t *out_id);
// NULL for a property that is not there; the caller releases the value.
CF_EXPORT CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry,
                                                    CFStringRef key,
                                                    CFAllocatorRef allocator,
                                                    IOOptionBits options);
CF_EXPORT CFTypeRef IORegistryEntrySearchCFProperty(io_registry_entry_t entry,
                                                    const char *plane,
                                                    CFStringRef key,
                                                    CFAllocatorRef allocator,
                                                    IOOptionBits options);

#endif
