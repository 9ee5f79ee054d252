; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; halves.ll: what code generation calls where the machine cannot convert half.

; Half to float. Multiplying by 2^112 moves the exponent's bias, and makes
; subnormal halves normal.
define hidden float @__extendhfsf2(half %value) #0 {
  %bits = bitcast half %value to i16
  %wide = zext i16 %bits to i32
  %magnitude = and i32 %wide, 32767
  %shifted = shl i32 %magnitude, 13
  %small = bitcast i32 %shifted to float
  %scaled = fmul float %small, 0x46F0000000000000
  %scaled.bits = bitcast float %scaled to i32
  %is.special = icmp ugt i32 %magnitude, 31743
  %special.bits = or i32 %shifted, 2139095040
  %is.nan = icmp ugt i32 %magnitude, 31744
  %quiet = select i1 %is.nan, i32 4194304, i32 0
  %special.quiet = or i32 %special.bits, %quiet
  %unsigned = select i1 %is.special, i32 %special.quiet, i32 %scaled.bits
  %sign = and i32 %wide, 32768
  %sign.moved = shl i32 %sign, 16
  %all = or i32 %unsigned, %sign.moved
  %result = bitcast i32 %all to float
  ret float %result
}

; Float to half, to nearest even. Subnormal halves are what the sum with 1/2
; leaves in the last ten bits of a float.
define hidden half @__truncsfhf2(float %value) #0 {
  %bits = bitcast float %value to i32
  %magnitude = and i32 %bits, 2147483647
  %sign = xor i32 %magnitude, %bits
  %sign.moved = lshr i32 %sign, 16
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %payload = lshr i32 %magnitude, 13
  %payload.low = and i32 %payload, 511
  %nan = or i32 %payload.low, 32256
  %is.infinite = icmp ugt i32 %magnitude, 1199566847
  %odd.at = lshr i32 %magnitude, 13
  %odd = and i32 %odd.at, 1
  %rebiased = add i32 %magnitude, -939524096
  %half.step = add i32 %rebiased, 4095
  %to.even = add i32 %half.step, %odd
  %normal = lshr i32 %to.even, 13
  %positive = bitcast i32 %magnitude to float
  %summed = fadd float %positive, 0.5
  %summed.bits = bitcast float %summed to i32
  %subnormal = sub i32 %summed.bits, 1056964608
  %is.subnormal = icmp ult i32 %magnitude, 947912704
  %finite = select i1 %is.subnormal, i32 %subnormal, i32 %normal
  %number = select i1 %is.infinite, i32 31744, i32 %finite
  %unsigned = select i1 %is.nan, i32 %nan, i32 %number
  %all = or i32 %unsigned, %sign.moved
  %narrow = trunc i32 %all to i16
  %result = bitcast i16 %narrow to half
  ret half %result
}

attributes #0 = { nounwind noinline "no-builtins" }
