// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// own_scope.c: loads a library so that its references bind to its own symbols.
// The dynamic linker searches the global scope first, also for a library that
// was opened for one caller: two builds of one library would be mixed function
// by function. RTLD_DEEPBIND reverses the order. Where it must not be used, a
// library is refused if the global scope has one of its names.
#include "stream/own_scope.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *file_of(const void *address) {
  Dl_info about;
  return address && dladdr(address, &about) && about.dli_fname
             ? about.dli_fname
             : "";
}

// False under sanitizers, which end the process at the flag, and with another
// malloc than the C library's: a library bound to the latter would free there
// what a third library took from the former.
static bool may_bind_deep(void) {
  static const char *const sanitizers[] = {"__asan_init", "__hwasan_init",
                                           "__msan_init", "__tsan_init"};
  for (size_t i = 0; i < sizeof sanitizers / sizeof *sanitizers; i++) {
    if (dlsym(RTLD_DEFAULT, sanitizers[i])) {
      return false;
    }
  }
  return strcmp(file_of(dlsym(RTLD_DEFAULT, "malloc")),
                file_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"))) == 0;
}

// --- the names of a library --------------------------------------------------

typedef struct symbol_table {
  const ElfW(Sym) * symbols;
  const char *texts;
  const uint32_t *gnu_hash;
  const uint32_t *hash;
} symbol_table;

static symbol_table table_of(const struct link_map *map) {
  symbol_table table = {0};
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    // The C library adds the base on most machines, but not on all.
    const uintptr_t value = entry->d_un.d_ptr;
    const void *address =
        (const void *)(value < map->l_addr ? value + map->l_addr : value);
    switch (entry->d_tag) {
      case DT_SYMTAB: table.symbols = address; break;
      case DT_STRTAB: table.texts = address; break;
      case DT_GNU_HASH: table.gnu_hash = address; break;
      case DT_HASH: table.hash = address; break;
    }
  }
  return table;
}

// Returns the number of symbols; 0 if it cannot be told.
static uint32_t count_symbols(const symbol_table *table) {
  if (table->hash) {
    return table->hash[1];  // ELF: nbucket, nchain
  }
  if (!table->gnu_hash) {
    return 0;
  }
  // Source: glibc, elf/dl-setup_hash.c. A chain ends with a set lowest bit.
  const uint32_t bucket_count = table->gnu_hash[0];
  const uint32_t first = table->gnu_hash[1];
  const uint32_t bloom_words = table->gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
  const uint32_t *buckets = table->gnu_hash + 4 + bloom_words;
  const uint32_t *chains = buckets + bucket_count;
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; i++) {
    last = buckets[i] > last ? buckets[i] : last;
  }
  if (last < first) {
    return first;
  }
  while (!(chains[last - first] & 1)) {
    last++;
  }
  return last + 1;
}

// Weak definitions are C++'s inline ones, which are alike wherever they are.
static bool is_strong(const ElfW(Sym) * symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
         ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
         (type == STT_FUNC || type == STT_OBJECT);
}

// Finds a name of the library that means another's in the global scope.
static bool is_mixed(void *handle, char *out_why, size_t capacity) {
  struct link_map *map = NULL;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
    return false;
  }
  const symbol_table table = table_of(map);
  const uint32_t count = count_symbols(&table);
  for (uint32_t i = 0; i < count; i++) {
    const ElfW(Sym) *symbol = &table.symbols[i];
    if (!is_strong(symbol)) {
      continue;
    }
    const char *name = table.texts + symbol->st_name;
    const void *global = dlsym(RTLD_DEFAULT, name);
    if (global && (uintptr_t)global != map->l_addr + symbol->st_value) {
      snprintf(out_why, capacity, "%s has a '%s', too", file_of(global), name);
      return true;
    }
  }
  return false;
}

// Opens a library whose names are its own. The lock is held.
static void *open_apart(const char *name, const char *sentinel, char *out_why,
                        size_t capacity) {
  const bool is_deep = may_bind_deep();
  const void *other = dlsym(RTLD_DEFAULT, sentinel);
  if (other && !is_deep) {
    // Not even its constructors may run mixed.
    snprintf(out_why, capacity, "%s has a '%s', too", file_of(other), sentinel);
    return NULL;
  }
  void *handle =
      dlopen(name, RTLD_NOW | RTLD_LOCAL | (is_deep ? RTLD_DEEPBIND : 0));
  if (!handle) {
    const char *text = dlerror();
    snprintf(out_why, capacity, "%s", text ? text : name);
    return NULL;
  }
  if (!is_deep && is_mixed(handle, out_why, capacity)) {
    dlclose(handle);
    return NULL;
  }
  return handle;
}

// Opens one library at a time: is_mixed reads what the dynamic linker wrote for
// another thread, under a lock that ThreadSanitizer does not see.
void *own_scope_open(const char *name, const char *sentinel, char *out_why,
                     size_t capacity) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  void *handle = open_apart(name, sentinel, out_why, capacity);
  pthread_mutex_unlock(&lock);
  return handle;
}
