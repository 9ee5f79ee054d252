// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// server.c: a process that keeps clang and LLVM warm and forks for each
// request. It has one thread, so that a fork is a whole copy.
#include "compiler/air/translate.h"
#include "compiler/process/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/scratch_file.h"
#include "compiler/process/compile.h"
#include "compiler/process/confine.h"

// A worker as the server sees it.
typedef struct server_worker {
  pid_t pid;
  int obituary_fd;  // pipe to the runtime
  int error_fd;     // takes what it writes to standard error
  uint64_t limit_ns;     // of processor time
  uint64_t deadline_ns;  // for a worker that uses no processor time
  bool timed_out;
  mtlc_last_words *last_words;  // shared with it
  struct server_worker *next;
} server_worker;

typedef enum warmth {
  WARMTH_NONE,
  WARMTH_PREPARED,  // may fork
  WARMTH_LIBRARY,   // has compiled a library, in 6 ms
  WARMTH_FULL,      // and a pipeline, in 30 ms
} warmth;

typedef struct server {
  int host_pid_fd;
  int child_fd;  // signalfd of SIGCHLD
  server_worker *workers;
  warmth warmth;
  mtlc_result warm_library;
} server;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// --- who we are

static int append_object(struct dl_phdr_info *info, size_t size,
                         void *context) {
  (void)size;
  if (info->dlpi_name && info->dlpi_name[0] == '/') {
    mtlc_stamp_append(context, info->dlpi_name);
  }
  return 0;
}

static bool send_hello(void) {
  char program[PATH_MAX];
  mtli_bytes identity = {0}, hello = {0};
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length > 0 && (size_t)length < sizeof program) {
    program[length] = '\0';
    mtlc_stamp_append(&identity, program);
    dl_iterate_phdr(append_object, &identity);
  }
  mtlc_hello_write(&identity, &hello);
  const bool sent = !identity.failed && !hello.failed &&
                    send(MTLC_CONTROL_FD, hello.data, hello.size,
                         MSG_NOSIGNAL) == (ssize_t)hello.size;
  mtli_bytes_clear(&identity);
  mtli_bytes_clear(&hello);
  return sent;
}

// --- ends of workers

// Reads the end of what a worker wrote to standard error, as printable text.
static void read_last_error(int error_fd, char *out_text, size_t capacity) {
  const off_t end = lseek(error_fd, 0, SEEK_END);
  const off_t wanted = (off_t)capacity - 1;
  const ssize_t length =
      pread(error_fd, out_text, capacity - 1, end > wanted ? end - wanted : 0);
  out_text[length > 0 ? length : 0] = '\0';
  for (char *c = out_text; *c; ++c) {
    if ((unsigned char)*c < ' ' && *c != '\n' && *c != '\t') {
      *c = '?';
    }
  }
}

// LLVM and the C++ library end a process that has no memory left by abort,
// with these words.
static bool is_out_of_memory(const char *text) {
  return strstr(text, "out of memory") || strstr(text, "bad_alloc") ||
         strstr(text, "Allocation failed");
}

// On a thread that has no other stack for signals, the end of the stack is a
// fault that no handler can answer.
static bool is_out_of_stack(const mtlc_last_words *words, int status) {
  return words->out_of_stack ||
         (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV &&
          !words->were_spoken);
}

static void describe_end(const server_worker *worker, int status,
                         mtlc_obituary *out) {
  read_last_error(worker->error_fd, out->text, sizeof out->text);
  out->end = WIFEXITED(status) ? MTLC_END_EXIT : MTLC_END_SIGNAL;
  out->detail =
      (uint32_t)(WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  if (worker->timed_out) {
    out->end = MTLC_END_TIME;
  } else if (is_out_of_stack(worker->last_words, status)) {
    out->end = MTLC_END_STACK;
  } else if (worker->last_words->out_of_memory || is_out_of_memory(out->text)) {
    out->end = MTLC_END_MEMORY;
  }
}

static void send_obituary(int obituary_fd, const mtlc_obituary *obituary) {
  mtli_bytes bytes = {0};
  mtlc_obituary_write(obituary, &bytes);
  // A runtime that does not listen any more is no concern of ours.
  const ssize_t written =
      bytes.failed ? 0 : write(obituary_fd, bytes.data, bytes.size);
  (void)written;
  mtli_bytes_clear(&bytes);
}

static void free_worker(server_worker *worker) {
  close(worker->obituary_fd);
  close(worker->error_fd);
  munmap(worker->last_words, sizeof *worker->last_words);
  free(worker);
}

static void bury_worker(server *self, pid_t pid, int status) {
  for (server_worker **link = &self->workers; *link; link = &(*link)->next) {
    server_worker *worker = *link;
    if (worker->pid == pid) {
      mtlc_obituary obituary = {0};
      describe_end(worker, status, &obituary);
      send_obituary(worker->obituary_fd, &obituary);
      *link = worker->next;
      free_worker(worker);
      return;
    }
  }
}

static void bury_workers(server *self) {
  struct signalfd_siginfo ignored;
  while (read(self->child_fd, &ignored, sizeof ignored) > 0) {
  }
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    bury_worker(self, pid, status);
  }
}

// Returns the processor time that a process has used; 0 if unknown.
static uint64_t processor_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

// Returns the nanoseconds for which a worker certainly may go on.
static uint64_t time_left_ns(const server_worker *worker) {
  const uint64_t now = now_ns();
  const uint64_t used = processor_ns(worker->pid);
  if (worker->deadline_ns <= now || worker->limit_ns <= used) {
    return 0;
  }
  const uint64_t left = worker->limit_ns - used;
  const uint64_t until = worker->deadline_ns - now;
  return left < until ? left : until;
}

// Ends the workers whose time is over; returns the milliseconds until the next
// one's is, or -1.
static int end_late_workers(server *self) {
  uint64_t next_ns = UINT64_MAX;
  for (server_worker *worker = self->workers; worker; worker = worker->next) {
    if (worker->timed_out) {
      continue;
    }
    const uint64_t left_ns = time_left_ns(worker);
    if (left_ns == 0) {
      worker->timed_out = true;
      kill(worker->pid, SIGKILL);
    } else if (left_ns < next_ns) {
      next_ns = left_ns;
    }
  }
  const uint64_t milliseconds = next_ns / 1000000u + 1;
  return next_ns == UINT64_MAX     ? -1
         : milliseconds >= INT_MAX ? INT_MAX
                                   : (int)milliseconds;
}

// --- requests

// In the new worker: closes all that belongs to the server.
_Noreturn static void begin_worker(server *self, pid_t server_pid,
                                   const mtlc_worker_setup *setup) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server_pid) {
    _exit(EXIT_FAILURE);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  close(MTLC_CONTROL_FD);
  close(self->child_fd);
  if (self->host_pid_fd >= 0) {
    close(self->host_pid_fd);
  }
  for (const server_worker *other = self->workers; other; other = other->next) {
    close(other->obituary_fd);
    close(other->error_fd);
  }
  mtlc_worker_run(setup);
}

// Makes the resources of a worker, besides the descriptors of the request.
static server_worker *create_worker(const mtlc_limits *limits) {
  server_worker *worker = calloc(1, sizeof *worker);
  if (!worker) {
    return NULL;
  }
  worker->error_fd = mtli_scratch_file("mettlec-stderr");
  worker->last_words =
      mmap(NULL, sizeof *worker->last_words, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  worker->limit_ns = limits->seconds * UINT64_C(1000000000);
  worker->deadline_ns = now_ns() + MTLC_WALL_FACTOR * worker->limit_ns;
  if (worker->error_fd >= 0 && worker->last_words != MAP_FAILED) {
    return worker;
  }
  if (worker->error_fd >= 0) {
    close(worker->error_fd);
  }
  if (worker->last_words != MAP_FAILED) {
    munmap(worker->last_words, sizeof *worker->last_words);
  }
  free(worker);
  return NULL;
}

static void refuse_request(int obituary_fd, int error) {
  send_obituary(obituary_fd, &(mtlc_obituary){.end = MTLC_END_NO_PROCESS,
                                              .detail = (uint32_t)error});
  close(obituary_fd);
}

// Takes both descriptors.
static void start_worker(server *self, const mtlc_limits *limits, int stream_fd,
                         int obituary_fd) {
  server_worker *worker = create_worker(limits);
  if (!worker) {
    refuse_request(obituary_fd, ENOMEM);
    close(stream_fd);
    return;
  }
  worker->obituary_fd = obituary_fd;
  worker->next = self->workers;
  self->workers = worker;
  const pid_t server_pid = getpid();
  worker->pid = fork();
  if (worker->pid == 0) {
    close(obituary_fd);
    worker->obituary_fd = -1;
    begin_worker(self, server_pid,
                 &(mtlc_worker_setup){.stream_fd = stream_fd,
                                      .error_fd = dup(worker->error_fd),
                                      .limits = *limits,
                                      .last_words = worker->last_words});
  }
  const int error = errno;
  close(stream_fd);
  if (worker->pid < 0) {
    self->workers = worker->next;
    worker->obituary_fd = dup(obituary_fd);
    refuse_request(obituary_fd, error);
    free_worker(worker);
  }
}

// Receives one packet of the control socket; false when the runtime is gone.
static bool receive_request(server *self) {
  enum { DESCRIPTORS = 2 };
  unsigned char packet[MTLC_LIMITS_BYTES + 1];
  union {
    struct cmsghdr header;  // for its alignment
    unsigned char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
  } control;
  struct iovec part = {packet, sizeof packet};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  const ssize_t size =
      recvmsg(MTLC_CONTROL_FD, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size <= 0) {
    return size < 0 && (errno == EAGAIN || errno == EINTR);
  }
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  int descriptors[DESCRIPTORS];
  mtlc_limits limits;
  if (!header || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof descriptors) ||
      !mtlc_limits_read(packet, (size_t)size, &limits)) {
    return false;  // not our runtime
  }
  memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  start_worker(self, &limits, descriptors[0], descriptors[1]);
  return true;
}

// --- warmth
//
// What clang and LLVM make at first use is to be there in every fork, so the
// server compiles something small itself while there is nothing else to do. A
// program that makes one pipeline and ends is not to wait for that: the part
// that takes long waits for a quiet moment.

enum { QUIET_MS = 200 };

static mtlc_result warm_up_library(void) {
  static const char text[] =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void warm(device float *x [[buffer(0)]],\n"
      "                 uint i [[thread_position_in_grid]]) {\n"
      "  x[i] = sqrt(x[i]) + sin(x[i]);\n"
      "}\n";
  const mtlc_source source = {.text = text, .size_bytes = sizeof text - 1};
  mtlc_result library = {0};
  mtlc_compile_library(&source, &library);
  return library;
}

static void warm_up_pipeline(const mtlc_result *library) {
  const mtli_pipeline_request request = {
      .library_bytes = library->bytes,
      .library_size_bytes = library->size_bytes,
      .kernel_name = "warm",
      .tier = MTLI_TIER_1,
      .group_class = {.row = MTLI_LONGEST_ROW}};
  mtlc_result pipeline = {0};
  mtlc_compile_pipeline(&request, NULL, &pipeline);
  mtlc_result_clear(&pipeline);
}

static void warm_up(server *self) {
  switch (self->warmth) {
    case WARMTH_NONE:
      mtlc_frontend_prepare();
      mtlc_translate_prepare();
      self->warmth = WARMTH_PREPARED;
      break;
    case WARMTH_PREPARED:
      self->warm_library = warm_up_library();
      self->warmth =
          self->warm_library.status == MTL_OK ? WARMTH_LIBRARY : WARMTH_FULL;
      break;
    case WARMTH_LIBRARY:
      warm_up_pipeline(&self->warm_library);
      self->warmth = WARMTH_FULL;
      break;
    case WARMTH_FULL: return;
  }
  if (self->warmth == WARMTH_FULL) {
    mtlc_result_clear(&self->warm_library);
  }
}

// Returns how long to wait for something to do before warming up further, or
// -1 if there is no further.
static int warm_up_delay_ms(const server *self) {
  switch (self->warmth) {
    case WARMTH_LIBRARY: return QUIET_MS;
    case WARMTH_FULL: return -1;
    default: return 0;
  }
}

// --- the loop

// Lifts the limits inherited from the host, and disables core files in its
// folder.
static void lift_limits(void) {
  static const __rlimit_resource_t resources[] = {RLIMIT_AS,     RLIMIT_DATA,
                                                  RLIMIT_STACK,  RLIMIT_FSIZE,
                                                  RLIMIT_NOFILE, RLIMIT_CPU};
  for (size_t i = 0; i < sizeof resources / sizeof *resources; ++i) {
    struct rlimit limit;
    if (getrlimit(resources[i], &limit) == 0) {
      limit.rlim_cur = limit.rlim_max;
      setrlimit(resources[i], &limit);
    }
  }
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

// Makes the system end this process, not the host, when memory runs short.
static void volunteer_for_memory_killer(void) {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t written = write(file, "800", 3);
    (void)written;
    close(file);
  }
}

// A worker's job runs on a thread, which glibc would give an arena of its own,
// grown a page or a few at a time with a system call each: 250 of them, 3 ms,
// in a small compilation. From one arena, in large steps, and with nothing
// given back, it takes a handful.
static void prepare_memory(void) {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, MTLC_MEMORY_STEP_BYTES);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

static bool set_up(server *self) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  prepare_memory();
  signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &child, NULL);
  self->child_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  lift_limits();
  volunteer_for_memory_killer();
  tzset();  // for __TIME__: workers cannot read where we are
  if (self->child_fd < 0 || chdir("/") != 0 || !send_hello()) {
    return false;
  }
  mtlc_confine_server();
  return true;
}

int mtlc_serve(int host_pid_fd) {
  server self = {.host_pid_fd = host_pid_fd};
  if (!set_up(&self)) {
    return EXIT_FAILURE;
  }
  for (;;) {
    struct pollfd files[] = {
        {.fd = MTLC_CONTROL_FD, .events = POLLIN},
        {.fd = self.child_fd, .events = POLLIN},
        {.fd = host_pid_fd, .events = POLLIN},
    };
    const int deadline_ms = end_late_workers(&self);
    const int delay_ms = warm_up_delay_ms(&self);
    const bool is_sooner =
        delay_ms >= 0 && (deadline_ms < 0 || delay_ms < deadline_ms);
    const int ready = poll(files, 3, is_sooner ? delay_ms : deadline_ms);
    if (files[2].revents) {
      return EXIT_SUCCESS;  // the workers follow
    }
    if (files[1].revents) {
      bury_workers(&self);
    }
    if (self.warmth == WARMTH_NONE || (ready == 0 && is_sooner)) {
      warm_up(&self);  // no request can be begun unprepared
    } else if (files[0].revents && !receive_request(&self)) {
      return EXIT_SUCCESS;
    }
  }
}
