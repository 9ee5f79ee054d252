#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.py: runs the test suites of a build folder and counts.

A suite is one line of BUILD/tests/suites.txt, written by CMake (mettle_suite
in tests/CMakeLists.txt), fields separated by tabs:

  name  kind  seconds  list  command  argument...

kind "cases": `command --list` prints the names of tests; `command NAME` runs
one, in a process of its own with the time limit (below). Exit status 0 is passed, 77
skipped (the last line says why), anything else failed.
kind "counts": the command runs many tests and prints as its last line
"N passed, N failed" or "N passed, N failed, N skipped"; exit status 77 is one
skipped, as above.

list names a file of tests that a driver cannot pass, one a line:

  PATTERN  unsupported|expected-failure  REASON

Unsupported tests are skipped. An expected failure that passes fails the run,
and so does a pattern that names no test: lists may not go stale.

A time limit is of seconds on a machine that does nothing else. Where more
threads want to run than there are processors, a second counts by the share
that one of them gets, so that a busy machine fails no test; what hangs ends
after MOST_STRETCH times the limit at the latest.

With --again, what failed runs once more, alone, after everything else; what
then passes counts as passed, and is shown as UNSTEADY with its first output.

The longest tests and suites that count themselves are listed behind the suites'
sums. The last line of the output is the sum, in the form of "counts".
"""

import argparse
import concurrent.futures
import ctypes
import fnmatch
import glob
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77  # as in automake and CTest
LIST_SECONDS = 120  # a suite may have to fetch what it tests first
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
OUTPUT_LINES = 60  # of a failed test, its last ones
LONGEST = 30  # tests that are listed with their times
TICK_SECONDS = 0.5  # between two looks at how busy the machine is
MOST_STRETCH = 10  # of a limit by a busy machine


class Suite:
    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.name, self.kind, seconds, self.list_path = fields[:4]
        self.seconds = float(seconds)
        self.command = fields[4:]
        self.passed = self.failed = self.skipped = 0
        self.started = None
        self.took = 0.0  # seconds of its tests, one after the other
        self.used = 0.0  # seconds of processor time
        self.rules = read_rules(self.list_path) if self.list_path else []


class Rule:
    def __init__(self, pattern, kind, reason):
        self.pattern, self.kind, self.reason = pattern, kind, reason
        self.used = False


def read_rules(path):
    rules = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            text = line.split("#", 1)[0].strip()
            if not text:
                continue
            fields = text.split(None, 2)
            if len(fields) < 3 or fields[1] not in ("unsupported",
                                                    "expected-failure"):
                sys.exit(f"{path}:{number}: want PATTERN unsupported|"
                         "expected-failure REASON")
            rules.append(Rule(*fields))
    return rules


def share(load, processors):
    """The part of a processor that a thread gets; load is /proc/loadavg's
    text, whose fourth field has the runnable threads, this one included."""
    try:
        runnable = int(load.split()[3].split("/")[0]) - 1
    except (IndexError, ValueError):
        return 1.0
    return max(1 / MOST_STRETCH, min(1.0, processors / max(runnable, 1)))


def share_now():
    try:
        with open("/proc/loadavg", encoding="ascii") as file:
            return share(file.read(), len(os.sched_getaffinity(0)))
    except OSError:
        return 1.0


def has_ended(process, seconds):
    """Waits at most so many seconds for the process to end."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        time.sleep(0.02)
        return os.waitid(os.P_PID, process.pid,
                         os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(pidfd)


class Processes:
    """Runs commands and counts their processor time, that of their compilers
    as well. A compiler outlives its client by a moment, so that its time counts
    for whichever test runs then."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()  # pids of the commands
        try:
            PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        except (OSError, AttributeError):
            pass  # orphans are not counted

    def start(self, command, output, environment):
        with self.lock:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
                env=environment)
            self.running.add(process.pid)
        return process

    def wait(self, process, seconds):
        """Waits for the process or its limit. Returns whether it ended, and
        the processor time of orphans."""
        spent, used, last = 0.0, 0.0, time.monotonic()
        while spent < seconds:
            if has_ended(process, min(TICK_SECONDS, seconds - spent)):
                return True, used
            used += self.reap_orphans()
            now = time.monotonic()
            spent += (now - last) * share_now()
            last = now
        return False, used

    def end(self, process):
        """Ends what a test left running: the group is the test's alone.
        Returns the exit status and the seconds of processor time."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        with self.lock:
            self.running.remove(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        used = usage.ru_utime + usage.ru_stime
        return process.returncode, used + self.reap_orphans()

    def reap_orphans(self):
        used = 0.0
        with self.lock:
            for pid in children() - self.running:
                reaped, _, usage = os.wait4(pid, os.WNOHANG)
                if reaped:
                    used += usage.ru_utime + usage.ru_stime
        return used

    def run(self, command, seconds, environment):
        """Runs a process group of its own to its end or its limit.

        Returns (exit status or None when out of time, output, seconds of
        processor time)."""
        with tempfile.TemporaryFile() as output:
            try:
                process = self.start(command, output, environment)
            except OSError as error:
                return 127, f"{command[0]}: {error.strerror}\n", 0.0
            in_time, orphans = self.wait(process, seconds)
            status, used = self.end(process)
            output.seek(0)
            return (status if in_time else None,
                    output.read().decode(errors="replace"), used + orphans)


def children():
    """This process's, those it adopted among them."""
    pids = set()
    for path in glob.glob("/proc/self/task/*/children"):
        try:
            with open(path, encoding="ascii") as file:
                pids.update(int(pid) for pid in file.read().split())
        except OSError:
            pass  # a thread that ended
    return pids


def describe(status, seconds):
    if status is None:
        return f"still running after {seconds:g} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


class Runner:
    def __init__(self, options, build):
        self.options = options
        self.lock = threading.Lock()  # over the counts and the output
        self.processes = Processes()
        self.again = [] if options.again else None  # calls, while they collect
        self.times = []  # (seconds, name) of each test that ran
        self.environment = dict(os.environ)
        self.environment["METTLE_BUILD_DIR"] = build
        tests = os.path.dirname(os.path.abspath(__file__))
        for name, value in (
                # LLVM's allocators poison what they free where their header is
                # compiled with ASan (in frontend.cpp) and do not unpoison it
                # where it is not (in Debian's libLLVM). A library that a test
                # preloads comes before ASan's runtime, and replaces nothing.
                ("ASAN_OPTIONS", "allow_user_poisoning=0:"
                                 "verify_asan_link_order=0:"
                                 "detect_stack_use_after_return=1"),
                ("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1"),
                ("LSAN_OPTIONS", f"suppressions={tests}/lsan.txt:"
                                 "print_suppressions=0"),
                ("TSAN_OPTIONS", f"suppressions={tests}/tsan.txt:"
                                 "halt_on_error=1:die_after_fork=0:"
                                 "second_deadlock_stack=1")):
            self.environment.setdefault(name, value)

    def say(self, text):
        print(text, flush=True)

    def show(self, title, reason, output):
        lines = output.splitlines()[-OUTPUT_LINES:]
        self.say("\n    ".join([f"{title}: {reason}", *lines]))

    def run_command(self, suite, command, seconds):
        status, output, used = self.processes.run(command, seconds,
                                                  self.environment)
        with self.lock:
            suite.used += used
        return status, output

    def wants(self, suite, test=None):
        """Filters name a suite, or "suite:test", and may use * and ?."""
        if not self.options.filters:
            return True
        name = f"{suite.name}:{test}" if test else suite.name
        for pattern in self.options.filters:
            head = pattern.split(":", 1)[0]
            if test is None and ":" in pattern:
                pattern = head
            if fnmatch.fnmatch(name, pattern):
                return True
            if test and ":" not in pattern:
                if fnmatch.fnmatch(suite.name, pattern):
                    return True
        return False

    def cases(self, suite):
        status, output = self.run_command(suite, suite.command + ["--list"],
                                          LIST_SECONDS)
        if status != 0:
            self.record(suite, "--list", "failed",
                        describe(status, LIST_SECONDS), output)
            return []
        return [name for name in output.split("\n") if name]

    def record(self, suite, test, verdict, reason="", output=""):
        with self.lock:
            setattr(suite, verdict, getattr(suite, verdict) + 1)
            if verdict == "failed":
                self.show(f"FAILED {suite.name}:{test}", reason, output)
            elif self.options.verbose:
                note = f": {reason}" if reason else ""
                self.say(f"{verdict} {suite.name}:{test}{note}")

    def run_case(self, suite, test):
        rule = next((rule for rule in suite.rules
                     if fnmatch.fnmatchcase(test, rule.pattern)), None)
        if rule and rule.kind == "unsupported":
            self.record(suite, test, "skipped", rule.reason)
            return
        status, output = self.run_command(suite, suite.command + [test],
                                          suite.seconds)
        expected = rule is not None  # to fail
        if status == SKIPPED:
            last = output.strip().split("\n")[-1]
            self.record(suite, test, "skipped", last)
        elif expected and status == 0:
            self.record(suite, test, "failed", "passes, though "
                        f"{suite.list_path} expects a failure: {rule.reason}")
        elif expected:
            self.record(suite, test, "passed", "fails as expected: "
                        + rule.reason)
        elif status == 0:
            self.record(suite, test, "passed")
        else:
            reason = describe(status, suite.seconds)
            if self.put_off(self.run_case, suite, test):
                self.show(f"{suite.name}:{test}", reason, output)
            else:
                self.record(suite, test, "failed", reason, output)

    def run_counts(self, suite):
        status, output = self.run_command(suite, suite.command, suite.seconds)
        lines = output.strip().split("\n")
        counts = COUNTS.match(lines[-1])
        if status == SKIPPED:
            self.record(suite, "(all)", "skipped", lines[-1])
            return
        good = status == 0 and counts and int(counts[2]) == 0
        if not good and self.put_off(self.run_counts, suite):
            self.show(suite.name, describe(status, suite.seconds), output)
            return
        with self.lock:
            if counts:
                suite.passed += int(counts[1])
                suite.failed += int(counts[2])
                suite.skipped += int(counts[3] or 0)
        if good:
            return
        reason = describe(status, suite.seconds)
        if counts and int(counts[2]) > 0 and status is not None:
            # The suite has counted its failures itself.
            self.show(f"FAILED {suite.name}", reason, output)
            return
        if status == 0:
            reason = "its last line is no count"
        self.record(suite, "(all)", "failed", reason, output)

    def run_timed(self, function, suite, *arguments):
        start = time.monotonic()
        function(suite, *arguments)
        took = time.monotonic() - start
        with self.lock:
            suite.took += took
            self.times.append((took, ":".join([suite.name, *arguments])))

    def put_off(self, function, suite, *arguments):
        """Keeps a first failure for the end; tells whether it did."""
        with self.lock:
            if self.again is None:
                return False
            self.again.append((function, suite, *arguments))
            return True

    def run_again(self):
        """Runs what failed once more, alone; it fails now or is unsteady."""
        calls, self.again = self.again or [], None
        for function, suite, *arguments in calls:
            before = suite.failed
            self.run_timed(function, suite, *arguments)
            if suite.failed == before:
                name = ":".join([suite.name, *arguments])
                self.say(f"UNSTEADY {name}: failed, then passed alone")

    def check_rules(self, suite, names):
        for rule in suite.rules:
            if not fnmatch.filter(names, rule.pattern):
                self.record(suite, rule.pattern, "failed",
                            f"{suite.list_path} names no test")

    def jobs(self, suites):
        """All the work as calls, suites that count themselves first."""
        for suite in suites:
            if suite.kind == "counts":
                yield self.run_counts, suite
        for suite in suites:
            if suite.kind == "cases":
                names = self.cases(suite)
                self.check_rules(suite, names)
                for name in names:
                    if self.wants(suite, name):
                        yield self.run_case, suite, name

    def run(self, suites):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = [pool.submit(self.run_timed, *job)
                       for job in self.jobs(suites)]
        for future in futures:
            future.result()
        self.run_again()

    def list(self, suites):
        for suite in suites:
            if suite.kind == "counts":
                self.say(suite.name)
                continue
            for name in self.cases(suite):
                if self.wants(suite, name):
                    self.say(f"{suite.name}:{name}")


def counts_text(passed, failed, skipped):
    text = f"{passed} passed, {failed} failed"
    return text + (f", {skipped} skipped" if skipped else "")


def parse_options():
    parser = argparse.ArgumentParser(description="Runs Mettle's tests.")
    parser.add_argument("--build", default="build", help="build folder")
    parser.add_argument("--suites", help="instead of BUILD/tests/suites.txt")
    parser.add_argument("--jobs", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--again", action="store_true",
                        help="run what failed once more, alone")
    parser.add_argument("filters", nargs="*", metavar="FILTER",
                        help="SUITE or SUITE:TEST, with * and ?")
    return parser.parse_args()


def main():
    options = parse_options()
    build = os.path.abspath(options.build)
    path = options.suites or os.path.join(build, "tests", "suites.txt")
    with open(path, encoding="utf-8") as lines:
        suites = [Suite(line) for line in lines if line.strip()]
    runner = Runner(options, build)
    suites = [suite for suite in suites if runner.wants(suite)]
    if options.list:
        runner.list(suites)
        return 0
    # The disk cache of a test run is its own and starts empty.
    cache = tempfile.mkdtemp(prefix="mettle-test-cache-")
    runner.environment["METTLE_CACHE_DIR"] = cache
    try:
        runner.run(suites)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    for suite in suites:
        text = counts_text(suite.passed, suite.failed, suite.skipped)
        runner.say(f"{suite.name:28} {text}  ({suite.took:.1f} s, "
                   f"{suite.used:.1f} s of processor time)")
    if len(runner.times) > LONGEST:
        runner.say("The longest:")
        for took, name in sorted(runner.times, reverse=True)[:LONGEST]:
            runner.say(f"{took:8.1f} s  {name}")
    total = [sum(getattr(suite, field) for suite in suites)
             for field in ("passed", "failed", "skipped")]
    runner.say(counts_text(*total))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
