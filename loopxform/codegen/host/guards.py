"""What transformed loops take for granted and only a run can tell: that objects do not overlap,
that recovered shapes hold, that bounds are far from the end of int.

The host code, the C for the CPU and the callable of Python all ask what is said here before they
run anything but the user's own loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from loopxform.analysis.assumptions import may_share
from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.buffers import Buffer
from loopxform.codegen.host.temporaries import own_arrays
from loopxform.codegen.structs import places
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import (
    Bin,
    Cast,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Param,
    Struct,
    Tile,
    Un,
    Var,
)
from loopxform.ir.types import INT, INT_MAX, LLONG
from loopxform.ir.typing import symbols
from loopxform.ir.visit import map_expr, names, reads, walk, walk_expr, writes
from loopxform.records import record
from loopxform.transforms.edges.bounds import conjunction, operands, positive

MOST_ELEMENTS = 2**48
"""No array has more: the size of one is computed without overflow, and memory ends long before."""


@record
class Condition:
    """Something that must hold, and the words to say that it does not. A `plain` one is computed
    in the types of C; the others in a type in which nothing overflows."""

    expr: Expr
    why: str
    plain: bool = False

    def text(self, d: Dialect) -> str:
        """The condition in C."""
        return cexpr.expr(self.expr, d) if self.plain else wide(self.expr, d)


def conditions(start: Function, fn: Function, sizes: Iterable[Expr] = ()) -> tuple[Condition, ...]:
    """What `fn`, derived from `start`, relies on. `sizes` are what else is computed at run time
    from the scalars: it must not overflow either."""
    d = Dialect("c", symbols(start))
    assumed = dict.fromkeys((*start.assumes, *fn.assumes))
    found = [Condition(e, f"the assumption {cexpr.expr(e, d)} does not hold") for e in assumed]
    found += [Condition(e, f"{cexpr.expr(e, d)} does not hold") for e in start.representable]
    found += _ranges(start, fn)
    users = own_arrays(start)
    several = (s for s in own_arrays(fn) if not s.like and len(s.shape) > 1)
    arrays = [s for s in (*fn.body, *several) if isinstance(s, Decl) and s.shape]
    arrays = [s for s in dict.fromkeys(arrays) if s not in users]
    found += (c for s in arrays if (c := _countable(s)) is not None)
    mentioned = [n for e in (*(c.expr for c in found), *sizes) for n in sorted(names(e))]
    return strictest((*_narrow(start, mentioned), *undecided(found, d)))


def undecided(asked: Iterable[Condition], d: Dialect) -> Iterator[Condition]:
    """What types leave of conditions, where they do not decide them."""
    left = (c if c.plain else replace(c, expr=told(c.expr, d)) for c in asked)
    return (c for c in left if c.expr != Const(1))


def strictest(asked: Iterable[Condition]) -> tuple[Condition, ...]:
    """The conditions in order, each once; of those that a value is not beyond a number, the one
    that all others follow from."""
    ends: dict[tuple[str, Expr, bool], Condition] = {}
    for c in asked:
        match c.expr:
            case Bin("<=" | ">=" as op, value, limit) if (number := value_of(limit)) is not None:
                key = op, value, c.plain
                known = ends.get(key)
                least = None if known is None else _limit(known)
                if least is None or (number < least if op == "<=" else number > least):
                    ends[key] = c
            case _:
                ends["", c.expr, c.plain] = c
    return tuple(ends.values())


def _limit(c: Condition) -> int | None:
    return value_of(c.expr.right) if isinstance(c.expr, Bin) else None


def may_be_null(p: Param | Struct) -> bool:
    """Whether an array is behind a pointer of the caller's, which need not point anywhere where the
    loops touch no element."""
    return p.array and not p.static and (p.pointer or not p.is_global)


def given(start: Function) -> Iterator[Condition]:
    """Pointers that may be null are not, where transformed loops might read an array for which the
    user's have no use."""
    for p in start.objects:
        if p.tests:
            test = Bin(">", Var(p.name), Const(0))
            yield Condition(test, f"{p.tests} is a null pointer", plain=True)


def _narrow(start: Function, mentioned: Iterable[str]) -> Iterator[Condition]:
    """Sizes of 64 bits hold numbers of 32: products of two do not overflow."""
    types = symbols(start)
    for name in dict.fromkeys(mentioned):
        if types[name].bytes > 4 and not types[name].is_float:
            below = Bin("<=", Var(name), Const(INT_MAX))
            above = Bin(">=", Var(name), Const(-INT_MAX))
            fits = below if types[name].is_unsigned else Bin("&&", above, below)
            yield Condition(fits, f"{name} does not fit an int", plain=True)


def _ranges(start: Function, fn: Function) -> Iterator[Condition]:
    """The loops that `start` does not have end in the range of int, and so does what their bounds
    are computed from."""
    d = Dialect("c", symbols(start))
    scalars = {p.name for p in start.objects if not p.array and not p.type.is_float}
    own = {(s.hi, s.step) for s in _loops(start)}
    computed = {x for s in _loops(start) for e in (s.lo, s.hi) for x in walk_expr(e)}
    for s in _loops(fn):
        if (s.hi, s.step) in own:
            continue
        if names(s.hi) and names(s.hi) <= scalars:
            if not _is_narrow(s.hi, d):
                yield _ends_in_int(s.hi, s.step, d)
                for reach in (*_copied_from(s, d), *_ended_beyond(s, d)):
                    yield _ends_in_int(s.hi, reach, d)
        elif (end := _passed(fn, s, scalars)) is not None:
            yield _ends_in_int(end, s.step, d)
        for x in (x for e in (s.lo, s.hi) for x in walk_expr(e)):
            if _may_leave_int(x) and names(x) and names(x) <= scalars and x not in computed:
                yield in_int(x, d)
    yield from _overrun(fn, scalars, d)


def _copied_from(loop: For, d: Dialect) -> Iterator[Expr]:
    """How far copies reach that begin at the counter of a loop, where that is further than its
    step: a tile with what its stencil reads beside it."""
    step = value_of(numbers(loop.step, d)) or 1
    copies = (s for _, s in walk(loop.body) if isinstance(s, Copy))
    for x in (x for s in copies for x in s.slices):
        size = None if x.size is None else value_of(numbers(x.size, d))
        if loop.var in names(x.lo) and size is not None and size > step:
            yield Const(size)


def _ended_beyond(loop: For, d: Dialect) -> Iterator[Expr]:
    """How far behind the counter of a loop others in it end, where that is further than its step: a
    tile and what it computes of its neighbours."""
    step, far = value_of(numbers(loop.step, d)) or 1, 0
    inner = (x.hi for _, x in walk(loop.body) if isinstance(x, For))
    for e in (e for hi in inner for e in walk_expr(hi)):
        match e:
            case Bin("+", Var(name), Const(int(more))) if name == loop.var:
                far = max(far, more)
    if far > max(step, 0):
        yield Const(far)


def _overrun(fn: Function, scalars: set[str], d: Dialect) -> Iterator[Condition]:
    """Sums of several counters that a condition keeps below a size which ends none of the loops: a
    tile may run beyond it by a step."""
    ends, types = {s.hi for s in _loops(fn)}, symbols(fn)
    steps = [s.step for s in _loops(fn)]
    longest = max(steps, key=lambda e: value_of(numbers(e, d)) or 0, default=None)
    conditions = (s.cond for _, s in walk(fn.body) if isinstance(s, If))
    for x in (x for e in conditions for x in walk_expr(e)):
        match x:
            case Bin("<" | "<=", left, hi) if longest is not None and hi not in ends:
                free = [n for n in names(left) - scalars if not types.get(n, INT).is_float]
                if names(hi) and names(hi) <= scalars and len(free) > 1:
                    yield _ends_in_int(hi, longest, d)


def _is_narrow(hi: Expr, d: Dialect) -> bool:
    """Whether it is far from the end of int, as compilers know."""
    return isinstance(hi, Var) and d.types[hi.name].bytes < INT.bytes


def _ends_in_int(hi: Expr, step: Expr, d: Dialect) -> Condition:
    """A loop that ends at `hi` leaves it behind by a step at most."""
    why = f"the bound {cexpr.expr(hi, d)} is too near the end of int"
    compare, end = (">=", -INT_MAX) if (value_of(step) or 1) < 0 else ("<=", INT_MAX)
    return Condition(Bin(compare, hi, numbers(Bin("-", Const(end), step), d)), why)


def _passed(fn: Function, loop: For, scalars: set[str]) -> Expr | None:
    """The bound that a loop with several may leave further behind than every other loop does."""
    step = value_of(loop.step) or 1
    for e in operands(loop.hi) if step > 1 else ():
        as_far = (s for s in _loops(fn) if s.hi == e and (value_of(s.step) or 1) >= step)
        if names(e) and names(e) <= scalars:
            return e if next(as_far, None) is None else None
    return None


def _countable(s: Decl) -> Condition | None:
    """An array that the user's program does not have: the product of its extents is a number."""
    if all(value_of(d) is not None for d in s.shape):
        return None
    most = Const(MOST_ELEMENTS, LLONG)
    first, *rest = s.shape
    # A comparison of two numbers, which is always true, is what compilers warn of.
    within: list[Expr] = [] if value_of(first) is not None else [Bin("<=", first, most)]
    below = positive(first)
    for d in rest:
        number = value_of(below)
        limit = Bin("/", most, below) if number is None else Const(MOST_ELEMENTS // number, LLONG)
        within.append(Bin("<=", d, limit))
        below = Bin("*", below, positive(d))
    return Condition(conjunction(within), f"{s.name} would be too large")


def in_int(x: Expr, d: Dialect) -> Condition:
    """Where x is a value of type int."""
    above = Bin(">=", x, Const(-INT_MAX))
    return Condition(
        Bin("&&", above, Bin("<=", x, Const(INT_MAX))), f"{cexpr.expr(x, d)} overflows"
    )


def _may_leave_int(x: Expr) -> bool:
    """Sums and products, but not `n / T * T`."""
    match x:
        case Bin("*", Bin("/", _, a), b) | Bin("*", b, Bin("/", _, a)) if a == b:
            return False
        case Bin("+" | "-" | "*"):
            return True
        case _:
            return False


def _loops(fn: Function) -> Iterator[For]:
    return (s for _, s in walk(fn.body) if isinstance(s, For))


# ---------------------------------------------------------------- objects that may be one


def meeting(start: Function) -> tuple[tuple[Param, Param], ...]:
    """Pairs of objects that may be the same memory, one of them written. Pointers are `restrict`
    or not: a caller of C may hand over interleaved parts of one array. Rows behind pointers are
    compared one by one elsewhere (`rows`)."""
    read, written = reads(start.body), writes(start.body)
    used = [p for p in start.objects if p.name in read | written and not p.rows]
    return tuple(
        (a, b)
        for a, b in combinations(used, 2)
        if (a.name in written or b.name in written) and may_share(a, b, typed=start.strict_aliasing)
    )


def unrestricted(pairs: Iterable[tuple[Param, Param]]) -> tuple[tuple[Param, Param], ...]:
    """Without those that C forbids to meet: neither is `restrict`."""
    return tuple((a, b) for a, b in pairs if not (a.restrict or b.restrict))


def overlaps(
    start: Function, pairs: Iterable[tuple[Param, Param]], texts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The questions in C, with the words for a yes. `lx_bytes_A` holds the size of an array A;
    `texts` says what C calls a number. Of members, their structs are compared."""
    for a, b in dict.fromkeys((whole(start, a), whole(start, b)) for a, b in pairs):
        (x, x_bytes), (y, y_bytes) = _memory(a, texts), _memory(b, texts)
        yield f"!lx_apart({x}, {x_bytes}, {y}, {y_bytes})", f"{a.name} and {b.name} overlap"


def beside_rows(start: Function, texts: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    """The numbers that rows behind pointers may be where one of the two is written: the place and
    the size in C, and whether the number is."""
    read, written = reads(start.body), writes(start.body)
    matrices = [p for p in start.objects if p.rows and p.name in read | written]
    for p in start.objects:
        if p.array or p.name not in read | written:
            continue
        met = [m for m in matrices if may_share(p, m, typed=start.strict_aliasing)]
        if met and (p.name in written or any(m.name in written for m in met)):
            yield (*_memory(p, texts), p.name in written)


def written_pairs(buffers: Sequence[Buffer]) -> Iterator[tuple[str, str]]:
    """Pairs of device arrays that must be two: one of them is written."""
    for n, a in enumerate(buffers):
        for b in buffers[n + 1 :]:
            if a.written or b.written:
                yield a.param.name, b.param.name


def whole(start: Function, p: Param) -> Param | Struct:
    """The struct that holds the elements of a member, else the object itself."""
    at = places(start).get(p.name)
    return p if at is None else at.struct


def _memory(p: Param | Struct, texts: Mapping[str, str]) -> tuple[str, str]:
    if p.array:
        return p.name, f"lx_bytes_{p.name}"
    text = texts.get(p.name, p.name)
    return f"&{text}", f"sizeof {text}"


# ---------------------------------------------------------------- arithmetic in C


def count(b: Buffer, d: Dialect) -> str:
    """The elements that the program touches, as a size_t."""
    text = f"(size_t)({wide(b.count, d)})"
    return text if b.when is None else f"({wide(b.when, d)}) ? {text} : 0"


def wide(e: Expr, d: Dialect) -> str:
    """The expression computed in long long, so that sizes do not overflow; floats stay what they
    are."""

    def cast(x: Expr) -> Expr:
        return Cast(LLONG, x) if isinstance(x, Var) and not _is_float(x, d) else x

    return cexpr.expr(numbers(map_expr(told(e, d), cast), d), d)


def told(e: Expr, d: Dialect) -> Expr:
    """The expression without what types decide; it is computed in long long."""
    return map_expr(e, lambda x: _without_certain(x, d))


def told_in_int(e: Expr, d: Dialect) -> Expr:
    """The same of one that is computed in the types of C, where none of them is unsigned."""
    leaves = (x for x in walk_expr(e) if isinstance(x, Var | Const))
    types = (d.types.get(x.name) if isinstance(x, Var) else x.type for x in leaves)
    signed = all(t is not None and (not t.is_unsigned or t.bytes < INT.bytes) for t in types)
    return told(e, d) if signed else e


def _is_float(x: Var, d: Dialect) -> bool:
    t = d.types.get(x.name)
    return t is not None and t.is_float


def _without_certain(x: Expr, d: Dialect) -> Expr:
    """1 in place of what is so for all numbers of the types, 0 in place of what is so for none, and
    what that leaves of conditions: compilers warn of asking, and of numbers beyond long long."""
    match x:
        case Bin("&&", Const(0), _) | Bin("&&", _, Const(0)):
            return Const(0)
        case Bin("||", Const(1), _) | Bin("||", _, Const(1)):
            return Const(1)
        case Bin("&&", Const(1), rest) | Bin("&&", rest, Const(1)):
            return rest
        case Bin("||", Const(0), rest) | Bin("||", rest, Const(0)):
            return rest
        case Bin("<" | "<=" | ">" | ">=" as op, left, right):
            low, high = (left, right) if op[0] == "<" else (right, left)
            a, b = _ends(low, d), _ends(high, d)
            if a is not None and b is not None:
                strict = len(op) == 1
                if a[1] + strict <= b[0]:
                    return Const(1)
                if a[0] + strict > b[1]:
                    return Const(0)
    return x


def _ends(e: Expr, d: Dialect) -> tuple[int, int] | None:
    """The least and the greatest number that a sum may be; sizes of 64 bits fit long long."""
    match e:
        case Var(name):
            t = d.types.get(name)
            if t is None or t.is_float:
                return None
            return t.least, min(t.most, LLONG.most)
        case Bin("+" | "-" as op, left, right):
            a, b = _ends(left, d), _ends(right, d)
            if a is None or b is None:
                return None
            return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[1], a[1] - b[0])
        case Bin("<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||") | Un("!"):
            return 0, 1
        case _ if any(isinstance(x, Tile) and x.is_threshold for x in walk_expr(e)):
            return None  # a number that only the run has
    number = value_of(e)
    return None if number is None else (number, number)


def numbers(e: Expr, d: Dialect) -> Expr:
    """Tile sizes by their numbers: the caller of the loops does not define their names. Thresholds
    for which there are variables stay."""
    return map_expr(
        e, lambda x: Const(x.value) if isinstance(x, Tile) and x.name not in d.thresholds else x
    )
