; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; fused.ll: what code generation calls for llvm.fma where the machine has no
; such instruction.

; A product and a sum, rounded once. The product of two floats is exact in
; double; the sum is rounded to odd, after which rounding to float is right
; (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
define hidden float @fmaf(float %a, float %b, float %c) #0 {
  %a.wide = fpext float %a to double
  %b.wide = fpext float %b to double
  %c.wide = fpext float %c to double
  %product = fmul double %a.wide, %b.wide
  %sum = fadd double %product, %c.wide
  %c.part = fsub double %sum, %product
  %product.part = fsub double %sum, %c.part
  %product.lost = fsub double %product, %product.part
  %c.lost = fsub double %c.wide, %c.part
  %lost = fadd double %product.lost, %c.lost
  %bits = bitcast double %sum to i64
  %last = and i64 %bits, 1
  %is.even = icmp eq i64 %last, 0
  %is.inexact = fcmp one double %lost, 0.0
  %adjust = and i1 %is.even, %is.inexact
  %lost.positive = fcmp ogt double %lost, 0.0
  %sum.positive = icmp sgt i64 %bits, -1
  %away = icmp eq i1 %lost.positive, %sum.positive
  %step = select i1 %away, i64 1, i64 -1
  %odd = add i64 %bits, %step
  %bits.odd = select i1 %adjust, i64 %odd, i64 %bits
  %sum.odd = bitcast i64 %bits.odd to double
  %result = fptrunc double %sum.odd to float
  ret float %result
}

attributes #0 = { nounwind noinline "no-builtins" }
