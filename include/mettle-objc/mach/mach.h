// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mach.h: the calls for memory that clients make.
#ifndef METTLE_OBJC_MACH_H
#define METTLE_OBJC_MACH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int kern_return_t;
typedef unsigned int mach_port_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
typedef unsigned int vm_map_t;
typedef mach_port_t task_id_token_t;
#define KERN_SUCCESS 0
#define VM_FLAGS_ANYWHERE 1

extern vm_size_t vm_page_size;
mach_port_t mach_task_self(void);
kern_return_t vm_allocate(vm_map_t task, vm_address_t *address, vm_size_t bytes,
                          int flags);
kern_return_t vm_deallocate(vm_map_t task, vm_address_t address,
                            vm_size_t bytes);
uint64_t mach_absolute_time(void);

#ifdef __cplusplus
}
#endif
#endif
