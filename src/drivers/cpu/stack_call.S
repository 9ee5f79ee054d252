// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stack_call.S: calls a function on another stack.
//
//   void cpu_stack_call(void *stack_end, void (*function)(void *),
//                       void *argument);
//
// A kernel that writes past its private arrays may spoil all that lies on that
// stack, the registers saved there too. So the way back needs nothing of it:
// the caller's registers are on the caller's stack, which cpu_running, a
// cpu_context of this thread, has first (fault.c asserts it).

  .text
  .global cpu_stack_call
  .hidden cpu_stack_call
  .hidden cpu_running
  .type cpu_stack_call, %function
  .balign 16
cpu_stack_call:
  .cfi_startproc
#if defined(__x86_64__)
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbx, 0
  pushq %r12
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r12, 0
  pushq %r13
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r13, 0
  pushq %r14
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r14, 0
  pushq %r15
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %r15, 0
  movq cpu_running@gottpoff(%rip), %rax
  movq %fs:(%rax), %rax
  movq %rsp, (%rax)
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq cpu_running@gottpoff(%rip), %rax
  movq %fs:(%rax), %rax
  movq (%rax), %rsp
  .cfi_def_cfa_register %rsp
  popq %r15
  .cfi_adjust_cfa_offset -8
  popq %r14
  .cfi_adjust_cfa_offset -8
  popq %r13
  .cfi_adjust_cfa_offset -8
  popq %r12
  .cfi_adjust_cfa_offset -8
  popq %rbx
  .cfi_adjust_cfa_offset -8
  popq %rbp
  .cfi_adjust_cfa_offset -8
  retq
#elif defined(__aarch64__)
  stp x29, x30, [sp, #-160]!
  .cfi_def_cfa_offset 160
  .cfi_offset x29, -160
  .cfi_offset x30, -152
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x29, sp
  .cfi_def_cfa_register x29
  adrp x9, :gottprel:cpu_running
  ldr x9, [x9, :gottprel_lo12:cpu_running]
  mrs x10, tpidr_el0
  ldr x9, [x10, x9]
  str x29, [x9]
  mov sp, x0
  mov x0, x2
  blr x1
  adrp x9, :gottprel:cpu_running
  ldr x9, [x9, :gottprel_lo12:cpu_running]
  mrs x10, tpidr_el0
  ldr x9, [x10, x9]
  ldr x29, [x9]
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp d14, d15, [sp, #144]
  ldp d12, d13, [sp, #128]
  ldp d10, d11, [sp, #112]
  ldp d8, d9, [sp, #96]
  ldp x27, x28, [sp, #80]
  ldp x25, x26, [sp, #64]
  ldp x23, x24, [sp, #48]
  ldp x21, x22, [sp, #32]
  ldp x19, x20, [sp, #16]
  ldp x29, x30, [sp], #160
  ret
#else
#error "no way to another stack is known for this processor"
#endif
  .cfi_endproc
  .size cpu_stack_call, . - cpu_stack_call

  .section .note.GNU-stack, "", %progbits
