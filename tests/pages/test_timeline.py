# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page that `mettle trace view` writes, in a browser, by mouse and keys."""

import json
import os
import subprocess
import tempfile
import unittest

from browser import Browser, program

BUILD = os.environ["METTLE_BUILD_DIR"]
SHIFT = 8  # of the protocol's modifiers
NASTY = "</script><script>window.harm = 1</script><!--"


def slice_of(track, name, category, start, length, **args):
    return {"ph": "X", "pid": 1, "tid": track, "name": name, "cat": category,
            "ts": 5000 + start, "dur": length, "args": args}


def name_of(track, name):
    return {"ph": "M", "pid": 1, "tid": track, "name": "thread_name",
            "args": {"name": name}}


QUEUE = 1 << 30
# Two command buffers of a queue, 1 ms; the expected values below are read off
# it.
EVENTS = [
    {"ph": "M", "pid": 1, "tid": 7, "name": "process_name",
     "args": {"name": "by hand"}},
    name_of(7, "main"), name_of(QUEUE, "queue 'q' of cpu"),
    name_of(8, "worker"),
    slice_of(7, "commit", "commit", 0, 10, label="first"),
    {"ph": "s", "pid": 1, "tid": 7, "name": "commit", "cat": "flow",
     "id": "a", "ts": 5000},
    slice_of(7, "commit", "commit", 20, 10),
    slice_of(QUEUE, "command buffer", "command buffer", 100, 400),
    {"ph": "f", "bp": "e", "pid": 1, "tid": QUEUE, "name": "commit",
     "cat": "flow", "id": "a", "ts": 5100},
    slice_of(QUEUE, "compute encoder", "encoder", 100, 400),
    slice_of(QUEUE, "blur", "command", 100, 150, grid=[64, 64, 1],
             line=12, **{"bytes bound": 3000}),
    slice_of(QUEUE, "sharpen", "command", 250, 250, **{"bytes bound": 500}),
    slice_of(QUEUE, "command buffer", "command buffer", 600, 400,
             error="a kernel fault"),
    slice_of(QUEUE, "blur", "command", 600, 400),
    slice_of(QUEUE, NASTY, "event", 990, 10),
    slice_of(8, "blur", "work", 100, 140),
    {"ph": "C", "pid": 1, "tid": 7, "name": "cpu", "ts": 5000,
     "args": {"bytes of buffers": 1000}},
    {"ph": "C", "pid": 1, "tid": 7, "name": "cpu", "ts": 5500,
     "args": {"bytes of buffers": 4000}},
]


def page_of(folder, events, name="t"):
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    subprocess.run([os.path.join(BUILD, "mettle"), "trace", "view", path],
                   check=True, capture_output=True)
    return "file://" + path[:-5] + ".html"


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not program():
            raise unittest.SkipTest("no chromium")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.url = page_of(cls.folder.name, EVENTS)
        cls.page = cls.enterClassContext(Browser()) \
            if hasattr(cls, "enterClassContext") else Browser().__enter__()

    def setUp(self):
        self.page.errors.clear()
        self.page.requests.clear()
        self.page.open(self.url)

    def tearDown(self):
        self.assertEqual(self.page.errors, [])

    def view(self):
        return self.page.run("[timeline.view.start, timeline.view.end]")

    def middle(self, name, category="command"):
        """The middle of a slice, in the window."""
        return self.page.run(f"""(() => {{
          const slice = timeline.model.slices.find((s) =>
            s.name === {json.dumps(name)} && s.category === '{category}');
          const place = timeline.painter.place(timeline.view, slice);
          const box = document.getElementById('canvas')
            .getBoundingClientRect();
          return [box.x + place.x + place.width / 2,
                  box.y + place.y + place.height / 2];
        }})()""")

    def panel(self):
        return self.page.run("document.getElementById('panel').innerText")

    def test_everything_is_in_the_file(self):
        self.assertEqual(self.page.requests, [self.url])
        self.assertEqual(self.page.run("document.title"), "by hand: timeline")
        self.assertEqual(self.page.run(
            "document.getElementById('facts').textContent"),
            "1 ms, 10 slices, 3 tracks, 1 arrow")

    def test_tracks_and_lanes(self):
        self.assertEqual(self.page.run(
            "timeline.model.tracks.map(t => [t.name, t.group, "
            "t.lanes.map(l => l.map(s => s.name))])")[1][2][:3],
            [["command buffer", "command buffer"],
             ["compute encoder", "blur"], ["blur", "sharpen", NASTY]])
        self.assertEqual(self.page.run(
            "timeline.model.tracks.map(t => t.name)"),
            ["main", "queue 'q' of cpu", "worker"])

    def test_texts_are_no_markup(self):
        x, y = self.middle(NASTY, "event")
        self.page.mouse("Moved", x, y)
        self.assertIn(NASTY, self.page.run(
            "document.getElementById('tip').innerText"))
        self.page.click(x, y)
        self.assertIn(NASTY, self.panel())
        self.assertIsNone(self.page.run("window.harm"))

    def test_totals(self):
        rows = [line.split("\t") for line in self.panel().splitlines()]
        self.assertIn(["550 \u00b5s", "68.8", "2", "275 \u00b5s",
                       "400 \u00b5s", "5.45 MB/s", "blur"], rows)
        self.assertIn(["250 \u00b5s", "31.3", "1", "250 \u00b5s",
                       "250 \u00b5s", "2 MB/s", "sharpen"], rows)

    def test_the_wheel_zooms_at_the_mouse(self):
        x, y = self.middle("sharpen")
        start, end = self.view()
        self.page.wheel(x, y, -300)
        self.page.until(f"timeline.view.start > {start}")
        closer = self.view()
        self.assertAlmostEqual((closer[1] - closer[0]) / (end - start),
                               1.002 ** -300, places=6)
        self.assertAlmostEqual(self.middle("sharpen")[0], x, delta=1)
        self.page.wheel(x, y, 300)
        self.page.until(f"timeline.view.start < {closer[0]}")
        self.assertAlmostEqual(self.view()[0], start, places=6)

    def test_dragging_moves(self):
        self.page.press("w")
        x, y = self.middle("blur")
        self.page.drag(600, 500, 500, 500)
        self.assertAlmostEqual(self.middle("blur")[0], x - 100, delta=1)
        self.page.press("ArrowLeft")
        self.assertAlmostEqual(self.middle("blur")[0], x - 40, delta=1)
        self.page.press("0")
        self.assertEqual(self.view(), [-20, 1020])

    def test_what_is_under_the_mouse(self):
        self.page.mouse("Moved", *self.middle("blur"))
        text = self.page.run("document.getElementById('tip').innerText")
        for part in ("blur", "64 \u00d7 64 \u00d7 1", "3000 (3 kB)", "line",
                     "150 \u00b5s", "20 MB/s"):
            self.assertIn(part, text)
        self.page.mouse("Moved", 900, 110)
        self.assertIn("4 kB", self.page.run(
            "document.getElementById('tip').innerText"))
        self.page.mouse("Moved", 900, 400)
        self.assertEqual(self.page.run(
            "document.getElementById('tip').style.display"), "none")

    def test_selection_and_arrows(self):
        self.page.click(*self.middle("commit", "commit"))
        self.assertEqual(self.page.run("timeline.state.selected.args.label"),
                         "first")
        self.assertIn("commit: command buffer, queue 'q' of cpu",
                      self.panel())
        self.page.run("document.querySelector('#panel .link').click()")
        self.assertEqual(self.page.run("timeline.state.selected.start"), 100)
        self.page.press("f")
        self.assertEqual(self.view(), [60, 540])
        self.page.press("Escape")
        self.assertIsNone(self.page.run("timeline.state.selected"))

    def test_search(self):
        self.page.press("/")
        self.page.type("BLUR")
        found = "document.getElementById('found').textContent"
        self.assertEqual(self.page.run(found), "3 found")
        for text, start in (("1 of 3", 100), ("2 of 3", 100),
                            ("3 of 3", 600), ("1 of 3", 100)):
            self.page.press("Enter")
            self.assertEqual(self.page.run(found), text)
            self.assertEqual(self.page.run("timeline.state.selected.start"),
                             start)
        self.page.type(" 3000")  # arguments count, and every word
        self.assertEqual(self.page.run(found), "1 found")
        self.page.type(" nothing")
        self.assertEqual(self.page.run(found), "0 found")

    def test_a_range_is_measured(self):
        y = self.middle("blur")[1]
        times = self.page.run("[200, 300].map(t => timeline.painter.x("
                              "timeline.view, t))")
        self.page.drag(times[0], y, times[1], y, SHIFT)
        self.assertIn("2 commands", self.panel())

    def test_it_is_painted(self):
        points = [self.middle("blur"), (900, 400)]
        colours = self.page.run(f"""(() => {{
          const box = canvas.getBoundingClientRect();
          return {json.dumps(points)}.map(([x, y]) => [...pen.getImageData(
            x - box.x, y - box.y + 7, 1, 1).data].slice(0, 3));
        }})()""")
        self.assertNotEqual(*colours)

    def test_a_failed_command_buffer_is_red(self):
        red, green, blue = self.page.run("""(() => {
          const place = timeline.painter.place(timeline.view,
            timeline.model.slices.find(s => s.args.error));
          return [...pen.getImageData(place.x + place.width - 9, place.y + 15,
                                      1, 1).data].slice(0, 3);
        })()""")
        self.assertGreater(red, green + 40)
        self.assertGreater(red, blue + 40)

    def test_many_slices(self):
        events = [slice_of(QUEUE, f"k{i % 7}", "command", 2 * i, 1.5)
                  for i in range(200_000)]
        self.page.open(page_of(self.folder.name, events, "many"))
        spent = self.page.run("""(() => {
          const start = performance.now();
          for (let i = 0; i < 10; ++i) {
            timeline.painter.paint(timeline.view, timeline.state);
          }
          return (performance.now() - start) / 10;
        })()""")
        self.assertLess(spent, 200)  # 5 ms a frame when nothing else runs
        self.assertEqual(self.page.run("timeline.model.slices.length"),
                         200_000)

    def test_no_events_and_no_json(self):
        self.page.open(page_of(self.folder.name, [], "none"))
        self.assertIn("No commands", self.panel())
        path = os.path.join(self.folder.name, "bad.html")
        with open(self.url[7:], encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('{"traceEvents":[', '{"traceEvents":[,'))
        self.page.open("file://" + path)
        self.assertIn("This is no timeline", self.page.run(
            "document.getElementById('stage').innerText"))


class Real(unittest.TestCase):
    def test_a_timeline_of_a_program(self):
        if not program():
            self.skipTest("no chromium")
        with tempfile.TemporaryDirectory() as folder, Browser() as page:
            path = os.path.join(folder, "two.json")
            subprocess.run([os.path.join(BUILD, "examples", "two_queues")],
                           check=True, capture_output=True,
                           env=dict(os.environ, METTLE_TRACE=path))
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            page.open(page_of(folder, events, "two"))
            self.assertEqual(page.errors, [])
            wanted = [e for e in events if e["ph"] == "X"]
            self.assertEqual(page.run("timeline.model.slices.length"),
                             len(wanted))
            starts = {e["id"] for e in events if e["ph"] == "s"}
            arrows = [e for e in events if e["ph"] == "f" and
                      e["id"] in starts]
            self.assertEqual(page.run("timeline.model.flows.length"),
                             len(arrows))
            # Each arrow of a commit joins the slices that it names.
            self.assertTrue(page.run(
                "timeline.model.flows.filter(f => f.name === 'commit')"
                ".every(f => f.from.category === 'commit' && "
                "f.to.category === 'command buffer')"))
            if os.environ.get("METTLE_PICTURES"):
                page.press("/")
                page.type("produce")
                page.press("Enter")
                page.press("Enter")
                page.picture(os.path.join(os.environ["METTLE_PICTURES"],
                                          "timeline.png"))


if __name__ == "__main__":
    unittest.main()
