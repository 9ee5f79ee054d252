// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// message_aarch64.S: objc_msgSend and its kin, as message_x86_64.S. A struct is
// returned through x8, so the receiver is always x0 and the selector x1; x9 to
// x17 are free.
#if defined(__aarch64__)
#include "objc/runtime/message/message.h"

  .text

// probe: jumps to the method of selector x1 in class x9, or falls through. The
// selector is loaded with acquire: the method was stored before it.
.macro probe
  ldr x9, [x9, #CLASS_CACHE]
  ldr x10, [x9, #CACHE_MASK]
  and x10, x10, x1, lsl #1
  add x9, x9, #CACHE_ENTRIES
  add x9, x9, x10
0:
  ldar x11, [x9]
  cmp x11, x1
  b.ne 1f
  ldr x17, [x9, #8]
  br x17
1:
  cbz x11, 2f
  add x9, x9, #16
  b 0b
2:
.endm

// find FUNCTION: asks FUNCTION for the method and its receiver, and jumps.
.macro find function
  stp x29, x30, [sp, #-208]!
  .cfi_def_cfa_offset 208
  .cfi_offset x29, -208
  .cfi_offset x30, -200
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  stp q0, q1, [sp, #80]
  stp q2, q3, [sp, #112]
  stp q4, q5, [sp, #144]
  stp q6, q7, [sp, #176]
  str x8, [sp, #-16]!
  .cfi_def_cfa_offset 224
  bl \function
  mov x17, x0
  mov x16, x1
  ldr x8, [sp], #16
  .cfi_def_cfa_offset 208
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldp q0, q1, [sp, #80]
  ldp q2, q3, [sp, #112]
  ldp q4, q5, [sp, #144]
  ldp q6, q7, [sp, #176]
  mov x0, x16
  ldp x29, x30, [sp], #208
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  br x17
.endm

.macro function name
  .globl \name
  .type \name, %function
  .p2align 4
\name:
  .cfi_startproc
.endm

.macro end name
  .cfi_endproc
  .size \name, . - \name
.endm

function objc_msgSend
  cbz x0, 7f
  ldr x9, [x0]
  probe
  find message_find
7:
  mov x1, #0
  movi d0, #0
  movi d1, #0
  movi d2, #0
  movi d3, #0
  ret
end objc_msgSend

function objc_msgSendSuper2
  ldp x12, x9, [x0]
  ldr x9, [x9, #CLASS_SUPERCLASS]
  cbz x9, 3f
  mov x13, x0
  mov x0, x12
  probe
  mov x0, x13
3:
  find message_find_super
end objc_msgSendSuper2

#endif
  .section .note.GNU-stack, "", %progbits
