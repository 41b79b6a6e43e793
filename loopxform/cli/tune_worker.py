"""The process that measures for `loopxform tune`: it reads jobs, a line of JSON each, and answers.

    {"sizes": {"Ty": 8} or null for the defaults, "dataset": 0, "runs": 5, "fresh": false}
    {"status": "ok", "milliseconds": [...], "kept": true where they are of an earlier run}

With `"build": true` the times are not kept: the kernel is only to be built.

A result that differs from that of your C is never timed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from loopxform.bench import sizes
from loopxform.bench.kernels import Kernels
from loopxform.bench.measure import Case, Contestant, Row
from loopxform.bench.variants import Variant
from loopxform.cli import tiling
from loopxform.cli.arguments import understood
from loopxform.cli.bench import Setup, prepared
from loopxform.cli.options import numbers, read
from loopxform.errors import LoopxformError
from loopxform.tune.memo import Memo, key_of


@dataclass
class Bench:
    """What is measured with: the nest, the sets of sizes, and what was measured before."""

    setup: Setup
    datasets: list[sizes.Sizes]
    recipe: Any
    memo: Memo
    cases: dict[int, Case] = field(default_factory=dict)
    entries: dict[tuple[tuple[str, str], ...], Contestant | Row] = field(default_factory=dict)

    def answer(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The times of a job, or why there are none."""
        entry = self._entry(tuple((n, str(v)) for n, v in (job["sizes"] or {}).items()))
        if isinstance(entry, Row):
            return {"status": "refused", "why": entry.refused}
        assert isinstance(entry, Kernels)
        dataset = self.datasets[job["dataset"]]
        device, seed = self.setup.device, self.setup.bench.seed
        where = (device.name, device.platform, device.driver_version)
        key = key_of(entry.plan.source, dict(dataset), where, seed, entry.plan.fp.level)
        known = self.memo.known.get(key)
        if known is not None and not job.get("fresh"):
            return {**known, "kept": True}
        result = {"key": key, **self._measured(entry, job)}
        if not job.get("build"):
            self.memo.keep(key, result)
        return result

    def _entry(self, varied: tuple[tuple[str, str], ...]) -> Contestant | Row:
        """The kernels with these sizes, built once."""
        if varied not in self.entries:
            (self.entries[varied],) = self.setup.lineup.variants([Variant(self.recipe, varied)])
        return self.entries[varied]

    def _measured(self, entry: Kernels, job: Mapping[str, Any]) -> dict[str, Any]:
        n = job["dataset"]
        if n not in self.cases:
            self.cases[n] = self.setup.bench.case(self.datasets[n])
        row = replace(self.setup.bench, repeat=job["runs"]).row(self.cases[n], entry)
        if row.wrong:
            return {"status": "wrong", "why": row.wrong}
        if row.refused:
            return {"status": "refused", "why": row.refused}
        return {"status": "ok", "milliseconds": list(row.milliseconds)}


def bench(argv: list[str]) -> Bench:
    """Everything that the command line of `tune` asks for, ready to measure. Raises
    LoopxformError."""
    args = understood("tune", argv)
    datasets = sizes.every(numbers("--size", args.size), args.sizes)
    file = read(args)
    return Bench(prepared(args, file), datasets, tiling.recipe(args), Memo.of(file.stem))


def main(argv: list[str]) -> int:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what drivers print is no answer
    own = bench(argv)
    for line in sys.stdin:
        try:
            answer = own.answer(json.loads(line))
        except LoopxformError as e:
            answer = {"status": "refused", "why": e.message}
        print(json.dumps(answer), file=answers, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
