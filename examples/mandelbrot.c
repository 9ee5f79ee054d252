// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mandelbrot.c: computes the Mandelbrot set and writes it as a PNG file, the
// first argument or mandelbrot.png.
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

#define WIDTH 1200
#define HEIGHT 800

// As in mandelbrot.metal.
typedef struct view {
  float centre[2];
  float pixel;
  uint32_t limit;
} view;

static const mtl_size group = {32, 8, 1};

static double draw(mtl_device *device, mtl_pipeline *pipeline,
                   mtl_buffer *pixels) {
  const view whole = {
      .centre = {-0.7f, 0}, .pixel = 3.5f / WIDTH, .limit = 500};
  mtl_queue *queue;
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  check(mtl_queue_create(device, NULL, &queue));
  check(mtl_command_buffer_create(queue, NULL, &commands));
  check(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, pixels, 0, 0);
  mtl_compute_encoder_set_bytes(encoder, &whole, sizeof whole, 1);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){WIDTH, HEIGHT, 1},
                                       group);
  check(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
  mtl_queue_release(queue);  // commands still hold it
  return run_and_time(commands);
}

static void write_png(const char *path, const void *pixels) {
  png_image image = {
      .version = PNG_IMAGE_VERSION,
      .width = WIDTH,
      .height = HEIGHT,
      .format = PNG_FORMAT_RGBA,
  };
  if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL)) {
    fprintf(stderr, "%s: %s\n", path, image.message);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "mandelbrot.png";
  mtl_device *device;
  check(mtl_device_default(&device));
  mtl_pipeline *pipeline =
      load_kernel(device, "mandelbrot.metal", "mandelbrot", group);
  mtl_buffer *pixels = make_buffer(device, (size_t)WIDTH * HEIGHT * 4);

  const double seconds = draw(device, pipeline, pixels);
  write_png(path, mtl_buffer_contents(pixels));
  printf("mandelbrot: %d x %d pixels in %.1f ms, written to %s\n", WIDTH,
         HEIGHT, seconds * 1e3, path);

  mtl_buffer_release(pixels);
  mtl_pipeline_release(pipeline);
  mtl_device_release(device);
  return 0;
}
