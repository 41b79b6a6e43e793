"""What a command costs as a whole process: CPU time (user + system), least of several runs.

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
from pathlib import Path

MM = str(Path(__file__).parents[1] / "corpus" / "mm.c")
RUNS = 11
COMMANDS = (
    (("--version",), 0.1),
    (("--help",), 0.1),
    (("check", MM), 0.3),
    (("tile", MM, "--Ty", "16", "--Rx", "4", "--no-cache"), 0.45),
    (("tile", MM, "--Ty", "16", "--Rx", "4"), 0.1),
)
"""Command lines and what each may take, in seconds; the last is a hit of the cache."""


ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str], folder: str) -> float:
    """CPU time of one run in `folder`."""
    env = {**ENVIRONMENT, "LOOPXFORM_CACHE": f"{folder}/cache"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    late = False
    with tempfile.TemporaryDirectory() as folder:
        for args, budget in COMMANDS:
            command = [sys.executable, "-m", "loopxform", *args]
            best = min(seconds(command, folder) for _ in range(RUNS))
            late |= best > budget
            shown = " ".join(a.rpartition("/")[2] for a in args)
            print(f"{best * 1000:6.0f} ms  (budget {budget * 1000:.0f})  loopxform {shown}")
    return 1 if late else 0


if __name__ == "__main__":
    raise SystemExit(main())
