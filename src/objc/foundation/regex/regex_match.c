// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regex_match.c: matches a regular expression's tree against text, by
// backtracking: a node is matched at a place, and then what continues it.
#include <string.h>

#include "objc/foundation/regex/regex_node.h"

typedef enum continuation_kind {
  THEN_LIST,    // the nodes from next on
  THEN_REPEAT,  // the next turn of a repetition
  THEN_CLOSE,   // the end of a capturing group
  THEN_STOP,    // the end of what is looked at by itself
} continuation_kind;

// What follows when a node has matched.
typedef struct continuation {
  continuation_kind kind;
  const node *node;  // of a list: the next one
  size_t turns;      // of a repetition, so far
  size_t start;      // of the turn, or of the group
  const struct continuation *up;
} continuation;

typedef struct matcher {
  const regex_text *text;
  size_t search_start;
  size_t low, high;  // what lookarounds may see
  regex_span *spans;
  size_t stop;         // where what is looked at by itself has ended
  size_t wanted_stop;  // where it must end, or SIZE_MAX
  uint64_t steps;
  int depth;
  bool is_too_hard;
} matcher;

enum { MAX_STEPS = 50000000, MAX_DEPTH = 6000 };

static bool match(matcher *m, const node *of, size_t at,
                  const continuation *then);

// --- Characters --------------------------------------------------------------

// Matches a node that is one character; false for others, too.
static bool match_one(const matcher *m, const node *of, size_t at,
                      size_t *out_next) {
  if (at >= m->text->last) {
    return false;
  }
  *out_next = at;
  const uint32_t code = regex_take_code(m->text->units, m->high, out_next);
  switch (of->kind) {
    case NODE_CHAR:
      return code == of->code ||
             (of->ignores_case && regex_fold(code) == of->code);
    case NODE_ANY: return of->is_all || !regex_is_line_end(code);
    case NODE_SET: return regex_set_has(of, code);
    default: return false;
  }
}

static bool is_one(const node *of) {
  return of->kind == NODE_CHAR || of->kind == NODE_ANY || of->kind == NODE_SET;
}

static bool is_word_at(const matcher *m, size_t at) {
  static const char_class *word;
  if (at < m->low || at >= m->high) {
    return false;
  }
  const char_class *found = __atomic_load_n(&word, __ATOMIC_RELAXED);
  if (!found) {
    found = regex_class("w", 1);
    __atomic_store_n(&word, found, __ATOMIC_RELAXED);
  }
  return regex_class_has(found, m->text->units[at]);
}

// "\r\n" is one line end.
static bool is_inside_line_end(const matcher *m, size_t at) {
  const uint16_t *units = m->text->units;
  return at > m->low && at < m->high && units[at - 1] == '\r' &&
         units[at] == '\n';
}

static bool is_start(const matcher *m, const node *of, size_t at) {
  const regex_text *text = m->text;
  const size_t first = text->anchors ? text->first : 0;
  if (at == first) {
    return true;
  }
  return of->kind == NODE_START && of->is_all && at > 0 && at < m->high &&
         regex_is_line_end(text->units[at - 1]) && !is_inside_line_end(m, at);
}

static bool is_end(const matcher *m, const node *of, size_t at) {
  const regex_text *text = m->text;
  const size_t last = text->anchors ? text->last : text->count;
  if (at == last) {
    return true;
  }
  if (of->kind == NODE_TEXT_END || at > last ||
      !regex_is_line_end(text->units[at]) || is_inside_line_end(m, at)) {
    return false;
  }
  const size_t line_end =
      text->units[at] == '\r' && at + 1 < last && text->units[at + 1] == '\n'
          ? 2
          : 1;
  return of->is_all || at + line_end == last;
}

// Matches a node that has no width.
static bool match_place(const matcher *m, const node *of, size_t at) {
  switch (of->kind) {
    case NODE_START:
    case NODE_TEXT_START: return is_start(m, of, at);
    case NODE_END:
    case NODE_TEXT_END: return is_end(m, of, at);
    case NODE_LAST_END: return at == m->search_start;
    default:
      return ((at > 0 && is_word_at(m, at - 1)) != is_word_at(m, at)) !=
             of->is_negated;
  }
}

// --- What follows ------------------------------------------------------------

static bool repeat(matcher *m, const node *of, size_t turns, size_t at,
                   const continuation *then);

static bool match_list(matcher *m, const node *first, size_t at,
                       const continuation *then);

static bool resume(matcher *m, const continuation *then, size_t at) {
  switch (then->kind) {
    case THEN_LIST: return match_list(m, then->node, at, then->up);
    case THEN_REPEAT:
      // A turn that took nothing would be taken for ever.
      return at == then->start && then->turns >= then->node->least
                 ? resume(m, then->up, at)
                 : repeat(m, then->node, then->turns, at, then->up);
    case THEN_CLOSE: {
      regex_span *span = &m->spans[then->node->number];
      const regex_span before = *span;
      *span = (regex_span){then->start, at};
      if (resume(m, then->up, at)) {
        return true;
      }
      *span = before;
      return false;
    }
    default:
      if (m->wanted_stop != SIZE_MAX && at != m->wanted_stop) {
        return false;
      }
      m->stop = at;
      return true;
  }
}

static bool match_list(matcher *m, const node *first, size_t at,
                       const continuation *then) {
  // Characters need no continuation of their own.
  while (first && is_one(first)) {
    size_t next;
    if (!match_one(m, first, at, &next)) {
      return false;
    }
    at = next;
    first = first->next;
  }
  if (!first) {
    return resume(m, then, at);
  }
  const continuation rest = {THEN_LIST, first->next, 0, 0, then};
  return match(m, first, at, first->next ? &rest : then);
}

// --- Repetitions -------------------------------------------------------------

// Repeats one character as often as it goes, then ever less, or the other way.
static bool repeat_one(matcher *m, const node *of, size_t at,
                       const continuation *then) {
  size_t count = 0, next;
  const bool is_lazy = of->mode == LAZY;
  while (count < (is_lazy ? of->least : of->most) &&
         match_one(m, of->first, at, &next)) {
    at = next;
    ++count;
  }
  if (count < of->least) {
    return false;
  }
  for (;; ++m->steps) {
    if (resume(m, then, at)) {
      return true;
    }
    if (m->is_too_hard) {
      return false;
    }
    if (is_lazy) {
      if (count++ >= of->most || !match_one(m, of->first, at, &next)) {
        return false;
      }
      at = next;
    } else {
      if (count-- == of->least) {
        return false;
      }
      --at;
      at -= at > 0 && (m->text->units[at] & 0xfc00) == 0xdc00 &&
            (m->text->units[at - 1] & 0xfc00) == 0xd800;
    }
  }
}

static bool repeat(matcher *m, const node *of, size_t turns, size_t at,
                   const continuation *then) {
  const continuation again = {THEN_REPEAT, of, turns + 1, at, then};
  if (turns < of->least) {
    return match(m, of->first, at, &again);
  }
  if (of->mode == LAZY && resume(m, then, at)) {
    return true;
  }
  if (turns < of->most && match(m, of->first, at, &again)) {
    return true;
  }
  return of->mode != LAZY && resume(m, then, at);
}

// --- Nodes -------------------------------------------------------------------

// Matches a node by itself, which ends at stop where that is not SIZE_MAX.
static bool match_alone(matcher *m, const node *of, size_t at, size_t stop) {
  const continuation end = {THEN_STOP, NULL, 0, 0, NULL};
  const size_t before = m->wanted_stop;
  m->wanted_stop = stop;
  const bool found = match(m, of, at, &end);
  m->wanted_stop = before;
  return found;
}

static bool look(matcher *m, const node *of, size_t at) {
  regex_text whole = *m->text;
  const regex_text *before = m->text;
  regex_span spans[REGEX_MAX_GROUPS + 1];
  memcpy(spans, m->spans, sizeof spans);
  if (whole.transparent) {
    whole.last = whole.count;
  }
  m->text = &whole;
  bool found = false;
  if (!of->is_behind) {
    found = match_alone(m, of->first, at, SIZE_MAX);
  } else {
    for (size_t start = at + 1; !found && start-- > m->low;) {
      found = match_alone(m, of->first, start, at);
    }
  }
  m->text = before;
  if (!found || of->is_negated) {
    memcpy(m->spans, spans, sizeof spans);
  }
  return found != of->is_negated;
}

static bool match_back(matcher *m, const node *of, size_t at,
                       const continuation *then) {
  const regex_span span = m->spans[of->number];
  if (span.start == SIZE_MAX) {
    return false;
  }
  for (size_t i = span.start; i < span.end; ++i, ++at) {
    if (at >= m->text->last) {
      return false;
    }
    const uint32_t a = m->text->units[i], b = m->text->units[at];
    if (a != b && !(of->ignores_case && regex_fold(a) == regex_fold(b))) {
      return false;
    }
  }
  return resume(m, then, at);
}

static bool match_choice(matcher *m, const node *of, size_t at,
                         const continuation *then) {
  for (const node *each = of->first; each; each = each->next) {
    // Only what the choice holds: its next one is another choice.
    if (match(m, each, at, then)) {
      return true;
    }
  }
  return false;
}

static bool match_line_break(matcher *m, size_t at, const continuation *then) {
  const uint16_t *units = m->text->units;
  if (at + 1 < m->text->last && units[at] == '\r' && units[at + 1] == '\n') {
    return resume(m, then, at + 2);
  }
  return at < m->text->last && regex_is_line_end(units[at]) &&
         resume(m, then, at + 1);
}

static bool match_kind(matcher *m, const node *of, size_t at,
                       const continuation *then) {
  size_t next;
  switch (of->kind) {
    case NODE_CHAR:
    case NODE_ANY:
    case NODE_SET: return match_one(m, of, at, &next) && resume(m, then, next);
    case NODE_SEQUENCE: return match_list(m, of->first, at, then);
    case NODE_CHOICE: return match_choice(m, of, at, then);
    case NODE_REPEAT:
      return is_one(of->first) ? repeat_one(m, of, at, then)
                               : repeat(m, of, 0, at, then);
    case NODE_GROUP: {
      const continuation close = {THEN_CLOSE, of, 0, at, then};
      return match(m, of->first, at, &close);
    }
    case NODE_ATOMIC:
      return match_alone(m, of->first, at, SIZE_MAX) &&
             resume(m, then, m->stop);
    case NODE_LOOK: return look(m, of, at) && resume(m, then, at);
    case NODE_BACK: return match_back(m, of, at, then);
    case NODE_LINE_BREAK: return match_line_break(m, at, then);
    default: return match_place(m, of, at) && resume(m, then, at);
  }
}

static bool match(matcher *m, const node *of, size_t at,
                  const continuation *then) {
  if (m->is_too_hard || ++m->steps > MAX_STEPS || m->depth > MAX_DEPTH) {
    m->is_too_hard = true;
    return false;
  }
  ++m->depth;
  const bool found = match_kind(m, of, at, then);
  --m->depth;
  return found;
}

regex_result regex_find(const regex *of, const regex_text *text, size_t start,
                        bool at_start, regex_span *out) {
  matcher m = {.text = text, .search_start = start, .spans = out};
  m.low = text->transparent ? 0 : text->first;
  m.high = text->transparent ? text->count : text->last;
  for (size_t at = start; at <= text->last; ++at) {
    for (size_t i = 0; i <= REGEX_MAX_GROUPS; ++i) {
      out[i] = (regex_span){SIZE_MAX, SIZE_MAX};
    }
    if (match_alone(&m, of->root, at, SIZE_MAX)) {
      out[0] = (regex_span){at, m.stop};
      return REGEX_MATCH;
    }
    if (m.is_too_hard) {
      return REGEX_TOO_HARD;
    }
    if (at_start) {
      break;
    }
  }
  return REGEX_NO_MATCH;
}
