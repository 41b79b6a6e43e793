"""Offloads C programs of others, and says program by program what the device has of them.

python scripts/offload_programs.py PATH... [-I DIR]... [-D NAME[=VALUE]]... [--reasons N]
    [--limit SECONDS] [--fp LEVEL]
python scripts/offload_programs.py --programs scripts/programs/NAME.toml FOLDER [--only NAME,NAME]
    [--run] [--keep DIR]

Of a PATH that is a folder every C file below it is taken. A table of programs (scripts/programs has
some, of public suites) says which files of FOLDER are meant, with which options they are compiled,
and how they are run.

    device   loops in what the device does, most of them in kernels of many work-items
    around   loops of the host that hold such loops
    left     the other loops, with the reasons for most of them
    cpu s    of the whole process, from the file to the written C

A program counts as one on the device if anything of it is: scops may have no loops.

With --run the program and what was written of it are compiled and run with every set of arguments,
and what they print is compared. All calls are the device's; `calls` counts those that were, of how
many. Exit status 1 where a file failed, or where a program prints something else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import loopxform as lx

T = TypeVar("T")

CC = ("-O1", "-ffp-contract=off", "-w")


@dataclass(frozen=True)
class Program:
    """A file, and how it is compiled and run. Of what it prints, lines that match `unlike` differ
    from run to run. The text of the files `before` stands in front of one that others include."""

    name: str
    file: Path
    folder: Path
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    beside: tuple[Path, ...] = ()
    arguments: tuple[str, ...] = ()
    unlike: str = ""
    before: tuple[Path, ...] = ()


@dataclass
class Taken:
    """What `offload` made of a program; `failure` is set where it made nothing."""

    loops: int = 0
    device: int = 0
    around: int = 0
    failure: str = ""
    reasons: list[tuple[str, int]] = field(default_factory=list)
    seconds: float = 0.0
    written: bool = False


def main() -> int:
    args = options()
    programs = meant(args)
    os.environ |= {"LOOPXFORM_HOST": "never", "LOOPXFORM_CACHE": "off"}
    head = f"{'program':<{WIDE}} lines  loops  device  around   left   cpu s"
    print(head + ("  result" if args.run else ""))
    reasons, total, bad = Counter[str](), Counter[str](), 0
    for program in programs:
        with tempfile.TemporaryDirectory() as name:
            out = Path(args.keep or name, program.name)
            out.mkdir(parents=True, exist_ok=True)
            taken = in_process(program, out, args)
            result = compared(program, out) if args.run and taken.written else ""
        left = taken.loops - taken.device - taken.around
        lines = program.file.read_bytes().count(b"\n")
        total.update(
            programs=1, on=int(taken.written), loops=taken.loops, device=taken.device, left=left
        )
        cells = f"{lines:>6} {taken.loops:>6} {taken.device:>7} {taken.around:>7} {left:>6}"
        said = result or (f"left: {taken.reasons[0][0]}" if taken.reasons else "")
        said = taken.failure or said
        print(f"{program.name:<{WIDE}}{cells} {taken.seconds:>7.1f}  {said}", flush=True)
        reasons.update(dict(taken.reasons))
        bad += bool(taken.failure) or "DIFFERENT" in result
    print(
        f"{total['on']} of {total['programs']} programs, {total['device']} of {total['loops']}"
        f" loops on the device, {total['left']} left"
    )
    for text, count in reasons.most_common(args.reasons):
        print(f"{count:>6}  {text}")
    return min(bad, 1)


WIDE = 28


def options() -> argparse.Namespace:
    p = parser(__doc__)
    p.add_argument("--reasons", type=int, default=0, metavar="N", help="list the N most frequent")
    p.add_argument("--run", action="store_true", help="run the programs, and compare")
    p.add_argument("--keep", metavar="DIR", help="where the written files are kept")
    args = p.parse_args()
    require_there(p, args)
    args.fp = args.fp or ("strict" if args.run else None)
    return args


def parser(about: str | None) -> argparse.ArgumentParser:
    """The options that say which programs are meant, and how they are offloaded."""
    p = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]")
    p.add_argument("--programs", type=Path, metavar="FILE.toml", help="a table of programs")
    p.add_argument("--only", default="", help="names of programs, with commas")
    p.add_argument("--fp", help="what floating-point arithmetic may do (with --run: strict)")
    p.add_argument("--limit", type=float, help="CPU seconds (default 30 for each 1,000 lines)")
    return p


def require_there(p: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    missing = [f for f in (*args.paths, args.programs) if f is not None and not f.exists()]
    if missing:
        p.error(f"{missing[0]} is not there")


# ---------------------------------------------------------------- which programs


def meant(args: argparse.Namespace) -> list[Program]:
    """Those of the table, else those of the paths."""
    programs = listed(args.programs, args.paths[0]) if args.programs else found(args)
    programs = [joined(p) for p in programs]
    return [p for p in programs if not args.only or p.name in args.only.split(",")]


def found(args: argparse.Namespace) -> list[Program]:
    """Every file that is named, and every one below a folder."""
    out = []
    for path in args.paths:
        below = sorted(path.rglob("*.c")) if path.is_dir() else [path]
        folder = path if path.is_dir() else path.parent
        out += [
            Program(
                str(f.relative_to(folder).with_suffix("")),
                f,
                folder,
                tuple(args.include),
                tuple(args.define),
            )
            for f in below
        ]
    return out


def listed(table: Path, folder: Path) -> list[Program]:
    """The programs of a table: what stands above them holds for all."""
    said = tomllib.loads(table.read_text())
    return [
        Program(
            name,
            folder / p["file"],
            folder,
            tuple(str(folder / d) for d in (*said.get("include", ()), *p.get("include", ()))),
            (*said.get("define", ()), *p.get("define", ())),
            tuple(folder / b for b in (*said.get("beside", ()), *p.get("beside", ()))),
            tuple(p.get("arguments", ())),
            p.get("unlike", said.get("unlike", "")),
            tuple(folder / b for b in p.get("before", ())),
        )
        for name, p in said["programs"].items()
    ]


def joined(program: Program) -> Program:
    """The program with all of its text in one file."""
    if not program.before:
        return program
    whole = Path(tempfile.mkdtemp(prefix="programs-"), program.file.name)
    whole.write_bytes(b"\n".join(f.read_bytes() for f in (*program.before, program.file)))
    return replace(program, file=whole)


# ---------------------------------------------------------------- what becomes of one


def in_process(program: Program, out: Path, args: argparse.Namespace) -> Taken:
    """What becomes of a program, in a process of its own."""
    return apart(offloaded, program, out, seconds_for(program, args), args.fp)


def seconds_for(program: Program, args: argparse.Namespace) -> float:
    """The CPU seconds that a program may take."""
    return args.limit or 15 * -(-(program.file.read_bytes().count(b"\n") + 1) // 1000)


def apart(work: Callable[..., T], *arguments: object) -> T:
    """What a function returns in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def offloaded(program: Program, out: Path, limit: float, fp: Any) -> Taken:
    """What becomes of a program; the files are written into a folder."""
    from loopxform.budget import Budget, within

    taken = Taken()
    try:
        with within(Budget.of(limit, None)):
            file = lx.load(program.file, include=program.include, define=program.define)
            done = file.offload(fp=fp)
        loops = done.loops
        on = [x for x, is_taken in loops if is_taken]
        around = [x for x, t in loops if not t and any(x.is_around(y) for y in on)]
        taken.loops, taken.device, taken.around = len(loops), len(on), len(around)
        taken.reasons = most_work(done)
        if done.regions:
            done.write(out)
            taken.written = True
        taken.failure = "".join(f"MISTAKE OF OURS: {e.message}" for e in done.broken[:1])
    except lx.LoopxformError as e:
        where = f"{e.loc}: " if e.loc else ""
        taken.failure = f"not read: {where}{e.message} [{e.code}]"
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    taken.seconds = sum(u.ru_utime + u.ru_stime for u in used)
    return taken


def most_work(done: Any) -> list[tuple[str, int]]:
    """Why loops stay on the host, and how often; the reasons about most work first."""
    from loopxform.cli.offload_summary import by_work

    texts = [f"{e.message} [{e.code}]" for _, e in by_work(done)]
    return list(Counter(texts).items())


# ---------------------------------------------------------------- what it prints


def compared(program: Program, out: Path) -> str:
    """Whether the program and what was written of it print the same."""
    if not program.arguments:
        return "not run"
    written = next(out.glob("*_opencl.c"))
    flags = [x for d in program.include for x in ("-I", d)] + [f"-D{d}" for d in program.define]
    beside = [*map(str, program.beside), "-lm"]
    own = ["-I", str(program.file.parent)]
    for made, source, more in (
        ("plain", program.file, []),
        ("written", written, ["-lOpenCL"]),
    ):
        (out / made).mkdir()
        binary = str(out / made / program.file.stem)
        command = ["cc", *CC, *flags, *own, str(source), *beside, *more, "-o", binary]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{made} DIFFERENT: cc fails: {done.stderr.splitlines()[:1]}"
    calls = [0, 0]
    for line in program.arguments:
        runs = [
            ran(out / made / program.file.stem, line, program.unlike)
            for made in ("plain", "written")
        ]
        if runs[0][0] != runs[1][0]:
            return f"DIFFERENT with {line}"
        for n, pattern in enumerate((": on the device", "^loopxform: ")):
            calls[n] += len(re.findall(pattern, runs[1][1], re.M))
    return f"equal, {calls[0]} of {calls[1]} calls on the device"


def ran(binary: Path, line: str, unlike: str) -> tuple[str, str]:
    """What a program prints and how it ends, and what it says of its calls."""
    environment = {**os.environ, "LOOPXFORM_VERBOSE": "1"}
    command = [f"./{binary.name}", *shlex.split(line)]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=binary.parent, env=environment
    )
    text = done.stdout.decode(errors="replace")
    kept = [x for x in text.splitlines() if not (unlike and re.search(unlike, x))]
    return "\n".join([*kept, f"status {done.returncode}"]), done.stderr.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
