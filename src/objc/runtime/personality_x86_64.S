// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// personality_x86_64.S: the unwinder's routine for Objective-C frames is C++'s.
#if defined(__x86_64__)
  .text
  .globl __objc_personality_v0
  .type __objc_personality_v0, @function
__objc_personality_v0:
  jmp __gxx_personality_v0@PLT
  .size __objc_personality_v0, . - __objc_personality_v0
#endif
  .section .note.GNU-stack, "", %progbits
