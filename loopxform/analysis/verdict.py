"""The verdict on every loop of a function.

yes           no dependence is carried by the loop (storage declared inside it is private, and a
              counter of an inner loop that nobody reads afterwards, or a pointer that each
              iteration sets before it is used)
privatizable  parallel once the listed variables are private (last value copied where live; that
              of the last iteration that sets one where not all do)
reduction     the remaining carried dependences belong to recognised reductions
no            a carried dependence is proven, with a witness
unknown       a carried dependence could not be excluded, or a statement is not modelled
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, assert_never

from loopxform.analysis.assumptions import assumed
from loopxform.analysis.declared_shapes import declared_shape
from loopxform.analysis.dependence import Dependence, worst
from loopxform.analysis.deps import carried_by
from loopxform.analysis.idioms import Idiom, idioms, search
from loopxform.analysis.last_write import overwrites
from loopxform.analysis.privatise import privacy
from loopxform.analysis.reductions import Reduction, reductions
from loopxform.analysis.region import region, visible
from loopxform.analysis.remedies import remedy
from loopxform.analysis.scope import below
from loopxform.budget import Budget, Exhausted, shared, spend, within
from loopxform.display import Shown
from loopxform.ir.affine import value_of
from loopxform.ir.memo import remembered
from loopxform.ir.nodes import For, Function, Opaque, Stmt
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.records import record
from loopxform.source import Loc

Answer: TypeAlias = Literal["yes", "reduction", "privatizable", "no", "unknown"]

ENOUGH: dict[str, tuple[Answer, ...]] = {
    "parallel": ("yes",),
    "privatizable": ("yes", "privatizable"),
    "reduction": ("yes", "privatizable", "reduction"),
}
"""The verdicts that satisfy a requirement."""


@record
class Reason:
    """Why a loop has its verdict: a stable `code`, a sentence, its place, and two iterations with
    numbers where there are some."""

    code: str
    message: str
    loc: Loc | None
    witness: str | None = None


@record
class LoopVerdict(Shown):
    """One `for` of the file. `copies` are those of `private` whose last value is needed,
    `conditional` those of which it is that of the last iteration that sets them, if any,
    `uncarried` those that no dependence is about: they only count inner loops, each of which has
    its own, or are other names for places in arrays. `idioms` say which algorithms run it. `left`
    is the storage that its `reasons` are about, where dependences are all that they say; `after`
    are steps that make it parallel then."""

    path: Path
    loc: Loc | None
    var: str
    depth: int
    parallel: Answer
    private: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    conditional: tuple[str, ...] = ()
    uncarried: tuple[str, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    assumes: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    idioms: tuple[Idiom, ...] = ()
    left: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<LoopVerdict {self.loc or self.path}: {self.var} {self.parallel}>"

    @property
    def line(self) -> int:
        """The line of the `for` in the user's file; 0 where it has none."""
        return self.loc.line if self.loc else 0

    @property
    def column(self) -> int:
        """The column of the `for`."""
        return self.loc.column if self.loc else 0

    @property
    def shared(self) -> tuple[str, ...]:
        """Those of `private` that are one variable for all iterations until they are made private,
        those aside that no dependence is about."""
        return tuple(name for name in self.private if name not in self.uncarried)

    def json(self) -> dict[str, object]:
        """The loop as the contract of `check --format json` has it (DESIGN.md, section 7)."""
        return {
            "file": self.loc.file if self.loc else "",
            "line": self.line,
            "column": self.column,
            "var": self.var,
            "depth": self.depth,
            "parallel": self.parallel,
            "private": list(self.private),
            "lastprivate": list(self.copies),
            "conditional_lastprivate": list(self.conditional),
            "reductions": [{"var": r.var, "op": r.op} for r in self.reductions],
            "assumes": list(self.assumes),
            "reasons": [
                {
                    "code": r.code,
                    "message": r.message,
                    "file": r.loc.file if r.loc else "",
                    "line": r.loc.line if r.loc else 0,
                    "column": r.loc.column if r.loc else 0,
                }
                for r in self.reasons
            ],
            **({"idioms": [x.json() for x in self.idioms]} if self.idioms else {}),
            **({"after": list(self.after)} if self.after else {}),
        }


def judge(
    fn: Function,
    seconds: float | None = None,
    *,
    inlined: bool = False,
    only: frozenset[Loc] | None = None,
    at: Path = (),
    but: frozenset[str] = frozenset(),
) -> tuple[LoopVerdict, ...]:
    """One verdict per loop, in text order, those of unmodelled headers included. A loop of a
    function whose body stands in the place of a call is judged where the function is defined, and
    here only with `inlined`. The nests share `seconds` of CPU time, and what is left of the budget
    in force; the loops of one that needs more are unknown for that reason. With `only`, the loops
    at these places; with `at`, the loops that hold the statement there, or
    stand in it; none of the nests whose outermost loops are `but` these."""
    nests: dict[Path, list[_Site]] = {}
    for site in _sites(fn, inlined=inlined):
        if all(a == b for a, b in zip(at, site.path)):
            nests.setdefault(_nest(fn, site.path), []).append(site)
    nests = {p: s for p, s in nests.items() if s[0].loop.var not in but}
    if only is not None:
        asked = {p: [x for x in s if x.loop.origin.loc in only] for p, s in nests.items()}
        nests = {p: s for p, s in asked.items() if s}
    with within(Budget.of(seconds)):
        judged = shared(tuple(nests.values()), lambda sites: _judged(fn, sites))
    return tuple(sorted((v for verdicts in judged for v in verdicts), key=lambda v: v.path))


@record
class _Site:
    """A loop to judge, with how many loops are around it."""

    path: Path
    loop: For | Opaque
    depth: int


def _sites(fn: Function, *, inlined: bool) -> Iterator[_Site]:
    around: list[Path] = []
    streamed = _streamed(fn)
    for path, s in walk(fn.body):
        while around and path[: len(around[-1])] != around[-1]:
            around.pop()
        if (is_inlined(s) and not inlined) or path in streamed:
            continue
        if isinstance(s, For) or (isinstance(s, Opaque) and s.loop):
            yield _Site(path, s, len(around))
            around.append(path)


@remembered(16)
def _streamed(fn: Function) -> frozenset[Path]:
    """Where kernels of streamed stages are, and what holds them."""
    kernels = (path for path, s in walk(fn.body) if is_streamed(s))
    return frozenset(path[:n] for path in kernels for n in range(1, len(path) + 1))


def _judged(fn: Function, sites: Sequence[_Site]) -> list[LoopVerdict]:
    """The verdicts on the loops of one nest, or why there are none."""
    verdicts = []
    for site in sites:
        try:
            spend()
            verdicts.append(_verdict(fn, site))
        except Exhausted as e:
            place = site.loop.origin.loc
            verdicts.append(_unknown(site, Reason(e.code, f"{e.message}; {e.help}", place)))
    return verdicts


def _verdict(fn: Function, site: _Site) -> LoopVerdict:
    match site.loop:
        case For():
            return _loop(fn, site, site.loop)
        case Opaque(code=code, reason=reason):
            return _searched(fn, _unknown(site, Reason(code, reason, site.loop.origin.loc)))
        case _:
            assert_never(site.loop)


def _unknown(site: _Site, *reasons: Reason) -> LoopVerdict:
    s = site.loop
    return LoopVerdict(site.path, s.origin.loc, s.var, site.depth, "unknown", reasons=reasons)


def _searched(fn: Function, v: LoopVerdict) -> LoopVerdict:
    """The verdict on a loop that something not modelled is in, with the search that it is."""
    found = search(fn, v.path)
    return v if found is None else replace(v, idioms=(found,))


def is_inlined(s: Stmt) -> bool:
    """Whether a statement is another function's, put in the place of a call."""
    return any(step.startswith("inline ") for step in s.origin.steps)


def is_streamed(s: Stmt) -> bool:
    """Whether a statement is of a kernel that computes stages along a stream of rows: what it does
    was proven where it was made, and dependences between its stages, or from one iteration of a
    loop around it to the next, would take minutes to find."""
    return any(
        step.startswith(("time-tile ", "fuse-stages ", "tile-stages ")) for step in s.origin.steps
    )


def _loop(fn: Function, site: _Site, loop: For) -> LoopVerdict:
    path = site.path
    unknown = [s for _, s in below(loop, path) if isinstance(s, Opaque)]
    if unknown and _runs_once(loop) and all(s.code != ASM for s in unknown):
        last = (loop.var,) if loop.live_out else ()
        answer: Answer = "privatizable" if last else "yes"
        return LoopVerdict(
            path, loop.origin.loc, loop.var, site.depth, answer, private=last, copies=last
        )
    if unknown:
        reasons = (Reason(s.code, s.reason, s.origin.loc) for s in unknown)
        return _searched(fn, _unknown(site, *reasons))
    carried = () if loop.parallel else _carried(fn, path)
    found = _Sorted(fn, path, loop, carried)
    return LoopVerdict(
        path,
        loop.origin.loc,
        loop.var,
        site.depth,
        found.answer,
        found.private,
        found.copies,
        found.conditional,
        found.uncarried,
        found.reductions,
        (*assumed(fn, loop), *(a for r in found.reductions for a in r.assumes)),
        found.reasons,
        idioms(fn, path, tuple(d.array for d in found.left), found.reductions),
        tuple(dict.fromkeys(d.array for d in found.left)),
    )


ASM = "LX016"
"""What may set a counter that it does not name."""


def _runs_once(loop: For) -> bool:
    """Whether the numbers in a header leave one iteration at most: whatever it does, no other one
    is there to depend on it."""
    start, end, step = (value_of(e) for e in (loop.lo, loop.hi, loop.step))
    if start is None or end is None or not step:
        return False
    return start + step >= end if step > 0 else start + step <= end


def _carried(fn: Function, path: Path) -> Sequence[Dependence]:
    """The rows the loop carries: those of the outermost loop's matrix, or of the loop's own where
    the larger region could not be exact; counters of inner loops are of interest where their last
    value is."""
    nest = _nest(fn, path)
    live = any(s.live_out for s in _inner_loops(fn, nest))
    rows = carried_by(region(fn, nest, counters=live)).get(path, ())
    if all(d.exact for d in rows):
        return rows
    return carried_by(region(fn, path, counters=live)).get(path, ())


def _inner_loops(fn: Function, path: Path) -> Iterator[For]:
    return (s for _, s in below(enclosing(fn, path)[-1], path) if isinstance(s, For))


def _nest(fn: Function, path: Path) -> Path:
    """The outermost loop around `path` (inside whatever is not modelled, or judged)."""
    nest, streamed = path, _streamed(fn)
    for n, s in reversed(list(enumerate(enclosing(fn, path)))):
        if isinstance(s, Opaque) or path[: n + 1] in streamed:
            break
        if isinstance(s, For):
            nest = path[: n + 1]
    return nest


class _Sorted:
    """The carried rows of one loop, storage by storage."""

    def __init__(self, fn: Function, path: Path, loop: For, rows: Sequence[Dependence]) -> None:
        known = {r.array: r for r in reductions(fn, path)} if rows else {}
        private: dict[str, bool] = {}
        conditional: list[str] = []
        scalars = {name for name, s in visible(fn, path).items() if not s.rank} if rows else ()
        reduced: list[Reduction] = []
        left: list[Dependence] = []
        for d in worst(rows):
            if d.array in known:
                reduced.append(known[d.array])
                continue
            found = privacy(fn, path, d.array)
            if found.with_copy or self._is_overwritten(fn, path, d.array):
                private[d.array] = not found.private
            elif found.exposed is None and d.array in scalars:
                private[d.array] = False
                conditional.append(d.array)
            else:
                left.append(d)
        if loop.live_out:
            private[loop.var] = True
        outside = visible(fn, path).keys() - {loop.var, *private, *(d.array for d in left)}
        inner = dict.fromkeys(s.var for s in _inner_loops(fn, path))
        self.uncarried = (*(name for name in inner if name in outside), *loop.sets)
        self.private = (*private, *self.uncarried)
        self.shared = bool(private)
        self.copies = tuple(name for name, copy in private.items() if copy)
        self.conditional = tuple(conditional)
        self.reductions = tuple(reduced)
        self.left = left
        file = fn.origin.loc.file if fn.origin.loc else None
        self.reasons = tuple(_reason(d, remedy(fn, path, loop, d.array), file) for d in left)

    def _is_overwritten(self, fn: Function, path: Path, name: str) -> bool:
        """Whether each iteration gives all of an array, of the function or of the file, new
        values, so that the last ones may be copied out of an array of each iteration."""
        shape = declared_shape(fn, path, name)
        return shape is not None and overwrites(fn, path, name, shape)

    @property
    def answer(self) -> Answer:
        if any(d.exact for d in self.left):
            return "no"
        if self.left:
            return "unknown"
        if self.reductions:
            return "reduction"
        return "privatizable" if self.shared else "yes"


VERBS = {"flow": ("write", "read"), "anti": ("read", "write"), "output": ("write", "write")}


def _reason(d: Dependence, remedy: str, file: str | None) -> Reason:
    """`flow dependence of t, direction (<): line 9 writes it at i=3 and reads it at i=6 (n=7)`."""
    name = f"{d.kind} dependence of {d.array}, direction {d.vector}"
    if not d.exact:
        why = f": {d.doubt}" if d.doubt else ""
        return Reason("LX102", f"{name}, could not be excluded{why}{remedy}", d.sink.loc)
    at, then, sizes = " in one iteration", " in a later one", ""
    if d.point and all(d.point.ends):
        at, then = (f" at {end}" for end in d.point.ends)
        sizes = d.point.sizes
    first, second = (f"{verb}s it" for verb in VERBS[d.kind])
    before, after = (x.place(file) for x in (d.source, d.sink))
    if before == after:
        again = "again" if first == second else second
        text = f"{before} {first}{at} and {again}{then}{sizes}"
    else:
        text = f"{before} {first}{at}, {after} {second}{then}{sizes}"
    return Reason("LX101", f"{name}: {text}{remedy}", d.sink.loc, d.witness)
