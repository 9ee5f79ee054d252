# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# embed_headers.cmake: writes an assembler file with the table of headers.h,
# each header by .incbin. Run with -DOUTPUT=file -DFOLDER=src/compiler/metal.
file(GLOB_RECURSE headers RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT headers)
set(texts "")
set(table "")
set(number 0)
foreach(name IN LISTS headers)
  string(APPEND texts "name_${number}: .asciz \"${name}\"\n"
    "text_${number}: .incbin \"${FOLDER}/${name}\"\nend_${number}: .byte 0\n")
  string(APPEND table
    "  .quad name_${number}, text_${number}, end_${number} - text_${number}\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "\
.section .rodata
${texts}.section .data.rel.ro, \"aw\"
.balign 8
.globl mtlc_headers
.hidden mtlc_headers
mtlc_headers:
${table}  .quad 0, 0, 0
.section .note.GNU-stack, \"\", %progbits
")
