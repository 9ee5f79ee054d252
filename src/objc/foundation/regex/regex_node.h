// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regex_node.h: the tree of a regular expression.
#ifndef METTLE_OBJC_REGEX_NODE_H
#define METTLE_OBJC_REGEX_NODE_H

#include "objc/foundation/regex/regex.h"

typedef enum node_kind {
  NODE_CHAR,        // code
  NODE_ANY,         // but line ends, unless is_all
  NODE_SET,         // items
  NODE_SEQUENCE,    // first, and its next ones
  NODE_CHOICE,      // first, and its next ones
  NODE_REPEAT,      // first, least to most times
  NODE_GROUP,       // first, captured as number
  NODE_ATOMIC,      // first, which is not tried again
  NODE_LOOK,        // first, ahead or behind
  NODE_BACK,        // what group number has
  NODE_START,       // of the text, or of a line where is_all
  NODE_END,         // before a last line end, or of a line where is_all
  NODE_TEXT_START,  // \A
  NODE_TEXT_END,    // \z
  NODE_WORD_EDGE,   // \b
  NODE_LAST_END,    // \G: where the search began
  NODE_LINE_BREAK,  // \R
} node_kind;

typedef struct node node;

// An item of a set: a range, a class of characters, or another set.
typedef struct set_item {
  struct set_item *next;
  uint32_t low, high;
  const struct char_class *class;
  const node *set;
  bool is_negated;
} set_item;

typedef enum repeat_mode { GREEDY, LAZY, POSSESSIVE } repeat_mode;

struct node {
  node_kind kind;
  uint32_t code;
  bool is_negated, is_all, is_behind, ignores_case;
  size_t number, least, most;
  repeat_mode mode;
  set_item *items;
  const node *other;  // of a set: which it is intersected with (&&)
  node *first, *next;
};

typedef struct group_name {
  struct group_name *next;
  size_t number;
  char text[32];
} group_name;

// Memory of a regex, freed with it.
typedef struct regex_block {
  struct regex_block *next;
  _Alignas(16) char bytes[];
} regex_block;

struct regex {
  node *root;
  regex_block *blocks;
  size_t groups;
  group_name *names;
};

// --- Characters (regex_chars.c) ----------------------------------------------

typedef struct char_class char_class;

// Finds a class by its name: "d", "L", "alpha", "White_Space"; NULL for none.
const char_class *regex_class(const char *name, size_t length);
bool regex_class_has(const char_class *of, uint32_t code);
bool regex_set_has(const node *set, uint32_t code);
// Returns the code point at units[*at], of one unit or a surrogate pair within
// [count], and moves *at behind it.
uint32_t regex_take_code(const uint16_t *units, size_t count, size_t *at);
uint32_t regex_fold(uint32_t code);
bool regex_is_line_end(uint32_t code);

#endif
