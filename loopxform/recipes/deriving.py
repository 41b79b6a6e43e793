"""What recipes build derivations with: the steps so far, tile sizes by name, loops by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loopxform.errors import TransformError
from loopxform.ir.names import fresh, used_names
from loopxform.ir.nodes import Function
from loopxform.ir.visit import Path, loops, resolve
from loopxform.model.reuse import Dim
from loopxform.records import record
from loopxform.schedule.params import Options
from loopxform.transforms import Derivation, Interchange, Specialise, Step


@dataclass
class Work:
    """The derivation under construction. The only mutable thing in a recipe."""

    derivation: Derivation
    sizes: dict[str, int]

    @property
    def fn(self) -> Function:
        return self.derivation.function

    def size(self, *factors: str) -> str:
        """A product of tile sizes, each by its name or, where that stands for something else, its
        number."""
        named = dict(self.fn.tiles)
        return "*".join(n if named.get(n) == self.sizes[n] else str(self.sizes[n]) for n in factors)

    def stage(self, title: str) -> None:
        self.derivation = self.derivation.titled(title)

    def do(self, *steps: Step) -> None:
        self.derivation = self.derivation.run(steps)

    def attempt(self, *steps: Step) -> bool:
        """Applies steps that the recipe can do without: all of them or none."""
        return self.refusal(*steps) is None

    def widest(self, step: Callable[[str, str], Step], subject: str, most: int) -> None:
        """Applies the step for the widest vectors that it is legal for, if any."""
        while most > 1 and not self.attempt(step(subject, str(most))):
            most //= 2

    def refusal(self, *steps: Step) -> TransformError | None:
        """Applies all of the steps, or none and says why."""
        self.derivation, refusal = self.derivation.optional(*steps)
        return refusal

    def ref(self, path: Path) -> str:
        """The loop at `path`: its name, with a number where others have it too."""
        var = next(s.loop.var for s in loops(self.fn) if s.path == path)
        same = resolve(self.fn, var)
        if len(same) == 1:
            return var
        return f"{var}#{next(n for n, s in enumerate(same, 1) if s.path == path)}"

    def interchange(self, path: Path) -> None:
        """Swaps the loop at `path` with the one directly inside it."""
        sites = {s.path: s.loop for s in loops(self.fn)}
        outer, inner = sites[path].var, sites[(*path, 0)].var
        inside = {s.path for s in resolve(self.fn, inner)}
        nested = [s for s in resolve(self.fn, outer) if (*s.path, 0) in inside]
        self.do(Interchange(outer if len(nested) == 1 else self.ref(path), inner))

    def order(self, chain: list[str], wanted: list[str]) -> None:
        """Brings loops that are nested in the order of `chain` into the order `wanted`."""
        now = list(chain)
        for n, var in enumerate(wanted):
            for k in range(now.index(var) - 1, n - 1, -1):
                self.do(Interchange(now[k], now[k + 1]))
                now[k], now[k + 1] = now[k + 1], now[k]


def with_numbers(derivation: Derivation, options: Options) -> Derivation:
    """Numbers in place of the sizes that are fixed. Raises TransformError."""
    steps = tuple(Specialise(name, str(value)) for name, value in options.specialise)
    return derivation.titled("Sizes that are numbers").run(steps) if steps else derivation


@record
class Loops:
    """The loops of one tiled dimension: over groups, over the work-items of a group, over the
    elements of a work-item ("" where there is none)."""

    dim: Dim
    group: str
    thread: str
    item: str

    @property
    def inside(self) -> tuple[str, ...]:
        return tuple(v for v in (self.group, self.thread, self.item) if v)


def levels(fn: Function, dim: Dim) -> Loops:
    """i -> iii, ii, i for work-items that keep several elements; ii, i where there is one level
    inside the group; row -> row_g, row_t, row."""
    var, both = dim.loop, bool(dim.items and dim.kept)
    names = [var * 3, var * 2] if len(var) == 1 else [f"{var}_g", f"{var}_t"]
    if not both:
        names = names[1:]
    clash = used_names(fn) - {var}
    free = [fresh(fn, n) if n in clash else n for n in names]
    if both:
        return Loops(dim, free[0], free[1], var)
    return Loops(dim, free[0], var if dim.items else "", var if dim.kept else "")
