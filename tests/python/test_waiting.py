# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""await, callbacks, threads, the GIL, Ctrl-C, fork and the interpreter's
end. Those that are about a process start one."""

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
import unittest

import numpy as np
from case import SAXPY, SPIN

import mettle

LIB = mettle.compile_shader(SAXPY)


def run(program, *, interrupt=False, seconds=60):
    """A program in a process of its own; with interrupt it is sent SIGINT when
    it prints "ready"."""
    # Who runs the tests in the background may have it ignore SIGINT.
    text = "import signal\n" \
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n" \
        "import mettle, numpy as np, os, sys, threading, time\n" \
        "from case import SAXPY, SPIN\n" + textwrap.dedent(program)
    process = subprocess.Popen([sys.executable, "-c", text], text=True,
                               cwd=os.path.dirname(__file__),
                               stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    lines = []
    try:
        if interrupt:
            for line in process.stdout:
                lines.append(line)
                if line == "ready\n":
                    process.send_signal(2)
                    break
        rest, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        rest = process.communicate()[0] + "TIMED OUT\n"
    return process.returncode, "".join(lines) + rest


class Awaiting(unittest.TestCase):
    def test_await(self):
        x, y = mettle.ones(8), mettle.zeros(8)

        async def work():
            await LIB.saxpy(x, y, 1.0)
            self.assertEqual(y.numpy()[0], 1)
            await asyncio.gather(*(wait(LIB.saxpy(x, y, 1.0))
                                   for _ in range(20)))

        async def wait(commands):
            await commands
        asyncio.run(work())
        self.assertEqual(y.tolist(), [21] * 8)

    def test_the_loop_goes_on_while_a_kernel_runs(self):
        flag = mettle.zeros(1, np.uint32)
        view = flag.numpy()
        spin = mettle.compile_shader(SPIN).spin

        async def work():
            running = spin(flag)
            done = asyncio.ensure_future(finish(running))
            for _ in range(3):
                await asyncio.sleep(0)
            self.assertFalse(running.done())
            view[0] = 1
            await done
            self.assertTrue(running.done())

        async def finish(commands):
            await commands
        asyncio.run(work())

    def test_await_raises(self):
        far = mettle.compile_shader(
            "kernel void far(device int *x) { x[1 << 28] = 1; }").far

        async def work():
            await far(mettle.zeros(1, np.int32))
        with self.assertRaises(mettle.KernelFaultError):
            asyncio.run(work())

    def test_await_an_event(self):
        event = mettle.default_device().new_event()

        async def work():
            waiting = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            event.signal(5)
            return await waiting

        async def wait():
            return await event.reached(3)
        self.assertEqual(asyncio.run(work()), 5)

    def test_what_is_not_committed_is_not_awaited(self):
        async def work():
            await mettle.default_device().queue.command_buffer()
        with self.assertRaises(mettle.InvalidStateError):
            asyncio.run(work())

    def test_host_memory_may_go_on_too(self):
        x, y = np.ones(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
        commands = LIB.saxpy(x, y, 2.0, wait=False)
        del x  # the call keeps it
        commands.wait()
        self.assertEqual(set(y.tolist()), {2.0})

    def test_callbacks_after_the_commit(self):
        x, y = mettle.ones(8), mettle.zeros(8)
        seen, done = [], threading.Event()
        commands = LIB.saxpy(x, y, 1.0)
        commands.add_done_callback(lambda c: (seen.append(c), done.set()))
        self.assertTrue(done.wait(20))
        self.assertIs(seen[0], commands)
        commands.wait()
        commands.add_done_callback(seen.append)
        self.assertEqual(len(seen), 2)


class Threads(unittest.TestCase):
    def test_the_gil_is_released(self):
        flag = mettle.zeros(1, np.uint32)
        view = flag.numpy()
        spin = mettle.compile_shader(SPIN).spin

        def release():
            view[0] = 1
        timer = threading.Timer(0.05, release)
        timer.start()
        spin(flag, wait=True)  # ends only if the other thread runs
        timer.join()

    def test_many_threads_call_one_kernel(self):
        errors = []

        def work(number):
            try:
                x = np.full(256, number, np.float32)
                a, b = mettle.array(x), mettle.zeros(256)
                for _ in range(50):
                    y = np.zeros(256, np.float32)
                    LIB.saxpy(x, y, 1.0)
                    LIB.saxpy(a, b, 1.0)
                    assert set(y.tolist()) == {number}, y
                assert set(b.tolist()) == {50.0 * number}, b
            except BaseException as error:
                errors.append(error)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_many_threads_compile(self):
        results = []

        def work(n):
            lib = mettle.compile_shader(
                f"kernel void k(device int *x) {{ x[0] = {n}; }}")
            x = np.zeros(1, np.int32)
            lib.k(x)
            results.append((n, int(x[0])))
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), [(n, n) for n in range(6)])


class Interrupts(unittest.TestCase):
    def interrupted(self, program):
        status, output = run(program, interrupt=True)
        self.assertEqual((status, output.splitlines()[-1]),
                         (0, "interrupted"), output)

    def test_a_wait(self):
        self.interrupted("""
            spin = mettle.compile_shader(SPIN).spin
            flag = mettle.zeros(1, np.uint32)
            commands = spin(flag)
            try:
                print("ready", flush=True)
                commands.wait()
            except KeyboardInterrupt:
                commands.cancel()
                print("interrupted")""")

    def test_a_call_that_waits(self):
        self.interrupted("""
            spin = mettle.compile_shader(SPIN).spin
            flag = np.zeros(1, np.uint32)
            try:
                print("ready", flush=True)
                spin(flag)
            except KeyboardInterrupt:
                lib = mettle.compile_shader(SAXPY)  # all goes on
                x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
                lib.saxpy(x, y, 1.0)
                assert y.tolist() == [1] * 4
                print("interrupted")""")

    def test_behind_another(self):
        self.interrupted("""
            lib = mettle.compile_shader(SPIN + SAXPY)
            lib.spin(mettle.zeros(1, np.uint32))
            x, y = mettle.ones(4), mettle.zeros(4)
            lib.saxpy(x, y, 1.0)
            try:
                print("ready", flush=True)
                y.numpy()
            except KeyboardInterrupt:
                print("interrupted")""")

    def test_a_full_queue(self):
        self.interrupted("""
            lib = mettle.compile_shader(SPIN + SAXPY)
            lib.spin(mettle.zeros(1, np.uint32))
            x, y = mettle.ones(4), mettle.zeros(4)
            try:
                print("ready", flush=True)
                for _ in range(200):
                    lib.saxpy(x, y, 1.0)
            except KeyboardInterrupt:
                print("interrupted")""")

    def test_an_event(self):
        self.interrupted("""
            event = mettle.default_device().new_event()
            try:
                print("ready", flush=True)
                event.wait(1)
            except KeyboardInterrupt:
                print("interrupted")""")

    def test_a_compilation(self):
        self.interrupted("""
            source = '''
            template <int N> struct F {
              static constexpr int v() { return F<N - 1>::v() + F<N - 2>::v(); }
            };
            template <> struct F<0> { static constexpr int v() { return 0; } };
            template <> struct F<1> { static constexpr int v() { return 1; } };
            constexpr long slow(long n) {
              long s = 0;
              for (long i = 0; i < n; i++) for (long j = 0; j < n; j++) s ^= j;
              return s;
            }
            constant long x = slow(4000);
            kernel void k(device long *y) { y[0] = x; }'''
            try:
                print("ready", flush=True)
                while True:
                    try:
                        mettle.compile_shader(source)
                    except mettle.MettleError:
                        pass
            except KeyboardInterrupt:
                print("interrupted")""")

    # A signal whose Python handler raises ends what Ctrl-C ends; one whose
    # handler returns leaves it alone.
    def test_other_signals(self):
        status, output = run("""
            lib = mettle.compile_shader(SPIN + SAXPY)
            class Late(Exception): pass
            def late(number, frame): raise Late()
            seen = []
            signal.signal(signal.SIGALRM, late)
            signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
            def call(): lib.spin(np.zeros(1, np.uint32))
            def wait(): lib.spin(mettle.zeros(1, np.uint32)).wait()
            def checked():
                with mettle.check(): call()
            def fill():
                lib.spin(mettle.zeros(1, np.uint32))
                x, y = mettle.ones(4), mettle.zeros(4)
                for _ in range(200): lib.saxpy(x, y, 1.0)
            for shape in (call, wait, checked, fill):
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                try:
                    shape()
                except Late:
                    print(shape.__name__)
            flag = mettle.zeros(1, np.uint32)
            view = flag.numpy()
            commands = lib.spin(flag)
            def interrupt():
                os.kill(os.getpid(), signal.SIGUSR1)
                while not seen: time.sleep(0.001)
                view[0] = 1
            threading.Thread(target=interrupt).start()
            commands.wait()
            print(seen)""")
        self.assertEqual((status, output.split()), (
            0, ["call", "wait", "checked", "fill", "[10]"]), output)

    def test_a_handler_of_the_program_s_own(self):
        status, output = run("""
            seen = []
            def handle(number, frame):
                seen.append(number)
            signal.signal(signal.SIGINT, handle)
            spin = mettle.compile_shader(SPIN).spin
            commands = spin(mettle.zeros(1, np.uint32))
            def interrupt():
                while mettle._waiting.waited_for is None:
                    time.sleep(0.001)
                os.kill(os.getpid(), signal.SIGINT)
            threading.Thread(target=interrupt).start()
            try:
                commands.wait()
            except mettle.CancelledError:
                print("cancelled", seen)""")
        self.assertEqual((status, output.splitlines()[-1]),
                         (0, "cancelled [2]"), output)


class Processes(unittest.TestCase):
    def passes(self, program):
        status, output = run(program)
        self.assertEqual((status, output), (0, "good\n"))

    def test_fork(self):
        self.passes("""
            lib = mettle.compile_shader(SAXPY)
            x, y = mettle.ones(8), mettle.zeros(8)
            lib.saxpy(x, y, 1.0)
            before = y.tolist()
            child = os.fork()
            if child == 0:
                try:
                    assert y.buffer.numpy(np.float32)[0] == 1
                    try:
                        lib.saxpy(x, y, 1.0, wait=True)
                        os._exit(3)
                    except mettle.InvalidStateError:
                        pass
                    mine = mettle.compile_shader(SAXPY)
                    a, b = np.ones(4, np.float32), np.zeros(4, np.float32)
                    mine.saxpy(a, b, 3.0)
                    assert b.tolist() == [3] * 4
                    del lib, x, y
                    os._exit(0)
                except BaseException:
                    import traceback
                    traceback.print_exc()
                    os._exit(1)
            _, status = os.waitpid(child, 0)
            assert status == 0, status
            lib.saxpy(x, y, 1.0)
            assert y.tolist() == [2] * 8
            print("good")""")

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                self.passes(f"""
            import multiprocessing, work
            if __name__ == "__main__":
                mettle.compile_shader(SAXPY)
                context = multiprocessing.get_context({method!r})
                with context.Pool(2) as pool:
                    assert pool.map(work.twice, range(4)) == [0, 2, 4, 6]
                print("good")""")

    def test_the_end_with_work_in_flight(self):
        self.passes("""
            spin = mettle.compile_shader(SPIN).spin
            mettle._waiting.EXIT_SECONDS = 0.05
            commands = spin(mettle.zeros(1, np.uint32))
            commands.add_done_callback(lambda c: None)
            print("good")""")

    def test_the_end_with_callbacks(self):
        self.passes("""
            lib = mettle.compile_shader(SAXPY)
            x, y = mettle.ones(8), mettle.zeros(8)
            for _ in range(100):
                lib.saxpy(x, y, 1.0).add_done_callback(lambda c: c.status)
            print("good")""")

    def test_objects_do_not_travel(self):
        import pickle
        with self.assertRaisesRegex(TypeError, "belongs to its process"):
            pickle.dumps(mettle.default_device())


if __name__ == "__main__":
    unittest.main()
