// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conditions.c: evaluates which arguments the function constants enable.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

static int64_t integer_of(const mtl_constant_info *info,
                          const mtli_constant_value *value) {
  const size_t size_bytes = mtl_data_type_size(info->type);
  int64_t integer = 0;
  memcpy(&integer, value->bytes, size_bytes);
  const bool is_signed =
      info->type == MTL_TYPE_CHAR || info->type == MTL_TYPE_SHORT ||
      info->type == MTL_TYPE_INT || info->type == MTL_TYPE_LONG;
  const unsigned unused_bits = 64 - 8 * (unsigned)size_bytes;
  return is_signed && size_bytes
             ? (int64_t)((uint64_t)integer << unused_bits) >> unused_bits
             : integer;
}

// Returns a constant of floating point as a float, which its bits then stand
// for.
static float float_of(const mtl_constant_info *info,
                      const mtli_constant_value *value) {
  float number = 0;
  if (info->type == MTL_TYPE_FLOAT) {
    memcpy(&number, value->bytes, sizeof number);
  } else if (info->type == MTL_TYPE_HALF) {
    _Float16 half;
    memcpy(&half, value->bytes, sizeof half);
    number = (float)half;
  }
  return number;
}

static int64_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static float number_of(int64_t bits) {
  const uint32_t low = (uint32_t)bits;
  float number;
  memcpy(&number, &low, sizeof number);
  return number;
}

static int64_t apply(const char *name, int64_t a, int64_t b) {
  static const char *const names[] = {"&&", "||", "==", "!=", "<", "<=", ">",
                                      ">=", "+",  "-",  "*",  "&", "|",  "^"};
  const int64_t results[] = {
      a && b,
      a || b,
      a == b,
      a != b,
      a<b, a <= b, a>
          b,
      a >= b,
      (int64_t)((uint64_t)a + (uint64_t)b),
      (int64_t)((uint64_t)a - (uint64_t)b),
      (int64_t)((uint64_t)a * (uint64_t)b),
      a & b,
      a | b,
      a ^ b,
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) == 0) {
      return results[i];
    }
  }
  return 0;
}

static int64_t apply_to_floats(const char *name, float a, float b) {
  static const char *const names[] = {"==", "!=", "<", "<=", ">",
                                      ">=", "+",  "-", "*",  "/"};
  const int64_t results[] = {
      a == b,         a != b,         a<b, a <= b, a> b, a >= b,
      bits_of(a + b), bits_of(a - b), bits_of(a * b),    bits_of(a / b),
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) == 0) {
      return results[i];
    }
  }
  return 0;
}

// As kernels convert: to the nearest there is, and a NaN to 0.
static int64_t integer_near(float number) {
  if (number != number) {
    return 0;
  }
  return number >= 0x1p63f   ? INT64_MAX
         : number < -0x1p63f ? INT64_MIN
                             : (int64_t)number;
}

typedef struct stack {
  int64_t values[128];
  size_t count;
} stack;

static int64_t pop(stack *s) {
  return s->count ? s->values[--s->count] : 0;
}

static void push(stack *s, int64_t value) {
  if (s->count < sizeof s->values / sizeof *s->values) {
    s->values[s->count++] = value;
  }
}

// An operator on floats, without its dot.
static void evaluate_floats(stack *s, const char *name) {
  if (strcmp(name, "from") == 0) {
    push(s, bits_of((float)pop(s)));
  } else if (strcmp(name, "to") == 0) {
    push(s, integer_near(number_of(pop(s))));
  } else {
    const float right = number_of(pop(s)), left = number_of(pop(s));
    push(s, apply_to_floats(name, left, right));
  }
}

// One word of a condition (code.h); senseless ones, which only a container
// that was tampered with has, give some value.
static void evaluate_word(stack *s, const char *word, const mtli_code *code,
                          const mtli_constant_value *values) {
  const size_t position = strtoul(word + 1, NULL, 10);
  const bool is_constant = word[0] == 'c' || word[0] == 'd' || word[0] == 'f';
  if (is_constant && position >= code->constant_count) {
    push(s, 0);
  } else if (word[0] == 'd') {
    push(s, values[position].is_set);
  } else if (word[0] == 'c') {
    push(s, integer_of(&code->constants[position].info, &values[position]));
  } else if (word[0] == 'f') {
    push(s,
         bits_of(float_of(&code->constants[position].info, &values[position])));
  } else if (word[0] == 'x') {
    push(s, (uint32_t)position);
  } else if (word[0] == '.') {
    evaluate_floats(s, word + 1);
  } else if ((word[0] >= '0' && word[0] <= '9') ||
             (word[0] == '-' && word[1] != '\0')) {
    push(s, strtoll(word, NULL, 10));
  } else if (strcmp(word, "!") == 0) {
    push(s, !pop(s));
  } else if (strcmp(word, "?") == 0) {
    const int64_t otherwise = pop(s), then = pop(s);
    push(s, pop(s) ? then : otherwise);
  } else {
    const int64_t right = pop(s), left = pop(s);
    push(s, apply(word, left, right));
  }
}

bool mtli_parameter_is_active(const mtli_parameter *parameter,
                              const mtli_code *code,
                              const mtli_constant_value *values) {
  const int32_t enabling = parameter->enabling_constant;
  if (enabling < -1) {
    return values[MTLI_ENABLED_IF_DEFINED(enabling)].is_set;
  }
  if (enabling >= 0) {
    return values[enabling].bytes[0] != 0;
  }
  if (!parameter->condition || !*parameter->condition) {
    return true;
  }
  stack s = {.count = 0};
  char word[32];
  int length = 0;
  for (const char *at = parameter->condition;
       sscanf(at, "%31s%n", word, &length) == 1; at += length) {
    evaluate_word(&s, word, code, values);
  }
  return pop(&s) != 0;
}
