// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// call_aarch64.S: as call_x86_64.S.
#if defined(__aarch64__)
#include "objc/runtime/invocation/call_frame.h"

  .text

// call_with_frame(IMP x0, call_frame *x1)
  .globl call_with_frame
  .type call_with_frame, %function
  .p2align 4
call_with_frame:
  .cfi_startproc
  stp x29, x30, [sp, #-32]!
  .cfi_def_cfa_offset 32
  .cfi_offset x29, -32
  .cfi_offset x30, -24
  str x19, [sp, #16]
  .cfi_offset x19, -16
  mov x29, sp
  .cfi_def_cfa_register x29
  mov x19, x1
  mov x17, x0
  ldr x9, [x19, #FRAME_STACK_WORDS]
  ldr x10, [x19, #FRAME_STACK]
  add x11, x9, #1
  and x11, x11, #-2
  sub sp, sp, x11, lsl #3
  mov x12, sp
0:
  cbz x9, 1f
  ldr x13, [x10], #8
  str x13, [x12], #8
  sub x9, x9, #1
  b 0b
1:
  add x9, x19, #FRAME_VECTOR
  ldp q0, q1, [x9]
  ldp q2, q3, [x9, #32]
  ldp q4, q5, [x9, #64]
  ldp q6, q7, [x9, #96]
  ldr x8, [x19, #FRAME_RESULT]
  ldp x0, x1, [x19]
  ldp x2, x3, [x19, #16]
  ldp x4, x5, [x19, #32]
  ldp x6, x7, [x19, #48]
  blr x17
  stp x0, x1, [x19]
  add x9, x19, #FRAME_VECTOR
  stp q0, q1, [x9]
  stp q2, q3, [x9, #32]
  mov sp, x29
  ldr x19, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_def_cfa sp, 0
  ret
  .cfi_endproc
  .size call_with_frame, . - call_with_frame

  .globl message_forward
  .type message_forward, %function
  .p2align 4
message_forward:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  sub sp, sp, #FRAME_BYTES
  stp x0, x1, [sp]
  stp x2, x3, [sp, #16]
  stp x4, x5, [sp, #32]
  stp x6, x7, [sp, #48]
  add x9, sp, #FRAME_VECTOR
  stp q0, q1, [x9]
  stp q2, q3, [x9, #32]
  stp q4, q5, [x9, #64]
  stp q6, q7, [x9, #96]
  str x8, [sp, #FRAME_RESULT]
  add x9, x29, #16
  str x9, [sp, #FRAME_STACK]
  mov x0, sp
  bl forward_invocation
  ldp x0, x1, [sp]
  add x9, sp, #FRAME_VECTOR
  ldp q0, q1, [x9]
  ldp q2, q3, [x9, #32]
  mov sp, x29
  ldp x29, x30, [sp], #16
  .cfi_def_cfa sp, 0
  ret
  .cfi_endproc
  .size message_forward, . - message_forward
#endif
  .section .note.GNU-stack, "", %progbits
