"""A worker of `loopxform tune` whose times are a formula, and `loopxform` with such workers.

python drawn_worker.py COMMAND ...      loopxform COMMAND ... with these
DRAWN=0.05                              seconds that each measurement takes
FAULTS={"Tx=8": "hang", ...}            what becomes of candidates with such a size; kill: of who
                                        asks, the first time
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from loopxform.bench.kernels import Kernels
from loopxform.cli import tune_worker
from loopxform.cli.tune_worker import Bench

FAULTS = json.loads(os.environ.get("FAULTS", "{}"))


def milliseconds(sizes: Mapping[str, Any] | None) -> float:
    """The quickest is Ty=4 (where there are rows), Tx=32, with two buffers and vectors."""
    if sizes is None:
        return 5.0  # Ty=4, Tx=64, as others do
    buffers = {None: 1.0, "1": 1.2, "2": 0.5}[sizes.get("stages")]
    vectors = {None: 1.0, "4": 0.7}.get(sizes.get("vector"), 1.1)
    return (1.0 + abs(sizes.get("Ty", 4) - 4) + abs(sizes["Tx"] - 32) / 8) * buffers * vectors


class Drawn(Bench):
    def _kernels(self, *_: object) -> str:
        """Nothing is built."""
        return "the compiler says no"

    def _measured(self, kernels: Kernels | str, job: Mapping[str, Any]) -> dict[str, Any]:
        time.sleep(float(os.environ.get("DRAWN", "0")))
        sizes = job["sizes"]
        fault = next((f for n, f in FAULTS.items() if n in words(sizes or {})), "")
        if fault == "hang":
            time.sleep(600)
        if fault == "abort":
            os.abort()
        if fault == "kill" and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getppid(), signal.SIGKILL)
        if fault == "build":
            return super()._measured(kernels, job)
        if fault == "wrong":
            return {"status": "wrong", "why": "b[0][0] is 1, not 2"}
        return {"status": "ok", "milliseconds": [milliseconds(sizes)] * job["runs"]}


def words(sizes: Mapping[str, int]) -> list[str]:
    """Each size, and all of them; "" is every candidate."""
    each = [f"{n}={v}" for n, v in sizes.items()]
    return [*each, ",".join(each), ""]


if __name__ == "__main__":
    if sys.argv[1:2] == ["tune"]:
        from loopxform.cli import main, tune, tune_dask

        tune_dask.MODULE = "drawn_worker"
        worker = partial(tune.Worker, module="drawn_worker")
        tune.Worker = worker  # type: ignore[misc, assignment]
        sys.exit(main(sys.argv[1:]))
    tune_worker.Bench = Drawn  # type: ignore[misc]
    sys.exit(tune_worker.main(sys.argv[1:]))
