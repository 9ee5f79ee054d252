# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""image_filter.py [IN.png [OUT.png]]: finds edges in a picture with a Sobel
filter on textures, and writes the picture before and after side by side.
Without IN.png it draws one. Needs Pillow."""

import sys

import numpy as np

import mettle

SOURCE = """
#include <metal_stdlib>
using namespace metal;
static float light(texture2d<float> in, sampler s, float2 at) {
  return dot(in.sample(s, at).rgb, float3(0.299, 0.587, 0.114));
}
kernel void edges(texture2d<float> in, texture2d<float, access::write> out,
                  uint2 p [[thread_position_in_grid]]) {
  constexpr sampler s(coord::pixel, address::clamp_to_edge, filter::nearest);
  float2 c = float2(p) + 0.5;
  float l[3][3];
  for (int y = 0; y < 3; y++) {
    for (int x = 0; x < 3; x++) {
      l[y][x] = light(in, s, c + float2(x - 1, y - 1));
    }
  }
  float gx = l[0][2] + 2 * l[1][2] + l[2][2] - l[0][0] - 2 * l[1][0] - l[2][0];
  float gy = l[2][0] + 2 * l[2][1] + l[2][2] - l[0][0] - 2 * l[0][1] - l[0][2];
  out.write(float4(float3(saturate(length(float2(gx, gy)))), 1), p);
}"""


def draw(side=256):
    """Discs and stripes."""
    y, x = np.mgrid[0:side, 0:side].astype(np.float32)
    picture = np.zeros((side, side, 3), np.float32)
    picture[..., 2] = 0.3 + 0.2 * (np.sin(x / 9) > 0)
    for cx, cy, radius, color in ((80, 90, 50, (1, 0.6, 0)),
                                  (170, 150, 70, (0.2, 0.8, 0.3))):
        picture[np.hypot(x - cx, y - cy) < radius] = color
    return (picture * 255).astype(np.uint8)


def filtered(picture):
    """The edges of an image as an array."""
    device = mettle.default_device()
    before = mettle.Texture.from_array(device, picture)
    after = device.new_texture(before.width, before.height)
    mettle.compile_shader(SOURCE).edges(before, after)
    return after.numpy()


def main(source=None, target="edges.png"):
    import PIL.Image
    if source is None:
        picture = draw()
    else:
        with PIL.Image.open(source) as image:
            picture = np.asarray(image.convert("RGB"))
    after = filtered(picture)[..., :3]
    both = np.concatenate([picture, after], axis=1)
    PIL.Image.fromarray(both).save(target)
    print(f"{target}: {both.shape[1]}x{both.shape[0]}, before and after")


if __name__ == "__main__":
    main(*sys.argv[1:])
