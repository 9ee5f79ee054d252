// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// error.c: NSError and NSException.
#include <execinfo.h>
#include <stdlib.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

CONSTANT_STRING(NSLocalizedDescriptionKey, "NSLocalizedDescription");
CONSTANT_STRING(NSLocalizedFailureReasonErrorKey,
                "NSLocalizedFailureReason");
CONSTANT_STRING(NSLocalizedRecoverySuggestionErrorKey,
                "NSLocalizedRecoverySuggestion");
CONSTANT_STRING(NSDebugDescriptionErrorKey, "NSDebugDescription");
CONSTANT_STRING(NSFilePathErrorKey, "NSFilePath");
CONSTANT_STRING(NSURLErrorKey, "NSURL");
CONSTANT_STRING(NSUnderlyingErrorKey, "NSUnderlyingError");
CONSTANT_STRING(NSOSStatusErrorDomain, "NSOSStatusErrorDomain");
CONSTANT_STRING(NSMachErrorDomain, "NSMachErrorDomain");
CONSTANT_STRING(NSUndefinedKeyException, "NSUnknownKeyException");
CONSTANT_STRING(NSObjectNotAvailableException, "NSObjectNotAvailableException");
CONSTANT_STRING(NSParseErrorException, "NSParseErrorException");
CONSTANT_STRING(NSCocoaErrorDomain, "NSCocoaErrorDomain");
CONSTANT_STRING(NSPOSIXErrorDomain, "NSPOSIXErrorDomain");
CONSTANT_STRING(NSInvalidArgumentException, "NSInvalidArgumentException");
CONSTANT_STRING(NSInternalInconsistencyException,
                "NSInternalInconsistencyException");
CONSTANT_STRING(NSRangeException, "NSRangeException");
CONSTANT_STRING(NSGenericException, "NSGenericException");
CONSTANT_STRING(NSMallocException, "NSMallocException");

// --- NSError -----------------------------------------------------------------

typedef struct error {
  struct objc_object object;
  id domain;
  NSInteger code;
  id info;  // NSDictionary or nil
} error;

extern struct objc_class OBJC_CLASS_$_NSError;

static id error_init(id self, SEL _cmd, id domain, NSInteger code, id info) {
  (void)_cmd;
  error *made = (error *)self;
  made->domain = SEND(id(*)(id, SEL), domain, "copy");
  made->code = code;
  made->info = SEND(id(*)(id, SEL), info, "copy");
  return self;
}

static id error_with(Class self, SEL _cmd, id domain, NSInteger code,
                     id info) {
  const id made = SEND(id(*)(id, SEL), self, "alloc");
  return objc_autorelease(error_init(made, _cmd, domain, code, info));
}

id error_make(id domain, NSInteger code, const char *text) {
  return error_make_with(domain, code, text, NULL, NULL);
}

id error_make_with(id domain, NSInteger code, const char *text,
                   const char *key, id value) {
  const id info = dictionary_create();
  error_tell(domain, text);
  dictionary_set(info, NSLocalizedDescriptionKey, string_make(text));
  if (key) {
    dictionary_set(info, string_make(key), value);
  }
  const id made =
      error_with(&OBJC_CLASS_$_NSError, NULL, domain, code, info);
  objc_release(info);
  return made;
}

void error_tell(id domain, const char *text) {
  if (runtime_debugs("errors")) {
    runtime_warn("%s: %s", string_utf8(domain), text);
  }
}

void error_set(id *out_error, id domain, NSInteger code, const char *text) {
  if (out_error) {
    *out_error = error_make(domain, code, text);
  } else {
    error_tell(domain, text);
  }
}

static void error_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((error *)self)->domain);
  objc_release(((error *)self)->info);
  instance_dispose(self);
}

static id error_domain(id self, SEL _cmd) {
  (void)_cmd;
  return ((error *)self)->domain;
}

static NSInteger error_code(id self, SEL _cmd) {
  (void)_cmd;
  return ((error *)self)->code;
}

static id error_info(id self, SEL _cmd) {
  (void)_cmd;
  const id info = ((error *)self)->info;
  return info ? info : objc_autorelease(dictionary_create());
}

static id error_localized(id self, SEL _cmd) {
  (void)_cmd;
  const error *of = (error *)self;
  const id text = of->info ? dictionary_get(of->info, NSLocalizedDescriptionKey)
                           : NULL;
  return text ? text
              : string_make_printf("The operation failed (%s error %ld).",
                                   string_utf8(of->domain), of->code);
}

// Returns userInfo's object under key, or nil.
static id error_entry(id self, id key) {
  const error *of = (error *)self;
  return of->info ? dictionary_get(of->info, key) : NULL;
}

static id error_reason(id self, SEL _cmd) {
  (void)_cmd;
  return error_entry(self, NSLocalizedFailureReasonErrorKey);
}

static id error_suggestion(id self, SEL _cmd) {
  (void)_cmd;
  return error_entry(self, NSLocalizedRecoverySuggestionErrorKey);
}

static id error_underlying(id self, SEL _cmd) {
  (void)_cmd;
  const id one = error_entry(self, NSUnderlyingErrorKey);
  return array_make(&one, one != NULL);
}

static int error_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  const error *one = (error *)self, *two = (error *)other;
  if (!other || !SEND(int (*)(id, SEL, Class), other, "isKindOfClass:",
                      &OBJC_CLASS_$_NSError)) {
    return 0;
  }
  return one->code == two->code && string_equals(one->domain, two->domain) &&
         (one->info == two->info ||
          SEND(int (*)(id, SEL, id), one->info, "isEqual:", two->info));
}

static NSUInteger error_hash(id self, SEL _cmd) {
  (void)_cmd;
  return (NSUInteger)((error *)self)->code;
}

static id error_description(id self, SEL _cmd) {
  const error *of = (error *)self;
  return string_make_printf("Error Domain=%s Code=%ld \"%s\"",
                            string_utf8(of->domain), of->code,
                            string_utf8(error_localized(self, _cmd)));
}

static id error_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(error_methods,
        METHOD("initWithDomain:code:userInfo:", "@40@0:8@16q24@32",
               error_init),
        METHOD("dealloc", "v16@0:8", error_dealloc),
        METHOD("domain", "@16@0:8", error_domain),
        METHOD("code", "q16@0:8", error_code),
        METHOD("userInfo", "@16@0:8", error_info),
        METHOD("localizedDescription", "@16@0:8", error_localized),
        METHOD("localizedFailureReason", "@16@0:8", error_reason),
        METHOD("localizedRecoverySuggestion", "@16@0:8", error_suggestion),
        METHOD("underlyingErrors", "@16@0:8", error_underlying),
        METHOD("isEqual:", "B24@0:8@16", error_is_equal),
        METHOD("hash", "Q16@0:8", error_hash),
        METHOD("description", "@16@0:8", error_description),
        METHOD("copyWithZone:", "@24@0:8^v16", error_copy));
METHODS(error_class_methods,
        METHOD("errorWithDomain:code:userInfo:", "@40@0:8@16q24@32",
               error_with));
DEFINE_CLASS(NSError, NSObject, sizeof(error), error_methods,
             &error_class_methods);

// --- NSException -------------------------------------------------------------

typedef struct exception {
  struct objc_object object;
  id name;
  id reason;
  id info;
  id symbols;  // the call stack, from raise on
} exception;

static id exception_init(id self, SEL _cmd, id name, id reason, id info) {
  (void)_cmd;
  exception *made = (exception *)self;
  made->name = SEND(id(*)(id, SEL), name, "copy");
  made->reason = SEND(id(*)(id, SEL), reason, "copy");
  made->info = SEND(id(*)(id, SEL), info, "copy");
  return self;
}

static void exception_note_stack(id self) {
  exception *of = (exception *)self;
  void *frames[64];
  const int count = backtrace(frames, 64);
  char **symbols = backtrace_symbols(frames, count);
  objc_release(of->symbols);
  of->symbols = mutable_array_create();
  for (int i = 0; symbols && i < count; ++i) {
    array_add(of->symbols, string_make(symbols[i]));
  }
  free(symbols);
}

static id exception_with(Class self, SEL _cmd, id name, id reason, id info) {
  const id made = SEND(id(*)(id, SEL), self, "alloc");
  return objc_autorelease(exception_init(made, _cmd, name, reason, info));
}

// Makes the NSException that exception_raise throws.
static id exception_with_text(Class self, SEL _cmd, const char *name,
                              const char *reason) {
  const id made = exception_with(self, _cmd, string_make(name),
                                 string_make(reason), NULL);
  exception_note_stack(made);
  return made;
}

static void exception_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const exception *of = (exception *)self;
  objc_release(of->name);
  objc_release(of->reason);
  objc_release(of->info);
  objc_release(of->symbols);
  instance_dispose(self);
}

static void exception_throw(id self, SEL _cmd) {
  (void)_cmd;
  exception_note_stack(self);
  objc_exception_throw(self);
}

static void exception_raise_arguments(Class self, SEL _cmd, id name, id format,
                                      va_list arguments) {
  const id reason =
      objc_autorelease(string_create_format(string_utf8(format), arguments));
  exception_throw(exception_with(self, _cmd, name, reason, NULL), _cmd);
}

static void exception_raise_format(Class self, SEL _cmd, id name, id format,
                                   ...) {
  va_list arguments;
  va_start(arguments, format);
  exception_raise_arguments(self, _cmd, name, format, arguments);
  va_end(arguments);
}

static id exception_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((exception *)self)->name;
}

static id exception_reason(id self, SEL _cmd) {
  (void)_cmd;
  return ((exception *)self)->reason;
}

static id exception_info(id self, SEL _cmd) {
  (void)_cmd;
  return ((exception *)self)->info;
}

static id exception_symbols(id self, SEL _cmd) {
  (void)_cmd;
  return ((exception *)self)->symbols;
}

METHODS(exception_methods,
        METHOD("initWithName:reason:userInfo:", "@40@0:8@16@24@32",
               exception_init),
        METHOD("dealloc", "v16@0:8", exception_dealloc),
        METHOD("raise", "v16@0:8", exception_throw),
        METHOD("name", "@16@0:8", exception_name),
        METHOD("reason", "@16@0:8", exception_reason),
        METHOD("userInfo", "@16@0:8", exception_info),
        METHOD("callStackSymbols", "@16@0:8", exception_symbols),
        METHOD("description", "@16@0:8", exception_reason));
METHODS(exception_class_methods,
        METHOD("exceptionWithName:reason:userInfo:", "@40@0:8@16@24@32",
               exception_with),
        METHOD("mettleExceptionWithName:reason:", "@32@0:8*16*24",
               exception_with_text),
        METHOD("raise:format:", "v32@0:8@16@24", exception_raise_format),
        METHOD("raise:format:arguments:", "v40@0:8@16@24^v32",
               exception_raise_arguments));
DEFINE_CLASS(NSException, NSObject, sizeof(exception), exception_methods,
             &exception_class_methods);
