"""How many loops of random nests `check` decides, and whether what it says is true.

python scripts/nest_precision.py [--seed N] [--count N] [-v]

Draws the nests of tests/property/c_nests.py, judges them, and runs them access by access for a few
sizes. A row for each kind: its loops, those aside that data end (they are `no`); of those that
carried no dependence in any run how many are parallel, `no` (their witness collides at other
sizes), unknown; the same of those that carried one; the share that is decided; how many are wrong:
parallel by the verdict, in spite of a dependence that it neither makes private nor reduces. `-v`
lists what is unknown. Exit status 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from loopxform.api.verdicts import as_meant, in_order, judged
from loopxform.ir.nodes import For, Function, Opaque
from loopxform.ir.visit import at, walk
from loopxform.ir.whiles import is_while

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "property")]

from c_nests import KINDS, programs  # noqa: E402 (of the tests)
from test_verdicts import collisions, is_allowed  # noqa: E402

ANSWERS = ("parallel", "no", "unknown")


def main() -> int:
    args = options()
    print(f"{'':<12}{'loops':>7}{'free:':>8}" + f"{'':>23}{'carried:':>9}")
    heads = "".join(f"{a:>10}" for a in ANSWERS)
    print(f"{'':<19}{heads}{heads}{'decided':>10}{'wrong':>7}")
    every: Counter[tuple[str, str]] = Counter()
    for kind in KINDS:
        found: Counter[tuple[str, str]] = Counter()
        for name, fn in programs(kind, args.seed, args.count):
            if not any(isinstance(s, Opaque) for _, s in walk(fn.body)):
                found += counted(name, fn, verbose=args.verbose)
        print(line(kind, found), flush=True)
        every += found
    print(line("all", every))
    return 1 if every["wrong", ""] else 0


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=60, help="nests of each kind (default 60)")
    p.add_argument("-v", "--verbose", action="store_true", help="a line for what is unknown")
    return p.parse_args()


def counted(name: str, fn: Function, *, verbose: bool) -> Counter[tuple[str, str]]:
    found = as_meant(judged(fn), fn)
    found = in_order(in_order(found, fn, induction=False), fn, induction=True)
    carried: dict[object, set[tuple[str, str]]] = {}
    for path, one, other in collisions(fn, None):
        carried.setdefault(path, set()).add((one, other))
    out: Counter[tuple[str, str]] = Counter()
    for v in found:
        loop = at(fn, v.path)
        if isinstance(loop, For) and is_while(loop):
            continue
        seen = carried.get(v.path, set())
        answer = v.parallel if v.parallel in ANSWERS else "parallel"
        out["carried" if seen else "free", answer] += 1
        if answer == "parallel":
            out["wrong", ""] += not all(is_allowed(v, *pair) for pair in seen)
        if answer == "unknown" and verbose:
            print(f"  {name}, loop {v.var}: {v.reasons[0].message if v.reasons else ''}")
    return out


def line(kind: str, found: Counter[tuple[str, str]]) -> str:
    numbers = [found[group, a] for group in ("free", "carried") for a in ANSWERS]
    total = sum(numbers)
    left = found["free", "unknown"] + found["carried", "unknown"]
    share = 100 * (1 - left / max(1, total))
    counts = "".join(f"{n:>10}" for n in numbers)
    return f"{kind:<12}{total:>7}{counts}{share:>8.1f} %{found['wrong', '']:>7}"


if __name__ == "__main__":
    sys.exit(main())
