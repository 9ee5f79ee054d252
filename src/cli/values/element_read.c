// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// element_read.c: text becomes elements, by the rules of C's initialisers:
// braces may be left out where the types say what belongs together.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/values/element.h"
#include "cli/base/suggest.h"

typedef struct element_reader {
  const char *next;
  element_values *values;
  cli_error *error;
  bool is_bare;  // NAME:VALUE without braces, as a shell leaves of {...}
} element_reader;

static bool read_member(element_reader *reader, const mtl_member *member,
                        size_t offset_bytes);

static void skip_blanks(element_reader *reader) {
  while (isspace((unsigned char)*reader->next)) {
    ++reader->next;
  }
}

static bool take(element_reader *reader, char letter) {
  skip_blanks(reader);
  if (*reader->next != letter) {
    return false;
  }
  ++reader->next;
  return true;
}

// Skips an opening bracket; returns the matching closing bracket, or 0.
static char take_opening(element_reader *reader) {
  static const char pairs[] = "{}[]()";
  skip_blanks(reader);
  for (size_t i = 0; pairs[i] != '\0'; i += 2) {
    if (*reader->next == pairs[i]) {
      ++reader->next;
      return pairs[i + 1];
    }
  }
  return 0;
}

static int shown(size_t length) {
  return length > 40 ? 40 : (int)length;
}

// Skips the closing bracket, if one was opened.
static bool take_closing(element_reader *reader, char closing,
                         const mtl_member *element) {
  if (closing == 0 || take(reader, closing)) {
    return true;
  }
  return *reader->next == '\0'
             ? cli_fail(reader->error, CLI_USAGE,
                        "a '%c' is missing at the end", closing)
             : cli_fail(reader->error, CLI_USAGE,
                        "'%.40s' is too much for a %.80s", reader->next,
                        element->type_name);
}

// Returns the length of a member's name with ':' or '=' behind it, as "width:
// 640", ".width = 640" and "\"width\": 640"; 0 if none comes next.
static size_t name_ahead(const char *text, const char **out_name,
                         const char **out_behind) {
  while (isspace((unsigned char)*text)) {
    ++text;
  }
  text += *text == '.';
  const bool is_quoted = *text == '"';
  text += is_quoted;
  size_t length = 0;
  while (text[length] == '_' || isalnum((unsigned char)text[length]) ||
         (unsigned char)text[length] >= 0x80) {
    ++length;
  }
  const char *behind = text + length;
  if (length == 0 || isdigit((unsigned char)text[0]) ||
      (is_quoted && *behind++ != '"')) {
    return 0;
  }
  while (isspace((unsigned char)*behind)) {
    ++behind;
  }
  if (*behind != ':' && *behind != '=') {
    return 0;
  }
  *out_name = text;
  *out_behind = behind + 1;
  return length;
}

static bool is_named_ahead(const char *text) {
  const char *name, *behind;
  return name_ahead(text, &name, &behind) > 0;
}

static const mtl_member *find_member(const mtl_member *element,
                                     const char *name, size_t length) {
  for (uint32_t i = 0; i < element->member_count; ++i) {
    if (strlen(element->members[i].name) == length &&
        memcmp(element->members[i].name, name, length) == 0) {
      return &element->members[i];
    }
  }
  return NULL;
}

static bool fail_member(const mtl_member *element, const char *name,
                        size_t length, cli_error *error) {
  char suggestion[CLI_SUGGESTION_SIZE] = "", list[256] = "";
  const char **names = calloc(element->member_count + 1, sizeof *names);
  if (names != NULL) {
    for (uint32_t i = 0; i < element->member_count; ++i) {
      names[i] = element->members[i].name;
    }
    cli_suggest(suggestion, name, length, names, element->member_count);
    cli_list_names(list, sizeof list, names, element->member_count);
  }
  free(names);
  return cli_fail(error, CLI_USAGE, "%.80s has no member '%.*s'%s%s",
                  element->type_name, shown(length), name, list, suggestion);
}

// Returns the length of a number without the suffix that it may have in a
// source: 1.5f, 0.5h, 7u, 7ul.
static size_t without_suffix(value_type type, const char *text, size_t length) {
  const bool is_float = value_type_get_info(type)->is_float;
  const bool is_hexadecimal =
      length > 2 && text[0] == '0' && tolower((unsigned char)text[1]) == 'x';
  const char *suffixes = is_float ? "fFhH" : "uUlL";
  const size_t most = is_float ? 1 : 2;
  size_t end = length;
  while (end > 1 && length - end < most && strchr(suffixes, text[end - 1])) {
    --end;
  }
  const unsigned char last = (unsigned char)text[end - 1];
  const bool is_number = is_hexadecimal ? !is_float && isxdigit(last)
                                        : isdigit(last) || last == '.';
  return is_number && type != VALUE_BOOL ? end : length;
}

static bool read_scalar(element_reader *reader, value_type type,
                        size_t offset_bytes) {
  element_values *values = reader->values;
  const size_t size_bytes = value_type_get_info(type)->size_bytes;
  skip_blanks(reader);
  const char *text = reader->next;
  const size_t length = strcspn(text, ",{}[]() \t\n\r\v\f");
  if (length == 0) {
    return *text == '\0' || *text == ',' || strchr("}])", *text) != NULL
               ? cli_fail(reader->error, CLI_USAGE, "a value is missing")
               : cli_fail(reader->error, CLI_USAGE,
                          "'%.20s' begins a list where one %s is wanted", text,
                          value_type_get_info(type)->name);
  }
  if (values->given[offset_bytes]) {
    return cli_fail(
        reader->error, CLI_USAGE,
        "'%.*s' is a second value for the same place%s", shown(length), text,
        reader->is_bare ? "; if the shell took { } apart, quotes keep them"
                        : "");
  }
  reader->next += length;
  memset(values->given + offset_bytes, 1, size_bytes);
  return value_parse(type, text, without_suffix(type, text, length),
                     values->bytes + offset_bytes, reader->error);
}

// Reads count parts of a kind, stride_bytes apart.
//
//   closing  the bracket that ends them, 0 if they have none
//   all      none may be missing
static bool read_parts(element_reader *reader, const mtl_member *whole,
                       const mtl_member *part, uint32_t count,
                       size_t offset_bytes, char closing, bool all) {
  uint32_t done = 0;
  skip_blanks(reader);
  if (closing != 0 && *reader->next == closing && !all) {
    return true;
  }
  while (done < count) {
    if (!read_member(reader, part,
                     offset_bytes + (size_t)done * part->size_bytes)) {
      return false;
    }
    ++done;
    const char *before = reader->next;
    if (done == count || !take(reader, ',')) {
      break;
    }
    if (closing == 0 && is_named_ahead(reader->next)) {
      reader->next = before;  // of the struct around this
      break;
    }
  }
  if (all && done < count) {
    return cli_fail(
        reader->error, CLI_USAGE, "a %.80s has %u parts, %u given%s",
        whole->type_name, count, done,
        reader->is_bare ? "; if the shell took { } apart, quotes keep them"
                        : "");
  }
  if (closing != 0 && done == count) {
    take(reader, ',');  // as C allows behind the last
  }
  return true;
}

// Returns the next member that values in order are for: those that share bytes
// with an earlier one are left out.
static const mtl_member *member_in_order(const mtl_member *element,
                                         uint32_t *position) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < *position; ++i) {
    const mtl_member *member = &element->members[i];
    const uint64_t its_end =
        member->offset_bytes +
        (uint64_t)member->size_bytes * member->array_length;
    end = its_end > end ? its_end : end;
  }
  while (*position < element->member_count &&
         element->members[*position].offset_bytes < end) {
    ++*position;
  }
  return *position < element->member_count ? &element->members[(*position)++]
                                           : NULL;
}

static bool read_struct(element_reader *reader, const mtl_member *element,
                        size_t offset_bytes, char closing) {
  uint32_t position = 0;
  const char *before = NULL;  // the comma
  for (;;) {
    skip_blanks(reader);
    if (closing != 0 && *reader->next == closing) {
      return true;
    }
    const char *name, *behind;
    const size_t length = name_ahead(reader->next, &name, &behind);
    const mtl_member *member = length > 0 ? find_member(element, name, length)
                                          : member_in_order(element, &position);
    if (member == NULL && closing == 0 && before != NULL) {
      reader->next = before;  // for the struct around this one
      return true;
    }
    if (member == NULL) {
      return length > 0 ? fail_member(element, name, length, reader->error)
                        : cli_fail(reader->error, CLI_USAGE,
                                   "'%.40s' is too much for a %.80s",
                                   reader->next, element->type_name);
    }
    if (length > 0) {
      reader->next = behind;
      position = (uint32_t)(member - element->members) + 1;
    }
    if (!read_member(reader, member, offset_bytes + member->offset_bytes)) {
      return false;
    }
    skip_blanks(reader);
    before = reader->next;
    if (!take(reader, ',')) {
      return true;
    }
  }
}

// Returns a vector of a matrix, and a scalar of a vector.
static mtl_member column_of(const mtl_member *matrix) {
  mtl_member column = *matrix;
  column.columns = 1;
  column.size_bytes = matrix->size_bytes / matrix->columns;
  return column;
}

static mtl_member scalar_of(const mtl_member *vector) {
  mtl_member scalar = *vector;
  scalar.components = 1;
  scalar.size_bytes =
      value_type_get_info(value_type_of(vector->type))->size_bytes;
  return scalar;
}

static bool read_inner(element_reader *reader, const mtl_member *element,
                       size_t offset_bytes, char closing) {
  if (element->array_length != 1) {
    mtl_member part = *element;
    part.array_length = 1;
    return read_parts(reader, element, &part, element->array_length,
                      offset_bytes, closing, false);
  }
  if (element_is_array(element)) {
    return read_inner(reader, &element->members[0], offset_bytes, closing);
  }
  if (element->type == MTL_TYPE_NONE) {
    return element->member_count > 0
               ? read_struct(reader, element, offset_bytes, closing)
               : cli_fail(reader->error, CLI_USAGE,
                          "a %.80s cannot be given by value",
                          element->type_name);
  }
  if (element->columns > 1) {
    const mtl_member column = column_of(element);
    return read_parts(reader, element, &column, element->columns, offset_bytes,
                      closing, true);
  }
  if (element->components > 1) {
    const mtl_member scalar = scalar_of(element);
    return read_parts(reader, element, &scalar, element->components,
                      offset_bytes, closing, true);
  }
  return read_scalar(reader, value_type_of(element->type), offset_bytes);
}

static bool read_member(element_reader *reader, const mtl_member *member,
                        size_t offset_bytes) {
  const char closing = take_opening(reader);
  return read_inner(reader, member, offset_bytes, closing) &&
         take_closing(reader, closing, member);
}

static bool at_end(element_reader *reader, const mtl_member *element) {
  if (take(reader, ',')) {
    skip_blanks(reader);
    char length[16] = "";
    if (element->array_length > 1) {
      snprintf(length, sizeof length, "[%u]", element->array_length);
    }
    return cli_fail(reader->error, CLI_USAGE,
                    "'%.40s' is too much for a %.80s%s", reader->next,
                    element->type_name, length);
  }
  return *reader->next == '\0' ||
         cli_fail(reader->error, CLI_USAGE, "'%.40s' makes no sense here",
                  reader->next);
}

// Returns how many brackets one element may begin with.
static uint32_t depth_of(const mtl_member *element) {
  if (element_is_array(element)) {
    return 1 + depth_of(&element->members[0]);
  }
  return (element->array_length != 1) + (element->columns > 1) +
         (element->components > 1 || element->member_count > 0);
}

// "[1, 2]" for two scalars, "[[1, 2], [3, 4]]" for two vectors: a list of all.
static bool is_whole_list(const mtl_member *element, const char *text) {
  uint32_t brackets = 0;
  while (isspace((unsigned char)*text)) {
    ++text;
  }
  const bool is_square = *text == '[';
  for (; *text != '\0' && strchr("{[( \t\n", *text) != NULL; ++text) {
    brackets += !isspace((unsigned char)*text);
  }
  return is_square && brackets > depth_of(element);
}

bool element_read(const mtl_member *element, bool is_one, const char *text,
                  element_values *values, cli_error *error) {
  element_reader reader = {text, values, error, is_named_ahead(text)};
  const size_t size_bytes = (size_t)element->size_bytes * element->array_length;
  const char closing =
      is_whole_list(element, text) ? take_opening(&reader) : '\0';
  const size_t before = values->size_bytes;
  uint64_t count = 0;
  do {
    if (is_one && count == 1) {
      skip_blanks(&reader);
      return cli_fail(error, CLI_USAGE,
                      "'%.40s' is too much: the argument is one %.80s",
                      reader.next, element->type_name);
    }
    // Twice as many each time; the rest is cut off below.
    const bool grows = (count + 1) * size_bytes > values->size_bytes;
    if (grows && !element_values_grow(values, element,
                                      count == 0 ? 1 : count * 2, error)) {
      return false;
    }
    if (!read_member(&reader, element, count * size_bytes)) {
      return false;
    }
    ++count;
  } while (take(&reader, ','));
  const size_t used = count * size_bytes;
  values->size_bytes = used > before ? used : before;
  return take_closing(&reader, closing, element) && at_end(&reader, element);
}

// --- parts by path

static bool take_index(const char **path, const char *end, uint64_t *out_index,
                       cli_error *error) {
  const char *digits = *path + 1;
  const char *close = memchr(digits, ']', (size_t)(end - digits));
  if (close == NULL || !value_parse_count(digits, (size_t)(close - digits),
                                          UINT32_MAX, out_index)) {
    return cli_fail(error, CLI_USAGE, "'%.*s': [NUMBER] is wanted",
                    shown((size_t)(end - *path)), *path);
  }
  *path = close + 1;
  return true;
}

// Steps to a part by its number.
static bool step_index(mtl_member *part, size_t *offset_bytes, uint64_t index,
                       cli_error *error) {
  while (part->array_length == 1 && element_is_array(part)) {
    *part = part->members[0];
  }
  const mtl_member whole = *part;
  uint64_t count = whole.array_length;
  if (whole.array_length != 1) {
    part->array_length = 1;
  } else if (whole.columns > 1) {
    *part = column_of(&whole);
    count = whole.columns;
  } else if (whole.components > 1) {
    *part = scalar_of(&whole);
    count = whole.components;
  } else {
    return cli_fail(error, CLI_USAGE, "a %.80s has no parts by number",
                    whole.type_name);
  }
  if (index >= count) {
    return cli_fail(error, CLI_USAGE, "[%llu]: the last one is [%llu]",
                    (unsigned long long)index, (unsigned long long)count - 1);
  }
  *offset_bytes += index * part->size_bytes;
  return true;
}

static bool step_name(mtl_member *part, size_t *offset_bytes, const char *name,
                      size_t length, cli_error *error) {
  if (part->array_length != 1) {
    return cli_fail(error, CLI_USAGE,
                    "'.%.*s': which of the %u? [NUMBER] must come before it",
                    shown(length), name, part->array_length);
  }
  static const char letters[] = "xyzwrgba";
  const char *letter = length == 1 && part->columns == 1 && part->components > 1
                           ? strchr(letters, name[0])
                           : NULL;
  if (letter != NULL) {
    return step_index(part, offset_bytes, (uint64_t)(letter - letters) % 4,
                      error);
  }
  const mtl_member *member = find_member(part, name, length);
  if (member == NULL) {
    return fail_member(part, name, length, error);
  }
  *offset_bytes += member->offset_bytes;
  *part = *member;
  return true;
}

bool element_read_part(const mtl_member *element, bool is_one, const char *path,
                       size_t path_length, const char *text,
                       element_values *values, cli_error *error) {
  const char *const end = path + path_length;
  uint64_t first = 0;
  if (!is_one && path_length > 0 && path[0] == '[' &&
      !take_index(&path, end, &first, error)) {
    return false;
  }
  if (!element_values_grow(values, element, first + 1, error)) {
    return false;
  }
  mtl_member part = *element;
  size_t offset_bytes =
      first * ((size_t)element->size_bytes * element->array_length);
  while (path < end) {
    uint64_t index;
    bool ok;
    if (*path == '[') {
      ok = take_index(&path, end, &index, error) &&
           step_index(&part, &offset_bytes, index, error);
    } else {
      const char *name = path + (*path == '.');
      size_t length = 0;
      while (name + length < end && name[length] != '.' &&
             name[length] != '[') {
        ++length;
      }
      path = name + length;
      ok = step_name(&part, &offset_bytes, name, length, error);
    }
    if (!ok) {
      return false;
    }
  }
  element_reader reader = {text, values, error, false};
  return read_member(&reader, &part, offset_bytes) && at_end(&reader, &part);
}
