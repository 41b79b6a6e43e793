"""Products by tensor units on a GPU that has them, against the ordinary kernels: integers of eight
bits, doubles and complex numbers of doubles are to be equal, halves and floats within the bound
that is permitted.

    python scripts/tensor_products.py                      # 1024, 4096, odd sizes
    python scripts/tensor_products.py 1000x777x1234 --kinds s8 u8
    python scripts/tensor_products.py 4096x4096x4096 --torch --kinds float bf16x3 tf32x3
    python scripts/tensor_products.py 1024x1024x1024 640x0x64 --kinds double

Doubles have mixed signs and magnitudes from 2^-40 to 2^40, with zeros of either sign, and a second
time with subnormal numbers, infinities and NaN (a NaN equals a NaN). Prints how many elements
differ, by their bits (of halves and floats: the error of some rows, of either kernel, relative
to the sums of magnitudes, in units of 2^-24), and the device time of each: the median of nine runs,
one directly after the other. Torch's products of halves have float results, too.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from functools import partial
from itertools import product as product_of
from typing import Any, Literal

import numpy as np

import loopxform as lx
from loopxform.floating_point import Level

SIZES = "1024x1024x1024 4096x4096x4096 8192x8192x8192 1000x777x1234 5x3x2 129x4099x257"
KINDS = {
    "s8": ("signed char", "signed char", "int"),
    "u8": ("unsigned char", "unsigned char", "unsigned"),
    "mixed": ("signed char", "unsigned char", "int"),
    "double": ("double", "double", "double"),
    "half": ("_Float16", "_Float16", "float"),
    "bfloat": ("bfloat", "bfloat", "float"),
    "float": ("float", "float", "float"),
    "tf32x3": ("float", "float", "float"),
    "bf16x3": ("float", "float", "float"),
    "planes": ("complex", "complex", "complex"),
    "structs": ("complex", "complex", "complex"),
    "pairs": ("complex", "complex", "complex"),
    "joint": ("complex", "complex", "complex"),
}
"""Types of both operands and of sums. Floats are multiplied as sums of those of SPLIT, else as by
default. Complex numbers of doubles have their parts in two arrays
(`planes`), in structs or in pairs; `joint` adds both products of an iteration first, in C: its
last terms, which are computed so, may differ from those of `planes` in their last bits."""
LEVELS: dict[str, Level] = {
    "half": "reassociate",
    "bfloat": "reassociate",
    "float": "fast",
    "tf32x3": "fast",
    "bf16x3": "fast",
    "joint": "reassociate",
}
"""What has to be permitted of floating point."""
SPLIT: dict[str, Literal[0, 2]] = {"tf32x3": 0, "bf16x3": 2}
"""How many bfloat16 floats are sums of; 0: numbers of 11 bits."""


def bound(kind: str, terms: int) -> float:
    """How far floats may be from exact sums, relative to the sums of magnitudes."""
    return 2.0**-15 * (1 + terms / 256) if kind == "bf16x3" else 3 * 2.0**-20 * (1 + terms / 8)


SPECIAL = {"double": (False, True), "planes": (False, True)}
"""Whether operands hold special numbers, once each."""
DTYPES = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "int": np.int32,
    "unsigned": np.uint32,
    "_Float16": np.float16,
    "bfloat": np.uint16,
    "float": np.float32,
    "double": np.float64,
    "complex": np.complex128,
}
PRODUCT = """
void mm(int M, int U, int N, const {0} A[M][U], const {1} B[U][N], {2} C[M][N])
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      {2} sum = 0;
      for (int k = 0; k < U; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }}
}}
"""

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
""" + PRODUCT.replace("A[i][k] * B[k][j]", "widened(A[i][k]) * widened(B[k][j])").format(
    "bfloat", "bfloat", "float"
)
"""Numbers of 16 bits that are the upper halves of floats."""

COMPLEX = """
struct number {{ double re, im; }};
void mm(int M, int U, int N, {0})
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      double re = 0, im = 0;
      for (int k = 0; k < U; k++) {{
        re += {ar} * {br};
        re -= {ai} * {bi};
        im += {ar} * {bi};
        im += {ai} * {br};
      }}
      {cr} = re;
      {ci} = im;
    }}
}}
"""
PARAMETERS = {
    "planes": "const double A{0}[M][U], const double B{0}[U][N], double C{0}[M][N]",
    "structs": "const struct number A[M][U], const struct number B[U][N], struct number C[M][N]",
    "pairs": "const double A[M][U][2], const double B[U][N][2], double C[M][N][2]",
}
PARTS = {"planes": ("{0}r{1}", "{0}i{1}"), "structs": ("{0}{1}.re", "{0}{1}.im")}


def complex_product(kind: str) -> str:
    """The C of a product of complex numbers."""
    layout = "planes" if kind == "joint" else kind
    real, imaginary = PARTS.get(layout, ("{0}{1}[0]", "{0}{1}[1]"))
    names: dict[str, str] = {}
    for name, at in (("A", "[i][k]"), ("B", "[k][j]"), ("C", "[i][j]")):
        names |= {
            f"{name.lower()}r": real.format(name, at),
            f"{name.lower()}i": imaginary.format(name, at),
        }
    parameters = PARAMETERS[layout]
    if layout == "planes":
        parameters = f"{parameters.format('r')}, {parameters.format('i')}"
    text = COMPLEX.format(parameters, **names)
    if kind == "joint":
        text = text.replace(";\n        re -= ", " - ")
        text = text.replace(f";\n        im += {names['ai']}", f" + {names['ai']}")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", default=SIZES.split(), metavar="MxUxN")
    parser.add_argument("--kinds", nargs="*", default=[*KINDS], choices=[*KINDS])
    parser.add_argument("--torch", action="store_true", help="torch._int_mm and torch.mm too")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    draw, worst = np.random.default_rng(args.seed), 0
    print(f"seed {args.seed}")
    for kind in args.kinds:
        types = KINDS[kind]
        own = types[0] == "complex"
        text = complex_product(kind) if own else PRODUCT.format(*types)
        product = lx.loads(BFLOAT if kind == "bfloat" else text)["mm"]
        fp = LEVELS.get(kind, "contract")
        plain = lx.loads(complex_product("planes"))["mm"] if kind == "joint" else product
        ordinary = plain.tile(limits="h100", fp=fp, tensor_units=False).compile()
        parts = SPLIT.get(kind)
        tensor = product.tile(limits="h100", fp=fp, tensor_units=True, bfloat_parts=parts).compile()
        shapes = [tuple(map(int, s.split("x"))) for s in args.sizes]
        for (m, u, n), special in product_of(shapes, SPECIAL.get(kind, (False,))):
            left = operand(draw, types[0], m, u, special=special)
            right = operand(draw, types[1], u, n, special=special)
            layout = ("planes" if kind == "joint" else kind) if own else ""
            (a, slow), (b, quick) = (
                timed(k, types[2], left, right, layout) for k in (ordinary, tensor)
            )
            near = kind == "joint" and u % 8 > 0
            differing, text = (
                near_sums(left, right, b) if near else compared(left, right, a, b, bound(kind, u))
            )
            worst = max(worst, differing)
            rate = (8e-9 if own else 2e-9) * m * u * n / quick
            more = f", torch {by_torch(left, right):.3f} ms" if args.torch else ""
            if args.torch and left.dtype == np.float32:
                more += f", with TF32 {by_torch(left, right, tf32=True):.3f} ms"
            times = f"{slow:.3f} ms, {quick:.3f} ms, {rate:.1f} T/s{more}"
            numbers = ", infinities, NaN" if special else ""
            print(f"{kind} {m} x {u} x {n}{numbers}: {text} ({times})", flush=True)
    return worst > 0


def operand(
    draw: np.random.Generator, kind: str, rows: int, columns: int, *, special: bool
) -> np.ndarray:
    """Any integers of the type; real numbers of either sign."""
    dtype = np.dtype(DTYPES[kind])
    if kind == "bfloat":
        values = draw.standard_normal((rows, columns), np.float32)
        return (values.view(np.uint32) >> 16).astype(np.uint16)
    if kind == "double":
        return wide(draw, rows, columns, special=special)
    if kind == "complex":
        both = [wide(draw, rows, columns, special=special) for _ in range(2)]
        return np.stack(both, axis=-1).view(dtype)[..., 0]
    if dtype.kind == "f":
        return draw.standard_normal((rows, columns), np.float32).astype(dtype)
    return draw.integers(0, 256, (rows, columns)).astype(np.uint8).view(dtype)


def wide(draw: np.random.Generator, rows: int, columns: int, *, special: bool) -> np.ndarray:
    """Doubles of many magnitudes; `special`: with subnormal ones, infinities and NaN."""
    values = draw.standard_normal((rows, columns)) * 2.0 ** draw.integers(-40, 41, (rows, columns))
    values[draw.random(values.shape) < 0.02] = -0.0
    for number, share in ((5e-320, 1e-3), (np.inf, 1e-5), (np.nan, 1e-5)) if special else ():
        values[draw.random(values.shape) < share] = number
    return values


def compared(
    left: np.ndarray, right: np.ndarray, a: np.ndarray, b: np.ndarray, most: float
) -> tuple[int, str]:
    """How many results are wrong, or whether floats are further from the right ones than `most`,
    and what to say of them."""
    if a.dtype.kind == "c":
        a, b = (x.view(np.float64) for x in (a, b))
    if a.dtype.kind != "f" or a.itemsize == 8:
        bits = f"u{a.itemsize}"
        same = (a.view(bits) == b.view(bits)) | ((a != a) & (b != b))
        differing = int((~same).sum())
        return differing, f"{differing} of {a.size} differ"
    rows = np.linspace(0, len(left) - 1, min(64, len(left))).astype(int)
    some, whole = as_numbers(left[rows]), as_numbers(right)
    exact, sizes = some @ whole, abs(some) @ abs(whole)
    slow, quick = (float((abs(x[rows] - exact) / sizes).max()) for x in (a, b))
    return int(not quick <= most), f"errors {slow * 2**24:.1f}, {quick * 2**24:.1f}"


def as_numbers(a: np.ndarray) -> np.ndarray:
    """Numbers of 16 bits without a sign are the upper halves of floats."""
    wide = (a.astype(np.uint32) << 16).view(np.float32) if a.dtype == np.uint16 else a
    return wide.astype(float)


def near_sums(left: np.ndarray, right: np.ndarray, found: np.ndarray) -> tuple[int, str]:
    """How many complex results are far from numpy's, for the magnitudes that are summed up."""
    most = (abs(left) @ abs(right)) * left.shape[1] * 2.0**-51
    far = int((~(abs(found - left @ right) <= most)).sum())
    return far, f"{far} of {found.size} are far"


def timed(
    kernel: Any, kind: str, left: np.ndarray, right: np.ndarray, layout: str = ""
) -> tuple[np.ndarray, float]:
    """The product, and its device time in ms."""
    (m, u), n = left.shape, right.shape[1]
    result = np.full((m, n), 7, DTYPES[kind])
    arrays = [x for a in (left, right, result) for x in laid_out(a, layout)]
    if layout == "planes":
        arrays = [*arrays[::2], *arrays[1::2]]
    names = [p.name for p in kernel.plan.written.params]
    times = kernel.again(9, **dict(zip(names, (m, u, n, *arrays))))
    if layout == "planes":
        result.real, result.imag = arrays[2], arrays[5]
    return result, float(np.median(times)) / 1e6


def laid_out(a: np.ndarray, layout: str) -> list[np.ndarray]:
    """The arrays of complex numbers."""
    match layout:
        case "planes":
            return [a.real.copy(), a.imag.copy()]
        case "structs":
            return [a.view([("re", np.float64), ("im", np.float64)])]
        case "pairs":
            return [a.view(np.float64).reshape(*a.shape, 2)]
        case _:
            return [a]


def by_torch(left: np.ndarray, right: np.ndarray, *, tf32: bool = False) -> float:
    """The median time of torch in ms, with floats as they are or of 11 bits (`tf32`); NaN where it
    has no such product."""
    torch: Any = importlib.import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = (torch.from_numpy(x).cuda() for x in (left, right))
    if left.dtype == np.uint16:
        a, b = a.view(torch.bfloat16), b.view(torch.bfloat16)
    product = torch.mm if a.dtype not in (torch.int8, torch.uint8) else torch._int_mm
    if left.dtype.itemsize == 2:  # the sums of halves are floats here
        product = partial(torch.mm, out_dtype=torch.float32)
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(12)]
    for begin, end in events:
        begin.record()
        try:
            product(a, b)
        except RuntimeError:
            return float("nan")
        end.record()
    torch.cuda.synchronize()
    return float(np.median([begin.elapsed_time(end) for begin, end in events[3:]]))


if __name__ == "__main__":
    sys.exit(main())
