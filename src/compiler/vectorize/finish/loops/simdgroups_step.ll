; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; simdgroups_step.ll: one loop of simdgroups_together.ll. Where it leads is
; often known to be one place, and then nobody is asked where all have come to.
enter.$STATE:
  ; Some states are for one simdgroup to do, for all.
  %from.$STATE = zext i32 $FROM to i64
  %bit.$STATE = and i64 %from.$STATE, 63
  %is.once.$STATE = lshr i64 $ONCE, %bit.$STATE
  %once.$STATE = trunc i64 %is.once.$STATE to i1
  %end.$STATE = select i1 %once.$STATE, i32 $LANES, i32 %end
  br label %loop.$STATE

loop.$STATE:
  %first.$STATE = phi i32 [ 0, %enter.$STATE ], [ %first.next.$STATE, %loop.$STATE ]
  %frame.$STATE = phi ptr [ %context, %enter.$STATE ], [ %frame.next.$STATE, %loop.$STATE ]
  %x.$STATE = phi i32 [ 0, %enter.$STATE ], [ %x.next.$STATE, %loop.$STATE ]
  %y.$STATE = phi i32 [ 0, %enter.$STATE ], [ %y.next.$STATE, %loop.$STATE ]
  %z.$STATE = phi i32 [ 0, %enter.$STATE ], [ %z.next.$STATE, %loop.$STATE ]
  call void @mettle.note.thread(ptr %thread.at, i32 %first.$STATE)
  %reached.$STATE = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %memory,
      ptr %group, ptr %frame.$STATE, i32 %first.$STATE, i32 -1, i32 $FROM,
      i32 %x.$STATE, i32 %y.$STATE, i32 %z.$STATE, ptr %in, ptr %out) $WHOLE
  %x.up.$STATE = add i32 %x.$STATE, $LANES
  %x.ends.$STATE = icmp uge i32 %x.up.$STATE, %size.x
  %x.next.$STATE = select i1 %x.ends.$STATE, i32 0, i32 %x.up.$STATE
  %x.carry.$STATE = zext i1 %x.ends.$STATE to i32
  %y.up.$STATE = add i32 %y.$STATE, %x.carry.$STATE
  %y.ends.$STATE = icmp uge i32 %y.up.$STATE, %size.y
  %y.next.$STATE = select i1 %y.ends.$STATE, i32 0, i32 %y.up.$STATE
  %y.carry.$STATE = zext i1 %y.ends.$STATE to i32
  %z.next.$STATE = add i32 %z.$STATE, %y.carry.$STATE
  %first.next.$STATE = add nuw i32 %first.$STATE, $LANES
  %frame.next.$STATE = getelementptr i8, ptr %frame.$STATE, i64 $FRAME
  %more.$STATE = icmp ult i32 %first.next.$STATE, %end.$STATE
  br i1 %more.$STATE, label %loop.$STATE, label %done.$STATE

done.$STATE:
  br i1 $ASKED, label %whole.done, label %next.$STATE

next.$STATE:
  call void @llvm.memcpy.p0.p0.i64(ptr %in, ptr %out, i64 $COMMON, i1 false)
  fence syncscope("singlethread") seq_cst
  switch i32 %reached.$STATE, label %leave [ $WAYS ]

