"""Kernels to plant mistakes in, and runs that show whether they are wrong.

A base is a C file and options of `tile`. Its kernels run from their text in the group executor
(`loopxform/verify/group`), which reports races, accesses out of bounds, values that were never set
and work-items that do not meet at a barrier; what they compute is compared with the C, compiled by
`cc`. None of that shares code with `loopxform/validate`.
"""

from __future__ import annotations

import copy
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import loopxform as lx
from loopxform.api.mapped import MappedRoutine
from loopxform.codegen import emit
from loopxform.codegen.plan import Plan
from loopxform.codegen.render import c_string
from loopxform.errors import ArgumentError, InputError, UsageError
from loopxform.runtime.kernel import CompiledKernel
from loopxform.verify.check_run import Reference, allowed_of, differences
from loopxform.verify.cref import CSource
from loopxform.verify.group.fault import ExecutionError
from loopxform.verify.group.queue import ASYNCHRONOUS, DEVICE, GroupQueue, Kernel
from loopxform.verify.sizes import required_sizes
from loopxform.verify.values import wanted

CORPUS = Path(__file__).parents[1] / "corpus"
PROFILE = "limits"


@dataclass(frozen=True)
class Edit:
    """A line of the kernels, and the line in its place; with `host`, a part of the written C file.
    `nth` counts what is the same, from 0."""

    before: str
    after: str
    nth: int = 0
    host: bool = False

    def applied(self, text: str) -> str:
        """Raises ValueError where there is no such text."""
        if self.host:
            parts = text.split(self.before)
            if self.nth >= len(parts) - 1:
                raise ValueError(f"no longer applies: {self.before.strip()!r} of the host code")
            head, tail = parts[: self.nth + 1], parts[self.nth + 1 :]
            return self.before.join(head) + self.after + self.before.join(tail)
        lines = text.split("\n")
        places = [n for n, line in enumerate(lines) if line == self.before]
        if self.nth >= len(places):
            raise ValueError(f"no longer applies: line {self.nth + 1} of {self.before.strip()!r}")
        lines[places[self.nth]] = self.after
        return "\n".join(lines)


def planted(files: Mapping[str, str], edits: tuple[Edit, ...]) -> dict[str, str]:
    """The files that `tile` wrote, with edits. An edit of a kernel is made in the .cl and in the
    text that the host code holds. Raises ValueError where one no longer applies."""
    texts = dict(files)
    cl = next(name for name in texts if name.endswith(".cl"))
    host = next(name for name in texts if name.endswith(".c"))
    for edit in edits:
        if edit.host:
            texts[host] = edit.applied(texts[host])
        else:
            texts[host] = _embedded(edit, texts[cl], texts[host])
            texts[cl] = edit.applied(texts[cl])
    return texts


def _embedded(edit: Edit, cl: str, host: str) -> str:
    """The host code with an edit of the kernels that it holds as string literals, without
    indentation. Raises ValueError."""
    lines = cl.split("\n")
    line = [n for n, x in enumerate(lines) if x == edit.before][edit.nth : edit.nth + 1]
    if not line:
        return edit.applied(cl)  # which says that it no longer applies
    same = [n for n, x in enumerate(lines) if x.lstrip() == edit.before.lstrip()]
    old, new = (c_string(x.lstrip())[1:-3] for x in (edit.before, edit.after))  # without "\n"
    places = list(re.finditer(r'(?:(?<=\\n)|(?<="))' + re.escape(old) + r'(?=\\n|")', host))
    if len(places) != len(same):
        raise ValueError(f"{len(same)} lines in the kernels, {len(places)} in the host code: {old}")
    m = places[same.index(line[0])]
    return host[: m.start()] + new + host[m.end() :]


@dataclass(frozen=True)
class Base:
    """A function of the corpus and the arguments of `Routine.tile`, or of `offload`."""

    name: str
    file: str
    arguments: Mapping[str, Any]
    style: str
    command: str = "tile"

    @property
    def path(self) -> Path:
        return CORPUS / self.file

    @property
    def options(self) -> tuple[str, ...]:
        """As the command line has them."""
        return tuple(word for name, value in self.arguments.items() for word in _words(name, value))

    @cached_property
    def mapped(self) -> MappedRoutine:
        """Raises LoopxformError."""
        routine = lx.load(self.path).routine()
        return getattr(routine, self.command)(**self._given)  # type: ignore[no-any-return]

    @cached_property
    def files(self) -> dict[str, str]:
        """What the command writes, by name. Raises LoopxformError."""
        if self.command == "offload":
            return lx.load(self.path).offload(**self._given).files
        return self.mapped.opencl.files

    @property
    def _given(self) -> dict[str, Any]:
        return {n: tuple(v) if isinstance(v, list) else v for n, v in self.arguments.items()}

    @cached_property
    def stated(self) -> dict[str, Any]:
        table = self.path.with_suffix(".toml")
        return tomllib.loads(table.read_text()) if table.exists() else {}


def _words(name: str, value: Any) -> Iterator[str]:
    option = "profile" if name == PROFILE else name.replace("_", "-")
    yield f"--no-{option}" if value is False else f"--{option}"
    if not isinstance(value, bool):
        pair = isinstance(value, (list, tuple))
        yield "x".join(map(str, value)) if pair else str(value)


class _PlantedQueue(GroupQueue):
    """The group executor, with kernels whose text was edited."""

    def __init__(self, defines: Mapping[str, str], plan: Plan, edits: tuple[Edit, ...]) -> None:
        super().__init__(random.Random(0), defines)
        self.parts = _edited(plan, edits)

    def kernel(self, source: str, name: str, options: tuple[str, ...]) -> Kernel:
        for before, after in self.parts:
            source = source.replace(before, after)
        return super().kernel(source, name, options)


def _edited(plan: Plan, edits: tuple[Edit, ...]) -> list[tuple[str, str]]:
    """Parts of the text that all programs share, and what stands there instead."""
    whole = plan.source
    planted = whole
    for e in edits:
        planted = e.applied(planted)
    old, new = whole.split("\n"), planted.split("\n")
    changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    parts: list[tuple[str, str]] = []
    for text in (plan.shared, *dict.fromkeys(k.text for k in plan.kernels)):
        lines = text.split("\n")
        first = whole[: whole.index(text)].count("\n")
        own = [n for n in changed if first <= n < first + len(lines)]
        if own:
            for n in own:
                lines[n - first] = new[n]
            parts.append((text, "\n".join(lines)))
            changed = [n for n in changed if n not in own]
    parts += [(old[n] + "\n", new[n] + "\n") for n in changed]
    return parts


@dataclass(frozen=True)
class Case:
    """Sizes, the arguments of a call, and what the C leaves in them."""

    sizes: dict[str, Any]
    given: dict[str, Any]
    expected: dict[str, Any]


@dataclass
class Runs:
    """The runs that kernels of a base are judged by."""

    base: Base
    cases: list[Case] = field(default_factory=list)

    @cached_property
    def plan(self) -> Plan:
        return emit.kernel(self.base.mapped.derivation, fp=self.base.mapped.fp)

    def fault(self, edits: tuple[Edit, ...], case: Case, *, asynchronous: bool) -> str:
        """What is wrong with a run of the edited kernels; "" where nothing is seen. Raises
        ExecutionError where the text is not modelled, ArgumentError where the host refuses."""
        queue = _PlantedQueue(ASYNCHRONOUS if asynchronous else {}, self.plan, edits)
        kernel = CompiledKernel(self.plan, DEVICE, queue=queue)
        actual = copy.deepcopy(case.given)
        plain = self.plan.plain_names
        try:
            with np.errstate(all="ignore"):
                kernel(**{plain.get(n, n): v for n, v in actual.items()})
        except ExecutionError as e:
            if e.kind is None:
                raise
            where = "" if e.place is None else f", line {e.place.line}"
            return f"{e.kind}: {e.message}{where}"
        _, wrong = differences(self.plan, case.expected, actual, allowed_of(self.plan, DEVICE))
        return f"value: {wrong[0]}" if wrong else ""


def size_choices(
    base: Base, names: tuple[str, ...], rng: random.Random
) -> Iterator[dict[str, Any]]:
    """Small sizes, most of them odd, around the sizes of tiles."""
    stated, fixed = base.stated.get("residual", {}), base.stated.get("fixed", {})
    sizes = base.mapped.sizes
    near = sorted({max(1, t + d) for t in (*sizes.values(), _product(sizes)) for d in (-1, 0, 1)})
    few = [n for n in near if n <= 40] or [3]
    free = [n for n in names if n in stated or n not in fixed]
    yield {**fixed, **{n: min(stated.get(n, 7), 7) for n in free}}
    for _ in range(60):
        yield {**fixed, **{n: rng.choice((1, 2, 3, 5, 7, 9, 11, 13, *few)) for n in free}}


def _product(sizes: Mapping[str, int]) -> int:
    return sizes.get("Tx", 1) * sizes.get("Rx", 1)


def cases(base: Base, plan: Plan, count: int, seed: int) -> list[Case]:
    """Runs of the C that mean something, at most so many."""
    rng = random.Random(f"{base.name} {seed}")
    reference = Reference(CSource(str(base.path)), plan.written)
    inputs = {name: wanted(text) for name, text in base.stated.get("inputs", {}).items()}
    chosen: list[Case] = []
    for n, sizes in enumerate(size_choices(base, required_sizes(plan.written), rng)):
        try:
            given = reference.arguments(sizes, n, inputs)
            chosen.append(Case(sizes, given, reference.expected(given)))
        except (UsageError, InputError, ArgumentError):
            continue
        if len(chosen) == count:
            break
    return chosen
