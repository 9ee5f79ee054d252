// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_reader.h: what the decoder's files share: the container being read,
// its sections, and errors that name a record.
#ifndef MTLI_CONTAINER_READER_H
#define MTLI_CONTAINER_READER_H

#include "base/memory/bytes.h"
#include "code/code.h"
#include "code/container_format.h"

typedef struct mtli_section_view {
  uint64_t offset;  // in the container
  uint64_t size_bytes;
  uint64_t count;  // records
} mtli_section_view;

typedef struct mtli_container_reader {
  const unsigned char *bytes;  // [size_bytes]
  uint64_t size_bytes;
  mtli_arena *arena;
  mtli_section_view sections[SECTION_COUNT];
  const char *texts;  // a copy of the section of texts, in arena
  mtli_code *code;
  uint64_t parameters_read;
  mtl_member *members;  // of all parameters
  uint64_t members_taken;
} mtli_container_reader;

// Fails with MTL_BAD_DATA: the record at offset has this value there.
mtl_status mtli_bad_record(container_section section, uint64_t offset,
                           const char *what, uint64_t value);
mtl_status mtli_reader_out_of_memory(const mtli_container_reader *reader);
// Returns a cursor over a part of the container.
mtli_cursor mtli_reader_cursor(const mtli_container_reader *reader,
                               uint64_t offset_bytes, uint64_t size_bytes);
// Reads an offset and a length, checks them, and points at that text.
mtl_status mtli_reader_take_text(mtli_container_reader *reader,
                                 mtli_cursor *cursor, const char **out_text);

// container_parameters.c: reads the members of all structures, then the
// parameters of one kernel after another; offset is that of its record.
mtl_status mtli_reader_members(mtli_container_reader *reader);
mtl_status mtli_reader_parameters(mtli_container_reader *reader,
                                  uint64_t offset, mtli_kernel *kernel);

#endif
