# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# test_convolutions.py: convolution2d against sums in NumPy: strides, dilations,
# offsets, edges, channels that are no multiple of anything, several images.
import numpy as np

from case import Program, check, mettle

TEXT = """
kernel void run(device T *x, device T *w, device float *out,
                constant int *sizes) {
  auto a = tensor(x, dextents<int, 4>(sizes[0], sizes[1], sizes[2], N));
  auto f = tensor(w, dextents<int, 4>(sizes[3], sizes[0], KW, KH));
  auto o = tensor(out, dextents<int, 4>(sizes[3], sizes[4], sizes[5], N));
  constexpr auto desc = convolution2d_descriptor(
      int4(O, W, H, N), int4(-1, 16384, 16384, N), int2(KW, KH),
      convolution2d_activation_layout::nhwc, convolution2d_weights_layout::hwio,
      int2(SX, SY), int2(DX, DY), 1, true,
      convolution2d_descriptor::mode::MODE);
  convolution2d<desc, execution_simdgroups<GROUPS>> op;
  op.set_offsets(int2(sizes[6] + ((KW - 1) * DX + 1) / 2,
                      sizes[7] + ((KH - 1) * DY + 1) / 2));
  auto at = o.slice(0, 0, 0, 0);
#if TOGETHER
  auto sum = op.get_destination_cooperative_tensor<decltype(a), decltype(f),
                                                   float>();
  for (int i = 0; i < sum.get_capacity(); i++) sum[i] = 3;
  op.run(a, f, sum);
  sum.store(at);
#else
  op.run(a, f, at);
#endif
}"""


def convolution(x, w, size, stride, dilation, offset):
    """x [n, h, w, c], w [kh, kw, c, o] -> [n, size h, size w, o]."""
    out = np.zeros((x.shape[0], *size, w.shape[3]), np.float32)
    for j in range(size[0]):
        for i in range(size[1]):
            for kj in range(w.shape[0]):
                for ki in range(w.shape[1]):
                    row = j * stride[0] + kj * dilation[0] + offset[0]
                    col = i * stride[1] + ki * dilation[1] + offset[1]
                    if 0 <= row < x.shape[1] and 0 <= col < x.shape[2]:
                        out[:, j, i] += x[:, row, col] @ w[kj, ki]
    return out


def main():
    random = np.random.default_rng(8)
    for (n, height, width, c, o, tile, kernel, stride, dilation, offset, groups,
         together, mode) in (
            (1, 9, 7, 5, 6, (16, 7, 9), (3, 3), (1, 1), (1, 1), (-1, -1), 1, 1,
             "multiply"),
            (1, 9, 9, 20, 35, (48, 4, 4), (3, 2), (2, 2), (1, 2), (0, -1), 4, 1,
             "multiply_accumulate"),
            (2, 6, 6, 16, 16, (16, 8, 4), (1, 1), (1, 1), (1, 1), (0, 0), 2, 0,
             "multiply"),
            (1, 8, 5, 3, 9, (9, 3, 5), (2, 4), (1, 2), (3, 1), (-2, 1), 1, 0,
             "multiply_accumulate")):
        macros = dict(T="half", O=tile[0], W=tile[1], H=tile[2], N=n,
                      KW=kernel[1], KH=kernel[0], SX=stride[1], SY=stride[0],
                      DX=dilation[1], DY=dilation[0], GROUPS=groups,
                      TOGETHER=together, MODE=mode)
        text = "".join(f"#define {k} {v}\n" for k, v in macros.items()) + TEXT
        x = random.integers(-4, 5, (n, height, width, c)).astype(np.float16)
        w = random.integers(-4, 5, (*kernel, c, o)).astype(np.float16)
        size = (tile[2], tile[1])
        before = random.integers(-9, 9, (n, *size, o)).astype(np.float32)
        sizes = np.array([c, width, height, o, size[1], size[0], offset[1],
                          offset[0]], np.int32)
        out = Program(text).run("run", {0: x, 1: w, 2: before, 3: sizes},
                                group=(32 * groups,))[2]
        want = convolution(x.astype(np.float32), w.astype(np.float32), size,
                           stride, dilation, offset)
        if mode == "multiply_accumulate":
            want += 3 if together else before
        check.equal(f"{kernel} over {x.shape}", out[..., :tile[0]],
                    want[..., :tile[0]])


try:
    main()
except mettle.Error as error:
    check.failed(str(error))
check.finish()
