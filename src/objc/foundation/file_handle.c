// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// file_handle.c: NSFileHandle and NSPipe: files, pipes and the standard streams
// by their descriptors.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

extern struct objc_class OBJC_CLASS_$_NSFileHandle;
extern struct objc_class OBJC_CLASS_$_NSPipe;
extern struct objc_class OBJC_CLASS_$_NSMutableData;

typedef struct handle_object {
  struct objc_object object;
  int descriptor;  // -1: closed
  bool closes;     // when it is deallocated
  id path;         // +1, for errors; nil for what is no file
} handle_object;

static id handle_make(int descriptor, bool closes, id path) {
  handle_object *made = (handle_object *)CREATE(NSFileHandle);
  made->descriptor = descriptor;
  made->closes = closes;
  made->path = objc_retain(path);
  return objc_autorelease(&made->object);
}

static id handle_open(id path, int flags, id *out_error) {
  const int descriptor = open(string_utf8(path), flags | O_CLOEXEC);
  if (descriptor < 0) {
    if (out_error) {
      file_error(out_error, string_utf8(path), flags != O_RDONLY);
    }
    return NULL;
  }
  return handle_make(descriptor, true, path);
}

#define OPENS(name, flags)                                                   \
  static id opens_##name(id self, SEL _cmd, id path) {                       \
    (void)self;                                                              \
    (void)_cmd;                                                              \
    return handle_open(path, flags, NULL);                                   \
  }                                                                          \
  static id opens_url_##name(id self, SEL _cmd, id url, id *out_error) {     \
    (void)self;                                                              \
    (void)_cmd;                                                              \
    return handle_open(SEND(id(*)(id, SEL), url, "path"), flags, out_error); \
  }
OPENS(reading, O_RDONLY)
OPENS(writing, O_WRONLY)
OPENS(updating, O_RDWR)

#define STANDARD(name, number)                      \
  static id standard_##name(Class self, SEL _cmd) { \
    static _Atomic(id) shared;                      \
    (void)_cmd;                                     \
    const id made = shared_instance(&shared, self); \
    ((handle_object *)made)->descriptor = (number); \
    return made;                                    \
  }
STANDARD(input, 0)
STANDARD(output, 1)
STANDARD(error, 2)

static id null_device(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return handle_open(string_make("/dev/null"), O_RDWR, NULL);
}

static id init_descriptor(id self, SEL _cmd, int descriptor) {
  (void)_cmd;
  ((handle_object *)self)->descriptor = descriptor;
  return self;
}

static id init_descriptor_closing(id self, SEL _cmd, int descriptor,
                                  signed char closes) {
  ((handle_object *)self)->closes = closes;
  return init_descriptor(self, _cmd, descriptor);
}

static int handle_close_error(id self, SEL _cmd, id *out_error) {
  (void)_cmd;
  (void)out_error;
  handle_object *of = (handle_object *)self;
  if (of->descriptor >= 0) {
    close(of->descriptor);
    of->descriptor = -1;
  }
  return 1;
}

static void handle_close(id self, SEL _cmd) {
  handle_close_error(self, _cmd, NULL);
}

static void handle_dealloc(id self, SEL _cmd) {
  handle_object *of = (handle_object *)self;
  if (of->closes) {
    handle_close(self, _cmd);
  }
  objc_release(of->path);
  instance_dispose(self);
}

static int handle_descriptor(id self, SEL _cmd) {
  (void)_cmd;
  return ((handle_object *)self)->descriptor;
}

// Sets an NSError where the caller wants one, or raises what the methods that
// have none do.
static void failed(const handle_object *of, bool writes, id *out_error,
                   bool raises) {
  const int reason = errno;
  if (raises) {
    exception_raise("NSFileHandleOperationException", "%s", strerror(reason));
  }
  file_error(out_error, of->path ? string_utf8(of->path) : "a file handle",
             writes);
}

// --- Reading -----------------------------------------------------------------

// Reads length bytes, or to the end; with once, what one read gives.
static id read_bytes(id self, NSUInteger length, bool once, id *out_error,
                     bool raises) {
  enum { CHUNK = 65536 };
  const handle_object *of = (handle_object *)self;
  size_t count = 0, capacity = 0;
  char *bytes = NULL;
  while (count < length) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : CHUNK;
      bytes = realloc(bytes, capacity);
      if (!bytes) {
        runtime_fail("no memory for %zu bytes of a file", capacity);
      }
    }
    const size_t room = capacity - count, left = length - count;
    const ssize_t got =
        read(of->descriptor, bytes + count, left < room ? left : room);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      free(bytes);
      failed(of, false, out_error, raises);
      return NULL;
    }
    count += (size_t)got;
    if (!got || once) {
      break;
    }
  }
  const id made = data_make(bytes, count);
  free(bytes);
  return made;
}

static id read_length(id self, SEL _cmd, NSUInteger length) {
  (void)_cmd;
  return read_bytes(self, length, false, NULL, true);
}

static id read_end(id self, SEL _cmd) {
  return read_length(self, _cmd, SIZE_MAX);
}

static id read_available(id self, SEL _cmd) {
  (void)_cmd;
  return read_bytes(self, SIZE_MAX, true, NULL, true);
}

static id read_length_error(id self, SEL _cmd, NSUInteger length,
                            id *out_error) {
  (void)_cmd;
  return read_bytes(self, length, false, out_error, false);
}

static id read_end_error(id self, SEL _cmd, id *out_error) {
  return read_length_error(self, _cmd, SIZE_MAX, out_error);
}

// --- Writing -----------------------------------------------------------------

static int write_bytes(id self, id data, id *out_error, bool raises) {
  const handle_object *of = (handle_object *)self;
  const char *bytes = SEND(const char *(*)(id, SEL), data, "bytes");
  size_t left = SEND(NSUInteger(*)(id, SEL), data, "length");
  while (left) {
    const ssize_t put = write(of->descriptor, bytes, left);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      failed(of, true, out_error, raises);
      return 0;
    }
    bytes += put;
    left -= (size_t)put;
  }
  return 1;
}

static void write_data(id self, SEL _cmd, id data) {
  (void)_cmd;
  write_bytes(self, data, NULL, true);
}

static int write_data_error(id self, SEL _cmd, id data, id *out_error) {
  (void)_cmd;
  return write_bytes(self, data, out_error, false);
}

// --- Where it is -------------------------------------------------------------

// Moves the offset, and sets out to where it is.
static int seek(id self, off_t to, int from, unsigned long long *out,
                id *out_error, bool raises) {
  const handle_object *of = (handle_object *)self;
  const off_t at = lseek(of->descriptor, to, from);
  if (at < 0) {
    failed(of, false, out_error, raises);
    return 0;
  }
  if (out) {
    *out = (unsigned long long)at;
  }
  return 1;
}

static unsigned long long handle_offset(id self, SEL _cmd) {
  (void)_cmd;
  unsigned long long at = 0;
  seek(self, 0, SEEK_CUR, &at, NULL, true);
  return at;
}

static unsigned long long seek_end(id self, SEL _cmd) {
  (void)_cmd;
  unsigned long long at = 0;
  seek(self, 0, SEEK_END, &at, NULL, true);
  return at;
}

static void seek_to(id self, SEL _cmd, unsigned long long offset) {
  (void)_cmd;
  seek(self, (off_t)offset, SEEK_SET, NULL, NULL, true);
}

static int get_offset(id self, SEL _cmd, unsigned long long *out,
                      id *out_error) {
  (void)_cmd;
  return seek(self, 0, SEEK_CUR, out, out_error, false);
}

static int seek_end_error(id self, SEL _cmd, unsigned long long *out,
                          id *out_error) {
  (void)_cmd;
  return seek(self, 0, SEEK_END, out, out_error, false);
}

static int seek_to_error(id self, SEL _cmd, unsigned long long offset,
                         id *out_error) {
  (void)_cmd;
  return seek(self, (off_t)offset, SEEK_SET, NULL, out_error, false);
}

static int cut(id self, off_t length, id *out_error, bool raises) {
  const handle_object *of = (handle_object *)self;
  if (ftruncate(of->descriptor, length)) {
    failed(of, true, out_error, raises);
    return 0;
  }
  return seek(self, length, SEEK_SET, NULL, out_error, raises);
}

static int truncate_error(id self, SEL _cmd, unsigned long long offset,
                          id *out_error) {
  (void)_cmd;
  return cut(self, (off_t)offset, out_error, false);
}

static void truncate_to(id self, SEL _cmd, unsigned long long offset) {
  (void)_cmd;
  cut(self, (off_t)offset, NULL, true);
}

static int synchronize_error(id self, SEL _cmd, id *out_error) {
  (void)_cmd;
  const handle_object *of = (handle_object *)self;
  // fsync gives EINVAL for a pipe or a terminal, which keep nothing, and EROFS
  // for a file system that is not written.
  if (fsync(of->descriptor) && errno != EINVAL && errno != EROFS) {
    failed(of, true, out_error, false);
    return 0;
  }
  return 1;
}

static void synchronize(id self, SEL _cmd) {
  synchronize_error(self, _cmd, NULL);
}

METHODS(handle_methods, METHOD("dealloc", "v16@0:8", handle_dealloc),
        METHOD("initWithFileDescriptor:", "@20@0:8i16", init_descriptor),
        METHOD("initWithFileDescriptor:closeOnDealloc:", "@24@0:8i16B20",
               init_descriptor_closing),
        METHOD("fileDescriptor", "i16@0:8", handle_descriptor),
        METHOD("closeFile", "v16@0:8", handle_close),
        METHOD("closeAndReturnError:", "B24@0:8^@16", handle_close_error),
        METHOD("availableData", "@16@0:8", read_available),
        METHOD("readDataToEndOfFile", "@16@0:8", read_end),
        METHOD("readDataOfLength:", "@24@0:8Q16", read_length),
        METHOD("readDataToEndOfFileAndReturnError:", "@24@0:8^@16",
               read_end_error),
        METHOD("readDataUpToLength:error:", "@32@0:8Q16^@24",
               read_length_error),
        METHOD("writeData:", "v24@0:8@16", write_data),
        METHOD("writeData:error:", "B32@0:8@16^@24", write_data_error),
        METHOD("offsetInFile", "Q16@0:8", handle_offset),
        METHOD("seekToEndOfFile", "Q16@0:8", seek_end),
        METHOD("seekToFileOffset:", "v24@0:8Q16", seek_to),
        METHOD("getOffset:error:", "B32@0:8^Q16^@24", get_offset),
        METHOD("seekToEndReturningOffset:error:", "B32@0:8^Q16^@24",
               seek_end_error),
        METHOD("seekToOffset:error:", "B32@0:8Q16^@24", seek_to_error),
        METHOD("truncateFileAtOffset:", "v24@0:8Q16", truncate_to),
        METHOD("truncateAtOffset:error:", "B32@0:8Q16^@24", truncate_error),
        METHOD("synchronizeFile", "v16@0:8", synchronize),
        METHOD("synchronizeAndReturnError:", "B24@0:8^@16", synchronize_error));
METHODS(handle_class_methods,
        METHOD("fileHandleForReadingAtPath:", "@24@0:8@16", opens_reading),
        METHOD("fileHandleForWritingAtPath:", "@24@0:8@16", opens_writing),
        METHOD("fileHandleForUpdatingAtPath:", "@24@0:8@16", opens_updating),
        METHOD("fileHandleForReadingFromURL:error:", "@32@0:8@16^@24",
               opens_url_reading),
        METHOD("fileHandleForWritingToURL:error:", "@32@0:8@16^@24",
               opens_url_writing),
        METHOD("fileHandleForUpdatingURL:error:", "@32@0:8@16^@24",
               opens_url_updating),
        METHOD("fileHandleWithStandardInput", "@16@0:8", standard_input),
        METHOD("fileHandleWithStandardOutput", "@16@0:8", standard_output),
        METHOD("fileHandleWithStandardError", "@16@0:8", standard_error),
        METHOD("fileHandleWithNullDevice", "@16@0:8", null_device));
DEFINE_CLASS(NSFileHandle, NSObject, sizeof(handle_object), handle_methods,
             &handle_class_methods);

// --- NSPipe ------------------------------------------------------------------

typedef struct pipe_object {
  struct objc_object object;
  id reading, writing;  // +1
} pipe_object;

static id pipe_init(id self, SEL _cmd) {
  (void)_cmd;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    objc_release(self);
    return NULL;
  }
  pipe_object *of = (pipe_object *)self;
  of->reading = objc_retain(handle_make(ends[0], true, NULL));
  of->writing = objc_retain(handle_make(ends[1], true, NULL));
  return self;
}

static id pipe_make(Class self, SEL _cmd) {
  return objc_autorelease(pipe_init(instance_create(self, 0), _cmd));
}

static void pipe_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((pipe_object *)self)->reading);
  objc_release(((pipe_object *)self)->writing);
  instance_dispose(self);
}

static id pipe_reading(id self, SEL _cmd) {
  (void)_cmd;
  return ((pipe_object *)self)->reading;
}

static id pipe_writing(id self, SEL _cmd) {
  (void)_cmd;
  return ((pipe_object *)self)->writing;
}

METHODS(pipe_methods, METHOD("dealloc", "v16@0:8", pipe_dealloc),
        METHOD("init", "@16@0:8", pipe_init),
        METHOD("fileHandleForReading", "@16@0:8", pipe_reading),
        METHOD("fileHandleForWriting", "@16@0:8", pipe_writing));
METHODS(pipe_class_methods, METHOD("pipe", "@16@0:8", pipe_make));
DEFINE_CLASS(NSPipe, NSObject, sizeof(pipe_object), pipe_methods,
             &pipe_class_methods);
