// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// other_torch.c: another library with a function that models call, as PyTorch's
// own has.
int aoti_torch_empty_strided(void);
int aoti_torch_empty_strided(void) {
  return 1;
}
