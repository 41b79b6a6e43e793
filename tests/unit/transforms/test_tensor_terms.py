"""Tensorise with several products for each result: complex numbers of doubles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import Golden

from loopxform.codegen import emit
from loopxform.errors import TransformError
from loopxform.floating_point import PERMITTED, Level
from loopxform.frontend import parse_file
from loopxform.ir.visit import loops
from loopxform.recipes.tile import tile
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES
from loopxform.transforms import Derivation, step
from loopxform.verify.arith import fused
from loopxform.verify.group.execute import execute

H100 = PROFILES["h100"]
SIZES = {"Ty": 8, "Tx": 4, "Tk": 8, "Ry": 2, "Rx": 4}
HEAD = "const {0} {1}r[{2}][{3}], const {0} {1}i[{2}][{3}], "
PLANES = (
    "void f(int M, int U, int N, "
    + HEAD.format("double", "A", "M", "U")
    + HEAD.format("double", "B", "U", "N")
    + """double Cr[M][N], double Ci[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double re = 0, im = 0;
      for (int k = 0; k < U; k++) {
        re += Ar[i][k] * Br[k][j];
        re -= Ai[i][k] * Bi[k][j];
        im = im + Bi[k][j] * Ar[i][k] + Ai[i][k] * Br[k][j];
      }
      Cr[i][j] = re;
      Ci[i][j] = im;
    }
}
"""
)
JOINT = PLANES.replace("Br[k][j];\n        re -= Ai", "Br[k][j] - Ai")
CONJUGATED = PLANES.replace("re -=", "re +=").replace("+ Ai[i][k] * Br", "- Ai[i][k] * Br")
STRUCTS = """
struct number { double re, im; };
void f(int M, int U, int N, const struct number A[restrict M][U],
       const struct number B[restrict U][N], struct number C[restrict M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j].re = 0;
      C[i][j].im = 0;
      for (int k = 0; k < U; k++) {
        C[i][j].re += A[i][k].re * B[k][j].re;
        C[i][j].re -= A[i][k].im * B[k][j].im;
        C[i][j].im += A[i][k].re * B[k][j].im;
        C[i][j].im += A[i][k].im * B[k][j].re;
      }
    }
}
"""
PAIRS = """
void f(int M, int U, int N, const double A[restrict M][U][2], const double B[restrict U][N][2],
       double C[restrict M][N][2])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double re = 0, im = 0;
      for (int k = 0; k < U; k++) {
        re += A[i][k][0] * B[k][j][0];
        re -= A[i][k][1] * B[k][j][1];
        im += A[i][k][0] * B[k][j][1];
        im += A[i][k][1] * B[k][j][0];
      }
      C[i][j][0] = re;
      C[i][j][1] = im;
    }
}
"""
THREE = PLANES.replace("im = im +", "im = im + Ar[i][k] * Br[k][j] +")
ONE_SUM = """
void f(int M, int U, int N, const double Ar[M][U], const double Ai[M][U], const double Br[U][N],
       const double Bi[U][N], double Cr[M][N], double Ci[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      Cr[i][j] = 0;
      for (int k = 0; k < U; k++)
        Cr[i][j] = Cr[i][j] + Ar[i][k] * Br[k][j] - Bi[k][j] * Ai[i][k];
    }
}
"""
STEP = "tensorise k#1 16x8x2"


def mapped(text: str, options: Options, sizes: dict[str, int], level: Level) -> Derivation:
    (fn,) = parse_file("f.c", text=text).unit.functions
    asked = replace(options, tensor_units=options.tensor_units is not False, pack=0, index=64)
    asked = asked.within(PERMITTED[level])
    return tile(fn, SIZES | sizes, "register", H100, options=asked).derivation


def test_kernel_of_terms(golden: Golden) -> None:
    late = Options(stages=2, index=64, vector=1, async_copies=True, register_pipeline=True)
    derivation = mapped(PLANES, late, {}, "contract")
    golden.check(emit.kernel(derivation, fp=PERMITTED["contract"]).source)


@pytest.mark.parametrize(("text", "level"), [(THREE, "reassociate"), (JOINT, "contract")])
def test_other_sums_have_none(text: str, level: Level) -> None:
    """Sums of different numbers of products; products that C adds to each other first, unless sums
    may be in another order."""
    derivation = mapped(text, Options(stages=2), {}, level)
    assert not emit.kernel(derivation, fp=PERMITTED[level]).tile_products


def test_products_that_are_added_first_need_permission() -> None:
    """Whatever steps say."""
    derivation = mapped(JOINT, Options(stages=2), {}, "reassociate")
    assert any(s.loop.tensor for s in loops(derivation.function))
    assert emit.kernel(derivation, fp=PERMITTED["reassociate"]).tile_products
    assert not emit.kernel(derivation, fp=PERMITTED["contract"]).tile_products


def test_refused_terms() -> None:
    before = mapped(PLANES, Options(stages=2, tensor_units=False), {}, "contract")
    with pytest.raises(TransformError, match="not a product of two tiles"):
        before.then(step("tensorise k#1 16x8x4"))


# ---------------------------------------------------------------- runs

RUNS: dict[str, tuple[str, Options, dict[str, int], Level]] = {
    "planes": (PLANES, Options(stages=2), {}, "contract"),
    "ahead": (
        PLANES,
        Options(stages=3, async_copies=True, register_pipeline=True, swizzle_groups=2),
        {"Ty": 16, "Rx": 6, "Tx": 8},
        "contract",
    ),
    "joint": (JOINT, Options(stages=2, vector=2), {}, "reassociate"),
    "conjugated": (CONJUGATED, Options(stages=2, pad=True), {}, "contract"),
    "one-sum": (ONE_SUM, Options(stages=2), {}, "contract"),
    "structs": (STRUCTS, Options(stages=2, async_copies=True), {}, "contract"),
    "pairs": (
        PAIRS,
        Options(stages=3, async_copies=True, vector=2, register_pipeline=True),
        {},
        "contract",
    ),
    "pairs-beside-banks": (PAIRS, Options(stages=2), {"Tk": 4}, "contract"),
}
SHAPES = [(17, 16, 19), (9, 11, 18), (3, 1, 2)]


def numbers(text: str, m: int, u: int, n: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Arguments, and parts of the operands: numbers of mixed magnitudes; where the last terms are
    computed without tensor units, integers, so that it does not matter what is fused of these."""
    rng = np.random.default_rng(m + u + n)
    parts = {
        f"{name}{part}": rng.integers(-9, 10, shape).astype(float)
        if u % 8
        else rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, shape)
        for name, shape in (("A", (m, u)), ("B", (u, n)), ("C", (m, n)))
        for part in "ri"
    }
    if text in (STRUCTS, PAIRS):
        both = {x: np.stack([parts[f"{x}r"], parts[f"{x}i"]], axis=-1) for x in "ABC"}
        if text is STRUCTS:
            kind = np.dtype([("re", float), ("im", float)])
            both = {x: np.ascontiguousarray(a).view(kind)[..., 0] for x, a in both.items()}
        return {"M": m, "U": u, "N": n, **both}, parts
    return {"M": m, "U": u, "N": n, **{x: a.copy() for x, a in parts.items()}}, parts


def chains(parts: dict[str, np.ndarray], text: str) -> np.ndarray:
    """Each result, as a chain of fused multiply-adds."""
    (m, u), n = parts["Ar"].shape, parts["Br"].shape[1]
    minus = -1 if text is CONJUGATED else 1
    out = np.zeros((m, n, 2))
    for i, j, k in np.ndindex(m, n, u):
        ar, ai, br, bi = (
            float(parts[x][at])
            for x, at in zip(("Ar", "Ai", "Br", "Bi"), [(i, k)] * 2 + [(k, j)] * 2)
        )
        out[i, j, 0] = fused(-minus * ai, bi, fused(ar, br, out[i, j, 0]))
        out[i, j, 1] = fused(minus * ai, br, fused(ar, bi, out[i, j, 1]))
    return out


SLOW = ("conjugated", "one-sum", "pairs-beside-banks", "structs")


@pytest.mark.parametrize(
    "case", [pytest.param(x, marks=[pytest.mark.slow] if x in SLOW else []) for x in RUNS]
)
def test_terms_are_added_one_by_one(case: str) -> None:
    """By tensor units and by work-items: the same bits, those of the chain."""
    text, options, sizes, level = RUNS[case]
    plan = emit.kernel(mapped(text, options, sizes, level), fp=PERMITTED[level])
    assert [i.tile.name for i in plan.tile_products] == ["16x8x4"]
    for shape in SHAPES:
        args, parts = numbers(text, *shape)
        execute(plan, args, asynchronous=True)
        exact = chains(parts, text)
        if text in (STRUCTS, PAIRS):
            found = args["C"].view(float).reshape(shape[0], shape[2], 2)
        else:
            found = np.stack([args["Cr"], args["Ci"]], axis=-1)
        exact = exact[..., :1] if text is ONE_SUM else exact
        np.testing.assert_array_equal(found[..., : exact.shape[-1]], exact)


# ---------------------------------------------------------------- random sums


def random_sums(seed: int) -> tuple[str, list[list[tuple[int, str, str]]], dict[str, bool]]:
    """C with one to three sums of two products, in any order, with any signs, some operands
    turned; the terms of each sum, with their signs; which arrays are turned."""
    rng = np.random.default_rng(seed)
    turned = {n: bool(rng.integers(2)) for n in ("A0", "A1", "B0", "B1")}
    count = int(rng.integers(1, 4))
    sums = [list[tuple[int, str, str]]() for _ in range(count)]
    lines = list[str]()
    for s in rng.permutation([*range(count), *range(count)]):
        sign, a, b = int(rng.choice([1, -1])), f"A{rng.integers(2)}", f"B{rng.integers(2)}"
        sums[s].append((sign, a, b))
        left = f"{a}[k][i]" if turned[a] else f"{a}[i][k]"
        right = f"{b}[j][k]" if turned[b] else f"{b}[k][j]"
        product = " * ".join(rng.permutation([left, right]))
        if rng.integers(2):
            lines.append(f"s{s} {'+' if sign > 0 else '-'}= {product};")
        elif sign > 0 and rng.integers(2):
            lines.append(f"s{s} = {product} + s{s};")
        else:
            lines.append(f"s{s} = s{s} {'+' if sign > 0 else '-'} {product};")
    arrays = [
        f"const double {n}[{x}][{y}]"
        for n in turned
        for x, y in [(("M", "U") if n[0] == "A" else ("U", "N"))[:: -1 if turned[n] else 1]]
    ]
    arrays += [f"double C{s}[M][N]" for s in range(count)]
    body = "\n        ".join(lines)
    start = ", ".join(f"s{s} = 0" for s in range(count))
    end = " ".join(f"C{s}[i][j] = s{s};" for s in range(count))
    text = f"""
void f(int M, int U, int N, {", ".join(arrays)})
{{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {{
      double {start};
      for (int k = 0; k < U; k++) {{
        {body}
      }}
      {end}
    }}
}}
"""
    return text, sums, turned


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_sums(seed: int) -> None:
    """Of integers, so that sums are exact; with tensor units and without. Operands that are needed
    in more orders than there are of them have no registers for these."""
    text, sums, turned = random_sums(seed)
    rng = np.random.default_rng(seed)
    late = Options(stages=3, async_copies=True, register_pipeline=True)
    options = late if rng.integers(2) else Options(stages=2, vector=int(rng.integers(1, 3)))
    plan = emit.kernel(mapped(text, options, {}, "contract"), fp=PERMITTED["contract"])
    orders = [
        {tuple(a for _, a, _ in s) for s in sums},
        {tuple((x, b) for x, _, b in s) for s in sums},
    ]
    used = [{x[k] for s in sums for x in s} for k in (1, 2)]
    assert bool(plan.tile_products) == all(len(o) <= len(k) for o, k in zip(orders, used))
    m, u, n = (int(x) for x in rng.integers(1, 20, 3))
    plain = {
        x: rng.integers(-9, 10, (m, u) if x[0] == "A" else (u, n)).astype(float) for x in turned
    }
    for units in (True, False):
        args: dict[str, Any] = {"M": m, "U": u, "N": n}
        args |= {x: a.T.copy() if turned[x] else a.copy() for x, a in plain.items()}
        args |= {f"C{s}": np.full((m, n), 7.0) for s in range(len(sums))}
        execute(plan, args, asynchronous=units)
        for s, terms in enumerate(sums):
            exact = sum(sign * plain[a] @ plain[b] for sign, a, b in terms)
            assert np.array_equal(args[f"C{s}"], exact), (units, text)
