// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// user_defaults.c: NSUserDefaults: a program's settings. They are looked up in
// its arguments (-name value), in its file, and in what it registered.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSData;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSMutableDictionary;
extern struct objc_class OBJC_CLASS_$_NSNotificationCenter;
extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSProcessInfo;
extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSUserDefaults;

CONSTANT_STRING(NSUserDefaultsDidChangeNotification,
                "NSUserDefaultsDidChangeNotification");
CONSTANT_STRING(NSArgumentDomain, "NSArgumentDomain");
CONSTANT_STRING(NSGlobalDomain, "NSGlobalDomain");
CONSTANT_STRING(NSRegistrationDomain, "NSRegistrationDomain");

typedef struct defaults {
  struct objc_object object;
  id path;       // +1
  id arguments;  // +1 each
  id saved;
  id registered;
} defaults;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// --- Where they are ----------------------------------------------------------

// $XDG_CONFIG_HOME/mettle/defaults/NAME.plist
static id path_for(const char *name) {
  const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  return folder && *folder
             ? string_make_printf("%s/mettle/defaults/%s.plist", folder, name)
             : string_make_printf("%s/.config/mettle/defaults/%s.plist",
                                  home ? home : "/tmp", name);
}

static id read_arguments(void) {
  const id made = dictionary_create();
  const id info = SEND(id(*)(id, SEL), CLASS_OF(NSProcessInfo), "processInfo");
  const id list = SEND(id(*)(id, SEL), info, "arguments");
  for (size_t i = 1; i + 1 < array_count(list); ++i) {
    const char *name = string_utf8(array_at(list, i));
    if (name[0] == '-' && name[1] && name[1] != '-') {
      dictionary_set(made, string_make(name + 1), array_at(list, ++i));
    }
  }
  return made;
}

static void open_file(defaults *of, const char *name) {
  of->path = objc_retain(path_for(name));
  const id saved = SEND(id(*)(id, SEL, id), CLASS_OF(NSMutableDictionary),
                        "dictionaryWithContentsOfFile:", of->path);
  of->saved = saved ? objc_retain(saved) : dictionary_create();
  of->registered = dictionary_create();
  of->arguments = read_arguments();
}

static id defaults_init(id self, SEL _cmd) {
  (void)_cmd;
  const id info = SEND(id(*)(id, SEL), CLASS_OF(NSProcessInfo), "processInfo");
  open_file((defaults *)self,
            string_utf8(SEND(id(*)(id, SEL), info, "processName")));
  return self;
}

static id defaults_init_suite(id self, SEL _cmd, id name) {
  if (!name) {
    return defaults_init(self, _cmd);
  }
  open_file((defaults *)self, string_utf8(name));
  return self;
}

static id defaults_standard(Class self, SEL _cmd) {
  static id shared;
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&making);
  if (!shared) {
    shared = defaults_init(instance_create(self, 0), _cmd);
  }
  pthread_mutex_unlock(&making);
  return shared;
}

static void defaults_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const defaults *of = (defaults *)self;
  objc_release(of->path);
  objc_release(of->arguments);
  objc_release(of->saved);
  objc_release(of->registered);
  instance_dispose(self);
}

// --- Objects -----------------------------------------------------------------

static id defaults_object(id self, SEL _cmd, id key) {
  (void)_cmd;
  const defaults *of = (defaults *)self;
  pthread_mutex_lock(&lock);
  id found = dictionary_get(of->arguments, key);
  found = found ? found : dictionary_get(of->saved, key);
  found = found ? found : dictionary_get(of->registered, key);
  objc_retain(found);
  pthread_mutex_unlock(&lock);
  return objc_autorelease(found);
}

static int save(const defaults *of) {
  const id folder =
      SEND(id(*)(id, SEL), of->path, "stringByDeletingLastPathComponent");
  file_make_folders(string_utf8(folder), 0700);
  return SEND(int (*)(id, SEL, id, int), of->saved,
              "writeToFile:atomically:", of->path, 1);
}

static void changed(id self) {
  const id center =
      SEND(id(*)(id, SEL), CLASS_OF(NSNotificationCenter), "defaultCenter");
  SEND(void (*)(id, SEL, id, id), center,
       "postNotificationName:object:", NSUserDefaultsDidChangeNotification,
       self);
}

static void defaults_set(id self, SEL _cmd, id value, id key) {
  (void)_cmd;
  const defaults *of = (defaults *)self;
  pthread_mutex_lock(&lock);
  if (value) {
    dictionary_set(of->saved, key, value);
  } else {
    SEND(void (*)(id, SEL, id), of->saved, "removeObjectForKey:", key);
  }
  save(of);
  pthread_mutex_unlock(&lock);
  changed(self);
}

static void defaults_remove(id self, SEL _cmd, id key) {
  defaults_set(self, _cmd, NULL, key);
}

static void defaults_register(id self, SEL _cmd, id values) {
  (void)_cmd;
  pthread_mutex_lock(&lock);
  SEND(void (*)(id, SEL, id), ((defaults *)self)->registered,
       "addEntriesFromDictionary:", values);
  pthread_mutex_unlock(&lock);
}

static int defaults_synchronize(id self, SEL _cmd) {
  (void)_cmd;
  pthread_mutex_lock(&lock);
  const int done = save((defaults *)self);
  pthread_mutex_unlock(&lock);
  return done;
}

static id defaults_all(id self, SEL _cmd) {
  (void)_cmd;
  const defaults *of = (defaults *)self;
  const id made = objc_autorelease(dictionary_create());
  const id domains[] = {of->registered, of->saved, of->arguments};
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < sizeof domains / sizeof *domains; ++i) {
    SEND(void (*)(id, SEL, id), made, "addEntriesFromDictionary:", domains[i]);
  }
  pthread_mutex_unlock(&lock);
  return made;
}

static void defaults_remove_domain(id self, SEL _cmd, id name) {
  (void)_cmd;
  const defaults *of = (defaults *)self;
  const bool is_own = string_equals(path_for(string_utf8(name)), of->path);
  pthread_mutex_lock(&lock);
  if (is_own) {
    SEND(void (*)(id, SEL), of->saved, "removeAllObjects");
  }
  remove(string_utf8(path_for(string_utf8(name))));
  pthread_mutex_unlock(&lock);
  changed(self);
}

// --- By type -----------------------------------------------------------------

static id typed(id self, id key, Class class) {
  const id found = defaults_object(self, NULL, key);
  return object_is(found, class) ? found : NULL;
}

static id defaults_string(id self, SEL _cmd, id key) {
  (void)_cmd;
  const id number = typed(self, key, &OBJC_CLASS_$_NSNumber);
  return number ? SEND(id(*)(id, SEL), number, "stringValue")
                : typed(self, key, &OBJC_CLASS_$_NSString);
}

#define TYPED(name, class)                               \
  static id defaults_##name(id self, SEL _cmd, id key) { \
    (void)_cmd;                                          \
    return typed(self, key, &OBJC_CLASS_$_##class);      \
  }
TYPED(array, NSArray)
TYPED(dictionary, NSDictionary)
TYPED(data, NSData)

// Numbers, and strings that are such.
static id numeric(id self, id key) {
  const id number = typed(self, key, &OBJC_CLASS_$_NSNumber);
  return number ? number : typed(self, key, &OBJC_CLASS_$_NSString);
}

#define NUMERIC(name, type, message)                            \
  static type defaults_##name(id self, SEL _cmd, id key) {      \
    (void)_cmd;                                                 \
    return SEND(type(*)(id, SEL), numeric(self, key), message); \
  }
NUMERIC(integer, NSInteger, "integerValue")
NUMERIC(float, float, "floatValue")
NUMERIC(double, double, "doubleValue")
NUMERIC(bool, int, "boolValue")

#define SETS(name, type, make)                                             \
  static void defaults_set_##name(id self, SEL _cmd, type value, id key) { \
    defaults_set(self, _cmd, make(value), key);                            \
  }
SETS(integer, NSInteger, number_make_integer)
SETS(float, float, number_make_double)
SETS(double, double, number_make_double)
SETS(bool, signed char, number_make_bool)

METHODS(defaults_methods, METHOD("dealloc", "v16@0:8", defaults_dealloc),
        METHOD("init", "@16@0:8", defaults_init),
        METHOD("initWithSuiteName:", "@24@0:8@16", defaults_init_suite),
        METHOD("objectForKey:", "@24@0:8@16", defaults_object),
        METHOD("setObject:forKey:", "v32@0:8@16@24", defaults_set),
        METHOD("removeObjectForKey:", "v24@0:8@16", defaults_remove),
        METHOD("registerDefaults:", "v24@0:8@16", defaults_register),
        METHOD("synchronize", "B16@0:8", defaults_synchronize),
        METHOD("dictionaryRepresentation", "@16@0:8", defaults_all),
        METHOD("removePersistentDomainForName:", "v24@0:8@16",
               defaults_remove_domain),
        METHOD("stringForKey:", "@24@0:8@16", defaults_string),
        METHOD("arrayForKey:", "@24@0:8@16", defaults_array),
        METHOD("stringArrayForKey:", "@24@0:8@16", defaults_array),
        METHOD("dictionaryForKey:", "@24@0:8@16", defaults_dictionary),
        METHOD("dataForKey:", "@24@0:8@16", defaults_data),
        METHOD("integerForKey:", "q24@0:8@16", defaults_integer),
        METHOD("floatForKey:", "f24@0:8@16", defaults_float),
        METHOD("doubleForKey:", "d24@0:8@16", defaults_double),
        METHOD("boolForKey:", "B24@0:8@16", defaults_bool),
        METHOD("setInteger:forKey:", "v32@0:8q16@24", defaults_set_integer),
        METHOD("setFloat:forKey:", "v28@0:8f16@20", defaults_set_float),
        METHOD("setDouble:forKey:", "v32@0:8d16@24", defaults_set_double),
        METHOD("setBool:forKey:", "v28@0:8B16@20", defaults_set_bool));
METHODS(defaults_class_methods,
        METHOD("standardUserDefaults", "@16@0:8", defaults_standard));
DEFINE_CLASS(NSUserDefaults, NSObject, sizeof(defaults), defaults_methods,
             &defaults_class_methods);
