// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSObject.h: the root class.
#ifndef METTLE_OBJC_NSOBJECT_H
#define METTLE_OBJC_NSOBJECT_H

#include <Foundation/NSObject.h>

#endif
