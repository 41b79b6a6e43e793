"""What is permitted of floating point, as arguments in Python say it; what `strict` refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopxform.errors import ArgumentError, Obstacle, TransformError, UnsupportedC
from loopxform.floating_point import PERMITTED, FloatingPoint, Level
from loopxform.ir.accuracy import ULPS, computed
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Function
from loopxform.ir.permitted import permitted
from loopxform.ir.visit import resolve
from loopxform.schedule.requests import Wishes
from loopxform.transforms import Derivation, Dispatch, SplitFloats
from loopxform.transforms.reductions.factoring import Factoring


def permission(level: Level | None, *, contract: bool, reassociate: bool) -> FloatingPoint:
    """That of a level (None: `contract`), as `contract` and `reassociate` change it; where a level
    is given, the source permits no more."""
    allowed = PERMITTED[level or "contract"]
    if allowed.exact and reassociate:
        raise ArgumentError("fp='strict' and reassociate=True say the opposite")
    allowed = replace(
        allowed,
        contract=allowed.contract and contract,
        reassociate=allowed.reassociate or reassociate,
    )
    return allowed.bounded(level is not None, fused=contract)


def require_order(derivation: Derivation, fp: FloatingPoint, asked: Wishes | None = None) -> None:
    """Raises TransformError for a step that is legal in another order of sums alone, or with other
    products of floats, where that is not permitted: by `fp` and what the source says, `asked` its
    annotations included."""
    for fn, step, obstacles in _differing(derivation, derivation.start):
        split = isinstance(step, SplitFloats)
        if not (_may_split if split else _reordered)(fn, step.loop, fp, asked):
            raise TransformError(str(step), obstacles)


def _differing(
    derivation: Derivation, start: Function
) -> Iterator[tuple[Function, Factoring | SplitFloats, tuple[Obstacle, ...]]]:
    """The steps that are legal in another order of sums alone, or with other products, those of
    variants included: each with the program before it, and what else stands in its way."""
    before = start
    for r in derivation.records:
        match r.step:
            case Factoring() as step if step.reassociate:
                if obstacles := replace(step, reassociate="").check(before):
                    yield before, step, obstacles
            case SplitFloats() as step:
                yield before, step, replace(step, permitted="").check(before)
            case Dispatch() as step:
                for variant in step.variants:
                    made = variant.derive(before)
                    yield from _differing(made, made.start)
        before = r.result


def needed(derivation: Derivation) -> Level:
    """The lowest level that the kernels need: those of `fast` multiply parts of floats, those of
    `reassociate` compute sums in another order, those of `contract` call functions of the device.
    Nothing else needs `fast`: it is quicker."""
    kinds = {type(step) for _, step, _ in _differing(derivation, derivation.start)}
    if kinds:
        return "fast" if SplitFloats in kinds else "reassociate"
    called = (base_name(name) or "" for name, _ in computed(derivation.start))
    return "contract" if any(x in ULPS or x in ("fmax", "fmin") for x in called) else "strict"


def _may_split(fn: Function, loop: str, fp: FloatingPoint, asked: Wishes | None) -> bool:
    """Whether the products of a loop may be those of parts."""
    del asked
    fp = permitted(fp, fn, (resolve(fn, loop)[0].loop,))
    return fp.contract and fp.reassociate and fp.approximate


def _reordered(fn: Function, loop: str, fp: FloatingPoint, asked: Wishes | None) -> bool:
    """Whether the sums of a loop may be in another order."""
    site = resolve(fn, loop)[0]
    if asked is not None and asked.of(fn, site.path).options.reassociate:
        fp = fp.reordering()
    return permitted(fp, fn, (site.loop,)).reassociate


def require_permitted(fn: Function, fp: FloatingPoint) -> None:
    """Raises UnsupportedC where nothing may differ from C, and a function is called that devices
    compute in their own way."""
    strict = [s for s in fn.body if permitted(fp, fn, (s,)).exact]
    for name, loc in computed(fn, tuple(strict)) if strict else ():
        base = base_name(name) or ""
        if base in ULPS:
            problem = f"a device's {name} may differ from your C library's, by {ULPS[base]} ulp"
        elif base in ("fmax", "fmin"):
            problem = f"{name} of 0.0 and -0.0 may give the one or the other"
        else:
            continue
        help = "permit that (--fp contract), or leave the loop to the host"
        raise UnsupportedC(problem, loc=loc or fn.origin.loc, code="LX071", help=help)
