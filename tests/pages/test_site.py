# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation's site: it builds without a warning, no link in it leads
nowhere, and its search finds a function of the C API."""

import functools
import http.server
import importlib.util
import os
import subprocess
import tempfile
import threading
import unittest

from browser import Browser, program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or
                     os.path.expanduser("~/.cache"), "mettle-tests", "site")
# "site" is a module of Python's own.
_spec = importlib.util.spec_from_file_location(
    "mettle_site", os.path.join(ROOT, "tools", "site.py"))
mettle_site = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mettle_site)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(CACHE, exist_ok=True)
        try:
            mettle_site.python(CACHE)
        except (OSError, subprocess.CalledProcessError):
            raise unittest.SkipTest("no Sphinx")
        cls.html = mettle_site.build(CACHE)

    def test_links_lead_somewhere(self):
        self.assertEqual(mettle_site.dead_links(self.html), [])

    def test_a_dead_link_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.html"), "w",
                      encoding="utf-8") as file:
                file.write('<p id="x"></p><a href="#x">1</a><a href="#y">2</a>'
                           '<a href="a.html#x">3</a><a href="b.html">4</a>'
                           '<a href="https://example.com/">5</a>')
            self.assertEqual(mettle_site.dead_links(folder),
                             ["a.html: #y", "a.html: b.html"])

    def test_every_document_is_a_page(self):
        names = [name for name in os.listdir(os.path.join(ROOT, "docs"))
                 if name.endswith(".md")]
        for name in names:
            self.assertTrue(os.path.exists(os.path.join(
                self.html, name[:-3] + ".html")), name)

    def test_search(self):
        if not program():
            self.skipTest("no chromium")
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Quiet, directory=self.html))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}"
        with Browser() as page:
            if os.environ.get("METTLE_PICTURES"):
                for name in ("index", "api/buffer"):
                    page.open(f"{address}/{name}.html")
                    page.picture(os.path.join(
                        os.environ["METTLE_PICTURES"],
                        f"site-{os.path.basename(name)}.png"))
            page.open(f"{address}/search.html?q=mtl_buffer_create")
            page.until("document.querySelector('#search-results li a')")
            links = page.run("[...document.querySelectorAll("
                             "'#search-results li a')].map(a => a.href)")
            self.assertTrue(any("api/buffer.html#c.mtl_buffer_create" in link
                                for link in links), links)


if __name__ == "__main__":
    unittest.main()
