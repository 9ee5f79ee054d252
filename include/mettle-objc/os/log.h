// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log.h: os_log. There is no log to read it from: messages go to stderr with
// METTLE_OBJC_DEBUG=log, and nowhere without. Words in braces behind a % are
// left out, and privacy is nobody's.
#ifndef METTLE_OBJC_OS_LOG_H
#define METTLE_OBJC_OS_LOG_H

#include <objc/objc.h>

typedef struct os_log_s *os_log_t;
typedef enum : uint8_t {
  OS_LOG_TYPE_DEFAULT = 0x00,
  OS_LOG_TYPE_INFO = 0x01,
  OS_LOG_TYPE_DEBUG = 0x02,
  OS_LOG_TYPE_ERROR = 0x10,
  OS_LOG_TYPE_FAULT = 0x11
} os_log_type_t;
#define OS_LOG_DEFAULT ((os_log_t)0)
#define OS_LOG_DISABLED ((os_log_t)1)

// The names are kept for good: programs make a few.
OBJC_EXTERN os_log_t os_log_create(const char *subsystem,
                                   const char *category);
OBJC_EXTERN bool os_log_type_enabled(os_log_t log, os_log_type_t type);
OBJC_EXTERN void mettle_os_log(os_log_t log, os_log_type_t type,
                               const char *format, ...);

#define os_log_with_type(log, type, format, ...) \
  mettle_os_log((log), (type), (format), ##__VA_ARGS__)
#define os_log(log, format, ...) \
  os_log_with_type(log, OS_LOG_TYPE_DEFAULT, format, ##__VA_ARGS__)
#define os_log_info(log, format, ...) \
  os_log_with_type(log, OS_LOG_TYPE_INFO, format, ##__VA_ARGS__)
#define os_log_debug(log, format, ...) \
  os_log_with_type(log, OS_LOG_TYPE_DEBUG, format, ##__VA_ARGS__)
#define os_log_error(log, format, ...) \
  os_log_with_type(log, OS_LOG_TYPE_ERROR, format, ##__VA_ARGS__)
#define os_log_fault(log, format, ...) \
  os_log_with_type(log, OS_LOG_TYPE_FAULT, format, ##__VA_ARGS__)

#endif
