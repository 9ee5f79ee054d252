# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# listing.py: reads what iree-compile --compile-to=hal prints: executables and,
# of each function of static shapes, its commands and its buffers.
import re
from collections import namedtuple

Range = namedtuple("Range", "buffer offset length")
Dispatch = namedtuple("Dispatch", "executable function groups constants "
                      "bindings")
Fill = namedtuple("Fill", "target pattern")
Copy = namedtuple("Copy", "source target")
# inputs and results are names of buffers; lengths in bytes by name.
Program = namedtuple("Program", "name inputs results lengths commands")

_EXECUTABLE = re.compile(
    r'hal\.executable private @(\w+) \{\s+hal\.executable\.binary public '
    r'@\w+ <format = "metal-msl-fb", data = dense<"0x([0-9A-F]+)">')
_FUNCTION = re.compile(r"^  util\.func (public|private) @(\w+)\((.*?)\n  \}",
                       re.M | re.S)
_CONSTANT = re.compile(r"%([\w-]+) = arith\.constant (-?\d+) : \w+")


def executables(text):
    return {name: bytes.fromhex(data)
            for name, data in _EXECUTABLE.findall(text)}


def _ranges(text, number):
    """[(%a : T)[%o, %l], ...] as pairs of what is bound and its range."""
    return [Range(bound, number(offset), number(length))
            for bound, offset, length in re.findall(
                r"\(%([\w-]+) : [!\w.]+\)\[%([\w-]+), %([\w-]+)\]", text)]


def _numbers(text, number):
    return [number(name) for name in re.findall(r"%([\w-]+)", text)]


def _commands(body):
    constants = {name: int(value) for name, value in _CONSTANT.findall(body)}
    number = constants.__getitem__
    ids = dict(re.findall(
        r"%(\w+) = hal\.executable\.lookup\.function target\(.*?\) "
        r"function\((@[\w:@$]+)\)", body))
    commands = []
    for match in re.finditer(
            r"hal\.command_buffer\.(\w+)<%cmd : !hal\.command_buffer>(.*?)"
            r'flags\("None"\)', body, re.S):
        kind, text = match.groups()
        if kind == "dispatch":
            path = ids[re.search(r"\[%(\w+)\] workgroups", text)[1]]
            executable, _, function = path.replace("@", "").split("::")
            values = re.search(r"constants\(\[(.*?)\]\)", text)
            commands.append(Dispatch(
                executable, function,
                _numbers(re.search(r"workgroups\(\[(.*?)\]\)", text)[1],
                         number),
                _numbers(values[1], number) if values else [],
                [r._replace(buffer=number(r.buffer)) for r in _ranges(
                    text[text.index("bindings("):], number)]))
        elif kind == "fill_buffer":
            target = re.search(
                r"target\(%([\w-]+) : index\)\[%([\w-]+), %([\w-]+)\]", text)
            slot = number(target[1])
            pattern = re.search(r"pattern\(%([\w-]+) : i(\d+)\)", text)
            commands.append(Fill(
                Range(slot, number(target[2]), number(target[3])),
                (number(pattern[1]) % (1 << int(pattern[2]))).to_bytes(
                    int(pattern[2]) // 8, "little")))
        elif kind == "copy_buffer":
            sides = [(number(slot), number(offset)) for slot, offset in
                     re.findall(r"\(%([\w-]+) : index\)\[%([\w-]+)\]", text)]
            length = number(re.search(r"length\(%([\w-]+)\)", text)[1])
            commands.append(Copy(*(Range(*side, length) for side in sides)))
        elif kind != "execution_barrier":
            raise ValueError(f"a command that is not read: {kind}")
    return commands


def _program(name, body, recorded):
    constants = {name: int(value) for name, value in _CONSTANT.findall(body)}
    number = constants.__getitem__
    executed = re.search(r"commands\(%(\w+)\) bindings\(\[(.*?)\]\) flags",
                         body, re.S)
    loaded = re.search(rf"%{executed[1]} = util\.global\.load (?:immutable )?"
                       r"@__(\w+)_memoize_result_0_device_0", body)
    bound = _ranges(executed[2], number)
    inputs = [buffer for _, buffer in sorted(
        (int(n), buffer) for buffer, n in re.findall(
            r"%(\w+) = hal\.buffer_view\.buffer<%arg(\d+) ", body))]
    results = re.findall(r"hal\.buffer_view\.create buffer\(%(\w+) : "
                         r"!hal\.buffer\)\[%([\w-]+), %([\w-]+)\]", body)
    lengths = {}
    for r in bound:
        lengths[r.buffer] = max(lengths.get(r.buffer, 0), r.offset + r.length)

    def place(r):
        slot = bound[r.buffer]
        return Range(slot.buffer, slot.offset + r.offset, r.length)

    commands = []
    for command in recorded[loaded[1]]:
        if isinstance(command, Dispatch):
            command = command._replace(
                bindings=[place(r) for r in command.bindings])
        else:
            command = command._replace(**{
                side: place(getattr(command, side))
                for side in ("source", "target") if hasattr(command, side)})
        commands.append(command)
    return Program(name, inputs,
                   [Range(b, number(o), number(n)) for b, o, n in results],
                   lengths, commands)


def programs(text):
    recorded, found = {}, []
    for visibility, name, body in _FUNCTION.findall(text):
        memoized = re.fullmatch(r"__(\w+)_memoize_apply", name)
        if memoized:
            recorded[memoized[1]] = _commands(body)
        elif visibility == "public" and "hal.device.queue.execute" in body:
            found.append((name, body))
    return {name: _program(name, body, recorded) for name, body in found}
