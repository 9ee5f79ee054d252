// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log_abi.h: the memory that kernels write os_log's messages to and the
// runtime reads them from. metal_logging writes to this layout by offset.
//
// A thread takes room for a record by an atomic addition to used_bytes; what
// does not fit is dropped and counted. Records follow each other from behind
// the header on, at multiples of 8. Where used_bytes has passed the capacity,
// the last record is the one behind which size_bytes is 0, or the memory ends.
#ifndef MTLI_LOG_ABI_H
#define MTLI_LOG_ABI_H

#include <stdint.h>

typedef struct mtli_log_header {
  uint32_t used_bytes;      // offset 0: taken, wanted ones included
  uint32_t dropped;         // offset 4: messages that found no room
  uint32_t capacity_bytes;  // bytes after the header, a multiple of 8
  uint32_t level;           // offset 12: least mtl_log_level to be kept
} mtli_log_header;

// Addresses are of strings in constant memory, each ended by a zero.
typedef struct mtli_log_record {
  uint32_t size_bytes;  // offset 0: with the arguments
  uint32_t level;       // offset 4: 0 until the record is whole
  uint64_t subsystem;   // offset 8
  uint64_t category;    // offset 16
  uint64_t format;      // offset 24
} mtli_log_record;      // then the arguments

typedef enum mtli_log_kind {
  MTLI_LOG_SIGNED = 1,  // 4 or 8 bytes
  MTLI_LOG_UNSIGNED,    // 4 or 8 bytes
  MTLI_LOG_FLOAT,       // 4 bytes
  MTLI_LOG_STRING,      // 8 bytes: an address of constant memory
  MTLI_LOG_POINTER,     // 8 bytes
  // All arguments packed into one, as C passes them: each at a multiple of its
  // size, integers at least 4 bytes, floats 4. The format tells their types;
  // reserved is their size in bytes.
  MTLI_LOG_PACKED,
} mtli_log_kind;

// Before each argument; its elements follow, filled up to a multiple of 8.
typedef struct mtli_log_argument {
  uint8_t kind;
  uint8_t element_bytes;
  uint16_t elements;  // 1 to 4
  uint32_t reserved;  // size of packed arguments, 0 for other kinds
} mtli_log_argument;

#endif
