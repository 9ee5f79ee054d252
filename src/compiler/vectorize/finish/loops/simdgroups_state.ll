loop.$STATE:
  %first.$STATE = phi i32 [ 0, %choose ], [ %first.next.$STATE, %loop.$STATE ]
  %frame.$STATE = phi ptr [ %context, %choose ],
                          [ %frame.next.$STATE, %loop.$STATE ]
  %or.$STATE = phi i32 [ 0, %choose ], [ %or.next.$STATE, %loop.$STATE ]
  %and.$STATE = phi i32 [ -1, %choose ], [ %and.next.$STATE, %loop.$STATE ]
  %x.$STATE = phi i32 [ 0, %choose ], [ %x.next.$STATE, %loop.$STATE ]
  %y.$STATE = phi i32 [ 0, %choose ], [ %y.next.$STATE, %loop.$STATE ]
  %z.$STATE = phi i32 [ 0, %choose ], [ %z.next.$STATE, %loop.$STATE ]
  call void @mettle.note.thread(ptr %thread.at, i32 %first.$STATE)
  %reached.$STATE = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr %scratch,
      ptr %group, ptr %frame.$STATE, i32 %first.$STATE, i32 -1, i32 $STATE,
      i32 %x.$STATE, i32 %y.$STATE, i32 %z.$STATE,
      ptr null, ptr null) alwaysinline
  store i32 %reached.$STATE, ptr %frame.$STATE
  %or.next.$STATE = or i32 %or.$STATE, %reached.$STATE
  %and.next.$STATE = and i32 %and.$STATE, %reached.$STATE
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
  %more.$STATE = icmp ult i32 %first.next.$STATE, %end
  br i1 %more.$STATE, label %loop.$STATE, label %whole.done

