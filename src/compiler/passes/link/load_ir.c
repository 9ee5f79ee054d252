// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_ir.c: comes back from a fault of LLVM's reader by siglongjmp. The process
// is one request's, and ends with its answer (worker.c).
#include "compiler/passes/link/load_ir.h"

#include <setjmp.h>
#include <signal.h>

#include "compiler/frontend/frontend.h"

// SIGABRT, by which LLVM ends without memory, is not among them: it is no fault
// of the input.
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { FAULT_COUNT = sizeof faults / sizeof *faults };

static _Thread_local sigjmp_buf *way_back;

static void go_back(int signal_number) {
  if (!way_back) {  // another thread's
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return;
  }
  siglongjmp(*way_back, 1);
}

bool mtlc_load_ir(LLVMContextRef context, const void *bitcode,
                  size_t size_bytes, const char *symbol,
                  LLVMModuleRef *out_module) {
  const struct sigaction action = {.sa_handler = go_back,
                                   .sa_flags = SA_ONSTACK};
  struct sigaction before[FAULT_COUNT];
  sigjmp_buf here;
  volatile bool is_read = false;
  for (size_t i = 0; i < FAULT_COUNT; ++i) {
    sigaction(faults[i], &action, &before[i]);
  }
  if (sigsetjmp(here, /*savemask=*/1) == 0) {
    way_back = &here;
    is_read =
        mtlc_load_kernel(context, bitcode, size_bytes, symbol, out_module);
  } else {
    *out_module = NULL;
  }
  way_back = NULL;
  for (size_t i = 0; i < FAULT_COUNT; ++i) {
    sigaction(faults[i], &before[i], NULL);
  }
  return is_read;
}
