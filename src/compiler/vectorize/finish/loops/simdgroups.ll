; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups.ll: runs the simdgroups of one threadgroup one after the other.
; group_loop.c replaces ROW by the row length that the code is for, LANES by how
; many threads run at a time, all of a simdgroup or half of it, and WHOLE by
; how to call it for a simdgroup without gaps: in place, where the mask is then
; known, or as it is; BEGIN by where those that run several at once have come
; to; REST by what to do with the last simdgroup if it lacks threads
; (simdgroups_rest.ll).

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

declare void @mettle.note.thread(ptr nocapture, i32) nounwind willreturn memory(inaccessiblemem: write)
; launch, scratch, group, frame, first thread, mask, state, position in the
; threadgroup of the first thread, what simdgroups share (emitter.h)
declare i32 @mettle.simdgroup.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr)
$DECLARE

define void @mettle.simdgroups.$ROW(ptr noalias readonly %launch, ptr %scratch,
                                    ptr %context, ptr noalias readonly %group)
    nounwind {
enter:
  %thread.at = getelementptr i8, ptr %scratch, i64 12
  %threads.at = getelementptr %group, ptr %group, i32 0, i32 3
  %threads = load i32, ptr %threads.at
  %size.x.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 0
  %size.x = load i32, ptr %size.x.at
  %size.y.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 1
  %size.y = load i32, ptr %size.y.at
  %end = and i32 %threads, -$LANES
  %begin = $BEGIN
  %first.begin = extractvalue { i32, i32, i32, i32 } %begin, 0
  %x.begin = extractvalue { i32, i32, i32, i32 } %begin, 1
  %y.begin = extractvalue { i32, i32, i32, i32 } %begin, 2
  %z.begin = extractvalue { i32, i32, i32, i32 } %begin, 3
  %any.whole = icmp ult i32 %first.begin, %end
  br i1 %any.whole, label %whole, label %rest

whole:
  %first = phi i32 [ %first.begin, %enter ], [ %first.next, %whole ]
  %x = phi i32 [ %x.begin, %enter ], [ %x.next, %whole ]
  %y = phi i32 [ %y.begin, %enter ], [ %y.next, %whole ]
  %z = phi i32 [ %z.begin, %enter ], [ %z.next, %whole ]
  call void @mettle.note.thread(ptr %thread.at, i32 %first)
  %done = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %context, i32 %first, i32 -1, i32 0, i32 %x, i32 %y, i32 %z,
      ptr null, ptr null) $WHOLE
  ; Where the next simdgroup begins, if rows fill simdgroups.
  %x.up = add i32 %x, $LANES
  %x.ends = icmp uge i32 %x.up, %size.x
  %x.next = select i1 %x.ends, i32 0, i32 %x.up
  %x.carry = zext i1 %x.ends to i32
  %y.up = add i32 %y, %x.carry
  %y.ends = icmp uge i32 %y.up, %size.y
  %y.next = select i1 %y.ends, i32 0, i32 %y.up
  %y.carry = zext i1 %y.ends to i32
  %z.next = add i32 %z, %y.carry
  %first.next = add nuw i32 %first, $LANES
  %more = icmp ult i32 %first.next, %end
  br i1 %more, label %whole, label %rest

rest:
$REST
leave:
  ret void
}
