// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// object_file.c: makes a copy of a model's shared object that the dynamic
// linker of this process can load safely. It checks the headers first, since
// the linker maps what they promise whatever the file's length; and it binds
// the model's references to the shim (aoti_torch_...) to Mettle.
//
// A reference to the shim is only a name. Found by name alone it would be
// PyTorch's function in a program that has both; and Mettle's would have to be
// in the global scope, where PyTorch's own models would call them. So each such reference becomes a local absolute symbol with our
// function's address as its value, which the linker takes without a search.
// Source: ELF specification, "Symbol Table"; glibc, elf/do-rel.h and
// SYMBOL_ADDRESS in sysdeps/generic/ldsodefs.h
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aoti/model/model.h"
#include "base/scratch_file.h"

// --- The headers ---------------------------------------------------------------

typedef struct elf_file {
  const char *name;
  uint8_t *bytes;
  uint64_t size;
} elf_file;

static mtl_status fail_cut(const elf_file *file, uint64_t wanted) {
  return mtl_fail(MTL_BAD_DATA,
                  "%s is cut short: %" PRIu64 " bytes of at least %" PRIu64,
                  file->name, file->size, wanted);
}

static Elf64_Phdr segment_of(const elf_file *file, uint32_t index) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
  Elf64_Phdr segment;
  memcpy(&segment, file->bytes + header->e_phoff + index * sizeof segment,
         sizeof segment);
  return segment;
}

static mtl_status check_segments(const elf_file *file) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
  const uint64_t table_bytes = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
  if (header->e_phoff > file->size ||
      table_bytes > file->size - header->e_phoff) {
    return fail_cut(file, header->e_phoff + table_bytes);
  }
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = segment_of(file, i);
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset || end > file->size) {
      return fail_cut(file, end);
    }
  }
  return MTL_OK;
}

// Sets whether the file has the ELF format of this machine's models; any other
// is left to the linker to reject.
static mtl_status check(const elf_file *file, bool *out_is_native) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
  *out_is_native = false;
  if (file->size >= 4 && memcmp(file->bytes, "PK\3\4", 4) == 0) {
    return mtl_fail(MTL_BAD_DATA,
                    "%s is an archive, as PyTorch's packages (.pt2) are: "
                    "unpack it and load the shared object in it",
                    file->name);
  }
  if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0) {
    return mtl_fail(MTL_BAD_DATA, "%s is no shared object", file->name);
  }
  if (file->size < sizeof *header) {
    return fail_cut(file, sizeof *header);
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_phentsize != sizeof(Elf64_Phdr)) {
    return MTL_OK;
  }
  *out_is_native = true;
  return check_segments(file);
}

// --- Its references to the shim -----------------------------------------------

// Returns the place in the file of length bytes at a model's address; NULL where
// no segment has them.
static uint8_t *at_address(const elf_file *file, uint64_t address,
                           uint64_t length) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = segment_of(file, i);
    const uint64_t offset = address - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        offset <= segment.p_filesz && length <= segment.p_filesz - offset) {
      return file->bytes + segment.p_offset + offset;
    }
  }
  return NULL;
}

typedef struct relocation_table {
  uint64_t address, size_bytes;
} relocation_table;

typedef struct dynamic_part {
  uint64_t symbols, texts, texts_bytes;
  relocation_table relocations[2];  // of data, of calls
} dynamic_part;

static dynamic_part dynamic_part_of(const elf_file *file) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
  dynamic_part part = {0};
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr segment = segment_of(file, i);
    Elf64_Dyn entry;
    for (uint64_t at = 0; segment.p_type == PT_DYNAMIC &&
                          at + sizeof entry <= segment.p_filesz;
         at += sizeof entry) {
      memcpy(&entry, file->bytes + segment.p_offset + at, sizeof entry);
      const uint64_t value = entry.d_un.d_val;
      switch (entry.d_tag) {
        case DT_SYMTAB: part.symbols = value; break;
        case DT_STRTAB: part.texts = value; break;
        case DT_STRSZ: part.texts_bytes = value; break;
        case DT_RELA: part.relocations[0].address = value; break;
        case DT_RELASZ: part.relocations[0].size_bytes = value; break;
        case DT_JMPREL: part.relocations[1].address = value; break;
        case DT_PLTRELSZ: part.relocations[1].size_bytes = value; break;
      }
    }
  }
  return part;
}

// Returns the name that starts at an offset of the model's texts; NULL where it
// does not end within them.
static const char *text_at(const elf_file *file, const dynamic_part *part,
                           uint64_t offset) {
  if (offset >= part->texts_bytes) {
    return NULL;
  }
  const uint64_t room = part->texts_bytes - offset;
  const char *text = (const char *)at_address(file, part->texts + offset, room);
  return text && memchr(text, 0, room) ? text : NULL;
}

// Where functions are looked up: this library's, and no other's.
typedef struct own_functions {
  void *handle;  // of dlopen; NULL if no library is found
  const void *base;
} own_functions;

static own_functions open_own_functions(void) {
  Dl_info about;
  if (!dladdr((void *)aoti_torch_empty_strided, &about)) {
    return (own_functions){0};
  }
  // A library is opened by its path; code linked into the program, through the
  // program itself.
  void *handle = dlopen(about.dli_fname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return (own_functions){.handle = handle ? handle : dlopen(NULL, RTLD_NOW),
                         .base = about.dli_fbase};
}

static void close_own_functions(const own_functions *own) {
  if (own->handle) {
    dlclose(own->handle);
  }
}

static void *own_function(const own_functions *own, const char *name) {
  Dl_info about;
  void *address = own->handle ? dlsym(own->handle, name) : NULL;
  return address && dladdr(address, &about) && about.dli_fbase == own->base
             ? address
             : NULL;
}

// Binds the symbol if it is a reference to the shim.
static mtl_status bind_symbol(const elf_file *file, const dynamic_part *part,
                              const own_functions *own, uint64_t index) {
  Elf64_Sym symbol;
  uint8_t *place =
      at_address(file, part->symbols + index * sizeof symbol, sizeof symbol);
  if (!place) {
    return MTL_OK;  // the linker will report the error
  }
  memcpy(&symbol, place, sizeof symbol);
  const char *name = text_at(file, part, symbol.st_name);
  if (symbol.st_shndx != SHN_UNDEF || !name) {
    return MTL_OK;
  }
  void *address = own_function(own, name);
  if (!address) {
    return strncmp(name, "aoti_torch_", strlen("aoti_torch_")) == 0
               ? mtl_fail(MTL_UNSUPPORTED, "%s needs %s, which Mettle has not",
                          file->name, name)
               : MTL_OK;
  }
  symbol.st_value = (uintptr_t)address;
  symbol.st_shndx = SHN_ABS;
  symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  symbol.st_other = STV_HIDDEN;
  memcpy(place, &symbol, sizeof symbol);
  return MTL_OK;
}

static mtl_status bind_all(const elf_file *file, const own_functions *own) {
  const dynamic_part part = dynamic_part_of(file);
  for (size_t i = 0; i < 2; ++i) {
    const relocation_table *table = &part.relocations[i];
    const uint8_t *entries =
        at_address(file, table->address, table->size_bytes);
    Elf64_Rela entry;
    for (uint64_t at = 0;
         entries && at + sizeof entry <= table->size_bytes;
         at += sizeof entry) {
      memcpy(&entry, entries + at, sizeof entry);
      const uint64_t index = ELF64_R_SYM(entry.r_info);
      if (index != 0) {
        AOTI_TRY(bind_symbol(file, &part, own, index));
      }
    }
  }
  return MTL_OK;
}

static mtl_status bind(const elf_file *file) {
  const own_functions own = open_own_functions();
  const mtl_status status = bind_all(file, &own);
  close_own_functions(&own);
  return status;
}

// --- The file ------------------------------------------------------------------

static mtl_status fail_io(const char *name) {
  return mtl_fail(errno == ENOENT ? MTL_NOT_FOUND : MTL_IO_ERROR,
                  "model %s: %s", name, strerror(errno));
}

// Skips descriptor numbers under which a loaded model was opened: the dynamic
// linker takes a path that it has seen for the object that it loaded from it
// then.
static int pass_over_loaded(int file, char path[PATH_MAX]) {
  for (;;) {
    snprintf(path, PATH_MAX, "/proc/self/fd/%d", file);
    void *loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (!loaded) {
      return file;
    }
    dlclose(loaded);
    const int next = fcntl(file, F_DUPFD_CLOEXEC, file + 1);
    const int error = errno;
    close(file);
    errno = error;
    if (next < 0) {
      return -1;
    }
    file = next;
  }
}

// Makes an empty file; one with a name is unlinked by whoever opened it.
static int make_file(const char *name, model_object_file *out) {
  out->is_named = false;
  int file = mtli_scratch_file(name);
  snprintf(out->path, sizeof out->path, "/proc/self/fd/%d", file);
  if (file >= 0 && access(out->path, R_OK) == 0) {
    return pass_over_loaded(file, out->path);
  }
  if (file >= 0) {
    close(file);
    file = -1;
  }
  const char *folder;
  for (size_t i = 0; file < 0 && (folder = mtli_scratch_folder(i)); ++i) {
    file = mtli_scratch_file_named(folder, out->path);
  }
  out->is_named = file >= 0;
  return file;
}

static bool write_all(int file, const uint8_t *bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, bytes, size);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

static mtl_status prepare(const char *name, int scratch, size_t size) {
  void *mapped =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, scratch, 0);
  if (mapped == MAP_FAILED) {
    return fail_io(name);
  }
  const elf_file file = {name, mapped, size};
  bool is_native = false;
  mtl_status status = check(&file, &is_native);
  if (status == MTL_OK && is_native) {
    status = bind(&file);
  }
  munmap(mapped, size);
  return status;
}

mtl_status model_object_make(const char *name, const void *bytes, size_t size,
                             model_object_file *out) {
  out->file = -1;
  if (size == 0) {
    return mtl_fail(MTL_BAD_DATA, "%s is no shared object", name);
  }
  const char *slash = strrchr(name, '/');
  out->file = make_file(slash ? slash + 1 : name, out);
  if (out->file < 0 || !write_all(out->file, bytes, size)) {
    const mtl_status status = fail_io(name);
    model_object_close(out);
    return status;
  }
  const mtl_status status = prepare(name, out->file, size);
  if (status != MTL_OK) {
    model_object_close(out);
  }
  return status;
}

void model_object_close(model_object_file *object) {
  if (object->file >= 0) {
    close(object->file);
    if (object->is_named) {
      unlink(object->path);
    }
    object->file = -1;
  }
}
