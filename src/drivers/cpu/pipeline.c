// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: loads a pipeline's shared object from memory in such a way that
// gdb, perf and the dynamic linker see its name and debug information.
// variants.c adds code for further threadgroup sizes.
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch_file.h"
#include "drivers/cpu/cpu.h"

static mtl_status file_fill(int file, const mtli_blob *blob) {
  const char *rest = blob->bytes;
  size_t rest_bytes = blob->size_bytes;
  while (rest_bytes) {
    const ssize_t written_bytes = write(file, rest, rest_bytes);
    if (written_bytes < 0 && errno == EINTR) {
      continue;
    }
    if (written_bytes <= 0) {
      return mtli_fail(MTL_OUT_OF_MEMORY,
                       "no memory for machine code of %zu bytes: %s",
                       blob->size_bytes, strerror(errno));
    }
    rest += written_bytes;
    rest_bytes -= (size_t)written_bytes;
  }
  return MTL_OK;
}

// Writes a path of file that was never used before. The dynamic linker takes
// equal paths for equal objects, and a closed file's number is used again; so
// the path spells a serial number in "." and "/", which do not change its
// meaning.
static void path_write(char *path, size_t capacity, int file) {
  static _Atomic uint32_t serial;
  size_t used = (size_t)snprintf(path, capacity, "/proc/%d/fd/", (int)getpid());
  for (uint32_t rest = atomic_fetch_add(&serial, 1); rest; rest /= 2) {
    used += (size_t)snprintf(path + used, capacity - used, "%s",
                             rest % 2 ? "./" : "/");
  }
  snprintf(path + used, capacity - used, "%d", file);
}

// Finds the range of executable segments.
static void find_instructions(const mtli_blob *elf, cpu_code *code) {
  const struct link_map *map = NULL;
  ElfW(Ehdr) header;
  if (elf->size_bytes < sizeof header ||
      dlinfo(code->library, RTLD_DI_LINKMAP, &map) != 0) {
    return;
  }
  code->base = map->l_addr;
  memcpy(&header, elf->bytes, sizeof header);
  for (size_t i = 0; i < header.e_phnum; i++) {
    ElfW(Phdr) segment;
    const size_t offset = header.e_phoff + i * sizeof segment;
    if (offset > elf->size_bytes - sizeof segment) {
      return;
    }
    memcpy(&segment, (const char *)elf->bytes + offset, sizeof segment);
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) {
      continue;
    }
    const uintptr_t first = map->l_addr + segment.p_vaddr;
    const uintptr_t end = first + segment.p_memsz;
    if (!code->end_instructions || first < code->first_instruction) {
      code->first_instruction = first;
    }
    code->end_instructions =
        end > code->end_instructions ? end : code->end_instructions;
  }
}

static mtl_status load(const char *name, const char *path,
                       cpu_code *out_code) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return mtli_fail(MTL_BAD_DATA, "the machine code of '%s' does not load: %s",
                     name, dlerror());
  }
  out_code->code = dlsym(library, MTLI_CPU_CODE_SYMBOL);
  if (!out_code->code) {
    dlclose(library);
    return mtli_fail(MTL_BAD_DATA,
                     "the machine code of '%s' lacks " MTLI_CPU_CODE_SYMBOL,
                     name);
  }
  out_code->library = library;
  return MTL_OK;
}

// Loads it from a file without a name, through /proc; *out_file stays open.
// MTL_NOT_FOUND where there is no /proc.
static mtl_status load_unnamed(const char *name, const mtli_blob *elf,
                               cpu_code *out_code, int *out_file) {
  char path[160];
  *out_file = mtli_scratch_file(name);
  if (*out_file < 0) {
    return mtli_fail(MTL_IO_ERROR, "no memory file for machine code: %s",
                     strerror(errno));
  }
  MTL_TRY(file_fill(*out_file, elf));
  path_write(path, sizeof path, *out_file);
  return access(path, R_OK) == 0 ? load(name, path, out_code) : MTL_NOT_FOUND;
}

// Writes the path of a new file for a kernel's machine code: the kernel's name,
// the process and a serial number.
static void name_kept(char *path, size_t capacity, const char *folder,
                      const char *kernel) {
  static _Atomic uint32_t serial;
  char name[64];
  snprintf(name, sizeof name, "%s", kernel);
  for (char *at = name; *at; ++at) {
    *at = isalnum((unsigned char)*at) || *at == '_' ? *at : '_';
  }
  snprintf(path, capacity, "%s/%s-%d-%" PRIu32 ".so", folder, name,
           (int)getpid(), atomic_fetch_add(&serial, 1));
}

// Loads it from a file that stays in a folder of the user's: perf reads symbols
// only from files.
static mtl_status load_kept(const char *folder, const char *name,
                            const mtli_blob *elf, cpu_code *out_code) {
  char path[PATH_MAX];
  (void)mkdir(folder, 0700);  // if it is not there
  name_kept(path, sizeof path, folder, name);
  unlink(path);  // left by an earlier process of the same number
  const int file =
      open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
  if (file < 0) {
    return mtli_fail(MTL_IO_ERROR, "METTLE_CODE_DIR: %s: %s", path,
                     strerror(errno));
  }
  mtl_status status = file_fill(file, elf);
  close(file);
  return status == MTL_OK ? load(name, path, out_code) : status;
}

// Loads it, where there is no /proc, from a file in a folder that allows
// execution.
static mtl_status load_named(const char *name, const mtli_blob *elf,
                             cpu_code *out_code) {
  char path[PATH_MAX];
  const char *folder;
  int tried = 0;
  mtl_status status = MTL_IO_ERROR;
  for (size_t i = 0; status != MTL_OK && (folder = mtli_scratch_folder(i));
       ++i) {
    const int file = mtli_scratch_file_named(folder, path);
    if (file >= 0) {
      ++tried;
      status = file_fill(file, elf);
      close(file);
      status = status == MTL_OK ? load(name, path, out_code) : status;
      unlink(path);
    }
  }
  return status == MTL_OK ? MTL_OK
         : tried > 0
             ? mtli_fail(MTL_IO_ERROR,
                         "without /proc, machine code needs a folder for "
                         "temporary files that may be executed (TMPDIR): %s",
                         mtl_last_error())
             : mtli_fail(MTL_IO_ERROR,
                         "without /proc, machine code needs a folder for "
                         "temporary files (TMPDIR)");
}

// True if the file may stay open, which a debugger that attaches later needs:
// less than a quarter of the process's descriptors are in use.
static bool may_stay_open(int file) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
         (rlim_t)file < limit.rlim_cur / 4;
}

mtl_status cpu_code_load(const mtli_code *container, cpu_code *out_code) {
  const char *name = container->kernels[0].name;
  const mtli_blob *elf = mtli_code_find_blob(container, MTLI_BLOB_ELF);
  const char *folder = secure_getenv("METTLE_CODE_DIR");
  int file = -1;
  mtl_status status = folder && *folder
                          ? load_kept(folder, name, elf, out_code)
                          : load_unnamed(name, elf, out_code, &file);
  if (status == MTL_NOT_FOUND) {
    status = load_named(name, elf, out_code);
  }
  if (status == MTL_OK) {
    cpu_lines_copy(elf, &out_code->lines);
    find_instructions(elf, out_code);
  }
  const bool stays_open =
      status == MTL_OK && file >= 0 && may_stay_open(file);
  if (!stays_open && file >= 0) {
    close(file);
  }
  out_code->file = stays_open ? file : -1;
  return status;
}

void cpu_code_unload(const cpu_code *code, bool is_inherited) {
  // Another thread may have held the dynamic linker's lock at the fork.
  if (!is_inherited && code->library) {
    dlclose(code->library);
  }
  free(code->lines.bytes);
  if (code->file >= 0) {
    close(code->file);
  }
}

// True if the code is of another architecture than this machine's.
static bool is_foreign(const mtli_blob *elf) {
#if defined(__aarch64__)
  const Elf64_Half ours = EM_AARCH64;
#else
  const Elf64_Half ours = EM_X86_64;
#endif
  if (!elf) {
    return true;  // for no CPU
  }
  const Elf64_Ehdr *header = elf->bytes;
  return elf->size_bytes >= sizeof *header && header->e_machine != ours;
}

mtl_status cpu_pipeline_create(mtl_pipeline *pipeline,
                               const mtl_function *function,
                               const mtl_pipeline_desc *desc) {
  cpu_pipeline *cpu = (cpu_pipeline *)pipeline;
  MTL_TRY(mtli_pipeline_compile(pipeline, function, desc));
  pipeline->is_foreign = is_foreign(
      mtli_code_find_blob(pipeline->code, MTLI_BLOB_ELF));
  if (pipeline->is_foreign) {
    cpu->code.file = -1;
  } else {
    MTL_TRY(cpu_code_load(pipeline->code, &cpu->code));
  }
  pthread_mutex_init(&cpu->lock, NULL);
  cpu_check_pipeline_created(cpu, function, desc);
  return MTL_OK;
}

void cpu_pipeline_destroy(mtl_pipeline *pipeline) {
  cpu_pipeline *cpu = (cpu_pipeline *)pipeline;
  if (cpu->screened) {
    mtl_pipeline_release(&cpu->screened->pipeline);  // -1
  }
  cpu_variants_free(cpu);
  pthread_mutex_destroy(&cpu->lock);
  cpu_code_unload(&cpu->code, mtli_device_is_inherited(pipeline->device));
}
