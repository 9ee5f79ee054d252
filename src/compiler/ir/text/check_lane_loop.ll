; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; check_lane_loop.ll: mettle.group of checked kernels whose threads do not wait
; for each other: the checker's run-time part says which row of threads is next.

declare void @mettle.body(ptr, ptr, ptr, i32, i32, i32, i32)

; mtli_check_row_fn.
define internal void @mettle.check.row(
    ptr noalias readonly %launch, ptr %scratch, ptr noalias readonly %group,
    i32 %first.x, i32 %y, i32 %z, i32 %first, i32 %count) nounwind {
enter:
  %check.at = getelementptr i8, ptr %launch, i64 72
  %check = load ptr, ptr %check.at
  %segment.at = getelementptr i8, ptr %check, i64 96
  %thread.at = getelementptr i8, ptr %check, i64 100
  %position.at = getelementptr i8, ptr %scratch, i64 12
  br label %lane

lane:
  %i = phi i32 [ 0, %enter ], [ %next, %lane ]
  %x = add i32 %first.x, %i
  %index = add i32 %first, %i
  %segment = load i32, ptr %segment.at
  %segment.next = add i32 %segment, 1
  store i32 %segment.next, ptr %segment.at
  store i32 %index, ptr %thread.at
  store volatile i32 %index, ptr %position.at
  call void @mettle.body(ptr %launch, ptr %scratch, ptr %group, i32 %x, i32 %y,
                         i32 %z, i32 %index)
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %lane, label %done

done:
  ret void
}

define void @mettle.group(ptr %launch, ptr %scratch, ptr %context, ptr %group)
    nounwind {
  %check.at = getelementptr i8, ptr %launch, i64 72
  %check = load ptr, ptr %check.at
  %at = getelementptr i8, ptr %check, i64 72
  %run = load ptr, ptr %at
  call void %run(ptr %check, ptr %launch, ptr %scratch, ptr %group,
                 ptr @mettle.check.row)
  ret void
}
