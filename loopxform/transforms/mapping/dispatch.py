"""Dispatch over variants: S -> if (guard 1) S1 else if (guard 2) S2 ... else Sn.

Every variant is a schedule of its own: tile sizes, and steps from the program as it is, which may
rely on what they assume (step `assume`). Its guard is that, and when it pays; the host asks the
guards in order, when the program runs, and takes the first variant whose guard holds. The last
variant assumes nothing. Guards may compare with thresholds, which have names and values as tile
sizes have: `n>=suff_outer_par_0`. Legal where each step of each variant is, and changes nothing but
the nest.
(Loop versioning: Allen and Kennedy, section 5.11; thresholds: Rotendahl and Larsen, section 2.5.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import count, takewhile
from typing import Any, ClassVar

from loopxform.errors import Obstacle, TransformError, UsageError
from loopxform.ir.condition_text import condition, divides_by_zero
from loopxform.ir.device_facts import WARP
from loopxform.ir.memo import remembered
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Decl, Expr, For, Function, If, Opaque, Stmt, Tile, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.renaming import rename
from loopxform.ir.visit import LoopSite, at, map_expr, names, replace_at, walk, writes
from loopxform.records import record
from loopxform.transforms.base import Step, from_json
from loopxform.transforms.derivation import Derivation, Skipped, with_tiles
from loopxform.transforms.edges.bounds import conjunction
from loopxform.transforms.sites import one_loop, trusted
from loopxform.written import LARGEST_SIZE

KEYS = ("label", "about", "cost", "guard", "tiles", "steps")
"""Those of a variant in JSON."""


@record
class Variant:
    """A schedule under a guard: conditions that the host asks (`about` is that in words), what a
    tile costs by the model, the tile sizes, and the steps, which may assume what the guard asks.
    `derivation` is what they lead to, where that is known."""

    label: str
    about: str
    cost: str
    guard: tuple[str, ...]
    tiles: tuple[tuple[str, int], ...]
    steps: tuple[Step, ...]
    derivation: Derivation | None = field(default=None, compare=False, repr=False)

    def derive(self, fn: Function) -> Derivation:
        """The steps applied to `fn`. Raises TransformError."""
        if self.derivation is not None and self.derivation.start == with_tiles(fn, self.sizes):
            return self.derivation
        return _derived(fn, self)

    @property
    def sizes(self) -> dict[str, int]:
        """The tile sizes by name."""
        return dict(self.tiles)

    def to_json(self) -> dict[str, Any]:
        """An object with the fields but for `derivation`, those of KEYS."""
        said = {"label": self.label, "about": self.about, "cost": self.cost}
        return {
            **said,
            "guard": list(self.guard),
            "tiles": self.sizes,
            "steps": [s.to_json() for s in self.steps],
        }

    def conditions(self, thresholds: Mapping[str, int]) -> tuple[Expr, ...]:
        """The guard, with thresholds as named numbers, and what the device tells."""

        def named(e: Expr) -> Expr:
            if e == Var(WARP.name):
                return WARP
            if isinstance(e, Var) and e.name in thresholds:
                return Tile(e.name, thresholds[e.name], is_threshold=True)
            return e

        return tuple(map_expr(condition(text), named) for text in self.guard)


@remembered(256)
def _derived(fn: Function, v: Variant) -> Derivation:
    return Derivation(with_tiles(fn, v.sizes)).run(v.steps)


@record
class Dispatch(Step):
    """Lets the host choose between variants of the nest of `loop`; `thresholds` are what their
    guards compare with, by name."""

    loop: str
    variants: tuple[Variant, ...]
    thresholds: tuple[tuple[str, int], ...] = ()

    verb: ClassVar[str] = "dispatch"
    usage: ClassVar[str] = "dispatch LOOP VARIANTS (as `tile --json` writes it)"

    def is_in_order(self) -> bool:
        return all(s.is_in_order() for v in self.variants for s in v.steps)

    def __str__(self) -> str:
        return f"{self.verb} {self.loop} ({len(self.variants)} variants)"

    def to_json(self) -> dict[str, Any]:
        rows = [v.to_json() for v in self.variants]
        named = {"thresholds": dict(self.thresholds)} if self.thresholds else {}
        return {"step": self.verb, "loop": self.loop, **named, "variants": rows}

    @classmethod
    def of_values(cls, kinds: Mapping[str, type[Step]], values: Mapping[str, object]) -> Dispatch:
        loop, rows = values.get("loop"), values.get("variants")
        if not isinstance(loop, str) or not isinstance(rows, list):
            raise UsageError("dispatch needs a loop and a list of variants", help=cls.usage)
        thresholds = values.get("thresholds", {})
        if not isinstance(thresholds, dict) or not all(
            is_threshold(name, value) for name, value in thresholds.items()
        ):
            raise UsageError(f"not thresholds: {thresholds!r}", help=cls.usage)
        return cls(loop, tuple(_variant(kinds, row) for row in rows), tuple(thresholds.items()))

    def conditions(self, v: Variant) -> tuple[Expr, ...]:
        """The guard of a variant."""
        return v.conditions(dict(self.thresholds))

    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        site = one_loop(fn, self.loop)
        if isinstance(site, Obstacle):
            return (site,)
        taken = sorted(used_names(fn) & set(dict(self.thresholds)))
        if taken:
            text = f"a threshold is called '{taken[0]}', as something of the function is"
            return (_no(site, text, "give it another name"),)
        for v in self.variants:
            if problems := _problems(fn, site, v, self.conditions(v)):
                return problems
        if not self.variants or self.variants[-1].guard:
            text = "no variant serves what is left"
            return (_no(site, text, "end the list with a variant that has no guard"),)
        return ()

    def rewrite(self, fn: Function) -> Function:
        site = trusted(one_loop(fn, self.loop))
        rows = []
        for v in self.variants:
            body = _replaced(fn, site, v.derive(fn).function)
            assert body is not None
            rows.append((self.conditions(v), body))
        body = _with_own_names(fn, tuple(_chosen(rows)))
        return replace_at(fn, site.path, body)

    def reason(self, fn: Function) -> str:  # noqa: ARG002
        return "the same loops in every variant; the last one has no guard"


def _variant(kinds: Mapping[str, type[Step]], row: object) -> Variant:
    """What `to_json` wrote. Raises UsageError."""
    if not isinstance(row, dict) or set(row) != set(KEYS):
        raise UsageError(f"a variant has {', '.join(KEYS)}", help=Dispatch.usage)
    label, about, cost, guard, tiles, steps = (row[k] for k in KEYS)
    said = all(isinstance(x, str) for x in (label, about, cost))
    plain = said and all(isinstance(x, list) for x in (guard, steps))
    sized = isinstance(tiles, dict) and all(type(n) is int and n > 0 for n in tiles.values())
    if not plain or not sized:
        raise UsageError(f"not a variant: {label!r}", help=Dispatch.usage)
    for text in guard:
        try:
            condition(text if isinstance(text, str) else "")
        except ValueError as e:
            message = f"'{text}' is no condition on integers"
            raise UsageError(message, help="compare parameters and numbers") from e
    made = tuple(from_json(kinds, s) for s in steps)
    return Variant(label, about, cost, tuple(guard), tuple(tiles.items()), made)


def thresholds_of(derivation: Derivation) -> dict[str, int]:
    """The thresholds that the host compares with, by name, those of variants included."""
    return _thresholds(r.step for r in derivation.records)


def _thresholds(steps: Iterable[Step]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in steps:
        if isinstance(step, Dispatch):
            inner = (_thresholds(v.steps) for v in step.variants)
            found |= {name: n for own in inner for name, n in own.items()}
            found |= step.thresholds
    return found


def is_threshold(name: object, value: object) -> bool:
    """Whether a threshold has a name and a value that it can have."""
    named = isinstance(name, str) and name.isidentifier() and name.isascii()
    return named and type(value) is int and 0 <= value <= LARGEST_SIZE


def _problems(
    fn: Function, site: LoopSite, v: Variant, guard: tuple[Expr, ...]
) -> tuple[Obstacle, ...]:
    """Why a variant with such a guard cannot stand in the place of the nest."""
    clash = sorted((used_names(fn) - set(dict(fn.tiles))) & set(v.sizes))
    if clash:
        text = f"a tile size of '{v.label}' is called '{clash[0]}', as a variable is"
        return (_no(site, text, "give it another name"),)
    try:
        derivation = v.derive(fn)
    except TransformError as e:
        return e.obstacles
    if _replaced(fn, site, derivation.function) is None:
        return (_no(site, f"the variant '{v.label}' changes more than its nest", ""),)
    missing = [e for e in _assumed(fn, derivation) if e not in guard]
    if missing:
        text = f"the guard of '{v.label}' does not ask for {expr_text(missing[0])}"
        return (_no(site, text, "guards ask for all that the steps assume"),)
    return _unasked(fn, site, v, guard)


def _unasked(
    fn: Function, site: LoopSite, v: Variant, guard: tuple[Expr, ...]
) -> tuple[Obstacle, ...]:
    """What the host cannot ask of a guard."""
    fixed = {p.name for p in fn.objects if not p.array} - writes(fn.body)
    known = [*fn.assumes]
    for asked in guard:
        unknown = sorted(names(asked) - fixed)
        if unknown:
            text = f"the guard of '{v.label}' asks for '{unknown[0]}', which may change"
            return (_no(site, text, "ask for parameters that keep their value"),)
        if divides_by_zero(asked, known):
            text = f"the guard of '{v.label}' might divide by 0: {expr_text(asked)}"
            return (_no(site, text, "ask before whether the divisor is positive"),)
        known.append(asked)
    return ()


def _assumed(fn: Function, derivation: Derivation) -> list[Expr]:
    """What the steps of a variant assume."""
    return [e for e in derivation.function.assumes if e not in fn.assumes]


def _replaced(fn: Function, site: LoopSite, after: Function) -> tuple[Stmt, ...] | None:
    """What stands in the place of the nest in a program that was derived from `fn`; None where
    something else is different too."""
    *parents, n = site.path
    before, now = (_body(f, tuple(parents), n) for f in (fn, after))
    place = n if n >= 0 else -1 - n
    end = len(now) - (len(before) - place - 1)
    body = now[place:end]
    if replace(after, tiles=fn.tiles, assumes=fn.assumes) != replace_at(fn, site.path, body):
        return None
    return body


def _body(fn: Function, parents: tuple[int, ...], n: int) -> tuple[Stmt, ...]:
    """The list of statements that the one at the path (*parents, n) stands in."""
    if not parents:
        return fn.body
    s = at(fn, parents)
    if isinstance(s, If):
        return s.then if n >= 0 else s.orelse
    assert isinstance(s, For | Opaque)
    return s.body


def _chosen(rows: Sequence[tuple[tuple[Expr, ...], tuple[Stmt, ...]]]) -> Iterator[Stmt]:
    """The first body whose guard holds: what consecutive guards have in common is asked once, what
    their bodies begin with stands above what else they ask."""
    guard, body = rows[0]
    if not guard:
        yield from body
        return
    guards = [g for g, _ in rows]
    many = next((n for n in range(len(rows), 1, -1) if _is_group(guards[:n])), 1)
    group, rest = rows[:many], rows[many:]
    common = group[-1][0]
    inner = [(g[len(common) :], b) for g, b in group]
    shared = _beginning([b for _, b in inner]) if many > 1 else 0
    then = (*body[:shared], *_chosen([(g, b[shared:]) for g, b in inner]))
    yield If(conjunction(list(common)), then, tuple(_chosen(rest)), origin=body[-1].origin)


def _is_group(guards: Sequence[tuple[Expr, ...]]) -> bool:
    """Whether the last guard is what all begin with, so that one of them holds where it does."""
    common = guards[-1]
    return bool(common) and all(g[: len(common)] == common for g in guards)


def _beginning(bodies: Sequence[tuple[Stmt, ...]]) -> int:
    """How many statements all bodies begin with; each keeps one at least."""
    same = takewhile(lambda row: all(s == row[0] for s in row), zip(*bodies))
    return min(sum(1 for _ in same), min(map(len, bodies)) - 1)


def _with_own_names(fn: Function, whole: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Arrays of the device with names of their own, where two variants call theirs alike, or one
    calls something in a kernel so."""
    used = used_names(replace(fn, body=(*fn.body, *whole)))
    own_bodies = (s.body for _, s in walk(whole) if isinstance(s, For))
    declared = {s.name for body in own_bodies for s in body if isinstance(s, Decl)}

    def own(name: str) -> str:
        if name not in declared:
            return name
        return next(n for k in count(2) if (n := f"{name}_{k}") not in used | declared)

    def renamed(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        new: dict[str, str] = {}
        for s in body:
            if isinstance(s, Decl) and s.shape:
                new[s.name] = own(s.name)
                declared.add(new[s.name])
        body = rename(body, {n: to for n, to in new.items() if n != to})
        return tuple(
            replace(s, then=renamed(s.then), orelse=renamed(s.orelse)) if isinstance(s, If) else s
            for s in body
        )

    return renamed(whole)


def _no(site: LoopSite, text: str, remedy: str) -> Obstacle:
    return Obstacle("LX199", text, site.loop.origin.loc, remedy=remedy or None)


def steps(derivation: Derivation) -> Iterator[Step]:
    """The steps, those of all variants too."""
    for r in derivation.records:
        yield r.step
        for v in r.step.variants if isinstance(r.step, Dispatch) else ():
            yield from v.steps


def skipped(derivation: Derivation) -> Iterator[Skipped]:
    """Optional steps that are not legal, those of variants too."""
    yield from derivation.skipped
    for step in (r.step for r in derivation.records):
        for v in step.variants if isinstance(step, Dispatch) else ():
            yield from v.derivation.skipped if v.derivation else ()
