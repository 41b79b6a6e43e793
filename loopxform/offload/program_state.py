"""A whole function on its way to kernels: the derivation, and what its parts become."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from loopxform.analysis.verdict import LoopVerdict, judge
from loopxform.floating_point import CONTRACT, FloatingPoint
from loopxform.ir.nodes import Decl, Expr, For, Function, If, Stmt, Var
from loopxform.ir.permitted import permitted
from loopxform.ir.types import INT
from loopxform.ir.visit import (
    Path,
    bodies,
    declared,
    walk,
)
from loopxform.offload.pipeline_plan import PipelinePlan
from loopxform.prepare.parallel_band import Nest
from loopxform.recipes.tiled import Tiled
from loopxform.records import record
from loopxform.schedule.offload_options import TileChoice
from loopxform.schedule.params import Options
from loopxform.source import Loc
from loopxform.targets.target import Costs, Limits
from loopxform.transforms import (
    Derivation,
)

PARALLEL = ("yes", "privatizable")
"""The verdicts of loops whose iterations may run at the same time."""

Place: TypeAlias = tuple[int, ...]
"""Where a body of the host is: numbers of statements, declarations not counted (they come and go);
-1, -2, ... stand for the else branches of the first statement, the second, ..."""


@record
class Part:
    """What became of one part of the function: its loops, where it begins, what runs it, and
    why. `loop` is a loop of the mapped program that tells where the part stands there; `choice`
    are the tiles that it may have by an option, `lines` where its nests are, if there are several;
    `copied` is the array of which it makes a copy that other parts read."""

    loop: str
    loc: Loc | None
    loops: tuple[str, ...]
    kind: str
    why: str
    tiled: Tiled | None = None
    about: str = ""
    choice: TileChoice | None = None
    lines: tuple[int, ...] = ()
    copied: str = ""

    def __repr__(self) -> str:
        return f"<Part {self.loc or self.loop}: {self.kind}>"


@dataclass
class Program:
    """The derivation under construction; loops are known by their names, which are their own.
    `nests` are to become kernels, `hosts` loops of the host, `singles` run on one work-item or in
    one group; `why` says so, `hints` what would change it. `partial` are nests of partial results,
    `reducing` the loops whose iterations a group can share; `fronts` says of loops over wave fronts
    what they count, `fused` of nests in which lines the user wrote others that are parts of them,
    `notes` what else, `widened` of loops which arrays their iterations have copies of, `copied`
    which array they copy; `pipelines` are the plans of neighbouring nests, `sought` says what loops
    look for that reduce to scalars that the user did not write, `searches` what others do that stop
    at the first hit, and why. The loop that is `alone` has versions as a whole; `groups` are the
    loops over the groups of kernels that run loops of the host. `costs` are those of the device,
    `limits` the device where it matters to the program as a whole, `fp` is what is permitted of
    floating point where the source says nothing."""

    derivation: Derivation
    options: Options
    costs: Costs
    fp: FloatingPoint = CONTRACT
    limits: Limits | None = None
    parts: list[Part] = field(default_factory=list)
    nests: dict[str, Nest] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)
    singles: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    partial: dict[str, str] = field(default_factory=dict)
    reducing: set[str] = field(default_factory=set)
    fronts: dict[str, str] = field(default_factory=dict)
    fused: dict[str, tuple[int, ...]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    widened: dict[str, str] = field(default_factory=dict)
    copied: dict[str, str] = field(default_factory=dict)
    sought: dict[str, str] = field(default_factory=dict)
    searches: dict[Loc, str] = field(default_factory=dict)
    pipelines: list[PipelinePlan] = field(default_factory=list)
    alone: bool = False
    groups: set[str] = field(default_factory=set)
    _judged: tuple[Function, dict[str, LoopVerdict]] | None = None

    @property
    def fn(self) -> Function:
        return self.derivation.function

    def allowing(self, options: Options, s: Stmt) -> Options:
        """The options for a statement, sums of which may be in another order or not."""
        fp = self.fp.reordering() if options.reassociate else self.fp
        return options.within(permitted(fp, self.fn, (s,)))

    def lines(self, nest: For) -> tuple[int, ...]:
        """Where the user wrote a nest, and those that are parts of it."""
        own = () if nest.origin.loc is None else (nest.origin.loc.line,)
        return (*own, *self.fused.get(nest.var, ()))

    def verdicts(self) -> dict[str, LoopVerdict]:
        """The verdict on each loop of the program as it is now, but for those of `groups`."""
        if self._judged is None or self._judged[0] is not self.fn:
            but = frozenset(self.groups)
            self._judged = self.fn, {v.var: v for v in judge(self.fn, inlined=True, but=but)}
        return self._judged[1]

    def statements(self, place: Place) -> list[tuple[Path, Stmt]]:
        """The statements of the function, of a loop, or of a branch of a condition, but for
        declarations."""
        found = _numbered(self.fn.body, ())
        for number in place:
            orelse = number < 0
            path, outer = found[-1 - number if orelse else number]
            found = _numbered(bodies(outer)[orelse], path, orelse=orelse)
        return found


def _numbered(
    body: tuple[Stmt, ...], path: Path, *, orelse: bool = False
) -> list[tuple[Path, Stmt]]:
    """The statements of a body at `path`, each with its own path, but for declarations."""
    every = (((*path, -1 - n if orelse else n), s) for n, s in enumerate(body))
    return [(p, s) for p, s in every if not isinstance(s, Decl)]


def inner_places(s: Stmt, place: Place, n: int) -> tuple[Place, ...]:
    """The bodies of statement `n` of the body at `place`."""
    orelse = ((*place, -1 - n),) if isinstance(s, If) and s.orelse else ()
    return ((*place, n), *orelse)


def is_flag(fn: Function, e: Expr) -> bool:
    """Whether an expression is an int that the function declares: what the host can read back."""
    own = declared(fn.body).get(e.name) if isinstance(e, Var) else None
    return own is not None and own.type == INT and not own.shape


def holds_nests(s: Stmt) -> bool:
    """Whether a parallel loop is anywhere in a statement."""
    return any(isinstance(x, For) and x.parallel for _, x in walk((s,)))
