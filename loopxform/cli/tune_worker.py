"""The process that measures for `loopxform tune`: it reads jobs, a line of JSON each, and answers.

    {"sizes": {"Ty": 8} or null for the defaults, "dataset": 0, "runs": 5, "fresh": false,
     "race": false, "baseline": milliseconds of the defaults, "predicted": by the model,
     "stop": milliseconds, beyond which the first run is the only one,
     "next": sizes that are likely to be asked for next}
    {"status": "waiting"}                   another process measures on the device
    {"status": "started", "about": {...}}   what is measured, from now on within the limit
    {"status": "deriving"}                  not what is measured, but what comes next
    {"status": "elsewhere", ...}            another process of a shared folder measures it
    {"status": "ok", "milliseconds": [...], "kept": true where they are of an earlier run, ...}

    {"known": [...]}                        what was measured elsewhere: it is not measured again

With `"build": true` the times are not kept: the kernel is only to be built; with `"derive": true`
only its text is made. With `"race": true` times are for comparison with others of the same race.

A result that differs from that of your C is never timed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, TypeAlias

from loopxform.api.mapped import MappedRoutine
from loopxform.bench import sizes
from loopxform.bench.kernels import Kernels
from loopxform.bench.measure import REFUSALS, Case
from loopxform.bench.variants import Variant
from loopxform.cli import tiling
from loopxform.cli.arguments import understood
from loopxform.cli.bench import Setup, prepared
from loopxform.cli.measuring import DERIVING, WAITING, turn_of
from loopxform.cli.options import numbers, read
from loopxform.cli.serving import Tell, serve
from loopxform.cli.tune_job import as_text, given_options, statistic_of
from loopxform.cli.tuned import digest_of
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.files import safe_name
from loopxform.schedule.params import Recipe
from loopxform.schedule.tiling_options import TUNED, words
from loopxform.transforms import thresholds_of
from loopxform.tune.claims import HOST, Claims
from loopxform.tune.locks import locked
from loopxform.tune.memo import Measurement, Memo, key_of

Parameters: TypeAlias = tuple[tuple[str, str], ...]


@dataclass
class Bench:
    """What is measured with: the nest, the sets of sizes, and what was measured before."""

    setup: Setup
    datasets: list[sizes.Sizes]
    recipe: Recipe | None
    memo: Memo
    claims: Claims | None
    limit: float
    statistic: str
    given: str
    cases: dict[int, Case] = field(default_factory=dict)
    planned: dict[Parameters, tuple[MappedRoutine, Plan] | str] = field(default_factory=dict)
    built: dict[Parameters, Kernels] = field(default_factory=dict)
    verified: set[tuple[str, int]] = field(default_factory=set)
    phases: dict[str, float] = field(default_factory=dict)

    def answer(self, job: Mapping[str, Any], tell: Tell) -> Measurement:
        """The times of a job, or why there are none; `tell` is given the messages before it."""
        if "known" in job:
            for row in job["known"]:
                if row not in self.memo.every:
                    self.memo.keep(row)
            return {"status": "ok"}
        parameters = _parameters(job["sizes"])
        self.phases = {}
        planned = self._plan(parameters)
        if job.get("derive"):
            return {"status": "ok"}
        if isinstance(planned, str):
            return {"status": "refused", "why": planned}
        tiled, plan = planned
        about = self._about(job, tiled, plan)
        if known := self._known(job, about["key"]):
            return known
        if self.claims is None or job["race"]:
            return self._alone(job, parameters, tiled, about, tell)
        host = HOST if job["sizes"] is None else "any"
        with self.claims.taken(f"{about['key']}-{safe_name(host)}") as is_ours:
            self.memo.refresh()
            if known := self._known(job, about["key"]):
                return known
            if not is_ours:
                return {"status": "elsewhere", "why": "another process measures it"}
            return self._alone(job, parameters, tiled, about, tell)

    def _alone(
        self,
        job: Mapping[str, Any],
        parameters: Parameters,
        tiled: MappedRoutine,
        about: Measurement,
        tell: Tell,
    ) -> Measurement:
        """Builds the kernel, and measures it while nobody else measures on the device."""
        started = {"status": "started", "about": about}
        self._case(job["dataset"])
        tell(started)
        began = time.monotonic()
        kernels = self._built(job, parameters, tiled, tell)
        turn = None if job.get("build") else turn_of(self.setup.device)  # nothing is timed
        with locked(turn, waiting=lambda: tell(WAITING)):
            self.memo.refresh()
            if known := self._known(job, about["key"]):
                return known
            tell(started)
            now = datetime.now(UTC).isoformat(" ", "seconds")
            answer = {**about, "time": now, **self._measured(kernels, job)}
            answer |= {"spent": time.monotonic() - began, "phases": self.phases}
            if answer["status"] != "ok" or not job.get("build"):
                self.memo.keep(answer)
        return answer

    def _plan(self, parameters: Parameters) -> tuple[MappedRoutine, Plan] | str:
        """The nest with these parameters, or why it cannot be had."""
        if parameters not in self.planned:
            try:
                with self._timed("derive"):
                    tiled = self.setup.lineup.tiled(Variant(self.recipe, parameters))
                    plan = emit.kernel(tiled.derivation, fp=tiled.fp)
                self.planned[parameters] = tiled, plan
            except REFUSALS as e:
                self.planned[parameters] = "; ".join([e.message, *e.notes[:1]])
        return self.planned[parameters]

    def _about(self, job: Mapping[str, Any], tiled: MappedRoutine, plan: Plan) -> Measurement:
        """What is measured."""
        dataset = dict(self.datasets[job["dataset"]])
        device, seed = self.setup.device, self.setup.bench.seed
        where = (device.name, device.platform, device.driver_version)
        thresholds = thresholds_of(tiled.derivation)
        return {
            "key": key_of(plan.source, dataset, where, seed, plan.fp.level, thresholds),
            "program": Path(self.setup.routine.file.name).stem,
            "function": self.setup.routine.name,
            "text": digest_of(self.setup.routine),
            "recipe": tiled.recipe,
            "sizes": job["sizes"],
            "data": dataset,
            "device": device.name,
            "platform": device.platform,
            "driver": device.driver_version,
            "fp": plan.fp.level,
            "host": HOST,
            "race": job["race"],
            "baseline": job.get("baseline"),
            "predicted": job.get("predicted"),
            "statistic": self.statistic,
            "given": self.given,
        }

    def _known(self, job: Mapping[str, Any], key: str) -> Measurement | None:
        """What was measured before, where that will do: as many runs, a limit as long."""
        known = self.memo.find(key, HOST if job["sizes"] is None else None)
        if known is None or job.get("fresh"):
            return None
        runs = len(known.get("milliseconds", ()))
        if known["status"] == "ok" and runs < job["runs"]:
            enough = known.get("stopped") and known["milliseconds"][0] > job.get("stop", inf)
            if not enough:
                return None
        if known["status"] == "timeout" and known.get("limit", 0) < self.limit:
            return None
        if known["sizes"] != job["sizes"]:  # those of another kernel with the same text
            own = {n: job.get(n) for n in ("sizes", "baseline", "predicted")}
            known = {**known, **own, "same": True}
            if known not in self.memo.every:
                self.memo.keep(known)
        return {**known, "kept": True}

    def _case(self, dataset: int) -> Case:
        if dataset not in self.cases:
            self.cases[dataset] = self.setup.bench.case(self.datasets[dataset])
        return self.cases[dataset]

    def _built(
        self, job: Mapping[str, Any], parameters: Parameters, tiled: MappedRoutine, tell: Tell
    ) -> Kernels | str:
        """The kernels, while the next candidate is derived: the device's compiler leaves us a
        core."""

        def build() -> Kernels | str:
            with self._timed("build"):
                return self._kernels(parameters, tiled)

        def told() -> Kernels | str:
            kernels = build()
            tell(DERIVING)
            return kernels

        if "next" not in job or parameters in self.built:
            return build()
        with ThreadPoolExecutor(1) as pool:
            building = pool.submit(copy_context().run, told)
            with suppress(Exception):  # it comes again in its own turn
                self._plan(_parameters(job["next"]))
            return building.result()

    def _kernels(self, parameters: Parameters, tiled: MappedRoutine) -> Kernels | str:
        """The kernels, built once, or why they cannot be."""
        if parameters not in self.built:
            try:
                label = Variant(self.recipe, parameters).label
                self.built[parameters] = self.setup.lineup.kernels(label, tiled)
            except REFUSALS as e:
                return "; ".join([e.message, *e.notes[:1]])
        return self.built[parameters]

    def _measured(self, kernels: Kernels | str, job: Mapping[str, Any]) -> Measurement:
        if isinstance(kernels, str):
            return {"status": "refused", "why": kernels}
        case, stop = self._case(job["dataset"]), job.get("stop", inf)
        verified = kernels.label, job["dataset"]
        try:
            with self._timed("verify"):
                wrong = "" if verified in self.verified else self.setup.bench.wrong(case, kernels)
        except REFUSALS as e:
            return {"status": "refused", "why": e.message}
        if wrong:
            return {"status": "wrong", "why": wrong}
        self.verified.add(verified)
        bench = replace(self.setup.bench, repeat=1 if stop < inf else job["runs"])
        with self._timed("run"):
            row = bench.row(case, kernels, verified=True)
            if row.refused:
                return {"status": "refused", "why": row.refused}
            times = list(row.milliseconds)
            if times[0] > stop:
                return {"status": "ok", "milliseconds": times, "stopped": True}
            if len(times) < job["runs"]:
                times += (t / 1e6 for t in kernels.times(case.given, job["runs"] - len(times)))
        return {"status": "ok", "milliseconds": times}

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        """Counts the seconds inside."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.phases[phase] = self.phases.get(phase, 0.0) + time.monotonic() - began


def _parameters(point: Mapping[str, Any] | None) -> Parameters:
    """Sizes and options, None for the defaults, as a variant has them."""
    options = {n: v for n, v in (point or {}).items() if n in TUNED}
    others = {n: str(v) for n, v in (point or {}).items() if n not in TUNED}
    return (*others.items(), *words(options).items())


def bench(argv: list[str]) -> Bench:
    """Everything that the command line of `tune` asks for, ready to measure. Raises
    LoopxformError."""
    args = understood("tune", argv)
    datasets = sizes.every(numbers("--size", args.size), args.sizes)
    file = read(args)
    setup, recipe = prepared(args, file), tiling.recipe(args)
    memo = Memo.of(file.stem, args.shared)
    claims = Claims(Path(args.shared, "claims")) if args.shared else None
    statistic = statistic_of(args, setup.device)
    given, limit = as_text(given_options(args)), float(args.limit)
    return Bench(setup, datasets, recipe, memo, claims, limit, statistic, given)


def main(argv: list[str]) -> int:
    return serve(lambda: bench(argv).answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
