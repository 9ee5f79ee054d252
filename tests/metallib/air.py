# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""air.py: functions of Apple's intermediate representation as text, and LLVM's
assembler for them."""

import subprocess

HEAD = '''\
source_filename = "{name}"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64\
-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64\
-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512\
-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
'''
SPACES = {"device": 1, "constant": 2, "threadgroup": 3}


def buffer(index, name, type_name="float", size=4, access="read_write",
           space="device", more=""):
    """The text of a buffer's node behind its number; {i} stands for that."""
    return (f'i32 {{i}}, {more}!"air.buffer", !"air.location_index", '
            f'i32 {index}, i32 1, !"air.{access}", !"air.address_space", '
            f'i32 {SPACES[space]}, !"air.arg_type_size", i32 {size}, '
            f'!"air.arg_type_align_size", i32 {size}, !"air.arg_type_name", '
            f'!"{type_name}", !"air.arg_name", !"{name}"')


def builtin(word, type_name="uint", name="i"):
    return (f'i32 {{i}}, !"air.{word}", !"air.arg_type_name", '
            f'!"{type_name}", !"air.arg_name", !"{name}"')


def module(name, parameters, body, arguments, declarations="", fast=False,
           more=(), limit=0, nodes=""):
    """A kernel: parameters and body as LLVM's text, arguments as nodes, more
    named metadata by its text."""
    nodes_of = [f"!{{{text.format(i=i)}}}"
                for i, text in enumerate(arguments)]
    first = 100
    lines = [HEAD.format(name=name), declarations,
             f"define void @{name}({parameters}) #0 {{\n{body}\n}}",
             "attributes #0 = { convergent nounwind }",
             "!air.kernel = !{!10}", "!air.compile_options = !{!13}",
             "!air.language_version = !{!14}", *more,
             "!10 = !{ptr @" + name + ", !11, !12"
             + (", !15" if limit else "") + "}",
             "!11 = !{}",
             "!12 = !{" + ", ".join(f"!{first + i}"
                                    for i in range(len(nodes_of))) + "}",
             '!13 = !{!"air.compile.fast_math_'
             + ("enable" if fast else "disable") + '"}',
             '!14 = !{!"Metal", i32 3, i32 1, i32 0}',
             '!15 = !{!"air.max_work_group_size", i32 %d}' % limit,
             nodes]
    lines += [f"!{first + i} = {text}" for i, text in enumerate(nodes_of)]
    return "\n".join(lines) + "\n"


class Assembler:
    def __init__(self, prefix):
        self.program = f"{prefix}/bin/llvm-as"

    def __call__(self, text):
        made = subprocess.run([self.program, "-o", "-", "-"],
                              input=text.encode(), capture_output=True)
        if made.returncode:
            raise AssertionError(made.stderr.decode() + text)
        return made.stdout
