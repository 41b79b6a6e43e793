"""Array arguments: how much of each the user's program may touch, and when it touches any; which
part of it a copy on the device has to get from the caller, and which part it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from loopxform.analysis.extent import Extent, explain
from loopxform.analysis.transfers import Range, movement
from loopxform.codegen.structs import places
from loopxform.errors import EmitError
from loopxform.ir.affine import simplify
from loopxform.ir.evaluate import evaluate
from loopxform.ir.nodes import Bin, Const, Expr, Function, Param, Struct, Var
from loopxform.ir.types import Scalar
from loopxform.ir.typing import symbols
from loopxform.ir.visit import writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction, conjuncts


@record
class Part:
    """The elements of an array from `begin` to before `end`, in the order of memory; none where
    `when` does not hold (None: all the time). It speaks of calls that touch the array. `place` are
    the subscripts of its first and last element."""

    begin: Expr
    end: Expr
    when: Expr | None = None
    place: tuple[tuple[Expr, ...], tuple[Expr, ...]] | None = None

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return tuple(e for e in (self.begin, self.end, self.when) if e is not None)


@record
class Buffer:
    """An array argument: how many elements the program may touch, and when it touches any; devices
    have room for whole rows, where these are `padded`. The
    elements of an array of structs are whole structs. `into` is copied to the device before the
    first kernel, `back` from it after the last (None: nothing); `exposed` says that a kernel may
    read an element before one writes it. Where an array of the device is not needed, kernels
    are given the one it is `like`."""

    param: Param | Struct
    count: Expr
    when: Expr | None
    written: bool
    into: Part | None = None
    back: Part | None = None
    exposed: bool = False
    like: str = ""
    padded: Expr | None = None

    @property
    def room(self) -> Expr:
        """The elements that devices have room for."""
        return self.count if self.padded is None else self.padded

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """What is computed from the scalars."""
        parts = [e for x in (self.into, self.back) if x is not None for e in x.expressions]
        return (self.room, self.count, *(() if self.when is None else (self.when,)), *parts)

    def elements(self, part: Part | None, scalars: Mapping[str, int]) -> tuple[int, int]:
        """The first element of a part for given scalars, and the one behind its last."""
        asked = [self.when, *(() if part is None else (part.when,))]
        if part is None or not all(c is None or evaluate(c, scalars) for c in asked):
            return 0, 0
        return evaluate(part.begin, scalars), evaluate(part.end, scalars)

    def is_whole(self, part: Part) -> bool:
        """Whether a part is all that is touched."""
        return part.when is None and part.begin == Const(0) and part.end == self.count


def buffer_of(start: Function, p: Param, *others: Param) -> Buffer:
    """The part of an array that `start` touches and that exists for certain, so that it may be
    copied; of an array of structs through any of these members of theirs, which have one shape.
    Nothing is copied of an array that nobody reads before or after. Raises EmitError where that is
    not known."""
    found = _extent(start, p, others)
    ends_anywhere = (p.flat or p.shape[0] is None) and len(p.shape) > 1
    if ends_anywhere and not found.corner and found.last is None:
        raise EmitError(
            f"where the part of '{p.name}' that is touched ends is not known",
            loc=p.origin.loc,
            help=f"declare it with its shape: {p.type} {p.name}[n][m]",
        )
    made = _buffer(start, (p, *others), found)
    if others or _rank(start, p) < len(p.shape) or p.name in places(start):
        return _all(made)
    moved = movement(start, p, found)
    if p.name in start.scratch and not moved.exposed and not any(q.rows for q in start.objects):
        return made
    into, back = (_part(p, r) for r in (moved.into, moved.back))
    return replace(made, into=into, back=back, exposed=moved.exposed)


def span_of(start: Function, p: Param, *others: Param) -> Buffer:
    """As `buffer_of`, but the part may end beyond the last element that is touched: enough to
    compare addresses. Raises EmitError."""
    return _buffer(start, (p, *others), _extent(start, p, others))


def buffers_of(
    start: Function, needed: Sequence[Param], part: Callable[..., Buffer] = buffer_of
) -> tuple[Buffer | Param, ...]:
    """The arguments of a kernel: a struct once for all its members, else as given. `part` says how
    much of each is meant. Raises EmitError."""
    inside = places(start)
    members: dict[Struct, list[Param]] = {}
    for p in needed:
        if p.name in inside:
            members.setdefault(inside[p.name].struct, []).append(p)
    structs = {s.name: _structs(start, s, found, part) for s, found in members.items()}
    out: dict[str, Buffer | Param] = {}
    for p in needed:
        if p.name in inside:
            owner = inside[p.name].struct.name
            out[owner] = structs[owner]
        else:
            out[p.name] = part(start, p) if p.array else p
    return tuple(out.values())


def _structs(
    start: Function, s: Struct, members: Sequence[Param], part: Callable[..., Buffer]
) -> Buffer:
    """The structs that are touched through any of these members."""
    if not s.array:
        changed = writes(start.body)
        written = any(p.name in changed for p in members)
        return _all(Buffer(s, Const(1), None, written))
    alike: dict[object, list[Param]] = {}
    for p in members:
        alike.setdefault(p.shape[: _rank(start, p)], []).append(p)
    found = [part(start, *group) for group in alike.values()]
    return _all(replace(reduce(_joined, found), param=s))


def _all(b: Buffer) -> Buffer:
    """With all that is touched copied; of structs, members that are not touched keep values too."""
    whole = Part(Const(0), b.count)
    return replace(b, into=whole, back=whole if b.written else None, exposed=True)


def _part(p: Param, found: Range | None) -> Part | None:
    if found is None:
        return None
    begin, last = _offset(p, found.first), _offset(p, found.last)
    end = simplify(Bin("+", last, Const(1)))
    return Part(simplify(begin), end, found.when, (found.first, found.last))


def _offset(p: Param, index: Sequence[Expr]) -> Expr:
    """How many elements are in front of one in the order of memory."""
    out = index[0]
    for size, i in zip(p.shape[1:], index[1:], strict=True):
        assert size is not None
        out = Bin("+", Bin("*", out, size), i)
    return out


def _joined(a: Buffer, b: Buffer) -> Buffer:
    """Both parts of one array; it is touched for certain only where both are."""
    count = a.count if a.count == b.count else Bin("max", a.count, b.count)
    whens = [c for w in (a.when, b.when) if w is not None for c in conjuncts(w)]
    when = conjunction(list(dict.fromkeys(whens))) if whens else None
    return Buffer(a.param, count, when, a.written or b.written)


def _rank(start: Function, p: Param) -> int:
    """How many subscripts count elements: of a member, those that say which struct."""
    at = places(start).get(p.name)
    return len(p.shape) if at is None else at.rank(len(p.shape))


def _extent(start: Function, p: Param, others: Sequence[Param]) -> Extent:
    found = explain(start, p.name, others=[q.name for q in others], rank=_rank(start, p))
    if isinstance(found, Extent):
        return found
    if found.untouched and not others:
        # Kernels name it where no iteration comes: they are given no element.
        rank = _rank(start, p)
        return Extent(p.name, (Const(1),) * rank, Const(0), True, (Const(0),) * rank)
    raise EmitError(
        found.obstacle.message,
        loc=found.obstacle.loc or p.origin.loc,
        help=found.obstacle.remedy,
    )


def _buffer(start: Function, members: Sequence[Param], found: Extent) -> Buffer:
    names, p = {q.name for q in members}, members[0]
    written = names & writes(start.body)
    when = None if found.when is None else _told(found.when, symbols(start))
    made = Buffer(p, _elements(p, found, _rank(start, p)), when, bool(written))
    return replace(made, padded=_rows(p, found.upper[0])) if found.padded else made


def _told(when: Expr, types: dict[str, Scalar]) -> Expr | None:
    """Without what the types say already: an unsigned number is not negative."""
    left = [c for c in conjuncts(when) if not _always(c, types)]
    return conjunction(left) if left else None


def _rows(p: Param, count: Expr, rank: int | None = None) -> Expr:
    """The elements of so many whole rows, by the first subscripts."""
    total = count
    for d in (d for d in p.shape[1:rank] if d is not None):
        total = Bin("*", total, d)
    return simplify(total)


def _always(c: Expr, types: dict[str, Scalar]) -> bool:
    match c:
        case Bin(">=", Var(name), Const(0)):
            return types[name].is_unsigned
        case _:
            return False


def _elements(p: Param, found: Extent, rank: int) -> Expr:
    """Elements from the start of the array to the last one touched, by its first subscripts. For
    rows of a real C array the last row counts whole (it exists); a plain pointer ends at the last
    element itself."""
    if p.flat and found.last is not None and rank == len(p.shape):
        return simplify(Bin("+", _offset(p, found.last), Const(1)))
    rest = [d for d in p.shape[1:rank] if d is not None]
    if not p.flat:
        return _rows(p, found.upper[0], rank)
    last: Expr = Bin("-", found.upper[0], Const(1))
    for size, upper in zip(rest, found.upper[1:]):
        last = Bin("+", Bin("*", last, size), Bin("-", upper, Const(1)))
    return simplify(Bin("+", last, Const(1)))
