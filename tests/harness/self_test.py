#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""self_test.py PROGRAM: checks that run.py counts what goes wrong as failed.

PROGRAM is misbehaving.c, built. Each check runs run.py over a suite of its
own and compares the last line and the exit status."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run import share  # noqa: E402

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")
PROGRAM = sys.argv[1]
SECONDS = 2  # the limit of one test; only the hanging ones reach it


def run(kind, command, filters=(), rules=None):
    with tempfile.TemporaryDirectory() as folder:
        rules_path = ""
        if rules is not None:
            rules_path = os.path.join(folder, "rules.txt")
            with open(rules_path, "w", encoding="utf-8") as file:
                file.write(rules)
        suites = os.path.join(folder, "suites.txt")
        with open(suites, "w", encoding="utf-8") as file:
            file.write("\t".join(["s", kind, str(SECONDS), rules_path]
                                 + command) + "\n")
        result = subprocess.run(
            [sys.executable, RUN, "--build", folder, "--suites", suites,
             *filters], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout.strip().split("\n")[-1], \
        result.stdout


def case(name):
    return lambda rules=None: run("cases", [PROGRAM],
                                  [f"s:misbehaving.{name}"], rules)


def counts(script):
    return lambda: run("counts", ["/bin/sh", "-c", script])


def fails_once():
    with tempfile.TemporaryDirectory() as folder:
        return run("counts", ["/bin/sh", "-c",
                              f"mkdir {folder}/again && exit 1;"
                              "echo 1 passed, 0 failed"], ["--again"])


CHECKS = {
    "a passing test passes":
        (case("passes"), 0, "1 passed, 0 failed"),
    "a failed check fails":
        (case("fails_a_check"), 1, "0 passed, 1 failed"),
    "a crash fails":
        (case("crashes"), 1, "0 passed, 1 failed"),
    "an abort fails":
        (case("aborts"), 1, "0 passed, 1 failed"),
    "a hang fails":
        (case("hangs"), 1, "0 passed, 1 failed"),
    "a failure while cleaning up fails":
        (case("fails_while_cleaning_up"), 1, "0 passed, 1 failed"),
    "a child left behind is ended":
        (case("leaves_a_child_behind"), 0, "1 passed, 0 failed"),
    "a filter that matches nothing fails":
        (case("no_such_test"), 1, "0 passed, 0 failed"),
    "a skipped test is counted apart":
        (lambda: run("cases", [PROGRAM], ["s:*.passes", "s:*.is_skipped"]),
         0, "1 passed, 0 failed, 1 skipped"),
    "an unsupported test is skipped":
        (lambda: run("cases", [PROGRAM], ["s:*.passes", "s:*.crashes"],
                     "misbehaving.crashes unsupported it crashes\n"),
         0, "1 passed, 0 failed, 1 skipped"),
    "an expected failure passes":
        (lambda: case("fails_a_check")(
            "misbehaving.fails* expected-failure arithmetic\n"),
         0, "1 passed, 0 failed"),
    "an expected failure that passes fails":
        (lambda: case("passes")("misbehaving.passes expected-failure no\n"),
         1, "0 passed, 1 failed"),
    "a rule without a test fails":
        (lambda: case("passes")("misbehaving.gone unsupported it went\n"),
         1, "1 passed, 1 failed"),
    "a program that cannot be run fails":
        (lambda: run("cases", ["/nonexistent"]), 1, "0 passed, 1 failed"),
    "counts are added":
        (counts("echo 3 passed, 0 failed, 2 skipped"),
         0, "3 passed, 0 failed, 2 skipped"),
    "counted failures fail":
        (counts("echo 3 passed, 2 failed; exit 1"),
         1, "3 passed, 2 failed"),
    "a count without a last line fails":
        (counts("echo 3 passed, 0 failed; echo bye"),
         1, "0 passed, 1 failed"),
    "a crash after the count fails":
        (counts("echo 3 passed, 0 failed; kill -SEGV $$"),
         1, "3 passed, 1 failed"),
    "a suite that skips itself is skipped":
        (lambda: run("counts", ["/bin/sh", "-c", "echo no network; exit 77"]),
         1, "0 passed, 0 failed, 1 skipped"),
    "a suite that hangs fails":
        (counts("echo 3 passed, 0 failed; exec sleep 600"),
         1, "3 passed, 1 failed"),
    "a failure that stays fails --again":
        (lambda: run("cases", [PROGRAM], ["--again", "s:*.fails_a_check"]),
         1, "0 passed, 1 failed"),
    "counted failures that stay fail --again":
        (lambda: run("counts", ["/bin/sh", "-c",
                                "echo 3 passed, 2 failed; exit 1"],
                     ["--again"]),
         1, "3 passed, 2 failed"),
    "a failure that goes passes --again":
        (fails_once, 0, "1 passed, 0 failed"),
}


# /proc/loadavg with so many runnable threads, run.py among them; processors;
# the part of a second that counts.
SHARES = [
    ("0.10 0.20 0.30 1/200 999", 2, 1.0),
    ("0.10 0.20 0.30 3/200 999", 2, 1.0),
    ("9.00 8.00 7.00 9/200 999", 2, 0.25),
    ("9.00 8.00 7.00 900/999 999", 2, 0.1),  # however busy
    ("", 2, 1.0),
]


def failed_shares():
    failed = 0
    for load, processors, want in SHARES:
        got = share(load, processors)
        if got != want:
            failed += 1
            print(f"FAILED a share under {load!r}: {got}, not {want}")
    return failed


def main():
    failed = failed_shares()
    for name, (check, want_status, want_line) in CHECKS.items():
        status, line, output = check()
        if (status, line) != (want_status, want_line):
            failed += 1
            print(f"{name}: got {line!r}, status {status}; "
                  f"expected {want_line!r}, status {want_status}\n{output}")
    total = len(CHECKS) + len(SHARES)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
