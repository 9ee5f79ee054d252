// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_observing.c: key-value observing. An observed object gets a hidden
// subclass of its class, whose setters are forwarded as invocations, around
// which the observers are told.
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/messages/invocation.h"
#include "objc/foundation/messages/key_names.h"
#include "objc/runtime/invocation/call_frame.h"

extern struct objc_class OBJC_CLASS_$_MettleKeyObservation;
extern struct objc_class OBJC_CLASS_$_NSNull;
extern struct objc_class OBJC_CLASS_$_NSSet;

extern method *class_getInstanceMethod(Class class, SEL selector);
extern int class_addMethod(Class class, SEL selector, IMP imp,
                           const char *types);
extern Class objc_allocateClassPair(Class superclass, const char *name,
                                    size_t extra_bytes);
extern void objc_registerClassPair(Class class);
extern Class object_setClass(id object, Class class);
extern id objc_getAssociatedObject(id object, const void *key);
extern void objc_setAssociatedObject(id object, const void *key, id value,
                                     uintptr_t policy);
extern id objc_initWeak(id *location, id object);
extern id objc_loadWeakRetained(id *location);
extern void objc_destroyWeak(id *location);
extern SEL sel_registerName(const char *name);

CONSTANT_STRING(NSKeyValueChangeKindKey, "kind");
CONSTANT_STRING(NSKeyValueChangeNewKey, "new");
CONSTANT_STRING(NSKeyValueChangeOldKey, "old");
CONSTANT_STRING(NSKeyValueChangeNotificationIsPriorKey, "notificationIsPrior");
CONSTANT_STRING(NSKeyValueChangeIndexesKey, "indexes");

// NSKeyValueObservingOptions
enum {
  OPTION_NEW = 1,
  OPTION_OLD = 2,
  OPTION_INITIAL = 4,
  OPTION_PRIOR = 8,
};
enum { CHANGE_SETTING = 1, ASSOCIATION_RETAIN = 1 };

// An observer of one key of an object, the owner, which has it in its list. Of
// a path "a.b" a second one observes key b of what a is.
typedef struct observation {
  struct objc_object object;
  id owner;      // weak
  id root;       // to which the observer was added; not retained
  id observer;   // not retained
  id path;       // +1, from the root
  id key;        // +1
  id rest;       // +1, of the path from the owner; the key, too
  id tail;       // +1: rest behind the key; nil at the path's end
  id affecting;  // +1: a set of keys, on which the key depends, or nil
  struct observation *next;  // +1: of the tail, or nil
  id old;                    // +1, while the value changes
  void *context;
  NSUInteger options;
  int changes;  // that have begun and not ended
} observation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char list_key;  // of the association with the observations

static void observation_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  observation *of = (observation *)self;
  objc_destroyWeak(&of->owner);
  objc_release(of->path);
  objc_release(of->key);
  objc_release(of->rest);
  objc_release(of->tail);
  objc_release(of->affecting);
  objc_release((id)of->next);
  objc_release(of->old);
  instance_dispose(self);
}

METHODS(observation_methods, METHOD("dealloc", "v16@0:8", observation_dealloc));
DEFINE_CLASS(MettleKeyObservation, NSObject, sizeof(observation),
             observation_methods, NO_METHODS);

// Returns a copy of an object's observations, autoreleased; NULL for none.
static id observations_of(id object) {
  pthread_mutex_lock(&lock);
  const id list = objc_getAssociatedObject(object, &list_key);
  const id copy = list ? SEND(id(*)(id, SEL), list, "copy") : NULL;
  pthread_mutex_unlock(&lock);
  return objc_autorelease(copy);
}

// --- The hidden subclass -----------------------------------------------------

static Class hidden_class(id self, SEL _cmd) {
  (void)_cmd;
  return self->isa->superclass;
}

static bool is_hidden(Class class) {
  return class_getMethodImplementation(class, SELECTOR("class")) ==
         (IMP)hidden_class;
}

// Returns the key that a setter's selector sets, autoreleased; NULL for others.
static id key_of_setter(SEL selector) {
  const size_t length = strlen(selector);
  if (length < 5 || strncmp(selector, "set", 3) != 0 ||
      strchr(selector, ':') != selector + length - 1) {
    return NULL;
  }
  char text[KEY_NAME_BYTES];
  snprintf(text, sizeof text, "%c%.*s", tolower((unsigned char)selector[3]),
           (int)(length - 5), selector + 4);
  return string_make(text);
}

// A setter, or what the class itself forwards.
static void hidden_forward(id self, SEL _cmd, id call) {
  const SEL selector = invocation_get_selector(call);
  const Class above = hidden_class(self, _cmd);
  const method *setter = class_getInstanceMethod(above, selector);
  if (!setter) {
    ((void (*)(id, SEL, id))class_getMethodImplementation(above, _cmd))(
        self, _cmd, call);
    return;
  }
  const id key = key_of_setter(selector);
  SEND(void (*)(id, SEL, id), self, "willChangeValueForKey:", key);
  invocation_call(call, setter->imp);
  SEND(void (*)(id, SEL, id), self, "didChangeValueForKey:", key);
}

// Gives the object its hidden class, which is made where there is none yet.
static Class hide(id object) {
  if (is_hidden(object->isa)) {
    return object->isa;
  }
  char name[KEY_NAME_BYTES];
  snprintf(name, sizeof name, "NSKVONotifying_%s", class_name(object->isa));
  pthread_mutex_lock(&lock);
  Class made = objc_getClass(name);
  if (!made) {
    made = objc_allocateClassPair(object->isa, name, 0);
    class_addMethod(made, sel_registerName("class"), (IMP)hidden_class,
                    "#16@0:8");
    class_addMethod(made, sel_registerName("forwardInvocation:"),
                    (IMP)hidden_forward, "v24@0:8@16");
    objc_registerClassPair(made);
  }
  object_setClass(object, made);
  pthread_mutex_unlock(&lock);
  return made;
}

// Forwards the key's setter, if the class has one and wants that.
static void hide_setter(id object, id key) {
  const Class above = SEND(Class(*)(id, SEL), object, "class");
  if (!SEND(int (*)(id, SEL, id), above,
            "automaticallyNotifiesObserversForKey:", key)) {
    return;
  }
  char name[KEY_NAME_BYTES];
  key_name(name, "set", string_utf8(key), true, ":");
  const SEL selector = sel_registerName(name);
  const method *setter = class_getInstanceMethod(object->isa, selector);
  if (setter && setter->imp != (IMP)message_forward) {
    class_addMethod(hide(object), selector, (IMP)message_forward,
                    setter->types);
  }
}

// --- Telling -----------------------------------------------------------------

static id or_null(id value) {
  return value ? value : SEND(id(*)(id, SEL), CLASS_OF(NSNull), "null");
}

static void tell(const observation *of, id old, id new_value, bool is_prior) {
  const id change = objc_autorelease(dictionary_create());
  dictionary_set(change, NSKeyValueChangeKindKey,
                 number_make_integer(CHANGE_SETTING));
  if (old) {
    dictionary_set(change, NSKeyValueChangeOldKey, old);
  }
  if (new_value) {
    dictionary_set(change, NSKeyValueChangeNewKey, new_value);
  }
  if (is_prior) {
    dictionary_set(change, NSKeyValueChangeNotificationIsPriorKey,
                   number_make_bool(true));
  }
  SEND(void (*)(id, SEL, id, id, id, void *), of->observer,
       "observeValueForKeyPath:ofObject:change:context:", of->path, of->root,
       change, of->context);
}

static id value_of(const observation *of, id owner) {
  return or_null(SEND(id(*)(id, SEL, id), owner, "valueForKeyPath:", of->rest));
}

static bool depends_on(const observation *of, id key) {
  return string_equals(of->key, key) ||
         (of->affecting &&
          SEND(int (*)(id, SEL, id), of->affecting, "containsObject:", key));
}

static void will_change(id self, SEL _cmd, id key) {
  (void)_cmd;
  const id all = observations_of(self);
  for (size_t i = 0; all && i < array_count(all); ++i) {
    observation *of = (observation *)array_at(all, i);
    if (!depends_on(of, key) || of->changes++) {
      continue;
    }
    const bool wants_old = of->options & OPTION_OLD;
    objc_storeStrong(&of->old, wants_old ? value_of(of, self) : NULL);
    if (of->options & OPTION_PRIOR) {
      tell(of, of->old, NULL, true);
    }
  }
}

static void follow(observation *of, id owner);
static void detach(observation *of);

static void did_change(id self, SEL _cmd, id key) {
  (void)_cmd;
  const id all = observations_of(self);
  for (size_t i = 0; all && i < array_count(all); ++i) {
    observation *of = (observation *)array_at(all, i);
    if (!depends_on(of, key) || !of->changes || --of->changes) {
      continue;
    }
    if (of->tail) {
      follow(of, self);
    }
    const id old = objc_autorelease(of->old);
    of->old = NULL;
    tell(of, old, of->options & OPTION_NEW ? value_of(of, self) : NULL, false);
  }
}

// --- Adding and removing -----------------------------------------------------

static void add_to_list(id owner, observation *of) {
  pthread_mutex_lock(&lock);
  id list = objc_getAssociatedObject(owner, &list_key);
  if (!list) {
    list = mutable_array_create();
    objc_setAssociatedObject(owner, &list_key, list, ASSOCIATION_RETAIN);
    objc_release(list);
  }
  array_add(list, &of->object);
  pthread_mutex_unlock(&lock);
}

// Makes an observation of the first key of rest, and of the path behind it. The
// owner has it.
static observation *attach(id owner, const observation *like, id rest) {
  const char *text = string_utf8(rest), *dot = strchr(text, '.');
  observation *made = (observation *)CREATE(MettleKeyObservation);
  objc_initWeak(&made->owner, owner);
  made->root = like->root;
  made->observer = like->observer;
  made->context = like->context;
  made->options = like->options;
  made->path = objc_retain(like->path);
  made->rest = objc_retain(rest);
  made->key =
      dot ? string_create_bytes(text, (size_t)(dot - text)) : objc_retain(rest);
  made->tail = dot ? string_create(dot + 1) : NULL;
  made->affecting = objc_retain(
      SEND(id(*)(id, SEL, id), SEND(Class(*)(id, SEL), owner, "class"),
           "keyPathsForValuesAffectingValueForKey:", made->key));
  hide_setter(owner, made->key);
  const id keys =
      made->affecting ? array_make_of(made->affecting) : array_make(NULL, 0);
  for (size_t i = 0; i < array_count(keys); ++i) {
    hide_setter(owner, array_at(keys, i));
  }
  add_to_list(owner, made);
  if (made->tail) {
    follow(made, owner);
  }
  objc_release(&made->object);
  return made;
}

// Observes the tail of the path on what the key is now.
static void follow(observation *of, id owner) {
  if (of->next) {
    detach(of->next);
    objc_release(&of->next->object);
    of->next = NULL;
  }
  const id value = SEND(id(*)(id, SEL, id), owner, "valueForKey:", of->key);
  if (value) {
    of->next = (observation *)objc_retain(&attach(value, of, of->tail)->object);
  }
}

static void detach(observation *of) {
  if (of->next) {
    detach(of->next);
  }
  const id owner = objc_loadWeakRetained(&of->owner);
  if (owner) {
    pthread_mutex_lock(&lock);
    SEND(void (*)(id, SEL, id), objc_getAssociatedObject(owner, &list_key),
         "removeObjectIdenticalTo:", &of->object);
    pthread_mutex_unlock(&lock);
    objc_release(owner);
  }
}

static void add_observer(id self, SEL _cmd, id observer, id path,
                         NSUInteger options, void *context) {
  (void)_cmd;
  const observation like = {
      .root = self,
      .observer = observer,
      .path = objc_autorelease(SEND(id(*)(id, SEL), path, "copy")),
      .context = context,
      .options = options};
  observation *made = attach(self, &like, like.path);
  if (options & OPTION_INITIAL) {
    tell(made, NULL, options & OPTION_NEW ? value_of(made, self) : NULL, false);
  }
}

// Removes the observation that was added last among those of this observer and
// key path; unless any is true, of this context.
static void remove_one(id self, id observer, id path, bool any, void *context) {
  const id all = observations_of(self);
  for (size_t i = all ? array_count(all) : 0; i-- > 0;) {
    observation *of = (observation *)array_at(all, i);
    if (of->root == self && of->observer == observer &&
        string_equals(of->path, path) && (any || of->context == context)) {
      detach(of);
      return;
    }
  }
  exception_raise("NSRangeException",
                  "%p is no observer of the key path \"%s\" of %p, and cannot "
                  "be removed",
                  (void *)observer, string_utf8(path), (void *)self);
}

static void remove_observer(id self, SEL _cmd, id observer, id path) {
  (void)_cmd;
  remove_one(self, observer, path, true, NULL);
}

static void remove_observer_context(id self, SEL _cmd, id observer, id path,
                                    void *context) {
  (void)_cmd;
  remove_one(self, observer, path, false, context);
}

static void observe_value(id self, SEL _cmd, id path, id object, id change,
                          void *context) {
  (void)_cmd;
  (void)object;
  (void)change;
  (void)context;
  exception_raise("NSInternalInconsistencyException",
                  "%p of class %s was told of the key path \"%s\", and has no "
                  "observeValueForKeyPath:ofObject:change:context:",
                  (void *)self, class_name(self->isa), string_utf8(path));
}

// --- What a class says of its keys -------------------------------------------

static int class_is_automatic(Class self, SEL _cmd, id key) {
  (void)_cmd;
  char name[KEY_NAME_BYTES];
  key_name(name, "automaticallyNotifiesObserversOf", string_utf8(key), true,
           "");
  const SEL selector = sel_registerName(name);
  return !class_getInstanceMethod(((id)self)->isa, selector) ||
         ((int (*)(id, SEL))objc_msgSend)((id)self, selector);
}

static id class_affecting(Class self, SEL _cmd, id key) {
  (void)_cmd;
  char name[KEY_NAME_BYTES];
  key_name(name, "keyPathsForValuesAffecting", string_utf8(key), true, "");
  const SEL selector = sel_registerName(name);
  return class_getInstanceMethod(((id)self)->isa, selector)
             ? ((id(*)(id, SEL))objc_msgSend)((id)self, selector)
             : SEND(id(*)(id, SEL), CLASS_OF(NSSet), "set");
}

METHODS(object_methods,
        METHOD("addObserver:forKeyPath:options:context:",
               "v48@0:8@16@24Q32^v40", add_observer),
        METHOD("removeObserver:forKeyPath:", "v32@0:8@16@24", remove_observer),
        METHOD("removeObserver:forKeyPath:context:", "v40@0:8@16@24^v32",
               remove_observer_context),
        METHOD("observeValueForKeyPath:ofObject:change:context:",
               "v48@0:8@16@24@32^v40", observe_value),
        METHOD("willChangeValueForKey:", "v24@0:8@16", will_change),
        METHOD("didChangeValueForKey:", "v24@0:8@16", did_change));
METHODS(class_methods,
        METHOD("automaticallyNotifiesObserversForKey:", "B24@0:8@16",
               class_is_automatic),
        METHOD("keyPathsForValuesAffectingValueForKey:", "@24@0:8@16",
               class_affecting));
static category object_category = {
    .name = "key_observing",
    .class = &OBJC_CLASS_$_NSObject,
    .instance_methods = (method_list *)&object_methods,
    .class_methods = (method_list *)&class_methods};
static category *object_listed __attribute__((section("objc_catlist"), used)) =
    &object_category;
