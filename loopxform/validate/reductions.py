"""Sums of whole numbers in another order: the same summands, each once.

A sum is taken apart into what was added since its start, partial sums of other groups and items
included. Two sums are equal where their summands can be paired one to one, each with its equal; the
pairs are those that read the same element of the user's arrays. For whole numbers any order gives
the same bits (C leaves it open what overflows, and the kernel's numbers wrap around alike).
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from loopxform.validate.flow import Flow, schedules
from loopxform.validate.model import Expr, Number, Operation, Read, Statement, Whole, operands_of
from loopxform.validate.polynomials import ONE, constant_of

NEUTRAL = {"+": 0, "|": 0, "^": 0, "*": 1}
IDEMPOTENT = frozenset(("min", "max", "|", "&"))


@dataclass(frozen=True)
class Sum:
    """Summands of one operator: expressions of statements, with the map from instances of the sum
    to those of the summand. `numbers` are those that the sums begin with."""

    operator: str
    summands: tuple[tuple[Statement, Expr, isl.Map], ...]
    numbers: tuple[tuple[Expr, isl.Set], ...]


def operator_of(e: Expr) -> str | None:
    """The operator of an accumulation that may be reordered."""
    e = bare(e)
    if isinstance(e, Operation) and e.type.whole:
        if e.name in ("+", "*", "min", "max", "&", "|", "^"):
            return e.name
        if e.name == "?:":
            return operator_of(e.operands[1]) or operator_of(e.operands[2])
    return None


def step_of(w: Statement) -> tuple[str, Expr] | None:
    """The operator and what is added, for a statement that adds to its own cell; with a condition
    the neutral element where it does not hold."""
    return _step(w.value, w)


def bare(e: Expr) -> Expr:
    """Without conversions that keep the bits."""
    while isinstance(e, Operation) and e.name == "cast" and e.type.whole:
        (x,) = e.operands
        narrow = isinstance(x, Operation) and x.name in ("min", "max")
        if not x.type.whole or (
            x.type.bits != e.type.bits
            and not (narrow and all(e.type.holds(y.type) for y in operands_of(x)))
        ):
            break
        e = x
    return e


def summand(e: Expr, operator: str, bits: int) -> Expr:
    """What counts of a summand in a sum of so many bits: how it was widened does not."""
    while (
        operator not in ("min", "max")
        and isinstance(e, Operation)
        and e.name == "cast"
        and e.type.whole
        and e.type.bits == bits
        and e.operands[0].type.whole
    ):
        e = e.operands[0]
    return e


def _step(e: Expr, w: Statement) -> tuple[str, Expr] | None:
    e = bare(e)
    if not isinstance(e, Operation) or not e.type.whole:
        return None
    if e.name == "?:":
        said, a, b = e.operands
        if _is_old(b, w) and (step := _step(a, w)) is not None and step[0] in NEUTRAL:
            neutral = Number(float(NEUTRAL[step[0]]), e.type)
            return step[0], Operation("?:", (said, step[1], neutral), e.type)
        return None
    if operator_of(e) is None or len(e.operands) != 2:
        return None
    a, b = e.operands
    for old, other in ((a, b), (b, a)):
        if _is_old(old, w):
            return e.name, summand(other, e.name, e.type.bits)
    return None


def _is_old(e: Expr, w: Statement) -> bool:
    e = bare(e)
    return (
        isinstance(e, Read)
        and e.array == w.array
        and bool(e.cells.intersect_domain(w.domain).is_equal(w.cells.intersect_domain(w.domain)))
    )


def sum_of(flow: Flow, w: Statement) -> Sum | None:
    """What a statement's value is the sum of; None where it is no sum."""
    step = step_of(w)
    if step is None:
        return None
    operator = step[0]
    statements = [s for s in flow.program.statements if s.array == w.array]
    adding = [s for s in statements if (x := step_of(s)) is not None and x[0] == operator]
    starting = [s for s in statements if s not in adding]
    begun = {s.name: _begun(flow, s, starting) for s in adding}
    if any(m is None for m in begun.values()):
        return None
    times = schedules(statements)
    earlier = None
    summands: list[tuple[Statement, Expr, isl.Map]] = []
    numbers: list[tuple[Expr, isl.Set]] = []
    for s in adding:
        mine, other = begun[w.name], begun[s.name]
        assert mine is not None
        assert other is not None
        for start, m in mine:
            for same_start, n in other:
                if start is not same_start:
                    continue
                together = m.apply_range(n.reverse())
                if earlier is None:
                    space = times[w.name].get_space().range()
                    earlier = isl.Map.lex_ge(space)
                order = times[w.name].apply_range(earlier).apply_range(times[s.name].reverse())
                together = together.intersect(order)
                if together.is_empty():
                    continue
                found = step_of(s)
                assert found is not None
                summands += _expanded(flow, operator, s, found[1], together)
    for start, m in begun[w.name] or ():
        value = start.value
        if number_of(value) is None:
            summands.append((start, value, m))
        else:
            numbers.append((value, m.domain()))
    return Sum(operator, tuple(summands), tuple(numbers))


def number_of(e: Expr) -> float | None:
    """The number that an expression is."""
    if isinstance(e, Number):
        return e.value
    if isinstance(e, Whole) and set(e.value.terms) <= {ONE}:
        n = constant_of(e.value.terms[ONE])
        return None if n is None else float(n)
    return None


def _begun(
    flow: Flow, s: Statement, starting: list[Statement]
) -> list[tuple[Statement, isl.Map]] | None:
    """Which store each accumulation goes back to."""
    old = next((x for x in s.reads() if _is_old(x, s)), None)
    if old is None:
        return None
    sources = flow.last_of(s, old.cells, starting)
    if not sources.start.is_empty():
        return None
    return list(sources.stores)


def _expanded(
    flow: Flow, operator: str, s: Statement, e: Expr, m: isl.Map
) -> list[tuple[Statement, Expr, isl.Map]]:
    """A summand, or those of the partial sum that it is."""
    e = bare(e)
    if not isinstance(e, Read):
        return [(s, e, m)]
    sources = flow.sources(s, e)
    if not sources.stores or not sources.start.is_empty():
        return [(s, e, m)]
    out: list[tuple[Statement, Expr, isl.Map]] = []
    for w, back in sources.stores:
        if isinstance(w.value, Read):
            parts = _expanded(flow, operator, w, w.value, m.apply_range(back))
            if parts and all(p[0] is not w for p in parts):
                out += parts
                continue
            return [(s, e, m)]
        inner = sum_of(flow, w)
        if inner is None:
            number = number_of(w.value)
            if number is None or number != NEUTRAL.get(operator):
                return [(s, e, m)]
            continue  # a partial sum of nothing
        if inner.operator != operator or any(
            number_of(n) != NEUTRAL.get(operator) and operator not in IDEMPOTENT
            for n, _ in inner.numbers
        ):
            return [(s, e, m)]
        to = m.apply_range(back)
        out += [(t, x, to.apply_range(n)) for t, x, n in inner.summands]
    return out


Summand = tuple[Statement, Expr]


def paired(
    x: Sum, y: Sum, user: Flow, kernel: Flow, relation: isl.Map
) -> list[tuple[Summand, Summand, isl.Map]] | None:
    """Which summands of the user's sum are which of the kernel's, for sums that are in `relation`:
    each of one sum is one of the other. None where that is not shown."""
    if not _same_numbers(x, y) or not relation.reverse().is_single_valued():
        return None
    firsts = [(s, e, m.intersect_domain(relation.domain())) for s, e, m in x.summands]
    seconds = [(s, e, m.intersect_domain(relation.range())) for s, e, m in y.summands]
    pairs: list[tuple[Summand, Summand, isl.Map]] = []
    found: list[list[isl.Map]] = []
    for s, e, m in firsts:
        row = []
        for t, f, n in seconds:
            both = m.reverse().apply_range(relation).apply_range(n)
            both = both.intersect(_same_elements(user, s, e, kernel, t, f, both))
            row.append(both.coalesce())
            if not both.is_empty():
                pairs.append(((s, e), (t, f), row[-1]))
        found.append(row)
    idempotent = x.operator in IDEMPOTENT
    if _covered(firsts, seconds, found, relation, once=not idempotent):
        return pairs
    return None


def is_empty_sum(x: Sum, e: Expr, instances: isl.Set) -> bool:
    """Whether a sum has no summands there, and is this number."""
    number = number_of(e)
    return (
        number is not None
        and number == NEUTRAL.get(x.operator)
        and all(number_of(n) == number for n, _ in x.numbers)
        and all(m.intersect_domain(instances).is_empty() for _, _, m in x.summands)
    )


def _same_numbers(x: Sum, y: Sum) -> bool:
    numbers = [{number_of(e) for e, _ in z.numbers} for z in (x, y)]
    neutral = NEUTRAL.get(x.operator)
    return numbers[0] == numbers[1] or all(n <= {neutral} for n in numbers)


def _covered(
    firsts: list[tuple[Statement, Expr, isl.Map]],
    seconds: list[tuple[Statement, Expr, isl.Map]],
    found: list[list[isl.Map]],
    relation: isl.Map,
    *,
    once: bool,
) -> bool:
    """Whether each summand of a sum has its equal in the other, and only one where that counts."""
    back = relation.reverse()
    for (_, _, m), row in zip(firsts, found):
        wanted = back.apply_range(m)
        reached = isl.Map.empty(wanted.get_space())
        for (_, _, n), both in zip(seconds, row):
            reached = reached.union(n.apply_range(both.reverse()))
        if not wanted.is_subset(reached):
            return False
    for k, (_, _, n) in enumerate(seconds):
        used = isl.Set.empty(n.get_space().range())
        for row in found:
            used = used.union(row[k].range())
            if once and not row[k].reverse().is_single_valued():
                return False
        if not n.range().is_subset(used):
            return False
        if once and not n.reverse().is_single_valued():
            return False
    return not once or _apart(seconds, found)


def _apart(seconds: list[tuple[Statement, Expr, isl.Map]], found: list[list[isl.Map]]) -> bool:
    """No two summands of one sum of the kernel are the same of the user's, and none is two."""
    for row in found:
        for j, (t, _, n) in enumerate(seconds):
            for k, (u, _, o) in enumerate(seconds):
                twice = row[j].reverse().apply_range(row[k])
                twice = twice.intersect(n.reverse().apply_range(o))
                if t is u and j == k:
                    space = twice.get_space()
                    twice = twice.subtract(isl.Map.identity(space))
                if not twice.is_empty():
                    return False
    for k in range(len(seconds)):
        seen = None
        for row in found:
            part = row[k].range()
            if seen is not None and not seen.intersect(part).is_empty():
                return False
            seen = part if seen is None else seen.union(part)
    return True


def _same_elements(
    user: Flow, s: Statement, e: Expr, kernel: Flow, t: Statement, f: Expr, both: isl.Map
) -> isl.Map:
    """Pairs that read the same elements of the user's arrays."""
    out = both
    for firsts, seconds in zip(_elements(user, s, e), _elements(kernel, t, f)):
        same = isl.Map.empty(both.get_space())
        for array, cells in firsts:
            for other, others in seconds:
                if array == other:
                    same = same.union(cells.apply_range(others.reverse()))
        out = out.intersect(same)
    return out


Elements = list[tuple[str, isl.Map]]


def _elements(flow: Flow, s: Statement, e: Expr) -> list[Elements]:
    """Of each read of an expression, which element it is of the user's arrays; what was computed
    stands for what it was computed from."""
    out: list[Elements] = []
    for read in (x for x in _in_order(e) if isinstance(x, Read)):
        sources = flow.sources(s, read)
        here: list[Elements] = []
        if not sources.start.is_empty():
            here.append([(read.array, read.cells.intersect_domain(sources.start))])
        for w, m in sources.stores:
            for n, elements in enumerate(_elements(flow, w, w.value) if step_of(w) is None else ()):
                while len(here) <= n:
                    here.append([])
                here[n] += [(a, m.apply_range(cells)) for a, cells in elements]
        out += here
    return out


def _in_order(e: Expr) -> list[Expr]:
    out: list[Expr] = [e]
    for x in operands_of(e):
        out += _in_order(x)
    return out
