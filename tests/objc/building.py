#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""building.py: builds programs for macOS as their build files do on macOS,
under `mettle env`: frameworks by name, CMake's find_library, xcrun's metal and
metallib, assembly for Mach-O, every linker and every clang that is here. Its
last line is the count; ends with 77 without a clang."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("METTLE_BUILD_DIR", os.path.join(ROOT, "build"))
SECONDS = 120
LINKERS = {"bfd": "ld.bfd", "gold": "ld.gold", "lld": "ld.lld-19"}
CLANGS = ("14", "15", "16", "17", "18")

CLASS = """\
#import <Metal/Metal.h>
#import <Foundation/Foundation.h>
@interface Word : NSObject
+ (int)length:(NSString *)text;
@end
@implementation Word
+ (int)length:(NSString *)text { return (int)text.length; }
@end
"""
PROGRAM = CLASS + """\
#import <math.h>
int main(void) {
  @autoreleasepool {
    printf("%d %d\\n", (int)sqrt(5.0 * [Word length:@"seven"]),
           MTLCreateSystemDefaultDevice() != nil);
  }
  return 0;
}
"""
LIBRARY = """\
#import <Metal/Metal.h>
int main(int count, char **words) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> library = [device
        newLibraryWithURL:[NSURL fileURLWithPath:@(words[1])]
                    error:&error];
    if (!library) {
      printf("%s\\n", error.localizedDescription.UTF8String);
      return 0;
    }
    printf("%s\\n", [[library.functionNames
        componentsJoinedByString:@" "] UTF8String]);
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLBuffer> out = [device newBufferWithLength:4 options:0];
    *(int *)out.contents = 5;
    id<MTLCommandBuffer> work = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [work computeCommandEncoder];
    for (NSString *name in library.functionNames) {
      id<MTLComputePipelineState> pipeline = [device
          newComputePipelineStateWithFunction:[library newFunctionWithName:name]
                                        error:&error];
      [encoder setComputePipelineState:pipeline];
      [encoder setBuffer:out offset:0 atIndex:0];
      [encoder dispatchThreads:MTLSizeMake(1, 1, 1)
          threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    }
    [encoder endEncoding];
    [work commit];
    [work waitUntilCompleted];
    printf("%d %d\\n", *(int *)out.contents,
           [library newFunctionWithName:@"absent"] == nil);
  }
  return 0;
}
"""
DEFAULT = """\
#import <Metal/Metal.h>
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> quiet = [device newDefaultLibrary];
    id<MTLLibrary> told = [device
        newDefaultLibraryWithBundle:[NSBundle mainBundle]
                              error:&error];
    printf("%d %d %d %s\\n", quiet != nil, told != nil, (int)error.code,
           error.localizedDescription.UTF8String ?: "");
  }
  return 0;
}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.18)
project(client C CXX)
find_library(FOUNDATION_LIBRARY Foundation REQUIRED)
find_library(METAL_FRAMEWORK Metal REQUIRED)
find_library(METALKIT_FRAMEWORK MetalKit REQUIRED)
add_library(words SHARED words.m)
target_link_libraries(words PRIVATE ${FOUNDATION_LIBRARY} ${METAL_FRAMEWORK}
  ${METALKIT_FRAMEWORK})
add_executable(client main.m)
target_link_libraries(client words ${FOUNDATION_LIBRARY} ${METAL_FRAMEWORK}
  ${METALKIT_FRAMEWORK})
"""
ASSEMBLY = """\
.section __DATA,__words
.globl _words_start
_words_start:
.incbin "words.txt"
.globl _words_end
_words_end:
"""
passed = failed = 0


def check(name, condition, what=""):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {name}\n{what}")


def under_env(folder, *words, **variables):
    return subprocess.run([os.path.join(BUILD, "mettle"), "env", "--", *words],
                          cwd=folder, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=SECONDS)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def built(name, folder, *words, **variables):
    """True if the compiler makes folder/a.out, which is then run."""
    made = under_env(folder, *words, "-o", "a.out", **variables)
    if made.returncode:
        check(name, False, made.stdout + made.stderr)
        return
    ran = subprocess.run(["./a.out"], cwd=folder, capture_output=True,
                         text=True, timeout=SECONDS)
    check(name, (ran.returncode, ran.stdout) == (0, "5 1\n"),
          f"{ran.returncode} {ran.stdout}{ran.stderr}{made.stderr}")


def compilers_and_linkers(folder):
    write(folder, "main.m", PROGRAM)
    shutil.copy(os.path.join(folder, "main.m"), os.path.join(folder, "main.mm"))
    built("frameworks", folder, "cc", "main.m", "-framework", "Metal",
          "-framework", "Foundation", "-weak_framework", "QuartzCore")
    built("xcrun clang++", folder, "xcrun", "-sdk", "macosx", "clang++",
          "-ObjC++", "-arch", "arm64", "-mmacosx-version-min=13.0", "main.mm",
          "-stdlib=libc++", "-Wl,-framework,Metal", "-lFoundation")
    for name, program in LINKERS.items():
        if shutil.which(program):
            # crt.o comes thrice, unused sections are dropped.
            built(f"{name}, each library thrice", folder, "clang",
                  f"-fuse-ld={name}", "-O2", "-fobjc-arc",
                  "-ffunction-sections", "-fdata-sections", "main.m",
                  "-Wl,--gc-sections", "-lMetal", "-lFoundation", "-lMetalKit")
    for version in CLANGS:
        if shutil.which(f"clang-{version}"):
            for flags in (("-O0",), ("-O2", "-fobjc-arc")):
                built(f"clang-{version} {flags}", folder, "clang", *flags,
                      "main.m", "-framework", "Metal",
                      METTLE_OBJC_CLANG=f"clang-{version}")
            # Debian's clang++ of a version is clang++-14, not clang-14++.
            built(f"clang++-{version}", folder, "clang++", "-x",
                  "objective-c++", "main.m", "-framework", "Metal",
                  METTLE_OBJC_CLANG=f"clang-{version}")
    # The frameworks as modules, which are made under folder.
    names = ("Foundation", "Metal", "MetalKit", "CoreGraphics", "QuartzCore",
             "MetalPerformanceShaders", "simd")
    write(folder, "modules.m", "".join(f"@import {each};\n" for each in names)
          + PROGRAM[PROGRAM.index("@interface"):])
    built("modules", folder, "clang", "-fmodules",
          f"-fmodules-cache-path={folder}/modules", "modules.m", "-framework",
          "Metal")
    # metal-cpp of 2022 has dispatch's types by CoreFoundation's headers.
    write(folder, "types.cpp", "#include <CoreFoundation/CoreFoundation.h>\n"
          "#include <iostream>\n"
          "dispatch_data_t data;\nstd::chrono::microseconds unit;\n"
          "void copy(int *to, const int *from) { memcpy(to, from, 4); }\n")
    typed = under_env(folder, "c++", "-c", "types.cpp", "-o", "types.o")
    check("types by headers of others", typed.returncode == 0, typed.stderr)
    # One command for both languages, and a library that is looked for first.
    write(folder, "word.mm", "#import <simd/simd.h>\n"
          "std::chrono::seconds unit;\nsimd::float3 direction;\n")
    built("C++ beside Objective-C", folder, "c++", "main.m", "word.mm",
          "-framework", "Metal", "-framework", "Cocoa")
    found = under_env(folder, sys.executable, "-c", "import ctypes, os\n"
                      "path = '/usr/lib/libobjc.dylib'\n"
                      "print(os.path.exists(path), "
                      "ctypes.CDLL(path).objc_msgSend is not None)\n")
    check("a path that is asked about", found.stdout == "True True\n",
          found.stdout + found.stderr)
    missing = under_env(folder, "cc", "main.m", "-framework", "SceneKit")
    check("a framework that is not here", missing.returncode == 1
          and "the framework SceneKit is not here" in missing.stderr,
          missing.stderr)
    for header, name, text in (
            ("MetalPerformanceShaders", "MPSImageGaussianBlur",
             "Mettle has MPSMatrixMultiplication alone"),
            ("MetalKit", "MTKTextureLoader", "reads no picture formats")):
        write(folder, "absent.m", f"#import <{header}/{header}.h>\n"
              f"void use(void) {{ [[{name} alloc] init]; }}\n")
        refused = under_env(folder, "cc", "-c", "absent.m", "-o", "absent.o")
        check(f"{name} is refused", refused.returncode == 1
              and text in refused.stderr, refused.stderr)


def cmake(folder):
    if not shutil.which("cmake"):
        return
    write(folder, "CMakeLists.txt", PROJECT)
    write(folder, "words.m", CLASS)
    write(folder, "main.m", PROGRAM.replace(
        CLASS, CLASS[:CLASS.index("@implementation")]))
    for words in (("cmake", "-S", ".", "-B", "made"),
                  ("cmake", "--build", "made"), ("made/client",)):
        done = under_env(folder, *words)
        if done.returncode:
            check(" ".join(words), False, done.stdout + done.stderr)
            return
    check("CMake finds frameworks", done.stdout == "5 1\n", done.stdout)


def libraries(folder):
    kernel = "kernel void {}(device int *x) {{ *x = {}; }}\n"
    write(folder, "one.metal", kernel.format("doubles", "*x * FACTOR"))
    write(folder, "two.metal", kernel.format("adds", "*x + 1"))
    write(folder, "main.m", LIBRARY)
    steps = (
        ("xcrun", "-sdk", "macosx", "metal", "-O3", "-D", "FACTOR=2",
         "-c", "one.metal", "-o", "one.air"),
        ("xcrun", "metal", "-std=macos-metal2.3", "-c", "two.metal", "-o",
         "two.air"),
        ("xcrun", "-sdk", "macosx", "metallib", "one.air", "two.air", "-o",
         "both.metallib"),
        ("sh", "-c", "metal -DFACTOR=3 one.metal -o - | metallib - -o "
         "one.metallib"),
        ("cc", "main.m", "-framework", "Metal", "-o", "a.out"))
    for words in steps:
        done = under_env(folder, *words)
        check(" ".join(words), done.returncode == 0, done.stdout + done.stderr)
    for name, text in (("both", "doubles adds\n11 1\n"),
                       ("one", "doubles\n15 1\n")):
        ran = under_env(folder, "./a.out", f"{name}.metallib")
        check(f"{name}.metallib", ran.stdout == text, ran.stdout + ran.stderr)
    with open(os.path.join(folder, "both.metallib"), "rb") as file:
        whole = file.read()
    for bytes_left in (12, len(whole) // 2, len(whole) - 1):
        with open(os.path.join(folder, "cut.metallib"), "wb") as file:
            file.write(whole[:bytes_left])
        ran = under_env(folder, "./a.out", "cut.metallib")
        check(f"cut after {bytes_left}", ran.returncode == 0
              and "damaged" in ran.stdout, ran.stdout + ran.stderr)
    write(folder, "bad.metal", "kernel void broken(device int *x) { y; }\n")
    bad = under_env(folder, "xcrun", "metal", "-c", "bad.metal", "-o", "b.air")
    check("a wrong source", bad.returncode != 0 and "bad.metal:1" in bad.stderr,
          bad.stderr)


def default_library(folder):
    """Why there is no default library is told: by the error, and for those
    who cannot ask by METTLE_OBJC_DEBUG=errors."""
    write(folder, "main.m", DEFAULT)
    write(folder, "one.metal", "kernel void k(device int *x) { *x = 1; }\n")
    for words in (("cc", "main.m", "-framework", "Metal", "-o", "a.out"),
                  ("sh", "-c",
                   "metal one.metal -o - | metallib - -o whole.metallib")):
        made = under_env(folder, *words)
        check(" ".join(words), made.returncode == 0, made.stderr)
    path = os.path.join(folder, "default.metallib")
    with open(os.path.join(folder, "whole.metallib"), "rb") as file:
        whole = file.read()
    for name, content, code, text in (
            ("no file", None, 6, "default.metallib"),
            ("a cut one", whole[:len(whole) // 2], 2, "has "),
            ("no library at all", b"text", 2, "default.metallib")):
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        ran = under_env(folder, "./a.out", METTLE_OBJC_DEBUG="errors")
        check(f"default library, {name}",
              ran.stdout.startswith(f"0 0 {code} ")
              and (text in ran.stdout or content == b"text")
              and ran.stderr.count("MTLLibraryErrorDomain: ") == 2,
              ran.stdout + ran.stderr)
    with open(path, "wb") as file:
        file.write(whole)
    ran = under_env(folder, "./a.out")
    check("default library", (ran.stdout, ran.stderr) == ("1 1 0 \n", ""),
          ran.stdout + ran.stderr)


def assembly(folder):
    write(folder, "words.txt", "embedded")
    write(folder, "words.s", ASSEMBLY)
    write(folder, "main.c", "extern const char words_start[], words_end[];\n"
          "#include <stdio.h>\nint main(void) { printf(\"%d %d\\n\", "
          "(int)(words_end - words_start) - 3, words_start[0] == 'e'); }\n")
    built("assembly for Mach-O", folder, "cc", "main.c", "words.s")


def main():
    if not (shutil.which("clang-19") or shutil.which("clang")):
        print("skipped: no clang")
        sys.exit(77)
    for part in (compilers_and_linkers, cmake, libraries, default_library,
                 assembly):
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
