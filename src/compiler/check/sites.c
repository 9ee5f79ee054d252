// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sites.c: builds the table of a checked kernel's source places.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/check/check.h"

_Static_assert(sizeof(mtli_check_site) == 36, "check_abi.h");
_Static_assert(offsetof(mtli_check_sites, texts) == 8, "check_abi.h");

// True for folders of the compiler's own headers: code in them counts as the
// line that calls it.
static bool is_ours(const char *file) {
  return strstr(file, "/mettle/include") != NULL ||
         strstr(file, "mettle_") != NULL;
}

static void *grow(void *memory, size_t bytes) {
  void *grown = realloc(memory, bytes);
  if (!grown) {
    abort();  // as mtlc_values_add
  }
  return grown;
}

uint32_t mtlc_sites_text(mtlc_sites *sites, const char *text) {
  const uint32_t bytes = (uint32_t)strlen(text) + 1;
  for (uint32_t at = 0; at < sites->text_bytes;
       at += (uint32_t)strlen(sites->texts + at) + 1) {
    if (strcmp(sites->texts + at, text) == 0) {
      return at;
    }
  }
  if (sites->text_bytes + bytes > sites->text_capacity) {
    sites->text_capacity = 2 * (sites->text_bytes + bytes);
    sites->texts = grow(sites->texts, sites->text_capacity);
  }
  memcpy(sites->texts + sites->text_bytes, text, bytes);
  sites->text_bytes += bytes;
  return sites->text_bytes - bytes;
}

void mtlc_sites_begin(mtlc_sites *sites, mtlc_kernel *kernel) {
  *sites = (mtlc_sites){.kernel = kernel};
  (void)mtlc_sites_text(sites, "");
  (void)mtlc_sites_add(sites, NULL, &(mtli_check_site){0});
}

void mtlc_sites_end(mtlc_sites *sites) {
  free(sites->items);
  free(sites->texts);
}

static const char *file_of(LLVMMetadataRef location) {
  unsigned length = 0;
  LLVMMetadataRef scope = LLVMDILocationGetScope(location);
  LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
  const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
  return name && length ? name : "";
}

static const char *folder_of(LLVMMetadataRef location) {
  unsigned length = 0;
  LLVMMetadataRef scope = LLVMDILocationGetScope(location);
  LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
  const char *name = file ? LLVMDIFileGetDirectory(file, &length) : NULL;
  return name && length ? name : "";
}

static void write_file(LLVMMetadataRef location, char *out, size_t capacity) {
  const char *file = file_of(location);
  const char *folder = folder_of(location);
  if (file[0] == '/' || folder[0] == '\0') {
    snprintf(out, capacity, "%s", file);
  } else {
    snprintf(out, capacity, "%s/%s", folder, file);
  }
}

// Writes the chain of places that a location is inlined into, from the inside
// outwards.
static void write_chain(LLVMMetadataRef location, char *out, size_t capacity) {
  size_t used = 0;
  out[0] = '\0';
  for (LLVMMetadataRef at = LLVMDILocationGetInlinedAt(location);
       at && used + 1 < capacity; at = LLVMDILocationGetInlinedAt(at)) {
    char file[1024];
    write_file(at, file, sizeof file);
    if (LLVMDILocationGetLine(at) == 0 || file[0] == '\0' || is_ours(file)) {
      continue;
    }
    const int written = snprintf(
        out + used, capacity - used, "%s%s:%u:%u", used ? ", " : "", file,
        LLVMDILocationGetLine(at), LLVMDILocationGetColumn(at));
    used += written > 0 ? (size_t)written : 0;
  }
}

// True for the wrapper that the kernel is inlined into, at the line of its
// declaration: no place that a reader knows.
static bool is_wrapper(const mtlc_kernel *kernel, LLVMMetadataRef location) {
  return LLVMDILocationGetInlinedAt(location) == NULL &&
         LLVMDILocationGetLine(location) == kernel->kernel->line;
}

static void drop_wrapper(const mtlc_kernel *kernel, LLVMMetadataRef location,
                         char *chain) {
  LLVMMetadataRef last = location;
  while (LLVMDILocationGetInlinedAt(last)) {
    last = LLVMDILocationGetInlinedAt(last);
  }
  if (last == location || !is_wrapper(kernel, last)) {
    return;
  }
  char *comma = strrchr(chain, ',');
  *(comma ? comma : chain) = '\0';
}

uint32_t mtlc_sites_add(mtlc_sites *sites, LLVMValueRef instruction,
                        const mtli_check_site *site) {
  mtli_check_site own = *site;
  LLVMMetadataRef location =
      instruction ? LLVMInstructionGetDebugLoc(instruction) : NULL;
  while (location && LLVMDILocationGetInlinedAt(location) &&
         (is_ours(file_of(location)) || LLVMDILocationGetLine(location) == 0)) {
    location = LLVMDILocationGetInlinedAt(location);
  }
  if (location) {
    char text[4096];
    own.line = LLVMDILocationGetLine(location);
    own.column = LLVMDILocationGetColumn(location);
    write_file(location, text, sizeof text);
    own.file = mtlc_sites_text(sites, text);
    write_chain(location, text, sizeof text);
    drop_wrapper(sites->kernel, location, text);
    own.inlined = mtlc_sites_text(sites, text);
  }
  if (sites->count == sites->capacity) {
    sites->capacity = sites->capacity ? 2 * sites->capacity : 64;
    sites->items = grow(sites->items, sites->capacity * sizeof *sites->items);
  }
  sites->items[sites->count] = own;
  return sites->count++;
}

static LLVMValueRef add_bytes(mtlc_kernel *kernel, const char *name,
                              const void *bytes, uint32_t count) {
  LLVMValueRef text =
      LLVMConstStringInContext(kernel->context, bytes, count, true);
  LLVMValueRef global =
      LLVMAddGlobal(kernel->module, LLVMTypeOf(text), name);
  LLVMSetInitializer(global, text);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMInternalLinkage);
  LLVMSetAlignment(global, 8);
  return global;
}

void mtlc_sites_write(mtlc_sites *sites) {
  mtlc_kernel *kernel = sites->kernel;
  LLVMValueRef fields[] = {
      add_bytes(kernel, "mettle.check.items", sites->items,
                sites->count * (uint32_t)sizeof *sites->items),
      add_bytes(kernel, "mettle.check.texts", sites->texts, sites->text_bytes),
      mtlc_i32(kernel->context, sites->count),
      mtlc_i32(kernel->context, kernel->checks)};
  LLVMValueRef table = LLVMConstStructInContext(
      kernel->context, fields, sizeof fields / sizeof fields[0], false);
  LLVMValueRef global = LLVMAddGlobal(kernel->module, LLVMTypeOf(table),
                                      MTLC_CHECK_SITES_GLOBAL);
  LLVMSetInitializer(global, table);
  LLVMSetGlobalConstant(global, true);
}
