// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// worker.c: one request, in a process of its own with limits of its own, which
// gives up all but the request's files before it looks at what was asked
// (confine.h). Whatever source does to the compiler ends here.
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "compiler/air/translate.h"
#include "compiler/frontend/clang/allocation.h"
#include "compiler/process/compile.h"
#include "compiler/process/confine.h"
#include "compiler/process/server.h"

enum {
  SIGNAL_STACK_BYTES = 64 * 1024,
  // Stack for deeply nested expressions and templates; pages are used as
  // needed. With less, the front end starts a thread of its own.
  JOB_STACK_BYTES = (512 << 20) + (1 << 20),
  // A fault so near to the stack pointer is the stack's end: one frame with
  // its arrays rarely takes more.
  STACK_NEIGHBOURHOOD_BYTES = 256 * 1024,
};

// --- last words

static mtlc_last_words *last_words;
// Private writable memory near to this is memory that has run out.
static uint64_t shortage_bytes;
static int memory_fd = -1;  // /proc/self/statm, which cannot be opened later

// Bytes of private writable memory, which RLIMIT_DATA counts. Called by a
// signal handler: nothing here allocates or locks.
static uint64_t read_data_bytes(void) {
  enum { DATA_WORD = 5 };  // size resident shared text lib data (proc(5))
  char text[256];
  const ssize_t length =
      memory_fd < 0 ? 0 : pread(memory_fd, text, sizeof text, 0);
  uint64_t pages = 0;
  int word = 0;
  for (ssize_t i = 0; i < length && word <= DATA_WORD; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      ++word;
    } else if (word == DATA_WORD) {
      pages = pages * 10 + (uint64_t)(text[i] - '0');
    }
  }
  return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

#if defined(__x86_64__)
static uintptr_t stack_pointer_of(const ucontext_t *context) {
  return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}
#elif defined(__aarch64__)
static uintptr_t stack_pointer_of(const ucontext_t *context) {
  return (uintptr_t)context->uc_mcontext.sp;
}
#endif

// Runs on a stack of its own, prints the signal, and lets it end the process as
// if there were no handler (SA_RESETHAND).
static void fatal_signal(int signal_number, siginfo_t *info, void *context) {
  const uintptr_t pointer = stack_pointer_of(context);
  const uintptr_t fault = (uintptr_t)info->si_addr;
  last_words->were_spoken = 1;
  if (signal_number == SIGSEGV) {
    last_words->out_of_stack = fault + STACK_NEIGHBOURHOOD_BYTES > pointer &&
                               fault < pointer + STACK_NEIGHBOURHOOD_BYTES;
  }
  last_words->out_of_memory =
      mtlc_memory_ran_out || read_data_bytes() > shortage_bytes;
  raise(signal_number);
}

static void catch_fatal_signals(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT,
                                SIGILL,  SIGFPE, SIGTRAP};
  const struct sigaction action = {
      .sa_sigaction = fatal_signal,
      .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
    sigaction(signals[i], &action, NULL);
  }
}

static void limit_resource(__rlimit_resource_t resource, uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) == 0) {
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

// Sets limits on top of the memory that the server already has, which is
// shared, and a margin.
static void set_limits(const mtlc_limits *limits) {
  const uint64_t memory_bytes = (uint64_t)limits->memory_mb << 20;
  memory_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const uint64_t shared_bytes = read_data_bytes();
  const uint64_t step_bytes = memory_bytes / 10 > MTLC_MEMORY_STEP_BYTES
                                  ? memory_bytes / 10
                                  : MTLC_MEMORY_STEP_BYTES;
  shortage_bytes = shared_bytes + memory_bytes - step_bytes;
  limit_resource(RLIMIT_DATA, shared_bytes + memory_bytes);
  limit_resource(RLIMIT_FSIZE, memory_bytes);
}

// --- the stream. The runtime may go away at any time: then there is nobody
// left to work for.

// A header that the client has been asked for.
typedef struct known_header {
  const char *name;
  const char *text;  // [length] NULL if there is none
  size_t length;
  struct known_header *next;
} known_header;

typedef struct worker {
  int stream_fd;
  mtli_arena arena;
  mtlc_frame_kind kind;
  mtlc_library_request library;    // of MTLC_FRAME_LIBRARY
  mtli_pipeline_request pipeline;  // of MTLC_FRAME_PIPELINE
  mtli_translation_request translation;  // of MTLC_FRAME_TRANSLATION
  known_header *headers;
  mtli_bytes dependencies;  // mtlc_dependency_write's
} worker;

static void receive(const worker *self, void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        read(self->stream_fd, (unsigned char *)data + done, size - done);
    if (count <= 0) {
      _exit(EXIT_FAILURE);
    }
    done += (size_t)count;
  }
}

static void send_bytes(const worker *self, const void *data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count =
        send(self->stream_fd, (const unsigned char *)data + done, size - done,
             MSG_NOSIGNAL);
    if (count <= 0) {
      _exit(EXIT_FAILURE);
    }
    done += (size_t)count;
  }
}

static void send_frame(const worker *self, mtlc_frame_kind kind,
                       const mtli_bytes *contents) {
  unsigned char header[MTLC_FRAME_HEADER_BYTES];
  if (contents->failed) {
    abort();  // out of memory: the last words say so
  }
  mtlc_frame_header(header, kind, contents->size);
  send_bytes(self, header, sizeof header);
  send_bytes(self, contents->data, contents->size);
}

// Receives a frame; its contents stay until the worker ends.
static mtlc_frame_kind receive_frame(const worker *self, void **out_data,
                                     size_t *out_size) {
  unsigned char header[MTLC_FRAME_HEADER_BYTES];
  mtlc_frame_kind kind;
  uint64_t length;
  receive(self, header, sizeof header);
  if (!mtlc_frame_parse(header, &kind, &length)) {
    _exit(EXIT_FAILURE);
  }
  *out_data = malloc(length ? (size_t)length : 1);
  if (!*out_data) {
    abort();
  }
  receive(self, *out_data, (size_t)length);
  *out_size = (size_t)length;
  return kind;
}

// --- what the front end asks and tells

static void add_dependency(worker *self, bool is_header, const char *name,
                           const char *text, size_t length) {
  mtlc_dependency dependency = {
      .is_header = is_header, .found = text != NULL, .name = name};
  if (text) {
    dependency.hash = mtlc_text_hash(text, length);
  }
  mtlc_dependency_write(&dependency, &self->dependencies);
}

static void observe_file(void *context, const char *path, const char *text,
                         size_t length) {
  add_dependency(context, false, path, text, length);
}

// Requests a header from the runtime, whose client may have it.
static known_header *ask_for_header(worker *self, const char *name) {
  known_header *header = mtli_arena_allocate(&self->arena, sizeof *header);
  mtli_bytes question = {0};
  void *data;
  size_t size;
  bool found;
  if (!header) {
    abort();
  }
  header->name = mtli_arena_copy_text(&self->arena, name, strlen(name));
  mtli_bytes_append_text(&question, name);
  send_frame(self, MTLC_FRAME_HEADER_WANTED, &question);
  mtli_bytes_clear(&question);
  if (receive_frame(self, &data, &size) != MTLC_FRAME_HEADER ||
      !mtlc_header_read(data, size, &found, &header->text, &header->length)) {
    _exit(EXIT_FAILURE);
  }
  if (!found) {
    header->text = NULL;
    header->length = 0;
  }
  header->next = self->headers;
  self->headers = header;
  add_dependency(self, true, name, header->text, header->length);
  return header;
}

// Looks a header up. The client is asked once, however often the front end
// asks.
static bool look_up_header(void *context, const char *name,
                           const char **out_text, size_t *out_length) {
  worker *self = context;
  known_header *header = self->headers;
  while (header && (!header->name || strcmp(header->name, name) != 0)) {
    header = header->next;
  }
  if (!header) {
    header = ask_for_header(self, name);
  }
  *out_text = header->text;
  *out_length = header->length;
  return header->text != NULL;
}

// --- the jobs

static void compile_library(worker *self, mtlc_result *out_result) {
  const mtlc_library_request *request = &self->library;
  const mtlc_source source = {
      .text = request->text,
      .size_bytes = request->size_bytes,
      .options = request->options,
      .header_lookup = request->has_header_callback ? look_up_header : NULL,
      .header_context = self,
      .file_observer = observe_file,
      .file_context = self,
  };
  mtlc_compile_library(&source, out_result);
}

// Copies a container to aligned memory: its blobs are aligned to 16 within it,
// so it must be too. Libraries that are shared stay shared.
static const void *align_library(const void *bytes, size_t size_bytes) {
  void *library = malloc(size_bytes + 1);
  if (!library) {
    abort();
  }
  return memcpy(library, bytes, size_bytes);
}

static void align_libraries(mtli_pipeline_request *request) {
  const void *before = request->library_bytes;
  request->library_bytes = align_library(before, request->library_size_bytes);
  mtli_linked_function *linked =
      calloc(request->linked_count + 1, sizeof *linked);
  if (!linked) {
    abort();
  }
  for (size_t i = 0; i < request->linked_count; ++i) {
    const mtli_linked_function *given = &request->linked[i];
    linked[i] = *given;
    linked[i].library_bytes =
        given->library_bytes == before
            ? request->library_bytes
            : align_library(given->library_bytes, given->library_size_bytes);
  }
  request->linked = linked;
}

static void compile_pipeline(worker *self, mtlc_result *out_result) {
  align_libraries(&self->pipeline);
  mtlc_compile_pipeline(&self->pipeline, self->pipeline.dump_after, out_result);
}

static void probe(mtlc_result *out_result) {
  mtli_bytes text = {0};
  mtlc_confine_probe(&text);
  mtli_bytes_append(&text, "", 1);
  if (text.failed) {
    abort();
  }
  *out_result = (mtlc_result){.status = MTL_OK, .text = (char *)text.data};
}

static void answer(worker *self) {
  mtlc_result result = {0};
  switch (self->kind) {
    case MTLC_FRAME_LIBRARY: compile_library(self, &result); break;
    case MTLC_FRAME_PIPELINE: compile_pipeline(self, &result); break;
    case MTLC_FRAME_TRANSLATION:
      mtlc_translate(&self->translation, &result);
      break;
    default: probe(&result);
  }
  const mtlc_reply reply = {.status = result.status,
                            .text = result.text,
                            .container = result.bytes,
                            .container_bytes = result.size_bytes,
                            .dependencies = self->dependencies.data,
                            .dependencies_bytes = self->dependencies.size};
  mtli_bytes contents = {.failed = self->dependencies.failed};
  mtlc_reply_write(&reply, &contents);
  send_frame(self, MTLC_FRAME_RESULT, &contents);
}

// --- the process

// Enters the folder of the request's relative paths, and gives up all files but
// those below its include paths and its own folder.
static void confine_to_library(worker *self) {
  const mtlc_library_request *request = &self->library;
  const mtl_compile_options *options = &request->options;
  const char **folders =
      calloc(options->include_path_count + 1, sizeof *folders);
  if (!folders) {
    abort();
  }
  // A missing or forbidden folder matters only if a relative path is looked for
  // in it.
  if (request->working_directory && chdir(request->working_directory) != 0 &&
      chdir("/") != 0) {
    _exit(EXIT_FAILURE);
  }
  size_t count = 0;
  for (; count < options->include_path_count; ++count) {
    folders[count] = options->include_paths[count];
  }
  if (options->file_name) {
    char *folder = strdup(options->file_name);  // lives as long as the process
    if (!folder) {
      abort();
    }
    folders[count++] = dirname(folder);
  }
  mtlc_confine_worker(folders, count);
}

// Receives the request, and is confined before anything looks at its contents.
static void receive_request(worker *self) {
  void *data;
  size_t size;
  send_frame(self, MTLC_FRAME_ACCEPTED, &(mtli_bytes){0});
  self->kind = receive_frame(self, &data, &size);
  if (self->kind == MTLC_FRAME_LIBRARY &&
      mtlc_library_request_read(data, size, &self->arena, &self->library)) {
    confine_to_library(self);
  } else if ((self->kind == MTLC_FRAME_PIPELINE &&
              mtlc_pipeline_request_read(data, size, &self->arena,
                                         &self->pipeline)) ||
             (self->kind == MTLC_FRAME_TRANSLATION &&
              mtlc_translation_request_read(data, size, &self->translation)) ||
             self->kind == MTLC_FRAME_PROBE) {
    mtlc_confine_worker(NULL, 0);
  } else {
    _exit(EXIT_FAILURE);
  }
}

// A stack can run out only on a thread whose signals have another.
static void *run_job(void *context) {
  const stack_t stack = {.ss_sp = malloc(SIGNAL_STACK_BYTES),
                         .ss_size = SIGNAL_STACK_BYTES};
  if (stack.ss_sp) {
    sigaltstack(&stack, NULL);
  }
  answer(context);
  _exit(EXIT_SUCCESS);  // nothing to tidy: the process is over
}

// Makes a thread with a large stack, which is not to count as memory used:
// called before the limits are set.
static bool make_job_stack(pthread_attr_t *attributes) {
  unsigned char *stack =
      mmap(NULL, JOB_STACK_BYTES, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  return stack != MAP_FAILED && mprotect(stack, page_bytes, PROT_NONE) == 0 &&
         pthread_attr_init(attributes) == 0 &&
         pthread_attr_setstack(attributes, stack, JOB_STACK_BYTES) == 0;
}

_Noreturn void mtlc_worker_run(const mtlc_worker_setup *setup) {
  static worker self;
  pthread_attr_t attributes;
  pthread_t job;
  self.stream_fd = setup->stream_fd;
  last_words = setup->last_words;
  dup2(setup->error_fd, STDOUT_FILENO);
  dup2(setup->error_fd, STDERR_FILENO);
  const bool has_stack = make_job_stack(&attributes);
  set_limits(&setup->limits);
  catch_fatal_signals();
  receive_request(&self);
  if (!has_stack || pthread_create(&job, &attributes, run_job, &self) != 0) {
    run_job(&self);  // where memory is that short, on the stack there is
  }
  pthread_join(job, NULL);
  _exit(EXIT_FAILURE);  // not reached: the job ends the process
}
