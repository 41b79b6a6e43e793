"""The protocol of a step, and the derivation that checks, applies, records and replays steps.

A step is plain data. `check` says why it may not be applied (nothing: it may), `rewrite` relies on
that, `reason` says in a sentence why the result means the same. `Derivation.then` is the only
caller that joins them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, fields, replace
from typing import Any, ClassVar

from loopxform.analysis.context import always
from loopxform.errors import Obstacle, TransformError, UsageError
from loopxform.ir import wellformed
from loopxform.ir.affine import value_of
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Bin, Const, Expr, For, Function, Load, Opaque, Tile
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    loops,
    names,
    replace_at,
    resolve,
    walk,
    walk_expr,
    writes,
)

LARGEST_TILE = 1 << 20
"""Products of tile sizes and steps stay far from the range of int."""

# fmt: off
KEYWORDS = frozenset([
    "auto", "bool", "break", "case", "char", "const", "constant", "continue", "default", "do",
    "double", "else", "enum", "extern", "false", "float", "for", "forall", "global", "goto", "half",
    "if", "inline", "int", "kernel", "local", "long", "max", "min", "private", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true",
    "typedef", "uchar", "uint", "ulong", "union", "unsigned", "ushort", "void", "volatile", "while",
])
# fmt: on
"""Words of C, OpenCL C and the listing, which no new name may be."""


class Step(ABC):
    """One transformation with its parameters. Subclasses are frozen dataclasses whose fields are
    strings, integers or tuples of strings, so that a step is also a line of text and of JSON."""

    verb: ClassVar[str]
    usage: ClassVar[str]
    keeps_order: ClassVar[bool] = False
    """Whether statements run in the order they did, and touch what they did: then it makes no
    difference which arrays overlap."""

    @abstractmethod
    def check(self, fn: Function) -> tuple[Obstacle, ...]:
        """Every obstacle that can be seen; pure and total."""

    @abstractmethod
    def rewrite(self, fn: Function) -> Function:
        """The transformed function; may trust that `check` found nothing."""

    @abstractmethod
    def reason(self, fn: Function) -> str:
        """Why the step is legal on `fn` (asked before rewriting)."""

    def __str__(self) -> str:
        return " ".join([self.verb, *_words(self)])

    def to_json(self) -> dict[str, Any]:
        """`{"step": "stripmine", "loop": "i", "size": "Ty*Ry", "outer": "iii"}`."""
        plain = asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass
        listed = {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}
        return {"step": self.verb, **listed}


def _words(step: Step) -> Iterator[str]:
    for f in fields(step):  # type: ignore[arg-type]  # every subclass is a dataclass
        value = getattr(step, f.name)
        if value in ("", ()) and f.default is not MISSING:
            continue
        yield ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def from_text(kinds: Mapping[str, type[Step]], text: str) -> Step:
    """Parses `stripmine i 64`. Raises UsageError with the usage of the verb."""
    words = text.split()
    if not words or words[0] not in kinds:
        known = ", ".join(sorted(kinds))
        raise UsageError(
            f"'{words[0] if words else text}' is not a step", code="LX020", help=f"steps: {known}"
        )
    kind = kinds[words[0]]
    wanted = fields(kind)  # type: ignore[arg-type]  # every subclass is a dataclass
    required = [f for f in wanted if f.default is MISSING]
    if not len(required) <= len(words) - 1 <= len(wanted):
        raise UsageError(f"'{text}' has the wrong number of words", help=f"usage: {kind.usage}")
    return _build(kind, {f.name: w for f, w in zip(wanted, words[1:])})


def from_json(kinds: Mapping[str, type[Step]], data: object) -> Step:
    """The step that `to_json` wrote. Raises UsageError on anything else."""
    if not isinstance(data, dict) or str(data.get("step")) not in kinds:
        known = ", ".join(sorted(kinds))
        raise UsageError(f"not a step: {data!r}", help=f'"step" is one of {known}')
    kind = kinds[str(data["step"])]
    known_fields = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    extra = set(data) - known_fields - {"step"}
    if extra:
        raise UsageError(
            f"{data['step']} has no parameter {sorted(extra)[0]!r}", help=f"usage: {kind.usage}"
        )
    return _build(kind, {k: v for k, v in data.items() if k != "step"})


def _build(kind: type[Step], values: Mapping[str, object]) -> Step:
    made: dict[str, object] = {}
    for f in fields(kind):  # type: ignore[arg-type]  # every subclass is a dataclass
        if f.name not in values:
            if f.default is MISSING:
                raise UsageError(f"{kind.verb} needs {f.name!r}", help=f"usage: {kind.usage}")
            continue
        raw = values[f.name]
        if str(f.type).startswith("tuple"):
            parts = raw.split(",") if isinstance(raw, str) else raw
            if not isinstance(parts, list | tuple):
                raise UsageError(f"{kind.verb}: {f.name!r} is a list", help=f"usage: {kind.usage}")
            made[f.name] = tuple(_word(kind, f.name, p) for p in parts)
        else:
            made[f.name] = _word(kind, f.name, raw)
    return kind(**made)


def _word(kind: type[Step], name: str, raw: object) -> str:
    """A name or a number; nothing else stands for a parameter."""
    if isinstance(raw, str) or (isinstance(raw, int) and not isinstance(raw, bool)):
        return str(raw)
    raise UsageError(
        f"{kind.verb}: {name!r} cannot be {raw!r}", help=f"a name or a number; usage: {kind.usage}"
    )


# ---------------------------------------------------------------- what steps ask about loops


def one_loop(fn: Function, ref: str) -> LoopSite | Obstacle:
    """The loop a reference names, or the obstacle: none, or more than one."""
    found = resolve(fn, ref)
    if len(found) == 1:
        return found[0]
    if not found:
        known = ", ".join(dict.fromkeys(s.loop.var for s in loops(fn))) or "none"
        opaque = next((s for _, s in walk(fn.body) if isinstance(s, Opaque) and s.loop), None)
        why = f"; that at {opaque.origin.loc} is not modelled: {opaque.reason}" if opaque else ""
        return Obstacle(
            "LX021",
            f"there is no loop over '{ref}'",
            fn.origin.loc,
            remedy=f"the loops of {fn.name} are: {known}{why}",
        )
    choices = ", ".join(f"{ref.rstrip('*')}#{n + 1}" for n in range(len(found)))
    return Obstacle(
        "LX022",
        f"{len(found)} loops run over '{ref}'",
        found[1].loop.origin.loc,
        remedy=f"say which one: {choices}",
    )


def for_each(
    sites: tuple[LoopSite, ...], question: Callable[[LoopSite], Iterable[Obstacle]]
) -> tuple[Obstacle, ...]:
    """The obstacles of several loops; the copies of one loop of the user's share theirs."""
    return tuple(dict.fromkeys(o for s in sites for o in question(s)))


def some_loops(fn: Function, ref: str) -> tuple[LoopSite, ...] | Obstacle:
    """The loops a reference with `*` may name several of."""
    found = resolve(fn, ref)
    if found and (len(found) == 1 or ref.endswith("*")):
        return found
    one = one_loop(fn, ref)
    assert isinstance(one, Obstacle)
    return one


def rewrite_loops(fn: Function, ref: str, change: Callable[[For], For]) -> Function:
    """`fn` with every loop that `ref` names replaced by `change(loop)`."""
    for site in reversed(resolve(fn, ref)):
        loop = at(fn, site.path)
        assert isinstance(loop, For)
        fn = replace_at(fn, site.path, (change(loop),))
    return fn


def trusted(found: LoopSite | Obstacle) -> LoopSite:
    """Inside `rewrite`, where `check` has already found the loop."""
    assert isinstance(found, LoopSite)
    return found


def parse_size(fn: Function, text: str) -> Expr | Obstacle:
    """A tile size: a positive number, the name of a tile size, or a product of these."""
    tiles = dict(fn.tiles)
    out: Expr | None = None
    for word in text.replace(" ", "").split("*"):
        factor: Expr
        if word in tiles:
            factor = Tile(word, tiles[word])
        elif word.isdecimal() and word.isascii() and len(word) < 10:
            factor = Const(int(word))
        else:
            return Obstacle(
                "LX023",
                f"'{text}' is not a tile size",
                remedy="a size is a positive integer, a named tile size, or a product: 64, Ty*Ry",
            )
        out = factor if out is None else Bin("*", out, factor)
    assert out is not None
    if not 0 < (value_of(out) or 0) <= LARGEST_TILE:
        return Obstacle(
            "LX023",
            f"tile size '{text}' is not between 1 and {LARGEST_TILE}",
            remedy="a tile is a small part of the loop",
        )
    return out


def new_name(fn: Function, name: str, site: LoopSite) -> tuple[Obstacle, ...]:
    """A name the user gives to something new ("" lets the step choose) must be free."""
    if not name:
        return ()
    is_name = name.isidentifier() and name.isascii() and name not in KEYWORDS
    if is_name and name not in used_names(fn):
        return ()
    return (
        Obstacle(
            "LX024",
            f"'{name}' {'is taken' if is_name else 'is not a name'}",
            site.loop.origin.loc,
            remedy="leave the name out, or choose another",
        ),
    )


def whole_loop(site: LoopSite) -> tuple[Obstacle, ...]:
    """Steps that change the values a loop variable takes: it must not be read after the loop."""
    loop = site.loop
    if loop.live_out:
        return (
            Obstacle(
                "LX130",
                f"'{loop.var}' is read after the loop over it ends",
                loop.origin.loc,
                remedy=f"declare it in the loop: for ({loop.type} {loop.var} = ...), "
                "or copy its last value to another variable",
            ),
        )
    return ()


def fixed_header(site: LoopSite) -> tuple[Obstacle, ...]:
    """Steps that compute with the bounds: the body must not change what they mention."""
    loop = site.loop
    header = names(loop.lo) | names(loop.hi) | names(loop.step)
    changed = header & (writes(loop.body) | {loop.var})
    if not changed:
        return ()
    return (
        Obstacle(
            "LX112",
            f"the loop over '{loop.var}' writes '{min(changed)}', on which its bounds depend",
            loop.origin.loc,
            remedy="copy the bound into another variable before the loop",
        ),
    )


def unmapped(site: LoopSite, verb: str) -> tuple[Obstacle, ...]:
    """Steps that reshape a loop come before it is mapped to hardware."""
    loop = site.loop
    if loop.level is None:
        return ()
    return (
        Obstacle(
            "LX132",
            f"the loop over '{loop.var}' is mapped to {loop.level}",
            loop.origin.loc,
            remedy=f"{verb} before mapping",
        ),
    )


def no_wrap(fn: Function, site: LoopSite) -> tuple[Obstacle, ...]:
    """Steps that compute `hi - lo`: where that is unsigned, it must be known not to wrap."""
    loop, types = site.loop, symbols(fn)
    header = [loop.type, *(type_of(e, types) for e in (loop.lo, loop.hi))]
    if not any(promote(t).is_unsigned for t in header):
        return ()
    down = (value_of(loop.step) or 1) < 0
    first, last = (loop.hi, loop.lo) if down else (loop.lo, loop.hi)
    if value_of(first) == 0 or always(fn, site.path, Bin("<=", first, last)):
        return ()
    return (
        Obstacle(
            "LX136",
            f"the number of iterations of '{loop.var}' is unsigned and may wrap around",
            loop.origin.loc,
            remedy="start the loop at 0, or use a signed variable and bound",
        ),
    )


def ascending(site: LoopSite) -> tuple[Obstacle, ...]:
    """Steps that need a loop counting upwards."""
    step = value_of(site.loop.step)
    if step is None or step <= 0:
        return (
            Obstacle(
                "LX131",
                f"the loop over '{site.loop.var}' counts downwards",
                site.loop.origin.loc,
                remedy=f"normalise {site.loop.var} first",
            ),
        )
    return ()


# ---------------------------------------------------------------- derivations


@dataclass(frozen=True)
class Record:
    """One applied step, why it was legal, and the program after it."""

    step: Step
    reason: str
    result: Function
    stage: str


@dataclass(frozen=True)
class Derivation:
    """A program and the steps that led from `start` to `function`, each checked where applied."""

    start: Function
    records: tuple[Record, ...] = ()
    stage: str = ""

    @property
    def function(self) -> Function:
        return self.records[-1].result if self.records else self.start

    @property
    def keeps_order(self) -> bool:
        """Whether the program does what it did at the start even where arrays overlap: every step
        keeps the order, and no bound that it may have moved is read from an array."""
        bounds = (e for s in loops(self.start) for e in (s.loop.lo, s.loop.hi, s.loop.step))
        from_array = any(isinstance(x, Load) for e in bounds for x in walk_expr(e))
        return not from_array and all(r.step.keeps_order for r in self.records)

    def then(self, step: Step) -> Derivation:
        """Checks and applies one step. Raises TransformError with every obstacle; `self` stays
        as it was."""
        before = self.function
        obstacles = step.check(before)
        if obstacles:
            raise TransformError(str(step), obstacles)
        reason = step.reason(before)
        after = step.rewrite(before)
        wellformed.check(after)
        return replace(self, records=(*self.records, Record(step, reason, after, self.stage)))

    def titled(self, stage: str) -> Derivation:
        """The steps that follow belong to the stage of this name."""
        return replace(self, stage=stage)

    def run(self, steps: tuple[Step, ...]) -> Derivation:
        out = self
        for step in steps:
            out = out.then(step)
        return out

    def with_tiles(self, tiles: Mapping[str, int]) -> Derivation:
        """The same steps on a program with tile sizes that further steps may name."""
        records = tuple(replace(r, result=with_tiles(r.result, tiles)) for r in self.records)
        return replace(self, start=with_tiles(self.start, tiles), records=records)

    @property
    def stages(self) -> tuple[tuple[str, tuple[Record, ...]], ...]:
        """Records grouped by consecutive stage title."""
        out: list[tuple[str, list[Record]]] = []
        for r in self.records:
            if not out or out[-1][0] != r.stage:
                out.append((r.stage, []))
            out[-1][1].append(r)
        return tuple((title, tuple(rs)) for title, rs in out)

    def to_json(self) -> dict[str, Any]:
        """`{"tiles": {...}, "steps": [...]}`; `replay` reads it back."""
        tiles = dict(self.start.tiles)
        return {"tiles": tiles, "steps": [r.step.to_json() for r in self.records]}


def with_tiles(fn: Function, tiles: Mapping[str, int]) -> Function:
    """`fn` with tile sizes that steps may name. Names must not be those of the user's program."""
    return replace(fn, tiles=tuple({**dict(fn.tiles), **tiles}.items()))


def innermost(loop: For) -> For:
    """The innermost loop of a perfect nest."""
    while len(loop.body) == 1 and isinstance(loop.body[0], For):
        loop = loop.body[0]
    return loop
