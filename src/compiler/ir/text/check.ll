; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; check.ll: the calls of the checker's run-time part (code/check_abi.h), as
; functions that check_accesses.c calls. mettle.check.context is bound by
; thread_state.c.

declare ptr @mettle.check.context() nounwind willreturn memory(none)

define ptr @mettle.check.device(ptr %address, i32 %site, i64 %unset)
    alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 8
  %function = load ptr, ptr %at, !invariant.load !0
  %result = call ptr %function(ptr %check, ptr %address, i32 %site, i64 %unset)
  ret ptr %result
}

define ptr @mettle.check.threadgroup(ptr %address, i32 %site,
    i64 %unset, ptr %base, ptr %shadow) alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 16
  %function = load ptr, ptr %at, !invariant.load !0
  %result = call ptr %function(ptr %check, ptr %address, i32 %site, i64 %unset,
                               ptr %base, ptr %shadow)
  ret ptr %result
}

define ptr @mettle.check.variable(ptr %address, i32 %site, i64 %unset,
    ptr %base, ptr %shadow) alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 24
  %function = load ptr, ptr %at, !invariant.load !0
  %result = call ptr %function(ptr %check, ptr %address, i32 %site, i64 %unset,
                               ptr %base, ptr %shadow)
  ret ptr %result
}

define i64 @mettle.check.range(ptr %address, i32 %site, i64 %bytes,
    ptr %base, ptr %shadow) alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 32
  %function = load ptr, ptr %at, !invariant.load !0
  %result = call i64 %function(ptr %check, ptr %address, i32 %site, i64 %bytes,
                               ptr %base, ptr %shadow)
  ret i64 %result
}

define i64 @mettle.check.unset() alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %unset = load i64, ptr %check
  ret i64 %unset
}

; Before a write of a value that may be unset, and behind a read of one.
define void @mettle.check.from(i32 %origin) alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 160
  store i32 %origin, ptr %at
  ret void
}

define i32 @mettle.check.origin() alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 160
  %origin = load i32, ptr %at
  ret i32 %origin
}

; Behind a write to address in the place of another.
define void @mettle.check.settle(ptr %address, ptr %asked)
    alwaysinline nounwind {
  %is.same = icmp eq ptr %address, %asked
  br i1 %is.same, label %done, label %settle, !prof !2
settle:
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 88
  %function = load ptr, ptr %at, !invariant.load !0
  call void %function(ptr %check)
  br label %done
done:
  ret void
}

define void @mettle.check.use(i32 %site, i1 %is.bad, i32 %origin)
    alwaysinline nounwind {
  br i1 %is.bad, label %report, label %done, !prof !1
report:
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 40
  %function = load ptr, ptr %at, !invariant.load !0
  call void %function(ptr %check, i32 %site, i32 %origin)
  br label %done
done:
  ret void
}

define void @mettle.check.member(ptr %address, i32 %site, ptr %base,
    i64 %bytes, i64 %size) alwaysinline nounwind {
  %address.number = ptrtoint ptr %address to i64
  %base.number = ptrtoint ptr %base to i64
  %offset = sub i64 %address.number, %base.number
  %last = sub i64 %bytes, %size
  %is.bad = icmp ugt i64 %offset, %last
  br i1 %is.bad, label %report, label %done, !prof !1
report:
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 48
  %function = load ptr, ptr %at, !invariant.load !0
  call void %function(ptr %check, i32 %site, ptr %address, ptr %base)
  br label %done
done:
  ret void
}

define void @mettle.check.arrive(i32 %site, i32 %flags, i32 %origin)
    alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 56
  %function = load ptr, ptr %at, !invariant.load !0
  call void %function(ptr %check, i32 %site, i32 %flags, i32 %origin)
  ret void
}

define i32 @mettle.check.pass(i32 %site) alwaysinline nounwind {
  %check = call ptr @mettle.check.context()
  %at = getelementptr i8, ptr %check, i64 64
  %function = load ptr, ptr %at, !invariant.load !0
  %origin = call i32 %function(ptr %check, i32 %site)
  ret i32 %origin
}

!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1000000}
!2 = !{!"branch_weights", i32 1000000, i32 1}
