// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accelerate.mm: what command-line programs link beside Metal: vDSP, vForce and
// CBLAS for references, IOKit for the number of cores, Cocoa for Foundation,
// and simd's names in C++. Expected values are small integers by hand.
#import <Accelerate/Accelerate.h>
#import <Cocoa/Cocoa.h>
#import <IOKit/IOKitLib.h>
#import <Metal/Metal.h>
#import <simd/simd.h>
#include <mach-o/getsect.h>

#include "../check.h"

static void vectors() {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {6, 5, 4, 3, 2, 1};
  float out[6] = {0}, one = 0;
  vDSP_vsub(a, 1, b, 1, out, 1, 6);  // b - a
  CHECK(out[0] == 5 && out[5] == -5);
  vDSP_vdiv(b, 2, a, 2, out, 1, 3);  // every other element of a / b
  CHECK(out[1] == 0.75f && out[2] == 2.5f);
  vDSP_vadd(a + 5, -1, b, 1, out, 1, 6);  // a backwards
  CHECK(out[0] == 12 && out[5] == 2);
  const float scale = 2;
  vDSP_vsma(a, 1, &scale, b, 1, out, 1, 6);
  CHECK(out[0] == 8 && out[5] == 13);
  vDSP_Length at = 0;
  vDSP_maxvi(b, 2, &one, &at, 3);
  CHECK(one == 6 && at == 0);
  vDSP_minvi(b, 2, &one, &at, 3);
  CHECK(one == 2 && at == 4);  // an index into b, not of the step
  vDSP_meanv(a, 1, &one, 6);
  CHECK(one == 3.5f);
  vDSP_svesq(a, 1, &one, 6);
  CHECK(one == 91);
  vDSP_distancesq(a, 1, b, 1, &one, 6);
  CHECK(one == 70);
  vDSP_mmul(a, 1, b, 1, out, 1, 2, 2, 3);  // 2 x 3 times 3 x 2
  CHECK(out[0] == 20 && out[1] == 14 && out[2] == 56 && out[3] == 41);
  vDSP_mtrans(a, 1, out, 1, 3, 2);
  CHECK(out[0] == 1 && out[1] == 4 && out[2] == 2 && out[5] == 6);
  double wide[3] = {0}, from[3] = {4, 9, 16};
  const int count = 3;
  vvsqrt(wide, from, &count);
  CHECK(wide[0] == 2 && wide[1] == 3 && wide[2] == 4);
  const double exponents[3] = {2, 2, 0.5};
  vvpow(wide, exponents, from, &count);
  CHECK(wide[0] == 16 && wide[1] == 81 && wide[2] == 4);
  const short small[3] = {-1, 0, 7};
  vDSP_vflt16(small, 1, out, 1, 3);
  CHECK(out[0] == -1 && out[2] == 7);
}

static void matrices() {
  // By columns and by rows, with transposes: [1 2; 3 4] [5 6; 7 8].
  const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  const double at[4] = {1, 3, 2, 4}, bt[4] = {5, 7, 6, 8};
  double c[4] = {1, 1, 1, 1};
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2,
              0, c, 2);
  CHECK(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasTrans, 2, 2, 2, 2, at, 2, bt, 2,
              1, c, 2);
  CHECK(c[0] == 57 && c[3] == 150);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, at, 2, bt,
              2, 0, c, 2);
  CHECK(c[0] == 19 && c[1] == 43 && c[2] == 22 && c[3] == 50);
  const double x[2] = {1, -1};
  double y[2] = {10, 20};
  cblas_dgemv(CblasRowMajor, CblasTrans, 2, 2, 1, a, 2, x, 1, 1, y, 1);
  CHECK(y[0] == 8 && y[1] == 18);
  // [2 1 0; 1 3 1; 0 1 4] by its upper band, row by row.
  const double band[6] = {2, 1, 3, 1, 4, 0}, ones[3] = {1, 1, 1};
  double z[3] = {0};
  cblas_dsbmv(CblasRowMajor, CblasUpper, 3, 1, 1, band, 2, ones, 1, 0, z, 1);
  CHECK(z[0] == 3 && z[1] == 5 && z[2] == 5);
  CHECK(cblas_ddot(2, a, 2, b, 2) == 26);
  CHECK(cblas_dnrm2(2, (const double[]){3, 4}, 1) == 5);
  CHECK(cblas_idamax(3, (const double[]){3, -7, 5}, 1) == 1);
}

static void registry() {
  io_iterator_t all = IO_OBJECT_NULL;
  CHECK(IOServiceGetMatchingServices(kIOMainPortDefault,
                                     IOServiceMatching("IOAccelerator"),
                                     &all) == KERN_SUCCESS);
  const io_object_t first = IOIteratorNext(all);
  uint64_t identifier = 0;
  CHECK(first != IO_OBJECT_NULL);
  CHECK(IORegistryEntryGetRegistryEntryID(first, &identifier) == KERN_SUCCESS);
  CHECK(identifier == MTLCreateSystemDefaultDevice().registryID);
  CFTypeRef cores = IORegistryEntryCreateCFProperty(
      first, CFSTR("gpu-core-count"), kCFAllocatorDefault, 0);
  int count = 0;
  CHECK(cores && CFGetTypeID(cores) == CFNumberGetTypeID());
  CHECK(CFNumberGetValue((CFNumberRef)cores, kCFNumberSInt32Type, &count));
  CHECK(count > 0);
  CFRelease(cores);
  CHECK(!IORegistryEntryCreateCFProperty(first, CFSTR("absent"), NULL, 0));
  IOObjectRelease(all);
  CHECK(IOServiceGetMatchingService(kIOMainPortDefault,
                                    IOServiceMatching("AppleSMC")) == 0);
  unsigned long bytes = 1;
  CHECK(!getsectiondata(nullptr, "__METAL", "__shaders", &bytes) && !bytes);
}

static void names_in_cpp() {
  const simd::float3 a = {1, 2, 3}, b = {4, 5, 6};
  CHECK(simd::dot(a, b) == 32 && simd::cross(a, b)[0] == -3);
  const simd::float4x4 unit = matrix_identity_float4x4;
  const simd_float4x4 &same = unit;
  CHECK(same.columns[3][3] == 1 && sizeof(simd::int3) == 16);
}

int main() {
  @autoreleasepool {
    vectors();
    matrices();
    registry();
    names_in_cpp();
  }
  return checks_end();
}
