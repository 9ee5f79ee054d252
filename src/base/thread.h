// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread.h: starts and ends threads of Mettle's own.
#ifndef MTLI_THREAD_H
#define MTLI_THREAD_H

#include <pthread.h>
#include <stdbool.h>

// Starts a named thread (15 bytes are shown) that takes no asynchronous
// signals: those are for the client's threads. Synchronous ones (SIGSEGV and
// its like) reach the thread that causes them.
bool mtli_thread_start(pthread_t *out_thread, const char *name,
                       void *(*run)(void *), void *context);

// Joins a thread. If it is the calling one, detaches it instead.
void mtli_thread_end(pthread_t thread);

#endif
