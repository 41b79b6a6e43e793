"""What steps ask about the loops, the sizes and the names that their parameters refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from loopxform.analysis.context import always
from loopxform.errors import Obstacle
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.names import used_names
from loopxform.ir.nodes import (
    Assign,
    Bin,
    Const,
    Copy,
    Decl,
    Expr,
    For,
    Function,
    If,
    Opaque,
    Return,
    Stmt,
    Tile,
    While,
)
from loopxform.ir.printer import expr_text
from loopxform.ir.types import promote
from loopxform.ir.typing import symbols, type_of
from loopxform.ir.visit import (
    LoopSite,
    at,
    loops,
    loops_around,
    names,
    replace_at,
    resolve,
    walk,
    writes,
)
from loopxform.ir.whiles import condition
from loopxform.nearest import did_you_mean
from loopxform.written import LARGEST_TILE

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


def one_loop(fn: Function, ref: str) -> LoopSite | Obstacle:
    """The loop a reference names, or the obstacle: none, more than one, or one that may end before
    any iteration."""
    found = resolve(fn, ref)
    return ends_early(found[0]) or found[0] if len(found) == 1 else no_such_loop(fn, ref)


def nested_pair(fn: Function, outer: str, inner: str) -> tuple[LoopSite, LoopSite] | Obstacle:
    """Of the loops that two references name, the two that are directly and perfectly nested."""
    for ref in (outer, inner):
        if not resolve(fn, ref):
            return no_such_loop(fn, ref)
    inside = {s.path: s for s in resolve(fn, inner)}
    around = resolve(fn, outer)
    pairs = ((s, inside.get((*s.path, 0))) for s in around if len(s.loop.body) == 1)
    found = [(s, x) for s, x in pairs if x is not None]
    if len(found) != 1:
        text = f"the loop over '{outer}' does not hold just a loop over '{inner}'"
        remedy = f"distribute {outer}, or interchange loops, first"
        return Obstacle("LX110", text, around[0].loop.origin.loc, remedy=remedy)
    return found[0]


def is_outermost(fn: Function, site: LoopSite) -> bool:
    """Whether a loop is over groups, and no other around it is."""
    around = (*loops_around(fn, site.path), site.loop)
    return [x for x in around if x.level is not None] == [site.loop]


def no_such_loop(fn: Function, ref: str) -> Obstacle:
    """A reference that names no loop, or more than one."""
    found = resolve(fn, ref)
    if not found:
        known = tuple(dict.fromkeys(s.loop.var for s in loops(fn)))
        every = ", ".join(known) or "none"
        opaque = next((s for _, s in walk(fn.body) if isinstance(s, Opaque) and s.loop), None)
        why = f"; that at {opaque.origin.loc} is not modelled: {opaque.reason}" if opaque else ""
        return Obstacle(
            "LX021",
            f"there is no loop over '{ref}'",
            fn.origin.loc,
            remedy=f"{did_you_mean(ref, known)}the loops of {fn.name} are: {every}{why}",
        )
    choices = ", ".join(f"{ref.rstrip('*')}#{n + 1}" for n in range(len(found)))
    return Obstacle(
        "LX022",
        f"{len(found)} loops run over '{ref}'",
        found[1].loop.origin.loc,
        remedy=f"say which one: {choices}",
    )


def ends_early(site: LoopSite) -> Obstacle | None:
    """A loop that asks a condition, or is left or entered by a jump, runs its iterations one after
    the other, whatever they do."""
    cond = condition(site.loop)
    if cond is None:
        return _left(site.loop)
    return Obstacle(
        "LX112",
        f"how often the loop over '{site.loop.var}' runs is not known before: it goes on while "
        f"{expr_text(cond)}",
        site.loop.origin.loc,
        remedy="write a for loop that runs to a bound, or transform the loops inside",
    )


@remembered(1024)
def _left(loop: For) -> Obstacle | None:
    """The first jump that ends an iteration before its end, or begins one in the middle."""
    jump = next(_jumps(loop.body), None)
    if jump is None:
        return None
    return Obstacle(
        "LX103",
        f"how far the loop over '{loop.var}' runs is not known before: {jump.reason}",
        jump.origin.loc,
        remedy=jump.help or None,
    )


def _jumps(body: Iterable[Stmt], *, inside: bool = False) -> Iterator[Opaque]:
    """The jumps of a loop's body; `inside` a loop or a switch in there, a break ends that."""
    for s in body:
        match s:
            case Opaque() if s.jump == "elsewhere" or (s.jump and not inside):
                yield s
            case For():
                yield from _jumps(s.body, inside=True)
            case Opaque():
                yield from _jumps(s.body, inside=inside or s.loop or isinstance(s, While))
            case If():
                yield from _jumps((*s.then, *s.orelse), inside=inside)
            case Assign() | Decl() | Copy() | Return():
                pass
            case _:
                assert_never(s)


def for_each(
    sites: tuple[LoopSite, ...], question: Callable[[LoopSite], Iterable[Obstacle]]
) -> tuple[Obstacle, ...]:
    """The obstacles of several loops; the copies of one loop of the user's share theirs."""
    return tuple(dict.fromkeys(o for s in sites for o in question(s)))


def some_loops(fn: Function, ref: str) -> tuple[LoopSite, ...] | Obstacle:
    """The loops a reference with `*` may name several of."""
    found = resolve(fn, ref)
    early = next((o for s in found if (o := ends_early(s)) is not None), None)
    if found and (len(found) == 1 or ref.endswith("*")):
        return found if early is None else early
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
    """Steps that reshape a loop come before it is mapped to hardware, and before its iterations are
    known to pass on nothing but what a chain does."""
    loop = site.loop
    if loop.chained:
        text = f"the iterations of the loop over '{loop.var}' are a chain"
        return (Obstacle("LX132", text, loop.origin.loc, remedy=f"{verb} before chain-chunks"),)
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


def unmapped_loop(fn: Function, ref: str, verb: str) -> LoopSite | tuple[Obstacle, ...]:
    """The loop whose body a step changes, before it is mapped, or what stands in the way."""
    site = one_loop(fn, ref)
    if isinstance(site, Obstacle):
        return (site,)
    return unmapped(site, verb) or site


def plain_loop(fn: Function, ref: str, verb: str, name: str) -> LoopSite | tuple[Obstacle, ...]:
    """The loop that a step changes as a whole, with a fixed header and not mapped yet, or what
    stands in the way; `name` is what something new is to be called ("": the step chooses)."""
    site = one_loop(fn, ref)
    if isinstance(site, Obstacle):
        return (site,)
    unfit = (*whole_loop(site), *fixed_header(site), *unmapped(site, verb))
    return (*unfit, *new_name(fn, name, site)) or site


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


def innermost(loop: For) -> For:
    """The innermost loop of a perfect nest."""
    while len(loop.body) == 1 and isinstance(loop.body[0], For):
        loop = loop.body[0]
    return loop
