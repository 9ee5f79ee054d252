; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; apart.ll: whether buffers that a kernel was given lie apart. The head of
; mtli_cpu_launch (src/code/cpu_abi.h): what is known here of a launch.
%apart.launch = type { ptr, [3 x i32], [3 x i32], [3 x i32], i32, ptr, ptr, i32 }

; Whether two arguments lie apart.
define linkonce_odr i1 @mettle.are_apart(ptr %launch, i64 %a, i64 %b)
    alwaysinline nounwind {
  %bytes.at = getelementptr %apart.launch, ptr %launch, i32 0, i32 6
  %bytes = load ptr, ptr %bytes.at
  %is.known = icmp ne ptr %bytes, null
  br i1 %is.known, label %known, label %done

known:
  %arguments = load ptr, ptr %launch
  %a.at = getelementptr i64, ptr %arguments, i64 %a
  %a.first = load i64, ptr %a.at
  %b.at = getelementptr i64, ptr %arguments, i64 %b
  %b.first = load i64, ptr %b.at
  %a.bytes.at = getelementptr i64, ptr %bytes, i64 %a
  %a.bytes = load i64, ptr %a.bytes.at
  %b.bytes.at = getelementptr i64, ptr %bytes, i64 %b
  %b.bytes = load i64, ptr %b.bytes.at
  %a.end = add i64 %a.first, %a.bytes
  %b.end = add i64 %b.first, %b.bytes
  %a.before = icmp ule i64 %a.end, %b.first
  %b.before = icmp ule i64 %b.end, %a.first
  %either = or i1 %a.before, %b.before
  br label %done

done:
  %answer = phi i1 [ false, %0 ], [ %either, %known ]
  ret i1 %answer
}

; The same as a thread asks it; nobody answers where threads are not vectorised.
define linkonce_odr i1 @mettle.apart(i32 %a, i32 %b) #0 {
  ret i1 false
}

attributes #0 = { nounwind willreturn speculatable memory(none) "no-builtins" }
