"""Tiles every nest of the corpus by every recipe for every profile, each in a process of its own.

python scripts/sweep_recipes.py [--share N] [--seed N] [--limit SECONDS] [--memory MIB] [--jobs N]

With `--share 10`, a tenth of them, by chance. A combination fails where `tile` ends with a status
that is none of ours (0, 1, 2), needs more CPU seconds than the limit, or more memory. Exit status 1
where one failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from fuzz import RECIPES, Outcome, Tally, forked, warm
from tqdm import tqdm

from loopxform.targets.profile import PROFILES

CORPUS = Path(__file__).parents[1] / "corpus"


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--share", type=int, metavar="N", default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--limit", type=float, metavar="SECONDS", default=60.0)
    p.add_argument("--memory", type=float, metavar="MIB", default=1024.0)
    p.add_argument("--jobs", type=int, default=1)
    return p.parse_args()


def main() -> int:
    args = options()
    os.environ["LOOPXFORM_CACHE"] = "off"
    files = sorted(p for x in (".", "nests", "domains") for p in (CORPUS / x).glob("*.c"))
    every = [(f, r, p) for f in files for p in PROFILES for r in RECIPES]
    chosen = Random(args.seed).sample(every, len(every) // args.share)
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        warm(Path(name))

        def tiled(combination: tuple[Path, str, str]) -> Outcome:
            file, recipe, profile = combination
            argv = ["tile", str(file), "--profile", profile, "--recipe", recipe, "-o", name]
            allowed = ["--reassociate"] if recipe == "reduce" else []
            return forked([*argv, *allowed], 0, args.limit, args.memory)

        outcomes = tqdm(pool.map(tiled, chosen), total=len(chosen), unit="kernel", mininterval=5)
        for (file, recipe, profile), outcome in zip(chosen, outcomes, strict=True):
            tally.add(f"{file.name} {recipe} {profile}", outcome)
    print(f"{len(chosen)} of {len(every)}: {tally}")
    return int(tally.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
