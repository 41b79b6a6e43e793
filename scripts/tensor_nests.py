"""Nests that are products inside, by tensor units on a GPU that has them, against the ordinary
kernels: batches, contractions, convolution layers, distances, attention, triangles.

    python scripts/tensor_nests.py                         # all nests, all types
    python scripts/tensor_nests.py batch layer --kinds double half --torch
    python scripts/tensor_nests.py --plan                  # what is on tensor units, without a GPU
    python scripts/tensor_nests.py --small --device 0:0    # small sizes, to try it out

Doubles and bytes are compared by their bits (a NaN equals a NaN). Of halves, bfloat16 and floats it
prints the error of both kernels relative to the sums of magnitudes, in units of 2^-24, against the
same nest in doubles. Times are medians of nine runs in ms, one directly after the other.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.floating_point import Level

BFLOAT = """
#include <string.h>
typedef unsigned short bfloat;
static float widened(bfloat h)
{
  unsigned bits = (unsigned)h << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
"""


@dataclass(frozen=True)
class Kind:
    """Types of elements and sums, what makes an operand of an element, and what must be
    permitted."""

    element: str
    sums: str
    operand: str
    fp: Level
    dtype: Any
    result: Any


KINDS = {
    "double": Kind("double", "double", "{}", "contract", np.float64, np.float64),
    "byte": Kind("signed char", "int", "{}", "contract", np.int8, np.int32),
    "half": Kind("_Float16", "float", "(float){}", "reassociate", np.float16, np.float32),
    "bfloat": Kind("bfloat", "float", "widened({})", "reassociate", np.uint16, np.float32),
    "float": Kind("float", "float", "{}", "fast", np.float32, np.float32),
}


@dataclass(frozen=True)
class Nest:
    """C with T for elements, S for sums, and `<x>` for an operand; the sizes, those of its arrays,
    the result last, and what torch calls it."""

    text: str
    sizes: str
    small: str
    arrays: Mapping[str, str]
    torch: str = ""


def product(loops: str, start: str, terms: str, store: str) -> str:
    """A nest of `forall` loops (`i<M`) around a sum."""
    heads = "".join(_loop(x) for x in loops.split())
    inner = "".join(_loop(x) for x in terms.split("|")[0].split())
    return f"{heads}{{ S s = {start}; {inner}s += {terms.split('|')[1]}; {store}; }}"


def _loop(text: str) -> str:
    var, _, end = text.partition("<")
    end, equal = end.removeprefix("="), "<=" if end.startswith("=") else "<"
    return f"for (int {var} = 0; {var} {equal} {end}; {var}++) "


MATRICES = {"A": "M U", "B": "U N", "C": "M N"}
SQUARE, ODD = "M=4096,U=4096,N=4096", "M=37,U=21,N=70"
LAYER = "n<b o<co y<h x<w"
LAYERS = "b=16,co=256,ci=256,h=56,w=56"
FEW = "b=2,co=19,ci=5,h=9,w=7"

NESTS = {
    "plain": Nest(product("i<M j<N", "0", "k<U|<A[i][k]> * <B[k][j]>", "C[i][j] = s"),
                  SQUARE, ODD, MATRICES, "A @ B"),
    "turned": Nest(product("i<M j<N", "0", "k<U|<A[k][i]> * <B[k][j]>", "C[i][j] = s"),
                   SQUARE, ODD, MATRICES | {"A": "U M"}, "A.T @ B"),
    "rows": Nest(product("i<M j<N", "0", "k<U|<A[i][k]> * <B[j][k]>", "C[i][j] = s"),
                 SQUARE, ODD, MATRICES | {"B": "N U"}, "A @ B.T"),
    "gemm": Nest(product("i<M j<N", "0", "k<U|<A[i][k]> * <B[k][j]>",
                         "C[i][j] = 3 * s + 2 * C[i][j]"),
                 SQUARE, ODD, MATRICES, "torch.addmm(C, A, B, beta=2, alpha=3)"),
    "scaled": Nest(product("i<M j<N", "2 * C[i][j]", "k<U|3 * <A[i][k]> * <B[k][j]>",
                           "C[i][j] = s"),
                   SQUARE, ODD, MATRICES, "torch.addmm(C, A, B, beta=2, alpha=3)"),
    "batch": Nest(product("p<P i<M j<N", "0", "k<U|<A[p][i][k]> * <B[p][k][j]>",
                          "C[p][i][j] = s"),
                  "P=64,M=512,U=512,N=512", "P=3,M=37,U=21,N=70",
                  {"A": "P M U", "B": "P U N", "C": "P M N"}, "torch.bmm(A, B)"),
    "small-batch": Nest(product("p<P i<16 j<16", "0", "k<16|<A[p][i][k]> * <B[p][k][j]>",
                                "C[p][i][j] = s"),
                        "P=65536", "P=5",
                        {"A": "P 16 16", "B": "P 16 16", "C": "P 16 16"}, "torch.bmm(A, B)"),
    "three": Nest(product("i<M j<N l<L", "0", "k<U|<A[i][k][l]> * <B[k][j]>", "C[i][j][l] = s"),
                  "M=256,U=1024,N=512,L=16", "M=9,U=11,N=21,L=5",
                  {"A": "M U L", "B": "U N", "C": "M N L"}, "torch.einsum('ikl,kj->ijl', A, B)"),
    "four": Nest(product("a<n b<n c<n d<n", "0", "e<m f<m|<A[a][e][b][f]> * <B[f][d][c][e]>",
                         "C[a][b][c][d] = s"),
                 "n=64,m=32", "n=9,m=5",
                 {"A": "n m n m", "B": "m n n m", "C": "n n n n"},
                 "torch.einsum('aebf,fdce->abcd', A, B)"),
    "layer": Nest(product(LAYER, "0",
                          "c<ci p<3 q<3|<F[o][c][p][q]> * <X[n][c][y + p][x + q]>",
                          "Y[n][o][y][x] = s"),
                  LAYERS, FEW,
                  {"X": "b ci h+2 w+2", "F": "co ci 3 3", "Y": "b co h w"},
                  "torch.nn.functional.conv2d(X, F)"),
    "layer-nhwc": Nest(product("n<b y<h x<w o<co", "0",
                               "p<3 q<3 c<ci|<X[n][y + p][x + q][c]> * <F[p][q][c][o]>",
                               "Y[n][y][x][o] = s"),
                       LAYERS, FEW,
                       {"X": "b h+2 w+2 ci", "F": "3 3 ci co", "Y": "b h w co"},
                       "torch.nn.functional.conv2d(X.permute(0, 3, 1, 2), F.permute(3, 2, 0, 1))"),
    "layer-1x1": Nest(product(LAYER, "0", "c<ci|<F[o][c]> * <X[n][c][y][x]>",
                              "Y[n][o][y][x] = s"),
                      LAYERS, FEW,
                      {"X": "b ci h w", "F": "co ci", "Y": "b co h w"},
                      "torch.nn.functional.conv2d(X, F[:, :, None, None])"),
    "strided": Nest(product(LAYER, "0",
                            "c<ci p<3 q<3|<F[o][c][p][q]> * <X[n][c][2*y + p][2*x + q]>",
                            "Y[n][o][y][x] = s"),
                    "b=16,co=256,ci=256,h=28,w=28", FEW,
                    {"X": "b ci 2*h+1 2*w+1", "F": "co ci 3 3", "Y": "b co h w"},
                    "torch.nn.functional.conv2d(X, F, stride=2)"),
    "distances": Nest(product("i<M j<N", "0", "k<U|<A[i][k]> * <B[j][k]>",
                              "D[i][j] = a[i] + b[j] - 2 * s"),
                      "M=8192,U=128,N=8192", ODD,
                      {"A": "M U", "B": "N U", "a": "M S", "b": "N S", "D": "M N"},
                      "a[:, None] + b[None, :] - 2 * (A @ B.T)"),
    "squares": Nest(product("i<M j<N", "0",
                            "k<U|(<A[i][k]> - <B[j][k]>) * (<A[i][k]> - <B[j][k]>)",
                            "D[i][j] = s"),
                    "M=8192,U=128,N=8192", ODD,
                    {"A": "M U", "B": "N U", "D": "M N"}, ""),
    "scores": Nest(product("h<H i<L j<L", "0", "k<d|<Q[h][i][k]> * <K[h][j][k]>",
                           "P[h][i][j] = s"),
                   "H=64,L=1024,d=64", "H=2,L=21,d=19",
                   {"Q": "H L d", "K": "H L d", "P": "H L L"}, "torch.bmm(Q, K.transpose(1, 2))"),
    "values": Nest(product("h<H i<L j<d", "0", "k<L|<P[h][i][k]> * <V[h][k][j]>",
                           "O[h][i][j] = s"),
                   "H=64,L=1024,d=64", "H=2,L=21,d=19",
                   {"P": "H L L", "V": "H L d", "O": "H L d"}, "torch.bmm(P, V)"),
    "gram": Nest(product("i<M j<M", "0", "k<U|<A[k][i]> * <A[k][j]>", "C[i][j] = s"),
                 "M=2048,U=8192", "M=37,U=21", {"A": "U M", "C": "M M"}, "A.T @ A"),
    "syrk": Nest(product("i<M j<=i", "0", "k<U|<A[i][k]> * <A[j][k]>", "C[i][j] = s"),
                 "M=4096,U=4096", "M=37,U=21", {"A": "M U", "C": "M M"}, "A @ A.T"),
    "trmm": Nest(product("i<M j<N", "0", "k<=i|<A[i][k]> * <B[k][j]>", "C[i][j] = s"),
                 "M=4096,N=4096", "M=37,N=70", {"A": "M M", "B": "M N", "C": "M N"},
                 "torch.tril(A) @ B"),
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nests", nargs="*", metavar="NEST", help=", ".join(NESTS))
    parser.add_argument("--kinds", nargs="*", default=[*KINDS], choices=[*KINDS])
    parser.add_argument("--torch", action="store_true", help="the library's function, too")
    parser.add_argument("--small", action="store_true", help="small odd sizes")
    parser.add_argument("--plan", action="store_true", help="which tiles there are, alone")
    parser.add_argument("--device", help="PLATFORM:DEVICE")
    parser.add_argument("--turns", metavar="FILE", help="share the device with others that name it")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    print(f"seed {args.seed}")
    worst = 0
    for name in args.nests or NESTS:
        for kind in args.kinds:
            nest, k = NESTS[name], KINDS[kind]
            tensor = tiled(nest, k, units=True if k.fp != "contract" else None)
            tiles = ", ".join(dict.fromkeys(re.findall(r"LX_MMA_\w+(?=\()", tensor.kernel)))
            if args.plan:
                print(f"{name:12} {kind:7} {tiles or '-'}", flush=True)
                continue
            worst = max(worst, run(name, kind, tensor, tiles, args))
    return worst > 0


def source(nest: Nest, k: Kind, extent: str = "") -> str:
    """The C of a nest."""
    sizes = [word.partition("=")[0] for word in nest.sizes.split(",")]
    *operands, result = nest.arrays
    parameters = [f"int {n}" for n in sizes]
    for a in nest.arrays:
        kind = k.element if a in operands and a.isupper() else k.sums
        shape = "".join(f"[{d}]" for d in nest.arrays[a].split() if d != "S")
        parameters.append(f"{'' if a == result else 'const '}{kind} {a}{shape}")
    head, tail = (BFLOAT, "") if k.element == "bfloat" else ("", extent)
    text = nest.text.replace("S s =", f"{k.sums} s =")
    while "<" in text and (begin := _operand(text)) is not None:
        first, last = begin
        text = text[:first] + k.operand.format(text[first + 1 : last]) + text[last + 1 :]
    return f"{head}void nest({', '.join(parameters)})\n{{\n{text}\n}}\n{tail}"


def _operand(text: str) -> tuple[int, int] | None:
    """Where the first `<x>` begins and ends."""
    for n, c in enumerate(text):
        if c == "<" and text[n + 1].isupper():
            return n, text.index("]>", n) + 1
    return None


def tiled(nest: Nest, k: Kind, *, units: bool | None) -> Any:
    (routine,) = (r for r in lx.loads(source(nest, k)) if r.name == "nest")
    return routine.tile(limits="h100", fp=k.fp, tensor_units=units)


def run(name: str, kind: str, tensor: Any, tiles: str, args: argparse.Namespace) -> int:
    """Compares and times a nest; returns how many results are wrong."""
    nest, k = NESTS[name], KINDS[kind]
    words = (nest.small if args.small else nest.sizes).split(",")
    sizes = {n: int(v) for n, v in (w.split("=") for w in words)}
    draw = np.random.default_rng(args.seed)
    arrays = {
        a: operand(draw, k, shape(text, sizes), last=n == len(nest.arrays) - 1 or a.islower())
        for n, (a, text) in enumerate(nest.arrays.items())
    }
    ordinary = tiled(nest, k, units=False)
    *_, result = arrays
    (slow, a), (quick, b) = (timed(x, sizes, arrays, result, args) for x in (ordinary, tensor))
    wrong, text = compared(nest, k, sizes, arrays, a, b, args)
    library = f", torch {by_torch(nest, arrays, args):.3f}" if args.torch and nest.torch else ""
    print(f"{name} {kind}: {tiles or 'no tensor units'}; {text} "
          f"({slow:.3f} ms, {quick:.3f} ms{library})", flush=True)  # fmt: skip
    return wrong


def shape(text: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(int(eval(d, {}, dict(sizes))) for d in text.split() if d != "S")


def operand(draw: np.random.Generator, k: Kind, dims: tuple[int, ...], *, last: bool) -> np.ndarray:
    """Any integers; numbers of either sign and, of doubles, many magnitudes."""
    dtype = np.dtype(k.result if last else k.dtype)
    if dtype == np.uint16:
        return (draw.standard_normal(dims, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype.kind != "f":
        return draw.integers(-100, 100, dims).astype(dtype)
    values = draw.standard_normal(dims)
    if dtype == np.float64:
        values = values * 2.0 ** draw.integers(-40, 41, dims)
    return values.astype(dtype)


def timed(
    nest: Any,
    sizes: Mapping[str, int],
    arrays: Mapping[str, np.ndarray],
    result: str,
    args: argparse.Namespace,
    times: int = 9,
) -> tuple[float, np.ndarray]:
    """The device time in ms, and the result of one call."""
    kernel = nest.compile(device=args.device) if args.device else nest.compile()
    out = arrays[result].copy()
    with turn(args):
        kernel(**sizes, **{**arrays, result: out})
        again = kernel.again(times, **sizes, **{**arrays, result: out.copy()})
    return float(np.median(again)) / 1e6, out


@contextmanager
def turn(args: argparse.Namespace) -> Iterator[None]:
    """The device for this process alone, of those that name the same file."""
    if not args.turns:
        yield
        return
    with open(args.turns, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compared(
    nest: Nest,
    k: Kind,
    sizes: Mapping[str, int],
    arrays: Mapping[str, np.ndarray],
    a: np.ndarray,
    b: np.ndarray,
    args: argparse.Namespace,
) -> tuple[int, str]:
    """How many results are wrong, and what to say of them."""
    if k.fp == "contract":
        bits = f"u{a.itemsize}"
        same = (a.view(bits) == b.view(bits)) | ((a != a) & (b != b))
        return int((~same).sum()), f"{int((~same).sum())} of {a.size} differ"
    exact, sums = (
        in_doubles(nest, sizes, arrays, magnitudes, args) for magnitudes in (False, True)
    )
    sums = np.maximum(sums, 1e-30)
    slow, quick = (float((abs(x - exact) / sums).max()) for x in (a, b))
    return int(not quick <= 2.0**-12), f"errors {slow * 2**24:.1f}, {quick * 2**24:.1f}"


def in_doubles(
    nest: Nest,
    sizes: Mapping[str, int],
    arrays: Mapping[str, np.ndarray],
    magnitudes: bool,
    args: argparse.Namespace,
) -> np.ndarray:
    """The nest in doubles, of the same numbers or of their magnitudes."""
    *_, result = arrays
    wide = {n: as_numbers(x) for n, x in arrays.items()}
    if magnitudes:
        wide = {n: abs(x) for n, x in wide.items()}
        text = nest.text.replace("- 2 *", "+ 2 *").replace("> - <", "> + <")
        nest = Nest(text, nest.sizes, nest.small, nest.arrays)
    done = tiled(nest, KINDS["double"], units=False)
    return timed(done, sizes, wide, result, args, 1)[1]


def as_numbers(a: np.ndarray) -> np.ndarray:
    """Numbers of 16 bits without a sign are the upper halves of floats."""
    wide = (a.astype(np.uint32) << 16).view(np.float32) if a.dtype == np.uint16 else a
    return wide.astype(np.float64)


def by_torch(nest: Nest, arrays: Mapping[str, np.ndarray], args: argparse.Namespace) -> float:
    """The median time of torch in ms; NaN where it has no such function."""
    torch: Any = importlib.import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    known: dict[str, Any] = {}
    for name, x in arrays.items():
        t = torch.from_numpy(x).cuda()
        t = t.view(torch.bfloat16) if x.dtype == np.uint16 else t
        first = next(iter(known.values()), t)
        known[name] = t.to(first.dtype) if x.dtype.kind == "f" else t
    function: Callable[[], Any] = eval(f"lambda: {nest.torch}", {"torch": torch, **known})
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(12)]
    try:
        with turn(args):
            for begin, end in events:
                begin.record()
                function()
                end.record()
            torch.cuda.synchronize()
    except RuntimeError:
        return float("nan")
    return float(np.median([begin.elapsed_time(end) for begin, end in events[3:]]))


if __name__ == "__main__":
    sys.exit(main())
