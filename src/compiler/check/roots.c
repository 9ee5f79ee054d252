// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// roots.c: finds the root of an address in SSA form: an argument, a variable,
// or one of several.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "compiler/check/check.h"

static const mtlc_root nowhere = {.space = MTLI_CHECK_NOWHERE,
                                  .slot = MTLI_CHECK_NO_SLOT};

// Returns the address that a check of an access has been given, if it is one's
// result.
static LLVMValueRef asked_of(LLVMValueRef address) {
  LLVMValueRef call =
      LLVMIsAExtractValueInst(address) ? LLVMGetOperand(address, 0) : address;
  const char *name = mtlc_callee(call) ? mtlc_name(mtlc_callee(call)) : "";
  if (mtlc_starts_with(name, MTLC_FAST_PATH_PREFIX)) {
    return LLVMGetOperand(call, 1);
  }
  return strcmp(name, "mettle.check.device") == 0 ||
                 strcmp(name, "mettle.check.threadgroup") == 0 ||
                 strcmp(name, "mettle.check.variable") == 0
             ? LLVMGetOperand(call, 0)
             : NULL;
}

static mtlc_root outside(void) {
  mtlc_root root = nowhere;
  root.space = MTLI_CHECK_ANYWHERE;
  root.is_outside = true;
  return root;
}

static mtlc_root root_of_argument(const mtlc_kernel *kernel,
                                  LLVMValueRef call) {
  mtlc_root root = nowhere;
  root.slot = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
  const mtli_parameter *parameter = &kernel->kernel->parameters[root.slot];
  const mtl_argument *argument = &parameter->argument;
  switch (argument->kind) {
    case MTL_ARGUMENT_BUFFER:
      root.space = MTLI_CHECK_DEVICE;
      root.bytes = argument->is_reference && !parameter->has_open_end
                       ? argument->size_bytes
                       : 0;
      return root;
    case MTL_ARGUMENT_THREADGROUP_MEMORY:
      root.space = MTLI_CHECK_THREADGROUP;
      root.base = call;
      return root;
    default: break;
  }
  const uint32_t slot = root.slot;
  root = outside();
  root.texture = argument->kind == MTL_ARGUMENT_TEXTURE ? slot + 1 : 0;
  return root;
}

static mtlc_root root_of_variable(const mtlc_kernel *kernel,
                                  LLVMValueRef variable) {
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(kernel->module);
  mtlc_root root = nowhere;
  root.base = variable;
  if (LLVMIsAAllocaInst(variable)) {
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    root.space = MTLI_CHECK_PRIVATE;
    root.bytes = LLVMIsAConstantInt(count)
                     ? LLVMABISizeOfType(layout,
                                         LLVMGetAllocatedType(variable)) *
                           LLVMConstIntGetZExtValue(count)
                     : 0;
    return root;
  }
  root.space = mtlc_names_threadgroup_memory(variable)
                   ? MTLI_CHECK_THREADGROUP
                   : MTLI_CHECK_CONSTANT;
  root.bytes =
      LLVMABISizeOfType(layout, LLVMGlobalGetValueType(variable));
  return root;
}

static mtlc_root walk(const mtlc_kernel *kernel, LLVMValueRef address,
                      mtlc_values *seen);

// A pointer that lies in an argument buffer, or in what one points to, leads to
// device memory; one that a variable of the thread's holds may lead anywhere.
static mtlc_root root_of_loaded(const mtlc_kernel *kernel, LLVMValueRef load,
                                mtlc_values *seen) {
  if (mtlc_values_has(seen, load)) {
    return nowhere;
  }
  mtlc_values_add(seen, load);
  const mtlc_root from = walk(kernel, LLVMGetOperand(load, 0), seen);
  mtlc_root root = nowhere;
  switch (from.space) {
    case MTLI_CHECK_DEVICE:
    case MTLI_CHECK_NOWHERE: root.space = from.space; return root;
    case MTLI_CHECK_PRIVATE: root.space = MTLI_CHECK_ANYWHERE; return root;
    default: break;
  }
  root = outside();
  root.texture = from.texture;
  if (from.is_descriptor) {
    root.space = MTLI_CHECK_DEVICE;  // texels
    root.is_outside = false;
  }
  root.is_descriptor = from.texture && !from.is_descriptor;
  return root;
}

static mtlc_root root_of_handle(const mtlc_kernel *kernel, LLVMValueRef handle,
                                mtlc_values *seen) {
  const mtlc_root from = walk(kernel, handle, seen);
  mtlc_root root = outside();
  root.texture = from.texture ? from.texture : MTLC_SOME_TEXTURE;
  root.is_descriptor = true;
  return root;
}

static mtlc_root root_of_one(const mtlc_kernel *kernel, LLVMValueRef value,
                             mtlc_values *seen) {
  LLVMValueRef handle = mtlc_marked_handle(value);
  if (handle) {
    return root_of_handle(kernel, handle, seen);
  }
  if (LLVMIsAAllocaInst(value) || LLVMIsAGlobalVariable(value)) {
    return root_of_variable(kernel, value);
  }
  LLVMValueRef callee = mtlc_callee(value);
  if (callee && strcmp(mtlc_name(callee), "mettle.argument") == 0) {
    return root_of_argument(kernel, value);
  }
  return LLVMIsALoadInst(value) ? root_of_loaded(kernel, value, seen)
                                : outside();
}

// Returns what holds of both roots.
static mtlc_root join(mtlc_root a, mtlc_root b) {
  if (a.space == MTLI_CHECK_NOWHERE) {
    return b;
  }
  if (b.space == MTLI_CHECK_NOWHERE) {
    return a;
  }
  if (a.space != b.space) {
    mtlc_root either = nowhere;
    either.space = MTLI_CHECK_ANYWHERE;
    either.is_outside = a.is_outside || b.is_outside;
    return either;
  }
  if (a.base != b.base || a.slot != b.slot) {
    a.base = NULL;
    a.slot = MTLI_CHECK_NO_SLOT;
    a.bytes = 0;
  }
  a.is_outside |= b.is_outside;
  if (a.texture != b.texture) {
    a.texture = a.texture && b.texture ? MTLC_SOME_TEXTURE : 0;
  }
  a.is_descriptor = a.is_descriptor && b.is_descriptor;
  return a;
}

// True for the last member of a structure, an array of one element or none:
// memory after it belongs to it.
static bool is_open_end(LLVMValueRef address) {
  if (!mtlc_is_opcode(address, LLVMGetElementPtr)) {
    return false;
  }
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  bool is_last = false;
  for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(address); ++i) {
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
      return false;
    }
    const unsigned member =
        (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(address, i));
    is_last = member + 1 == LLVMCountStructElementTypes(type);
    type = LLVMStructGetTypeAtIndex(type, member);
    if (is_last && LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
      return LLVMGetArrayLength2(type) <= 1;
    }
  }
  return false;
}

static mtlc_root walk(const mtlc_kernel *kernel, LLVMValueRef address,
                      mtlc_values *seen) {
  bool is_open = false;
  for (;;) {
    is_open |= is_open_end(address);
    if (LLVMIsAConstantExpr(address) ||
        mtlc_is_opcode(address, LLVMGetElementPtr) ||
        mtlc_is_opcode(address, LLVMAddrSpaceCast) ||
        mtlc_is_opcode(address, LLVMBitCast) ||
        mtlc_is_opcode(address, LLVMFreeze)) {
      if (LLVMIsAConstantExpr(address) &&
          LLVMGetConstOpcode(address) == LLVMIntToPtr) {
        return outside();
      }
      address = LLVMGetOperand(address, 0);
      continue;
    }
    LLVMValueRef asked = asked_of(address);
    if (asked) {
      address = asked;
      continue;
    }
    break;
  }
  if (LLVMIsAConstantPointerNull(address) || LLVMIsUndef(address)) {
    return nowhere;
  }
  const bool is_phi = LLVMIsAPHINode(address) != NULL;
  if (!is_phi && !LLVMIsASelectInst(address)) {
    mtlc_root root = root_of_one(kernel, address, seen);
    root.bytes = is_open && root.space == MTLI_CHECK_DEVICE ? 0 : root.bytes;
    return root;
  }
  if (mtlc_values_has(seen, address)) {
    return nowhere;
  }
  mtlc_values_add(seen, address);
  mtlc_root root = nowhere;
  if (is_phi) {
    for (unsigned i = 0; i < LLVMCountIncoming(address); ++i) {
      root = join(root, walk(kernel, LLVMGetIncomingValue(address, i), seen));
    }
    return root;
  }
  root = walk(kernel, LLVMGetOperand(address, 1), seen);
  return join(root, walk(kernel, LLVMGetOperand(address, 2), seen));
}

mtlc_root mtlc_find_root(const mtlc_kernel *kernel, LLVMValueRef address) {
  mtlc_values seen = {0};
  mtlc_root root = walk(kernel, address, &seen);
  free(seen.items);
  return root.space == MTLI_CHECK_NOWHERE ? outside() : root;
}

// The last name of a mangled one, "part" of "_ZZ8tree_sum...E4part".
static void last_name(const char *name, char *out, size_t capacity) {
  snprintf(out, capacity, "%s", name);
  if (strncmp(name, "_Z", 2) != 0) {
    char *dot = strrchr(out, '.');
    if (dot && !isdigit((unsigned char)dot[1])) {
      memmove(out, dot + 1, strlen(dot));
    }
    return;
  }
  // That of a variable in a function follows the E behind the function's types,
  // whose numbers are no lengths.
  const bool is_local = strncmp(name, "_ZZ", 3) == 0;
  const size_t length = strlen(name);
  for (size_t i = 1; i < length; ++i) {
    if (!isdigit((unsigned char)name[i]) ||
        (is_local ? name[i - 1] != 'E'
                  : isdigit((unsigned char)name[i - 1]))) {
      continue;
    }
    char *end = NULL;
    const unsigned long count = strtoul(name + i, &end, 10);
    const size_t start = (size_t)(end - name);
    if (count && start + count <= length && start + count + 3 >= length) {
      snprintf(out, capacity, "%.*s", (int)count, name + start);
      return;
    }
  }
}

// Registers of inlined functions are called "x.i", "x.addr.i12".
static void plain_name(const char *name, char *out, size_t capacity) {
  snprintf(out, capacity, "%s", name);
  char *dot = strchr(out, '.');
  if (dot) {
    *dot = '\0';
  }
}

void mtlc_name_root(const mtlc_kernel *kernel, const mtlc_root *root,
                    char *out, size_t capacity) {
  out[0] = '\0';
  if (root->texture == MTLC_SOME_TEXTURE) {
    return;
  }
  if (root->slot != MTLI_CHECK_NO_SLOT || root->texture) {
    const uint32_t slot = root->texture ? root->texture - 1 : root->slot;
    snprintf(out, capacity, "%s",
             kernel->kernel->parameters[slot].argument.name);
  } else if (root->base && LLVMIsAAllocaInst(root->base)) {
    plain_name(mtlc_name(root->base), out, capacity);
  } else if (root->base && LLVMIsAGlobalVariable(root->base)) {
    last_name(mtlc_name(root->base), out, capacity);
  }
}
