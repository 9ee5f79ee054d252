// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// connection.c: starts the compiler process and hands requests to it, without
// leaving a trace in the host: no child to wait for, no signal handler, no
// descriptor that a fork or an exec inherits.
#include "compiler/client/connection.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/scratch_file.h"
#include "base/status.h"
#include "compiler/client/server_program.h"

// The process's one connection.
static struct {
  pthread_mutex_t lock;        // of all below; held across fork
  pthread_mutex_t start_lock;  // one thread starts the process; taken first
  int control_fd;              // to the server; -1 if there is none
  int starting_fd;             // to one that has not said hello yet, or -1
  dev_t control_device;        // which socket control_fd was when made
  ino_t control_inode;
  uint64_t server;  // counts starts
  mtli_bytes identity;
  mtlc_channel *channels;  // those open
} connection = {.lock = PTHREAD_MUTEX_INITIALIZER,
                .start_lock = PTHREAD_MUTEX_INITIALIZER,
                .control_fd = -1,
                .starting_fd = -1};

uint64_t mtlc_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int mtlc_poll_timeout_ms(uint64_t deadline_ns) {
  const uint64_t now = mtlc_now_ns();
  if (deadline_ns <= now) {
    return 0;
  }
  const uint64_t milliseconds = (deadline_ns - now) / 1000000u + 1;
  return milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
}

// --- fork

static void before_fork(void) {
  pthread_mutex_lock(&connection.lock);
}

static void after_fork_in_parent(void) {
  pthread_mutex_unlock(&connection.lock);
}

// True if control_fd is still our socket: a host may close descriptors that it
// does not know, and the number may be another file's by now.
static bool control_is_ours(void) {
  struct stat status;
  return connection.control_fd >= 0 &&
         fstat(connection.control_fd, &status) == 0 &&
         status.st_dev == connection.control_device &&
         status.st_ino == connection.control_inode;
}

static void close_control(void) {
  if (control_is_ours()) {
    close(connection.control_fd);
  }
  connection.control_fd = -1;
}

// Closes the child's copies of descriptors, which would keep the parent's
// compiler and workers waiting.
static void after_fork_in_child(void) {
  close_control();
  if (connection.starting_fd >= 0) {
    close(connection.starting_fd);
    connection.starting_fd = -1;
  }
  for (mtlc_channel *channel = connection.channels; channel;
       channel = channel->next) {
    close(channel->stream_fd);
    close(channel->obituary_fd);
  }
  connection.channels = NULL;
  pthread_mutex_unlock(&connection.lock);
  pthread_mutex_init(&connection.start_lock, NULL);  // its owner is not here
}

static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// Ends the compiler when the library is unloaded or the process ends. If a
// thread is in the middle of a request, the end of the process does it.
__attribute__((destructor)) static void let_go(void) {
  if (pthread_mutex_trylock(&connection.lock) == 0) {
    close_control();
    mtli_bytes_clear(&connection.identity);
    pthread_mutex_unlock(&connection.lock);
  }
}

// --- starting it

// Makes the control socket and starts the process on its other end. Holds the
// lock, so that no fork of the host copies that end.
static mtl_status launch(const char *path, int error_fd, int *out_fd,
                         pid_t *out_pid) {
  int ends[2];
  pthread_mutex_lock(&connection.lock);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    const int error = errno;
    pthread_mutex_unlock(&connection.lock);
    return mtli_fail(MTL_COMPILER_LOST, "no socket to the compiler: %s",
                     strerror(error));
  }
  ends[0] = mtlc_above_standard(ends[0]);
  ends[1] = mtlc_above_standard(ends[1]);
  const int error = mtlc_spawn_server(path, ends[1], error_fd, out_pid);
  close(ends[1]);
  if (error) {
    close(ends[0]);
  } else {
    connection.starting_fd = ends[0];
  }
  pthread_mutex_unlock(&connection.lock);
  *out_fd = ends[0];
  return error
             ? mtli_fail(MTL_COMPILER_LOST, "cannot start the compiler %s: %s",
                         path, strerror(error))
             : MTL_OK;
}

static ssize_t receive_hello(int control_fd, void *data, size_t capacity,
                             uint64_t deadline_ns) {
  for (;;) {
    struct pollfd file = {.fd = control_fd, .events = POLLIN};
    const int ready = poll(&file, 1, mtlc_poll_timeout_ms(deadline_ns));
    if (ready > 0) {
      const ssize_t size = recv(control_fd, data, capacity, MSG_DONTWAIT);
      if (size >= 0 || (errno != EAGAIN && errno != EINTR)) {
        return size;
      }
    } else if (ready == 0 || errno != EINTR) {
      return -1;
    }
  }
}

// Reaps the started process, which only forks the server and ends. A host that
// waits for any child may have reaped it already. Returns waitpid's status, or
// -1.
static int reap(pid_t pid, bool is_stuck) {
  int status = -1;
  if (is_stuck && waitpid(pid, &status, WNOHANG) == pid) {
    return status;
  }
  if (is_stuck) {
    kill(pid, SIGKILL);
  }
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return is_stuck ? -1 : status;  // that end was ours
}

// Waits a moment for a process whose socket is closed: how it ends is worth
// reporting.
static bool is_ending(pid_t pid) {
  enum { WAIT_MS = 1000 };
  const int process = pidfd_open(pid, 0);
  struct pollfd file = {.fd = process, .events = POLLIN};
  const bool has_ended = process >= 0 && poll(&file, 1, WAIT_MS) > 0;
  if (process >= 0) {
    close(process);
  }
  return has_ended;
}

// Makes a started process the compiler that requests go to.
static void adopt(int control_fd, const void *identity, size_t size) {
  struct stat status = {0};
  fstat(control_fd, &status);
  pthread_mutex_lock(&connection.lock);
  connection.starting_fd = -1;
  connection.control_fd = control_fd;
  connection.control_device = status.st_dev;
  connection.control_inode = status.st_ino;
  connection.server += 1;
  mtli_bytes_clear(&connection.identity);
  mtli_bytes_append(&connection.identity, identity, size);
  pthread_mutex_unlock(&connection.lock);
}

static void abandon_start(int control_fd) {
  pthread_mutex_lock(&connection.lock);
  connection.starting_fd = -1;
  close(control_fd);
  pthread_mutex_unlock(&connection.lock);
}

// --- when it does not start

// Reads the end of the process's standard error, as one line.
static void read_last_words(int error_fd, char *out_text, size_t capacity) {
  const off_t end = error_fd < 0 ? 0 : lseek(error_fd, 0, SEEK_END);
  const off_t first = end > (off_t)capacity - 1 ? end - (off_t)capacity + 1 : 0;
  ssize_t length = end > 0 ? pread(error_fd, out_text, capacity - 1, first) : 0;
  while (length > 0 && out_text[length - 1] == '\n') {
    --length;
  }
  out_text[length > 0 ? length : 0] = '\0';
  for (char *c = out_text; *c; ++c) {
    *c = *c == '\n' ? ' ' : (unsigned char)*c < ' ' ? '?' : *c;
  }
}

static void describe_status(int status, char *out_text, size_t capacity) {
  const char *name =
      status != -1 && WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : "";
  if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
    snprintf(out_text, capacity, "ended");
  } else if (WIFEXITED(status)) {
    snprintf(out_text, capacity, "ended with exit status %d",
             WEXITSTATUS(status));
  } else {
    snprintf(out_text, capacity, "was ended by SIG%s", name ? name : "?");
  }
}

// Fails with the reason. size is the length of the answer that came instead of
// a hello: 0 at the end of the process, -1 at the time limit.
static mtl_status fail_to_start(const char *path, ssize_t size, int status,
                                int error_fd, const mtlc_limits *limits) {
  char words[512], end[64];
  read_last_words(error_fd, words, sizeof words);
  describe_status(status, end, sizeof end);
  const char *wrote = *words ? "; it last wrote: " : "";
  if (size < 0) {
    return mtli_fail(MTL_COMPILER_LOST,
                     "the compiler %s did not become ready within %u s "
                     "(METTLE_COMPILER_SECONDS)%s%s",
                     path, limits->seconds, wrote, words);
  }
  return size == 0 ? mtli_fail(MTL_COMPILER_LOST,
                               "the compiler %s %s before it was ready%s%s",
                               path, end, wrote, words)
                   : mtli_fail(MTL_COMPILER_LOST,
                               "%s is not the compiler of this Mettle%s%s",
                               path, wrote, words);
}

static mtl_status start_at(const char *path, int error_fd,
                           const mtlc_limits *limits,
                           unsigned char hello[MTLC_HELLO_BYTES]) {
  int control_fd = -1;
  pid_t pid = 0;
  MTL_TRY(launch(path, error_fd, &control_fd, &pid));
  const uint64_t deadline_ns =
      mtlc_now_ns() + limits->seconds * UINT64_C(1000000000);
  const ssize_t size =
      receive_hello(control_fd, hello, MTLC_HELLO_BYTES, deadline_ns);
  const void *identity;
  size_t identity_bytes;
  const bool is_ours = size > 0 && mtlc_hello_read(hello, (size_t)size,
                                                   &identity, &identity_bytes);
  const int status = reap(pid, !is_ours && !(size == 0 && is_ending(pid)));
  if (is_ours) {
    adopt(control_fd, identity, identity_bytes);
    return MTL_OK;
  }
  abandon_start(control_fd);
  return fail_to_start(path, size, status, error_fd, limits);
}

static mtl_status start_server(const mtlc_limits *limits) {
  char path[PATH_MAX];
  MTL_TRY(mtlc_compiler_path(path));
  unsigned char *hello = malloc(MTLC_HELLO_BYTES);
  if (!hello) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to start the compiler");
  }
  // Without such a file, the last words of the process are lost.
  const int error_fd = mtlc_above_standard(mtli_scratch_file("mettlec-stderr"));
  const mtl_status status = start_at(path, error_fd, limits, hello);
  if (error_fd >= 0) {
    close(error_fd);
  }
  free(hello);
  return status;
}

static bool is_connected(void) {
  pthread_mutex_lock(&connection.lock);
  if (!control_is_ours()) {
    connection.control_fd = -1;
  }
  const bool result = connection.control_fd >= 0;
  pthread_mutex_unlock(&connection.lock);
  return result;
}

mtl_status mtlc_connection_start(const mtlc_limits *limits) {
  static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
  pthread_once(&fork_once, watch_forks);
  pthread_mutex_lock(&connection.start_lock);
  const mtl_status status = is_connected() ? MTL_OK : start_server(limits);
  pthread_mutex_unlock(&connection.start_lock);
  return status;
}

void mtlc_connection_drop(uint64_t server) {
  pthread_mutex_lock(&connection.lock);
  if (connection.server == server) {
    close_control();
  }
  pthread_mutex_unlock(&connection.lock);
}

bool mtlc_connection_identity(mtli_bytes *out) {
  pthread_mutex_lock(&connection.lock);
  const bool is_known = connection.identity.size > 0;
  mtli_bytes_append(out, connection.identity.data, connection.identity.size);
  pthread_mutex_unlock(&connection.lock);
  return is_known;
}

// --- channels

// Sends the worker's ends of a channel with the control packet.
static ssize_t send_ends(const mtlc_limits *limits, const int ends[2]) {
  mtli_bytes packet = {0};
  mtlc_limits_write(limits, &packet);
  if (packet.failed) {
    errno = ENOMEM;
    return -1;
  }
  union {
    struct cmsghdr header;  // for its alignment
    unsigned char bytes[CMSG_SPACE(2 * sizeof(int))];
  } control = {0};
  struct iovec part = {packet.data, packet.size};
  const struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  memcpy(CMSG_DATA(header), ends, 2 * sizeof(int));
  const ssize_t sent =
      sendmsg(connection.control_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  mtli_bytes_clear(&packet);
  return sent;
}

// Makes a channel's four ends. Returns an errno, 0 if all is well.
static int make_ends(mtlc_channel *channel, int their_ends[2]) {
  int stream[2], obituary[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) != 0) {
    return errno;
  }
  if (pipe2(obituary, O_CLOEXEC) != 0) {
    const int error = errno;
    close(stream[0]);
    close(stream[1]);
    return error;
  }
  channel->stream_fd = mtlc_above_standard(stream[0]);
  channel->obituary_fd = mtlc_above_standard(obituary[0]);
  their_ends[0] = stream[1];
  their_ends[1] = obituary[1];
  return 0;
}

// Returns 0, EPIPE if the server is gone, EAGAIN if it is busy, or another
// errno. The lock is held, so that no fork copies the worker's ends.
static int try_open(const mtlc_limits *limits, mtlc_channel *channel) {
  int their_ends[2] = {-1, -1};
  if (!control_is_ours()) {
    return EPIPE;
  }
  int error = make_ends(channel, their_ends);
  if (error) {
    return error;
  }
  error = send_ends(limits, their_ends) < 0 ? errno : 0;
  close(their_ends[0]);
  close(their_ends[1]);
  if (error) {
    close(channel->stream_fd);
    close(channel->obituary_fd);
    return error == ECONNRESET || error == ENOTCONN ? EPIPE : error;
  }
  channel->server = connection.server;
  channel->next = connection.channels;
  connection.channels = channel;
  return 0;
}

// A busy server takes requests up again soon: while it forks, or warms up. If
// another thread closes the descriptor meanwhile, the wait merely ends early.
static void wait_for_room(void) {
  enum { TRY_AGAIN_MS = 100 };
  pthread_mutex_lock(&connection.lock);
  struct pollfd file = {.fd = connection.control_fd, .events = POLLOUT};
  pthread_mutex_unlock(&connection.lock);
  poll(&file, 1, TRY_AGAIN_MS);
}

mtl_status mtlc_channel_open(const mtlc_limits *limits,
                             mtlc_channel *out_channel) {
  enum { STARTS = 3 };  // of a compiler process that ends at once
  const uint64_t deadline_ns =
      mtlc_now_ns() + limits->seconds * UINT64_C(1000000000);
  for (int starts = 0;;) {
    MTL_TRY(mtlc_connection_start(limits));
    *out_channel = (mtlc_channel){.stream_fd = -1, .obituary_fd = -1};
    pthread_mutex_lock(&connection.lock);
    const int error = try_open(limits, out_channel);
    if (error == EPIPE) {
      close_control();
    }
    pthread_mutex_unlock(&connection.lock);
    if (!error) {
      return MTL_OK;
    }
    const bool is_passing =
        error == EPIPE ? ++starts < STARTS
                       : error == EAGAIN && mtlc_now_ns() < deadline_ns;
    if (!is_passing) {
      return mtli_fail(MTL_COMPILER_LOST,
                       "cannot hand a request to the compiler: %s",
                       strerror(error));
    }
    if (error == EAGAIN) {
      wait_for_room();
    }
  }
}

void mtlc_channel_close(mtlc_channel *channel) {
  pthread_mutex_lock(&connection.lock);
  for (mtlc_channel **link = &connection.channels; *link;
       link = &(*link)->next) {
    if (*link == channel) {
      *link = channel->next;
      break;
    }
  }
  close(channel->stream_fd);
  close(channel->obituary_fd);
  pthread_mutex_unlock(&connection.lock);
}
