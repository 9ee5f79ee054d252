// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TargetConditionals.h: a kernel is compiled as for a Mac.
#ifndef METTLE_TARGET_CONDITIONALS_H
#define METTLE_TARGET_CONDITIONALS_H

#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_OS_IOS 0
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#define TARGET_OS_VISION 0
#define TARGET_OS_MACCATALYST 0
#define TARGET_OS_SIMULATOR 0
#define TARGET_OS_EMBEDDED 0
#define TARGET_OS_WINDOWS 0
#define TARGET_OS_LINUX 0

#endif
