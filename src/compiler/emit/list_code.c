// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// list_code.c: disassembles a kernel: labels and instructions, with ";
// FILE:LINE" before the first of each source line.
#include "compiler/emit/list_code.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/bytes.h"
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"

// Assembly text as LLVM writes it, with comments.
static mtl_status write_assembly(mtlc_kernel *kernel,
                                 LLVMMemoryBufferRef *out_text) {
  // Code generation changes the module.
  LLVMModuleRef copy = LLVMCloneModule(kernel->module);
  char *message = NULL;
  mtl_status status = MTL_OK;
  LLVMSetTargetMachineAsmVerbosity(kernel->target, true);
  if (LLVMTargetMachineEmitToMemoryBuffer(kernel->target, copy,
                                          LLVMAssemblyFile, &message,
                                          out_text)) {
    status = mtli_fail(MTL_UNSUPPORTED, "kernel %s: assembly text: %s",
                       kernel->kernel->name, message);
    LLVMDisposeMessage(message);
  }
  LLVMSetTargetMachineAsmVerbosity(kernel->target, false);
  LLVMDisposeModule(copy);
  return status;
}

// The state of the listing's parser.
typedef struct listing {
  const char *comment;  // begins one, on this target
  mtli_bytes *out;
  bool is_code;    // in a section of code
  char line[512];  // the source line that was told last
} listing;

static bool begins(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

static void append(listing *l, const char *text, size_t length) {
  mtli_bytes_append(l->out, text, length);
  mtli_bytes_append(l->out, "\n", 1);
}

// Prints a source line that differs from the last. Of "# f.metal:5:12" the
// column is dropped; line 0 is no line. The places that the line is inlined at
// may follow.
static void tell_line(listing *l, const char *directive) {
  const char *comment = strstr(directive, l->comment);
  const char *place =
      comment ? comment + strlen(l->comment) + 1 : "";
  const size_t length = strcspn(place, " ");
  const char *column = memrchr(place, ':', length);
  const char *number =
      column ? memrchr(place, ':', (size_t)(column - place)) : NULL;
  if (!number || atoi(number + 1) == 0) {
    return;
  }
  char line[sizeof l->line];
  snprintf(line, sizeof line, "; %.*s%s", (int)(column - place), place,
           place + length);
  if (strcmp(line, l->line) != 0) {
    memcpy(l->line, line, sizeof line);
    append(l, line, strlen(line));
  }
}

static void take_directive(listing *l, const char *text) {
  if (begins(text, ".section") || begins(text, ".text") ||
      begins(text, ".data") || begins(text, ".bss")) {
    l->is_code = begins(text, ".text") || strstr(text, "\t.text") != NULL;
  } else if (l->is_code && begins(text, ".loc\t")) {
    tell_line(l, text);
  }
}

// Labels of debug information begin in these ways.
static bool is_mere_mark(const char *text) {
  return begins(text, ".Ltmp") || begins(text, ".Lfunc_") ||
         begins(text, ".Lpcsection");
}

static void take_line(listing *l, char *text) {
  const bool is_indented = *text == '\t' || *text == ' ';
  char *first = text + strspn(text, "\t ");
  size_t length = strlen(first);
  while (length > 0 && (first[length - 1] == ' ' || first[length - 1] == '\t')) {
    --length;
  }
  first[length] = '\0';
  if (length == 0 || begins(first, l->comment)) {
    return;
  }
  if (is_indented && *first == '.') {
    take_directive(l, first);
  } else if (l->is_code && is_indented) {
    mtli_bytes_append(l->out, "    ", 4);
    for (char *at = first; (at = strchr(at, '\t')) != NULL;) {
      *at = ' ';
    }
    append(l, first, length);
  } else if (l->is_code && !is_mere_mark(first)) {
    l->line[0] = '\0';
    append(l, first, length);
  }
}

mtl_status mtlc_list_code(mtlc_kernel *kernel, char **out_text) {
  LLVMMemoryBufferRef assembly = NULL;
  MTL_TRY(write_assembly(kernel, &assembly));
  mtli_bytes bytes = {0};
  listing l = {.comment = mtlc_target_is(kernel->target, "aarch64") ? "//" : "#",
               .out = &bytes};
  const char *at = LLVMGetBufferStart(assembly);
  const char *end = at + LLVMGetBufferSize(assembly);
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    char *line = strndup(at, (size_t)(stop - at));
    if (!line) {
      abort();  // as mtlc_values_add
    }
    take_line(&l, line);
    free(line);
    at = stop + 1;
  }
  LLVMDisposeMemoryBuffer(assembly);
  mtli_bytes_append(&bytes, "", 1);  // the end of the text
  *out_text = (char *)bytes.data;
  return MTL_OK;
}
