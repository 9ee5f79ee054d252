# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The object model, an object at a time."""

import os
import tempfile
import threading
import unittest

import numpy as np
from case import SAXPY, SPIN

import mettle

DEVICE = mettle.default_device()
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"


def pipeline(source, name, **options):
    return DEVICE.new_library(HEAD + source).function(name).pipeline(**options)


class Devices(unittest.TestCase):
    def test_what_a_device_is(self):
        device = mettle.Device("cpu")
        self.assertEqual(device.name, "cpu")
        self.assertEqual(device.thread_execution_width, 32)
        self.assertEqual(device.max_threadgroup_threads, (1024, 1024, 1024))
        self.assertTrue(device.has_unified_memory)
        self.assertGreater(device.max_buffer_bytes, 1 << 20)
        self.assertTrue(device.supports_family(mettle.Family.METAL3))
        self.assertIn("cpu", [device.name for device in mettle.devices()])
        self.assertEqual(mettle.Device("null").name, "null")

    def test_memory_is_counted_and_given_back(self):
        before = DEVICE.current_allocated_bytes
        buffer = DEVICE.new_buffer(1 << 20)
        self.assertEqual(DEVICE.current_allocated_bytes - before, 1 << 20)
        del buffer
        self.assertEqual(DEVICE.current_allocated_bytes, before)


class Buffers(unittest.TestCase):
    def test_contents(self):
        buffer = DEVICE.new_buffer(b"abc", label="letters")
        self.assertEqual(bytes(buffer), b"abc")
        self.assertEqual(buffer.label, "letters")
        buffer.contents[1] = ord("x")
        self.assertEqual(bytes(buffer), b"axc")
        self.assertEqual(len(buffer), 3)
        self.assertNotEqual(buffer.gpu_address, 0)

    def test_numpy_keeps_the_buffer(self):
        values = DEVICE.new_buffer(np.arange(4, dtype=np.int16)).numpy("int16")
        self.assertEqual(values.tolist(), [0, 1, 2, 3])

    def test_a_private_buffer(self):
        buffer = DEVICE.new_buffer(16, storage="private")
        with self.assertRaises(mettle.InvalidStateError):
            bytes(buffer)
        with self.assertRaisesRegex(ValueError, "shared, managed, private"):
            DEVICE.new_buffer(16, storage="mine")

    def test_a_remote_view(self):
        values = np.arange(1000, dtype=np.uint16)
        far = mettle.Device("cpu-discrete").new_buffer(values,
                                                       storage="private")
        view = far.remote_view(mettle.Device("cpu"))
        del far
        near = view.device.new_buffer(2000)
        with view.device.queue.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.copy(view, near)
        commands.wait()
        self.assertEqual(bytes(near), values.tobytes())
        with self.assertRaises(mettle.InvalidArgumentError):
            view.remote_view(view.device)

    def test_wrong_lengths(self):
        for length in (0, -1):
            with self.assertRaises(mettle.InvalidArgumentError):
                DEVICE.new_buffer(length)

    def test_wrap_shares_the_memory(self):
        x = np.arange(100, dtype=np.float32)
        buffer = DEVICE.wrap(x[10:])
        with DEVICE.queue.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.fill(buffer, 0, offset=buffer.offset + 4, length=8)
        commands.wait()
        self.assertEqual(x[9:14].tolist(), [9, 10, 0, 0, 13])
        with self.assertRaises(mettle.InvalidArgumentError):
            DEVICE.wrap(x[::2])


class Libraries(unittest.TestCase):
    def test_reflection(self):
        library = DEVICE.new_library(HEAD + """
struct Look { float3 color; uint n[2]; };
constant bool on [[function_constant(2)]];
kernel void k(device const float4 *x [[buffer(1)]], constant Look &l,
              texture2d<half, access::write> t, sampler s,
              threadgroup int *m [[threadgroup(0)]]) { if (on) m[0] = 1; }
[[visible]] float f(float x) { return x; }""")
        self.assertEqual(library.function_names, ["k", "f"])
        self.assertEqual(library.kernel_names, ["k"])
        constant = library.constants["on"]
        self.assertEqual((constant.index, constant.type), (2, "bool"))
        function = library.function("k", {"on": True})
        x, look, texture, sampler, memory = function.arguments
        self.assertEqual((x.name, x.kind, x.index, x.access, x.type,
                          x.components), ("x", "buffer", 1, "read", "float",
                                          4))
        self.assertEqual([(m.name, m.offset, m.array_length, m.type)
                          for m in look.members],
                         [("color", 0, 1, "float"), ("n", 16, 2, "uint")])
        self.assertEqual((texture.kind, texture.texture_type, texture.access),
                         ("texture", "2d", "write"))
        self.assertEqual((sampler.kind, memory.kind),
                         ("sampler", "threadgroup"))
        self.assertTrue(library["f"].is_visible)

    def test_containers(self):
        library = DEVICE.new_library(SAXPY)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saxpy.mtlc")
            library.write(path)
            self.assertEqual(DEVICE.load_library(path).kernel_names,
                             ["saxpy"])
        self.assertEqual(DEVICE.load_library(library.data).kernel_names,
                         ["saxpy"])
        with self.assertRaises(mettle.NotFoundError):
            DEVICE.load_library("/nowhere/at.all")

    def test_pipelines(self):
        made = pipeline(SAXPY, "saxpy", label="mine", group_threads=64,
                        dump_after="asm")
        self.assertEqual(made.label, "mine")
        self.assertEqual(made.thread_execution_width, 32)
        self.assertEqual(made.max_total_threads_per_threadgroup, 1024)
        self.assertEqual(made.static_threadgroup_memory_bytes, 0)
        self.assertIn("ret", made.dump)
        self.assertEqual([a.name for a in made.arguments], ["x", "y", "a"])
        with self.assertRaises(mettle.NotFoundError):
            pipeline(SAXPY, "saxpy", dump_after="no pass")

    def test_options(self):
        with self.assertRaisesRegex(ValueError, "fast, relaxed, safe"):
            DEVICE.new_library(SAXPY, math_mode="slow")
        with self.assertRaisesRegex(ValueError, "9.9"):
            DEVICE.new_library(SAXPY, language_version="9.9")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.h"), "w") as file:
                file.write("#define N 4\n")
            library = DEVICE.new_library(
                '#include "a.h"\nkernel void k(device int *x) { x[0] = N; }',
                include_paths=[folder])
        self.assertEqual(library.kernel_names, ["k"])
        self.assertEqual(library.warnings, "")


class Commands(unittest.TestCase):
    def test_an_encoder(self):
        x = DEVICE.new_buffer(np.arange(8, dtype=np.float32))
        y = DEVICE.new_buffer(np.ones(8, np.float32))
        made = pipeline(SAXPY, "saxpy")
        commands = DEVICE.new_queue(label="q").command_buffer(label="c")
        self.assertEqual(commands.status, mettle.Status.NOT_ENQUEUED)
        with commands.compute_encoder() as encoder:
            encoder.push_debug_group("g")
            encoder.set_pipeline(made)
            encoder.set_buffer(0, x)
            encoder.set_buffer(1, y)
            encoder.set_bytes(2, 0.5)
            encoder.dispatch_threads(8, 8)
            encoder.set_bytes(2, 2, "float")
            encoder.set_buffer_offset(1, 4)
            encoder.dispatch_threadgroups(1, 7)
            encoder.pop_debug_group()
        self.assertIs(commands.commit(), commands)
        commands.wait()
        self.assertEqual(y.numpy(np.float32).tolist(),
                         [1, 1.5, 4, 6.5, 9, 11.5, 14, 16.5])
        self.assertEqual(commands.status, mettle.Status.COMPLETED)
        times = commands.times
        self.assertLessEqual(times.device_start, times.device_end)
        self.assertGreaterEqual(commands.device_time, 0)
        self.assertIsNone(commands.error)
        self.assertEqual(commands.label, "c")

    def test_errors_of_recording(self):
        commands = DEVICE.queue.command_buffer()
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "'x'"):
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(pipeline(SAXPY, "saxpy"))
                encoder.dispatch_threads(8, 8)
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "'x'"):
            commands.commit()

    def test_wrong_states(self):
        commands = DEVICE.queue.command_buffer()
        with self.assertRaises(mettle.InvalidStateError):
            commands.wait()
        encoder = commands.blit_encoder()
        with self.assertRaises(mettle.InvalidStateError):
            commands.compute_encoder()
        encoder.end()
        encoder.end()  # once more does nothing
        commands.commit()
        with self.assertRaises(mettle.InvalidStateError):
            commands.commit()
        commands.wait()

    def test_an_indirect_grid(self):
        grid = DEVICE.new_buffer(np.array([0, 2, 1, 1], np.uint32))
        x = mettle.zeros(16, np.uint32)
        made = pipeline("kernel void k(device uint *x, uint i "
                        "[[thread_position_in_grid]]) { x[i] = 1; }", "k")
        with DEVICE.queue.command_buffer() as commands:
            with commands.compute_encoder(concurrent=True) as encoder:
                encoder.set_pipeline(made)
                encoder.set_buffer(0, x)
                encoder.dispatch_threadgroups_indirect(grid, 4, offset=4)
                encoder.memory_barrier()
                encoder.memory_barrier([x.buffer])
        commands.wait()
        self.assertEqual(x.tolist(), [1] * 8 + [0] * 8)

    def test_blits(self):
        a = DEVICE.new_buffer(bytes(range(8)))
        b = DEVICE.new_buffer(8, storage="managed")
        with DEVICE.queue.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.copy(a, b, length=4, source_offset=2, target_offset=1)
                blit.fill(b, 255, offset=6)
                blit.synchronize(b)
        commands.wait()
        self.assertEqual(list(bytes(b)), [0, 2, 3, 4, 5, 0, 255, 255])

    def test_callbacks(self):
        calls, done = [], threading.Event()
        commands = DEVICE.queue.command_buffer()
        commands.on_scheduled(lambda c: calls.append("scheduled"))
        commands.on_completed(lambda c: calls.append(c.status.name))
        commands.on_completed(lambda c: done.set())
        commands.commit().wait()
        self.assertTrue(done.wait(10))
        self.assertEqual(calls[0], "scheduled")
        self.assertEqual(len(calls), 2)
        with self.assertRaises(mettle.InvalidStateError):
            commands.on_completed(print)

    def test_cancel(self):
        flag = mettle.zeros(1, np.uint32)
        commands = mettle.compile_shader(SPIN).spin(flag)
        self.assertFalse(commands.done())
        with self.assertRaises(mettle.TimedOutError):
            commands.wait(0.01)
        behind = DEVICE.queue.command_buffer()
        behind.depend_on(commands)
        behind.commit()
        commands.cancel()
        with self.assertRaises(mettle.CancelledError):
            commands.wait()
        with self.assertRaisesRegex(mettle.CancelledError, "depends on"):
            behind.wait()

    def test_a_time_limit(self):
        queue = DEVICE.new_queue(time_limit=0.05)
        lib = mettle.compile_shader(SPIN, queue=queue)
        with self.assertRaisesRegex(mettle.TimedOutError, "spin"):
            lib.spin(mettle.zeros(1, np.uint32)).wait()


class Events(unittest.TestCase):
    def test_queues_and_the_host(self):
        event = DEVICE.new_event(2)
        self.assertEqual(event.value, 2)
        x = mettle.zeros(4)
        lib = mettle.compile_shader(SAXPY)
        first, second = DEVICE.new_queue(), DEVICE.new_queue()
        waiting = second.command_buffer()
        waiting.wait_event(event, 7)
        waiting.signal_event(event, 8)
        waiting.commit()
        self.assertFalse(waiting.done())
        signalling = first.command_buffer()
        signalling.signal_event(event, 7)
        signalling.commit()
        event.wait(8)
        waiting.wait()
        del x, lib
        self.assertEqual(event.value, 8)

    def test_a_wait_in_vain(self):
        with self.assertRaisesRegex(mettle.TimedOutError, "3"):
            DEVICE.new_event().wait(3, timeout=0.12)

    def test_notify(self):
        event, values, done = DEVICE.new_event(), [], threading.Event()
        event.notify(3, lambda value: (values.append(value), done.set()))
        event.signal(2)
        event.signal(4)
        self.assertTrue(done.wait(10))
        self.assertEqual(values, [4])

    def test_an_event_of_the_device_alone(self):
        with self.assertRaises(mettle.InvalidArgumentError):
            print(DEVICE.new_event(shared=False).value)

    def test_fences(self):
        fence = DEVICE.new_fence()
        with DEVICE.queue.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.update_fence(fence)
            with commands.compute_encoder() as encoder:
                encoder.wait_fence(fence)
        commands.wait()


class Textures(unittest.TestCase):
    def test_an_image_through_a_kernel(self):
        lib = mettle.compile_shader(HEAD + """
kernel void half_as_red(texture2d<float> in,
                        texture2d<float, access::write> out, sampler s,
                        uint2 p [[thread_position_in_grid]]) {
  float4 c = in.sample(s, (float2(p) + 0.5) / float2(out.get_width(),
                                                    out.get_height()));
  out.write(float4(c.r / 2, c.gba), p);
}""")
        image = np.zeros((3, 5, 3), np.uint8)
        image[1, 2] = (200, 100, 50)
        source = mettle.Texture.from_array(DEVICE, image)
        self.assertEqual(source.format, mettle.PixelFormat.RGBA8_UNORM)
        self.assertEqual(source.shape, (3, 5))
        target = DEVICE.new_texture(5, 3)
        sampler = DEVICE.new_sampler(filter="nearest", address="repeat")
        lib.half_as_red(source, target, sampler)
        result = target.numpy()
        self.assertEqual(result.shape, (3, 5, 4))
        self.assertEqual(result[1, 2].tolist(), [100, 100, 50, 255])
        self.assertEqual(result[0, 0].tolist(), [0, 0, 0, 255])

    def test_formats(self):
        for dtype, channels, name in ((np.float32, 1, "R32_FLOAT"),
                                      (np.float16, 4, "RGBA16_FLOAT"),
                                      (np.int16, 2, "RG16_SNORM"),
                                      (np.uint32, 4, "RGBA32_UINT")):
            values = (np.arange(6 * channels) % 7).astype(dtype).reshape(
                2, 3, channels)
            texture = mettle.Texture.from_array(DEVICE, values)
            self.assertEqual(texture.format.name, name)
            self.assertEqual(texture.numpy().tolist(),
                             np.squeeze(values, 2).tolist() if channels == 1
                             else values.tolist())
        with self.assertRaisesRegex(ValueError, "float64"):
            mettle.Texture.from_array(DEVICE, np.zeros((2, 2)))
        with self.assertRaisesRegex(ValueError, "rgba9"):
            DEVICE.new_texture(2, 2, format="rgba9")

    def test_levels_views_and_blits(self):
        texture = DEVICE.new_texture(4, 4, format="r32_float", levels=3)
        texture.replace(np.arange(16, dtype=np.float32).reshape(4, 4))
        buffer = DEVICE.new_buffer(16)
        with DEVICE.queue.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.generate_mipmaps(texture)
                blit.copy_from_texture(texture, buffer, level=1)
        commands.wait()
        self.assertEqual(texture.numpy(level=1).tolist(),
                         [[2.5, 4.5], [10.5, 12.5]])
        self.assertEqual(buffer.numpy(np.float32).tolist(),
                         [2.5, 4.5, 10.5, 12.5])
        self.assertEqual(texture.view(first_level=2).numpy().tolist(),
                         [[7.5]])
        bits = texture.view(format="r32_uint").numpy()
        self.assertEqual(bits[0, 1], 0x3f800000)
        with self.assertRaises(mettle.InvalidArgumentError):
            texture.replace(np.zeros((4, 4), np.int32))

    def test_three_dimensions(self):
        texture = DEVICE.new_texture(4, 3, 2, format="r8_uint")
        values = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
        texture.replace(values)
        self.assertEqual(texture.type, "3d")
        self.assertEqual(texture.numpy().tolist(), values.tolist())

    def test_a_texture_of_a_buffer(self):
        buffer = DEVICE.new_buffer(np.arange(8, dtype=np.float32))
        texture = mettle.Texture.over(buffer, 4, 2, format="r32_float")
        self.assertEqual(texture.numpy().tolist(),
                         [[0, 1, 2, 3], [4, 5, 6, 7]])

    def test_pictures(self):
        try:
            import PIL.Image
        except ImportError:
            self.skipTest("no Pillow")
        image = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.png")
            PIL.Image.fromarray(image).save(path)
            texture = mettle.Texture.open(DEVICE, path)
            self.assertEqual(texture.numpy().tolist(), image.tolist())
            texture.save(os.path.join(folder, "out.png"))
            with PIL.Image.open(os.path.join(folder, "out.png")) as saved:
                self.assertEqual(np.asarray(saved).tolist(), image.tolist())

    def test_wrong_words(self):
        for options in ({"filter": "cubic"}, {"address": "nowhere"},
                        {"compare_function": "x"}):
            with self.assertRaisesRegex(ValueError, "is none of"):
                DEVICE.new_sampler(**options)


class Tables(unittest.TestCase):
    SOURCE = HEAD + """
[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float square(float x) { return x * x; }
kernel void apply(visible_function_table<float(float)> table,
                  device float *x, uint i [[thread_position_in_grid]]) {
  x[i] = table[i % 2](x[i]);
}
struct Args { device float *x [[id(0)]]; float a [[id(1)]];
              texture2d<float> t [[id(2)]]; };
kernel void reach(constant Args &args, uint i [[thread_position_in_grid]]) {
  args.x[i] += args.a * args.t.read(uint2(i, 0)).r;
}"""

    def test_function_tables(self):
        library = DEVICE.new_library(self.SOURCE)
        functions = [library["twice"], library["square"]]
        made = library["apply"].pipeline(linked_functions=functions)
        table = made.new_function_table(2)
        table[0] = made.function_handle(functions[0])
        table[1] = functions[1]
        self.assertEqual(len(table), 2)
        with self.assertRaises(mettle.InvalidArgumentError):
            table[2] = functions[0]
        x = np.array([3, 3, 4, 4], np.float32)
        mettle.ShaderFunction(made, DEVICE.queue)(table, x)
        self.assertEqual(x.tolist(), [6, 9, 8, 16])

    def test_argument_buffers(self):
        function = DEVICE.new_library(self.SOURCE)["reach"]
        x = mettle.array([1.0, 2.0])
        texture = mettle.Texture.from_array(
            DEVICE, np.array([[10, 20]], np.float32))
        encoder = mettle.ArgumentEncoder(function, 0)
        arguments = DEVICE.new_buffer(encoder.encoded_length)
        encoder.set_argument_buffer(arguments)
        encoder.set_buffer(0, x.buffer)
        encoder.set_constant(1, "float", 0.5)
        encoder.set_texture(2, texture)
        with self.assertRaises(mettle.NotFoundError):
            encoder.set_buffer(9, x.buffer)
        with self.assertRaises(mettle.InvalidArgumentError):
            encoder.set_constant(0, "float", 0.5)
        with DEVICE.queue.command_buffer() as commands:
            with commands.compute_encoder() as compute:
                compute.set_pipeline(function.pipeline())
                compute.set_buffer(0, arguments)
                compute.use_buffer(x.buffer, "read_write")
                compute.use_texture(texture)
                compute.dispatch_threads(2, 2)
        commands.wait()
        self.assertEqual(x.tolist(), [6, 12])


class Logs(unittest.TestCase):
    def test_what_kernels_say(self):
        messages = []
        state = DEVICE.new_log_state(messages.append)
        queue = DEVICE.new_queue(log_state=state)
        lib = mettle.compile_shader("""
#include <metal_logging>
constant metal::os_log mine("my.kernels", "loud");
kernel void say(uint i [[thread_position_in_grid]]) {
  mine.log_error("thread %u of %d", i, 2);
}""", queue=queue)
        lib.say(threads=2).wait()
        self.assertEqual(sorted(message.text for message in messages),
                         ["thread 0 of 2", "thread 1 of 2"])
        self.assertEqual({message[:3] for message in messages},
                         {("my.kernels", "loud", mettle.LogLevel.ERROR)})
        self.assertEqual(state.dropped, 0)


if __name__ == "__main__":
    unittest.main()
