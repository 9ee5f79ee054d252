; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; memory.ll: the three functions that code generation calls by itself, so that
; compiled code needs no library. "no-builtins" keeps their loops from being
; recognised as calls of themselves.

define hidden ptr @memcpy(ptr %to, ptr %from, i64 %bytes) #0 {
enter:
  %any = icmp ne i64 %bytes, 0
  br i1 %any, label %next, label %done
next:
  %i = phi i64 [ 0, %enter ], [ %i.next, %next ]
  %from.at = getelementptr i8, ptr %from, i64 %i
  %byte = load i8, ptr %from.at, align 1
  %to.at = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %to.at, align 1
  %i.next = add i64 %i, 1
  %more = icmp ne i64 %i.next, %bytes
  br i1 %more, label %next, label %done
done:
  ret ptr %to
}

define hidden ptr @memmove(ptr %to, ptr %from, i64 %bytes) #0 {
enter:
  %backward = icmp ugt ptr %to, %from
  br i1 %backward, label %down.test, label %forward
forward:
  %copied = call ptr @memcpy(ptr %to, ptr %from, i64 %bytes)
  br label %done
down.test:
  %left = phi i64 [ %bytes, %enter ], [ %left.next, %down ]
  %more = icmp ne i64 %left, 0
  br i1 %more, label %down, label %done
down:
  %left.next = sub i64 %left, 1
  %from.at = getelementptr i8, ptr %from, i64 %left.next
  %byte = load i8, ptr %from.at, align 1
  %to.at = getelementptr i8, ptr %to, i64 %left.next
  store i8 %byte, ptr %to.at, align 1
  br label %down.test
done:
  ret ptr %to
}

define hidden ptr @memset(ptr %to, i32 %value, i64 %bytes) #0 {
enter:
  %byte = trunc i32 %value to i8
  %any = icmp ne i64 %bytes, 0
  br i1 %any, label %next, label %done
next:
  %i = phi i64 [ 0, %enter ], [ %i.next, %next ]
  %to.at = getelementptr i8, ptr %to, i64 %i
  store i8 %byte, ptr %to.at, align 1
  %i.next = add i64 %i, 1
  %more = icmp ne i64 %i.next, %bytes
  br i1 %more, label %next, label %done
done:
  ret ptr %to
}

attributes #0 = { nounwind noinline "no-builtins" }
