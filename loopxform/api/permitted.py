"""What is permitted of floating point, as arguments in Python say it; what `strict` refuses."""

from __future__ import annotations

from dataclasses import replace

from loopxform.errors import ArgumentError, TransformError, UnsupportedC
from loopxform.floating_point import PERMITTED, FloatingPoint, Level
from loopxform.ir.accuracy import ULPS, computed
from loopxform.ir.functions import base_name
from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation, Dispatch
from loopxform.transforms.reductions.factoring import Factoring


def permission(level: Level | None, *, contract: bool, reassociate: bool) -> FloatingPoint:
    """That of a level (None: `contract`), as `contract` and `reassociate` change it."""
    allowed = PERMITTED[level or "contract"]
    if allowed.exact and reassociate:
        raise ArgumentError("fp='strict' and reassociate=True say the opposite")
    return replace(
        allowed,
        contract=allowed.contract and contract,
        reassociate=allowed.reassociate or reassociate,
    )


def require_order(derivation: Derivation, fp: FloatingPoint) -> None:
    """Raises TransformError for a step that is legal in another order of sums alone, where that is
    not permitted."""
    before = derivation.start
    for r in derivation.records if not fp.reassociate else ():
        match r.step:
            case Factoring() as step if step.reassociate:
                if obstacles := replace(step, reassociate="").check(before):
                    raise TransformError(str(step), obstacles)
            case Dispatch() as step:
                for variant in step.variants:
                    require_order(variant.derive(before), fp)
        before = r.result


def require_permitted(fn: Function, fp: FloatingPoint) -> None:
    """Raises UnsupportedC where nothing may differ from C, and a function is called that devices
    compute in their own way."""
    for name, loc in computed(fn) if fp.exact else ():
        base = base_name(name) or ""
        if base in ULPS:
            problem = f"a device's {name} may differ from your C library's, by {ULPS[base]} ulp"
        elif base in ("fmax", "fmin"):
            problem = f"{name} of 0.0 and -0.0 may give the one or the other"
        else:
            continue
        help = "permit that (--fp contract), or leave the loop to the host"
        raise UnsupportedC(problem, loc=loc or fn.origin.loc, code="LX071", help=help)
