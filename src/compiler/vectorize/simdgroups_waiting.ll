; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_waiting.ll: runs the simdgroups of one threadgroup in rounds, each
; from one threadgroup barrier to the next, until all are at their end. The
; first four bytes of a simdgroup's frame are the state to go on in, 0 when it
; is done. group.c replaces $ROW and $WHOLE as in simdgroups.ll, and $FRAME by
; the bytes of a frame.

%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

declare i32 @mettle.simdgroup.$ROW(ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32)

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
  %any = icmp ne i32 %threads, 0
  br i1 %any, label %round, label %leave

round:
  %is.first = phi i1 [ true, %enter ], [ false, %round.end ]
  br label %simdgroup

simdgroup:
  %first = phi i32 [ 0, %round ], [ %first.next, %next ]
  %frame = phi ptr [ %context, %round ], [ %frame.next, %next ]
  %waiting = phi i32 [ 0, %round ], [ %waiting.next, %next ]
  %x = phi i32 [ 0, %round ], [ %x.next, %next ]
  %y = phi i32 [ 0, %round ], [ %y.next, %next ]
  %z = phi i32 [ 0, %round ], [ %z.next, %next ]
  br i1 %is.first, label %begin, label %go.on

begin:
  br label %run

go.on:
  %kept = load i32, ptr %frame
  %is.done = icmp eq i32 %kept, 0
  br i1 %is.done, label %next, label %run

run:
  %state = phi i32 [ 0, %begin ], [ %kept, %go.on ]
  store volatile i32 %first, ptr %thread.at
  %left = sub i32 %threads, %first
  %is.whole = icmp uge i32 %left, 32
  br i1 %is.whole, label %whole, label %partial

whole:
  %state.whole = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %frame, i32 %first, i32 -1, i32 %state,
      i32 %x, i32 %y, i32 %z) $WHOLE
  br label %ran

partial:
  %bit = shl nuw i32 1, %left
  %mask = sub i32 %bit, 1
  %state.partial = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %frame, i32 %first, i32 %mask, i32 %state,
      i32 %x, i32 %y, i32 %z) noinline
  br label %ran

ran:
  %reached = phi i32 [ %state.whole, %whole ], [ %state.partial, %partial ]
  store i32 %reached, ptr %frame
  br label %next

next:
  %now = phi i32 [ %reached, %ran ], [ 0, %go.on ]
  %waiting.next = or i32 %waiting, %now
  ; Where the next simdgroup begins, if rows fill simdgroups.
  %x.up = add i32 %x, 32
  %x.ends = icmp uge i32 %x.up, %size.x
  %x.next = select i1 %x.ends, i32 0, i32 %x.up
  %x.carry = zext i1 %x.ends to i32
  %y.up = add i32 %y, %x.carry
  %y.ends = icmp uge i32 %y.up, %size.y
  %y.next = select i1 %y.ends, i32 0, i32 %y.up
  %y.carry = zext i1 %y.ends to i32
  %z.next = add i32 %z, %y.carry
  %first.next = add nuw i32 %first, 32
  %frame.next = getelementptr i8, ptr %frame, i64 $FRAME
  %more = icmp ult i32 %first.next, %threads
  br i1 %more, label %simdgroup, label %round.end

round.end:
  %any.waiting = icmp ne i32 %waiting.next, 0
  br i1 %any.waiting, label %round, label %leave

leave:
  ret void
}
