// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main.c: mettlec, the compiler process. The runtime starts it with --serve
// and the control socket as descriptor 3; people use the command mettle.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/air/translate.h"
#include "compiler/frontend/frontend.h"
#include "compiler/process/server.h"
#include "mettle/version.h"

static const char help[] =
    "mettlec, the compiler process of Mettle\n"
    "\n"
    "Programs that use libmettle start it by themselves, find it through\n"
    "METTLE_COMPILER or beside the library, and keep it while they run. To\n"
    "compile from the command line see `mettle compile --help`.\n"
    "\n"
    "  --version  prints the version\n"
    "  --help     prints this text\n"
    "  --serve    answers requests on file descriptor 3 (internal)\n"
    "  --precompile DIR   writes the precompiled library (internal)\n";

// Becomes a process without a parent to wait for it, in a session of its own:
// no signal of the host's terminal reaches it. It watches the host through a
// descriptor.
static int serve(void) {
  int type;
  socklen_t size = sizeof type;
  if (getsockopt(MTLC_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET) {
    fprintf(stderr,
            "mettlec: --serve is for libmettle: descriptor %d is not "
            "its socket\n",
            MTLC_CONTROL_FD);
    return 2;
  }
  close_range(MTLC_CONTROL_FD + 1, ~0u, 0);  // whatever else the host had open
  const pid_t host = getppid();
  const int host_pid_fd = pidfd_open(host, 0);
  if (getppid() != host) {
    return EXIT_SUCCESS;
  }
  const pid_t pid = fork();
  if (pid != 0) {
    _exit(pid < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
  }
  setsid();
  return mtlc_serve(host_pid_fd);
}

// Compiles Metal's headers in a child, then the support library, which needs a
// front end that has found their compiled form.
static bool precompile(const char *folder) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    _exit(mtlc_frontend_precompile(folder) ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    return false;
  }
  mtlc_frontend_prepare();
  return mtlc_translate_precompile(folder);
}

int main(int count, char **arguments) {
  const char *option = count == 2 ? arguments[1] : "";
  if (strcmp(option, "--serve") == 0) {
    return serve();
  }
  if (strcmp(option, "--version") == 0) {
    printf("mettlec %d.%d.%d\n", MTL_VERSION_MAJOR, MTL_VERSION_MINOR,
           MTL_VERSION_PATCH);
    return EXIT_SUCCESS;
  }
  if (strcmp(option, "--help") == 0) {
    fputs(help, stdout);
    return EXIT_SUCCESS;
  }
  if (count == 3 && strcmp(arguments[1], "--precompile") == 0) {
    return precompile(arguments[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  fputs("usage: mettlec --version | --help | --serve\n", stderr);
  return 2;
}
