# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""naming.py: arguments by name: bindings whose types the kernel says, structs
by member, --print and --save, the only kernel, and what is said of a wrong
name."""

import numpy as np

from tool import case

SAXPY = """
kernel void saxpy(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}
"""

# Offsets by the tables of the Metal Shading Language Specification: a float3
# has the size and alignment of a float4, a packed_float3 12 bytes and 4.
STRUCTS = """
#include <metal_stdlib>
using namespace metal;
enum class Mode : ushort { off, on };
struct Base { uint id; };
struct Inner { half2 h; bool on; packed_float3 p; };
struct Params : Base {
  float3 axis;
  float w;
  Inner in[2];
  float3x3 m;
  array<int, 3> a;
  uint g[2][3];
  Mode mode;
  bfloat b;
  union { float f; uint u; };
  uint bits : 3;
  device float *link;
  atomic_uint c;
  char ch;
  long l;
};
kernel void show(constant Params &p [[buffer(0)]],
                 device float *out [[buffer(1)]]) {
  out[0] = p.id;
  out[1] = p.axis.z;
  out[2] = p.w;
  out[3] = p.in[1].h.y;
  out[4] = p.in[0].on;
  out[5] = p.in[1].p.z;
  out[6] = p.m[2][1];
  out[7] = p.a[2];
  out[8] = p.g[1][2];
  out[9] = ushort(p.mode);
  out[10] = p.b;
  out[11] = as_type<float>(p.u);
  out[12] = p.ch;
  out[13] = p.l;
}
"""

PARTICLES = """
#include <metal_stdlib>
using namespace metal;
struct Particle { packed_float3 pos; float mass; };
kernel void fall(device Particle *ps, device float3 *v, device float4 *c,
                 constant float2x2 &m, constant array<half, 4> &t,
                 uint i [[thread_position_in_grid]]) {
  ps[i].pos[1] -= ps[i].mass;
  v[i] += 1;
  c[i] *= m[1][0] + float(t[3]);
}
"""

RUN = ("run", "saxpy.metal", "--grid", "4")


def _saxpy(tool):
    tool.write("saxpy.metal", SAXPY)
    return RUN


@case
def names_bind_print_and_save(tool):
    run = _saxpy(tool)
    tool.save("x.npy", np.float32([1, 2, 3, 4]))
    done = tool.done(*run, "x=@x.npy", "y=ones:4", "a=0.5", "--print", "y",
                     "--print", "y:2", "--print", "1:1", "--save", "y=y.npy")
    assert done.out == "y: 1.5 2 2.5 3\ny: 1.5 2\n1: 1.5\n", done.out
    y = tool.load("y.npy")
    assert y.dtype == np.float32 and y.tolist() == [1.5, 2, 2.5, 3], y
    answer = tool.done(*run, "x=iota:4", "y=zeros:4", "a=2", "--print", "y",
                       "--json").json()
    assert answer["kernel"] == "saxpy"
    assert answer["print"] == {"y": [0, 2, 4, 6]}


@case
def types_come_from_the_kernel_by_index_too(tool):
    run = _saxpy(tool)
    done = tool.done(*run, "0=1,2,3,4", "1=zeros:4", "2=0.5", "--print", "1")
    assert done.out == "1: 0.5 1 1.5 2\n", done.out
    # Types written so before are still accepted: Mettle's names or Metal's.
    done = tool.done(*run, "x=iota:f32:4", "y=ones:float:4", "a=f32:1",
                     "--print", "y")
    assert done.out == "y: 1 2 3 4\n", done.out


@case
def lists_may_have_brackets(tool):
    run = _saxpy(tool)
    for x in ("1,2,3,4", "[1,2,3,4]", "[1, 2, 3, 4]", " 1, 2, 3 ,4 "):
        out = tool.done(*run, f"x={x}", "y=zeros:4", "a={1}", "--print",
                        "y").out
        assert out == "y: 1 2 3 4\n", (x, out)
    out = tool.done(*run, "x=zeros:4", "x[2]=7", "y=zeros:4", "a=1", "--print",
                    "y").out
    assert out == "y: 0 0 7 0\n", out


@case
def numbers_may_have_the_suffixes_of_the_language(tool):
    run = _saxpy(tool)
    out = tool.done(*run, "x=1.f,2f,-0.5h,1e1f", "y=zeros:4", "a=1.0f",
                    "--print", "y").out
    assert out == "y: 1 2 -0.5 10\n", out
    tool.write("i.metal", "kernel void k(device int *o, constant uint &n, "
               "constant long &l) { o[0] = n; o[1] = l; }")
    out = tool.done("run", "i.metal", "--grid", "1", "o=-1,2", "n=0x1fu",
                    "l=-7l", "--print", "o").out
    assert out == "o: 31 -7\n", out
    for wrong in ("o=1f", "o=1uul", "n=u", "n=1h"):
        tool.fails(2, ["no integer"], "run", "i.metal", "--grid", "1", wrong)
    tool.fails(2, ["no number"], *run, "x=1.5ff")


@case
def the_only_kernel_needs_no_name(tool):
    run = _saxpy(tool)
    words = ("x=iota:4", "y=zeros:4", "a=1", "--print", "y")
    assert (tool.done(*run, *words).out
            == tool.done("run", "saxpy.metal", "saxpy", *words, "--grid",
                         "4").out == "y: 0 1 2 3\n")
    tool.fails(2, ["KERNEL is missing: which of the source's 2; there are: "
                   "one, two"], "run", _two(tool), "--grid", "1")
    tool.write("none.metal", "constant int x = 1;")
    tool.fails(2, ["no kernel"], "run", "none.metal", "--grid", "1")


def _two(tool):
    tool.write("two.metal", "kernel void one() {}\nkernel void two() {}\n")
    return "two.metal"


FILLED = ("id:7,axis:[1,2,3],w:4,in:[{h:(5,6)},{h:{1,8},p:{9,10,11}}],"
          "m:((1,2,3),(4,5,6),(7,8,9)),a:{1,2,3},g:{{1,2,3},{4,5,6}},mode:1,"
          "b:1.5,u:0x40490fdb,ch:-5,l:-6")
SHOWN = [7, 3, 4, 8, 0, 11, 8, 3, 6, 1, 1.5, 3.1415927, -5, -6]


@case
def structs_are_given_by_member(tool):
    tool.write("s.metal", STRUCTS)
    run = ("run", "s.metal", "--grid", "1", "out=zeros:14", "--json",
           "--print", "out")
    answer = tool.done(*run, f"p={{{FILLED}}}").json()
    assert np.allclose(answer["print"]["out"], SHOWN, rtol=1e-7), answer
    # Without the outer braces, and with JSON's or C's ways to write a member.
    for text in (FILLED, FILLED.replace(":", "="), FILLED.replace(":", " : "),
                 '{"id": 7, "axis": [1, 2, 3]}', "{.id = 7, .axis = {1, 2, 3}}",
                 "7,1,2,3", "{7,{1,2,3}}"):
        out = tool.done(*run, f"p={text}").json()["print"]["out"]
        count = 14 if "mode" in text else 2
        assert np.allclose(out[:count], SHOWN[:count], rtol=1e-7), text


@case
def members_may_come_one_by_one(tool):
    tool.write("s.metal", STRUCTS)
    out = tool.done(
        "run", "s.metal", "--grid", "1", "out=zeros:14", "p.id=7",
        "p.axis=1,2,3", "p.w=4", "p.in[1].h.y=8", "p.in[1].p=9,10,11",
        "p.in[0].on=true", "p.m[2][1]=8", "p.a[2]=3", "p.g[1]=4,5,6", "p.mode=1",
        "p.b=1.5", "p.f=3.1415927", "p.ch=-5", "p.l=-6", "--json", "--print",
        "out").json()["print"]["out"]
    expected = SHOWN[:4] + [1] + SHOWN[5:]
    assert np.allclose(out, expected, rtol=1e-7), out


@case
def braces_that_the_shell_took_apart_still_mean_the_struct(tool):
    """bash makes p=id:7 p=w:4 of p={id:7,w:4}."""
    tool.write("s.metal", STRUCTS)
    run = ("run", "s.metal", "--grid", "1", "out=zeros:14")
    out = tool.done(*run, "p=id:7", "p=w:4", "--print", "out:3").out
    assert out == "out: 7 0 4\n", out
    # Of p={id:7,a:{1,2}} and of p={axis:{1,2,3}} it makes nonsense.
    tool.fails(2, ["quotes keep them"], *run, "p=id:7", "p=a:1", "p=a:2")
    tool.fails(2, ["quotes keep them"], *run, "p=id:7", "p=axis:1", "p=axis:2",
               "p=axis:3")


@case
def elements_are_made_printed_and_saved(tool):
    tool.write("p.metal", PARTICLES)
    run = ("run", "p.metal", "--grid", "2", "m=1,2,3,4", "t=0,0,0,0.5")
    done = tool.done(*run, "ps={{1,2,3},4},{{5,6,7},8}", "v=iota:2",
                     "c=ones:2", "--print", "ps", "--print", "v", "--print",
                     "c:1", "--print", "m", "--print", "t")
    assert done.out == (
        "ps: {pos: (1, -2, 3), mass: 4} {pos: (5, -2, 7), mass: 8}\n"
        "v: (1, 2, 3) (4, 5, 6)\nc: (3.5, 3.5, 3.5, 3.5)\n"
        "m: ((1, 2), (3, 4))\nt: [0, 0, 0, 0.5]\n"), done.out
    answer = tool.done(
        *run, "ps=zeros:2", "ps[1].mass=2", "v=1,2,3,4,5,6", "c=rand:2:5",
        "--print", "ps", "--print", "v", "--json", "--save", "v=v.npy",
        "--save", "c=c.npy").json()
    assert answer["print"] == {
        "ps": [{"pos": [0, 0, 0], "mass": 0}, {"pos": [0, -2, 0], "mass": 2}],
        "v": [[2, 3, 4], [5, 6, 7]]}, answer
    # A float3 has the room of four.
    assert tool.load("v.npy").tolist() == [[2, 3, 4, 0], [5, 6, 7, 0]]
    assert tool.load("c.npy").shape == (2, 4)


@case
def structs_are_saved_with_their_fields(tool):
    tool.write("p.metal", PARTICLES)
    tool.done("run", "p.metal", "--grid", "2", "m=1,2,3,4", "t=zeros",
              "ps={{1,2,3},4},{{5,6,7},8}", "v=zeros:2", "c=zeros:2", "--save",
              "ps=ps.npy", "--save", "m=m.npy", "--save", "t=t.npy")
    ps = tool.load("ps.npy")
    assert ps.dtype.names == ("pos", "mass") and ps.shape == (2,), ps.dtype
    assert ps["pos"].tolist() == [[1, -2, 3], [5, -2, 7]], ps
    assert ps["mass"].tolist() == [4, 8], ps
    assert tool.load("m.npy").tolist() == [[[1, 2], [3, 4]]]
    t = tool.load("t.npy")
    assert t.dtype == np.float16 and t.shape == (1, 4), t
    # And read: as they were saved, or as NumPy makes them.
    out = tool.done("run", "p.metal", "--grid", "ps", "m=1,2,3,4", "t=zeros",
                    "ps=@ps.npy", "v=zeros:2", "c=zeros:2", "--print",
                    "ps").out
    assert out == ("ps: {pos: (1, -6, 3), mass: 4} {pos: (5, -10, 7), "
                   "mass: 8}\n"), out
    tool.save("q.npy", np.array([((1, 2, 3), 4)] * 2,
                                [("pos", "f4", 3), ("mass", "f4")]))
    out = tool.done("run", "p.metal", "--grid", "2", "m=1,2,3,4", "t=zeros",
                    "ps=@q.npy", "v=zeros:2", "c=zeros:2", "--print",
                    "ps:1").out
    assert out == "ps: {pos: (1, -2, 3), mass: 4}\n", out
    tool.save("short.npy", np.zeros(2, [("pos", "f4", 3)]))
    tool.fails(1, ["a structured type of 12 bytes for argument 'ps', which is "
                   "a Particle of 16"], "run", "p.metal", "--grid", "2",
               "m=1,2,3,4", "t=zeros", "ps=@short.npy", "v=zeros:2",
               "c=zeros:2")
    tool.write("s.metal", STRUCTS)
    tool.done("run", "s.metal", "--grid", "1", "out=zeros:14",
              f"p={{{FILLED}}}", "--save", "p=p.npy")
    p, = tool.load("p.npy")
    assert tool.load("p.npy").dtype.itemsize == 208
    assert p["id"] == 7 and p["axis"].tolist() == [1, 2, 3, 0], p
    assert p["in"]["h"].tolist() == [[5, 6], [1, 8]], p
    assert p["in"]["p"][1].tolist() == [9, 10, 11], p
    assert p["m"].tolist() == [[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 0]], p
    assert p["g"].tolist() == [[1, 2, 3], [4, 5, 6]] and p["l"] == -6, p


@case
def reflection_gives_members_with_offsets(tool):
    tool.write("s.metal", STRUCTS)
    answer = tool.done("reflect", "s.metal", "--json").json()
    params = answer["kernels"][0]["arguments"][0]
    assert params["size_bytes"] == 208, params["size_bytes"]
    found = [(m["name"], m["type"], m["offset_bytes"], m["size_bytes"],
              m["array_length"]) for m in params["members"]]
    assert found == [
        ("id", "uint", 0, 4, 1), ("axis", "float3", 16, 16, 1),
        ("w", "float", 32, 4, 1), ("in", "Inner", 36, 20, 2),
        ("m", "float3x3", 80, 48, 1), ("a", "int", 128, 4, 3),
        ("g", "uint[3]", 140, 12, 2), ("mode", "Mode", 164, 2, 1),
        ("b", "bfloat", 166, 2, 1), ("f", "float", 168, 4, 1),
        ("u", "uint", 168, 4, 1), ("bits", "uint : 3", 172, 0, 1),
        ("link", "device float *", 176, 8, 1),
        ("c", "atomic_uint", 184, 4, 1), ("ch", "char", 188, 1, 1),
        ("l", "long", 192, 8, 1)], found
    inner = [(m["name"], m["element"], m["components"], m["offset_bytes"])
             for m in params["members"][3]["members"]]
    assert inner == [("h", "half", 2, 0), ("on", "bool", 1, 4),
                     ("p", "float", 3, 8)], inner
    assert (params["members"][4]["columns"],
            params["members"][4]["components"]) == (3, 3)
    row, = params["members"][6]["members"]
    assert (row["name"], row["element"], row["array_length"]) == (
        "", "uint", 3), row
    text = tool.done("reflect", "s.metal").out
    for line in ("          16  float3 axis\n", "          36  Inner[2] in\n",
                 "          44    packed_float3 p\n",
                 "         140  uint[2][3] g\n"):
        assert line in text, text


@case
def a_wrong_name_is_told_with_the_right_one(tool):
    run = _saxpy(tool)
    rest = ("x=iota:4", "y=zeros:4", "a=1")
    for text, *words in (
            ("saxpy has no argument 'z'; there are: x, y, a", *rest, "z=1"),
            ("--print: saxpy has no argument 'why'", *rest, "--print", "why"),
            ("--save: saxpy has no argument 'out'", *rest, "--save",
             "out=o.npy"),
            ("--print: buffer 1 is not bound", *rest[::2], "--print", "y"),
            ("buffer 0 is bound twice", *rest, "0=ones:4"),
            ("buffer 0 is bound twice", *rest, "x=ones:4"),
            ("'itoa' is no value; did you mean 'iota:'", "x=itoa:4"),
            ("'f23' is no type", "a=f23:1"), ("did you mean 'f32'", "a=f23:1"),
            ("Metal has no double", "x=zeros:f64:4"),
            ("did you mean 'float'", "x=zeros:flaot:4"),
            ("a count is missing: zeros:COUNT", "x=zeros"),
            ("'many' is no count", "x=zeros:many"),
            ("the argument is one float, not 2", "a=zeros:2"),
            ("'2' is too much: the argument is one float", "a=1,2"),
            ("'one' is no number", "a=one"), ("a value is missing", "x=1,,2"),
            ("a ']' is missing", "x=[1,2"), ("makes no sense", "x=1 2"),
            ("'1x' is no", "1x=3"), ("one word, without blanks", "=3"),
            ("did you mean '@x.npy'?", "x=x.npy"),
            ("[NUMBER] is wanted", "x[one]=3"),
            ("has no member 'y'", "x.y=3")):
        tool.fails(2, [text], *run, *words)


@case
def a_wrong_member_is_told_with_the_right_one(tool):
    tool.write("s.metal", STRUCTS)
    run = ("run", "s.metal", "--grid", "1", "out=zeros:14")
    for text, *words in (
            ("Params has no member 'axsi'; there are: id, axis, w,",
             "p.axsi=1,2,3"),
            ("did you mean 'axis'?", "p={axsi:[1,2,3]}"),
            ("a float3 has 3 parts, 2 given", "p.axis=1,2"),
            ("[2]: the last one is [1]", "p.in[2].on=1"),
            ("which of the 2?", "p.in.on=1"),
            ("cannot be given by value", "p.bits=1"),
            ("cannot be given by value", "p.link=1"),
            ("out of range for u16", "p.mode=65536"),
            ("no bool", "p.in[0].on=2"),
            ("'4' is too much for a int[3]", "p.a=1,2,3,4"),
            ("'{1}' is too much", "p={id:1},{1}"),
            ("a second value", "p.f=1", "p.u=1")):
        tool.fails(2, [text], *run, *words)


@case
def resources_go_by_name_too(tool):
    tool.write("t.metal", """
        #include <metal_stdlib>
        using namespace metal;
        [[visible]] float twice(float x) { return 2 * x; }
        using table = visible_function_table<float(float)>;
        kernel void k(array<texture2d<float>, 2> images [[texture(1)]],
                      sampler taps [[sampler(2)]],
                      table functions [[buffer(3)]],
                      threadgroup float *room [[threadgroup(1)]],
                      device float *out [[buffer(0)]]) {
          room[0] = images[1].sample(taps, float2(0.5)).x;
          out[0] = functions[0](room[0]);
        }""")
    tool.save("a.npy", np.float32([[1, 2], [3, 4]]))
    done = tool.done("run", "t.metal", "--grid", "1", "images=@a.npy",
                     "images[1]=@a.npy", "taps=linear,normalized",
                     "functions=twice", "room=16", "out=zeros:1", "--print",
                     "out")
    assert done.out == "out: 5\n", done.out
    tool.fails(2, ["[0] to [1] are its parts"], "run", "t.metal", "--grid",
               "1", "images[2]=@a.npy")
    tool.fails(2, ["'linaer' says nothing of a sampler"], "run", "t.metal",
               "--grid", "1", "taps=linaer")


@case
def constants_take_their_types_from_the_source(tool):
    tool.write("c.metal", """
        #include <metal_stdlib>
        using namespace metal;
        constant float2 scale [[function_constant(0)]];
        constant bool on [[function_constant(7)]];
        kernel void k(device float *out) {
          out[0] = on ? scale.x * scale.y : 0;
        }""")
    run = ("run", "c.metal", "--grid", "1", "out=zeros:1", "--print", "out")
    assert tool.done(*run, "--constant", "scale=2,3.5", "--constant",
                     "7=true").out == "out: 7\n"
    for text, value in (("it has 2 components, 1 given", "scale=2"),
                        ("no bool", "on=2"),
                        ("no function constant 'scael'; there are: scale, on;"
                         " did you mean 'scale'?", "scael=1,2")):
        tool.fails(2, [text], *run, "--constant", value)
    compiled = ("compile", run[1], "--constant")
    tool.fails(2, ["no function constant 'scael'", "did you mean 'scale'?"],
               *compiled, "scael=2,3")
    tool.fails(2, ["no function constant 8"], *compiled, "8=1")
    tool.done(*compiled, "scale=2,3.5")
