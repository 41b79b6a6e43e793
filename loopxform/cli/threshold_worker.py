"""The process that measures for `loopxform tune --thresholds`: it reads jobs, a line of JSON each,
and answers.

    {"thresholds": {"suff_outer_par_0": 9}, "dataset": 0, "runs": 5, "regions": false}
    {"status": "waiting"}               another process measures on the device
    {"status": "started", "about": {}}  from now on within the limit
    {"status": "ok", "times": {"": [milliseconds of each launch], "i": [of the nest of i]}}

A result that differs from that of your C is never timed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from loopxform.bench import sizes
from loopxform.bench.kernels import Kernels
from loopxform.bench.measure import Bench, Case
from loopxform.bench.regions import regions, with_thresholds
from loopxform.cli import running, tiling
from loopxform.cli.arguments import understood
from loopxform.cli.floating_point import permitted
from loopxform.cli.measuring import WAITING, turn_of
from loopxform.cli.options import chosen, numbers, read
from loopxform.cli.serving import Tell, serve
from loopxform.cli.versioned import versioned
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.runtime.device import DeviceInfo
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.queue import Queue
from loopxform.runtime.queues import queue_on
from loopxform.tune.locks import locked
from loopxform.tune.nests import owners
from loopxform.tune.threshold_session import WHOLE
from loopxform.verify.check_run import Reference, allowed_of

Answer = dict[str, Any]
Thresholds = tuple[tuple[str, int], ...]


@dataclass
class Measuring:
    """What is measured with: the kernels with the default thresholds are those of `bench`."""

    bench: Bench
    device: DeviceInfo
    queue: Queue
    owner: Mapping[str, str]
    datasets: list[sizes.Sizes]
    warmup: int
    cases: dict[int, Case] = field(default_factory=dict)
    built: dict[Thresholds, Kernels] = field(default_factory=dict)
    verified: set[tuple[Thresholds, int]] = field(default_factory=set)

    def answer(self, job: Mapping[str, Any], tell: Tell) -> Answer:
        """The times of a job, or why there are none; `tell` is given the messages before it.
        Raises LoopxformError."""
        n = job["dataset"]
        if n not in self.cases:
            self.cases[n] = self.bench.case(self.datasets[n])
        started = {"status": "started", "about": {}}
        tell(started)
        thresholds = tuple(sorted(job["thresholds"].items()))
        if thresholds not in self.built:
            plan = with_thresholds(self.bench.plan, job["thresholds"])
            self.built[thresholds] = _kernels(plan, self.device, self.queue)
        with locked(turn_of(self.device), waiting=lambda: tell(WAITING)):
            tell(started)
            return self._measured(job, thresholds)

    def _measured(self, job: Mapping[str, Any], thresholds: Thresholds) -> Answer:
        n, kernels = job["dataset"], self.built[thresholds]
        verified = (thresholds, n) in self.verified
        bench = replace(self.bench, repeat=job["runs"])
        row = bench.row(self.cases[n], kernels, verified=verified)
        if row.wrong or row.refused:
            return {"status": "wrong" if row.wrong else "refused", "why": row.wrong or row.refused}
        self.verified.add((thresholds, n))
        times = {WHOLE: list(row.milliseconds)}
        if job["regions"]:
            times |= self._by_region(kernels, self.cases[n], job["runs"])
        return {"status": "ok", "times": times}

    def _by_region(self, kernels: Kernels, case: Case, runs: int) -> dict[str, list[float]]:
        """What the nests take; none is launched where it has no iterations."""
        of = regions(kernels.plan, self.owner)
        out = {region: [0.0] * runs for region in self.owner.values()}
        for n, parts in enumerate(kernels.parts(case.given, self.warmup + runs)[self.warmup :]):
            for number, time in parts:
                if number in of:
                    out[of[number]][n] += time / 1e6
        return out


def _kernels(plan: Plan, device: DeviceInfo, queue: Queue) -> Kernels:
    compiled = CompiledKernel(plan, device, queue=queue)
    return Kernels("versions", {}, plan, compiled, allowed_of(plan, device))


def measuring(argv: list[str]) -> Measuring:
    """Everything that the command line of `tune` asks for. Raises LoopxformError."""
    args = understood("tune", argv)
    file, fp = read(args), permitted(args)
    routine, device = chosen(file, args), tiling.device(args)
    queue = queue_on(device)
    derivation = versioned(args, file, routine, running.limits_on(device, args))
    plan = emit.kernel(derivation, fp=fp)
    base = _kernels(plan, device, queue)
    reference = Reference(running.reference(file, args), plan.written)
    warmup, seed = running.launches("--warmup", args.warmup, 0), running.seed(args)
    bench = Bench(base, plan, derivation, reference, seed, running.inputs(args), warmup, 1)
    asked = sizes.every(numbers("--size", args.size), args.sizes)
    return Measuring(bench, device, queue, owners(derivation), asked, warmup)


def main(argv: list[str]) -> int:
    return serve(lambda: measuring(argv).answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
