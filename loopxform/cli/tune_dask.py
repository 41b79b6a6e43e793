"""`loopxform tune --dask ADDRESS`: workers of a Dask cluster measure, each on its own device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from loopxform.cli import device_worker
from loopxform.cli.cluster import Cluster, RemoteWorker, cluster, refuse
from loopxform.cli.options import chosen, read
from loopxform.cli.tune_job import Job
from loopxform.cli.tune_subject import Place
from loopxform.cli.tuned import digest_of
from loopxform.tune.memo import Memo
from loopxform.tune.workers import Gone, Worker

MODULE = "loopxform.cli.tune_worker"
LIMIT = 120.0
"""Seconds in which a worker says what device it has."""


@dataclass
class Machines:
    """The workers of a cluster that measure. It is `held` as soon as its devices are asked for."""

    held: ExitStack
    cluster: Cluster = field(init=False)
    addresses: Sequence[str] = ()

    def place(self, args: argparse.Namespace) -> Place:
        """The device that they all have. Raises UsageError for workers that differ, and where there
        is no cluster."""
        self.cluster = self.held.enter_context(cluster(args.dask))
        self.cluster.require_same()
        self.addresses = list(self.cluster.workers)
        answers = self._answers(args)
        refuse(
            {a: f"cannot measure: {x['why']}" for a, x in answers.items() if x["status"] != "ok"},
            "start workers where kernels run",
        )
        text = digest_of(chosen(read(args), args))
        refuse(
            {
                a: "sees another text of the function"
                for a, x in answers.items()
                if x["text"] != text
            },
            "start the workers where they see the same files: in a folder that is shared",
        )
        places = {a: device_worker.unpacked(x["place"]) for a, x in answers.items()}
        first, place = next(iter(places.items()))
        refuse(
            {
                a: f"has {_shown(other)}, and that at {first} has {_shown(place)}"
                for a, other in places.items()
                if _kind(other) != _kind(place)
            },
            "times of different devices are not compared: start workers for one of them",
        )
        return place

    def _answers(self, args: argparse.Namespace) -> dict[str, dict[str, Any]]:
        """What each worker says of itself."""

        def ask(address: str) -> dict[str, Any]:
            module = "loopxform.cli.device_worker"
            worker = self._worker(address, args.words[1:], LIMIT, module=module)
            try:
                return worker.ask({})
            except Gone:
                return {"status": "crash", "why": "it has gone"}
            finally:
                worker.stop()

        with ThreadPoolExecutor(len(self.addresses)) as pool:
            return dict(zip(self.addresses, pool.map(ask, self.addresses)))

    def workers(self, job: Job, memo: Memo) -> list[Worker]:
        """The processes that measure, which know what was measured before."""
        known = [
            row
            for row in memo.every
            if row.get("function") == job.routine.name
            and row.get("device") == job.device.name
            and row["status"] != "space"
            and not row.get("race")
        ]
        return [
            self._worker(a, job.words, job.limit, module=MODULE, memo=memo, known=known)
            for a in self.addresses
        ]

    def shown(self, lost: Sequence[Worker]) -> list[str]:
        """Which workers have not measured to the end."""
        addresses = (w.address for w in lost if isinstance(w, RemoteWorker))
        return [f"  without the worker at {a}: it has gone, or cannot measure" for a in addresses]

    def _worker(
        self, address: str, words: Sequence[str], limit: float, **more: Any
    ) -> RemoteWorker:
        return RemoteWorker(argv=words, limit=limit, cluster=self.cluster, address=address, **more)


def _kind(place: Place) -> tuple[object, ...]:
    device = place.device
    return device.name, device.platform, device.driver_version, place.limits


def _shown(place: Place) -> str:
    return f"{place.device} with driver {place.device.driver_version}"
