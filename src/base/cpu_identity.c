// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_identity.c: reads the processor's description by its own instructions;
// reading /proc/cpuinfo takes milliseconds on many cores.
#include "base/cpu_identity.h"

#if defined(__x86_64__)

#include <cpuid.h>

// The leaves that tell vendor, model, name and features (Intel SDM volume 2,
// CPUID; AMD APM volume 3, appendix E).
static const unsigned leaves[][2] = {
    {0x0, 0},        {0x1, 0},        {0x7, 0},        {0x7, 1},
    {0x7, 2},        {0xd, 1},        {0x14, 0},       {0x19, 0},
    {0x1e, 1},       {0x24, 0},       {0x80000001, 0}, {0x80000002, 0},
    {0x80000003, 0}, {0x80000004, 0}, {0x80000008, 0},
};

// Register states that the system saves: without them AVX cannot be used.
static unsigned enabled_states(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

void mtli_cpu_identity_append(mtli_bytes *bytes) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const unsigned has_xsave = 1u << 27;  // OSXSAVE, leaf 1 ECX
  if (__get_cpuid(1, &a, &b, &c, &d) && (c & has_xsave)) {
    mtli_bytes_append_u32(bytes, enabled_states());
  }
  for (unsigned i = 0; i < sizeof leaves / sizeof *leaves; ++i) {
    a = b = c = d = 0;
    __get_cpuid_count(leaves[i][0], leaves[i][1], &a, &b, &c, &d);
    // EBX of leaf 1 and of 0xd, and all but EBX of 0x80000008, describe the
    // answering core and sizes, not the model.
    const int core_only = leaves[i][0] == 0x1 || leaves[i][0] == 0xd;
    const int only_b = leaves[i][0] == 0x80000008;
    mtli_bytes_append_u32(bytes, only_b ? 0 : a);
    mtli_bytes_append_u32(bytes, core_only ? 0 : b);
    mtli_bytes_append_u32(bytes, only_b ? 0 : c);
    mtli_bytes_append_u32(bytes, only_b ? 0 : d);
  }
}

#elif defined(__aarch64__)

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

void mtli_cpu_identity_append(mtli_bytes *bytes) {
  mtli_bytes_append_u64(bytes, getauxval(AT_HWCAP));
  mtli_bytes_append_u64(bytes, getauxval(AT_HWCAP2));
  char model[32];
  const int file =
      open("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
           O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t length = read(file, model, sizeof model);
    close(file);
    mtli_bytes_append(bytes, model, length > 0 ? (size_t)length : 0);
  }
}

#else
#error "say here how this architecture tells its processors apart"
#endif
