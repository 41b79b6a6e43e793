"""Runs check, tile and offload over random C programs, each in a process of its own.

python scripts/fuzz.py [COUNT] [--seed N] [--csmith PERCENT] [--broken PERCENT] [--limit SECONDS]
                       [--memory MIB] [--jobs N] [--keep DIR]

A program fails where a command ends with a status that is none of ours (0, 1, 2), needs more CPU
seconds than the limit, or more memory; and where a function means something else than what the C
compiler makes of it, as it is read or as it is offloaded. Programs come from `fuzz_programs.py`, a
share of them from csmith where that is installed; another share is broken: cut off, with bytes
changed, doubled or taken away, or in another encoding. Exit status 1 where one failed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from fuzz_programs import HEAD, program
from tqdm import tqdm

from loopxform.api.reading import load
from loopxform.cli import main as command_line
from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Const, Function, Opaque
from loopxform.ir.visit import walk
from loopxform.offload.program import offload
from loopxform.schedule.params import NAMES
from loopxform.verify.cref import CSource, Library
from loopxform.verify.interp import Program

RECIPES = (
    *("auto", "naive", "register", "block", "coarsened", "one-sided", "1-d", "stencil", "reduce"),
    "transposition",
)
PROFILES = ("generic", "h100", "mi250", "intel-xe", "intel-xe2", "mali", "pocl", "cpu")
CSMITH = [
    *("--nomain", "--no-argc", "--no-checksum", "--no-safe-math", "--max-funcs", "3"),
    *("--max-block-depth", "3", "--max-block-size", "3", "--max-expr-complexity", "4"),
    *("--max-array-dim", "2", "--max-struct-fields", "4"),
]
MIB = 1 << 20
KNOWN = frozenset(re.findall(r"\w+", HEAD)) | {"n"}
LIMIT = 2 / 3
"""Of the seconds that a command may take, those that it is told."""
WRONG = 3
"""What a process ends with that found a function to mean something else."""


@dataclass(frozen=True)
class Outcome:
    """What one command did with a program, and `said` on standard error; `failure` is set where it
    may not do that."""

    command: str
    cpu: float
    mebibytes: float
    failure: str = ""
    status: int = 0
    said: str = ""


class Tally:
    """What became of many commands; what fails is told at once."""

    def __init__(self) -> None:
        self.statuses, self.seconds, self.failed = Counter[int](), 0.0, 0

    def add(self, what: str, outcome: Outcome) -> None:
        self.statuses[outcome.status] += 1
        self.seconds += outcome.cpu
        if outcome.failure:
            self.failed += 1
            tqdm.write(f"{what}: {outcome.failure}")

    def __str__(self) -> str:
        told = ", ".join(f"{n} ended with {status}" for status, n in sorted(self.statuses.items()))
        return f"{told}; {self.seconds:.0f} CPU seconds, {self.failed} failures"


def written(seed: int, csmith: int, broken: int, folder: Path) -> tuple[Path, bool]:
    """The file of a seed, and whether its functions are defined whatever they are called with."""
    path = folder / f"p{seed}.c"
    kind = Random(seed).randrange(100)
    if kind >= 100 - broken:
        path.write_bytes(mutated(program(seed).encode(), Random(seed)))
        return path, False
    if kind < csmith:
        command = ["csmith", "--seed", str(seed + 1), *CSMITH]
        text = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True
        ).stdout
        path.write_text(text.replace('#include "csmith.h"', "#include <stdint.h>"))
        return path, False
    path.write_text(program(seed))
    return path, True


def mutated(text: bytes, random: Random) -> bytes:
    """A text that is hardly C any more."""
    for _ in range(random.randint(1, 3)):
        at, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + 40)
        odd = random.choice((b"(", b"}", b"#", b'"', b"'", b"\\\n", b"\0", b"\xff", b"/*", b"\r"))
        text = random.choice(
            (
                text[:at],
                text[:at] + text[end:],
                text[:at] + odd + text[at:],
                text[:at] + text[at:end] * 3 + text[end:],
                text[:at] + bytes(random.randbytes(4)) + text[at:],
                text.replace(b"\n", b"\r\n"),
                b"\xef\xbb\xbf" + text,
                text.decode("latin-1").encode("utf-16"),
                text.replace(random.choice((b";", b"{", b"(", b"int", b"word")), odd, 3),
            )
        )
    return text


def commands(path: Path, seed: int, seconds: float) -> Iterator[list[str]]:
    """The command lines for a program, each with a time limit of `seconds`."""
    random = Random(seed)
    text = path.read_text(errors="replace")
    names = re.findall(r"^(?!extern).*?\b(f(?:unc_)?\d+)\s*\([^;]*$", text, re.M)
    fit = ["--profile", random.choice(PROFILES)]
    limit = ["--time-limit", f"{seconds:g}"]
    yield ["check", str(path), "--format", random.choice(("text", "json", "sarif")), *limit]
    yield ["offload", str(path), *fit, "-o", str(path.parent), *limit]
    asked = [f"--recipe={random.choice(RECIPES)}", f"--{random.choice(NAMES)}=2", "--reassociate"]
    for name in dict.fromkeys(random.sample(names, min(1, len(names)))):
        target = ["--target", random.choice(("opencl", "openmp")), "-o", str(path.parent)]
        asked = [*asked[: random.randrange(4)], *target, *limit]
        yield ["tile", str(path), "--function", name, *fit, *asked]


def forked(
    argv: list[str], seed: int, limit: float, mebibytes: float, report: str = os.devnull
) -> Outcome:
    """Runs a command, or the comparison, in a process that is like this one; what it prints is
    written to `report`."""
    with tempfile.TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _child(argv, seed, limit, err.fileno(), report)
        _, status, used = os.wait4(pid, 0)
        err.seek(0)
        said = err.read().decode(errors="replace")
    cpu, room = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    rc = os.waitstatus_to_exitcode(status)
    failure = ""
    if rc not in (0, 1, 2) or "Traceback" in said:
        failure = f"status {rc}: {' | '.join(said.strip().splitlines()[-6:])}"
    elif cpu > limit:
        failure = f"{cpu:.1f} CPU seconds"
    elif room > mebibytes:
        failure = f"{room:.0f} MiB"
    return Outcome(" ".join(argv), cpu, room, failure, rc, said)


def _child(argv: list[str], seed: int, limit: float, err: int, report: str) -> None:
    """Ends the process."""
    status = 101
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 5, int(limit) + 6))
        os.dup2(os.open(report, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(err, 2)
        comparing = argv[0] == "compare"
        status = compared(argv[1], seed) if comparing else command_line(argv)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


# ---------------------------------------------------------------- what programs mean


def compared(path: str, seed: int) -> int:
    """Compares each function that is modelled with what the C compiler makes of it."""
    file = load(path)
    own = [r.function for r in file if re.fullmatch(r"f\d+", r.name)]
    functions = [f for f in own if all(p.name in KNOWN for p in f.objects)]  # no local pointers
    library = Library(CSource(text=Path(path).read_text()), functions)
    wrong = [w for f in functions if _is_modelled(f) for w in _differences(f, library, seed)]
    for text in wrong:
        print(text, file=sys.stderr)
    return WRONG if wrong else 0


def _is_modelled(f: Function) -> bool:
    """Whether all of it is, for the interpreter too."""
    return not f.routines and not any(isinstance(s, Opaque) for _, s in walk(f.body))


def _differences(f: Function, library: Library, seed: int) -> Iterator[str]:
    """Where the tree, or the program that is offloaded, gives other values than the C."""
    expected, value = _values(f, seed), None
    value = library.run(f.name, expected)
    versions: list[tuple[str, Function, int | None]] = [("as it is read", f, None)]
    with contextlib.suppress(LoopxformError):
        versions.append(("offloaded", offload(f, {}).function, seed))
    for what, version, order in versions:
        mine = _values(f, seed)
        result = Program(version).run(mine, order_seed=order)
        if not np.array_equal(np.array(value), np.array(result)):
            yield f"{f.name}, {what}: the value is {result}, not {value}"
        for name, array in expected.items():
            if not np.array_equal(array, mine[name], equal_nan=array.dtype.kind == "f"):
                yield f"{f.name}, {what}: {name} differs"


def _values(f: Function, seed: int) -> dict[str, Any]:
    """Small numbers for every parameter and variable of the file."""
    numbers = np.random.default_rng(seed)
    out: dict[str, Any] = {}
    for p in f.objects:
        shape = [int(d.value) for d in p.shape if isinstance(d, Const)]
        out[p.name] = numbers.integers(0, 9, shape).astype(p.type.numpy)
    return out


# ---------------------------------------------------------------- the run


def tried(seed: int, args: argparse.Namespace, folder: Path) -> tuple[int, Path, list[Outcome]]:
    path, is_defined = written(seed, args.csmith, args.broken, folder)
    lines = list(commands(path, seed, args.limit * LIMIT))
    if is_defined:
        lines.append(["compare", str(path)])
    return seed, path, [forked(x, seed, args.limit, args.memory) for x in lines]


def warm(folder: Path) -> None:
    """Has this process load what the commands load, once for all that are forked."""
    path = folder / "warm.c"
    path.write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet):
        for command in ("check --format=sarif", "offload -o", "tile -o", "tile --target=openmp -o"):
            words = command.split()
            where = [str(folder)] if words[-1] == "-o" else []
            command_line([words[0], str(path), *words[1:], *where])


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("count", type=int, nargs="?", default=200)
    p.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    p.add_argument("--csmith", type=int, metavar="PERCENT", default=25)
    p.add_argument("--broken", type=int, metavar="PERCENT", default=15)
    p.add_argument("--limit", type=float, metavar="SECONDS", default=60.0)
    p.add_argument("--memory", type=float, metavar="MIB", default=1024.0)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--keep", metavar="DIR", help="where programs that fail are kept")
    return p.parse_args()


def main() -> int:
    args = options()
    if args.csmith and shutil.which("csmith") is None:
        print("csmith is not installed: all programs are of our grammar")
        args.csmith = 0
    os.environ |= {"LOOPXFORM_CACHE": "off", "LOOPXFORM_HOST": "never"}
    print(f"seed {args.seed}", flush=True)
    seeds = range(args.seed, args.seed + args.count)
    failed, outcomes = 0, list[Outcome]()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(args.jobs) as pool:
        warm(Path(name))
        runs = pool.map(lambda seed: tried(seed, args, Path(name)), seeds)
        for seed, path, found in tqdm(runs, total=args.count, unit="program", mininterval=5):
            outcomes += found
            for x in (x for x in found if x.failure):
                failed += 1
                tqdm.write(f"seed {seed}: {x.command}: {x.failure}")
                if args.keep:
                    Path(args.keep).mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, args.keep)
            path.unlink()
    cpu, room = (max(getattr(x, k) for x in outcomes) for k in ("cpu", "mebibytes"))
    print(
        f"{args.count} programs, {len(outcomes)} commands, {failed} failures; at most "
        f"{cpu:.1f} CPU seconds and {room:.0f} MiB, {sum(x.cpu for x in outcomes):.0f} in all"
    )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
