// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault_operand.c: decodes an instruction and computes the address that it
// accesses. For some faults the processor does not report it: non-canonical and
// misaligned addresses.
#include "drivers/cpu/cpu.h"

#if defined(__x86_64__)
#include <ucontext.h>

// Intel SDM vol. 2, chapter 2. In the order of their numbers in instructions.
static const int registers[16] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

typedef struct instruction {
  const uint8_t *at;  // the next byte
  bool has_segment;   // add a segment register's base
  uint8_t base_high;  // 8 if the base is one of r8 to r15
  uint8_t index_high;
  uint8_t map;         // of opcodes: 0; 1 behind 0f, and so on
  uint8_t disp8_unit;  // bytes that a unit of an 8-bit displacement stands for
  uint8_t opcode;
} instruction;

static void skip_prefixes(instruction *i) {
  for (;; i->at++) {
    switch (*i->at) {
      case 0x64:
      case 0x65: i->has_segment = true; break;
      case 0x26:
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x66:
      case 0x67:
      case 0xf0:
      case 0xf2:
      case 0xf3: break;
      default: return;
    }
  }
}

// Reads a vector prefix of two, three or four bytes, which has inverted bits.
static bool read_vector_prefix(instruction *i) {
  const uint8_t *p = i->at;
  if (*p == 0xc5) {
    i->map = 1;
    i->at += 2;
    return true;
  }
  if (*p != 0xc4 && *p != 0x62) {
    return false;
  }
  i->index_high = p[1] & 0x40 ? 0 : 8;
  i->base_high = p[1] & 0x20 ? 0 : 8;
  i->map = p[1] & (*p == 0x62 ? 7 : 31);
  if (*p == 0x62) {
    const bool is_broadcast = p[3] & 0x10;
    const uint8_t element_bytes = p[2] & 0x80 ? 8 : 4;
    i->disp8_unit =
        is_broadcast ? element_bytes : (uint8_t)(16u << (p[3] >> 5 & 3));
  }
  i->at += *p == 0x62 ? 4 : 3;
  return true;
}

static void read_opcode(instruction *i) {
  if (!read_vector_prefix(i)) {
    if ((*i->at & 0xf0) == 0x40) {
      i->index_high = *i->at & 2 ? 8 : 0;
      i->base_high = *i->at & 1 ? 8 : 0;
      i->at++;
    }
    if (*i->at == 0x0f) {
      i->at++;
      i->map = 1;
      if (*i->at == 0x38 || *i->at == 0x3a) {
        i->map = *i->at++ == 0x38 ? 2 : 3;
      }
    }
  }
  i->opcode = *i->at++;
}

static uint64_t value_of(const ucontext_t *state, int number) {
  return (uint64_t)state->uc_mcontext.gregs[registers[number]];
}

static int64_t read_disp32(const uint8_t *at) {
  return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 |
                   (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

static bool read_operand(instruction *i, const ucontext_t *state,
                         uint64_t *out_address) {
  enum { SIB = 4, NO_BASE = 5, NO_INDEX = 4 };
  const uint8_t modrm = *i->at++;
  const int mode = modrm >> 6;
  int base = modrm & 7;
  uint64_t address = 0;
  if (mode == 3) {
    return false;
  }
  const bool has_sib = base == SIB;
  if (has_sib) {
    const uint8_t sib = *i->at++;
    const int index = (sib >> 3 & 7) | i->index_high;
    base = sib & 7;
    address += index == NO_INDEX ? 0 : value_of(state, index) << (sib >> 6);
  }
  const bool has_base = mode != 0 || base != NO_BASE;
  if (!has_base && !has_sib) {
    return false;  // relative to the instruction pointer
  }
  address += has_base ? value_of(state, base | i->base_high) : 0;
  if (mode == 1) {
    address += (uint64_t)((int64_t)(int8_t)*i->at * i->disp8_unit);
  } else if (mode == 2 || !has_base) {
    address += (uint64_t)read_disp32(i->at);
  }
  *out_address = address;
  return true;
}

static bool is_impossible(uint64_t address) {
  enum { ADDRESS_BITS = 57 };  // the most that processors have
  const int64_t rest = (int64_t)address >> (ADDRESS_BITS - 1);
  return rest != 0 && rest != -1;
}

bool cpu_fault_find_operand(const void *signal_state, uint64_t *out_address) {
  const ucontext_t *state = signal_state;
  instruction i = {
      .at = (const uint8_t *)(uintptr_t)state->uc_mcontext.gregs[REG_RIP],
      .disp8_unit = 1};
  skip_prefixes(&i);
  read_opcode(&i);
  const bool is_copy = i.map == 0 && (i.opcode & 0xfe) == 0xa4;
  const bool is_fill = i.map == 0 && (i.opcode & 0xfe) == 0xaa;
  if (is_copy || is_fill) {
    const uint64_t target = value_of(state, 7);
    *out_address =
        is_impossible(target) || is_fill ? target : value_of(state, 6);
    return true;
  }
  return !i.has_segment && read_operand(&i, state, out_address);
}
#else
bool cpu_fault_find_operand(const void *signal_state, uint64_t *out_address) {
  (void)signal_state;
  *out_address = 0;
  return false;
}
#endif
