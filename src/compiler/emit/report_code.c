// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report_code.c: reports the registers that the finished machine code uses, as
// LLVM's disassembler reads it back. It takes a fiftieth of a compilation, so
// it runs on request only.
//
// Requires  the object of emit_cpu.c
// Leaves    a line of the report: vector registers in use, and the
//           instructions that move vectors to the stack and back
#include "compiler/emit/report_code.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Object.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/names.h"

enum { VECTOR_REGISTERS = 32, TEXT_BYTES = 256 };

typedef struct code_facts {
  uint32_t instructions;
  uint32_t spills;
  uint32_t reloads;
  bool used[VECTOR_REGISTERS];
} code_facts;

// Notes "%zmm12" and its halves and quarters; other registers hold no vectors.
static void note_registers(const char *text, code_facts *facts) {
  for (const char *at = text; (at = strstr(at, "mm")); at += 2) {
    if (at - text >= 2 && at[-2] == '%' && strchr("xyz", at[-1]) &&
        at[2] >= '0' && at[2] <= '9') {
      const unsigned long number = strtoul(at + 2, NULL, 10);
      if (number < VECTOR_REGISTERS) {
        facts->used[number] = true;
      }
    }
  }
}

// Counts a whole vector moved to or from a fixed place on the stack. AT&T
// order: the source comes first.
static void note_move(const char *text, code_facts *facts) {
  const char *stack = strstr(text, "(%rsp)");
  const char *vector = strstr(text, "%xmm");
  vector = vector ? vector : strstr(text, "%ymm");
  vector = vector ? vector : strstr(text, "%zmm");
  while (*text == '\t' || *text == ' ') {
    ++text;
  }
  if (!stack || !vector || !mtlc_starts_with(text, "vmov")) {
    return;
  }
  *(vector < stack ? &facts->spills : &facts->reloads) += 1;
}

static void read_section(LLVMDisasmContextRef reader,
                         LLVMSectionIteratorRef section, code_facts *facts) {
  uint8_t *bytes = (uint8_t *)LLVMGetSectionContents(section);
  const uint64_t size = LLVMGetSectionSize(section);
  for (uint64_t at = 0; at < size;) {
    char text[TEXT_BYTES];
    const size_t length = LLVMDisasmInstruction(reader, bytes + at, size - at,
                                                at, text, sizeof text);
    if (length == 0) {
      return;
    }
    at += length;
    facts->instructions++;
    note_registers(text, facts);
    note_move(text, facts);
  }
}

void mtlc_report_code(mtlc_kernel *kernel, const void *object,
                      size_t size_bytes) {
  char *triple = LLVMGetTargetMachineTriple(kernel->target);
  char *cpu = LLVMGetTargetMachineCPU(kernel->target);
  char *features = LLVMGetTargetMachineFeatureString(kernel->target);
  LLVMDisasmContextRef reader = NULL;
  if (mtlc_starts_with(triple, "x86_64")) {
    LLVMInitializeX86Disassembler();
    reader = LLVMCreateDisasmCPUFeatures(triple, cpu, features, NULL, 0, NULL,
                                         NULL);
  }
  char *message = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
      object, size_bytes, "object", false);
  LLVMBinaryRef binary =
      reader ? LLVMCreateBinary(buffer, kernel->context, &message) : NULL;
  if (binary) {
    code_facts facts = {0};
    LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
    for (; !LLVMObjectFileIsSectionIteratorAtEnd(binary, section);
         LLVMMoveToNextSection(section)) {
      const char *name = LLVMGetSectionName(section);
      if (name && mtlc_starts_with(name, ".text")) {
        read_section(reader, section, &facts);
      }
    }
    LLVMDisposeSectionIterator(section);
    uint32_t used = 0;
    for (uint32_t i = 0; i < VECTOR_REGISTERS; i++) {
      used += facts.used[i];
    }
    mtlc_report(kernel,
                "machine code: %u instructions, %u vector registers, %u spills "
                "(vectors stored on the stack), %u reloads",
                facts.instructions, used, facts.spills, facts.reloads);
    LLVMDisposeBinary(binary);
  }
  LLVMDisposeMessage(message);
  LLVMDisposeMemoryBuffer(buffer);
  if (reader) {
    LLVMDisasmDispose(reader);
  }
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}
