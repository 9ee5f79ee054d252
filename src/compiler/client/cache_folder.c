// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_folder.c: the files of the disk cache.
//
// How much the folder holds is known without looking through it: each file
// written adds its size, 8 bytes, to the file "usage", by one append that needs
// no lock. When the sum passes the limit, or after USAGE_RECORDS files, the
// folder is counted, the oldest files go and a new "usage" takes its place,
// which starts with USAGE_MAGIC and the count. Without those two it is lost or
// damaged, and the folder is counted at once.
#include "compiler/client/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  DEFAULT_LIMIT_MB = 512,
  NAME_DIGITS = 32,
  USAGE_RECORDS = 1024,
  USAGE_RECORD_BYTES = 8,
  // A hit renews a file's time only if it is so old: a write less per hit.
  RENEW_SECONDS = 600,
  // Files that a process was writing when it died.
  ABANDONED_SECONDS = 3600,
};
#define USAGE_NAME "usage"
#define USAGE_MAGIC UINT64_C(0x4547415355434C4D)  // "MLCUSAGE"
#define NEW_PREFIX ".new-"

// --- where it is, and whether it may be used

static bool folder_path(char *out_path, size_t capacity) {
  const char *directory = secure_getenv("METTLE_CACHE_DIR");
  const char *suffix = "";
  if (!directory || !*directory) {
    directory = secure_getenv("XDG_CACHE_HOME");
    suffix = "/mettle";
    if (!directory || *directory != '/') {  // "must be absolute", XDG 0.8
      directory = secure_getenv("HOME");
      suffix = "/.cache/mettle";
    }
  }
  if (!directory || !*directory) {
    return false;
  }
  const int length = snprintf(out_path, capacity, "%s%s", directory, suffix);
  return length > 0 && (size_t)length < capacity;
}

static void make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  mkdir(path, 0700);
}

static bool is_private_folder(int folder) {
  struct stat status;
  return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int mtlc_cache_folder_open(void) {
  const char *use = secure_getenv("METTLE_CACHE");
  char path[PATH_MAX];
  if ((use && strcmp(use, "0") == 0) || !folder_path(path, sizeof path)) {
    return -1;
  }
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  int folder = open(path, flags);
  if (folder < 0 && errno == ENOENT) {
    make_folders(path);
    folder = open(path, flags);
  }
  if (folder >= 0 && !is_private_folder(folder)) {
    close(folder);
    return -1;
  }
  return folder;
}

static uint64_t limit_bytes(void) {
  const char *text = secure_getenv("METTLE_CACHE_MB");
  uint64_t megabytes = DEFAULT_LIMIT_MB;
  if (text && *text) {
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (!*end && value <= UINT32_MAX) {
      megabytes = value;
    }
  }
  return megabytes << 20;
}

// --- reading

static bool read_whole(int file, uint64_t size, mtli_bytes *out) {
  *out = (mtli_bytes){.data = malloc(size ? (size_t)size : 1),
                      .capacity = (size_t)size};
  while (out->data && out->size < size) {
    const ssize_t count =
        read(file, out->data + out->size, (size_t)size - out->size);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      break;
    }
    out->size += (size_t)count;
  }
  if (!out->data || out->size < size) {
    mtli_bytes_clear(out);
    return false;
  }
  return true;
}

bool mtlc_cache_file_read(int folder, const char *name, mtli_bytes *out) {
  *out = (mtli_bytes){0};
  // Non-blocking, so that a pipe of that name is no trap.
  const int file = openat(
      folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    return false;
  }
  struct stat status;
  const bool is_read = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() &&
                       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
                       (uint64_t)status.st_size <= limit_bytes() &&
                       read_whole(file, (uint64_t)status.st_size, out);
  if (is_read && time(NULL) - status.st_mtime > RENEW_SECONDS) {
    futimens(file, NULL);
  }
  close(file);
  return is_read;
}

// --- making room

typedef struct counted_file {
  char name[NAME_DIGITS + 16];
  struct timespec used;
  uint64_t size_bytes;
} counted_file;

typedef struct count {
  counted_file *files;  // [file_count]
  size_t file_count;
  size_t capacity;
  uint64_t total_bytes;
} count;

static bool is_entry_name(const char *name) {
  return strspn(name, "0123456789abcdef") == NAME_DIGITS &&
         name[NAME_DIGITS] == '.' &&
         strlen(name) < sizeof((counted_file *)0)->name;
}

static void count_file(int folder, const char *name, count *counted) {
  struct stat status;
  if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return;
  }
  if (strncmp(name, NEW_PREFIX, strlen(NEW_PREFIX)) == 0) {
    if (time(NULL) - status.st_mtime > ABANDONED_SECONDS) {
      unlinkat(folder, name, 0);
    }
    return;
  }
  if (!is_entry_name(name)) {
    return;  // not ours
  }
  if (counted->file_count == counted->capacity) {
    const size_t capacity = counted->capacity ? counted->capacity * 2 : 256;
    counted_file *files =
        realloc(counted->files, capacity * sizeof *counted->files);
    if (!files) {
      return;
    }
    counted->files = files;
    counted->capacity = capacity;
  }
  counted_file *file = &counted->files[counted->file_count++];
  strcpy(file->name, name);
  file->used = status.st_mtim;
  file->size_bytes = (uint64_t)status.st_size;
  counted->total_bytes += file->size_bytes;
}

static void count_folder(int folder, count *counted) {
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = again < 0 ? NULL : fdopendir(again);
  if (!directory) {
    if (again >= 0) {
      close(again);
    }
    return;
  }
  for (struct dirent *entry; (entry = readdir(directory));) {
    count_file(folder, entry->d_name, counted);
  }
  closedir(directory);
}

static int compare_use(const void *a, const void *b) {
  const struct timespec *x = &((const counted_file *)a)->used;
  const struct timespec *y = &((const counted_file *)b)->used;
  if (x->tv_sec != y->tv_sec) {
    return x->tv_sec < y->tv_sec ? -1 : 1;
  }
  return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

// Removes the files unused for the longest time until a quarter of the limit
// is free, so that not every further file has to make room again.
static void evict_files(int folder, count *counted, uint64_t limit) {
  if (counted->total_bytes <= limit) {
    return;
  }
  qsort(counted->files, counted->file_count, sizeof *counted->files,
        compare_use);
  for (size_t i = 0;
       i < counted->file_count && counted->total_bytes > limit / 4 * 3; ++i) {
    unlinkat(folder, counted->files[i].name, 0);
    counted->total_bytes -= counted->files[i].size_bytes;
  }
}

// --- writing

// Writes to file without dying of the host's limit on the size of files, whose
// signal would end the process.
static bool write_whole(int file, const mtli_bytes *bytes) {
  sigset_t too_large, before, pending;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &too_large, &before);
  size_t done = 0;
  while (done < bytes->size) {
    const ssize_t written = write(file, bytes->data + done, bytes->size - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      break;
    }
    done += (size_t)written;
  }
  if (done < bytes->size && !was_pending) {
    sigtimedwait(&too_large, NULL, &(struct timespec){0});
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return done == bytes->size;
}

static bool write_atomically(int folder, const char *name,
                             const mtli_bytes *bytes) {
  static atomic_uint counter;
  char fresh[96];
  uint64_t random = 0;
  const ssize_t got = getrandom(&random, sizeof random, GRND_NONBLOCK);
  (void)got;  // it only makes a clash less likely; O_EXCL finds one
  snprintf(fresh, sizeof fresh, NEW_PREFIX "%ld-%u-%016llx", (long)getpid(),
           atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed),
           (unsigned long long)random);
  const int file =
      openat(folder, fresh,
             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return false;
  }
  bool is_placed = write_whole(file, bytes);
  is_placed &= close(file) == 0;
  is_placed = is_placed && renameat(folder, fresh, folder, name) == 0;
  if (!is_placed) {
    unlinkat(folder, fresh, 0);
  }
  return is_placed;
}

// Sums up the records of "usage"; false if it must be made anew.
static bool read_usage(int folder, uint64_t *out_bytes) {
  mtli_bytes usage;
  if (!mtlc_cache_file_read(folder, USAGE_NAME, &usage)) {
    return false;
  }
  mtli_cursor cursor = {.data = usage.data, .size = usage.size};
  const bool is_usable = usage.size % USAGE_RECORD_BYTES == 0 &&
                         usage.size / USAGE_RECORD_BYTES <= USAGE_RECORDS &&
                         mtli_cursor_u64(&cursor) == USAGE_MAGIC;
  *out_bytes = 0;
  while (is_usable && cursor.offset < cursor.size) {
    const uint64_t size = mtli_cursor_u64(&cursor);
    *out_bytes =
        size > UINT64_MAX - *out_bytes ? UINT64_MAX : *out_bytes + size;
  }
  mtli_bytes_clear(&usage);
  return is_usable;
}

static void append_usage(int folder, uint64_t size_bytes) {
  const int file =
      openat(folder, USAGE_NAME,
             O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    return;
  }
  mtli_bytes record = {0};
  mtli_bytes_append_u64(&record, size_bytes);
  write_whole(file, &record);
  mtli_bytes_clear(&record);
  close(file);
}

static void make_room(int folder, uint64_t limit) {
  count counted = {0};
  mtli_bytes usage = {0};
  count_folder(folder, &counted);
  evict_files(folder, &counted, limit);
  mtli_bytes_append_u64(&usage, USAGE_MAGIC);
  mtli_bytes_append_u64(&usage, counted.total_bytes);
  if (!usage.failed) {
    write_atomically(folder, USAGE_NAME, &usage);
  }
  mtli_bytes_clear(&usage);
  free(counted.files);
}

void mtlc_cache_file_write(int folder, const char *name,
                           const mtli_bytes *bytes) {
  const uint64_t limit = limit_bytes();
  if (bytes->failed || bytes->size > limit / 4 ||
      !write_atomically(folder, name, bytes)) {
    return;
  }
  append_usage(folder, bytes->size);
  uint64_t used;
  if (!read_usage(folder, &used) || used > limit) {
    make_room(folder, limit);
  }
}
