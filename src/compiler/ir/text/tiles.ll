; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; tiles.ll: the functions mettle.tile.* of docs/ir.md for one thread, made of
; its own accesses and of shuffles. Thread l holds columns c and c + 1 of row r:
; r is bits 4, 2, 1 of l, c twice its bits 3, 0.

declare i32 @mettle.position(i32, i32) nounwind willreturn memory(none)
declare i32 @mettle.simd.shuffle.i32(i32, i32)
    convergent nomerge nounwind willreturn memory(none)
declare i64 @mettle.simd.shuffle.i64(i64, i32)
    convergent nomerge nounwind willreturn memory(none)
declare <2 x float> @llvm.fma.v2f32(<2 x float>, <2 x float>, <2 x float>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)

; Which elements of memory a thread's two are.
define internal [2 x i64] @mettle.tile.place(i64 %elements_per_row,
    i1 %transposed)
    alwaysinline nounwind {
  %lane = call i32 @mettle.position(i32 11, i32 0)
  %lane.2 = lshr i32 %lane, 2
  %row.high = and i32 %lane.2, 4
  %lane.1 = lshr i32 %lane, 1
  %row.low = and i32 %lane.1, 3
  %row.32 = or i32 %row.high, %row.low
  %row = zext i32 %row.32 to i64
  %column.high = and i32 %lane.1, 4
  %lane.up = shl i32 %lane, 1
  %column.low = and i32 %lane.up, 2
  %column.32 = or i32 %column.high, %column.low
  %column = zext i32 %column.32 to i64
  %down = select i1 %transposed, i64 %column, i64 %row
  %along = select i1 %transposed, i64 %row, i64 %column
  %step = select i1 %transposed, i64 %elements_per_row, i64 1
  %start = mul i64 %down, %elements_per_row
  %first = add i64 %start, %along
  %second = add i64 %first, %step
  %place.first = insertvalue [2 x i64] poison, i64 %first, 0
  %place = insertvalue [2 x i64] %place.first, i64 %second, 1
  ret [2 x i64] %place
}

define linkonce_odr i64 @mettle.tile.load.i64(ptr %source,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row,
      i1 %transposed)
  %first = extractvalue [2 x i64] %place, 0
  %second = extractvalue [2 x i64] %place, 1
  %first.at = getelementptr i32, ptr %source, i64 %first
  %second.at = getelementptr i32, ptr %source, i64 %second
  %low = load i32, ptr %first.at, align 4
  %high = load i32, ptr %second.at, align 4
  %low.wide = zext i32 %low to i64
  %high.wide = zext i32 %high to i64
  %high.up = shl i64 %high.wide, 32
  %both = or i64 %low.wide, %high.up
  ret i64 %both
}

; Tiles that the vectoriser has found; each thread gives its own address.
define linkonce_odr i64 @mettle.tile.own.i64(ptr %first.at,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %step = select i1 %transposed, i64 %elements_per_row, i64 1
  %second.at = getelementptr i32, ptr %first.at, i64 %step
  %low = load i32, ptr %first.at, align 4
  %high = load i32, ptr %second.at, align 4
  %low.wide = zext i32 %low to i64
  %high.wide = zext i32 %high to i64
  %high.up = shl i64 %high.wide, 32
  %both = or i64 %low.wide, %high.up
  ret i64 %both
}

define linkonce_odr i32 @mettle.tile.own.i32(ptr %first.at,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %step = select i1 %transposed, i64 %elements_per_row, i64 1
  %second.at = getelementptr i16, ptr %first.at, i64 %step
  %low = load i16, ptr %first.at, align 2
  %high = load i16, ptr %second.at, align 2
  %low.wide = zext i16 %low to i32
  %high.wide = zext i16 %high to i32
  %high.up = shl i32 %high.wide, 16
  %both = or i32 %low.wide, %high.up
  ret i32 %both
}

define linkonce_odr void @mettle.tile.store.i64(i64 %elements, ptr %destination,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row,
      i1 %transposed)
  %first = extractvalue [2 x i64] %place, 0
  %second = extractvalue [2 x i64] %place, 1
  %first.at = getelementptr i32, ptr %destination, i64 %first
  %second.at = getelementptr i32, ptr %destination, i64 %second
  %low = trunc i64 %elements to i32
  %high.wide = lshr i64 %elements, 32
  %high = trunc i64 %high.wide to i32
  store i32 %low, ptr %first.at, align 4
  store i32 %high, ptr %second.at, align 4
  ret void
}

define linkonce_odr i32 @mettle.tile.load.i32(ptr %source,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row,
      i1 %transposed)
  %first = extractvalue [2 x i64] %place, 0
  %second = extractvalue [2 x i64] %place, 1
  %first.at = getelementptr i16, ptr %source, i64 %first
  %second.at = getelementptr i16, ptr %source, i64 %second
  %low = load i16, ptr %first.at, align 2
  %high = load i16, ptr %second.at, align 2
  %low.wide = zext i16 %low to i32
  %high.wide = zext i16 %high to i32
  %high.up = shl i32 %high.wide, 16
  %both = or i32 %low.wide, %high.up
  ret i32 %both
}

; The same of rows that begin at even elements, where a thread's two are one
; access.
define linkonce_odr i32 @mettle.tile.load_pair.i32(ptr %source,
    i64 %elements_per_row) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row, i1 false)
  %first = extractvalue [2 x i64] %place, 0
  %at = getelementptr i16, ptr %source, i64 %first
  %both = load i32, ptr %at, align 4
  ret i32 %both
}

define linkonce_odr i64 @mettle.tile.load_pair.i64(ptr %source,
    i64 %elements_per_row) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row, i1 false)
  %first = extractvalue [2 x i64] %place, 0
  %at = getelementptr i32, ptr %source, i64 %first
  %both = load i64, ptr %at, align 8
  ret i64 %both
}

define linkonce_odr void @mettle.tile.store.i32(i32 %elements, ptr %destination,
    i64 %elements_per_row, i1 %transposed) alwaysinline nounwind {
  %place = call [2 x i64] @mettle.tile.place(i64 %elements_per_row,
      i1 %transposed)
  %first = extractvalue [2 x i64] %place, 0
  %second = extractvalue [2 x i64] %place, 1
  %first.at = getelementptr i16, ptr %destination, i64 %first
  %second.at = getelementptr i16, ptr %destination, i64 %second
  %low = trunc i32 %elements to i16
  %high.wide = lshr i32 %elements, 16
  %high = trunc i32 %high.wide to i16
  store i16 %low, ptr %first.at, align 2
  store i16 %high, ptr %second.at, align 2
  ret void
}

define linkonce_odr i64 @mettle.tile.widen.f16(i32 %elements)
    alwaysinline nounwind {
  %halves = bitcast i32 %elements to <2 x half>
  %floats = fpext <2 x half> %halves to <2 x float>
  %both = bitcast <2 x float> %floats to i64
  ret i64 %both
}

define linkonce_odr i64 @mettle.tile.widen.bf16(i32 %elements)
    alwaysinline nounwind {
  %halves = bitcast i32 %elements to <2 x i16>
  %wide = zext <2 x i16> %halves to <2 x i32>
  %floats = shl <2 x i32> %wide, splat (i32 16)
  %both = bitcast <2 x i32> %floats to i64
  ret i64 %both
}

; One product more: of a's element of this thread's row, held in a half of the
; thread a.column further on in the row, and of the pair of b that is b.row down
; in this thread's columns.
define internal <2 x float> @mettle.tile.step(i32 %a, i32 %a.column, i64 %b,
    i32 %b.row, <2 x float> %sum) alwaysinline convergent nounwind {
  %lane = call i32 @mettle.position(i32 11, i32 0)
  %row = and i32 %lane, 22
  %a.lane = or i32 %row, %a.column
  %column = and i32 %lane, 9
  %b.lane = or i32 %column, %b.row
  %factor.bits = call i32 @mettle.simd.shuffle.i32(i32 %a, i32 %a.lane)
  %pair.bits = call i64 @mettle.simd.shuffle.i64(i64 %b, i32 %b.lane)
  %factor = bitcast i32 %factor.bits to float
  %pair = bitcast i64 %pair.bits to <2 x float>
  %factor.one = insertelement <2 x float> poison, float %factor, i32 0
  %factors = shufflevector <2 x float> %factor.one, <2 x float> poison,
      <2 x i32> zeroinitializer
  %next = call <2 x float> @llvm.fma.v2f32(<2 x float> %factors,
      <2 x float> %pair,
      <2 x float> %sum)
  ret <2 x float> %next
}

define linkonce_odr i64 @mettle.tile.multiply_add(i64 %a, i64 %b, i64 %c)
    alwaysinline convergent nounwind {
  %even = trunc i64 %a to i32
  %a.up = lshr i64 %a, 32
  %odd = trunc i64 %a.up to i32
  %c.floats = bitcast i64 %c to <2 x float>
  %sum.0 = call <2 x float> @mettle.tile.step(i32 %even, i32 0, i64 %b, i32 0,
      <2 x float> %c.floats)
  %sum.1 = call <2 x float> @mettle.tile.step(i32 %odd, i32 0, i64 %b, i32 2,
      <2 x float> %sum.0)
  %sum.2 = call <2 x float> @mettle.tile.step(i32 %even, i32 1, i64 %b, i32 4,
      <2 x float> %sum.1)
  %sum.3 = call <2 x float> @mettle.tile.step(i32 %odd, i32 1, i64 %b, i32 6,
      <2 x float> %sum.2)
  %sum.4 = call <2 x float> @mettle.tile.step(i32 %even, i32 8, i64 %b, i32 16,
      <2 x float> %sum.3)
  %sum.5 = call <2 x float> @mettle.tile.step(i32 %odd, i32 8, i64 %b, i32 18,
      <2 x float> %sum.4)
  %sum.6 = call <2 x float> @mettle.tile.step(i32 %even, i32 9, i64 %b, i32 20,
      <2 x float> %sum.5)
  %sum.7 = call <2 x float> @mettle.tile.step(i32 %odd, i32 9, i64 %b, i32 22,
      <2 x float> %sum.6)
  %both = bitcast <2 x float> %sum.7 to i64
  ret i64 %both
}

; The same of words of four bytes, a's signed and b's unsigned, or the other way
; round.
define internal i32 @mettle.tile.word.su(i32 %a, i32 %b) alwaysinline
    nounwind {
  %a.bytes = bitcast i32 %a to <4 x i8>
  %b.bytes = bitcast i32 %b to <4 x i8>
  %a.wide = sext <4 x i8> %a.bytes to <4 x i32>
  %b.wide = zext <4 x i8> %b.bytes to <4 x i32>
  %products = mul <4 x i32> %a.wide, %b.wide
  %sum = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %products)
  ret i32 %sum
}

define internal <2 x i32> @mettle.tile.step.su(i32 %a, i32 %a.column,
    i64 %b, i32 %b.row, <2 x i32> %sum) alwaysinline convergent nounwind {
  %lane = call i32 @mettle.position(i32 11, i32 0)
  %row = and i32 %lane, 22
  %a.lane = or i32 %row, %a.column
  %column = and i32 %lane, 9
  %b.lane = or i32 %column, %b.row
  %factor = call i32 @mettle.simd.shuffle.i32(i32 %a, i32 %a.lane)
  %pair.bits = call i64 @mettle.simd.shuffle.i64(i64 %b, i32 %b.lane)
  %pair = bitcast i64 %pair.bits to <2 x i32>
  %first = extractelement <2 x i32> %pair, i32 0
  %second = extractelement <2 x i32> %pair, i32 1
  %first.dot = call i32 @mettle.tile.word.su(i32 %factor, i32 %first)
  %second.dot = call i32 @mettle.tile.word.su(i32 %factor, i32 %second)
  %dots.first = insertelement <2 x i32> poison, i32 %first.dot, i32 0
  %dots = insertelement <2 x i32> %dots.first, i32 %second.dot, i32 1
  %next = add <2 x i32> %sum, %dots
  ret <2 x i32> %next
}

define linkonce_odr i64 @mettle.tile.dot.su(i64 %a, i64 %b, i64 %c)
    alwaysinline convergent nounwind {
  %even = trunc i64 %a to i32
  %a.up = lshr i64 %a, 32
  %odd = trunc i64 %a.up to i32
  %sum.start = bitcast i64 %c to <2 x i32>
  %sum.0 = call <2 x i32> @mettle.tile.step.su(i32 %even, i32 0, i64 %b,
      i32 0, <2 x i32> %sum.start)
  %sum.1 = call <2 x i32> @mettle.tile.step.su(i32 %odd, i32 0, i64 %b,
      i32 2, <2 x i32> %sum.0)
  %sum.2 = call <2 x i32> @mettle.tile.step.su(i32 %even, i32 1, i64 %b,
      i32 4, <2 x i32> %sum.1)
  %sum.3 = call <2 x i32> @mettle.tile.step.su(i32 %odd, i32 1, i64 %b,
      i32 6, <2 x i32> %sum.2)
  %sum.4 = call <2 x i32> @mettle.tile.step.su(i32 %even, i32 8, i64 %b,
      i32 16, <2 x i32> %sum.3)
  %sum.5 = call <2 x i32> @mettle.tile.step.su(i32 %odd, i32 8, i64 %b,
      i32 18, <2 x i32> %sum.4)
  %sum.6 = call <2 x i32> @mettle.tile.step.su(i32 %even, i32 9, i64 %b,
      i32 20, <2 x i32> %sum.5)
  %sum.7 = call <2 x i32> @mettle.tile.step.su(i32 %odd, i32 9, i64 %b,
      i32 22, <2 x i32> %sum.6)
  %both = bitcast <2 x i32> %sum.7 to i64
  ret i64 %both
}

define internal i32 @mettle.tile.word.us(i32 %a, i32 %b) alwaysinline
    nounwind {
  %a.bytes = bitcast i32 %a to <4 x i8>
  %b.bytes = bitcast i32 %b to <4 x i8>
  %a.wide = zext <4 x i8> %a.bytes to <4 x i32>
  %b.wide = sext <4 x i8> %b.bytes to <4 x i32>
  %products = mul <4 x i32> %a.wide, %b.wide
  %sum = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %products)
  ret i32 %sum
}

define internal <2 x i32> @mettle.tile.step.us(i32 %a, i32 %a.column,
    i64 %b, i32 %b.row, <2 x i32> %sum) alwaysinline convergent nounwind {
  %lane = call i32 @mettle.position(i32 11, i32 0)
  %row = and i32 %lane, 22
  %a.lane = or i32 %row, %a.column
  %column = and i32 %lane, 9
  %b.lane = or i32 %column, %b.row
  %factor = call i32 @mettle.simd.shuffle.i32(i32 %a, i32 %a.lane)
  %pair.bits = call i64 @mettle.simd.shuffle.i64(i64 %b, i32 %b.lane)
  %pair = bitcast i64 %pair.bits to <2 x i32>
  %first = extractelement <2 x i32> %pair, i32 0
  %second = extractelement <2 x i32> %pair, i32 1
  %first.dot = call i32 @mettle.tile.word.us(i32 %factor, i32 %first)
  %second.dot = call i32 @mettle.tile.word.us(i32 %factor, i32 %second)
  %dots.first = insertelement <2 x i32> poison, i32 %first.dot, i32 0
  %dots = insertelement <2 x i32> %dots.first, i32 %second.dot, i32 1
  %next = add <2 x i32> %sum, %dots
  ret <2 x i32> %next
}

define linkonce_odr i64 @mettle.tile.dot.us(i64 %a, i64 %b, i64 %c)
    alwaysinline convergent nounwind {
  %even = trunc i64 %a to i32
  %a.up = lshr i64 %a, 32
  %odd = trunc i64 %a.up to i32
  %sum.start = bitcast i64 %c to <2 x i32>
  %sum.0 = call <2 x i32> @mettle.tile.step.us(i32 %even, i32 0, i64 %b,
      i32 0, <2 x i32> %sum.start)
  %sum.1 = call <2 x i32> @mettle.tile.step.us(i32 %odd, i32 0, i64 %b,
      i32 2, <2 x i32> %sum.0)
  %sum.2 = call <2 x i32> @mettle.tile.step.us(i32 %even, i32 1, i64 %b,
      i32 4, <2 x i32> %sum.1)
  %sum.3 = call <2 x i32> @mettle.tile.step.us(i32 %odd, i32 1, i64 %b,
      i32 6, <2 x i32> %sum.2)
  %sum.4 = call <2 x i32> @mettle.tile.step.us(i32 %even, i32 8, i64 %b,
      i32 16, <2 x i32> %sum.3)
  %sum.5 = call <2 x i32> @mettle.tile.step.us(i32 %odd, i32 8, i64 %b,
      i32 18, <2 x i32> %sum.4)
  %sum.6 = call <2 x i32> @mettle.tile.step.us(i32 %even, i32 9, i64 %b,
      i32 20, <2 x i32> %sum.5)
  %sum.7 = call <2 x i32> @mettle.tile.step.us(i32 %odd, i32 9, i64 %b,
      i32 22, <2 x i32> %sum.6)
  %both = bitcast <2 x i32> %sum.7 to i64
  ret i64 %both
}
