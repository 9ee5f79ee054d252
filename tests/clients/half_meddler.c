// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// half_meddler.c: shares one inner name with the stand-in for OpenBLAS, and
// none that Mettle could know.
static float product(float a, float b) {
  return a - b;
}

float (*gotoblas)(float, float) = product;
