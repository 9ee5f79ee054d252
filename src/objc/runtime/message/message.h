// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// message.h: looks up the method for a message, for C and assembly.
//
// Each class has a cache from selectors to methods, a table that readers probe
// without a lock. Writers hold the runtime's lock: they store a method before
// its selector, never change an entry, and replace the table when it is full or
// a method changes. Replaced tables are never freed, since a reader may still
// use one.
#ifndef METTLE_OBJC_MESSAGE_H
#define METTLE_OBJC_MESSAGE_H

// Offsets in bytes, checked in message.c.
#define CLASS_SUPERCLASS 8
#define CLASS_CACHE 16
#define CACHE_MASK 0
#define CACHE_ENTRIES 32

#ifndef __ASSEMBLER__
#include <stdatomic.h>
#include <stdint.h>

#include "objc/runtime/abi.h"
#include "objc/runtime/selectors.h"

typedef struct cache_entry {
  _Atomic(SEL) selector;  // NULL: empty
  IMP imp;
} cache_entry;

// A class's cache. A selector's entry is at 2 * address & mask_bytes, or after
// it; an empty entry ends the search, and the last one is always empty.
typedef struct message_cache {
  uint64_t mask_bytes;  // of entries' offsets: 16 * (a power of two - 1)
  uint32_t count;
  uint32_t capacity;  // entries in all, the empty last one included
  struct message_cache *previous;  // the table that this one replaced
  uint64_t reserved;
  cache_entry entries[];
} message_cache;

typedef struct message_target {
  IMP imp;
  id receiver;
} message_target;

// Finds the method for a message that no cache has, and the object to call it
// on, which may be a forwarding target. Runs +initialize first if the class
// needs it. Raises an exception if there is no method.
//
// Threads    Any; takes the runtime's lock.
message_target message_find(id receiver, SEL selector);
message_target message_find_super(const struct objc_super *super, SEL selector);

// Empties the caches of class and of all classes below it. The runtime's lock
// is held.
void message_forget(Class class);

// Sends a message from our own C code by a function type; each call site
// interns its selector once. objc_msgSend is declared as data, since compilers
// refuse to call a function by another type.
extern const char objc_msgSend[];
#define SELECTOR(name)                                              \
  __extension__({                                                   \
    static _Atomic(SEL) here;                                       \
    SEL known = atomic_load_explicit(&here, memory_order_relaxed);  \
    if (!known) {                                                   \
      known = selector_intern(name);                                \
      atomic_store_explicit(&here, known, memory_order_relaxed);    \
    }                                                               \
    known;                                                          \
  })
#define SEND(type, receiver, name, ...)                                   \
  ((type)objc_msgSend)((id)(receiver), SELECTOR(name), ##__VA_ARGS__)

#endif

#endif
