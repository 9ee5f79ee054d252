# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""build_backend.py BUILD FOLDER: packs the wheel from BUILD/wheel, where
`make wheel` has linked its libraries, into FOLDER.

It is also what pip calls for `pip wheel python/` (PEP 517): BUILD is then
METTLE_BUILD_DIR or the build folder beside this one. A wheel is an archive
with a few texts, which the standard library writes; nothing is installed to
build it, and the same files give the same bytes."""

import base64
import hashlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
FILES = ["libmettle.so.0", "libmettle-aoti.so.0", "libmettle-python.so",
         "mettlec", "mettlec.pch", "mettlec-metal4.pch", "mettlec.air",
         "mettle"]
# What every Linux with a C library has.
SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread)\.so\.\d$|^ld-linux")
TIME = (2020, 1, 1, 0, 0, 0)


def version():
    with open(os.path.join(ROOT, "include", "mettle", "version.h"),
              encoding="utf-8") as file:
        text = file.read()
    return ".".join(re.findall(r"#define MTL_VERSION_\w+ (\d+)", text))


def project():
    with open(os.path.join(HERE, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def tag(folder):
    """The platform: the newest version of the C library that anything in
    folder asks for. What asks for another library is an error."""
    newest = (2, 17)
    for name in FILES:
        path = os.path.join(folder, name)
        if name.endswith((".pch", ".air")):
            continue
        needed = re.findall(r"NEEDED\s+(\S+)", tool("objdump", "-p", path))
        wrong = [n for n in needed if not SYSTEM.match(n) and n not in FILES]
        if wrong:
            sys.exit(f"{path} needs {', '.join(wrong)}, which not every "
                     "system has")
        for found in re.findall(r"GLIBC_(\d+)\.(\d+)",
                                tool("objdump", "-T", path)):
            newest = max(newest, tuple(map(int, found)))
    machine = os.uname().machine
    return f"py3-none-manylinux_{newest[0]}_{newest[1]}_{machine}"


def metadata(facts):
    lines = ["Metadata-Version: 2.4", f"Name: {facts['name']}",
             f"Version: {version()}", f"Summary: {facts['description']}",
             f"Requires-Python: {facts['requires-python']}",
             f"License-Expression: {facts['license']}",
             "License-File: LICENSE"]
    lines += [f"Classifier: {c}" for c in facts["classifiers"]]
    lines += [f"Requires-Dist: {d}" for d in facts["dependencies"]]
    for extra, wanted in facts["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {d}; extra == "{extra}"' for d in wanted]
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    return "\n".join(lines + ["Description-Content-Type: text/markdown", "",
                              text])


def read(*parts):
    with open(os.path.join(*parts), "rb") as file:
        return file.read()


def contents(folder, facts, platform):
    """{name in the archive: (bytes, is a program)}, the record left out."""
    files = {}
    package = os.path.join(HERE, "mettle")
    for path, folders, names in os.walk(package):
        folders[:] = [f for f in folders if f not in ("__pycache__", "_lib")]
        for name in names:
            if name.endswith((".py", ".typed")):
                inner = os.path.relpath(os.path.join(path, name), HERE)
                files[inner] = (read(path, name), False)
    for name in FILES:
        files[f"mettle/_lib/{name}"] = (read(folder, name),
                                        not name.endswith(".pch"))
    info = f"{facts['name'].replace('-', '_')}-{version()}.dist-info"
    scripts = "".join(f"{name} = {place}\n"
                      for name, place in facts["scripts"].items())
    texts = {
        "METADATA": metadata(facts),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: mettle\n"
                 f"Root-Is-Purelib: false\nTag: {platform}\n",
        "entry_points.txt": "[console_scripts]\n" + scripts,
        "licenses/LICENSE": read(ROOT, "LICENSE").decode(),
    }
    for name, text in texts.items():
        files[f"{info}/{name}"] = (text.encode(), False)
    return info, files


def pack(build, target):
    """Writes the wheel and returns its name."""
    folder = os.path.join(build, "wheel")
    missing = [f for f in FILES
               if not os.path.exists(os.path.join(folder, f))]
    if missing:
        sys.exit(f"{folder} has no {missing[0]}: `make wheel` links it")
    facts, platform = project(), tag(folder)
    info, files = contents(folder, facts, platform)
    name = f"{facts['name'].replace('-', '_')}-{version()}-{platform}.whl"
    record = []
    with zipfile.ZipFile(os.path.join(target, name), "w",
                         zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def write(inner, data, is_program):
            entry = zipfile.ZipInfo(inner, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, data)
        for inner, (data, is_program) in sorted(files.items()):
            write(inner, data, is_program)
            digest = base64.urlsafe_b64encode(
                hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{inner},sha256={digest},{len(data)}")
        record.append(f"{info}/RECORD,,")
        write(f"{info}/RECORD", "\n".join(record).encode() + b"\n", False)
    return name


# --- PEP 517 -----------------------------------------------------------------

def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    build = os.environ.get("METTLE_BUILD_DIR") or os.path.join(ROOT, "build")
    return pack(build, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the source is the whole repository")


def main():
    build, target = sys.argv[1:]
    os.makedirs(target, exist_ok=True)
    name = pack(build, target)
    size = os.path.getsize(os.path.join(target, name))
    print(f"{os.path.join(target, name)}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
