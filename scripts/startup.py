"""What a command costs as a whole process: its CPU time (user + system) in times of that of
`python -c pass`, which stands for the machine. Both are the least of several runs in turn.

python scripts/startup.py

Python keeps the bytecode of what it imported, as it does for every installed package; the first of
the runs writes it where the environment would forbid that.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MM = str(Path(__file__).parents[1] / "corpus" / "mm.c")
TILE = ("tile", MM, "--Ty", "16", "--Rx", "4")
RUNS = 11

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True)
class Command:
    """A command line, and how often `python -c pass` may run in its time."""

    args: tuple[str, ...]
    budget: float

    def __str__(self) -> str:
        return " ".join(("loopxform", *(Path(a).name for a in self.args)))


COMMANDS = (
    Command(("--version",), 4),
    Command(("--help",), 4),
    Command(("tile", "--help"), 9),
    Command(("run", "--help"), 9),
    Command(("check", MM), 25),
    Command((*TILE, "--no-cache"), 42),
    Command(TILE, 9),
)
"""The last is remembered, but for its first run."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a command, and of `python -c pass`."""

    command: float
    nothing: float

    @property
    def ratio(self) -> float:
        return self.command / self.nothing

    def least(self, other: Cost) -> Cost:
        return Cost(min(self.command, other.command), min(self.nothing, other.nothing))


def costs(command: Command, runs: int = RUNS) -> Iterator[Cost]:
    """What is known of a command after each of so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        least = Cost(float("inf"), float("inf"))
        for _ in range(runs):
            nothing = min(_seconds(["-c", "pass"], folder) for _ in range(3))
            least = least.least(Cost(_seconds(["-m", "loopxform", *command.args], folder), nothing))
            yield least


def _seconds(args: list[str], folder: str) -> float:
    """CPU time of one run of Python in `folder`."""
    env = {**ENVIRONMENT, "LOOPXFORM_CACHE": f"{folder}/cache"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *args], cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    late = False
    for command in COMMANDS:
        *_, cost = costs(command)
        late |= cost.ratio > command.budget
        figures = f"{cost.command * 1000:6.0f} ms {cost.ratio:6.1f} x python -c pass"
        print(f"{figures}  (budget {command.budget:2.0f})  {command}")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
