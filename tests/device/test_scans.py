"""Loops with running values as whole functions: on a device, in the simulator, as C does."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
from harness import assert_runs_agree, simulate_all

import loopxform as lx
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Decl
from loopxform.ir.types import Space
from loopxform.ir.visit import loops, walk
from loopxform.targets.profile import PROFILES
from loopxform.targets.target import Limits
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.interp import Program


@dataclass(frozen=True)
class Case:
    """The parameters of a function, and its body."""

    body: str
    params: str = "int n, const int a[restrict n], int y[restrict n], int b[restrict n]"


def loop(body: str, before: str = "int s = 0;") -> str:
    return f"{before} for (int k = 0; k < n; k++) {{ {body} }}"


ONE = "int n, const int a[restrict n], int y[restrict n], int b[restrict 1]"
CASES = {
    "sum": Case(loop("s += a[k]; y[k] = s;")),
    "exclusive": Case(loop("y[k] = s; s += a[k];", "int s = b[0];") + " b[0] = s;", ONE),
    "in-place": Case("for (int k = 1; k < n; k++) b[k] += b[k - 1];"),
    "maximum": Case(
        loop("if (a[k] > s) s = a[k]; y[k] = s;", "float s = -1;"),
        "int n, const float a[restrict n], float y[restrict n]",
    ),
    "maximum-of-bytes": Case(
        loop("if (a[k] > s) s = a[k]; y[k] = s;", "int s = -1;"),
        "int n, const unsigned char a[restrict n], int y[restrict n]",
    ),
    "several": Case(
        loop(
            "s += a[k]; if (m < a[k]) m = a[k]; z ^= a[k]; y[k] = s - m;",
            "int s = 0, m = 0, z = 0;",
        )
        + " b[0] = z;",
        ONE,
    ),
    "linear": Case(loop("s = (unsigned)a[k] * s + b[k]; y[k] = s;", "unsigned s = 1;")),
    "polynomial": Case(loop("s = s * 31 + a[k];", "unsigned s = 7;") + " b[0] = s;", ONE),
    "segments": Case(loop("if (b[k] > 1) s = 0; s += a[k]; y[k] = s;")),
    "compaction": Case(loop("if (a[k] > 2) y[i++] = a[k];", "int i = 0;") + " b[0] = i;", ONE),
    "wide": Case(
        loop("s = s * 31 + a[k]; y[k] = s;", "unsigned long s = 1;"),
        "int n, const int a[restrict n], unsigned long y[restrict n]",
    ),
    "backwards": Case(
        "int s = b[0]; for (int k = n - 1; k >= 0; k--) { s += a[k]; y[k] = s; } b[0] = s;", ONE
    ),
    "the-next-element": Case("for (int k = n - 2; k >= 0; k--) b[k] += b[k + 1] * 3u;",
                             "int n, unsigned b[restrict n]"),
    "counted without a sign": Case(
        "int s = 0; for (unsigned k = 0; k < n; k++) { s += a[k]; y[k] = s; }",
        "unsigned n, const int a[restrict n], int y[restrict n]",
    ),
    "up to a wide end": Case(
        loop("if (a[k] > 2) y[i++] = a[k];", "int i = 0;") + " b[0] = i;",
        ONE.replace("int n", "unsigned long n"),
    ),
    "rows": Case(
        loop("for (int j = 0; j < 3; j++) s += a[k][j]; y[k] = s;"),
        "int n, const int a[restrict n][3], int y[restrict n]",
    ),
}  # fmt: skip


def text(case: Case) -> str:
    return f"void f({case.params}) {{ {case.body} }}\n"


def recipes(done: lx.OffloadedRoutine) -> list[str]:
    return [p.tiled.recipe for p in done.parts if p.tiled]


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    source = text(CASES[name])
    done = lx.loads(source)["f"].offload(contract=False)
    assert "scan" in recipes(done)
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    sizes = tuple({"n": n} for n in (0, 1, 2303, 2304, 2305, 70000))
    assert_runs_agree(plan, CSource(text=source), sizes, 3)


def in_one_pass(terms: int, window: int, alone: int = 16) -> Limits:
    """A device whose groups can wait for others."""
    costs = replace(PROFILES["generic"].costs, chained_terms=terms, look_back=window)
    costs = replace(costs, scan_terms=12, combined_alone=alone)
    return replace(PROFILES["generic"], forward_progress=True, costs=costs)


def chains(done: lx.OffloadedRoutine) -> int:
    return sum(bool(s.loop.chained) for s in loops(done.derivation.function))


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_in_one_pass(name: str) -> None:
    source = text(CASES[name])
    done = lx.loads(source)["f"].offload(contract=False, limits=in_one_pass(512, 64))
    assert chains(done) == 1
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    sizes = tuple({"n": n} for n in (0, 1, 511, 512, 513, 1025, 70000))
    assert_runs_agree(plan, CSource(text=source), sizes, 3)


REAL = Case(
    loop("s = 0.5f * s + a[k]; y[k] = s;", "float s = 1;"),
    "int n, const float a[restrict n], float y[restrict n]",
)


@pytest.mark.oclgrind
@pytest.mark.parametrize("chained", [False, True], ids=["parts", "one-pass"])
@pytest.mark.parametrize(
    "name", ["sum", "several", "linear", "segments", "compaction", "backwards", "real"]
)
def test_without_races(name: str, chained: bool) -> None:
    """In the simulator: no race, nothing out of bounds, nothing that was never set."""
    limits = replace(in_one_pass(12, 3, 2), forward_progress=chained, group_size=16)
    case = CASES.get(name, REAL)
    f = lx.loads(text(case))["f"]
    done = f.offload(contract=False, limits=limits, reassociate=case is REAL)
    assert chains(done) == chained
    plan = emit.kernel(done.derivation)
    given = [arguments(plan.start, {"n": n}, 5) for n in (0, 1, 12, 13, 200)]
    before = copy.deepcopy(given)
    report, after = simulate_all(plan, given)
    assert report.clean, report.findings
    for args, found in zip(before, after):
        Program(plan.start).run(args)
        rtol = 1e-5 if case is REAL else 0
        assert not compare({k: args[k] for k in found}, found, rtol=rtol)


@pytest.mark.device
@pytest.mark.parametrize("kind", ["float", "double"])
def test_sums_of_real_numbers_need_permission(kind: str) -> None:
    source = f"""void f(int n, const {kind} a[restrict n], {kind} y[restrict n])
      {{ {kind} s = 0; for (int k = 0; k < n; k++) {{ s += a[k]; y[k] = s; }} }}"""
    f = lx.loads(source)["f"]
    (plain,) = f.offload().parts
    assert plain.kind == "one work-item"
    assert "floating-point addition is not associative" in plain.why
    values = np.arange(9000, dtype=np.dtype("f4" if kind == "float" else "f8")) % 7
    sums = np.zeros_like(values)
    f.offload(reassociate=True).compile()(n=9000, a=values, y=sums)
    assert np.array_equal(sums, np.cumsum(values))


@pytest.mark.device
@pytest.mark.parametrize(("kind", "terms", "window"), [("float", 256, 1), ("double", 300, 7)])
def test_real_numbers_in_one_pass(kind: str, terms: int, window: int) -> None:
    """A sum of whole numbers, which is exact, and another one, which is the same in each run."""
    arrays = ", ".join(f"{kind} {name}[restrict n]" for name in "ayz")
    source = f"""void f(int n, const {arrays}) {{  {kind} s = 1, t = 2; for (int k = 0; k < n; k++)
      {{ s += a[k]; y[k] = s; t = ({kind})0.7 * t + a[k]; z[k] = t; }} }}"""
    done = lx.loads(source)["f"].offload(reassociate=True, limits=in_one_pass(terms, window))
    assert chains(done) == 1
    call, found = done.compile(), []
    a = np.arange(9000, dtype=np.dtype("f4" if kind == "float" else "f8")) % 7
    for _ in range(3):
        y, z = np.zeros_like(a), np.zeros_like(a)
        call(n=9000, a=a, y=y, z=z)
        assert np.array_equal(y, 1 + np.cumsum(a))
        found.append(z)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    t = 2.0
    for k in range(100):
        t = 0.7 * t + a[k]
        assert abs(found[0][k] - t) < 1e-4


@pytest.mark.parametrize("profile", ["h100", "mali"])
def test_what_fits_is_staged(profile: str) -> None:
    """Of doubles, and many arrays: as much as a group has room for."""
    names = "yzvwx"
    arrays = ", ".join(f"double {name}[restrict n]" for name in names)
    stores = " ".join(f"{name}[k] = m + {n};" for n, name in enumerate(names))
    source = f"""void f(int n, const double a[restrict n], {arrays})
      {{ double m = 0; for (int k = 0; k < n; k++) {{ if (a[k] > m) m = a[k]; {stores} }} }}"""
    done = lx.loads(source)["f"].offload(limits=profile)
    assert recipes(done).count("scan") == (1 if PROFILES[profile].forward_progress else 4)
    for part in done.parts:
        if part.tiled:
            fn = part.tiled.function
            local = [s for _, s in walk(fn.body) if isinstance(s, Decl) and s.space is Space.LOCAL]
            words = [s.type.bytes * (value_of(s.shape[0]) or 1) for s in local]
            assert 0 < sum(words) <= 4 * PROFILES[profile].local_bytes


@pytest.mark.device
def test_numbers_of_chunks_that_are_data() -> None:
    source = """void f(int n, const int a[n], const unsigned u[n], unsigned y[n], unsigned r[1]) {
      unsigned s = 1, t = 1;
      for (int k = 0; k < n; k++) {
        s = s * s + u[k];
        for (int j = 0; j < (a[k] & 3); j++) t = u[k];
        y[k] = s; }
      r[0] = t + s; }"""
    done = lx.loads(source)["f"].offload()
    assert recipes(done) == ["scan", "scan"]  # of t: how often s changes is no matter of theirs
    plan = emit.kernel(done.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=source), tuple({"n": n} for n in (0, 1, 40, 3000)), 3)
