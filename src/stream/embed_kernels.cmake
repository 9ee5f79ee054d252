# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# embed_kernels.cmake: writes an assembler file with a C string for each
# *.metal but common.metal, which stands in front of all: NAME.metal becomes
# ops_NAME_metal. Run with -DOUTPUT=file -DFOLDER=src/stream/kernels.
file(GLOB kernels ${FOLDER}/*.metal)
list(REMOVE_ITEM kernels ${FOLDER}/common.metal)
set(texts "")
foreach(kernel IN LISTS kernels)
  get_filename_component(name ${kernel} NAME_WE)
  string(APPEND texts ".globl ops_${name}_metal\n.hidden ops_${name}_metal\n"
    "ops_${name}_metal: .incbin \"${FOLDER}/common.metal\"\n"
    ".incbin \"${kernel}\"\n.byte 0\n")
endforeach()
file(WRITE ${OUTPUT} "\
.section .rodata
${texts}.section .note.GNU-stack, \"\", %progbits
")
