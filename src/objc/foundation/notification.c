// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// notification.c: NSNotification and NSNotificationCenter. A post calls its
// observers on the posting thread.
#include <pthread.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSNotification;
extern struct objc_class OBJC_CLASS_$_NSNotificationCenter;
extern struct objc_class OBJC_CLASS_$_MettleObservation;

// --- NSNotification ------------------------------------------------------------

typedef struct notification {
  struct objc_object object;
  id name;
  id sender;
  id info;
} notification;

static id make(id name, id sender, id info) {
  notification *made = (notification *)CREATE(NSNotification);
  made->name = SEND(id(*)(id, SEL), name, "copy");
  made->sender = objc_retain(sender);
  made->info = SEND(id(*)(id, SEL), info, "copy");
  return objc_autorelease(&made->object);
}

static id notification_with(Class self, SEL _cmd, id name, id sender) {
  (void)self;
  (void)_cmd;
  return make(name, sender, NULL);
}

static id notification_with_info(Class self, SEL _cmd, id name, id sender,
                                 id info) {
  (void)self;
  (void)_cmd;
  return make(name, sender, info);
}

static void notification_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const notification *of = (notification *)self;
  objc_release(of->name);
  objc_release(of->sender);
  objc_release(of->info);
  instance_dispose(self);
}

static id notification_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((notification *)self)->name;
}

static id notification_object(id self, SEL _cmd) {
  (void)_cmd;
  return ((notification *)self)->sender;
}

static id notification_info(id self, SEL _cmd) {
  (void)_cmd;
  return ((notification *)self)->info;
}

METHODS(notification_methods,
        METHOD("dealloc", "v16@0:8", notification_dealloc),
        METHOD("name", "@16@0:8", notification_name),
        METHOD("object", "@16@0:8", notification_object),
        METHOD("userInfo", "@16@0:8", notification_info));
METHODS(notification_class_methods,
        METHOD("notificationWithName:object:", "@32@0:8@16@24",
               notification_with),
        METHOD("notificationWithName:object:userInfo:", "@40@0:8@16@24@32",
               notification_with_info));
DEFINE_CLASS(NSNotification, NSObject, sizeof(notification),
             notification_methods, &notification_class_methods);

// --- What somebody observes ------------------------------------------------------

typedef struct observation {
  struct objc_object object;
  id name;      // +1, or nil for all
  id sender;    // weak in Foundation: here its address alone
  id observer;  // not retained, as in Foundation
  SEL selector;
  id literal;  // +1 of a block, or nil
} observation;

static void observation_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((observation *)self)->name);
  _Block_release(((observation *)self)->literal);
  instance_dispose(self);
}

METHODS(observation_methods,
        METHOD("dealloc", "v16@0:8", observation_dealloc));
DEFINE_CLASS(MettleObservation, NSObject, sizeof(observation),
             observation_methods, NO_METHODS);

// --- NSNotificationCenter ----------------------------------------------------------

typedef struct center {
  struct objc_object object;
  id observations;  // +1 or nil
} center;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static id center_default(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  return shared_instance(&shared, self);
}

static void center_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((center *)self)->observations);
  instance_dispose(self);
}

// Returns the new observation, which the center has.
static observation *observe(id self, id name, id sender) {
  center *of = (center *)self;
  observation *made = (observation *)CREATE(MettleObservation);
  made->name = SEND(id(*)(id, SEL), name, "copy");
  made->sender = sender;
  pthread_mutex_lock(&lock);
  if (!of->observations) {
    of->observations = mutable_array_create();
  }
  array_add(of->observations, &made->object);
  pthread_mutex_unlock(&lock);
  objc_release(&made->object);
  return made;
}

static void center_add(id self, SEL _cmd, id observer, SEL selector, id name,
                       id sender) {
  (void)_cmd;
  observation *made = observe(self, name, sender);
  made->selector = selector;
  made->observer = observer;
}

// The queue is ignored: the block runs where the notification is posted.
static id center_add_block(id self, SEL _cmd, id name, id sender, id queue,
                           id literal) {
  (void)_cmd;
  (void)queue;
  observation *made = observe(self, name, sender);
  made->literal = _Block_copy(literal);
  made->observer = &made->object;
  return &made->object;
}

static bool is_of(const observation *each, id name, id sender) {
  return (!each->name || !name || string_equals(each->name, name)) &&
         (!each->sender || !sender || each->sender == sender);
}

static void center_remove_of(id self, SEL _cmd, id observer, id name,
                             id sender) {
  (void)_cmd;
  const id all = ((center *)self)->observations;
  pthread_mutex_lock(&lock);
  for (size_t i = all ? array_count(all) : 0; i-- > 0;) {
    const observation *each = (observation *)array_at(all, i);
    if (each->observer == observer && is_of(each, name, sender)) {
      SEND(void (*)(id, SEL, NSUInteger), all, "removeObjectAtIndex:", i);
    }
  }
  pthread_mutex_unlock(&lock);
}

static void center_remove(id self, SEL _cmd, id observer) {
  center_remove_of(self, _cmd, observer, NULL, NULL);
}

static void center_post(id self, SEL _cmd, id posted) {
  (void)_cmd;
  const notification *what = (notification *)posted;
  pthread_mutex_lock(&lock);
  const id all = SEND(id(*)(id, SEL), ((center *)self)->observations, "copy");
  pthread_mutex_unlock(&lock);
  for (size_t i = 0; all && i < array_count(all); ++i) {
    const observation *each = (observation *)array_at(all, i);
    if ((each->name && !string_equals(each->name, what->name)) ||
        (each->sender && each->sender != what->sender)) {
      continue;
    }
    if (each->literal) {
      BLOCK_CALL(void (*)(id, id), each->literal, posted);
    } else {
      ((void (*)(id, SEL, id))objc_msgSend)(each->observer, each->selector,
                                            posted);
    }
  }
  objc_release(all);
}

static void center_post_info(id self, SEL _cmd, id name, id sender, id info) {
  center_post(self, _cmd, make(name, sender, info));
}

static void center_post_name(id self, SEL _cmd, id name, id sender) {
  center_post_info(self, _cmd, name, sender, NULL);
}

METHODS(center_methods, METHOD("dealloc", "v16@0:8", center_dealloc),
        METHOD("addObserver:selector:name:object:", "v48@0:8@16:24@32@40",
               center_add),
        METHOD("addObserverForName:object:queue:usingBlock:",
               "@48@0:8@16@24@32@?40", center_add_block),
        METHOD("removeObserver:", "v24@0:8@16", center_remove),
        METHOD("removeObserver:name:object:", "v40@0:8@16@24@32",
               center_remove_of),
        METHOD("postNotification:", "v24@0:8@16", center_post),
        METHOD("postNotificationName:object:", "v32@0:8@16@24",
               center_post_name),
        METHOD("postNotificationName:object:userInfo:", "v40@0:8@16@24@32",
               center_post_info));
METHODS(center_class_methods,
        METHOD("defaultCenter", "@16@0:8", center_default));
DEFINE_CLASS(NSNotificationCenter, NSObject, sizeof(center), center_methods,
             &center_class_methods);
