"""The nests of a step of time as templates of stages: what each of their assignments to elements
computes, with the scalars that it is computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Decl,
    Expr,
    For,
    Function,
    Load,
    Select,
    Var,
)
from loopxform.ir.types import INT, LONG, Scalar
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import LoopSite, Path, at, children, loads, names, walk_expr
from loopxform.transforms.overlapped.stages import NotStages, Template

PARALLEL = ("yes", "privatizable")

Scalars = list[tuple[str, Scalar, Expr]]
Types = dict[str, Scalar]


def stages_of(fn: Function, site: LoopSite) -> tuple[Template, ...]:
    """The stages of one step of a loop over time, whose body holds nothing but parallel nests.
    Raises NotStages."""
    paths: list[Path] = []
    for n, s in enumerate(site.loop.body):
        if isinstance(s, Decl) and not s.shape:
            continue
        if not isinstance(s, For):
            text = f"a statement stands beside the nests of the loop over '{site.loop.var}'"
            raise NotStages(text, s.origin.loc, "set scalars in the nests that use them")
        paths.append((*site.path, n))
    if not paths:
        raise NotStages("the loop holds no nest", site.loop.origin.loc)
    found = templates(fn, paths, {v.path: v for v in judge(fn)})
    fields = frozenset(t.target.array for t in found)
    return tuple(replace(t, exact=t.exact or looks_up(t, fields)) for t in found)


def templates(
    fn: Function, paths: Sequence[Path], verdicts: Mapping[Path, LoopVerdict]
) -> tuple[Template, ...]:
    """The stages of parallel nests. Raises NotStages."""
    found: list[Template] = []
    for path in paths:
        nest = at(fn, path)
        assert isinstance(nest, For)
        found += _of_nest(symbols(fn), nest, path, verdicts)
    return tuple(found)


def coordinate(found: tuple[Template, ...]) -> Scalar:
    """The type of coordinates: that of the loops, which all of them are numbers of."""
    return LONG if any(x.type.bytes > INT.bytes for t in found for x in t.loops) else INT


def _of_nest(
    types: Types, nest: For, path: Path, verdicts: Mapping[Path, LoopVerdict]
) -> Iterator[Template]:
    chain = [nest]
    _require_plain(nest, verdicts.get(path))
    while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], For):
        chain.append(chain[-1].body[0])
        path = (*path, 0)
        _require_plain(chain[-1], verdicts.get(path))
    types = {**types, **{s.name: s.type for s in chain[-1].body if isinstance(s, Decl)}}
    for x in chain:
        if _is_unsigned(x.lo, types) or _is_unsigned(x.hi, types):
            text = f"the bounds of '{x.var}' are unsigned: no number is less than the first one"
            raise NotStages(text, x.origin.loc, "compute them in an int or a long")
    scalars: Scalars = []
    lost = written = frozenset[str]()
    for s in chain[-1].body:
        match s:
            case Decl(_, _, ()):
                continue
            case Assign(Var(name), value, op):
                whole = Bin(op, Var(name), value) if op else value
                if _arrays(whole) & written or names(whole) & lost:
                    text = f"'{name}' is computed from an array that the nest writes besides"
                    raise NotStages(text, s.origin.loc, "write that array in a nest of its own")
                scalars.append((name, types[name], whole))
                lost -= {name}
            case Assign(Load() as target, value, op):
                whole = Bin(op, target, value) if op else value
                if used := sorted(names(whole) & lost):
                    text = f"'{used[0]}' is what was in an array before the nest wrote it"
                    raise NotStages(text, s.origin.loc, "write that array in a nest of its own")
                if any(_is_unsigned(e, types) for e in target.index):
                    text = f"'{target.array}' is written at an unsigned subscript"
                    raise NotStages(text, s.origin.loc, "compute it in an int or a long")
                divides = any(_divides(e, types) for e in (whole, *(e for _, _, e in scalars)))
                yield Template(target, whole, (*scalars,), (*chain,), divides, s.origin.loc)
                written |= {target.array}
                scalars, lost = _left(scalars, written)
            case _:
                text = "a nest holds more than assignments to elements and scalars"
                raise NotStages(text, s.origin.loc, "write a condition as c ? a : b")


def _left(scalars: Scalars, written: frozenset[str]) -> tuple[Scalars, frozenset[str]]:
    """The scalars that can still be computed after some arrays have been written, and the names of
    those that cannot."""
    left: Scalars = []
    lost = set[str]()
    for name, type, e in scalars:
        if _arrays(e) & written or names(e) & lost:
            lost.add(name)
        else:
            lost.discard(name)
            left.append((name, type, e))
    return left, frozenset(lost)


def _is_unsigned(e: Expr, types: Types) -> bool:
    type = type_of(e, types)
    return type.is_unsigned and type.bytes >= INT.bytes


def _require_plain(x: For, verdict: LoopVerdict | None) -> None:
    if not x.parallel and (verdict is None or verdict.parallel not in PARALLEL):
        raise NotStages(f"the loop over '{x.var}' is not parallel", x.origin.loc)
    if verdict is not None and verdict.copies and not x.parallel:
        text = f"the last value of '{verdict.copies[0]}' is used after the loop over '{x.var}'"
        raise NotStages(text, x.origin.loc, "declare it in the loop")
    if value_of(x.step) != 1 or x.live_out:
        text = f"the loop over '{x.var}' does not count upwards by 1"
        raise NotStages(text, x.origin.loc, "count upwards by 1, with a counter of the loop's own")
    if x.type.is_unsigned:
        text = f"'{x.var}' is unsigned: no number is less than the first one"
        raise NotStages(text, x.origin.loc, "count with an int or a long")


# ---------------------------------------------------------------- what data decide


def _divides(e: Expr, types: Types) -> bool:
    """Whether an expression divides integers by what need not be a number other than 0."""
    every = (x for x in walk_expr(e) if isinstance(x, Bin) and x.op in ("/", "%"))
    return any(type_of(x, types).is_integer and not value_of(x.right) for x in every)


def looks_up(t: Template, fields: frozenset[str]) -> bool:
    """Whether elements of `fields` say which elements of other arrays are read."""
    told = set[str]()
    for name, _, e in t.scalars:
        if _arrays(e) & fields or names(e) & told:
            told.add(name)

    def by_data(e: Expr) -> bool:
        return bool(_arrays(e) & fields or names(e) & told)

    def found(e: Expr, under: bool) -> bool:
        if isinstance(e, Load) and e.array not in fields and (under or any(map(by_data, e.index))):
            return True
        first, *rest = children(e) or (None,)
        choice = isinstance(e, Select) or (isinstance(e, Bin) and e.op in ("&&", "||"))
        below = under or (choice and first is not None and by_data(first))
        return (first is not None and found(first, under)) or any(found(x, below) for x in rest)

    return any(found(e, False) for e in t.values)


def _arrays(e: Expr) -> frozenset[str]:
    return frozenset(x.array for x in loads(e))
