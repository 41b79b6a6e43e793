"""The only home of islpy: sets built by name, asked what exact elimination could not answer.

isl's tuples are positional; here a set is always built from named constraints with its dimensions
listed beside them, so two sets meet only over the same list of names. The library is loaded at the
first question (50 ms of CPU time that most programs never pay).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from loopxform.analysis.linear import Conj, Constraint, Dnf, conj_names
from loopxform.budget import give_up, seconds_left, spend
from loopxform.ir.memo import Table

if TYPE_CHECKING:
    import islpy

T = TypeVar("T")

MAX_OPERATIONS = 2_000_000
"""isl's own measure of work per question (about a second); beyond it the answer is unknown."""

OPERATIONS = 1_000_000
"""Those of a second, at least: a question gets no more than the time that is left."""


MOST_DIMENSIONS = 40
"""Dimensions and parameters of a set: with more of them single operations of isl take seconds."""


class TooHard(Exception):
    """isl exceeded the number of operations a question may cost."""


@cache
def context() -> islpy.Context:
    import islpy

    return islpy.DEFAULT_CONTEXT


def bounded(question: Callable[[], T]) -> T:
    """Asks isl within the limit on operations; raises `Exhausted` where it is the time left that
    is too short for the question."""
    spend()
    import islpy

    ctx = context()
    left = seconds_left() * OPERATIONS
    ctx.set_max_operations(int(min(MAX_OPERATIONS, left + 1)))
    ctx.reset_operations()
    try:
        return question()
    except islpy.Error as e:
        if left < MAX_OPERATIONS:
            give_up()
        raise TooHard(str(e)) from e


def _term(name: str, index: dict[str, str], c: int) -> str:
    return f"{c}*{index[name]}" if name else str(c)


def _constraint(c: Constraint, index: dict[str, str]) -> str:
    terms = " + ".join(_term(k, index, v) for k, v in c.lin.items()) or "0"
    return f"{terms} {'=' if c.eq else '>='} 0"


def _case(conj: Conj, index: dict[str, str], dims: frozenset[str]) -> str:
    hidden = sorted(conj_names(conj) - dims)
    index = {**index, **{name: f"e{n}" for n, name in enumerate(hidden)}}
    text = " and ".join(_constraint(c, index) for c in conj) or "0 = 0"
    quantified = ", ".join(index[name] for name in hidden)
    return f"exists {quantified} : {text}" if hidden else text


def build(dnf: Dnf, dims: Sequence[str], params: Sequence[str] = ()) -> islpy.Set:
    """The set `[params] -> { [dims] : dnf }`; every other name is existentially quantified.

    isl sees `d0, d1, ...` and `p0, p1, ...`: names of C may be keywords of isl.
    """
    import islpy

    head, members, cases = _texts(dnf, dims, params)
    text = f"{head}{{ [{', '.join(members)}] : {cases} }}"
    found = _built.get(text)
    if found is None:
        found = bounded(lambda: islpy.Set(text, context()))
        _built.put(text, found)
    return found


_built = Table["islpy.Set"](512)


def relation(
    dnf: Dnf, label: str, dims: Sequence[str], target: Sequence[str], params: Sequence[str]
) -> islpy.Map:
    """The map `[params] -> { label[dims] -> [target] : dnf }`, as `build` makes sets."""
    import islpy

    head, members, cases = _texts(dnf, (*dims, *target), params)
    source, image = ", ".join(members[: len(dims)]), ", ".join(members[len(dims) :])
    text = f"{head}{{ {label}[{source}] -> [{image}] : {cases} }}"
    return bounded(lambda: islpy.Map(text, context()))


def _texts(dnf: Dnf, dims: Sequence[str], params: Sequence[str]) -> tuple[str, list[str], str]:
    """For isl: the parameters in front, the names of the dimensions, the formula."""
    if len(dims) + len(params) > MOST_DIMENSIONS:
        raise TooHard(f"{len(dims) + len(params)} dimensions")
    index = {name: f"d{n}" for n, name in enumerate(dims)}
    index |= {name: f"p{n}" for n, name in enumerate(params)}
    head = f"[{', '.join(index[p] for p in params)}] -> " if params else ""
    known = frozenset(index)
    cases = " or ".join(f"({_case(conj, index, known)})" for conj in dnf) or "1 = 0"
    return head, [index[d] for d in dims], cases


def sample(conj: Sequence[Constraint]) -> dict[str, int] | None:
    """An integer point of a conjunction, or None."""
    dims = sorted(conj_names(conj))
    return _point(build((tuple(conj),), dims), dims)


def _point(found: islpy.Set, dims: Sequence[str]) -> dict[str, int] | None:
    def question() -> dict[str, int] | None:
        import islpy

        point = found.sample_point()
        if point.is_void():
            return None
        return {
            name: point.get_coordinate_val(islpy.dim_type.set, n).to_python()
            for n, name in enumerate(dims)
        }

    return bounded(question)


def covers(whole: Dnf, parts: Iterable[Dnf], dims: Sequence[str]) -> bool:
    """Whether every point of `whole` (over `dims`) lies in one of the parts; the names of a part
    outside `dims` are existentially quantified."""
    return bounded(_uncovered(whole, parts, dims).is_empty)


def uncovered(whole: Dnf, parts: Iterable[Dnf], dims: Sequence[str]) -> dict[str, int] | None:
    """A point of `whole` (over `dims`) that lies in none of the parts, or None."""
    return _point(_uncovered(whole, parts, dims), dims)


def _uncovered(whole: Dnf, parts: Iterable[Dnf], dims: Sequence[str]) -> islpy.Set:
    rest = build(whole, dims)
    for dnf in parts:
        part = build(dnf, dims)
        rest = bounded(partial(rest.subtract, part))
    return rest
