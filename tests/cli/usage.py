# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage.py: wrong command lines end with 2 and one line that says why; help
and version answer everywhere."""

from tool import case

VERBS = ("run", "diff", "compile", "reflect", "model", "iree", "devices", "bench",
         "corpus")
RUN = ("run", "kernels.metal", "add", "--grid", "4")
BOUND = ("0=ones:f32:4", "1=ones:f32:4", "2=zeros:f32:4")


@case
def help_is_everywhere(tool):
    assert "mettle VERB" in tool.done("--help").out
    for verb in VERBS:
        assert f"usage: mettle {verb}" in tool.done(verb, "--help").out
        assert f"usage: mettle {verb}" in tool.done("help", verb).out
    # Also where the rest of the line makes no sense.
    assert "usage" in tool.done("run", "a", "b", "--grid", "--help").out


@case
def version_is_everywhere(tool):
    text = tool.done("--version").out
    assert text.startswith("mettle ") and text.count(".") == 2, text
    for verb in VERBS:
        assert tool.done(verb, "--version").out == text


@case
def iree_tells_how_to_have_it(tool):
    """Or, where its library was built, what is wrong with the command line."""
    result = tool("iree", "run", "absent.vmfb", "--colour=red")
    if result.code == 1:
        assert "-DMETTLE_IREE_SOURCE=" in result.err, result.err
        assert "docs/iree.md" in result.err
    else:
        assert result.code == 2 and "--colour" in result.err, result.err


@case
def no_verb_prints_the_help_as_an_error(tool):
    result = tool()
    assert result.code == 2 and "usage: mettle" in result.err


@case
def unknown_verbs_are_wrong_usage(tool):
    tool.fails(2, ["no verb 'dance'", "--help"], "dance")


@case
def mistyped_words_are_told_with_the_right_ones(tool):
    for text, *words in (
            ("no verb 'rnu'; did you mean 'run'?", "rnu"),
            ("no verb 'refelct'; did you mean 'reflect'?", "refelct"),
            ("no verb 'rn'; did you mean 'run'?", "rn"),
            ("did you mean 'mettle run kernels.metal'?", "kernels.metal"),
            ("no verb 'runn'; did you mean 'run'?", "help", "runn"),
            ("no option --gird; did you mean '--grid'?", *RUN, "--gird", "4"),
            ("no option --gird=4; did you mean '--grid'?", *RUN, "--gird=4"),
            ("no option --rep; did you mean '--repeat'?", *RUN, "--rep", "4"),
            ("did you mean '--json'?", "devices", "--jsno"),
            ("did you mean '--pipelines'?", "corpus", ".", "--pipeline"),
            ("did you mean '--output-dir'?", "model", "--output-dri", "x"),
            ("did you mean 'info'?", "model", "inof", "x.so"),
            ("did you mean 'summary'?", "trace", "sumary", "x.json"),
            ("did you mean 'safe'?", *RUN, "--math", "saef"),
            ("did you mean 'metal3.1'?", *RUN, "--std", "metal31"),
            ("did you mean 'cpu'?", *RUN, *BOUND, "--device", "cpy"),
            ("no pass is called vectorise; did you mean 'vectorize'?",
             "compile", "kernels.metal", "--dump-after=vectorise"),
            ("--check races,boundz: a list of races, bounds", *RUN,
             "--check=races,boundz"),
            ("did you mean 'bounds'?", *RUN, "--check=races,boundz"),
            ("did you mean 'reverse'?", *RUN, "--check", "--schedule",
             "revers"),
            ("there is no kernel 'sclae'; there are: add, scale, positions, "
             "group_size, reverse_groups; did you mean 'scale'?", "run",
             "kernels.metal", "sclae", "--grid", "4")):
        tool.fails(2, [text], *words)
    # Nothing is near; and one letter is too few to tell.
    for words in (("dance",), (*RUN, "-x"), (*RUN, "--math", "q")):
        assert "did you mean" not in tool.fails(2, [], *words).err


@case
def a_hint_names_the_help_of_the_verb(tool):
    tool.fails(2, ["Try 'mettle run --help'."], "run")


def _run_fails(tool, text, *words):
    """Both words alone and behind a right command line."""
    result = tool.fails(2, [text], *words)
    lines = result.err.strip().split("\n")
    assert len(lines) == 2, f"one line and a hint, not {result.err!r}"


@case
def what_is_missing_is_named(tool):
    _run_fails(tool, "FILE.metal is missing", "run")
    _run_fails(tool, "KERNEL is missing: which of the source's 5; there are: "
               "add, scale, positions, group_size, reverse_groups", "run",
               "kernels.metal", "--grid", "4")
    _run_fails(tool, "--grid", "run", "kernels.metal", "add")
    _run_fails(tool, "FILE.metal is missing", "compile")
    _run_fails(tool, "FILE.metal is missing", "reflect", "--json")


@case
def unknown_options_are_wrong_usage(tool):
    _run_fails(tool, "no option --gird", *RUN, "--gird", "4")
    _run_fails(tool, "no option -x", *RUN, "-x")
    _run_fails(tool, "no option --json2", "devices", "--json2")


@case
def options_need_their_values(tool):
    _run_fails(tool, "--save needs a value", *RUN, "--save")
    _run_fails(tool, "-o needs a value", "compile", "kernels.metal", "-o")
    _run_fails(tool, "--json takes no value", *RUN, "--json=1")


@case
def extra_arguments_are_wrong_usage(tool):
    _run_fails(tool, "'more' is one argument too many", *RUN, "more")
    _run_fails(tool, "'more' is one", "compile", "kernels.metal", "more")
    _run_fails(tool, "'more' is one", "reflect", "kernels.metal", "more")
    _run_fails(tool, "no device 'more'", "devices", "more")
    _run_fails(tool, "'more' is one", "bench", "more")


@case
def grids_and_groups_are_three_numbers(tool):
    base = ("run", "kernels.metal", "add")
    for grid in ("", "x", "4,", "4,5,6,7", "-1", "4294967296", "1.5", "4 "):
        _run_fails(tool, "--grid", *base, f"--grid={grid}")
    for group in ("0", "4,0", "1,2,3,4", "two"):
        _run_fails(tool, "--group", *RUN, "--group", group)
    _run_fails(tool, "--grid is given twice", *RUN, "--grid", "5")


@case
def a_buffer_is_bound_once(tool):
    _run_fails(tool, "buffer 1 is bound twice", *RUN, *BOUND, "1=f32:1")
    _run_fails(tool, "threadgroup memory 0 is bound twice", *RUN, "tg0=16",
               "tg0=32")


@case
def indices_end_at_30(tool):
    for word in ("31=zeros:f32:4", "99999999999999999999=zeros:f32:1"):
        _run_fails(tool, "no buffer index", *RUN, word)
    _run_fails(tool, "no buffer index", *RUN, *BOUND, "--print", "31")
    _run_fails(tool, "no buffer index", *RUN, *BOUND, "--save", "31=a.npy")


@case
def bindings_are_read_strictly(tool):
    for word, text in (
            ("0=", "a value is missing"),
            ("0=@", "file's name is missing"),
            ("0=f64:1", "'f64' is no type"),
            ("0=zeros", "a count is missing"),
            ("0=zeros:f32", "count is missing"),
            ("0=zeros:f32:x", "no count"),
            ("0=zeros:f32:-1", "no count"),
            ("0=zeros:f32:1:2", "only rand takes a seed"),
            ("0=rand:f32:4:x", "no seed"),
            ("0=zeros:u64:99999999999999999999", "no count"),
            ("0=zeros:u64:4611686018427387904", "more than memory"),
            ("0=f32:", "a value is missing"),
            ("0=f32:1,,2", "a value is missing"),
            ("0=f32:one", "'one' is no number"),
            ("0=f32:1e39", "out of range for f32"),
            ("0=f16:65520", "out of range for f16"),
            ("0=u8:256", "out of range for u8"),
            ("0=u8:-1", "out of range for u8"),
            ("0=i8:-129", "out of range for i8"),
            ("0=i64:9223372036854775808", "out of range for i64"),
            ("0=u64:18446744073709551616", "out of range for u64"),
            ("0=i32:1.5", "'1.5' is no integer"),
            ("0=u32:0x", "no integer"),
            ("0=bool:2", "no bool"),
            ("tg0=many", "no count of bytes"),
    ):
        result = tool.fails(2, [text, f"binding {word}"], *RUN, word)
        assert result.err.count("\n") == 2, result.err


@case
def other_values_are_read_strictly(tool):
    for text, *words in (
            ("--repeat 0", "--repeat", "0"),
            ("--repeat", "--repeat", "many"),
            ("safe, relaxed or fast", "--math", "quick"),
            ("metal3.2", "--std", "metal9"),
            ("NAME=VALUE", "-D", "1x"),
            ("PARAMETERS", "-D", "x(a=1"),
            ("INDEX=TYPE:V", "--constant", "0"),
            ("is no type", "--constant", "0=integer:1"),
            ("1 to 4", "--constant", "0=f32:1,2,3,4,5"),
            ("given twice", "--constant", "0=f32:1", "--constant", "0=f32:2"),
            ("INDEX=file.npy", "--save", "0"),
            ("INDEX=file.npy", "--save", "0="),
            ("is no count", "--print", "0:x"),
    ):
        _run_fails(tool, text, *RUN, *BOUND, *words)


@case
def outputs_must_be_bound(tool):
    _run_fails(tool, "--save: buffer 5 is not bound", *RUN, *BOUND, "--save",
               "5=a.npy")
    _run_fails(tool, "--print: buffer 5 is not bound", *RUN, *BOUND, "--print",
               "5")


@case
def an_unknown_kernel_lists_those_that_exist(tool):
    _run_fails(tool, "no kernel 'ad'; there are: add, scale, positions", "run",
               "kernels.metal", "ad", "--grid", "4")


@case
def an_argument_without_binding_is_named(tool):
    _run_fails(tool, "argument 'sum' of add is not bound: sum=... or 2=... is missing",
               *RUN, *BOUND[:2])
    _run_fails(tool, "'room' of reverse_groups is not bound: room=BYTES or tg0=BYTES", "run",
               "kernels.metal", "reverse_groups", "--grid", "4", *BOUND[:2])


@case
def an_unknown_device_lists_those_that_exist(tool):
    _run_fails(tool, "cpu", *RUN, *BOUND, "--device", "toaster")


@case
def an_unknown_function_constant_is_wrong_usage(tool):
    _run_fails(tool, "no function constant 7", *RUN, *BOUND, "--constant",
               "7=f32:1")
