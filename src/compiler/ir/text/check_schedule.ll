; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; check_schedule.ll: mettle.group of checked kernels whose threads wait for each
; other: the checker's run-time part is the scheduler, by the rule of
; schedule.ll.

@mettle.key_words = external constant i64
@mettle.frame_bytes = external constant i64

declare void @mettle.body(ptr, ptr, ptr, i32, i32, i32, i32, ptr, ptr)
declare void @mettle.execute(i32, i32, ptr, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.cttz.i32(i32, i1)

define void @mettle.group(ptr %launch, ptr %scratch, ptr %context, ptr %group)
    nounwind {
  %check.at = getelementptr i8, ptr %launch, i64 72
  %check = load ptr, ptr %check.at
  %at = getelementptr i8, ptr %check, i64 80
  %run = load ptr, ptr %at
  %words = load i64, ptr @mettle.key_words
  %bytes = load i64, ptr @mettle.frame_bytes
  call void %run(ptr %check, ptr %launch, ptr %scratch, ptr %context,
                 ptr %group, ptr @mettle.body, ptr @mettle.execute,
                 i64 %words, i64 %bytes)
  ret void
}

; As in schedule.ll.
define void @mettle.execute_shuffle(i32 %mask, ptr %values,
                                    ptr %operands) nounwind {
enter:
  %old = alloca [32 x i64]
  call void @llvm.memcpy.p0.p0.i64(ptr %old, ptr %values, i64 256, i1 false)
  br label %lane

lane:
  %left = phi i32 [ %mask, %enter ], [ %left.next, %lane ]
  %to = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %below = sub i32 %left, 1
  %left.next = and i32 %left, %below
  %operand.at = getelementptr i32, ptr %operands, i32 %to
  %operand = load i32, ptr %operand.at
  %from = and i32 %operand, 31
  %from.at = getelementptr i64, ptr %old, i32 %from
  %value = load i64, ptr %from.at
  %to.at = getelementptr i64, ptr %values, i32 %to
  store i64 %value, ptr %to.at
  store i32 %mask, ptr %operand.at
  %more = icmp ne i32 %left.next, 0
  br i1 %more, label %lane, label %done

done:
  ret void
}
