; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; pairs.ll: what a word of two 16-bit integers is to one thread, for kernels in
; which src/compiler/vectorize/prepare/dot_products.c found sums of products and that are not
; vectorised after all.

; The first and third byte of a word as signed 16-bit integers, and the others.
define linkonce_odr i32 @mettle.pairs.even(i32 %word) #0 {
  %bytes = bitcast i32 %word to <2 x i16>
  %up = shl <2 x i16> %bytes, <i16 8, i16 8>
  %pair = ashr <2 x i16> %up, <i16 8, i16 8>
  %result = bitcast <2 x i16> %pair to i32
  ret i32 %result
}

define linkonce_odr i32 @mettle.pairs.odd(i32 %word) #0 {
  %bytes = bitcast i32 %word to <2 x i16>
  %pair = ashr <2 x i16> %bytes, <i16 8, i16 8>
  %result = bitcast <2 x i16> %pair to i32
  ret i32 %result
}

; The sum of both products, modulo 2^32.
define linkonce_odr i32 @mettle.pairs.dot(i32 %x, i32 %y) #0 {
  %x.pair = bitcast i32 %x to <2 x i16>
  %y.pair = bitcast i32 %y to <2 x i16>
  %x.wide = sext <2 x i16> %x.pair to <2 x i32>
  %y.wide = sext <2 x i16> %y.pair to <2 x i32>
  %products = mul <2 x i32> %x.wide, %y.wide
  %low = extractelement <2 x i32> %products, i32 0
  %high = extractelement <2 x i32> %products, i32 1
  %sum = add i32 %low, %high
  ret i32 %sum
}

attributes #0 = { nounwind willreturn speculatable memory(none) "no-builtins" }
