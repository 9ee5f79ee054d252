# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Heaps, residency sets, indirect commands, counters, tensors and archives."""

import os
import tempfile
import unittest

import numpy as np

import mettle

DEVICE = mettle.default_device()
QUEUE = DEVICE.new_queue()
ADD = """
kernel void add(device int *x [[buffer(0)]],
                device const int *y [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  x[i] += y[i];
}"""
TENSORS = """
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;
kernel void transpose(tensor<device const float, dextents<int, 2>> a,
                      tensor<device float, dextents<int, 2>> b,
                      uint2 at [[thread_position_in_grid]]) {
  b[at.y, at.x] = a[at.x, at.y];
}"""


def add_pipeline():
    return DEVICE.new_library(ADD)["add"].pipeline()


class Heaps(unittest.TestCase):
    def test_an_automatic_heap(self):
        heap = DEVICE.new_heap(1 << 20, label="pool")
        self.assertEqual((len(heap), heap.label, heap.used_bytes),
                         (1 << 20, "pool", 0))
        first = heap.new_buffer(np.arange(8, dtype=np.int32), label="first")
        second = heap.new_buffer(4000)
        self.assertEqual(first.numpy(np.int32).tolist(), list(range(8)))
        self.assertEqual(bytes(second), bytes(4000))
        taken = DEVICE.heap_buffer_size_and_align(4000)
        self.assertEqual(taken.size % taken.align, 0)
        self.assertGreaterEqual(heap.used_bytes, 32 + 4000)
        self.assertLess(heap.max_available_bytes(), 1 << 20)
        with self.assertRaisesRegex(mettle.OutOfMemoryError, "2097152"):
            heap.new_buffer(2 << 20)
        del first, second
        self.assertEqual(heap.used_bytes, 0)

    def test_a_placement_heap_overlaps(self):
        heap = DEVICE.new_heap(1 << 16, type="placement")
        x = heap.new_buffer(np.full(16, 7, np.int32), offset=0)
        y = heap.new_buffer(64, offset=0)
        self.assertEqual(y.numpy(np.int32).tolist(), [7] * 16)
        y.contents[0] = 9
        self.assertEqual(x.contents[0], 9)
        with self.assertRaises(mettle.InvalidArgumentError):
            heap.new_buffer(64, offset=1 << 16)

    def test_a_heap_keeps_its_memory_for_its_buffers(self):
        buffer = DEVICE.new_heap(1 << 16).new_buffer(b"abc")
        self.assertEqual(bytes(buffer), b"abc")

    def test_textures(self):
        heap = DEVICE.new_heap(1 << 20)
        texture = heap.new_texture(4, 4, format="R32_FLOAT")
        self.assertEqual(texture.numpy().shape[:2], (4, 4))
        self.assertGreaterEqual(heap.used_bytes, 64)

    def test_an_aliasable_place_is_used_again(self):
        heap = DEVICE.new_heap(1 << 16)
        first = heap.new_buffer(1 << 16)
        with self.assertRaises(mettle.OutOfMemoryError):
            heap.new_buffer(1 << 16)
        first.make_aliasable()
        second = heap.new_buffer(1 << 16)
        first.contents[5] = 3
        self.assertEqual(second.contents[5], 3)

    def test_purgeable_states(self):
        buffer = DEVICE.new_buffer(64)
        self.assertEqual(buffer.set_purgeable_state("empty"), "non_volatile")
        self.assertEqual(buffer.set_purgeable_state("non_volatile"), "empty")
        self.assertEqual(buffer.set_purgeable_state("keep_current"),
                         "non_volatile")
        with self.assertRaisesRegex(ValueError, "volatile, empty"):
            buffer.set_purgeable_state("gone")

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(ValueError, "automatic, placement"):
            DEVICE.new_heap(1 << 16, type="sparse")
        for length in (0, -1):
            with self.assertRaises(mettle.InvalidArgumentError):
                DEVICE.new_heap(length)

    def test_kernels_reach_a_heap_through_addresses(self):
        library = DEVICE.new_library("""
            struct Args { device int *x; };
            kernel void fill(constant Args &args [[buffer(0)]],
                             uint i [[thread_position_in_grid]]) {
              args.x[i] = int(i) + 1;
            }""")
        heap = DEVICE.new_heap(1 << 16)
        x = heap.new_buffer(16)
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(library["fill"].pipeline())
                encoder.set_bytes(0, np.array([x.gpu_address], np.uint64))
                encoder.use_heap(heap)
                encoder.dispatch_threads(4, 4)
        commands.wait()
        self.assertEqual(x.numpy(np.int32).tolist(), [1, 2, 3, 4])


class ResidencySets(unittest.TestCase):
    def test_members(self):
        buffer, heap = DEVICE.new_buffer(4096), DEVICE.new_heap(1 << 16)
        residents = DEVICE.new_residency_set(label="mine")
        residents.add(buffer, heap)
        residents.commit()
        self.assertEqual(len(residents), 2)
        self.assertIn(buffer, residents)
        self.assertGreaterEqual(residents.allocated_bytes, 4096 + (1 << 16))
        residents.request()
        residents.end()
        residents.remove(heap)
        residents.commit()
        self.assertNotIn(heap, residents)
        with self.assertRaisesRegex(TypeError, "int"):
            residents.add(3)

    def test_queues_and_command_buffers_have_them(self):
        queue, buffer = DEVICE.new_queue(), DEVICE.new_buffer(64)
        residents = DEVICE.new_residency_set()
        residents.add(buffer)
        residents.commit()
        queue.add_residency_sets(residents)
        with queue.command_buffer() as commands:
            commands.use_residency_sets(residents)
            with commands.blit_encoder() as blit:
                blit.fill(buffer, 5)
        commands.wait()
        queue.remove_residency_sets(residents)
        self.assertEqual(bytes(buffer), b"\5" * 64)


class IndirectCommands(unittest.TestCase):
    def setUp(self):
        self.x = DEVICE.new_buffer(np.zeros(4, np.int32))
        self.y = DEVICE.new_buffer(np.array([1, 2, 3, 4], np.int32))
        self.commands = DEVICE.new_indirect_command_buffer(3, max_buffers=2)
        pipeline = add_pipeline()
        for i in range(3):
            self.commands[i].set_pipeline(pipeline)
            self.commands[i].set_buffer(0, self.x)
            self.commands[i].set_buffer(1, self.y)
            self.commands[i].dispatch_threads(4, 4)
            self.commands[i].set_barrier()

    def run_range(self, *span):
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.use_buffer(self.x, "read_write")
                encoder.use_buffer(self.y)
                encoder.execute(self.commands, *span)
        commands.wait()
        return self.x.numpy(np.int32).tolist()

    def test_all_and_ranges_and_edits(self):
        self.assertEqual(len(self.commands), 3)
        self.assertEqual(self.run_range(), [3, 6, 9, 12])
        self.assertEqual(self.run_range(1, 1), [4, 8, 12, 16])
        self.commands[2].reset()
        self.assertEqual(self.run_range(), [6, 12, 18, 24])
        self.commands[0].dispatch_threadgroups(1, 1)
        self.assertEqual(self.run_range(), [8, 14, 21, 28])
        self.commands.reset()
        self.assertEqual(self.run_range(), [8, 14, 21, 28])

    def test_a_range_in_a_buffer_and_copies(self):
        span = DEVICE.new_buffer(np.array([1, 2], np.uint32))
        other = DEVICE.new_indirect_command_buffer(3, max_buffers=2)
        with QUEUE.command_buffer() as commands:
            with commands.blit_encoder() as blit:
                blit.copy_commands(self.commands, other, first=1)
                blit.reset_commands(self.commands, 2)
            with commands.compute_encoder() as encoder:
                encoder.use_buffer(self.x, "read_write")
                encoder.use_buffer(self.y)
                encoder.execute_indirect(self.commands, span)
                encoder.execute(other)
        commands.wait()
        self.assertEqual(self.x.numpy(np.int32).tolist(), [3, 6, 9, 12])

    def test_commands_keep_what_they_use(self):
        self.commands[0].set_buffer(1, DEVICE.new_buffer(
            np.full(4, 10, np.int32)))
        self.assertEqual(self.run_range(0, 1), [10, 10, 10, 10])

    def test_what_cannot_be(self):
        with self.assertRaises(IndexError):
            self.commands[3]
        with self.assertRaises(mettle.InvalidArgumentError):
            self.commands[0].set_buffer(2, self.x)
        inherits = DEVICE.new_indirect_command_buffer(
            1, inherit_pipeline=True)
        with self.assertRaises(mettle.InvalidStateError):
            inherits[0].set_pipeline(add_pipeline())

    def test_a_kernel_encodes_commands(self):
        library = DEVICE.new_library("""
            #include <metal_stdlib>
            #include <metal_command_buffer>
            using namespace metal;
            struct Args { command_buffer commands; compute_pipeline_state p; };
            kernel void add(device int *x [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) { x[i] += 5; }
            kernel void encode(constant Args &args [[buffer(0)]],
                               device int *x [[buffer(1)]]) {
              compute_command command(args.commands, 0);
              command.set_compute_pipeline_state(args.p);
              command.set_kernel_buffer(x, 0);
              command.concurrent_dispatch_threads(uint3(4, 1, 1),
                                                  uint3(4, 1, 1));
            }""")
        inner = DEVICE.new_indirect_command_buffer(1, max_buffers=1)
        added = library["add"].pipeline()
        self.assertNotEqual(inner.resource_id, 0)
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(library["encode"].pipeline())
                encoder.set_bytes(0, np.array(
                    [inner.resource_id, added.resource_id], np.uint64))
                encoder.set_buffer(1, self.x)
                encoder.use_commands(inner)
                encoder.dispatch_threads(1, 1)
                encoder.use_buffer(self.x, "read_write")
                encoder.execute(inner)
        commands.wait()
        self.assertEqual(self.x.numpy(np.int32).tolist(), [5, 5, 5, 5])


class Counters(unittest.TestCase):
    def test_samples(self):
        samples = DEVICE.new_counter_sample_buffer(4, label="times")
        self.assertTrue(np.isnan(samples.seconds()).all())
        target = DEVICE.new_buffer(16)
        x, y = DEVICE.new_buffer(4096), DEVICE.new_buffer(4096)
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.sample_counters(samples, 0)
                encoder.set_pipeline(add_pipeline())
                encoder.set_buffer(0, x)
                encoder.set_buffer(1, y)
                encoder.dispatch_threads(1024, 256)
                encoder.sample_counters(samples, 1)
            with commands.blit_encoder() as blit:
                blit.sample_counters(samples, 2)
                blit.resolve_counters(samples, target, count=2)
        commands.wait()
        ticks = samples.resolve()
        self.assertEqual(len(ticks), len(samples))
        self.assertLessEqual(ticks[0], ticks[1])
        self.assertLessEqual(ticks[1], ticks[2])
        self.assertEqual(ticks[3], (1 << 64) - 1)
        self.assertEqual(target.numpy(np.uint64).tolist(),
                         ticks[:2].tolist())
        with self.assertRaises(mettle.InvalidArgumentError):
            samples.resolve(2, 3)

    def test_both_clocks(self):
        (host, ticks), (later, more) = (DEVICE.sample_timestamps()
                                        for _ in range(2))
        self.assertLessEqual(host, later)
        self.assertLessEqual(ticks, more)
        self.assertGreater(DEVICE.timestamp_frequency, 0)

    def test_times_of_work(self):
        x, y = DEVICE.new_buffer(4096), DEVICE.new_buffer(4096)
        with QUEUE.command_buffer(times_work=True) as commands:
            with commands.compute_encoder() as encoder:
                encoder.push_debug_group("sum")
                encoder.set_pipeline(add_pipeline())
                encoder.set_buffer(0, x)
                encoder.set_buffer(1, y)
                encoder.dispatch_threads(1024, 256)
                encoder.pop_debug_group()
            with commands.blit_encoder() as blit:
                blit.fill(x, 1)
        commands.wait()
        times = commands.work_times
        self.assertEqual([(t.kind, t.encoder, t.name, t.debug_group)
                          for t in times],
                         [("compute_encoder", 0, "", ""),
                          ("dispatch", 0, "add", "sum"),
                          ("blit_encoder", 1, "", ""), ("fill", 1, "", "")])
        self.assertTrue(all(0 < t.start <= t.end for t in times))
        with QUEUE.command_buffer() as commands:
            pass
        commands.wait()
        self.assertEqual(commands.work_times, [])


class Tensors(unittest.TestCase):
    def setUp(self):
        self.library = mettle.compile_shader(TENSORS, language_version="4.0")
        self.a = np.arange(12, dtype=np.float32).reshape(3, 4)

    def test_arrays_are_tensors(self):
        b = np.zeros((4, 3), np.float32)
        self.library.transpose(self.a, b, threads=(4, 3))
        self.assertEqual(b.tolist(), self.a.T.tolist())
        mine = mettle.zeros((4, 3))
        self.library.transpose(a=mettle.array(self.a), b=mine, threads=(4, 3))
        self.assertEqual(mine.tolist(), self.a.T.tolist())

    def test_strides_and_offsets(self):
        memory = DEVICE.new_buffer(np.arange(40, dtype=np.float32))
        view = mettle.Tensor(memory, (3, 4), np.float32, strides=(10, 1),
                             offset=8)
        self.assertEqual(view.numpy()[1].tolist(), [12, 13, 14, 15])
        b = np.zeros((4, 3), np.float32)
        self.library.transpose(view, b, threads=(4, 3))
        self.assertEqual(b[0].tolist(), [2, 12, 22])

    def test_the_object_model_binds_them(self):
        a = mettle.Tensor(mettle.array(self.a))
        b = mettle.Tensor(DEVICE.new_buffer(48), (4, 3), "float32")
        pipeline = self.library.library["transpose"].pipeline()
        self.assertEqual([argument.tensor_extents
                          for argument in pipeline.arguments[:2]],
                         [(-1, -1), (-1, -1)])
        with QUEUE.command_buffer() as commands:
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(pipeline)
                encoder.set_tensor(0, a)
                encoder.set_tensor(1, b)
                encoder.dispatch_threads((4, 3), (4, 3))
        commands.wait()
        self.assertEqual(b.numpy().tolist(), self.a.T.tolist())

    def test_what_cannot_be(self):
        b = np.zeros((4, 3), np.float32)
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "rank 2"):
            self.library.transpose(self.a.ravel(), b, threads=(4, 3))
        with self.assertRaisesRegex(TypeError, "float64"):
            self.library.transpose(self.a.astype(np.float64), b)
        with self.assertRaisesRegex(TypeError, "int"):
            self.library.transpose(3, b)
        with self.assertRaises(mettle.InvalidArgumentError):
            mettle.Tensor(DEVICE.new_buffer(44), (4, 3), np.float32)
        with self.assertRaises(TypeError):
            mettle.Tensor(DEVICE.new_buffer(44))
        b.flags.writeable = False
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "read-only"):
            self.library.transpose(self.a, b, threads=(4, 3))


class Archives(unittest.TestCase):
    def test_code_from_a_file(self):
        function = DEVICE.new_library(ADD)["add"]
        archive = DEVICE.new_binary_archive(label="mine")
        with self.assertRaises(mettle.NotFoundError):
            function.pipeline(archives=[archive], fail_on_archive_miss=True,
                              group_threads=4)
        archive.add(function, group_threads=4)
        self.assertEqual(len(archive), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "code")
            archive.write(path)
            with open(path, "rb") as file:
                data = file.read()
            for source in (path, data):
                again = DEVICE.new_binary_archive(source)
                self.assertEqual(len(again), 1)
                function.pipeline(archives=[again], group_threads=4,
                                  fail_on_archive_miss=True)
            with self.assertRaises(mettle.BadDataError):
                DEVICE.new_binary_archive(data[:40])
            with self.assertRaises(mettle.NotFoundError):
                DEVICE.new_binary_archive(path + ".none")


if __name__ == "__main__":
    unittest.main()
