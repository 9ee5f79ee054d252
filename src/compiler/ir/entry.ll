; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; entry.ll: mettle_entry of cpu_abi.h, the loop over a worker's threadgroups.
; It hands on one mtlc_group (passes.h) at a time to mettle.group.

%launch = type { ptr, [3 x i32], [3 x i32], [3 x i32], i32 }
%group = type { [3 x i32], [3 x i32], [3 x i32], i32 }

declare void @mettle.group(ptr, ptr, ptr, ptr)
declare i64 @mettle.context_bytes(i32)
declare i64 @mettle.kept_bytes()
declare void @mettle.begin(ptr, ptr, ptr)
declare void @mettle.finish(ptr, ptr)
declare i32 @llvm.umin.i32(i32, i32)

; Sets dimension d of the group: where it begins, and how much of it lies in
; the grid. Groups at the far edge are smaller.
define internal void @mettle.place_group(ptr %launch, ptr %group, i32 %d,
                                         i32 %position) alwaysinline nounwind {
  %grid.at = getelementptr %launch, ptr %launch, i32 0, i32 1, i32 %d
  %grid = load i32, ptr %grid.at
  %full.at = getelementptr %launch, ptr %launch, i32 0, i32 2, i32 %d
  %full = load i32, ptr %full.at
  %origin = mul i32 %position, %full
  %left = sub i32 %grid, %origin
  %size = call i32 @llvm.umin.i32(i32 %left, i32 %full)
  %position.at = getelementptr %group, ptr %group, i32 0, i32 0, i32 %d
  store i32 %position, ptr %position.at
  %size.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 %d
  store i32 %size, ptr %size.at
  %origin.at = getelementptr %group, ptr %group, i32 0, i32 2, i32 %d
  store i32 %origin, ptr %origin.at
  ret void
}

; Writes mtli_cpu_position.group. Volatile: a signal handler reads it.
define internal void @mettle.note_group(ptr %scratch, i32 %x, i32 %y, i32 %z)
    alwaysinline nounwind {
  %y.at = getelementptr i8, ptr %scratch, i64 4
  %z.at = getelementptr i8, ptr %scratch, i64 8
  %thread.at = getelementptr i8, ptr %scratch, i64 12
  store volatile i32 %x, ptr %scratch
  store volatile i32 %y, ptr %y.at
  store volatile i32 %z, ptr %z.at
  store volatile i32 0, ptr %thread.at
  ret void
}

define void @mettle_entry(ptr %launch, i32 %first, i32 %end, ptr %scratch)
    nounwind {
enter:
  %group = alloca %group
  %fault.at = getelementptr i8, ptr %scratch, i64 16
  store volatile i32 0, ptr %fault.at
  %any = icmp ult i32 %first, %end
  br i1 %any, label %begin, label %done

begin:
  %bytes.at = getelementptr %launch, ptr %launch, i32 0, i32 4
  %bytes = load i32, ptr %bytes.at
  %bytes.wide = zext i32 %bytes to i64
  %threadgroup = getelementptr i8, ptr %scratch, i64 64
  ; What the worker keeps from one threadgroup to the next, then the context.
  %kept = getelementptr i8, ptr %threadgroup, i64 %bytes.wide
  %kept.bytes = call i64 @mettle.kept_bytes()
  %context = getelementptr i8, ptr %kept, i64 %kept.bytes
  call void @mettle.begin(ptr %launch, ptr %scratch, ptr %kept)
  %count.x.at = getelementptr %launch, ptr %launch, i32 0, i32 3, i32 0
  %count.x = load i32, ptr %count.x.at
  %count.y.at = getelementptr %launch, ptr %launch, i32 0, i32 3, i32 1
  %count.y = load i32, ptr %count.y.at
  %first.x = urem i32 %first, %count.x
  %row = udiv i32 %first, %count.x
  %first.y = urem i32 %row, %count.y
  %first.z = udiv i32 %row, %count.y
  br label %groups

groups:
  %index = phi i32 [ %first, %begin ], [ %index.next, %groups ]
  %x = phi i32 [ %first.x, %begin ], [ %x.next, %groups ]
  %y = phi i32 [ %first.y, %begin ], [ %y.next, %groups ]
  %z = phi i32 [ %first.z, %begin ], [ %z.next, %groups ]
  call void @mettle.place_group(ptr %launch, ptr %group, i32 0, i32 %x)
  call void @mettle.place_group(ptr %launch, ptr %group, i32 1, i32 %y)
  call void @mettle.place_group(ptr %launch, ptr %group, i32 2, i32 %z)
  %size.x.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 0
  %size.x = load i32, ptr %size.x.at
  %size.y.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 1
  %size.y = load i32, ptr %size.y.at
  %size.z.at = getelementptr %group, ptr %group, i32 0, i32 1, i32 2
  %size.z = load i32, ptr %size.z.at
  %plane = mul i32 %size.x, %size.y
  %threads = mul i32 %plane, %size.z
  %threads.at = getelementptr %group, ptr %group, i32 0, i32 3
  store i32 %threads, ptr %threads.at
  call void @mettle.note_group(ptr %scratch, i32 %x, i32 %y, i32 %z)
  call void @mettle.group(ptr %launch, ptr %scratch, ptr %context, ptr %group)
  %x.up = add i32 %x, 1
  %x.ends = icmp eq i32 %x.up, %count.x
  %x.next = select i1 %x.ends, i32 0, i32 %x.up
  %x.carry = zext i1 %x.ends to i32
  %y.up = add i32 %y, %x.carry
  %y.ends = icmp eq i32 %y.up, %count.y
  %y.next = select i1 %y.ends, i32 0, i32 %y.up
  %y.carry = zext i1 %y.ends to i32
  %z.next = add i32 %z, %y.carry
  %index.next = add i32 %index, 1
  %more = icmp ult i32 %index.next, %end
  br i1 %more, label %groups, label %finish

finish:
  call void @mettle.finish(ptr %launch, ptr %scratch)
  br label %done

done:
  ret void
}

define i64 @mettle_context_bytes(i32 %threads) nounwind {
  %bytes = call i64 @mettle.context_bytes(i32 %threads)
  %kept = call i64 @mettle.kept_bytes()
  %both = add i64 %bytes, %kept
  ret i64 %both
}
