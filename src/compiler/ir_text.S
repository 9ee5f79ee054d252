// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ir_text.S: the IR that is written by hand, carried inside the compiler as
// text. mtlc_link_text (module.h) parses and links a piece of it.

  .macro TEXT name, file
  .balign 8
  .global mtlc_text_\name
  .hidden mtlc_text_\name
mtlc_text_\name:
  .incbin "\file"
  .byte 0
  .endm

  .section .rodata, "a"
  TEXT counters, "compiler/ir/counters.ll"
  TEXT lane_loop, "compiler/ir/lane_loop.ll"
  TEXT schedule, "compiler/ir/schedule.ll"
  TEXT memory, "compiler/ir/memory.ll"
  TEXT fused, "compiler/ir/fused.ll"
  TEXT halves, "compiler/ir/halves.ll"
  TEXT tiles, "compiler/ir/tiles.ll"
  TEXT extremes, "compiler/ir/extremes.ll"
  TEXT pairs, "compiler/ir/pairs.ll"
  TEXT apart, "compiler/ir/apart.ll"
  TEXT simdgroups, "compiler/vectorize/simdgroups.ll"
  TEXT simdgroups_waiting, "compiler/vectorize/simdgroups_waiting.ll"
  TEXT simdgroups_state, "compiler/vectorize/simdgroups_state.ll"
  TEXT simdgroups_together, "compiler/vectorize/simdgroups_together.ll"
  TEXT simdgroups_rest, "compiler/vectorize/simdgroups_rest.ll"
  TEXT simdgroups_step, "compiler/vectorize/simdgroups_step.ll"
  TEXT simdgroups_at_once, "compiler/vectorize/simdgroups_at_once.ll"

  .section .note.GNU-stack, "", %progbits
