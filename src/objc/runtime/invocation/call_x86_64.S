// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// call_x86_64.S: calls a function with the arguments of a frame, and the method
// that stores its arguments in a frame.
#if defined(__x86_64__)
#include "objc/runtime/invocation/call_frame.h"

  .text

// call_with_frame(IMP rdi, call_frame *rsi)
  .globl call_with_frame
  .type call_with_frame, @function
  .p2align 4
call_with_frame:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rbx
  subq $8, %rsp
  .cfi_offset %rbx, -24
  movq %rsi, %rbx
  movq %rdi, %r11
  movq FRAME_STACK_WORDS(%rbx), %rcx
  leaq 1(%rcx), %rax
  andq $-2, %rax
  shlq $3, %rax
  subq %rax, %rsp
  movq FRAME_STACK(%rbx), %rsi
  movq %rsp, %rdi
  rep movsq
  movaps FRAME_VECTOR+0(%rbx), %xmm0
  movaps FRAME_VECTOR+16(%rbx), %xmm1
  movaps FRAME_VECTOR+32(%rbx), %xmm2
  movaps FRAME_VECTOR+48(%rbx), %xmm3
  movaps FRAME_VECTOR+64(%rbx), %xmm4
  movaps FRAME_VECTOR+80(%rbx), %xmm5
  movaps FRAME_VECTOR+96(%rbx), %xmm6
  movaps FRAME_VECTOR+112(%rbx), %xmm7
  movq FRAME_GENERAL+0(%rbx), %rdi
  movq FRAME_GENERAL+8(%rbx), %rsi
  movq FRAME_GENERAL+16(%rbx), %rdx
  movq FRAME_GENERAL+24(%rbx), %rcx
  movq FRAME_GENERAL+32(%rbx), %r8
  movq FRAME_GENERAL+40(%rbx), %r9
  movl $8, %eax
  call *%r11
  movq %rax, FRAME_GENERAL+0(%rbx)
  movq %rdx, FRAME_GENERAL+8(%rbx)
  movaps %xmm0, FRAME_VECTOR+0(%rbx)
  movaps %xmm1, FRAME_VECTOR+16(%rbx)
  movq -8(%rbp), %rbx
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size call_with_frame, . - call_with_frame

// Saves the arguments of any method in a frame, and loads its results from it.
  .globl message_forward
  .type message_forward, @function
  .p2align 4
message_forward:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $FRAME_BYTES, %rsp
  movq %rdi, FRAME_GENERAL+0(%rsp)
  movq %rsi, FRAME_GENERAL+8(%rsp)
  movq %rdx, FRAME_GENERAL+16(%rsp)
  movq %rcx, FRAME_GENERAL+24(%rsp)
  movq %r8, FRAME_GENERAL+32(%rsp)
  movq %r9, FRAME_GENERAL+40(%rsp)
  movaps %xmm0, FRAME_VECTOR+0(%rsp)
  movaps %xmm1, FRAME_VECTOR+16(%rsp)
  movaps %xmm2, FRAME_VECTOR+32(%rsp)
  movaps %xmm3, FRAME_VECTOR+48(%rsp)
  movaps %xmm4, FRAME_VECTOR+64(%rsp)
  movaps %xmm5, FRAME_VECTOR+80(%rsp)
  movaps %xmm6, FRAME_VECTOR+96(%rsp)
  movaps %xmm7, FRAME_VECTOR+112(%rsp)
  leaq 16(%rbp), %rax
  movq %rax, FRAME_STACK(%rsp)
  movq %rsp, %rdi
  call forward_invocation@PLT
  movq FRAME_GENERAL+0(%rsp), %rax
  movq FRAME_GENERAL+8(%rsp), %rdx
  movaps FRAME_VECTOR+0(%rsp), %xmm0
  movaps FRAME_VECTOR+16(%rsp), %xmm1
  leave
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size message_forward, . - message_forward
#endif
  .section .note.GNU-stack, "", %progbits
