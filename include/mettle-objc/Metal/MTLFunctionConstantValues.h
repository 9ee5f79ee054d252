// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLFunctionConstantValues.h: values of function constants.
#ifndef METTLE_OBJC_MTLFUNCTIONCONSTANTVALUES_H
#define METTLE_OBJC_MTLFUNCTIONCONSTANTVALUES_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLArgument.h>

#ifdef __OBJC__

@interface MTLFunctionConstantValues : NSObject
- (void)setConstantValue:(const void *)value
                    type:(MTLDataType)type
                 atIndex:(NSUInteger)index;
- (void)setConstantValue:(const void *)value
                    type:(MTLDataType)type
                withName:(NSString *)name;
- (void)setConstantValues:(const void *)values
                     type:(MTLDataType)type
                withRange:(NSRange)range;
- (void)reset;
@end

#endif

#endif
