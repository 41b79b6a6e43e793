"""What follows mapping and staging: tiles without bounds checks, loops unrolled."""

from __future__ import annotations

from loopxform.ir.nodes import Assign, Bin, Call, Expr, For, Load, Select, Stmt, Un
from loopxform.ir.visit import bodies, children, resolve
from loopxform.recipes.deriving import Work
from loopxform.targets.target import Costs
from loopxform.transforms import Pad, Split, Unroll
from loopxform.transforms.edges.bounds import fixed_trips
from loopxform.transforms.restructure.split import FULL_TILES


def _weight(body: tuple[Stmt, ...]) -> int:
    """Operations of one run of a body; a call counts for eight."""
    total = 0
    for s in body:
        if isinstance(s, For):
            fixed = fixed_trips(s)
            total += ((fixed[0].value if fixed else None) or 1) * _weight(s.body)
        else:
            total += sum(_weight(inner) for inner in bodies(s))
        if isinstance(s, Assign):
            total += _operations(s.value) + bool(s.op)
    return total


def _operations(e: Expr) -> int:
    """Subscripts count for nothing."""
    if isinstance(e, Load):
        return 0
    own = 8 if isinstance(e, Call) or (isinstance(e, Bin) and e.op in "/%") else 0
    return (own or isinstance(e, Bin | Un | Select)) + sum(map(_operations, children(e)))


def finish(
    w: Work,
    outer: dict[str, str],
    vectors: dict[str, tuple[str, ...]],
    costs: Costs,
    *,
    pad: bool,
) -> None:
    """Tiles without bounds checks: full but for the last one, or padded. Those of few operations
    are unrolled. By the loop that was tiled, `outer` are the loops over tiles, `vectors` those over
    the vectors of a tile."""
    for kk in outer.values():
        w.stage("Neutral padding of the common dimension")
        if not (pad and w.attempt(Pad(kk))):
            w.stage("Epilogue of the common dimension")
            w.attempt(Split(kk, FULL_TILES))
    if outer:
        w.stage("Unrolling for the kernel compiler")
    for k, over in vectors.items():
        if _weight(resolve(w.fn, k)[0].loop.body) * w.sizes["Tk"] <= costs.unrolled:
            w.attempt(*(Unroll(f"{v}*") for v in (*over, k)))
