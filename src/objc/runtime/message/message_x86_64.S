// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// message_x86_64.S: objc_msgSend and its kin. They find the method of a message
// in the receiver's class' cache (message.h) and jump to it; all argument
// registers, and rax (the count of vector registers of a variadic call), stay
// as the caller set them. r10 and r11 are free.
#if defined(__x86_64__)
#include "objc/runtime/message/message.h"
#include "objc/runtime/selectors.h"

  .text

// probe CLASS, SELECTOR: jumps to the method, or falls through if the cache
// does not have it. CLASS may be r10.
.macro probe class selector
  movq CLASS_CACHE(\class), %r10
  leaq (\selector, \selector), %r11  // 16 bytes an entry, 8 a selector
  andq CACHE_MASK(%r10), %r11
  leaq CACHE_ENTRIES(%r10, %r11), %r11
0:
  cmpq (%r11), \selector
  jne 1f
  jmp *8(%r11)
1:
  cmpq $0, (%r11)
  je 2f
  addq $16, %r11
  jmp 0b
2:
.endm

// find RECEIVER, SELECTOR, FUNCTION: asks FUNCTION (message.h) for the method
// and the object that it is for, puts that object into RECEIVER, and jumps.
.macro find receiver selector function
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $192, %rsp
  movq %rax, -8(%rbp)
  movq %rdi, -16(%rbp)
  movq %rsi, -24(%rbp)
  movq %rdx, -32(%rbp)
  movq %rcx, -40(%rbp)
  movq %r8, -48(%rbp)
  movq %r9, -56(%rbp)
  movaps %xmm0, -80(%rbp)
  movaps %xmm1, -96(%rbp)
  movaps %xmm2, -112(%rbp)
  movaps %xmm3, -128(%rbp)
  movaps %xmm4, -144(%rbp)
  movaps %xmm5, -160(%rbp)
  movaps %xmm6, -176(%rbp)
  movaps %xmm7, -192(%rbp)
  movq \receiver, %r10
  movq \selector, %rsi
  movq %r10, %rdi
  call \function
  movq %rax, %r11
  movq %rdx, %r10
  movq -8(%rbp), %rax
  movq -16(%rbp), %rdi
  movq -24(%rbp), %rsi
  movq -32(%rbp), %rdx
  movq -40(%rbp), %rcx
  movq -48(%rbp), %r8
  movq -56(%rbp), %r9
  movaps -80(%rbp), %xmm0
  movaps -96(%rbp), %xmm1
  movaps -112(%rbp), %xmm2
  movaps -128(%rbp), %xmm3
  movaps -144(%rbp), %xmm4
  movaps -160(%rbp), %xmm5
  movaps -176(%rbp), %xmm6
  movaps -192(%rbp), %xmm7
  movq %r10, \receiver
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
.endm

.macro function name
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .cfi_startproc
.endm

.macro end name
  .cfi_endproc
  .size \name, . - \name
.endm

// Metal's clients that build calls themselves (ctypes, libffi) know one
// objc_msgSend, also where a method returns a struct in memory. Then rdi is
// that memory, and the selector is the third argument instead of the second.
function objc_msgSend
  leaq selector_arena(%rip), %r11
  movq %rsi, %r10
  subq %r11, %r10
  cmpq $SELECTOR_ARENA_BYTES, %r10
  jae 8f
6:
  testq %rdi, %rdi
  jz 7f
  movq (%rdi), %r10
  probe %r10 %rsi
  find %rdi %rsi message_find
7:
  xorl %eax, %eax
  xorl %edx, %edx
  xorps %xmm0, %xmm0
  xorps %xmm1, %xmm1
  ret
8:
  movq %rdx, %r10
  subq %r11, %r10
  cmpq $SELECTOR_ARENA_BYTES, %r10
  jae 6b
  jmp objc_msgSend_stret@PLT
end objc_msgSend

function objc_msgSend_stret
  testq %rsi, %rsi
  jz 7f
  movq (%rsi), %r10
  probe %r10 %rdx
  find %rsi %rdx message_find
7:
  movq %rdi, %rax
  ret
end objc_msgSend_stret

// The result is in x87's st(0): of nil it is 0.
function objc_msgSend_fpret
  testq %rdi, %rdi
  jnz objc_msgSend@PLT
  fldz
  ret
end objc_msgSend_fpret

function objc_msgSend_fp2ret
  testq %rdi, %rdi
  jnz objc_msgSend@PLT
  fldz
  fldz
  ret
end objc_msgSend_fp2ret

// rdi is a struct objc_super.
function objc_msgSendSuper2
  movq 8(%rdi), %r10
  movq CLASS_SUPERCLASS(%r10), %r10
  testq %r10, %r10
  jz 3f
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  movq (%rdi), %rdi
  movq CLASS_CACHE(%r10), %r10
  leaq (%rsi, %rsi), %r11
  andq CACHE_MASK(%r10), %r11
  leaq CACHE_ENTRIES(%r10, %r11), %r11
0:
  cmpq (%r11), %rsi
  jne 1f
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  jmp *8(%r11)
  .cfi_adjust_cfa_offset 8
1:
  cmpq $0, (%r11)
  je 2f
  addq $16, %r11
  jmp 0b
2:
  popq %rdi
  .cfi_adjust_cfa_offset -8
3:
  find %rdi %rsi message_find_super
end objc_msgSendSuper2

function objc_msgSendSuper2_stret
  find %rsi %rdx message_find_super
end objc_msgSendSuper2_stret

#endif
  .section .note.GNU-stack, "", %progbits
