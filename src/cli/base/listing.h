// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// listing.h: machine code with the source's lines in between.
#ifndef CLI_LISTING_H
#define CLI_LISTING_H

// Prints a listing as mtl_pipeline_dump gives it behind "asm". Behind each
// "; FILE:LINE" comes what that line of the file says, if it can be read.
void listing_print(const char *text);

#endif
