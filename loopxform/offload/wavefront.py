"""Wave fronts, where no loop of a nest is parallel.

    for i: for j: a[i][j] = f(a[i-1][j], a[i][j-1])   ->   for w: forall i: ... a[i][w-i] ...

w is a sum of the loops, each times a factor, that grows along every dependence: the loops inside it
carry none. The factors are the least ones, found from the innermost loop outwards; the steps that
lead there (skewing, interchange) are checked as any others. (Lamport, "The parallel execution of DO
loops", 1974.)
"""

from __future__ import annotations

from collections.abc import Iterable

from loopxform.analysis.dependence import Dependence
from loopxform.analysis.deps import dependences
from loopxform.analysis.verdict import judge
from loopxform.errors import TransformError
from loopxform.ir.affine import simplify, value_of
from loopxform.ir.nodes import Bin, Const, Decl, Expr, For, Var
from loopxform.ir.printer import expr_text
from loopxform.ir.visit import perfect_nest, resolve, walk, writes
from loopxform.transforms import Derivation, Interchange, Normalise, Privatise, Skew
from loopxform.transforms.restructure.skew import LARGEST_FACTOR


def wave_fronts(derivation: Derivation, outermost: str) -> tuple[Derivation, str, str] | None:
    """The perfect nest of a loop with its fronts outermost: their loop, and what they are, as text.
    None where that makes no loop parallel."""
    chain = perfect_nest(resolve(derivation.function, outermost)[0].loop)
    for depth in range(len(chain), 1, -1):
        loops = tuple(x.var for x in chain[:depth])
        for numbered in ((), loops):
            try:
                found = _fronts(derivation, loops, numbered)
            except TransformError:
                continue
            if found is not None:
                return found
            break
    return None


def _fronts(
    derivation: Derivation, loops: tuple[str, ...], numbered: tuple[str, ...]
) -> tuple[Derivation, str, str] | None:
    """Of just these loops; those `numbered` count from 0 first. Raises TransformError."""
    *outer, wave = loops
    w = _private(derivation.titled(f"Wave fronts of {', '.join(loops)}"), wave)
    for v in numbered or (v for v in loops if abs(_step(w, v)) != 1):
        w = w.then(Normalise(v))
    site = resolve(w.function, loops[0])[0]
    factors = least_factors(dependences(w.function, site.path), len(loops))
    if factors is None or factors[-1] != 1:
        return None
    signed = [f * _step(w, v) * _step(w, wave) for f, v in zip(factors, outer)]
    for v, f in zip(outer, signed):
        w = w.then(Skew(wave, v, str(f))) if f else w
    for v in reversed(outer):
        w = w.then(Interchange(v, wave))
    parallel = {v.var for v in judge(w.function) if v.parallel in ("yes", "privatizable")}
    text = expr_text(_sum([*zip(signed, outer), (1, wave)]))
    return (w, wave, text) if parallel & set(outer) else None


def least_factors(rows: Iterable[Dependence], depth: int) -> list[int] | None:
    """Factors >= 0 of `depth` loops, outermost first, for which their sum grows along every
    dependence that these loops carry; None where such are not found. A loop that carries nothing
    more has 0."""
    found, factors = list(rows), [0] * depth
    for level in reversed(range(depth)):
        for d in found:
            if d.level != level:
                continue
            growth = 0
            for n in range(level + 1, depth):
                least = _least(d, n) if factors[n] else 0
                if least is None:
                    return None
                growth += factors[n] * least
            factors[level] = max(factors[level], -((growth - 1) // (_least(d, level) or 1)))
    return factors if max(factors) <= LARGEST_FACTOR else None


def _least(d: Dependence, n: int) -> int | None:
    """The least number of iterations of loop `n` from the source of a dependence to its sink."""
    if n >= len(d.direction):
        return None
    if (distance := d.distance[n]) is not None:
        return distance
    return {"=": 0, "<": 1}.get(d.direction[n])


def _private(w: Derivation, innermost: str) -> Derivation:
    """Scalars of the function that the body sets are declared in it, where they can be."""
    (site,) = resolve(w.function, innermost)
    for _, s in walk(w.function.body):
        if isinstance(s, Decl) and not s.shape and s.name in writes(site.loop.body):
            step = Privatise(s.name, innermost)
            w = w if step.check(w.function) else w.then(step)
    return w


def _step(w: Derivation, var: str) -> int:
    loop: For = resolve(w.function, var)[0].loop
    return value_of(loop.step) or 0


def _sum(terms: list[tuple[int, str]]) -> Expr:
    total: Expr = Const(0)
    for f, v in terms:
        total = Bin("+", total, Bin("*", Const(f), Var(v)))
    return simplify(total)
