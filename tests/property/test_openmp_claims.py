"""Random OpenMP claims on random nests, against what happens when the nests run."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from checks import elements_of, runs, same, shuffle
from machine import Event, Machine, carrier, observed, run
from test_dependences import programs

from loopxform.analysis.openmp import Claim, Finding, audit
from loopxform.ir.directives import Clause, Directive
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import Path, at, loops, writes

ALL = frozenset("tuw")


def directive(seed: str, path: Path, loop: For) -> Directive:
    """A claim on a loop, with whatever clauses come up."""
    r = random.Random(f"{seed} {path}")
    clauses = []
    for name in "tu":
        kind = r.choice(["", "private", "private", "lastprivate", "firstprivate", "reduction"])
        clauses += [Clause(kind, (name,), r.choice("+*") if kind == "reduction" else "")]
    inner = loop.body[0] if len(loop.body) == 1 else None
    if isinstance(inner, For) and r.random() < 0.5:
        clauses.append(Clause("collapse", number=2))
    if r.random() < 0.2:
        clauses.append(Clause("safelen", number=r.randint(1, 3)))
        return Directive(("simd",), _named(clauses), paths=(path,), later=ALL)
    return Directive(("parallel", "for"), _named(clauses), paths=(path,), later=ALL)


def _named(clauses: list[Clause]) -> tuple[Clause, ...]:
    return tuple(c for c in clauses if c.name)


def claims(name: str, fn: Function) -> Iterator[tuple[Directive, Claim]]:
    for site in loops(fn):
        d = directive(name, site.path, site.loop)
        (claim,) = audit(fn, (d,))
        yield d, claim


def check(name: str, fn: Function) -> Counter[str]:
    """What is proven runs in any order; what is refuted happens."""
    count: Counter[str] = Counter()
    for d, claim in claims(name, fn):
        if claim.proven:
            count["proven"] += 1
            no_race(name, fn, d, claim)
            any_order(name, fn, d, claim)
        for f in claim.findings:
            count[f.code] += 1
            happens(name, fn, d, claim, f)
    return count


def carriers(d: Directive, path: Path) -> tuple[Path, ...]:
    collapse = d.clause("collapse")
    return (path, (*path, 0)) if collapse and collapse.number == 2 else (path,)


def no_race(name: str, fn: Function, d: Directive, claim: Claim) -> None:
    mine = d.variables("private", "lastprivate", "firstprivate", "reduction")
    for machine in runs(fn):
        for first, second in observed(machine.events):
            if first.place[0] not in mine and carrier(first, second) in carriers(d, claim.path):
                assert d.has("simd"), (name, d, first)
                assert apart(d, first, second, claim.path), (name, d, first)


def apart(d: Directive, first: Event, second: Event, path: Path) -> bool:
    clause = d.clause("safelen")
    level = next(n for n, x in enumerate(first.iteration) if x[0] == path)
    (_, a, step), (_, b, _) = first.iteration[level], second.iteration[level]
    return (
        clause is not None and clause.number is not None and abs(b - a) >= clause.number * abs(step)
    )


def any_order(name: str, fn: Function, d: Directive, claim: Claim) -> None:
    if d.has("simd"):
        return
    written = writes((at(fn, claim.path),))
    spoilt = tuple(sorted(d.variables("private", "lastprivate") & written))
    copies = frozenset(d.variables("lastprivate"))
    order = dict.fromkeys(carriers(d, claim.path), shuffle(name))
    same(name, d, fn, fn, order=order, poison={claim.path: spoilt}, copies=copies)


def happens(name: str, fn: Function, d: Directive, claim: Claim, f: Finding) -> None:
    match f.code:
        case "LX300" | "LX304" | "LX306" if not re.search(r"\b[tu]=", f.witness or ""):
            m = at_witness(fn, f)
            assert m is None or _meets(m, d, claim, f.variable), (name, d, f)
        case "LX302":
            for m in runs(fn):
                assert _reads_first(m, claim.path, f.variable), (name, d, f)
        case "LX303":
            for m in runs(fn):
                assert _read_after(m, claim.path, f.variable), (name, d, f)


def at_witness(fn: Function, f: Finding) -> Machine | None:
    """A run with the sizes and the elements of a witness, None where it would take too long."""
    sizes = dict(re.findall(r"\b([MN])=(-?\d+)", f.witness or ""))
    params = {"M": 0, "N": 0} | {k: int(v) for k, v in sizes.items()}
    given = re.findall(r"\b(\w+\[[-\d, \]\[]+\])=(-?\d+)", f.witness or "")
    elements = {k: int(v) for k, v in given}
    try:
        return run(fn, params, elements_of(elements)) if max(params.values()) <= 12 else None
    except OverflowError:
        return None


def _meets(m: Machine, d: Directive, claim: Claim, variable: str) -> bool:
    """Every write against every access: `observed` looks at some pairs only."""
    mine = [(n, e) for n, e in enumerate(m.events) if e.place[0] == variable]
    pairs = (
        (a, b) if n < k else (b, a)
        for n, a in mine
        for k, b in mine
        if a.write and n != k and a.place == b.place
    )
    return any(carrier(a, b) in carriers(d, claim.path) for a, b in pairs)


def _first_of_iterations(m: Machine, path: Path, name: str) -> Iterator[Event]:
    """The first touch of a name in each iteration of a loop."""
    last = None
    for e in m.events:
        level = next((n for n, x in enumerate(e.iteration) if x[0] == path), None)
        if level is None or e.place[0] != name:
            continue
        if e.iteration[: level + 1] != last:
            last = e.iteration[: level + 1]
            yield e


def _reads_first(m: Machine, path: Path, name: str) -> bool:
    return not any(e.write for e in _first_of_iterations(m, path, name))


def _read_after(m: Machine, path: Path, name: str) -> bool:
    """Whether the value a loop leaves is read next; it may not have run."""
    inside = [n for n, e in enumerate(m.events) if any(x[0] == path for x in e.iteration)]
    rest = m.events[inside[-1] + 1 :] if inside else []
    after = next((e for e in rest if e.place[0] == name), None)
    return not inside or len(path) > 1 or (after is not None and not after.write)


@pytest.mark.parametrize("seed", [0])
def test_random_claims(seed: int) -> None:
    _check_all(seed, 20)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(300, 302))
def test_many_random_claims(seed: int) -> None:
    _check_all(seed, 300)


@pytest.mark.slow
def test_the_claims_reach_every_kind_of_answer() -> None:
    count: Counter[str] = Counter()
    for name, fn in programs(11, 100):
        count += check(name, fn)
    assert count["proven"] > 30
    assert all(count[code] > 0 for code in ("LX300", "LX302", "LX303", "LX304", "LX305", "LX306"))


def test_a_forgotten_dependence_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite fails where the audit overlooks races."""
    monkeypatch.setattr("loopxform.analysis.openmp.auditor.races", lambda _: ())
    with pytest.raises(AssertionError):
        _check_all(0, 40)


def _check_all(seed: int, count: int) -> None:
    for name, fn in programs(seed, count):
        check(name, fn)


def test_loops_are_claimed_where_they_are() -> None:
    for name, fn in programs(3, 5):
        assert all(isinstance(at(fn, claim.path), For) for _, claim in claims(name, fn))
