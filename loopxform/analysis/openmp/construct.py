"""An OpenMP loop with all that decides which of its variables are shared.

    associated loops   the loop and, with collapse(n), the n - 1 perfectly nested in it
    private            listed in a clause of the construct, or counting an associated loop
    of the thread      private to each thread of the region around: listed in its clauses, declared
                       in it, or threadprivate; of a function called from a region, its locals
    shared             everything else that is declared outside
(OpenMP 5.2, chapter 5.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from loopxform.analysis.scope import below
from loopxform.ir.affine import value_of
from loopxform.ir.directives import Directive
from loopxform.ir.nodes import Assign, For, Function, Load, Stmt
from loopxform.ir.visit import Path, at, names, perfect_nest, stmt_exprs
from loopxform.records import record

LOOP_WORDS = ("for", "simd", "distribute")
GIVEN_BACK = ("lastprivate", "linear", "reduction")
PRIVATE = ("private", "firstprivate", *GIVEN_BACK)


def is_loop(d: Directive) -> bool:
    """Whether a directive distributes the iterations of a loop, in a way that is modelled."""
    return d.has(*LOOP_WORDS) and not d.has("declare", "taskloop", "sections", "loop", "ordered")


def is_simd(d: Directive) -> bool:
    """Whether one thread runs all iterations, several at a time."""
    return d.has("simd") and not d.has("for", "distribute")


@record
class Construct:
    """`directive` is on the loop at `path`; `around` are the directives it stands in, the innermost
    first, `inside` those in its body."""

    fn: Function
    directive: Directive
    path: Path
    around: tuple[Directive, ...]
    inside: tuple[Directive, ...]
    alone: tuple[Directive, ...]
    """Standalone directives (barriers, say) that are in the body, or may be."""
    threadprivate: frozenset[str]

    @cached_property
    def loop(self) -> For:
        loop = at(self.fn, self.path)
        assert isinstance(loop, For)
        return loop

    @property
    def depth(self) -> int | None:
        """The number of associated loops, None where it is not a constant."""
        collapse = self.directive.clause("collapse")
        return 1 if collapse is None else collapse.number

    @cached_property
    def nest(self) -> tuple[For, ...]:
        """The associated loops, outermost first: fewer than `depth` where the nest has not more."""
        return perfect_nest(self.loop)[: self.depth or 1]

    @cached_property
    def nest_paths(self) -> tuple[Path, ...]:
        return tuple((*self.path, *(0,) * n) for n in range(len(self.nest)))

    @property
    def is_simd_only(self) -> bool:
        return is_simd(self.directive)

    @property
    def is_sequential(self) -> bool:
        """Whether one thread runs the iterations one after the other: `if(0)` on a simd loop, or a
        team of one thread."""
        if self.directive.words == ("simd",):
            return _is_off(self.directive, "simd:")
        return self.has_one_thread and not self.directive.has("simd")

    @property
    def has_one_thread(self) -> bool:
        """`num_threads(1)` or `if(0)` on the construct that makes the team."""
        own = self.directive.has("parallel")
        d = self.directive if own else self.region
        if d is None or not d.has("parallel") or d.has("teams") or self.directive.has("distribute"):
            return False
        threads = d.clause("num_threads")
        return _is_off(d, "parallel:") or (threads is not None and threads.number == 1)

    @property
    def is_single(self) -> bool:
        """Whether the loop has one iteration at most."""
        bounds = (value_of(self.loop.lo), value_of(self.loop.hi))
        return None not in bounds and abs((bounds[1] or 0) - (bounds[0] or 0)) <= 1

    @property
    def has_private_default(self) -> bool:
        """Whether variables that no clause names are private, here or in the region."""
        found = (d.clause("default") for d in (self.directive, *self.around))
        return any(c is not None and "private" in c.text for c in found)

    @cached_property
    def private(self) -> frozenset[str]:
        return self.directive.variables(*PRIVATE) | {x.var for x in self._counted}

    @property
    def _counted(self) -> tuple[For, ...]:
        """The loops whose variables are private: those of `ordered(n)` too."""
        ordered = self.directive.clause("ordered")
        depth = ordered.number if ordered is not None else None
        return perfect_nest(self.loop)[: max(self.depth or 1, depth or 1)]

    @cached_property
    def region(self) -> Directive | None:
        """The region whose threads share the iterations, where it is in this function."""
        wanted = "teams" if self.directive.has("distribute") else "parallel"
        if self.is_simd_only or self.directive.has(wanted):
            return None
        return next((d for d in self.around if d.has(wanted)), None)

    @property
    def has_several_teams(self) -> bool:
        """Whether teams share the iterations, more than one for all we know."""
        if not self.directive.has("distribute"):
            return False
        found = (d.clause("num_teams") for d in (self.directive, *self.around))
        return not any(c is not None and c.number == 1 for c in found)

    @property
    def is_orphan(self) -> bool:
        """The region is that of a caller."""
        wanted = "teams" if self.directive.has("distribute") else "parallel"
        return not self.is_simd_only and not self.directive.has(wanted) and self.region is None

    def of_the_thread(self, name: str, declared: Path | None) -> bool:
        """Whether each thread has its own `name`, and no two iterations share it otherwise."""
        return not self.directive.has("simd") and self.private_in_region(name, declared)

    def may_share(self, name: str, declared: Path | None) -> bool:
        """Whether iterations may share `name`, wherever they use it."""
        return name not in self.private and not self.of_the_thread(name, declared)

    def private_in_region(self, name: str, declared: Path | None) -> bool:
        """Whether each thread of the region has its own `name`, whatever iterations it runs."""
        if name.partition(".")[0] in self.threadprivate:
            return name not in {p.name for p in self.fn.objects if p.pointer}
        if self.is_orphan:
            found = next((p for p in self.fn.objects if p.name == name), None)
            return found is None or not (found.is_global or found.array)
        if self.region is None:
            return False
        inner = self.around[: self.around.index(self.region) + 1]
        if any(name in d.variables(*PRIVATE) for d in inner):
            return True
        return declared is not None and self.region.governs(declared)

    def private_inside(self, name: str, *ends: Path) -> bool:
        """Whether one of the statements means a variable of an inner construct by `name`, or all of
        them a copy that it has. What an inner construct gives back at its end (`lastprivate`,
        `linear`, `reduction`) it writes to the variable of this one."""
        own = [d for d in self.inside if name in d.variables("private")]
        if any(d.governs(p) for d in own for p in ends):
            return True
        copies = [d for d in self.inside if name in d.variables("firstprivate")]
        kept = [d for d in copies if name not in d.variables(*GIVEN_BACK)]
        return any(all(d.governs(p) for p in ends) for d in kept)

    def later(self, name: str) -> bool:
        """Whether the text of the function uses the value of `name` after the loop."""
        return name in self.directive.later

    @cached_property
    def statements(self) -> tuple[tuple[Path, Stmt], ...]:
        """Everything below the loop."""
        return tuple(below(self.loop, self.path))


def _is_off(d: Directive, own: str) -> bool:
    """`if(0)`, for the construct that `own` names or for the whole directive."""
    condition = d.clause("if")
    if condition is None or ":" in condition.text.replace(own, ""):
        return False
    return condition.number == 0


def construct(fn: Function, directives: Sequence[Directive], n: int, path: Path) -> Construct:
    """The construct that the n-th directive makes of the loop at `path`."""
    d = directives[n]
    around = tuple(e for e in reversed(directives[:n]) if e.governs(path))
    inside = tuple(
        e for e in directives[n + 1 :] if any(_within(p, path) and p != path for p in e.paths)
    )
    alone = tuple(standing_in(directives[n + 1 :], path))
    threadprivate = frozenset(v for e in directives for v in e.variables("threadprivate"))
    return Construct(fn, d, path, around, inside, alone, threadprivate)


def standing_in(later: Sequence[Directive], path: Path) -> Iterator[Directive]:
    """Of the directives behind that of the loop at `path`, those that stand alone in its body, for
    all we know."""
    return (e for e in _followers(later, path) if not e.paths)


def _followers(directives: Sequence[Directive], path: Path) -> Iterator[Directive]:
    """The directives up to the first that is certain to stand behind the loop at `path`."""
    for d in directives:
        known = d.paths or ((d.after,) if d.after is not None else ())
        if known and (known[0] == path or not _within(known[0], path)) and not d.governs(path):
            return
        yield d


def _within(path: Path, outer: Path) -> bool:
    return path[: len(outer)] == outer


def touched_by(s: Stmt) -> tuple[frozenset[str], frozenset[str]]:
    """The names that one statement by itself touches, and those it writes."""
    touched = frozenset(n for e in stmt_exprs(s) for n in names(e))
    match s:
        case Assign():
            written = frozenset([target_name(s)])
        case For():
            written = frozenset([s.var])
        case _:
            written = frozenset()
    return touched | written, written


def target_name(s: Assign) -> str:
    return s.target.array if isinstance(s.target, Load) else s.target.name
