"""Bugs to plant in the analysis: each replaces one function or constant by a plausible mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from loopxform.analysis import (
    deps,
    directions,
    domain,
    formula,
    induction,
    pairs,
    privatise,
    reductions,
    region,
    system,
    verdict,
)
from loopxform.analysis.dependence import Dependence
from loopxform.analysis.formula import Translator
from loopxform.analysis.linear import TRUE, at_least, plus
from loopxform.analysis.pairs import Pair
from loopxform.analysis.privatise import Privacy
from loopxform.ir.nodes import Const, If, Var

Planted = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A mistake, and the kind of programs (`c_nests`) that should show it."""

    name: str
    kind: str
    plant: Planted
    slow: bool
    """It takes many programs to show it."""


MUTANTS: list[Mutant] = []


def mutant(kind: str = "affine", *, slow: bool = False) -> Callable[[Planted], Planted]:
    """Lists the decorated function as a mutant."""

    def listed(plant: Planted) -> Planted:
        MUTANTS.append(Mutant(plant.__name__, kind, plant, slow))
        return plant

    return listed


def filtered(m: pytest.MonkeyPatch, keep: Callable[[Dependence], bool]) -> None:
    """Rows for which `keep` is false are lost."""
    real = deps._Search.rows
    m.setattr(
        deps._Search, "rows", lambda self, *names: tuple(d for d in real(self, *names) if keep(d))
    )


def altered(m: pytest.MonkeyPatch, where: Any, name: str, change: Callable[..., Any]) -> None:
    """The named function is replaced by `change(real, *arguments)`."""
    real = getattr(where, name)
    m.setattr(where, name, lambda *args, **how: change(real, *args, **how))


# ---------------------------------------------------------------- dependences


@mutant()
def anti_dependences_are_forgotten(m: pytest.MonkeyPatch) -> None:
    filtered(m, lambda d: d.kind != "anti")


@mutant()
def output_dependences_are_forgotten(m: pytest.MonkeyPatch) -> None:
    filtered(m, lambda d: d.kind != "output")


@mutant()
def dependences_of_scalars_are_forgotten(m: pytest.MonkeyPatch) -> None:
    filtered(m, lambda d: d.array not in ("t", "u"))


@mutant()
def dependences_within_an_iteration_are_forgotten(m: pytest.MonkeyPatch) -> None:
    m.setattr(directions.Refinement, "independent", lambda _: [])


@mutant()
def only_the_outermost_loop_carries(m: pytest.MonkeyPatch) -> None:
    altered(m, directions.Refinement, "carried", lambda real, self: real(self)[:1])


@mutant()
def steps_against_the_loop_are_not_seen(m: pytest.MonkeyPatch) -> None:
    m.setattr(directions, "SIGNS", ("<", "=", "="))


@mutant()
def loops_that_count_down_are_taken_for_up(m: pytest.MonkeyPatch) -> None:
    def change(real: Any, self: Pair, *args: Any) -> None:
        real(self, *args)
        for x in self.loops:
            self.moved[x.var] = {x.var: 1, f"{x.var}~": 1}

    altered(m, Pair, "__init__", change)


@mutant(slow=True)
def branches_of_one_if_never_meet(m: pytest.MonkeyPatch) -> None:
    """Neither in one iteration nor in two."""

    def change(real: Any, self: Pair) -> Any:
        apart = pairs.exclusive(self.source.path, self.sink.path)
        return [] if apart else real(self)

    altered(m, Pair, "systems", change)


# ---------------------------------------------------------------- formulas


@mutant()
def less_is_less_or_equal(m: pytest.MonkeyPatch) -> None:
    """The last iteration of every loop is one too late: witnesses outside of the loop."""
    altered(
        m, Translator, "compare",
        lambda real, self, op, a, b: real(self, "<=" if op == "<" else op, a, b),
    )  # fmt: skip


@mutant(slow=True)
def less_or_equal_is_less(m: pytest.MonkeyPatch) -> None:
    altered(
        m, Translator, "compare",
        lambda real, self, op, a, b: real(self, "<" if op == "<=" else op, a, b),
    )  # fmt: skip


@mutant()
def guards_are_dropped_and_called_exact(m: pytest.MonkeyPatch) -> None:
    real = Translator.condition

    def change(self: Translator, e: Any, *, holds: bool = True) -> Any:
        real(self, e, holds=holds)
        return TRUE

    m.setattr(Translator, "condition", change)


@mutant()
def else_branches_are_judged_by_the_then_guard(m: pytest.MonkeyPatch) -> None:
    real = Translator.condition
    m.setattr(Translator, "condition", lambda self, e, *, holds=True: real(self, e))  # noqa: ARG005


@mutant()
def else_branches_are_forgotten(m: pytest.MonkeyPatch) -> None:
    def change(real: Any, self: Any, s: If, *args: Any) -> None:
        real(self, replace(s, orelse=()), *args)

    altered(m, region._Builder, "_branches", change)


@mutant()
def negative_coefficients_lose_their_sign(m: pytest.MonkeyPatch) -> None:
    altered(m, pairs.Ends, "at_sink", lambda real, self, b: tuple(
        (_all_positive(t), also) for t, also in real(self, b)))  # fmt: skip
    altered(m, pairs.Pair, "_meetings", lambda real, self, s, when: real(
        self, _all_positive(s), when))  # fmt: skip


def _all_positive(subscripts: Any) -> Any:
    return tuple(None if x is None else _positive(x) for x in subscripts)


def _positive(lin: dict[str, int]) -> dict[str, int]:
    return {k: abs(c) if k and k[-1] != "~" else c for k, c in lin.items()}


@mutant()
def factors_of_subscripts_are_forgotten(m: pytest.MonkeyPatch) -> None:
    altered(m, Translator, "_product", lambda _real, self, left, right: self.cases(
        right if isinstance(left, Const) else left))  # fmt: skip


@mutant()
def only_the_first_subscript_counts(m: pytest.MonkeyPatch) -> None:
    altered(m, pairs.Pair, "_meetings", lambda real, *args: [
        replace(x, equal=x.equal[1:] or x.equal) for x in real(*args)])  # fmt: skip


@mutant()
def strides_are_forgotten(m: pytest.MonkeyPatch) -> None:
    def change(_real: Any, loop: Any, translator: Translator) -> Any:
        low = translator.compare(">=", Var(loop.var), loop.lo)
        down = loop.step in (Const(-1), Const(-2))
        if down:
            low = translator.compare("<=", Var(loop.var), loop.lo)
        end = translator.compare(">" if down else "<", Var(loop.var), loop.hi)
        return domain.conjoin(low, end)

    altered(m, region, "iterations", change)


@mutant()
def remainders_have_the_case_of_positive_operands_only(m: pytest.MonkeyPatch) -> None:
    altered(m, Translator, "_divided", lambda real, *args: (real(*args) or (None,))[:1])


@mutant()
def differences_in_conditions_are_shifted_by_one(m: pytest.MonkeyPatch) -> None:
    m.setattr(formula, "at_least", lambda a, b, gap=0: at_least(a, b, gap + 1 if gap else 0))


@mutant()
def one_of_two_cases_is_dropped(m: pytest.MonkeyPatch) -> None:
    altered(m, Translator, "_or", lambda real, self, a, b: real(self, a, b)[:1])


# ---------------------------------------------------------------- elimination


@mutant()
def elimination_forgets_a_bound(m: pytest.MonkeyPatch) -> None:
    """The least upper bound of a variable is lost."""

    def change(real: Any, self: Any, name: str) -> None:
        for key in list(self.uses[name])[-1:]:
            self._take(key)
        real(self, name)

    altered(m, system._System, "_fourier_motzkin", change)


@mutant()
def equalities_are_solved_with_the_wrong_sign(m: pytest.MonkeyPatch) -> None:
    altered(
        m, system._System, "substitute",
        lambda real, self, name, value: real(
            self, name, value if "" not in value else plus(value, {"": 2 * value[""]}, -1)
        ),
    )  # fmt: skip


# ---------------------------------------------------------------- verdicts


@mutant("extremum")
def what_cannot_be_excluded_is_taken_for_absent(m: pytest.MonkeyPatch) -> None:
    filtered(m, lambda d: d.exact)


@mutant("extremum")
def what_cannot_be_excluded_is_taken_for_proven(m: pytest.MonkeyPatch) -> None:
    altered(m, deps._Search, "_among", lambda real, *args, **how: tuple(
        replace(d, exact=True) for d in real(*args, **how)))  # fmt: skip


@mutant(slow=True)
def scalars_read_before_they_are_written_are_private(m: pytest.MonkeyPatch) -> None:
    altered(m, verdict, "privacy", lambda real, *args: replace(real(*args), exposed=None))


@mutant("extremum")
def the_last_value_is_not_copied_out(m: pytest.MonkeyPatch) -> None:
    def change(real: Any, *args: Any) -> Privacy:
        return replace(real(*args), live=False, caller=False)

    altered(m, verdict, "privacy", change)


@mutant(slow=True)
def a_write_under_a_condition_counts(m: pytest.MonkeyPatch) -> None:
    def change(real: Any, fn: Any, body: Any, path: Any, name: str, start: int = 0) -> Any:
        flat = tuple(x for s in body for x in (s.then if isinstance(s, If) else (s,)))
        return real(fn, flat, path, name, start)

    altered(m, privatise.liveness, "first_use", change)


@mutant("extremum", slow=True)
def a_sum_may_be_read_on_the_way(m: pytest.MonkeyPatch) -> None:
    m.setattr(reductions, "_touched", lambda _: frozenset())


@mutant("extremum")
def sums_and_products_mix(m: pytest.MonkeyPatch) -> None:
    m.setattr(reductions, "agree", lambda *_: True)


@mutant("overlap")
def overlap_is_not_mentioned(m: pytest.MonkeyPatch) -> None:
    m.setattr(verdict, "assumed", lambda *_: ())


@mutant("induction")
def scalars_that_grow_carry_nothing(m: pytest.MonkeyPatch) -> None:
    real = deps._Search.rows

    def keep(self: Any, d: Dependence) -> bool:
        at = d.carrier
        return at is None or induction.induction(self.region.fn, at, d.array) is None

    m.setattr(deps._Search, "rows", lambda self: tuple(d for d in real(self) if keep(self, d)))


@mutant("unsigned")
def unsigned_arithmetic_does_not_wrap(m: pytest.MonkeyPatch) -> None:
    altered(m, Translator, "_converted", lambda _real, self, _type, operand: self.cases(operand))
