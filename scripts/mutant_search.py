"""The search for mutants: which mistakes are tried, and which of those that are wrong are taken."""

from __future__ import annotations

import json
import random
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mutant_edits import edits
from mutant_host import HostRuns
from mutant_launches import host_edits
from mutant_runs import Base, Case, Edit, Runs, cases

from loopxform.errors import LoopxformError

if TYPE_CHECKING:
    from kernel_mutants import Mutant

RUNS, SEED = 8, 0
"""Runs of a kernel, and the seed of their sizes and data."""
OF_KINDS, TRIED, SECONDS = 12, 1, 60
"""Kinds that are tried in a kernel, mistakes of each; how long a run may take."""
LAUNCHED = (
    "naive",
    "register",
    "split-K",
    "vector copies",
    "block",
    "coarsened",
    "one-sided",
    "1-d",
    "stencil",
    "transposition",
    "histogram",
    "reduce",
)
"""Styles whose launches are tried: their kernels are built in a moment."""
ORDERING = ("missing barrier", "wrong fence", "divergent barrier", "early use of a copy")
"""Kinds of which the list names those that no run showed to be wrong."""
WANTED, FROM_HOST, OF_A_KERNEL = 236, 26, 4
"""How many mutants are taken, of these from host code, and from a kernel at most."""


@dataclass(frozen=True)
class Tried:
    """A mistake, and in how many of the runs something was wrong."""

    base: Base
    kind: str
    edits: tuple[Edit, ...]
    failed: int
    sizes: dict[str, Any]
    shown: str

    @property
    def host(self) -> bool:
        return any(e.host for e in self.edits)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def judged(runs: Runs, edits: tuple[Edit, ...], which: list[Case]) -> list[tuple[Case, str]]:
    """The runs in which something is wrong, and what. Raises LoopxformError, TimeoutError."""
    wrong: list[tuple[Case, str]] = []
    asynchronous = "async_copies" in runs.base.arguments
    for case in which:
        with at_most(SECONDS):
            fault = runs.fault(edits, case, asynchronous=asynchronous)
        if fault:
            wrong.append((case, fault))
    return wrong


def tried(base: Base, seed: int) -> Iterator[Tried]:
    """Some mistakes of each kind in the kernels of a base."""
    rng = random.Random(f"{seed} {base.name}")
    runs = Runs(base)
    which = cases(base, runs.plan, RUNS, SEED)
    bad = judged(runs, (), which)
    assert not bad, (base.name, bad[0][1])
    by_kind: dict[str, list[Edit]] = defaultdict(list)
    for kind, edit in edits(base.mapped.kernel):
        by_kind[kind].append(edit)
    for kind in rng.sample(sorted(by_kind), min(OF_KINDS, len(by_kind))):
        for edit in rng.sample(by_kind[kind], min(TRIED, len(by_kind[kind]))):
            try:
                wrong = judged(runs, (edit,), which)
            except (LoopxformError, AssertionError, TimeoutError, RecursionError, MemoryError):
                continue  # the text is no OpenCL C any more, or does not end
            case, shown = wrong[0] if wrong else (which[0], "")
            yield Tried(base, kind, (edit,), len(wrong), case.sizes, shown)


def tried_on_host(base: Base, seed: int) -> Iterator[Tried]:
    """Some mistakes in the launches of a base, run by PoCL."""
    rng = random.Random(f"{seed} host {base.name}")
    runs = HostRuns(base)
    which = cases(base, Runs(base).plan, RUNS, SEED)
    if runs.fault((), which):
        return  # PoCL has no such device, or the host runs it
    by_kind = _one_of_each(rng, base, runs)
    for kind, planted in by_kind.items():
        wrong = runs.fault(planted, which)
        case, shown = wrong or (which[0], "")
        yield Tried(base, kind, planted, bool(wrong), case.sizes, shown)


def _one_of_each(rng: random.Random, base: Base, runs: HostRuns) -> dict[str, tuple[Edit, ...]]:
    every = list(host_edits(base.files[runs.file], base.mapped.kernel))
    return dict(rng.sample(every, len(every)))


def search(bases: Mapping[str, Base], seed: int, known: Mapping[str, Any]) -> str:
    """The list of mutants as JSON: of the kernels of `bases`, searched for, and of others as they
    are `known`."""
    every: list[Tried] = []
    with ProcessPoolExecutor(2) as pool:
        for found in pool.map(partial(_tried_in, seed), enumerate(bases.values())):
            every += found
            print(f"{found[0].base.name}: {len(found)} tried", file=sys.stderr, flush=True)
    apart = [t for t in every if not t.failed]
    print(f"{len(every)} tried, {len(apart)} not shown to be wrong", file=sys.stderr)
    print(Counter(t.kind for t in apart).most_common(), file=sys.stderr)
    kept = {n: [r for r in rows if r["kernel"] not in bases] for n, rows in known.items()}
    wanted = WANTED - len(kept["mutants"]) if kept["mutants"] else WANTED
    return _json(
        [*kept["mutants"], *map(_row, taken([t for t in every if t.failed], wanted))],
        [*kept["not_shown"], *(_short(t) for t in apart if t.kind in ORDERING)],
    )


def _tried_in(seed: int, numbered: tuple[int, Base]) -> list[Tried]:
    number, base = numbered
    launched = number % 5 == 0 and base.style in LAUNCHED
    return [*tried(base, seed), *(tried_on_host(base, seed) if launched else ())]


def taken(wrong: list[Tried], wanted: int) -> list[Tried]:
    """Of all kinds and kernels alike; of those, the ones that the fewest runs show."""
    kinds, kernels, hosts = Counter[str](), Counter[str](), 0
    left = sorted(wrong, key=lambda t: t.failed)
    chosen: list[Tried] = []
    while left and len(chosen) < wanted:
        best = min(left, key=lambda t: (kernels[t.base.name], kinds[t.kind], t.failed))
        left.remove(best)
        hosts += best.host
        if kernels[best.base.name] >= OF_A_KERNEL or (best.host and hosts > FROM_HOST):
            continue
        kinds[best.kind] += 1
        kernels[best.base.name] += 1
        chosen.append(best)
    places = {t.base.name: n for n, t in reversed(list(enumerate(wrong)))}
    return sorted(chosen, key=lambda t: (places[t.base.name], t.kind, t.edits[0].before))


def _json(*lists: list[dict[str, Any]]) -> str:
    """A row on each line."""
    parts = [",\n".join("  " + json.dumps(row) for row in rows) for rows in lists]
    return f'{{\n"mutants": [\n{parts[0]}\n],\n"not_shown": [\n{parts[1]}\n]\n}}\n'


def _edit(e: Edit) -> dict[str, Any]:
    nth, host = {"nth": e.nth} if e.nth else {}, {"host": True} if e.host else {}
    return {"before": e.before, "after": e.after, **nth, **host}


def _row(t: Tried) -> dict[str, Any]:
    return {
        "kernel": t.base.name,
        "kind": t.kind,
        "edits": [_edit(e) for e in t.edits],
        "sizes": t.sizes,
        "shown": t.shown.split(";")[0][:100],
    }


def _short(t: Tried) -> dict[str, Any]:
    reason = f"no fault in {RUNS} runs of small sizes: redundant, or in a version not reached"
    return {"kernel": t.base.name, "kind": t.kind, **_edit(t.edits[0]), "reason": reason}


_RUNS: dict[str, Runs] = {}
"""By the name of the base: several mutants have it."""


def proven(m: Mutant) -> str:
    """What is wrong with a mutant in the run that is listed; "" where nothing is."""
    if m.base.name not in _RUNS:
        runs = Runs(m.base)
        runs.cases += cases(m.base, runs.plan, RUNS, SEED)
        _RUNS[m.base.name] = runs
    runs = _RUNS[m.base.name]
    which = [c for c in runs.cases if c.sizes == m.sizes]
    if any(e.host for e in m.edits):
        found = HostRuns(m.base).fault(m.edits, which)
        return found[1] if found else ""
    wrong = judged(runs, m.edits, which)
    return wrong[0][1] if wrong else ""
