// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regex_parse.c: compiles the pattern of a regular expression to a tree.
//
// Source  ICU User Guide, Regular Expressions
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/regex/regex_node.h"

typedef struct parser {
  regex *made;
  const uint16_t *units;
  size_t count, at;
  unsigned options;
  int depth;
  const char *error;
  size_t error_at;
} parser;

enum { MAX_DEPTH = 200, MAX_REPEAT = 0x7fffffff, MAX_NAME = 31 };

static void *fail(parser *in, const char *error) {
  if (!in->error) {
    in->error = error;
    in->error_at = in->at;
  }
  return NULL;
}

static void *allocate(parser *in, size_t bytes) {
  regex_block *block = calloc(1, sizeof *block + bytes);
  if (!block) {
    abort();
  }
  block->next = in->made->blocks;
  in->made->blocks = block;
  return block->bytes;
}

static node *node_make(parser *in, node_kind kind) {
  node *made = allocate(in, sizeof *made);
  made->kind = kind;
  made->ignores_case = in->options & REGEX_CASE_INSENSITIVE;
  return made;
}

static bool at_end(const parser *in) {
  return in->at >= in->count || in->error;
}

static uint32_t peek(const parser *in) {
  return at_end(in) ? 0 : in->units[in->at];
}

static bool take(parser *in, uint32_t wanted) {
  const bool found = !at_end(in) && in->units[in->at] == wanted;
  in->at += found;
  return found;
}

// True if the ASCII text comes next.
static bool comes(const parser *in, const char *text) {
  for (size_t i = 0; text[i]; ++i) {
    if (in->at + i >= in->count || in->units[in->at + i] != (uint8_t)text[i]) {
      return false;
    }
  }
  return true;
}

static bool take_text(parser *in, const char *text) {
  const bool found = !in->error && comes(in, text);
  in->at += found ? strlen(text) : 0;
  return found;
}

// Takes a character, of one unit or two.
static uint32_t take_code(parser *in) {
  if (at_end(in)) {
    fail(in, "the pattern ends too early");
    return 0;
  }
  return regex_take_code(in->units, in->count, &in->at);
}

// Takes a name of at most MAX_NAME units, up to `end`; returns its length.
static size_t take_name(parser *in, uint32_t end, char *out) {
  size_t length = 0;
  while (!at_end(in) && peek(in) != end && length < MAX_NAME) {
    out[length++] = (char)peek(in);
    ++in->at;
  }
  return length;
}

static int hex_of(uint32_t code) {
  return code >= '0' && code <= '9'   ? (int)(code - '0')
         : code >= 'a' && code <= 'f' ? (int)(code - 'a' + 10)
         : code >= 'A' && code <= 'F' ? (int)(code - 'A' + 10)
                                      : -1;
}

// Takes up to most digits of a base.
static uint32_t take_digits(parser *in, size_t most, uint32_t base) {
  uint32_t value = 0;
  size_t digits = 0;
  while (digits < most) {
    const int digit = hex_of(peek(in));
    if (at_end(in) || digit < 0 || (uint32_t)digit >= base) {
      break;
    }
    value = value * base + (uint32_t)digit;
    ++in->at;
    ++digits;
  }
  if (!digits) {
    fail(in, "digits are missing");
  }
  return value;
}

// Takes a character that stands behind a backslash for one.
static uint32_t take_escaped_code(parser *in) {
  const uint32_t code = take_code(in);
  switch (code) {
    case 'a': return 7;
    case 'e': return 0x1b;
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case '0': return take_digits(in, 3, 8);
    case 'c': return take_code(in) & 0x1f;
    case 'u': return take_digits(in, 4, 16);
    case 'U': return take_digits(in, 8, 16);
    case 'x': {
      const bool braces = take(in, '{');
      const uint32_t value = take_digits(in, braces ? 6 : 2, 16);
      if (braces && !take(in, '}')) {
        fail(in, "\\x{ without }");
      }
      return value;
    }
    default:
      if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) {
        fail(in, "an escape that is not supported");
      }
      return code;
  }
}

// --- Sets --------------------------------------------------------------------

static set_item *add_item(parser *in, node *set) {
  set_item *made = allocate(in, sizeof *made);
  made->next = set->items;
  set->items = made;
  return made;
}

static void add_range(parser *in, node *set, uint32_t low, uint32_t high) {
  if (low > high) {
    fail(in, "a range that ends before it begins");
    return;
  }
  set_item *item = add_item(in, set);
  item->low = low;
  item->high = high;
}

static void add_class(parser *in, node *set, const char *name, size_t length,
                      bool is_negated) {
  const char_class *class = regex_class(name, length);
  if (!class) {
    fail(in, "a class of characters that is not supported");
    return;
  }
  set_item *item = add_item(in, set);
  item->class = class;
  item->is_negated = is_negated;
}

// Adds the class that \d, \W, \p{L} and their like name, behind the backslash;
// false for other escapes.
static bool take_class(parser *in, node *set) {
  static const char letters[] = "dwshv", capitals[] = "DWSHV";
  const uint32_t code = peek(in);
  const char *small = code < 128 && code ? strchr(letters, (int)code) : NULL;
  const char *large = code < 128 && code ? strchr(capitals, (int)code) : NULL;
  if (small || large) {
    ++in->at;
    add_class(in, set, small ? small : letters + (large - capitals), 1, large);
    return true;
  }
  if (code != 'p' && code != 'P') {
    return false;
  }
  ++in->at;
  char name[MAX_NAME + 1];
  size_t length = 0;
  bool is_negated = code == 'P';
  if (take(in, '{')) {
    is_negated ^= take(in, '^');
    length = take_name(in, '}', name);
    if (!take(in, '}')) {
      fail(in, "\\p{ without }");
    }
  } else {
    name[length++] = (char)take_code(in);
  }
  add_class(in, set, name, length, is_negated);
  return true;
}

static bool take_posix(parser *in, node *set) {
  if (!take_text(in, "[:")) {
    return false;
  }
  const bool is_negated = take(in, '^');
  char name[MAX_NAME + 1];
  const size_t length = take_name(in, ':', name);
  if (!take_text(in, ":]")) {
    fail(in, "[: without :]");
  }
  add_class(in, set, name, length, is_negated);
  return true;
}

static node *parse_set(parser *in);

// Takes a range, or one character.
static void take_range(parser *in, node *set) {
  const uint32_t low = take(in, '\\') ? take_escaped_code(in) : take_code(in);
  if (peek(in) == '-' && in->at + 1 < in->count &&
      in->units[in->at + 1] != ']' && in->units[in->at + 1] != '[' &&
      in->units[in->at + 1] != '-') {
    ++in->at;
    add_range(in, set, low,
              take(in, '\\') ? take_escaped_code(in) : take_code(in));
  } else {
    add_range(in, set, low, low);
  }
}

// "--" takes what follows away, "&&" keeps what is in both.
static void take_operator(parser *in, node *set, bool removes) {
  node *right = node_make(in, NODE_SET);
  if (peek(in) == '[') {
    ++in->at;
    right = parse_set(in);
  } else {
    while (!at_end(in) && peek(in) != ']' && !comes(in, "&&") &&
           !comes(in, "--")) {
      if (peek(in) == '\\' && ++in->at && take_class(in, right)) {
        continue;
      }
      take_range(in, right);
    }
  }
  if (right && removes) {
    right->is_negated = !right->is_negated;
  }
  // What is left so far becomes one item, so that several operators nest.
  node *left = node_make(in, NODE_SET);
  left->items = set->items;
  left->other = right;
  set->items = NULL;
  add_item(in, set)->set = left;
}

// Behind "[".
static node *parse_set(parser *in) {
  node *set = node_make(in, NODE_SET);
  if (++in->depth > MAX_DEPTH) {
    return fail(in, "too many sets in each other");
  }
  set->is_negated = take(in, '^');
  bool first = true;
  for (; !in->error; first = false) {
    if (in->at >= in->count) {
      return fail(in, "[ without ]");
    }
    if (!first && take(in, ']')) {
      break;
    }
    if (take_text(in, "&&")) {
      take_operator(in, set, false);
    } else if (!first && take_text(in, "--")) {
      take_operator(in, set, true);
    } else if (take_posix(in, set)) {
    } else if (take(in, '[')) {
      node *inner = parse_set(in);
      add_item(in, set)->set = inner;
    } else if (peek(in) == '\\' && in->at + 1 < in->count) {
      ++in->at;
      if (!take_class(in, set)) {
        --in->at;
        take_range(in, set);
      }
    } else {
      take_range(in, set);
    }
  }
  --in->depth;
  return in->error ? NULL : set;
}

// --- Groups ------------------------------------------------------------------

static node *parse_choice(parser *in);

static node *parse_until_close(parser *in, node *group) {
  group->first = parse_choice(in);
  if (!take(in, ')')) {
    return fail(in, "( without )");
  }
  return group;
}

static node *parse_look(parser *in, bool is_behind, bool is_negated) {
  node *look = node_make(in, NODE_LOOK);
  look->is_behind = is_behind;
  look->is_negated = is_negated;
  return parse_until_close(in, look);
}

static node *parse_capture(parser *in) {
  node *group = node_make(in, NODE_GROUP);
  if (in->made->groups >= REGEX_MAX_GROUPS) {
    return fail(in, "more than 64 groups");
  }
  group->number = ++in->made->groups;
  return parse_until_close(in, group);
}

static node *parse_named(parser *in) {
  group_name *name = allocate(in, sizeof *name);
  const size_t length = take_name(in, '>', name->text);
  if (!take(in, '>')) {
    return fail(in, length == MAX_NAME && !at_end(in)
                        ? "a group's name that is too long"
                        : "(?< without >");
  }
  name->number = in->made->groups + 1;
  name->next = in->made->names;
  in->made->names = name;
  return parse_capture(in);
}

// Behind "(?": (?i), (?i-s) and (?i:...). Without the colon they hold to the
// end of the group.
static node *parse_flags(parser *in) {
  const unsigned before = in->options;
  bool is_on = true;
  for (;;) {
    const uint32_t letter = take_code(in);
    unsigned option = 0;
    switch (letter) {
      case 'i': option = REGEX_CASE_INSENSITIVE; break;
      case 'x': option = REGEX_COMMENTS; break;
      case 's': option = REGEX_DOT_MATCHES_LINES; break;
      case 'm': option = REGEX_ANCHORS_MATCH_LINES; break;
      case 'w': break;  // word boundaries by Unicode's rules: as they are
      case '-': is_on = false; break;
      case ')': return node_make(in, NODE_SEQUENCE);
      case ':': {
        node *group = node_make(in, NODE_SEQUENCE);
        group = parse_until_close(in, group);
        in->options = before;
        return group;
      }
      default: return fail(in, "a flag that is none");
    }
    in->options = is_on ? in->options | option : in->options & ~option;
  }
}

// Behind "(".
static node *parse_group(parser *in) {
  const unsigned before = in->options;
  node *made = NULL;
  bool keeps_options = false;
  if (++in->depth > MAX_DEPTH) {
    return fail(in, "too many groups in each other");
  }
  if (!take(in, '?')) {
    made = parse_capture(in);
  } else if (take(in, ':')) {
    made = parse_until_close(in, node_make(in, NODE_SEQUENCE));
  } else if (take(in, '>')) {
    made = parse_until_close(in, node_make(in, NODE_ATOMIC));
  } else if (take(in, '=')) {
    made = parse_look(in, false, false);
  } else if (take(in, '!')) {
    made = parse_look(in, false, true);
  } else if (take_text(in, "<=")) {
    made = parse_look(in, true, false);
  } else if (take_text(in, "<!")) {
    made = parse_look(in, true, true);
  } else if (take(in, '<')) {
    made = parse_named(in);
  } else if (take(in, '#')) {
    while (!at_end(in) && peek(in) != ')') {
      ++in->at;
    }
    made = take(in, ')') ? node_make(in, NODE_SEQUENCE)
                         : fail(in, "(?# without )");
  } else {
    made = parse_flags(in);
    keeps_options = true;
  }
  in->options = keeps_options ? in->options : before;
  --in->depth;
  return made;
}

// --- Atoms -------------------------------------------------------------------

static node *char_node(parser *in, uint32_t code) {
  node *made = node_make(in, NODE_CHAR);
  made->code = made->ignores_case ? regex_fold(code) : code;
  return made;
}

static node *back_reference(parser *in, size_t number) {
  node *made = node_make(in, NODE_BACK);
  made->number = number;
  return number <= REGEX_MAX_GROUPS ? made
                                    : fail(in, "a group that is not there");
}

static node *named_reference(parser *in) {
  char name[MAX_NAME + 1];
  if (!take(in, '<')) {
    return fail(in, "\\k without <");
  }
  const size_t length = take_name(in, '>', name);
  const size_t number = regex_group_named(in->made, name, length);
  return take(in, '>') && number ? back_reference(in, number)
                                 : fail(in, "a group that is not there");
}

// Takes characters that stand for themselves, up to a text and behind it; with
// NULL to the pattern's end.
static node *literal_until(parser *in, const char *end) {
  node *made = node_make(in, NODE_SEQUENCE), **last = &made->first;
  while (!at_end(in) && !(end && take_text(in, end))) {
    *last = char_node(in, take_code(in));
    last = &(*last)->next;
  }
  return made;
}

// Behind a backslash.
static node *parse_escape(parser *in) {
  node *set = node_make(in, NODE_SET);
  if (take_class(in, set)) {
    set->ignores_case = false;
    return set;
  }
  const uint32_t code = peek(in);
  if (code >= '1' && code <= '9') {
    return back_reference(in, take_digits(in, 2, 10));
  }
  static const struct {
    char letter;
    node_kind kind;
    bool is_negated;
  } edges[] = {{'A', NODE_TEXT_START, false}, {'Z', NODE_END, false},
               {'z', NODE_TEXT_END, false},   {'b', NODE_WORD_EDGE, false},
               {'B', NODE_WORD_EDGE, true},   {'G', NODE_LAST_END, false},
               {'R', NODE_LINE_BREAK, false}};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; ++i) {
    if (code == (uint32_t)edges[i].letter) {
      ++in->at;
      node *made = node_make(in, edges[i].kind);
      made->is_negated = edges[i].is_negated;
      return made;
    }
  }
  if (take(in, 'Q')) {
    return literal_until(in, "\\E");
  }
  return take(in, 'k') ? named_reference(in)
                       : char_node(in, take_escaped_code(in));
}

static node *parse_atom(parser *in) {
  const uint32_t code = take_code(in);
  node *made;
  switch (code) {
    case '(': return parse_group(in);
    case '[': return parse_set(in);
    case '\\': return parse_escape(in);
    case '.':
      made = node_make(in, NODE_ANY);
      made->is_all = in->options & REGEX_DOT_MATCHES_LINES;
      return made;
    case '^':
    case '$':
      made = node_make(in, code == '^' ? NODE_START : NODE_END);
      made->is_all = in->options & REGEX_ANCHORS_MATCH_LINES;
      return made;
    case '*':
    case '+':
    case '?':
    case '{':
    case ')': return fail(in, "an operator without what it is for");
    default: return char_node(in, code);
  }
}

static bool take_counts(parser *in, size_t *least, size_t *most) {
  if (take(in, '*')) {
    *least = 0;
    *most = MAX_REPEAT;
  } else if (take(in, '+')) {
    *least = 1;
    *most = MAX_REPEAT;
  } else if (take(in, '?')) {
    *least = 0;
    *most = 1;
  } else if (take(in, '{')) {
    *least = *most = take_digits(in, 9, 10);
    if (take(in, ',')) {
      *most = peek(in) == '}' ? MAX_REPEAT : take_digits(in, 9, 10);
    }
    if (!take(in, '}') || *least > *most) {
      fail(in, "{ that counts nothing");
    }
  } else {
    return false;
  }
  return true;
}

static void skip_comments(parser *in) {
  while (in->options & REGEX_COMMENTS && !at_end(in)) {
    if (take(in, '#')) {
      while (!at_end(in) && !regex_is_line_end(peek(in))) {
        ++in->at;
      }
    } else if (peek(in) < 0x80 && strchr(" \t\r\n\f\v", (int)peek(in))) {
      ++in->at;
    } else {
      return;
    }
  }
}

static node *parse_repeat(parser *in) {
  node *atom = parse_atom(in);
  size_t least, most;
  skip_comments(in);
  while (atom && take_counts(in, &least, &most)) {
    node *repeat = node_make(in, NODE_REPEAT);
    repeat->first = atom;
    repeat->least = least;
    repeat->most = most;
    repeat->mode = take(in, '?') ? LAZY : take(in, '+') ? POSSESSIVE : GREEDY;
    if (repeat->mode == POSSESSIVE) {
      node *atomic = node_make(in, NODE_ATOMIC);
      repeat->mode = GREEDY;
      atomic->first = repeat;
      repeat = atomic;
    }
    atom = repeat;
    skip_comments(in);
  }
  return atom;
}

static node *parse_sequence(parser *in) {
  node *made = node_make(in, NODE_SEQUENCE), **last = &made->first;
  for (skip_comments(in); !at_end(in) && peek(in) != '|' && peek(in) != ')';
       skip_comments(in)) {
    // A group with flags alone may be a choice's rest: they hold from here on.
    *last = parse_repeat(in);
    if (!*last) {
      return NULL;
    }
    last = &(*last)->next;
  }
  return made;
}

static node *parse_choice(parser *in) {
  node *made = node_make(in, NODE_CHOICE), **last = &made->first;
  do {
    *last = parse_sequence(in);
    if (!*last) {
      return NULL;
    }
    last = &(*last)->next;
  } while (take(in, '|'));
  return made->first->next ? made : made->first;
}

// --- A whole pattern ---------------------------------------------------------

regex *regex_create(const uint16_t *pattern, size_t count, unsigned options,
                    const char **out_error, size_t *out_at) {
  regex *made = calloc(1, sizeof *made);
  if (!made) {
    abort();
  }
  parser in = {
      .made = made, .units = pattern, .count = count, .options = options};
  made->root =
      options & REGEX_LITERAL ? literal_until(&in, NULL) : parse_choice(&in);
  if (!in.error && in.at < count) {
    fail(&in, ") without (");
  }
  *out_error = in.error;
  *out_at = in.error_at;
  if (in.error) {
    regex_free(made);
    return NULL;
  }
  return made;
}

void regex_free(regex *of) {
  while (of && of->blocks) {
    regex_block *next = of->blocks->next;
    free(of->blocks);
    of->blocks = next;
  }
  free(of);
}

size_t regex_groups(const regex *of) {
  return of->groups;
}

size_t regex_group_named(const regex *of, const char *name, size_t length) {
  for (const group_name *each = of->names; each; each = each->next) {
    if (strlen(each->text) == length &&
        strncmp(each->text, name, length) == 0) {
      return each->number;
    }
  }
  return 0;
}
