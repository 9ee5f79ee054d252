// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// page.S: the page of `mettle trace view` (src/cli/trace/page), in two
// halves: what stands before the timeline's events, and what follows them.

  .section .rodata, "a"
  .global timeline_page_head, timeline_page_tail
  .hidden timeline_page_head, timeline_page_tail
timeline_page_head:
  .incbin "cli/trace/page/head.html"
  .incbin "cli/trace/page/style.css"
  .incbin "cli/trace/page/body.html"
  .byte 0
timeline_page_tail:
  .ascii "</script>\n<script>\n"
  .incbin "cli/trace/page/model.js"
  .incbin "cli/trace/page/draw.js"
  .incbin "cli/trace/page/panel.js"
  .incbin "cli/trace/page/control.js"
  .incbin "cli/trace/page/tail.html"
  .byte 0

  .section .note.GNU-stack, "", %progbits
