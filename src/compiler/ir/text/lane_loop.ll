; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; lane_loop.ll: mettle.group for kernels whose threads do not wait for each
; other: the threads one after the other, x fastest.

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

; The thread: launch, scratch, group, position in the threadgroup, index in it.
declare void @mettle.body(ptr, ptr, ptr, i32, i32, i32, i32)
; Notes which thread runs, where the tier wants that.
declare void @mettle.note_thread(ptr, i32)

define void @mettle.group(ptr noalias readonly %launch, ptr %scratch,
                          ptr %context,
                          ptr noalias readonly %group) nounwind {
enter:
  %size.x.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 0
  %size.x = load i32, ptr %size.x.at
  %size.y.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 1
  %size.y = load i32, ptr %size.y.at
  %size.z.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 2
  %size.z = load i32, ptr %size.z.at
  br label %plane

plane:
  %z = phi i32 [ 0, %enter ], [ %z.next, %plane.end ]
  %plane.first = phi i32 [ 0, %enter ], [ %row.next, %plane.end ]
  br label %row

row:
  %y = phi i32 [ 0, %plane ], [ %y.next, %row.end ]
  %row.first = phi i32 [ %plane.first, %plane ], [ %row.next, %row.end ]
  br label %lane

lane:
  %x = phi i32 [ 0, %row ], [ %x.next, %lane ]
  %index = add i32 %row.first, %x
  call void @mettle.note_thread(ptr %scratch, i32 %index), !llvm.access.group !0
  call void @mettle.body(ptr %launch, ptr %scratch, ptr %group, i32 %x, i32 %y,
                         i32 %z, i32 %index)
  %x.next = add nuw i32 %x, 1
  %x.more = icmp ult i32 %x.next, %size.x
  br i1 %x.more, label %lane, label %row.end, !llvm.loop !1

row.end:
  %row.next = add i32 %row.first, %size.x
  %y.next = add nuw i32 %y, 1
  %y.more = icmp ult i32 %y.next, %size.y
  br i1 %y.more, label %row, label %plane.end

plane.end:
  %z.next = add nuw i32 %z, 1
  %z.more = icmp ult i32 %z.next, %size.z
  br i1 %z.more, label %plane, label %done

done:
  ret void
}

; Threads of one dispatch do not order their accesses, so those in the access
; group (loop_lanes.c) do not hold one turn of the lane loop back for another.
!0 = distinct !{}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.parallel_accesses", !0}
