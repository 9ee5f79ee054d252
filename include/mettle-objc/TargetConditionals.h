// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TargetConditionals.h: this is macOS to programs that ask, on the machine's
// own processor.
#ifndef METTLE_OBJC_TARGET_CONDITIONALS_H
#define METTLE_OBJC_TARGET_CONDITIONALS_H

#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#define TARGET_OS_VISION 0
#define TARGET_OS_SIMULATOR 0
#define TARGET_OS_EMBEDDED 0
#define TARGET_OS_MACCATALYST 0
#define TARGET_OS_UNIX 0
#define TARGET_OS_WIN32 0
#define TARGET_OS_LINUX 0
#define TARGET_RT_64_BIT 1
#if defined(__x86_64__)
#define TARGET_CPU_X86_64 1
#define TARGET_CPU_ARM64 0
#else
#define TARGET_CPU_X86_64 0
#define TARGET_CPU_ARM64 1
#endif

#endif
