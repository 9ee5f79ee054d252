# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checker as a context."""

import asyncio
import threading
import unittest

import numpy as np

import mettle
from case import SAXPY

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void sum(device const float *x, device float *out,
                uint t [[thread_position_in_threadgroup]],
                uint g [[threadgroup_position_in_grid]]) {
  threadgroup float part[64];
  part[t] = x[g * 64 + t];
  for (uint step = 32; step; step /= 2) {
    BARRIER
    if (t < step) {
      part[t] += part[t + step];
    }
  }
  if (t == 0) out[g] = part[0];
}
kernel void over(device float *x, uint i [[thread_position_in_grid]]) {
  x[i + 1] = i;
}
kernel void unset(device float *x, uint i [[thread_position_in_grid]]) {
  float own[4];
  own[1] = i;
  x[i] = own[2];
}"""
SAFE = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def library(barrier=""):
    return mettle.compile_shader(SOURCE.replace("BARRIER", barrier),
                                 file_name="sum.metal")


def run_sum(lib):
    x, out = np.ones(128, np.float32), np.zeros(2, np.float32)
    lib.sum(x, out, threads=128, group_size=64)
    return out.tolist()


class Check(unittest.TestCase):
    def test_a_race_has_both_its_lines(self):
        with mettle.check("races", raises=False) as findings:
            run_sum(library())
        self.assertEqual({f.kind for f in findings}, {"race.threadgroup"})
        finding = next(iter(findings))
        lines = {finding.first.line, finding.second.line}
        self.assertTrue(lines <= {8, 12}, lines)
        self.assertEqual(finding.first.kernel, "sum")
        self.assertEqual(finding.first.variable, "part")
        self.assertIn("sum.metal:", str(findings))

    def test_variables_have_names_whenever_the_library_was_made(self):
        lib = library(SAFE)
        with mettle.check("init", raises=False) as findings:
            lib.unset(np.zeros(4, np.float32))
        finding = next(iter(findings))
        self.assertEqual(finding.kind, "init.private")
        self.assertIn("'own'", str(finding))

    def test_leaving_raises_what_was_found(self):
        with self.assertRaises(mettle.FindingsError) as caught:
            with mettle.check():
                run_sum(library())
        self.assertTrue(caught.exception.findings)
        self.assertIn("race.threadgroup", str(caught.exception))

    def test_a_clean_kernel_has_its_values(self):
        with mettle.check("all") as findings:
            self.assertEqual(run_sum(library(SAFE)), [64.0, 64.0])
        self.assertEqual(len(findings), 0)
        self.assertEqual(str(findings), "no findings")

    def test_arrays_end_at_their_last_byte(self):
        lib = library()
        guard = np.full(8, 7.0, np.float32)
        with mettle.check(raises=False) as findings:
            lib.over(guard[:4])
        self.assertEqual([f.kind for f in findings], ["bounds.device"])
        self.assertEqual(guard.tolist(), [7, 0, 1, 2, 7, 7, 7, 7])

    def test_each_check_has_its_own_findings(self):
        lib = library()
        for _ in range(2):
            with mettle.check(raises=False) as findings:
                lib.over(np.zeros(4, np.float32))
            self.assertEqual(len(findings), 1)
        with mettle.check() as findings:
            lib.over(np.zeros(4, np.float32), threads=3)
        self.assertEqual(len(findings), 0)

    def test_textures_of_structs(self):
        lib = mettle.compile_shader("""
#include <metal_stdlib>
using namespace metal;
struct Look {
  array<texture2d<float>, 2> in;
  texture2d<float, access::read_write> both;
  device float *sums;
};
kernel void add(constant Look &a, uint i [[thread_position_in_grid]]) {
  texture2d<float> odd_or_even = i & 1 ? a.in[1] : a.in[0];
  a.sums[i] = odd_or_even.read(uint2(i, 0)).x + a.in[0].read(uint2(3, 0)).y;
}
kernel void race(constant Look &a, uint i [[thread_position_in_grid]]) {
  const float4 first = a.both.read(uint2(0, 0));
  a.both.write(first + 1.0f, uint2(i, 0));
}""")
        device = mettle.default_device()
        values = np.arange(48, dtype=np.float32).reshape(3, 1, 4, 4)
        a, b, both = (mettle.Texture.from_array(device, one) for one in values)
        sums = np.zeros(4, np.float32)
        look = {"in": [a, b], "both": both, "sums": sums}
        with mettle.check() as findings:
            lib.add(look, threads=4)
        self.assertEqual(list(findings), [])
        self.assertEqual(sums.tolist(), [0 + 13, 20 + 13, 8 + 13, 28 + 13])
        with mettle.check(raises=False) as findings:
            lib.race(look, threads=4)
        self.assertEqual([finding.kind for finding in findings],
                         ["race.device"])

    def test_kernels_of_bodies(self):
        kernel = mettle.fast.metal_kernel(
            name="late", input_names=["x"], output_names=["y"],
            source="uint i = thread_position_in_grid.x; y[i] = x[i + 1];")
        with mettle.check("bounds", raises=False) as findings:
            kernel(inputs=[np.zeros(16, np.float32)], grid=(16, 1, 1),
                   threadgroup=(16, 1, 1), output_shapes=[(16,)],
                   output_dtypes=[np.float32])
        self.assertEqual([f.kind for f in findings], ["bounds.device"])

    def test_command_buffers_fail_with_the_finding(self):
        device = mettle.default_device()
        pipeline = device.new_library(SOURCE.replace("BARRIER", ""))[
            "over"].pipeline()
        buffer = device.new_buffer(16)
        with mettle.check("bounds", raises=False) as findings:
            commands = device.queue.command_buffer()
            with commands.compute_encoder() as encoder:
                encoder.set_pipeline(pipeline)
                encoder.set_buffer(0, buffer)
                encoder.dispatch_threads(4, 4)
            commands.commit()
            with self.assertRaisesRegex(mettle.KernelFaultError, "bounds"):
                commands.wait()
        self.assertEqual(len(findings), 1)

    def test_other_threads_are_not_checked(self):
        lib = library()
        with mettle.check() as findings:
            # The buffer's fifth element is not out of bounds.
            thread = threading.Thread(target=lib.over, args=(
                np.zeros(5, np.float32),), kwargs={"threads": 4})
            thread.start()
            thread.join()
            pipeline = lib.over.pipeline
        self.assertEqual(pipeline._twins, {})
        self.assertEqual(len(findings), 0)

    def test_a_task_has_the_check_that_it_was_started_in(self):
        lib = library()

        async def work():
            await asyncio.sleep(0)
            lib.over(np.zeros(4, np.float32))

        async def run():
            with mettle.check(raises=False) as findings:
                task = asyncio.ensure_future(work())
                await task
            return findings
        self.assertEqual(len(asyncio.run(run())), 1)

    def test_an_error_inside_is_its_own(self):
        with self.assertRaises(ZeroDivisionError):
            with mettle.check():
                library().over(np.zeros(4, np.float32))
                raise ZeroDivisionError

    def test_kinds_are_known(self):
        with self.assertRaisesRegex(mettle.InvalidArgumentError, "racing"):
            mettle.check("racing")
        lib = library()
        with mettle.check(["races", "nan"]) as findings:
            lib.over(np.zeros(5, np.float32), threads=4)
        self.assertEqual(len(findings), 0)

    def test_what_cannot_be_checked_is_no_pass(self):
        null = [d for d in mettle.devices() if d.name == "null"]
        device = null[0] if null else mettle.Device("null")
        lib = mettle.compile_shader(SAXPY, device=device)
        with self.assertRaisesRegex(mettle.FindingsError, "checked"):
            with mettle.check():
                x = mettle.zeros(4, device=device)
                lib.saxpy(x, x, 1.0)


if __name__ == "__main__":
    unittest.main()
