// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// machine.h: how much of this machine the process may use.
#ifndef MTLI_MACHINE_H
#define MTLI_MACHINE_H

#include <stdint.h>

// Returns the CPUs that the process may keep busy: its affinity, cut by the
// CPU quota of its control group and of the groups around it. At least 1.
uint32_t mtli_machine_cpus(void);

// Returns the bytes that the process may have: physical memory, cut by the
// control groups' memory limits and by RLIMIT_AS.
uint64_t mtli_machine_memory_bytes(void);

uint64_t mtli_machine_page_bytes(void);

// Returns the CPU that code is to be made for instead of this one, from
// METTLE_CPU_TARGET: for runs under valgrind or an emulator, and to see what
// another machine would get. Yours to free; NULL for this CPU.
char *mtli_cpu_target(void);

#endif
