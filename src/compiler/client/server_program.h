// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// server_program.h: starts the compiler's program; connection.c talks to it.
#ifndef MTLC_SERVER_PROGRAM_H
#define MTLC_SERVER_PROGRAM_H

#include <sys/types.h>

// Moves a descriptor off 0 to 2, where a host that has closed those expects the
// next file that it opens. Returns the new number, or -1.
int mtlc_above_standard(int fd);

// Starts the program at path. their_fd becomes its control socket, error_fd its
// standard error; -1 for none. Returns an errno, 0 if all is well.
int mtlc_spawn_server(const char *path, int their_fd, int error_fd,
                      pid_t *out_pid);

#endif
