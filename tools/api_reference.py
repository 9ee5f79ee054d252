#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""api_reference.py man|site FOLDER: writes a reference of the C API from the
comments of include/mettle/*.h: pages of section 3 of the manual, one for each
function and type, or a page of MyST for each header.

The headers are regular: a comment of whole lines stands above what it is about;
its lists are indented by two more spaces, its labels (Ownership, Threads,
Errors, Source) stand at the line's start with two spaces behind. A declaration
that follows another one at once, without a comment, belongs to that one."""

import os
import re
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = os.path.join(ROOT, "include", "mettle")
LABELS = ("Ownership", "Threads", "Errors", "Source")
LABEL = re.compile(rf"^({'|'.join(LABELS)})\s\s+(.*)$")
SKIPPED = re.compile(r'^(extern "C"|\}|#(if|ifdef|ifndef|endif|else|include|'
                     r"undef|pragma))")
WIDTH = 78
# Objects count their owners; a header without a word on ownership gets this
# text.
OWNERS = {
    "retain": ["Counts one more owner, and returns the object. NULL is "
               "allowed."],
    "release": ["Counts one owner less; the last one ends the object. NULL "
                "is allowed."],
}
OURS = re.compile(r"^(mtl_|MTL_|mettle_)")


@dataclass
class Item:
    kind: str    # function, struct, enum, union, type, macro
    name: str
    text: str    # the declaration as it stands, without what the compiler needs
    comment: list  # its lines
    header: str
    others: list = field(default_factory=list)  # items without a comment


@dataclass
class Header:
    name: str
    comment: list
    items: list


# --- Reading ------------------------------------------------------------------

def described(text, comment, header):
    """The item of a declaration, or None where it is no part of the API."""
    text = re.sub(r"\b(MTL_API|MTL_MUST_USE)\s+|\s*\bMTL_PRINTF\(\d.*?\)", "",
                  text)
    bare = re.sub(r"//.*", "", text)
    if bare.startswith("#define"):
        kind, name = "macro", re.match(r"#define\s+(\w+)", bare)[1]
    elif found := re.match(r"(?:typedef\s+)?(struct|enum|union)\s+(\w+)\s*\{",
                           bare):
        kind, name = found[1], found[2]
    elif found := re.match(r"typedef\s+enum\s*\{", bare):
        kind, name = "enum", re.search(r"(\w+)\s*;\s*$", bare)[1]
    elif bare.startswith("typedef"):
        found = re.search(r"\(\s*\*\s*(\w+)\s*\)|(\w+)\s*\(|(\w+)\s*;", bare)
        kind, name = "type", next(filter(None, found.groups()))
    elif found := re.search(r"(\w+)\s*\(", bare):
        kind, name = "function", found[1]
    else:
        return None
    if not OURS.match(name) or name.endswith("_H"):
        return None
    if kind == "function":
        text = laid_out(bare)
        comment = comment or OWNERS.get(name.rsplit("_", 1)[-1], [])
    return Item(kind, name, text.rstrip(), comment, header)


def laid_out(text):
    """A function's declaration on one line, or with a line for an argument."""
    text = " ".join(text.split())
    if len(text) <= WIDTH:
        return text
    head, rest = text.split("(", 1)
    return f"{head}(\n    " + rest.strip().replace(", ", ",\n    ")


def declaration(lines, at):
    """The line behind the declaration that begins at a line."""
    depth = 0
    while at < len(lines):
        bare = re.sub(r"//.*", "", lines[at])
        depth += bare.count("{") + bare.count("(")
        depth -= bare.count("}") + bare.count(")")
        at += 1
        if lines[at - 1].startswith("#define"):
            if not bare.rstrip().endswith("\\"):
                break
        elif depth <= 0 and bare.rstrip().endswith((";", "}")):
            break
    return at


def read(path):
    name = os.path.basename(path)
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    comment, items, first, at, is_near = [], [], None, 0, False
    while at < len(lines):
        line = lines[at]
        if line.startswith("//"):
            comment.append(re.sub(r"^// ?", "", line))
            at += 1
            continue
        if not line.strip() or SKIPPED.match(line):
            if first is None and comment:
                first = comment
            comment, is_near = [], False
            at += 1
            continue
        end = declaration(lines, at)
        item = described("\n".join(lines[at:end]), comment, name)
        seen = {each.name for i in items for each in [i, *i.others]}
        if item and item.kind == "macro" and item.name in seen:
            pass  # for another compiler
        elif item and not comment and is_near and items:
            items[-1].others.append(item)
        elif item:
            items.append(item)
        is_near = item is not None
        comment, at = [], end
    about = [line for line in first or [] if "SPDX-" not in line]
    return Header(name, [re.sub(rf"^{re.escape(name)}: ", "", line)
                         for line in about], items)


def headers():
    return [read(os.path.join(HEADERS, name))
            for name in sorted(os.listdir(HEADERS)) if name.endswith(".h")]


# --- The structure of a comment -------------------------------------------------

def blocks(lines):
    """[("text", text), ("list", [(term, text)]), (label, text or list)]."""
    found, at = [], 0
    while at < len(lines):
        line = lines[at]
        label = LABEL.match(line)
        if not line.strip():
            at += 1
        elif label:
            indent = len(line) - len(label[2])
            part, at = [label[2]], at + 1
            while at < len(lines) and lines[at].startswith(" " * indent):
                part.append(lines[at][indent:])
                at += 1
            found.append((label[1], listed(part)))
        elif line.startswith("  "):
            part = []
            while at < len(lines) and lines[at].startswith("  "):
                part.append(lines[at][2:])
                at += 1
            found.append(("list", listed(part)))
        else:
            part = []
            while at < len(lines) and lines[at].strip() and not \
                    lines[at].startswith("  ") and not LABEL.match(lines[at]):
                part.append(lines[at].strip())
                at += 1
            found.append(("text", " ".join(part)))
    return found


def listed(lines):
    """[(term, text)] of "term   text" with what goes on below, or a text."""
    if not any(re.match(r"\s?\S+(?: \S+)*\s\s+\S", line) for line in lines):
        return " ".join(line.strip() for line in lines)
    entries = []
    for line in lines:
        found = re.match(r"\s?(\S+(?: \S+)*?)\s\s+(\S.*)$", line)
        if found:
            entries.append([found[1], found[2]])
        elif entries:
            entries[-1][1] += " " + line.strip()
        else:
            entries.append(["", line.strip()])
    return [tuple(entry) for entry in entries]


def summary(item):
    """The first sentence."""
    text = next((part for kind, part in blocks(item.comment)
                 if kind == "text"), "")
    found = re.match(r"(.*?[.:;])(\s|$)", text)
    text = (found[1] if found else text).rstrip(".:;")
    return text or f"{item.kind} of {item.header}"


# --- The manual -------------------------------------------------------------------

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r"[^\0-\x7f]", lambda c: f"\\[u{ord(c[0]):04X}]", text)
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def roff_part(part):
    if isinstance(part, str):
        return roff(part) + "\n"
    return "".join(f".TP\n.B {roff(term)}\n{roff(text)}\n" if term
                   else roff(text) + "\n" for term, text in part)


def man_page(item, siblings, version):
    lines = [f'.TH {item.name} 3 "" "Mettle {version}" "Mettle\'s C API"',
             ".SH NAME", f"{item.name} \\- {roff(summary(item))}",
             ".SH SYNOPSIS", ".nf",
             f".B #include <mettle/{item.header}>", ".PP"]
    lines += [".EX"] + [roff(each.text) for each in [item, *item.others]] + \
        [".EE", ".fi"]
    body, sections = [], {}
    for kind, part in blocks(item.comment):
        if kind in LABELS:
            sections[kind] = roff_part(part)
        else:
            body.append(roff_part(part))
    if summary(item).startswith("The same") and siblings.before:
        body.append(f"This is beside\n.BR {siblings.before} (3).\n")
    if body:
        lines += [".SH DESCRIPTION", ".PP\n".join(body).rstrip()]
    for label in LABELS:
        if label in sections:
            lines += [f".SH {label.upper()}", sections[label].rstrip()]
    lines += [".SH SEE ALSO", "\n".join(
        f".BR {name} (3)"
                                        for name in siblings.names)]
    return '.\\" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n' + \
        "\n".join(lines) + "\n"


@dataclass
class Siblings:
    """What stands beside an item in its header."""
    before: str  # "" if it is the first
    names: list  # to read on at


def near(items, item):
    at = items.index(item)
    return Siblings(items[at - 1].name if at else "", ["libmettle"] + [
        other.name for other in items[max(0, at - 3):at + 4]
        if other is not item])


def overview(found, version):
    lines = [f'.TH libmettle 3 "" "Mettle {version}" "Mettle\'s C API"',
             ".SH NAME", "libmettle \\- Metal's compute API in C",
             ".SH SYNOPSIS", ".nf", ".B #include <mettle/mettle.h>", ".PP",
             "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs mettle)",
             ".fi", ".SH DESCRIPTION"]
    for header in found:
        kind, text = next(iter(blocks(header.comment)), ("text", ""))
        lines += [f".SS {header.name}", roff(text) if kind == "text" else ""]
        lines += [f".TP\n.BR {item.name} (3)\n{roff(summary(item))}"
                  for item in header.items if item.kind != "macro"]
    lines += [".SH SEE ALSO", ".BR mettle (1)"]
    return '.\\" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n' + \
        "\n".join(lines) + "\n"


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def write_man(found, folder, version):
    for header in found:
        pages = [item for item in header.items if item.kind != "macro"]
        for item in pages:
            write(folder, item.name + ".3",
                  man_page(item, near(pages, item), version))
            for other in item.others:
                if other.kind != "macro" and other.name != item.name:
                    write(folder, other.name + ".3",
                          f".so man3/{item.name}.3\n")
    write(folder, "libmettle.3", overview(found, version))


# --- The site ---------------------------------------------------------------------

def markdown(text, known):
    text = re.sub(r"([\\`*\[\]<>#|{}$~_])", r"\\\1", text)

    def link(match):
        name = match[0].replace("\\_", "_")
        return f"{{c:{known[name]}}}`{name}`" if name in known else match[0]
    return re.sub(r"\b(?:mtl|MTL)(?:\\_\w+?)+\b(?!\\_)", link, text)


def markdown_part(part, known):
    if isinstance(part, str):
        return markdown(part, known) + "\n"
    return "\n".join(
        f"- **{markdown(term, known)}** \u2014 {markdown(text, known)}"
        if term else f"- {markdown(text, known)}"
        for term, text in part) + "\n"


ROLES = {"function": "func", "struct": "struct", "union": "union",
         "enum": "enum", "type": "type", "macro": "macro"}


def signature(item):
    text = " ".join(re.sub(r"//.*", "", item.text).split()).rstrip(";")
    if item.kind == "function":
        return text
    if item.kind == "type":
        return text.removeprefix("typedef ")
    if item.kind == "macro":
        return re.match(r"#define\s+(\w+(?:\([^)]*\))?)", text)[1]
    return item.name


def site_item(item, known):
    every = [item, *(o for o in item.others if o.name != item.name)]
    lines = []
    for each in every:
        kind = each.kind
        if kind == "type" and re.match(r"typedef (struct|union) (\w+) \2;",
                                       each.text):
            kind, shown = "struct", each.name
        else:
            shown = signature(each)
        lines.append(f"````{{c:{kind}}} {shown}")
        if each is not every[-1]:
            lines.append("````\n")
    lines.append("")
    if item.kind in ("struct", "enum", "union"):
        lines += ["```c", item.text, "```", ""]
    elif item.kind == "macro":
        lines += ["```c", *(each.text for each in every), "```", ""]
    for kind, part in blocks(item.comment):
        if kind in LABELS:
            lines.append(f"**{kind}**\n" if not isinstance(part, str)
                         else f"**{kind}** \u2014")
        lines.append(markdown_part(part, known))
    return "\n".join(lines) + "````\n"


def known_names(found):
    return {each.name: "struct" if each.kind == "type" and re.match(
                r"typedef (struct|union) (\w+) \2;", each.text)
            else ROLES[each.kind]
            for header in found for item in header.items
            for each in [item, *item.others]}


def write_site(found, folder):
    known = known_names(found)
    names, rows = [], []
    for header in found:
        if not header.items:
            continue
        name = header.name[:-2]
        names.append(name)
        rows.append(f"| [{header.name}]({name}.md) | "
                    f"{markdown(summary(header), known)} |")
        about = "\n".join(markdown_part(part, known)
                          for _, part in blocks(header.comment))
        defined = set()
        parts = []
        for item in header.items:
            # `typedef struct x x;` in front of the struct itself, or of others'.
            if item.name not in defined:
                parts.append(site_item(item, known))
            defined |= {each.name for each in [item, *item.others]}
        write(folder, name + ".md", f"# {header.name}\n\n{about}\n" +
              "\n".join(parts))
    write(folder, "index.md", "# The C API\n\nMetal's compute API in C: "
          "`#include <mettle/mettle.h>`. These pages are made from the "
          "headers.\n\n| header | what |\n|---|---|\n" + "\n".join(rows) +
          "\n\n```{toctree}\n:hidden:\n:maxdepth: 1\n\n" +
          "\n".join(names) + "\n```\n")


def main():
    kind, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    found = headers()
    with open(os.path.join(HEADERS, "version.h"), encoding="utf-8") as file:
        version = ".".join(re.findall(r"#define MTL_VERSION_\w+ (\d+)",
                                      file.read()))
    if kind == "man":
        write_man(found, folder, version)
    else:
        write_site(found, folder)


if __name__ == "__main__":
    main()
