"""The corpus of vectorisation ideas: `check` says what the comments state, and runs agree."""

from __future__ import annotations

import pathlib
import random
import shutil
import subprocess
from collections import Counter

import pytest
from corpus_comments import FILES, Stated, parse, stated
from corpus_machine import Collision, Run, collisions, runs

from loopxform.analysis.deps import dependences
from loopxform.analysis.verdict import LoopVerdict, is_inlined, judge
from loopxform.frontend import parse_file
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import Path, walk

every_file = pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def functions(file: pathlib.Path) -> tuple[Function, ...]:
    return parse_file(str(file)).unit.functions


# ---------------------------------------------------------------- what check says


@every_file
def test_check_says_what_is_stated(file: pathlib.Path) -> None:
    said = stated(file.read_text())
    found = [(fn, v) for fn in functions(file) for v in judge(fn)]
    lines = Counter(v.loc.line for _, v in found if v.loc)
    assert lines == dict.fromkeys(said, 1)
    for fn, v in found:
        assert v.loc is not None
        s = said[v.loc.line]
        assert v.parallel == s.verdict, (s, v)
        if v.parallel in ("reduction", "privatizable"):
            assert set(v.private) == s.names, (s, v)
            assert {(r.op, r.array) for r in v.reductions} == s.reductions, (s, v)
        if v.parallel == "no":
            assert_row(fn, v, s)


def assert_row(fn: Function, v: LoopVerdict, s: Stated) -> None:
    """The matrix has the dependence that is stated, proven, with its distance."""
    rows = [d for d in dependences(fn, v.path) if d.carrier == v.path and d.exact]
    mine = [d for d in rows if (d.kind, d.array) == (s.kind, s.name)]
    assert mine, (s, rows)
    if s.distance is not None:
        assert {d.distance[0] for d in mine} == {s.distance}, (s, mine)


@needs_compiler
@every_file
def test_compilers_have_no_objection(file: pathlib.Path) -> None:
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(file)]
    subprocess.run(command, check=True)


# ---------------------------------------------------------------- what runs say


def check_runs(fn: Function, said: dict[int, Stated]) -> Counter[str]:
    """Every statement about a loop of `fn` against runs of it; how many held, by their truth."""
    held: Counter[str] = Counter()
    seen = [(run, collisions(run)) for run in runs(fn)]
    for path, s in walk(fn.body):
        if isinstance(s, For) and not is_inlined(s):
            assert s.origin.loc is not None
            stated = said[s.origin.loc.line]
            check_loop(fn, path, stated, seen)
            held[stated.truth] += 1
    return held


def check_loop(
    fn: Function, path: Path, s: Stated, seen: list[tuple[Run, dict[Path, set[Collision]]]]
) -> None:
    turning = [
        (run.sizes, ways.get(path, set())) for run, ways in seen if run.turns.get(path, 0) > 1
    ]
    ways = [way for _, way in turning]
    assert ways, (s, "no run has two iterations")
    carried = set[Collision]().union(*ways)
    mine = [{c for c in way if c[:2] == (s.kind, s.name)} for way in ways]
    match s.truth:
        case "yes":
            assert not carried, (s, carried)
        case "no":
            assert any(mine), (s, carried)
            assert always(turning), (s, "data decide")
            if s.distance is not None:
                assert {gap for way in mine for *_, gap in way} == {s.distance}, (s, mine)
        case "unknown":
            assert any(mine), (s, carried)
            assert not always(turning), (s, "whatever the data are")
        case _:
            names = s.names | {name for _, name in s.reductions}
            counts = {x.var for p, x in walk(fn.body) if isinstance(x, For) and p == path}
            assert names - counts == {name for _, name, _ in carried}, (s, carried)
            if not any(op.startswith("arg") for op, _ in s.reductions):
                assert_any_order(fn, path, s)


def always(ways: list[tuple[int, set[Collision]]]) -> bool:
    """Whether for some sizes the loop carries something whatever the data are."""
    return any(all(way for size, way in ways if size == n) for n in {size for size, _ in ways})


def assert_any_order(fn: Function, path: Path, s: Stated) -> None:
    """Iterations in another order, their private variables spoilt, leave the same behind."""

    def shuffled(values: list[int]) -> list[int]:
        out = list(values)
        random.Random(len(out)).shuffle(out)
        return out

    private = {path: tuple(s.names)}
    others = runs(fn, order={path: shuffled}, poison=private, copies=s.names)
    for one, two in zip(runs(fn), others, strict=True):
        assert left(fn, one) == left(fn, two), (s, one.params)


def left(fn: Function, run: Run) -> dict[object, int]:
    names = {p.name for p in fn.objects}
    return {place: value for place, value in run.memory.items() if place[0] in names}


def is_modelled(fn: Function) -> bool:
    return not any(isinstance(s, Opaque) for _, s in walk(fn.body))


@every_file
def test_runs_agree(file: pathlib.Path) -> None:
    said = stated(file.read_text())
    held = sum((check_runs(f, said) for f in functions(file) if is_modelled(f)), Counter[str]())
    assert held.total() > 1, held


def test_most_loops_were_run() -> None:
    """Loops of functions that are not modelled are judged, but there is nothing to run."""
    said = [stated(file.read_text()) for file in FILES]
    loops = [
        said[n][s.origin.loc.line]
        for n, file in enumerate(FILES)
        for fn in functions(file)
        for _, s in walk(fn.body)
        if isinstance(s, For) and s.origin.loc and not is_inlined(s) and is_modelled(fn)
    ]
    everything = [s for found in said for s in found.values()]
    assert len(everything) - len(loops) <= 16
    assert {s.truth for s in loops} == {"yes", "no", "reduction", "privatizable", "unknown"}


# ---------------------------------------------------------------- that they can disagree

CHAIN = "void f(int n, double a[n]) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }"
UNDER_DATA = CHAIN.replace("a[i] =", "if (a[0] > i) a[i] =")
SUM = (
    "void f(int n, double a[n]) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; a[0] = s; }"
)
COPY = "void f(int n, double a[n], double b[n]) { for (int i = 0; i < n; i++) a[i] = b[i]; }"
KEPT = "void f(int n, int a[n]) { int t = 0; for (int i = 0; i < n; i++) { a[i] = t; t = i; } }"


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        (CHAIN, "yes"),
        (CHAIN, "no: anti of a"),
        (CHAIN, "no: flow of a, distance 2"),
        (CHAIN, "unknown: flow of a"),
        (CHAIN, "reduction + of a"),
        (UNDER_DATA, "no: flow of a"),
        (SUM, "yes"),
        (SUM, "reduction + of a"),
        (COPY, "no: flow of a"),
        (COPY, "no (unknown): output of b"),
        (KEPT, "privatizable t"),
        (KEPT, "reduction + of t"),
    ],
)
def test_runs_refute_what_is_wrong(text: str, comment: str) -> None:
    (fn,) = parse_file("f.c", text=text).unit.functions
    with pytest.raises(AssertionError):
        check_runs(fn, {1: parse(1, comment)})


@pytest.mark.parametrize(
    "text",
    ["for (;;) x = 1;", "for (;;) /* perhaps */", "for (;;) /* no: flow */", "for (;;) { /* yes"],
)
def test_every_loop_states_a_verdict(text: str) -> None:
    with pytest.raises(AssertionError):
        stated(text)
