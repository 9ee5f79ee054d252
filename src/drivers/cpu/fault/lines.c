// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lines.c: finds the source line of a kernel's instruction in the line table
// that the compiler leaves in the shared object (DWARF 5, section 6.2). A table
// that cannot be read gives no line, never an error.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/bytes.h"
#include "drivers/cpu/cpu.h"

// --- the sections ------------------------------------------------------------

typedef struct section {
  const unsigned char *bytes;
  size_t size_bytes;
} section;

static bool read_at(const mtli_blob *elf, uint64_t offset, void *out,
                    size_t size_bytes) {
  if (offset > elf->size_bytes || size_bytes > elf->size_bytes - offset) {
    return false;
  }
  memcpy(out, (const char *)elf->bytes + offset, size_bytes);
  return true;
}

static bool has_name(const mtli_blob *elf, const Elf64_Shdr *names,
                     uint32_t offset, const char *name) {
  char text[32];
  const size_t size_bytes = strlen(name) + 1;
  return read_at(elf, names->sh_offset + offset, text, size_bytes) &&
         memcmp(text, name, size_bytes) == 0;
}

static section find_section(const mtli_blob *elf, const char *name) {
  Elf64_Ehdr file;
  Elf64_Shdr names;
  Elf64_Shdr header;
  if (!read_at(elf, 0, &file, sizeof file) ||
      !read_at(elf, file.e_shoff + file.e_shstrndx * sizeof names, &names,
               sizeof names)) {
    return (section){0};
  }
  for (uint64_t i = 0; i < file.e_shnum; i++) {
    if (read_at(elf, file.e_shoff + i * sizeof header, &header,
                sizeof header) &&
        has_name(elf, &names, header.sh_name, name) &&
        header.sh_offset <= elf->size_bytes &&
        header.sh_size <= elf->size_bytes - header.sh_offset) {
      return (section){(const unsigned char *)elf->bytes + header.sh_offset,
                       header.sh_size};
    }
  }
  return (section){0};
}

void cpu_lines_copy(const mtli_blob *elf, cpu_lines *out_lines) {
  const section table = find_section(elf, ".debug_line");
  const section texts = find_section(elf, ".debug_line_str");
  *out_lines = (cpu_lines){0};
  unsigned char *bytes = malloc(table.size_bytes + texts.size_bytes + 1);
  if (!bytes || !table.size_bytes) {
    free(bytes);
    return;
  }
  memcpy(bytes, table.bytes, table.size_bytes);
  if (texts.size_bytes) {
    memcpy(bytes + table.size_bytes, texts.bytes, texts.size_bytes);
  }
  bytes[table.size_bytes + texts.size_bytes] = 0;  // terminates the last text
  *out_lines = (cpu_lines){.bytes = bytes,
                           .table_bytes = table.size_bytes,
                           .text_bytes = texts.size_bytes};
}

// --- numbers -----------------------------------------------------------------

static uint64_t read_number(mtli_cursor *cursor, size_t size_bytes) {
  const unsigned char *bytes = mtli_cursor_take(cursor, size_bytes);
  uint64_t value = 0;
  for (size_t i = 0; bytes && i < size_bytes; i++) {
    value |= (uint64_t)bytes[i] << 8 * i;
  }
  return value;
}

// LEB128: seven bits a byte, the lowest first.
static uint64_t read_leb(mtli_cursor *cursor, bool is_signed) {
  uint64_t value = 0;
  unsigned shift = 0;
  uint64_t byte = 0x80;
  while (byte & 0x80 && !cursor->failed && shift < 64) {
    byte = read_number(cursor, 1);
    value |= (byte & 0x7f) << shift;
    shift += 7;
  }
  if (is_signed && byte & 0x40 && shift < 64) {
    value |= ~(uint64_t)0 << shift;
  }
  return value;
}

// --- the header --------------------------------------------------------------

enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };  // DW_LNCT_*
enum {                                          // DW_FORM_*
  FORM_DATA2 = 0x05,
  FORM_DATA4 = 0x06,
  FORM_STRING = 0x08,
  FORM_DATA1 = 0x0b,
  FORM_UDATA = 0x0f,
  FORM_DATA16 = 0x1e,
  FORM_LINE_STRP = 0x1f,
};
enum { FORMAT_LIMIT = 8 };  // fields of a folder or a file

typedef struct entry_format {
  uint32_t count;
  uint64_t content[FORMAT_LIMIT];
  uint64_t form[FORMAT_LIMIT];
} entry_format;

typedef struct entry {
  const char *path;
  uint64_t folder;
} entry;

typedef struct unit {
  const cpu_lines *lines;
  mtli_cursor cursor;  // at the unit's line program
  uint64_t instruction_bytes;
  int line_base;
  uint32_t line_range;
  uint32_t opcode_base;
  unsigned char operand_counts[256];
  // in .debug_line, to look files up later
  mtli_cursor folders;
  mtli_cursor files;
} unit;

static const char *read_text(const unit *u, mtli_cursor *cursor,
                             uint64_t form) {
  if (form == FORM_LINE_STRP) {
    const uint32_t offset = mtli_cursor_u32(cursor);
    return offset < u->lines->text_bytes
               ? (const char *)u->lines->bytes + u->lines->table_bytes + offset
               : "";
  }
  const char *text = (const char *)cursor->data + cursor->offset;
  const size_t left_bytes = cursor->size - cursor->offset;
  const size_t length = cursor->failed ? 0 : strnlen(text, left_bytes);
  return mtli_cursor_take(cursor, length + 1) ? text : "";
}

static void read_field(const unit *u, mtli_cursor *cursor, uint64_t content,
                       uint64_t form, entry *out) {
  uint64_t number = 0;
  const char *text = "";
  switch (form) {
    case FORM_DATA1: number = read_number(cursor, 1); break;
    case FORM_DATA2: number = read_number(cursor, 2); break;
    case FORM_DATA4: number = read_number(cursor, 4); break;
    case FORM_UDATA: number = read_leb(cursor, false); break;
    case FORM_DATA16: mtli_cursor_take(cursor, 16); break;
    case FORM_STRING:
    case FORM_LINE_STRP: text = read_text(u, cursor, form); break;
    default: cursor->failed = true; break;
  }
  if (content == CONTENT_PATH) {
    out->path = text;
  } else if (content == CONTENT_FOLDER) {
    out->folder = number;
  }
}

static void read_format(mtli_cursor *cursor, entry_format *out) {
  out->count = (uint32_t)read_number(cursor, 1);
  cursor->failed |= out->count > FORMAT_LIMIT;
  for (uint32_t i = 0; i < out->count && !cursor->failed; i++) {
    out->content[i] = read_leb(cursor, false);
    out->form[i] = read_leb(cursor, false);
  }
}

// Reads a list of folders or files, and returns entry number index of it.
static entry read_list(const unit *u, mtli_cursor *cursor, uint64_t index) {
  entry found = {.path = ""};
  entry_format format;
  read_format(cursor, &format);
  const uint64_t count = read_leb(cursor, false);
  for (uint64_t i = 0; i < count && !cursor->failed; i++) {
    entry one = {.path = ""};
    for (uint32_t f = 0; f < format.count; f++) {
      read_field(u, cursor, format.content[f], format.form[f], &one);
    }
    found = i == index ? one : found;
  }
  return found;
}

// Reads a unit's header at the cursor, and moves the cursor past the unit.
static bool read_unit(const cpu_lines *lines, mtli_cursor *cursor, unit *u) {
  enum { VERSION = 5 };
  const uint32_t size_bytes = mtli_cursor_u32(cursor);
  const unsigned char *bytes = mtli_cursor_take(cursor, size_bytes);
  if (!bytes) {
    return false;
  }
  *u = (unit){.lines = lines, .cursor = {.data = bytes, .size = size_bytes}};
  mtli_cursor *own = &u->cursor;
  const uint64_t version = read_number(own, 2);
  mtli_cursor_take(own, 2);  // sizes of an address and of a segment
  const uint32_t header_bytes = mtli_cursor_u32(own);
  const size_t program = own->offset + header_bytes;
  u->instruction_bytes = read_number(own, 1);
  mtli_cursor_take(own, 2);  // operations in an instruction, default_is_stmt
  u->line_base = (signed char)read_number(own, 1);
  u->line_range = (uint32_t)read_number(own, 1);
  u->opcode_base = (uint32_t)read_number(own, 1);
  for (uint32_t i = 1; i < u->opcode_base; i++) {
    u->operand_counts[i] = (unsigned char)read_number(own, 1);
  }
  u->folders = *own;
  (void)read_list(u, own, 0);
  u->files = *own;
  own->failed |= program < own->offset || program > own->size;
  own->offset = program;
  return version == VERSION && u->line_range && !own->failed;
}

// --- the program -------------------------------------------------------------

typedef struct row {
  uint64_t address;
  uint64_t file;
  uint64_t line;
} row;

typedef struct search {
  uint64_t address;
  row last;  // the row before the current one
  bool has_last;
  row found;
  bool is_found;
} search;

// Ends a row: it is valid up to the next one's address.
static void end_row(search *s, const row *now, bool ends_sequence) {
  if (s->has_last && s->last.address <= s->address &&
      s->address < now->address) {
    s->found = s->last;
    s->is_found = true;
  }
  s->last = *now;
  s->has_last = !ends_sequence;
}

static void run_extended(mtli_cursor *cursor, search *s, row *now) {
  enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };  // DW_LNE_*
  const uint64_t size_bytes = read_leb(cursor, false);
  const size_t end = cursor->offset + size_bytes;
  const uint64_t what = read_number(cursor, 1);
  if (what == END_SEQUENCE) {
    end_row(s, now, true);
    *now = (row){.file = 1, .line = 1};
  } else if (what == SET_ADDRESS) {
    now->address = mtli_cursor_u64(cursor);
  }
  cursor->failed |= end < cursor->offset || end > cursor->size;
  cursor->offset = cursor->failed ? cursor->offset : end;
}

static void run_standard(const unit *u, mtli_cursor *cursor, uint32_t opcode,
                         search *s, row *now) {
  enum {  // DW_LNS_*
    COPY = 1,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC,
  };
  switch (opcode) {
    case COPY: end_row(s, now, false); break;
    case ADVANCE_PC:
      now->address += read_leb(cursor, false) * u->instruction_bytes;
      break;
    case ADVANCE_LINE: now->line += read_leb(cursor, true); break;
    case SET_FILE: now->file = read_leb(cursor, false); break;
    case CONST_ADD_PC:
      now->address +=
          (255 - u->opcode_base) / u->line_range * u->instruction_bytes;
      break;
    case FIXED_ADVANCE_PC: now->address += read_number(cursor, 2); break;
    default:
      for (uint32_t i = 0; i < u->operand_counts[opcode]; i++) {
        (void)read_leb(cursor, false);
      }
  }
}

static void run_program(const unit *u, search *s) {
  mtli_cursor cursor = u->cursor;
  row now = {.file = 1, .line = 1};
  while (cursor.offset < cursor.size && !cursor.failed && !s->is_found) {
    const uint32_t opcode = (uint32_t)read_number(&cursor, 1);
    if (opcode == 0) {
      run_extended(&cursor, s, &now);
    } else if (opcode < u->opcode_base) {
      run_standard(u, &cursor, opcode, s, &now);
    } else {
      const uint32_t step = opcode - u->opcode_base;
      now.address += step / u->line_range * u->instruction_bytes;
      now.line += (uint64_t)(u->line_base + (int)(step % u->line_range));
      end_row(s, &now, false);
    }
  }
}

static void write_path(const unit *u, uint64_t file, char *out,
                       size_t capacity) {
  mtli_cursor files = u->files;
  mtli_cursor folders = u->folders;
  const entry name = read_list(u, &files, file);
  const entry folder = read_list(u, &folders, name.folder);
  // Folder 0 is the compiler's working directory.
  const bool is_whole = name.folder == 0 || name.path[0] == '/';
  snprintf(out, capacity, "%s%s%s", is_whole ? "" : folder.path,
           is_whole ? "" : "/", name.path);
}

bool cpu_lines_find(const cpu_lines *lines, uint64_t address, char *out_file,
                    size_t capacity, uint32_t *out_line) {
  mtli_cursor cursor = {.data = lines->bytes, .size = lines->table_bytes};
  unit u;
  while (cursor.offset < cursor.size && read_unit(lines, &cursor, &u)) {
    search s = {.address = address};
    run_program(&u, &s);
    if (s.is_found) {
      write_path(&u, s.found.file, out_file, capacity);
      *out_line = (uint32_t)s.found.line;
      return s.found.line != 0;  // 0: code that the compiler added
    }
  }
  return false;
}
