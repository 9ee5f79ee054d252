# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mlx_shipped.py: MLX's kernels as its package ships them, compiled by Apple's
# compiler, in the place of those that the corpus tests compile from source:
# families of test_mlx.py run on them unchanged. What a test calls an instance
# is looked up by the template and its arguments. An instance that is not
# shipped is compiled, so that a family's other ones can be tested.
import numpy as np

import check
import mettle
import mlx_kernels

# The name of a type in the names of kernels, by MSL's.
TYPES = {"float": "float32", "half": "float16", "bfloat16_t": "bfloat16",
         "bool": "bool_", "complex64_t": "complex64",
         **{f"{sign}int{bits}_t": f"{sign}int{bits}"
            for sign in ("", "u") for bits in (8, 16, 32, 64)}}
QUANTISED = {"float": "float", "half": "float16_t",
             "bfloat16_t": "bfloat16_t"}
REDUCTIONS = {"Sum": "sum", "Prod": "prod", "Min": "min", "Max": "max",
              "And": "and", "Or": "or", "CumSum": "sum", "CumProd": "prod",
              "CumMax": "max", "CumMin": "min",
              "CumLogaddexp": "logaddexp"}


def _letter(flag):
    return "t" if flag == "true" else "n"


def _softmax(form):
    def name(t, accumulator="float"):
        precise = "" if t == accumulator else "precise_"
        return f"{form}_softmax_{precise}{TYPES[t]}"
    return name


def _reduced(pattern):
    def name(t, u, op, *_):
        if op.startswith(("Sum", "Prod")) and t.startswith(
                ("int8", "int16", "uint8", "uint16", "bool")):
            raise KeyError(t)  # shipped with sums of 32 bits
        return pattern.format(REDUCTIONS[op.split("<")[0]] + TYPES[t])
    return name


def _scan(form):
    def name(t, u, op, reads, inclusive, reverse):
        return "_".join(
            [form, "scan"] + ["reverse"] * (reverse == "true")
            + ["inclusive" if inclusive == "true" else "exclusive",
               REDUCTIONS[op.split("<")[0]], TYPES[t], TYPES[u]])
    return name


def _sort(prefix):
    def name(t, u, arguments, threads, each):
        arg = "arg" if arguments == "true" else ""
        return (f"{prefix}{arg}_block_sort_{TYPES[t]}_{TYPES[u]}_bn{threads}"
                f"_tn{each}")
    return name


def _long_sort(step):
    return lambda t, u, arguments, threads, each: (
        f"{step}_mbsort_{TYPES[t]}_{TYPES[u]}_bn{threads}_tn{each}")


def _gemm(t, m, n, k, rows, columns, left, right, accumulator="float"):
    return (f"steel_gemm_fused_{_letter(left)}{_letter(right)}_{TYPES[t]}_"
            f"{TYPES[t]}_bm{m}_bn{n}_bk{k}_wm{rows}_wn{columns}")


def _gemv(t, *sizes):
    keys = ("bm", "bn", "sm", "sn", "tm", "tn", "nc", "axpby")
    return f"gemv_{TYPES[t]}_" + "_".join(
        f"{key}{size}" for key, size in zip(keys, sizes))


def _quantised(word, *flags):
    def name(t, group, bits, *values):
        more = "".join(
            f"_{flag}_{value}" if flag == "alN"
            else f"_{flag}_{int(value == 'true')}"
            for flag, value in zip(flags, values))
        return f"affine_{word}_{QUANTISED[t]}_gs_{group}_b_{bits}{more}"
    return name


NAMES = {
    "softmax_single_row": _softmax("block"),
    "softmax_looped": _softmax("looped"),
    "logsumexp": lambda t: f"block_logsumexp_{TYPES[t]}",
    "logsumexp_looped": lambda t: f"looped_logsumexp_{TYPES[t]}",
    "all_reduce": _reduced("all_reduce_{}"),
    "row_reduce_simple": _reduced("row_reduce_simple_{}"),
    "row_reduce_small": _reduced("row_reduce_small_1_reduce_{}"),
    "contiguous_scan": _scan("contig"),
    "strided_scan": _scan("strided"),
    "block_sort": _sort("c"), "block_sort_nc": _sort("nc"),
    "mb_block_sort": _long_sort("sort"),
    "mb_block_partition": _long_sort("partition"),
    "mb_block_merge": _long_sort("merge"),
    "searchsorted": lambda t, right: (
        f"searchsorted_{TYPES[t]}_" + ("right" if right == "true"
                                       else "left")),
    "gemv": _gemv, "gemm": _gemm,
    "sdpa_vector": lambda t, k, v: f"sdpa_vector_{QUANTISED[t]}_{k}_{v}",
    "affine_quantize": _quantised("quantize"),
    "affine_dequantize": _quantised("dequantize"),
    "affine_qmv": _quantised("qmv", "batch"),
    "affine_qvm": _quantised("qvm", "batch"),
    "affine_qmm_t": _quantised("qmm_t", "alN", "batch"),
    "affine_gather_qmv": _quantised("gather_qmv"),
    "affine_gather_qvm": _quantised("gather_qvm"),
}

_compile = mlx_kernels.library


class Twins:
    """One kernel by two ways, or in two tiers: each runs with arguments of
    its own, and they must leave the same bytes."""

    def __init__(self, title, first, second):
        self.title, self.first, self.second = title, first, second

    def __call__(self, arguments, *rest, **options):
        copies = {i: a.copy() if isinstance(a, np.ndarray) else a
                  for i, a in arguments.items()}
        self.first(arguments, *rest, **options)
        self.second(copies, *rest, **options)
        for index, value in arguments.items():
            if isinstance(value, np.ndarray):
                check.equal(f"{self.title}, buffer {index}",
                            copies[index].view(np.uint8),
                            value.view(np.uint8))


class Shipped:
    """What mlx_kernels.library gives, of the metallib's kernels."""

    def __init__(self, used, beside, headers, instances=(), before=(),
                 text=""):
        self.used, self.beside = used, beside
        self.request = (headers, instances, before, text)
        self.instances = {name: (template, arguments)
                          for name, template, *arguments in instances}
        self.source = None

    def _shipped_name(self, name):
        template, arguments = self.instances.get(name, (None, ()))
        if template not in NAMES:
            return name
        try:
            return NAMES[template](*arguments)
        except (TypeError, KeyError):  # of other arguments than are shipped
            return name

    def _compiled(self, name, constants):
        if self.source is None:
            self.source = _compile(*self.request)
        return self.source.pipeline(name, constants)

    def pipeline(self, name, constants=None):
        shipped = self._shipped_name(name)
        if shipped not in Shipped.names:
            return self._compiled(name, constants)
        self.used.add(shipped)
        kernel = Shipped.library.pipeline(shipped, constants)
        if self.beside == "source" and name in self.instances:
            return Twins(f"{shipped} from source", kernel,
                         self._compiled(name, constants))
        if self.beside == "T0":
            return Twins(f"{shipped} in T0", kernel, Shipped.library.pipeline(
                shipped, constants, debug=True))
        return kernel


def run(library, family, used, beside=""):
    """Runs a family of test_mlx.py with the library's kernels, whose names it
    adds to used. beside: "source" or "T0", what must leave the same."""
    Shipped.library, Shipped.names = library, set(library.names())
    mlx_kernels.library = lambda *given, **options: Shipped(
        used, beside, *given, **options)
    try:
        family(np.random.default_rng(4))
    except mettle.Error as error:
        check.failed(f"{family.__name__}: {error}")
    finally:
        mlx_kernels.library = _compile
