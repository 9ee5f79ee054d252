; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; extremes.ll: what code generation calls for the smaller and the larger of two
; halves, which it compares as floats, where the machine compares no halves. A
; NaN gives way to a number, as for fmin and fmax.

define hidden float @fminf(float %a, float %b) #0 {
  %is.less = fcmp olt float %a, %b
  %less = select i1 %is.less, float %a, float %b
  %is.nan = fcmp uno float %b, 0.0
  %result = select i1 %is.nan, float %a, float %less
  ret float %result
}

define hidden float @fmaxf(float %a, float %b) #0 {
  %is.more = fcmp ogt float %a, %b
  %more = select i1 %is.more, float %a, float %b
  %is.nan = fcmp uno float %b, 0.0
  %result = select i1 %is.nan, float %a, float %more
  ret float %result
}

attributes #0 = { nounwind noinline "no-builtins" }
