# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""installed.py: what `make install` leaves builds, links and runs programs
through pkg-config and CMake, shared and static, from a folder that has been
moved."""

import os
import shutil
import subprocess
import unittest

from models import ROOT, build_model
from tool import case

EXAMPLE = os.path.join(ROOT, "examples", "add_vectors.c")
SUMS = "11 22 33 44\n"


def _output(*words, **options):
    done = subprocess.run(list(words), capture_output=True, text=True,
                          timeout=600, check=False, **options)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def _needs(*programs):
    for name in programs:
        if not shutil.which(name):
            raise unittest.SkipTest(f"{name} is missing")


def _cmake_install(tool, prefix, *options, **environment):
    return _output("cmake", "--install", tool.build, "--prefix", prefix,
                   *options, env={**os.environ, **environment})


def _install(tool, *components):
    """(prefix, folder of mettle.pc) of an installation that was moved."""
    _needs("cmake", "pkg-config", "cc")
    first = tool.file("first")
    _cmake_install(tool, first, "--strip")
    for component in components:
        _cmake_install(tool, first, "--component", component)
    moved = tool.file("moved")
    os.rename(first, moved)
    for folder, _, names in os.walk(moved):
        if "mettle.pc" in names:
            return moved, folder
    raise AssertionError("mettle.pc is not installed")


def not_sanitized(tool):
    """Skips a test under a sanitizer."""
    with open(os.path.join(tool.build, "CMakeCache.txt"),
              encoding="utf-8") as cache:
        if any(line.startswith("METTLE_SANITIZE:")
               and line.strip().split("=", 1)[1] for line in cache):
            raise unittest.SkipTest("not under a sanitizer")


def _flags(pc_folder, *words):
    return _output("pkg-config", *words, env={
        **os.environ, "PKG_CONFIG_PATH": pc_folder}).split()


def _files(folder):
    return {os.path.relpath(os.path.join(at, name), folder)
            for at, _, names in os.walk(folder) for name in names}


@case
def an_installed_library_builds_the_first_example(tool):
    not_sanitized(tool)
    prefix, pc_folder = _install(tool)
    version = _flags(pc_folder, "--modversion", "mettle")[0]
    assert tool.done("--version").out == f"mettle {version}\n"
    flags = _flags(pc_folder, "--cflags", "--libs", "mettle")
    program = tool.file("add_vectors")
    _output("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", EXAMPLE, "-o",
            program, *flags)
    library = [flag[2:] for flag in flags if flag.startswith("-L")][0]
    out = _output(program, env={**os.environ, "LD_LIBRARY_PATH": library})
    assert out == SUMS, out
    needed = _output("objdump", "-p", program)
    assert f"libmettle.so.{version.split('.')[0]}\n" in needed, needed
    command = os.path.join(prefix, "bin", "mettle")
    assert _output(command, "--version") == f"mettle {version}\n"


@case
def what_is_installed_is_all_there(tool):
    prefix, _ = _install(tool)
    files = _files(prefix)
    for name in ("bin/mettle", "libexec/mettle/mettlec",
                 "libexec/mettle/mettlec.air",
                 "libexec/mettle/mettlec.pch",
                 "libexec/mettle/mettlec-metal4.pch",
                 "include/mettle/mettle.h", "include/mettle/model.h",
                 "share/man/man1/mettle.1", "share/man/man1/mettle-run.1",
                 "share/bash-completion/completions/mettle",
                 "share/zsh/site-functions/_mettle",
                 "share/fish/vendor_completions.d/mettle.fish",
                 "share/mettle/export_mps.py",
                 "share/mettle/python/mettle_executorch/__init__.py",
                 "share/mettle/python/mettle_executorch/metal_backend.cpp",
                 "share/doc/mettle/README.md", "share/doc/mettle/LICENSE",
                 "share/doc/mettle/docs/performance.md",
                 "share/doc/mettle/examples/add_vectors.c",
                 "share/doc/mettle/examples/mandelbrot.metal"):
        assert name in files, sorted(files)
    ends = {name: [path for path in files if path.endswith(name)]
            for name in ("/MettleConfig.cmake", "/MettleConfigVersion.cmake",
                         "/mettle.pc", "/mettle-aoti.pc", "/libmettle.so",
                         "/libmettle-aoti.so")}
    assert all(len(found) == 1 for found in ends.values()), ends
    assert not [path for path in files if path.endswith(".a")], files


@case
def what_is_installed_is_stripped(tool):
    _needs("objdump")
    prefix, _ = _install(tool)
    programs = [path for path in _files(prefix)
                if path.startswith(("bin/", "libexec/mettle/mettlec"))
                and not path.endswith((".pch", ".air"))
                or ".so." in path and not path.endswith(".py")]
    assert len(programs) >= 4, programs
    for path in programs:
        sections = _output("objdump", "-h", os.path.join(prefix, path))
        assert ".debug_info" not in sections, path


# --- CMake --------------------------------------------------------------------

PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(client C CXX)
find_package(Mettle 0.1 REQUIRED)
add_executable(adds {example})
target_link_libraries(adds Mettle::mettle)
add_executable(runs_model {run_model})
target_link_libraries(runs_model Mettle::mettle_aoti)
"""
STATIC_PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(client C)
find_package(Mettle REQUIRED)
add_executable(adds {example})
target_link_libraries(adds Mettle::mettle_static)
add_executable(runs_model {run_model})
target_link_libraries(runs_model Mettle::mettle_aoti_static)
"""


def _build_project(tool, text, prefix):
    _needs("cmake", "cc", "c++")
    folder = tool.file("client")
    os.mkdir(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w",
              encoding="utf-8") as file:
        file.write(text.format(example=EXAMPLE, run_model=os.path.join(
            ROOT, "examples", "run_model.c")))
    built = os.path.join(folder, "build")
    _output("cmake", "-S", folder, "-B", built,
            f"-DCMAKE_PREFIX_PATH={prefix}")
    _output("cmake", "--build", built)
    return built


def _run_clients(tool, built, environment):
    environment = {**os.environ, **environment}
    assert _output(os.path.join(built, "adds"), env=environment) == SUMS
    model = tool.file(build_model(tool))
    out = _output(os.path.join(built, "runs_model"), model, "3",
                  env=environment)
    assert out == "f32 [3]\n2\n2\n2\n", out


@case
def cmake_finds_both_libraries(tool):
    not_sanitized(tool)
    prefix, _ = _install(tool)
    # The programs find the libraries by their run path.
    _run_clients(tool, _build_project(tool, PROJECT, prefix), {})


@case
def cmake_finds_static_libraries(tool):
    not_sanitized(tool)
    prefix, _ = _install(tool, "static")
    built = _build_project(tool, STATIC_PROJECT, prefix)
    for name in ("adds", "runs_model"):
        needed = _output("objdump", "-p", os.path.join(built, name))
        assert "libmettle" not in needed, needed
    compiler = os.path.join(prefix, "libexec", "mettle", "mettlec")
    _run_clients(tool, built, {"METTLE_COMPILER": compiler})


@case
def another_version_is_not_found(tool):
    _needs("c++")
    prefix, _ = _install(tool)
    folder = tool.file("client")
    os.mkdir(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w",
              encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.18)\nproject(p NONE)\n"
                   "find_package(Mettle 99 REQUIRED)\n")
    done = subprocess.run(
        ["cmake", "-S", folder, "-B", folder + "/build",
         f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True,
        check=False)
    assert done.returncode != 0 and "99" in done.stderr, done.stderr


# --- pkg-config -----------------------------------------------------------------

@case
def pkg_config_links_models_too(tool):
    not_sanitized(tool)
    _, pc_folder = _install(tool)
    flags = _flags(pc_folder, "--cflags", "--libs", "mettle-aoti")
    program = tool.file("run_model")
    _output("cc", os.path.join(ROOT, "examples", "run_model.c"), "-o", program,
            *flags)
    library = [flag[2:] for flag in flags if flag.startswith("-L")][0]
    out = _output(program, tool.file(build_model(tool)), "3",
                  env={**os.environ, "LD_LIBRARY_PATH": library})
    assert out == "f32 [3]\n2\n2\n2\n", out


@case
def pkg_config_names_what_a_static_library_needs(tool):
    not_sanitized(tool)
    prefix, pc_folder = _install(tool, "static")
    private = _flags(pc_folder, "--static", "--cflags", "--libs", "mettle")
    library = [flag[2:] for flag in private if flag.startswith("-L")][0]
    rest = [os.path.join(library, "libmettle.a") if flag == "-lmettle" else flag
            for flag in private]
    program = tool.file("adds")
    _output("cc", EXAMPLE, "-o", program, *rest)
    assert "libmettle" not in _output("objdump", "-p", program)
    compiler = os.path.join(prefix, "libexec", "mettle", "mettlec")
    assert _output(program, env={**os.environ,
                                 "METTLE_COMPILER": compiler}) == SUMS


# --- Objective-C ----------------------------------------------------------------

OBJECTIVE_C = """\
#import <Metal/Metal.h>
@interface Sum : NSObject
- (int)add:(int)x to:(int)y;
@end
@implementation Sum
- (int)add:(int)x to:(int)y { return x + y; }
@end
int main(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  Sum *sum = [[Sum alloc] init];
  printf("%d %d\\n", [sum add:40 to:2], [device hasUnifiedMemory]);
  return 0;
}
"""
OBJECTIVE_C_PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(client OBJC)
find_package(Mettle REQUIRED)
add_executable(sums sums.m)
target_link_libraries(sums Mettle::Metal)
"""


def _objective_c(tool):
    """(prefix, folder of mettle.pc, clang, folder with sums.m)"""
    not_sanitized(tool)
    _needs("clang-19")
    prefix, pc_folder = _install(tool)
    if not os.path.exists(os.path.join(pc_folder, "mettle-objc.pc")):
        raise unittest.SkipTest("built without METTLE_OBJC")
    folder = tool.file("client")
    os.mkdir(folder)
    with open(os.path.join(folder, "sums.m"), "w", encoding="utf-8") as file:
        file.write(OBJECTIVE_C)
    return prefix, pc_folder, "clang-19", folder


@case
def pkg_config_builds_objective_c(tool):
    _, pc_folder, clang, folder = _objective_c(tool)
    flags = _flags(pc_folder, "--cflags", "--libs", "mettle-objc")
    _output(clang, "-Wall", "-Werror", "sums.m", "-o", "sums", *flags,
            cwd=folder)
    assert _output(os.path.join(folder, "sums")) == "42 1\n"


@case
def cmake_builds_objective_c(tool):
    prefix, _, clang, folder = _objective_c(tool)
    with open(os.path.join(folder, "CMakeLists.txt"), "w",
              encoding="utf-8") as file:
        file.write(OBJECTIVE_C_PROJECT)
    built = os.path.join(folder, "build")
    _output("cmake", "-S", folder, "-B", built, f"-DCMAKE_OBJC_COMPILER={clang}",
            f"-DCMAKE_PREFIX_PATH={prefix}")
    _output("cmake", "--build", built)
    assert _output(os.path.join(built, "sums")) == "42 1\n"


@case
def the_installed_command_builds_objective_c(tool):
    prefix, _, _, folder = _objective_c(tool)
    command = os.path.join(prefix, "bin", "mettle")
    _output(command, "env", "--", "cc", "sums.m", "-framework", "Metal",
            "-framework", "Foundation", "-o", "sums", cwd=folder)
    assert _output(os.path.join(folder, "sums")) == "42 1\n"


# --- the linker's cache -----------------------------------------------------------

@case
def a_folder_that_the_linker_does_not_know_is_told(tool):
    _needs("cmake")
    prefix = tool.file("elsewhere")
    out = _cmake_install(tool, prefix)
    libraries = os.path.dirname(next(
        os.path.join(prefix, path) for path in _files(prefix)
        if path.endswith("/libmettle.so")))
    for line in (f"echo {libraries} >/etc/ld.so.conf.d/mettle.conf && ldconfig",
                 f"export LD_LIBRARY_PATH={libraries}",
                 f"export PATH={prefix}/bin:$PATH"):
        assert line in out, out


@case
def a_staged_installation_leaves_the_machine_alone(tool):
    _needs("cmake")
    stage = tool.file("stage")
    out = _cmake_install(tool, "/usr/local", DESTDIR=stage)
    assert os.path.exists(stage + "/usr/local/bin/mettle")
    assert "ldconfig" not in out, out


@case
def fakeroot_installs(tool):
    _needs("cmake", "fakeroot")
    stage = tool.file("stage")
    prefix = tool.file("elsewhere")
    _output("fakeroot", "cmake", "--install", tool.build, "--prefix", "/usr",
            "--strip", env={**os.environ, "DESTDIR": stage})
    assert os.path.exists(stage + "/usr/bin/mettle")
    out = _output("fakeroot", "cmake", "--install", tool.build, "--prefix",
                  prefix, "--strip")
    assert "ldconfig" in out, out


# --- who calls apt ----------------------------------------------------------------

@case
def two_targets_alone_install_packages(tool):
    _needs("make")
    for target in ("demo", "test", "all", "everything", "install", "bench",
                   "asan", "tsan", "fuzz", "valgrind", "accuracy"):
        commands = _output("make", "-n", "-C", ROOT, target)
        assert "install_packages.sh" in commands, target
        assert ("--apt" in commands) == (target in ("demo", "test")), target
    _needs("sh", "dpkg-query")
    tools = tool.file("tools")
    os.mkdir(tools)
    script = os.path.join(tools, "install_packages.sh")
    shutil.copy(os.path.join(ROOT, "tools", "install_packages.sh"), script)
    with open(os.path.join(tools, "packages.txt"), "w",
              encoding="utf-8") as file:
        file.write("no-such-package-anywhere  # build: for this test\n")
    done = subprocess.run([script, "build"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1, done.stdout
    assert "apt-get install no-such-package-anywhere" in done.stderr


@case
def every_function_has_a_page_in_the_manual(tool):
    _needs("cmake", "nm")
    prefix = tool.file("all")
    _cmake_install(tool, prefix)
    pages = os.path.join(prefix, "share", "man", "man3")
    table = _output("nm", "-D", "--defined-only",
                    os.path.join(tool.build, "libmettle.so.0"))
    names = [line.split()[-1] for line in table.splitlines()
             if line.split()[-1].startswith("mtl_")]
    assert len(names) > 300, names
    for name in [*names, "mtl_buffer_desc", "mtl_status"]:
        path = os.path.join(pages, name + ".3")
        with open(path, encoding="ascii") as file:
            text = file.read()
        if text.startswith(".so man3/"):  # in another one's page
            with open(os.path.join(prefix, "share", "man", text[4:-1]),
                      encoding="ascii") as file:
                text = file.read()
        assert f"{name}" in text.split(".SH SYNOPSIS")[1], name
    with open(os.path.join(pages, "mtl_buffer_create.3"),
              encoding="ascii") as file:
        text = file.read()
    for part in ("mtl_buffer_create \\- Makes a buffer\n",
                 "#include <mettle/buffer.h>", "const mtl_buffer_desc *desc,",
                 ".SH ERRORS\n.TP\n.B MTL_INVALID_ARGUMENT\nlength 0 or over",
                 ".SH THREADS\nAny.\n"):
        assert part in text, (part, text)
    if shutil.which("man"):
        shown = _output("man", "-M", os.path.dirname(pages), "3",
                        "mtl_buffer_release", env={**os.environ,
                                                   "MAN_KEEP_FORMATTING": ""})
        assert "work in flight keeps the buffer" in shown, shown


@case
def the_installed_python_package_finds_its_libraries(tool):
    not_sanitized(tool)
    prefix, _ = _install(tool)
    program = ("import mettle, numpy as np\n"
               "lib = mettle.compile_shader('kernel void twice(device float *x,"
               " uint i [[thread_position_in_grid]]) { x[i] *= 2; }')\n"
               "x = np.arange(3, dtype=np.float32)\nlib.twice(x)\n"
               "print(x, mettle.__file__)")
    places = {"PYTHONPATH": os.path.join(prefix, "share", "mettle", "python"),
              "PATH": os.environ["PATH"], "HOME": tool.folder,
              "METTLE_CACHE_DIR": tool.file("cache")}
    shown = _output("python3", "-B", "-c", program, cwd=tool.folder,
                    env=places)
    assert shown == (f"[0. 2. 4.] {places['PYTHONPATH']}"
                     "/mettle/__init__.py\n"), shown
