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
    tool.fails(1, ("not a timeline",), "trace", "view", "other.json")
    assert not os.path.exists(tool.file("other.html"))
    assert tool("trace", "summary").code == 2
    assert tool("trace", "sum", "other.json").code == 2


@case
def a_page_has_the_timeline_inside(tool):
    assert tool(*RUN, "--trace=t.json").code == 0
    assert tool.done("trace", "view", "t.json").out == "t.html\n"
    with open(tool.file("t.html"), encoding="utf-8") as file:
        page = file.read()
    start = page.index("{", page.index('<script id="events"'))
    inside = json.loads(page[start:page.index("</script>", start)])
    assert inside["traceEvents"] == _timeline(tool.file("t.json"))
    assert page.rstrip().endswith("</html>"), page[-100:]
    for text in ("http:", "https:", "src=", "@import"):
        assert text not in page, text
    assert tool.done("trace", "view", "t.json", "--output=-").out == page
    assert tool.done("trace", "view", "t.json", "-o", "p").out == "p\n"
    with open(tool.file("p"), encoding="utf-8") as file:
        assert file.read() == page


@case
def a_page_of_a_timeline_that_was_cut_has_its_whole_events(tool):
    assert tool(*RUN, "--trace=t.json").code == 0
    with open(tool.file("t.json"), "rb") as file:
        whole = file.read()
    events = _timeline(tool.file("t.json"))
    for size in range(60, len(whole), 211):
        tool.write("cut.json", whole[:size])
        page = tool.done("trace", "view", "cut.json", "-o-").out
        start = page.index("{", page.index('<script id="events"'))
        inside = json.loads(page[start:page.index("</script>", start)])
        count = len(inside["traceEvents"])
        assert inside["traceEvents"] == events[:count], size
        lines = whole[:size].count(b"\n") - 1
        assert lines - 1 <= count <= lines + 1, (size, count, lines)


@case
def a_page_that_cannot_be_written_is_an_error(tool):
    assert tool(*RUN, "--trace=t.json").code == 0
    tool.fails(1, ("none/p.html: No such file",), "trace", "view", "t.json",
               "--output", "none/p.html")
    tool.fails(1, ("/dev/full: No space",), "trace", "view", "t.json",
               "-o/dev/full")
    tool.fails(2, ("--output needs a value",), "trace", "view", "t.json",
               "--output")
    tool.fails(2, ("FILE is missing",), "trace", "view")
    tool.fails(2, ("one FILE is enough: u.json",), "trace", "view", "t.json",
               "u.json")
    tool.fails(2, ("there is no option --top",), "trace", "view", "t.json",
               "--top", "3")
