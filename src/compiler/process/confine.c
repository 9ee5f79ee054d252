// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// confine.c: sandboxes the compiler process: Landlock for the file system,
// seccomp for system calls. Each works without the other. The server has a deny
// list; a worker, which reads untrusted input, has an allow list.
#include "compiler/process/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch_file.h"

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1  // its run time reads /proc/self to report
#else
#define IS_SANITIZED 0
#endif

// --- Landlock ----------------------------------------------------------------
// Linux's include/uapi/linux/landlock.h, which build machines may have older
// than the kernel that runs.

enum {
  SYS_CREATE_RULESET = 444,
  SYS_ADD_RULE = 445,
  SYS_RESTRICT_SELF = 446,
  CREATE_RULESET_VERSION = 1,
  RULE_PATH_BENEATH = 1,
};

#define ACCESS_EXECUTE (UINT64_C(1) << 0)
#define ACCESS_WRITE_FILE (UINT64_C(1) << 1)
#define ACCESS_READ_FILE (UINT64_C(1) << 2)
#define ACCESS_READ_DIR (UINT64_C(1) << 3)
#define ACCESS_REMOVE_FILE (UINT64_C(1) << 5)
#define ACCESS_MAKE_REG (UINT64_C(1) << 8)
#define ACCESS_OF_VERSION_1 ((UINT64_C(1) << 13) - 1)
#define ACCESS_REFER (UINT64_C(1) << 13)      // version 2
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)   // version 3
#define ACCESS_IOCTL_DEV (UINT64_C(1) << 15)  // version 5
#define ACCESS_READ (ACCESS_READ_FILE | ACCESS_READ_DIR)
#define ACCESS_NET (UINT64_C(3))  // version 4: to bind and to connect TCP
#define SCOPES (UINT64_C(3))      // version 6: abstract sockets, and signals

typedef struct landlock_ruleset {
  uint64_t access_fs;
  uint64_t access_net;
  uint64_t scoped;
} landlock_ruleset;

typedef struct landlock_rule {
  uint64_t access;
  int32_t folder_fd;
} __attribute__((packed)) landlock_rule;

static long landlock_version(void) {
  return syscall(SYS_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
}

// Returns all rights but reading that this kernel knows.
static landlock_ruleset all_but_reading(long version) {
  uint64_t access = ACCESS_OF_VERSION_1 & ~ACCESS_READ;
  access |= version >= 2 ? ACCESS_REFER : 0;
  access |= version >= 3 ? ACCESS_TRUNCATE : 0;
  access |= version >= 5 ? ACCESS_IOCTL_DEV : 0;
  return (landlock_ruleset){.access_fs = access,
                            .access_net = version >= 4 ? ACCESS_NET : 0,
                            .scoped = version >= 6 ? SCOPES : 0};
}

static int create_ruleset(const landlock_ruleset *rules) {
  return (int)syscall(SYS_CREATE_RULESET, rules, sizeof *rules, 0);
}

// Allows access below a folder, or to a file. A missing one is skipped.
static void allow_below(int ruleset_fd, const char *path, uint64_t access) {
  landlock_rule rule = {.access = access,
                        .folder_fd = open(path, O_PATH | O_CLOEXEC)};
  if (rule.folder_fd < 0) {
    return;
  }
  if (syscall(SYS_ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &rule, 0) != 0 &&
      errno == EINVAL && (access & ACCESS_READ_DIR)) {
    rule.access = ACCESS_READ_FILE;  // no folder
    (void)syscall(SYS_ADD_RULE, ruleset_fd, RULE_PATH_BENEATH, &rule, 0);
  }
  close(rule.folder_fd);
}

static void enforce(int ruleset_fd) {
  (void)syscall(SYS_RESTRICT_SELF, ruleset_fd, 0);
  close(ruleset_fd);
}

// --- seccomp -----------------------------------------------------------------

enum { MOST_INSTRUCTIONS = 512 };

typedef struct filter {
  struct sock_filter code[MOST_INSTRUCTIONS];
  unsigned short count;
} filter;

static void add(filter *self, struct sock_filter instruction) {
  if (self->count < MOST_INSTRUCTIONS) {
    self->code[self->count++] = instruction;
  }
}

static void load(filter *self, size_t offset) {
  add(self, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                         (unsigned)offset));
}

static void answer(filter *self, unsigned action) {
  add(self, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

static void answer_error(filter *self, int error) {
  answer(self, SECCOMP_RET_ERRNO | (unsigned)error);
}

// Skips count instructions unless the loaded word is value.
static void unless_equal(filter *self, unsigned value, unsigned char count) {
  add(self,
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
}

static void begin(filter *self) {
  load(self, offsetof(struct seccomp_data, arch));
  add(self, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH,
                                         1, 0));
  answer_error(self, EPERM);
  load(self, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
  // The calls of the x32 ABI have a bit more.
  add(self, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u,
                                         0, 1));
  answer_error(self, EPERM);
#endif
}

static size_t low_word_of(unsigned argument) {
  return offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
}

static void answer_to(filter *self, long call, unsigned action) {
  unless_equal(self, (unsigned)call, 1);
  answer(self, action);
}

// Allows a call whose argument is value, both of its words.
static void allow_argument(filter *self, long call, unsigned argument,
                           uint64_t value) {
  unless_equal(self, (unsigned)call, 6);
  load(self, low_word_of(argument));
  unless_equal(self, (unsigned)value, 3);
  load(self, low_word_of(argument) + sizeof(uint32_t));
  unless_equal(self, (unsigned)(value >> 32), 1);
  answer(self, SECCOMP_RET_ALLOW);
  load(self, offsetof(struct seccomp_data, nr));
}

// Allows a system call if the masked bits of a 32-bit argument equal value.
static void allow_bits(filter *self, long call, unsigned argument,
                       unsigned mask, unsigned value) {
  unless_equal(self, (unsigned)call, 5);
  load(self, low_word_of(argument));
  add(self, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
  unless_equal(self, value, 1);
  answer(self, SECCOMP_RET_ALLOW);
  load(self, offsetof(struct seccomp_data, nr));
}

// Installs a filter. It allows speculation: other processes' is no concern of a
// compiler, and the kernel's default for filtered processes costs time.
static void install(const filter *self) {
  const struct sock_fprog program = {self->count,
                                     (struct sock_filter *)self->code};
  (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
}

// System calls that reach other programs, processes, the network or the
// machine.
static const int server_denied[] = {
    SYS_execve,         SYS_execveat,          SYS_socket,
    SYS_connect,        SYS_bind,              SYS_listen,
    SYS_accept,         SYS_accept4,           SYS_ptrace,
    SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount,
    SYS_umount2,        SYS_pivot_root,        SYS_chroot,
    SYS_setns,          SYS_unshare,           SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd,      SYS_keyctl,
    SYS_add_key,        SYS_request_key,       SYS_init_module,
    SYS_finit_module,   SYS_delete_module,     SYS_kexec_load,
    SYS_reboot,         SYS_swapon,            SYS_swapoff,
    SYS_acct,           SYS_settimeofday,      SYS_clock_settime,
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_personality,
    425, 426, 427,  // io_uring_setup, _enter, _register
    428, 429, 430, 431, 432, 433,  // open_tree to fspick: new mounts
    438,            // pidfd_getfd
};

static const int worker_allowed[] = {
    // use of open files, and queries about names
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64,
    SYS_lseek, SYS_close, SYS_dup, SYS_dup3, SYS_fcntl, SYS_fstat,
    SYS_newfstatat, SYS_statx, SYS_readlinkat, SYS_faccessat, SYS_faccessat2,
    SYS_getcwd, SYS_getdents64, SYS_ftruncate, SYS_fallocate,
    SYS_memfd_create, SYS_pipe2, SYS_ppoll, SYS_recvfrom, SYS_fstatfs,
#if defined(__x86_64__)
    SYS_dup2, SYS_stat, SYS_lstat, SYS_readlink, SYS_access, SYS_poll,
    SYS_pipe, SYS_time, SYS_getrlimit, SYS_pause, SYS_arch_prctl,
#endif
    // memory
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_mincore,
    // threads and signals of its own
    SYS_futex, SYS_sched_yield, SYS_sched_getaffinity, SYS_set_robust_list,
    SYS_set_tid_address, SYS_rseq,
    SYS_membarrier, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_exit,
    SYS_exit_group, SYS_restart_syscall,
    // identity and time
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid,
    SYS_getegid, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep,
    SYS_nanosleep, SYS_gettimeofday, SYS_getrusage, SYS_times, SYS_uname,
    SYS_sysinfo, SYS_getrandom,
};

static void allow_checked(filter *self, bool may_write) {
  const unsigned writing =
      may_write ? 0 : O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  const unsigned self_pid = (unsigned)getpid();
  allow_bits(self, SYS_openat, 2, writing, 0);
  allow_bits(self, SYS_mmap, 2, PROT_EXEC, 0);
  allow_bits(self, SYS_mprotect, 2, PROT_EXEC, 0);
  allow_bits(self, SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
  allow_bits(self, SYS_tgkill, 0, ~0u, self_pid);
  allow_bits(self, SYS_kill, 0, ~0u, self_pid);
  allow_bits(self, SYS_prlimit64, 0, ~0u, 0);
  allow_bits(self, SYS_prctl, 0, ~0u, PR_SET_NAME);
  allow_bits(self, SYS_prctl, 0, ~0u, 0x53564d41);  // PR_SET_VMA: glibc's heap
  allow_argument(self, SYS_sendto, 4, 0);           // to nobody else
#if defined(__x86_64__)
  allow_bits(self, SYS_open, 1, writing, 0);
#endif
  if (may_write) {
    answer_to(self, SYS_unlinkat, SECCOMP_RET_ALLOW);
#if defined(__x86_64__)
    answer_to(self, SYS_unlink, SECCOMP_RET_ALLOW);
#endif
  }
}

// --- both --------------------------------------------------------------------

static bool has_memory_files(void) {
  const int file = memfd_create("probe", MFD_CLOEXEC);
  if (file >= 0) {
    close(file);
  }
  return file >= 0;
}

static void fence_server_files(void) {
  const long version = landlock_version();
  if (version < 1) {
    return;
  }
  const landlock_ruleset rules = all_but_reading(version);
  const int ruleset_fd = create_ruleset(&rules);
  if (ruleset_fd < 0) {
    return;
  }
  const char *folder;
  for (size_t i = 0;
       !has_memory_files() && (folder = mtli_scratch_folder(i)) != NULL; ++i) {
    allow_below(ruleset_fd, folder,
                rules.access_fs & (ACCESS_WRITE_FILE | ACCESS_REMOVE_FILE |
                                   ACCESS_MAKE_REG | ACCESS_TRUNCATE));
  }
  enforce(ruleset_fd);
}

void mtlc_confine_server(void) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  fence_server_files();
  filter calls = {.count = 0};
  begin(&calls);
  for (size_t i = 0; i < sizeof server_denied / sizeof *server_denied; ++i) {
    answer_to(&calls, server_denied[i], SECCOMP_RET_ERRNO | EPERM);
  }
  answer(&calls, SECCOMP_RET_ALLOW);
  install(&calls);
}

static void fence_worker_files(const char *const *folders, size_t count) {
  const long version = landlock_version();
  const landlock_ruleset rules = {.access_fs = ACCESS_READ,
                                  .scoped = version >= 6 ? SCOPES : 0};
  const int ruleset_fd = version < 1 ? -1 : create_ruleset(&rules);
  if (ruleset_fd < 0) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    allow_below(ruleset_fd, folders[i], ACCESS_READ);
  }
  // A result that cannot be in memory is read back from where it was written.
  const char *scratch;
  for (size_t i = 0;
       !has_memory_files() && (scratch = mtli_scratch_folder(i)) != NULL; ++i) {
    allow_below(ruleset_fd, scratch, ACCESS_READ_FILE);
  }
  // LLVM identifies an ARM processor by these.
  allow_below(ruleset_fd, "/proc/cpuinfo", ACCESS_READ_FILE);
  if (IS_SANITIZED) {
    allow_below(ruleset_fd, "/proc/self", ACCESS_READ);
  }
  enforce(ruleset_fd);
}

void mtlc_confine_worker(const char *const *folders, size_t count) {
  const bool may_write = !has_memory_files();
  fence_worker_files(folders, count);
  filter calls = {.count = 0};
  begin(&calls);
  for (size_t i = 0; i < sizeof worker_allowed / sizeof *worker_allowed; ++i) {
    answer_to(&calls, worker_allowed[i], SECCOMP_RET_ALLOW);
  }
  allow_checked(&calls, may_write);
  // glibc takes clone instead, whose flags can be seen.
  answer_to(&calls, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  answer_error(&calls, EPERM);
  install(&calls);
}

// --- the probe ---------------------------------------------------------------

static void tell(mtli_bytes *out, const char *what, bool is_done) {
  const char *why = is_done ? "done" : strerrorname_np(errno);
  char line[64];
  const int length =
      snprintf(line, sizeof line, "%s: %s\n", what, why ? why : "?");
  mtli_bytes_append(out, line, (size_t)length);
}

static bool close_if_open(int file) {
  if (file >= 0) {
    close(file);
  }
  return file >= 0;
}

static bool make_process(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(0);
  }
  if (pid > 0) {
    waitpid(pid, NULL, 0);
  }
  return pid > 0;
}

// True if it could; a program that cannot be there ends otherwise.
static bool run_program(void) {
  static const char *const nothing[] = {NULL};
  execve("/", (char *const *)nothing, (char *const *)nothing);
  return errno == EACCES;  // a folder was looked at instead
}

void mtlc_confine_probe(mtli_bytes *out) {
  const int flags = O_CLOEXEC;
  tell(out, "read", close_if_open(open("/proc/self/exe", flags)));
  tell(out, "list", close_if_open(open("/", flags | O_DIRECTORY)));
  tell(out, "write", close_if_open(open("/dev/null", flags | O_WRONLY)));
  tell(out, "create",
       close_if_open(open("/tmp", flags | O_TMPFILE | O_RDWR, 0600)));
  tell(out, "connect", close_if_open(socket(AF_INET, SOCK_STREAM, 0)));
  tell(out, "connect here", close_if_open(socket(AF_UNIX, SOCK_STREAM, 0)));
  tell(out, "exec", run_program());
  tell(out, "fork", make_process());
  tell(out, "signal", kill(getppid(), 0) == 0);
  // If the call were allowed, our address would mean nothing in the other
  // process.
  const struct iovec here = {out, 1}, there = {out, 1};
  tell(out, "trace",
       process_vm_readv(getppid(), &here, 0, &there, 0, 0) >= 0);
  void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tell(out, "new code", code != MAP_FAILED);
  errno = EPERM;
  tell(out, "new privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
}
