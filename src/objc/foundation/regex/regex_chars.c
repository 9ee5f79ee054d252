// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regex_chars.c: classes of characters in regular expressions, by the tables
// that the C library has for Unicode.
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

#include "objc/foundation/regex/regex_node.h"

static locale_t unicode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_unicode(void) {
  unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
  if (!unicode) {
    unicode = newlocale(LC_CTYPE_MASK, "C", NULL);
  }
}

static locale_t tables(void) {
  pthread_once(&once, open_unicode);
  return unicode;
}

struct char_class {
  const char *names;  // each behind a space and before one
  bool (*has)(uint32_t code);
};

#define BY_TABLE(name, function)                  \
  static bool name(uint32_t code) {               \
    return function((wint_t)code, tables()) != 0; \
  }
BY_TABLE(is_alpha, iswalpha_l)
BY_TABLE(is_upper, iswupper_l)
BY_TABLE(is_lower, iswlower_l)
BY_TABLE(is_punct, iswpunct_l)
BY_TABLE(is_print, iswprint_l)
BY_TABLE(is_graph, iswgraph_l)
BY_TABLE(is_control, iswcntrl_l)

bool regex_is_line_end(uint32_t code) {
  return (code >= 0x0a && code <= 0x0d) || code == 0x85 || code == 0x2028 ||
         code == 0x2029;
}

static bool is_space(uint32_t code) {
  return code == ' ' || code == '\t' || regex_is_line_end(code) ||
         code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

static bool is_blank(uint32_t code) {
  return is_space(code) && !regex_is_line_end(code);
}

// The C library counts the digits of other scripts as letters.
static bool is_digit(uint32_t code) {
  static const uint16_t zeros[] = {0x30,  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6,
                                   0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6,
                                   0xd66, 0xe50, 0xed0, 0xf20, 0xff10};
  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; ++i) {
    if (code - zeros[i] < 10) {
      return true;
    }
  }
  return false;
}

static bool is_letter(uint32_t code) {
  return is_alpha(code) && !is_digit(code);
}

static bool is_alnum(uint32_t code) {
  return is_alpha(code) || is_digit(code);
}

static bool is_word(uint32_t code) {
  return is_alnum(code) || code == '_' || code == 0x200c || code == 0x200d ||
         (code >= 0x300 && code <= 0x36f);
}

static bool is_hex(uint32_t code) {
  return code < 0x80 && code && strchr("0123456789abcdefABCDEF", (int)code);
}

static bool is_ascii(uint32_t code) {
  return code < 0x80;
}

static bool is_any(uint32_t code) {
  (void)code;
  return true;
}

static const char_class classes[] = {
    {" d digit Nd N Decimal_Number Number ", is_digit},
    {" w word ", is_word},
    {" s space White_Space Whitespace ", is_space},
    {" h blank Zs ", is_blank},
    {" v Line_Break ", regex_is_line_end},
    {" L Letter ", is_letter},
    {" alpha Alphabetic ", is_letter},
    {" Lu upper Uppercase Uppercase_Letter ", is_upper},
    {" Ll lower Lowercase Lowercase_Letter ", is_lower},
    {" alnum ", is_alnum},
    {" P punct Punctuation ", is_punct},
    {" print ", is_print},
    {" graph ", is_graph},
    {" Cc cntrl Control ", is_control},
    {" xdigit Hex_Digit ASCII_Hex_Digit ", is_hex},
    {" ASCII ", is_ascii},
    {" Any ", is_any},
};

const char_class *regex_class(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) {
    for (const char *at = classes[i].names; *at; ++at) {
      if (*at == ' ' && strncmp(at + 1, name, length) == 0 &&
          at[length + 1] == ' ') {
        return &classes[i];
      }
    }
  }
  return NULL;
}

bool regex_class_has(const char_class *of, uint32_t code) {
  return of->has(code);
}

uint32_t regex_take_code(const uint16_t *units, size_t count, size_t *at) {
  const uint32_t high = units[(*at)++];
  if ((high & 0xfc00) != 0xd800 || *at >= count ||
      (units[*at] & 0xfc00) != 0xdc00) {
    return high;
  }
  return 0x10000 + ((high & 0x3ff) << 10) + (units[(*at)++] & 0x3ff);
}

uint32_t regex_fold(uint32_t code) {
  return (uint32_t)towlower_l((wint_t)code, tables());
}

static bool item_has(const set_item *item, uint32_t code) {
  bool has;
  if (item->set) {
    has = regex_set_has(item->set, code);
  } else if (item->class) {
    has = item->class->has(code);
  } else {
    has = code >= item->low && code <= item->high;
  }
  return has != item->is_negated;
}

static bool plain_has(const node *set, uint32_t code) {
  for (const set_item *item = set->items; item; item = item->next) {
    if (item_has(item, code)) {
      return true;
    }
  }
  return false;
}

bool regex_set_has(const node *set, uint32_t code) {
  bool has = plain_has(set, code);
  if (!has && set->ignores_case) {
    has = plain_has(set, regex_fold(code)) ||
          plain_has(set, (uint32_t)towupper_l((wint_t)code, tables()));
  }
  if (has && set->other) {
    has = regex_set_has(set->other, code);
  }
  return has != set->is_negated;
}
