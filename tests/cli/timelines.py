# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""timelines.py: timelines (docs/tracing.md), and `mettle trace`."""

import json
import os
import subprocess

from tool import case

RUN = ("run", "kernels.metal", "scale", "--grid", "100", "--group", "32",
       "x=ones:100", "factor=2")


def _timeline(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def _slices(events, category):
    return [e for e in events if e["ph"] == "X" and e["cat"] == category]


def _holds(outer, inner):
    return (outer["tid"] == inner["tid"] and outer["ts"] <= inner["ts"]
            and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 0.002)


@case
def a_run_has_a_timeline(tool):
    done = tool(*RUN, "--trace", "t.json", "--print", "x:2")
    assert done.code == 0 and "2" in done.out, done.err
    events = _timeline(os.path.join(tool.folder, "t.json"))
    compiled = _slices(events, "compile")
    assert {"compile a library"} < {e["name"] for e in compiled}, compiled
    [command] = [e for e in _slices(events, "command")
                 if e["name"] == "scale"]
    assert command["args"]["grid"] == [100, 1, 1], command
    assert command["args"]["group"] == [32, 1, 1], command
    assert command["args"]["line"] == 11, command
    assert command["args"]["bytes bound"] == 404, command
    [encoder] = [e for e in _slices(events, "encoder") if _holds(e, command)]
    assert encoder["name"] == "compute encoder"
    assert [e for e in _slices(events, "command buffer")
            if _holds(e, encoder)], events
    work = [e for e in _slices(events, "work") if e["name"] == "scale"]
    assert work and all(e["tid"] != command["tid"] for e in work), work
    names = {e["tid"]: e["args"]["name"] for e in events
             if e["ph"] == "M" and e["name"] == "thread_name"}
    assert names[command["tid"]].startswith("queue '"), names
    assert [e for e in events if e["ph"] == "C"
            and e["args"]["bytes of buffers"] >= 400], events


@case
def arrows_of_a_timeline_have_two_ends(tool):
    path = os.path.join(tool.folder, "queues.json")
    subprocess.run([os.path.join(tool.build, "examples", "two_queues")],
                   cwd=tool.folder, check=True, capture_output=True,
                   env=dict(os.environ, METTLE_TRACE=path))
    events = _timeline(path)
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    for name in ("commit", "event"):
        # A value that the host signals has no start.
        met = [(starts[i], ends[i]) for i in ends
               if ends[i]["name"] == name and i in starts]
        assert met, name
        assert all(a["ts"] <= b["ts"] for a, b in met), met
    signals = [e for e in _slices(events, "event")
               if e["name"] == "signal an event"]
    waits = [e for e in _slices(events, "event")
             if e["name"] == "wait for an event"]
    told = {e["args"]["value"]: e["tid"] for e in signals}
    crossed = [e for e in waits
               if told.get(e["args"]["value"], e["tid"]) != e["tid"]]
    assert len(crossed) >= 2, (signals, waits)


@case
def a_variable_asks_for_a_timeline(tool):
    done = tool(*RUN, environment={"METTLE_TRACE": "own-%p.json"})
    assert done.code == 0, done.err
    [name] = [n for n in os.listdir(tool.folder) if n.startswith("own-")]
    assert name[4:-5].isdigit(), name
    assert _slices(_timeline(os.path.join(tool.folder, name)), "command")


@case
def a_timeline_that_cannot_be_written_is_an_error(tool):
    done = tool(*RUN, environment={"METTLE_TRACE": "none/t.json"})
    assert done.code == 1, (done.code, done.err)
    assert 'METTLE_TRACE is "none/t.json"' in done.err, done.err
    done = tool(*RUN, "--trace", "none/t.json")
    assert done.code == 1 and "none/t.json: No such file" in done.err, done.err
    done = tool(*RUN, "--trace")
    assert done.code == 2 and "--trace needs a file" in done.err, done.err


@case
def a_timeline_is_added_up(tool):
    assert tool(*RUN, "--trace=t.json", "--repeat", "3").code == 0
    done = tool("trace", "summary", "t.json", "--top", "1")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0][-1] == "command" and rows[1][-1] == "scale", done.out
    assert rows[1][2] == "3" and rows[2] == [], done.out
    assert "queue '" in done.out and "% busy" in done.out, done.out
    path = os.path.join(tool.folder, "t.json")
    with open(path, "rb") as file:
        whole = file.read()
    for size in range(0, len(whole), 97):  # cut anywhere
        with open(path, "wb") as file:
            file.write(whole[:size])
        done = tool("trace", "summary", "t.json")
        assert done.code in (0, 1), (size, done.code, done.err)


@case
def what_is_no_timeline_is_told(tool):
    tool.write("other.json", '{"a": [1, 2]}')
    done = tool("trace", "summary", "other.json")
    assert done.code == 1 and "not a timeline" in done.err, done.err
    assert tool("trace", "summary").code == 2
    assert tool("trace", "sum", "other.json").code == 2
