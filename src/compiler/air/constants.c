// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.c: finds function constants, and the arguments that depend on them.
//
// A constant is a variable in a section of its own, which air.function_constants
// describes. A constructor copies it to the variable that the code reads, and
// computes from it the predicates that arguments hang on: those are read off
// the constructor's code.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"

static const char constant_section[] = "air.fc_initializer";

bool air_is_constant(air_translation *t, LLVMValueRef variable) {
  (void)t;
  const char *section =
      LLVMIsAGlobalVariable(variable) ? LLVMGetSection(variable) : NULL;
  return section && strcmp(section, constant_section) == 0;
}

static int by_index(const void *a, const void *b) {
  const uint32_t first = ((const mtli_constant *)a)->info.index;
  const uint32_t second = ((const mtli_constant *)b)->info.index;
  return (first > second) - (first < second);
}

// (variable, type's name, name, index, whether it must have a value)
static void describe(air_translation *t, LLVMValueRef node,
                     mtli_constant *out) {
  unsigned count;
  size_t length;
  LLVMValueRef *operands = air_node(t, node, &count);
  const char *type = count > 1 ? air_text(t, operands[1]) : NULL;
  const char *name = count > 2 ? air_text(t, operands[2]) : NULL;
  if (count < 5 || !operands[0] || !LLVMIsAGlobalVariable(operands[0]) ||
      !type || !name) {
    air_fail(t, MTL_BAD_DATA, "a function constant is described in no way that "
                              "is known");
    return;
  }
  *out = (mtli_constant){
      .info = {.name = name,
               .index = (uint32_t)air_integer(operands[3], 0),
               .required = air_integer(operands[4], 0) != 0},
      .symbol = LLVMGetValueName2(operands[0], &length)};
  out->symbol = air_copy_text(t, out->symbol, length);
  if (!air_parse_type(type, &out->info.type, &out->info.components)) {
    air_fail(t, MTL_UNSUPPORTED, "function constant %s has the type %s", name,
             type);
  }
}

void air_describe_constants(air_translation *t) {
  unsigned count;
  LLVMValueRef *nodes = air_named_nodes(t, "air.function_constants", &count);
  t->code->constants =
      air_allocate(t, (count + 1) * sizeof *t->code->constants);
  for (unsigned i = 0; i < count && t->status == MTL_OK; ++i) {
    describe(t, nodes[i], &t->code->constants[t->code->constant_count++]);
  }
  qsort(t->code->constants, t->code->constant_count,
        sizeof *t->code->constants, by_index);
}

// --- conditions --------------------------------------------------------------

typedef struct condition {
  air_translation *t;
  char text[1024];
  size_t length;
  bool failed;
  int depth;
} condition;

static void append(condition *c, const char *word) {
  if (c->length + strlen(word) + 2 > sizeof c->text) {
    c->failed = true;
    return;
  }
  c->length += (size_t)sprintf(c->text + c->length, "%s%s",
                               c->length ? " " : "", word);
}

static void append_number(condition *c, char letter, uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%.1s%llu", letter ? (char[]){letter, 0} : "",
           (unsigned long long)number);
  append(c, text);
}

static void append_value(condition *c, LLVMValueRef value);

// Returns the value that a constructor stores in a variable; NULL if none or
// several.
static LLVMValueRef stored_value(LLVMValueRef variable) {
  LLVMValueRef found = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(variable); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable) {
      if (found) {
        return NULL;
      }
      found = LLVMGetOperand(user, 0);
    }
  }
  return found;
}

static bool is_float(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind;
}

static void append_variable(condition *c, LLVMValueRef variable) {
  if (!LLVMIsAGlobalVariable(variable)) {
    c->failed = true;
    return;
  }
  if (!air_is_constant(c->t, variable)) {
    LLVMValueRef value = stored_value(variable);
    c->failed |= !value;
    if (value) {
      append_value(c, value);
    }
    return;
  }
  size_t length;
  const char *symbol = LLVMGetValueName2(variable, &length);
  const mtli_code *code = c->t->code;
  for (size_t i = 0; i < code->constant_count; ++i) {
    if (strcmp(code->constants[i].symbol, symbol) == 0) {
      append_number(c, is_float(LLVMGlobalGetValueType(variable)) ? 'f' : 'c',
                    i);
      return;
    }
  }
  c->failed = true;
}

static const char *comparison(LLVMIntPredicate predicate) {
  switch (predicate) {
    case LLVMIntEQ: return "==";
    case LLVMIntNE: return "!=";
    case LLVMIntUGT: case LLVMIntSGT: return ">";
    case LLVMIntUGE: case LLVMIntSGE: return ">=";
    case LLVMIntULT: case LLVMIntSLT: return "<";
    default: return "<=";
  }
}

static const char *float_comparison(LLVMRealPredicate predicate) {
  switch (predicate) {
    case LLVMRealOEQ: case LLVMRealUEQ: return ".==";
    case LLVMRealONE: case LLVMRealUNE: return ".!=";
    case LLVMRealOGT: case LLVMRealUGT: return ".>";
    case LLVMRealOGE: case LLVMRealUGE: return ".>=";
    case LLVMRealOLT: case LLVMRealULT: return ".<";
    case LLVMRealOLE: case LLVMRealULE: return ".<=";
    default: return NULL;
  }
}

static void append_both(condition *c, LLVMValueRef i, const char *operator) {
  c->failed |= !operator;
  append_value(c, LLVMGetOperand(i, 0));
  append_value(c, LLVMGetOperand(i, 1));
  append(c, operator ? operator: "");
}

static void append_call(condition *c, LLVMValueRef call) {
  size_t length;
  LLVMValueRef callee = LLVMGetCalledValue(call);
  const char *name =
      LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
  if (strncmp(name, "air.normalize_function_constant_predicate.", 42) == 0) {
    append_value(c, LLVMGetOperand(call, 0));
    append(c, "0");
    append(c, "!=");
  } else if (strncmp(name, "air.convert.u.i1.f.", 19) == 0) {
    append_value(c, LLVMGetOperand(call, 0));
    append(c, "x0");
    append(c, ".!=");
  } else {
    c->failed = true;
  }
}

// Appends a && b or a || b, in LLVM's form.
static void append_choice(condition *c, LLVMValueRef select) {
  LLVMValueRef yes = LLVMGetOperand(select, 1), no = LLVMGetOperand(select, 2);
  append_value(c, LLVMGetOperand(select, 0));
  if (air_integer(no, -1) == 0) {
    append_value(c, yes);
    append(c, "&&");
  } else if (LLVMIsAConstantInt(yes) && !LLVMIsNull(yes)) {
    append_value(c, no);
    append(c, "||");
  } else {
    c->failed = true;
  }
}

static void append_instruction(condition *c, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: append_variable(c, LLVMGetOperand(i, 0)); break;
    case LLVMCall: append_call(c, i); break;
    case LLVMZExt: case LLVMSExt: case LLVMTrunc: case LLVMFreeze:
    case LLVMFPExt:
      append_value(c, LLVMGetOperand(i, 0));
      break;
    case LLVMICmp:
      append_both(c, i, comparison(LLVMGetICmpPredicate(i)));
      break;
    case LLVMFCmp:
      append_both(c, i, float_comparison(LLVMGetFCmpPredicate(i)));
      break;
    case LLVMAnd: append_both(c, i, "&"); break;
    case LLVMOr: append_both(c, i, "|"); break;
    case LLVMXor: append_both(c, i, "^"); break;
    case LLVMAdd: append_both(c, i, "+"); break;
    case LLVMSub: append_both(c, i, "-"); break;
    case LLVMMul: append_both(c, i, "*"); break;
    case LLVMSelect: append_choice(c, i); break;
    default: c->failed = true; break;
  }
}

static void append_value(condition *c, LLVMValueRef value) {
  enum { MOST_DEPTH = 64 };
  if (c->failed || c->depth > MOST_DEPTH) {
    c->failed = true;
    return;
  }
  c->depth++;
  if (LLVMIsAConstantInt(value)) {
    const bool is_bit = LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 1;
    char text[32];
    snprintf(text, sizeof text, "%lld",
             is_bit ? (long long)LLVMConstIntGetZExtValue(value)
                    : LLVMConstIntGetSExtValue(value));
    append(c, text);
  } else if (LLVMIsAConstantFP(value)) {
    LLVMBool loses = false;
    const float number = (float)LLVMConstRealGetDouble(value, &loses);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    append_number(c, 'x', bits);
  } else if (LLVMIsAInstruction(value)) {
    append_instruction(c, value);
  } else {
    c->failed = true;
  }
  c->depth--;
}

// The common case, a constant itself: "c3 0 !=".
static bool is_one_constant(const char *text, int32_t *out_position) {
  int position = 0, used = 0;
  if (sscanf(text, "c%d 0 !=%n", &position, &used) == 1 && used > 0 &&
      text[used] == '\0') {
    *out_position = position;
    return true;
  }
  return false;
}

void air_describe_condition(air_translation *t, LLVMValueRef predicate,
                            int32_t *out_enabling,
                            const char **out_condition) {
  condition c = {.t = t};
  if (predicate && LLVMIsAConstantExpr(predicate)) {
    predicate = LLVMGetOperand(predicate, 0);  // in another address space
  }
  if (predicate && LLVMIsAGlobalVariable(predicate)) {
    append_variable(&c, predicate);
  } else {
    c.failed = true;
  }
  if (c.failed) {
    air_fail(t, MTL_UNSUPPORTED,
             "a computation that decides whether an argument is there");
  } else if (!is_one_constant(c.text, out_enabling)) {
    *out_condition = air_copy_text(t, c.text, c.length);
  }
}
