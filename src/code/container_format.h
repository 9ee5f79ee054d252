// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_format.h: the layout of a code container, shared by the two files
// that write and read it.
//
// Little-endian throughout. A container is
//
//   0    magic, 8 bytes
//   8    u32 format version
//   12   u32 count of sections
//   16   u64 bytes of the whole container
//   24   the section table: u32 section, u32 bytes of a record, u64 offset,
//        u64 bytes; in the order of the enumeration
//   ...  the sections, each at the next multiple of 16
//   end  XXH3-128 of everything before, canonical (big-endian) form, itself at
//        a multiple of 16
//
// A text is u32 offset into the section of texts, u32 length without its
// terminating zero byte.
#ifndef MTLI_CONTAINER_FORMAT_H
#define MTLI_CONTAINER_FORMAT_H

#define CONTAINER_MAGIC "MTLCODE\0"

enum {
  CONTAINER_MAGIC_BYTES = 8,
  CONTAINER_VERSION = 13,
  CONTAINER_ALIGNMENT = 16,  // what LLVM and the ELF loader want of blobs
  CONTAINER_CHECKSUM_BYTES = 16,
  CONTAINER_TABLE_OFFSET = 24,
  CONTAINER_TABLE_ENTRY_BYTES = 24,
};

typedef enum container_section {
  SECTION_INFO,  // one record
  SECTION_KERNELS,
  SECTION_PARAMETERS,  // of all kernels, one after the other
  // Members of all parameters: a struct's members, then for each of them in
  // turn its own.
  SECTION_MEMBERS,
  SECTION_CONSTANTS,
  SECTION_BLOBS,
  SECTION_TEXTS,
  SECTION_DATA,  // the blobs' bytes, each at a multiple of 16
  SECTION_COUNT,
} container_section;

// Bytes of a record in each section; the sections of plain bytes have 1.
static const unsigned container_record_bytes[SECTION_COUNT] = {
    [SECTION_INFO] = 28,      [SECTION_KERNELS] = 48, [SECTION_PARAMETERS] = 100,
    [SECTION_MEMBERS] = 44,   [SECTION_CONSTANTS] = 32, [SECTION_BLOBS] = 32,
    [SECTION_TEXTS] = 1,      [SECTION_DATA] = 1,
};

// A kernel's last word: bits 0 to 5 the row of its group class, 6 and 7 the
// row's dimension, then flags, of which some are cpu_facts.h's, and in bits 23
// to 28 its simdgroups.
enum {
  KERNEL_ROW_MASK = 0x3f,
  KERNEL_ROW_DIMENSION_SHIFT = 6,
  KERNEL_ROW_DIMENSION_MASK = 3,
  KERNEL_IS_SINGLE = 1 << 8,
  KERNEL_IS_EXACT = 1 << 11,
  KERNEL_IS_VISIBLE = 1 << 12,
  KERNEL_IS_UNEVEN = 1 << 13,
  KERNEL_IS_WHOLE = 1 << 15,
  KERNEL_IS_FAR = 1 << 19,
  KERNEL_SIMDGROUPS_SHIFT = 23,
  KERNEL_SIMDGROUPS_MASK = 0x3f,
  KERNEL_FLAGS_END = 1 << 30,
};

// Structs in structs lie no deeper than this.
enum { CONTAINER_MEMBER_DEPTH = 16 };

// Bits of a parameter's flags.
enum {
  PARAMETER_IS_REFERENCE = 1,
  PARAMETER_IS_ACTIVE = 2,
  PARAMETER_IS_DEPTH = 4,
  PARAMETER_IS_CONSTANT = 8,
  PARAMETER_IS_UNUSED = 16,
  PARAMETER_HAS_OPEN_END = 32,
};

#endif
