"""How much `loopxform validate` proves: the kernels of every nest of the corpus, and what it says
of kernels with planted mistakes.

    python scripts/validate_corpus.py [-j N] [--recipe NAME]     # a row a recipe
    python scripts/validate_corpus.py --mutants [-j N]           # none of them may be proven

Exit status 1 where less than --least of the kernels are proven (0.9), or a mutant is.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import FrameType
from typing import NamedTuple, TypeVar

from corpus_kernels import files, kernels
from kernel_mutants import listed
from tqdm import tqdm

from loopxform.validate.validation import Verdict, validate

Job = TypeVar("Job")
LONGEST = 300
"""Seconds for a kernel."""


class Row(NamedTuple):
    """A kernel: its name and group, what the validator says, and its CPU seconds."""

    name: str
    group: str
    verdict: Verdict
    seconds: float


class TooLong(BaseException):
    """A kernel took longer than anybody waits."""


def judged(cl: Path, source: Path, host: Path) -> tuple[Verdict, float]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    begun = time.process_time()
    try:
        verdict = validate(cl, source, host=host)
    except TooLong:
        verdict = Verdict("unmodelled", f"what takes more than {LONGEST} s")
    finally:
        signal.alarm(0)
    return verdict, time.process_time() - begun


def of_kernel(name: str) -> Row:
    k = next(kernels(name=name))
    with tempfile.TemporaryDirectory() as folder:
        cl, host, _ = k.write(Path(folder))
        verdict, seconds = judged(cl, Path(folder) / k.file.name, host)
    return Row(k.name, k.recipe, verdict, seconds)


def of_mutant(name: str) -> Row:
    m = next(m for m in listed() if m.name == name)
    with tempfile.TemporaryDirectory() as folder:
        written = m.write(Path(folder))
        verdict, seconds = judged(written.cl, written.c_path, written.host)
    return Row(m.name, m.kind, verdict, seconds)


def each(of: Callable[[str], Row], names: Iterable[str], jobs: int) -> Iterator[Row]:
    todo = list(names)
    with ProcessPoolExecutor(jobs) as pool:
        yield from tqdm(pool.map(of, todo), total=len(todo), unit="kernel", disable=None)


def table(rows: list[Row]) -> str:
    """A row a group: how many there are, how many of each verdict, the median of the seconds."""
    groups = Counter(r.group for r in rows)
    lines = [f"{'':<24} {'all':>5} {'proven':>7} {'wrong':>6} {'unmodelled':>11} {'median s':>9}"]
    for name in (*sorted(groups), "all"):
        part = [r for r in rows if name in (r.group, "all")]
        counts = Counter(r.verdict.status for r in part)
        median = statistics.median(r.seconds for r in part)
        lines.append(
            f"{name:<24} {len(part):>5} {counts['proven']:>7} {counts['wrong']:>6} "
            f"{counts['unmodelled']:>11} {median:>9.1f}"
        )
    return "\n".join(lines)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("-j", "--jobs", type=int, default=2)
    p.add_argument("--recipe", default="")
    p.add_argument("--mutants", action="store_true")
    p.add_argument("--least", type=float, default=0.9)
    args = p.parse_args()
    if args.mutants:
        rows = [*each(of_mutant, (m.name for m in listed()), args.jobs)]
        missed = [r for r in rows if r.verdict.status == "proven"]
        print(table(rows))
        print(f"{len(rows) - len(missed)} of {len(rows)} mutants are not proven")
        for r in missed:
            print(f"  {r.name} ({r.group}) is said to be proven")
        return int(bool(missed))
    names = [k.name for k in kernels(args.recipe)] if args.recipe else [f.stem for f in files()]
    rows = [*each(of_kernel, names, args.jobs)]
    print(table(rows))
    for r in rows:
        if r.verdict.status != "proven":
            line = r.verdict.kernel_line or r.verdict.user_line
            print(f"  {r.name} ({r.group}): {r.verdict.status}: {r.verdict.reason}, line {line}")
    proven = sum(r.verdict.status == "proven" for r in rows)
    print(f"{proven} of {len(rows)} are proven")
    return int(proven < float(args.least) * len(rows))


if __name__ == "__main__":
    sys.exit(main())
