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
  TEXT counters, "compiler/ir/text/counters.ll"
  TEXT lane_loop, "compiler/ir/text/lane_loop.ll"
  TEXT schedule, "compiler/ir/text/schedule.ll"
  TEXT check, "compiler/ir/text/check.ll"
  TEXT check_lane_loop, "compiler/ir/text/check_lane_loop.ll"
  TEXT check_schedule, "compiler/ir/text/check_schedule.ll"
  TEXT memory, "compiler/ir/text/memory.ll"
  TEXT fused, "compiler/ir/text/fused.ll"
  TEXT halves, "compiler/ir/text/halves.ll"
  TEXT tiles, "compiler/ir/text/tiles.ll"
  TEXT extremes, "compiler/ir/text/extremes.ll"
  TEXT ptx_check, "compiler/ir/text/ptx_check.ll"
  TEXT pairs, "compiler/ir/text/pairs.ll"
  TEXT apart, "compiler/ir/text/apart.ll"
  TEXT simdgroups, "compiler/vectorize/finish/loops/simdgroups.ll"
  TEXT simdgroups_waiting, "compiler/vectorize/finish/loops/simdgroups_waiting.ll"
  TEXT simdgroups_state, "compiler/vectorize/finish/loops/simdgroups_state.ll"
  TEXT simdgroups_together, "compiler/vectorize/finish/loops/simdgroups_together.ll"
  TEXT simdgroups_rest, "compiler/vectorize/finish/loops/simdgroups_rest.ll"
  TEXT simdgroups_step, "compiler/vectorize/finish/loops/simdgroups_step.ll"
  TEXT simdgroups_at_once, "compiler/vectorize/finish/loops/simdgroups_at_once.ll"

  .section .note.GNU-stack, "", %progbits
