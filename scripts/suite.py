"""The programs of a PolyBench/C 4.2 folder, and the sizes of their data sets. The suite is not part
of this repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import loopxform as lx
from loopxform.api.facade import Routine

SCALARS = {"alpha": 1.5, "beta": 1.2, "float_n": 20.0}


def programs(folder: Path, only: str = "") -> Iterator[Path]:
    """The files of the suite, or of it those of the names in `only`, with commas."""
    for file in (folder / "utilities" / "benchmark_list").read_text().split():
        path = folder / file
        if not only or path.stem in only.split(","):
            yield path


def macros(dataset: str) -> tuple[str, ...]:
    return f"{dataset}_DATASET", "POLYBENCH_USE_C99_PROTO"


def kernel_of(path: Path, folder: Path, dataset: str) -> Routine:
    """The function that the suite times. Raises LoopxformError."""
    file = lx.load(path, include=[str(folder / "utilities")], define=macros(dataset))
    return next(r for r in file if r.name.startswith("kernel_"))


def sizes_of(routine: Routine, path: Path, dataset: str) -> dict[str, int | float]:
    """The numbers of the data set, as the header of the program defines them."""
    header = path.with_suffix(".h").read_text()
    block = re.split(rf"ifdef\s+{dataset}_DATASET", header)[1].partition("endif")[0]
    known = {n.lower(): int(v) for n, v in re.findall(r"define\s+(\w+)\s+(\d+)", block)}
    out: dict[str, int | float] = {}
    for p in routine.function.params:
        if not p.array:
            out[p.name] = known[p.name] if p.type.is_integer else SCALARS[p.name]
    return out
