#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""site.py BUILD: builds the documentation as a site, BUILD/site/html, by Sphinx
with MyST from README.md, docs/, python/README.md and the C headers. Sphinx
comes from the Python package index into BUILD/site/venv, unless this Python has
it. A warning, a link that leads nowhere among them, is an error."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SITE = os.path.join(ROOT, "docs", "site")
WANTED = ("sphinx", "myst_parser", "furo", "sphinx_copybutton")
REST = "How it works"  # the heading of what pages.txt does not name


def python(folder):
    """A Python that has Sphinx."""
    if all(importlib.util.find_spec(name) for name in WANTED):
        return sys.executable
    place = os.path.join(folder, "venv")
    program = os.path.join(place, "bin", "python")
    ready = os.path.join(place, "ready")
    if not os.path.exists(ready):
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([program, "-m", "pip", "install", "--quiet", "-r",
                        os.path.join(SITE, "requirements.txt")], check=True)
        with open(ready, "w", encoding="ascii"):
            pass
    return program


def plan():
    """[(heading, [(page, source)])]."""
    sections = []
    with open(os.path.join(SITE, "pages.txt"), encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line.startswith("#") or not line:
                continue
            if " = " in line:
                sections[-1][1].append(tuple(line.split(" = ")))
            else:
                sections.append((line, []))
    named = {source for _, pages in sections for _, source in pages}
    rest = [(name[:-3], f"docs/{name}")
            for name in sorted(os.listdir(os.path.join(ROOT, "docs")))
            if name.endswith(".md") and f"docs/{name}" not in named]
    return [*sections, (REST, rest)]


def adapted(text, source, pages):
    """A document for the site: links to documents lead to pages, and names of
    documents become links."""
    page_of = {path: page for page, path in pages}

    def target(match):
        path = os.path.normpath(os.path.join(os.path.dirname(source),
                                             match[2]))
        if path in page_of:
            return f"[{match[1]}]({page_of[path]}.md)"
        # A file that is no page is named alone.
        return match[0] if re.match(r"[a-z]+:", match[2]) else match[1]
    text = re.sub(r"\[([^\]\n]+)\]\(([^)#\s]+)\)", target, text)
    # Not in code blocks, which are indented or fenced.
    lines, is_code = [], False
    for line in text.split("\n"):
        is_code ^= line.startswith("```")
        if not is_code and not line.startswith("    "):
            line = re.sub(
                r"(?<![\[\w/`(])`?(docs/[a-z]+\.md)`?(?![\w\])])",
                lambda m: f"[{m[1]}]({page_of[m[1]]}.md)"
                if m[1] in page_of and m[1] != source else m[0], line)
        lines.append(line)
    return "\n".join(lines)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def index(sections):
    parts = ["# Mettle", "", "Metal compute for every machine, in C: unmodified "
             "Metal Shading Language kernels, and the programs that launch "
             "them, on any CPU under Linux and on NVIDIA GPUs.", ""]
    for heading, pages in sections:
        parts += ["```{toctree}", f":caption: {heading}", ":maxdepth: 1", "",
                  *(page for page, _ in pages), "```", ""]
    parts += ["```{toctree}", ":caption: Reference", ":maxdepth: 2", "",
              "api/index", "```", "", "- {ref}`genindex`", "- {ref}`search`"]
    return "\n".join(parts) + "\n"


def sources(folder):
    """Writes what Sphinx reads."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    sections = plan()
    pages = [page for _, listed in sections for page in listed]
    for page, source in pages:
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            write(os.path.join(folder, page + ".md"),
                  adapted(file.read(), source, pages))
    write(os.path.join(folder, "index.md"), index(sections))
    subprocess.run([sys.executable, "-B", os.path.join(
        ROOT, "tools", "api_reference.py"), "site",
        os.path.join(folder, "api")], check=True)


# --- Links --------------------------------------------------------------------

class Page(HTMLParser):
    """The links of a page and the places in it that links lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if values.get("id"):
            self.places.add(values["id"])
        for name in ("href", "src"):
            if values.get(name):
                self.links.append(values[name])


def dead_links(html):
    """["page: link"] of what leads to no file, or to no place in it."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(html)
             for name in names if name.endswith(".html")]
    pages = {path: Page(path) for path in paths}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link in ("#", ""):
                continue
            target = os.path.normpath(os.path.join(
                os.path.dirname(path), unquote(parts.path))) \
                if parts.path else path
            if not os.path.exists(target) or parts.fragment and \
                    target in pages and \
                    unquote(parts.fragment) not in pages[target].places:
                dead.append(f"{os.path.relpath(path, html)}: {link}")
    return dead


def version():
    with open(os.path.join(ROOT, "include", "mettle", "version.h"),
              encoding="utf-8") as file:
        return ".".join(re.findall(r"#define MTL_VERSION_\w+ (\d+)",
                                   file.read()))


def build(folder):
    """Builds the site and returns its folder."""
    source, html = (os.path.join(folder, name) for name in ("source", "html"))
    os.makedirs(folder, exist_ok=True)
    program = python(folder)
    sources(source)
    shutil.rmtree(html, ignore_errors=True)
    subprocess.run([program, "-m", "sphinx", "-q", "-W", "--keep-going", "-c",
                    SITE, "-d", os.path.join(folder, "trees"), source, html],
                   check=True, env={**os.environ, "METTLE_VERSION": version()})
    return html


def main():
    html = build(os.path.join(os.path.abspath(sys.argv[1]), "site"))
    dead = dead_links(html)
    for link in dead:
        print(f"leads nowhere: {link}")
    print(os.path.join(html, "index.html"))
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
