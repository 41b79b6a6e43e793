"""The runtime of written files, compiled once more for all other programs of a session.

Each written file has the whole runtime, the same 4,400 lines, and compilers take three quarters of
their time for its functions, nine tenths where they are sanitized. Here these are compiled to an
object, with the options of the program. Written files are compiled with inline functions in their
place: the compiler checks the bodies and generates no code for them. The first program that has a
runtime is compiled as it is, and with CI=1 all are.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

BEGIN = "#ifndef LOOPXFORM_RUNTIME\n"
HEADER = re.compile(r'^#include "(?!CL/)[^"\n]*"$', re.MULTILINE)
FUNCTION = re.compile(r"^(?:static|LX_LOCAL)(?= [^;={}]*\)\s*[;{])", re.MULTILINE)
NAME = re.compile(r"^(?:static|LX_LOCAL)\b[^;={}()]*?(\w+)(?:\[\w*\])? ?[(;=]", re.MULTILINE)
VARIABLE = re.compile(r"^(?:static|LX_LOCAL)\b(?=[^;={}]*[;=])", re.MULTILINE)
KEEPS = re.compile(
    r"^(?:static|LX_LOCAL)(?= [^;={}]*\)\n\{\n(?:[^}\n].*\n|\n)*?  static )", re.MULTILINE
)
DECLARED = "extern __inline__ __attribute__((gnu_inline, unused))"
DEFINED = "__attribute__((unused))"
SHARED = "__attribute__((weak))"
"""Variables, and functions with variables of their own, are in every file, and one is linked."""

OF_OTHERS = ("-l", "-I", "-o", "-D")
"""Options that say nothing of the runtime, which macros of users do not change."""

_MET = set[tuple[str, tuple[str, ...]]]()
"""The runtimes and options that were compiled: the first program of each is compiled as it is."""

NO_PROGRAM = frozenset(["-c", "-shared", "-E", "-S", "-fsyntax-only"])


@contextmanager
def linked(folder: Path, args: Sequence[str]) -> Iterator[list[str]]:
    """The arguments of a compiler in a folder, with the runtimes of written files compiled before,
    where they make a program."""
    if os.environ.get("CI") or NO_PROGRAM & {*args}:
        yield [*args]
        return
    options = tuple(x for x in args if x.startswith("-") and not x.startswith(OF_OTHERS))
    names, objects = dict[str, str](), dict[Path, None]()
    for x in (x for x in args if x.endswith("_opencl.c")):
        runtime, text = _parts(folder / x)
        if runtime and (runtime, options) in _MET:
            objects[_compiled(runtime, options)] = None
            names[x] = x.replace("_opencl.c", "_declared.c")
            (folder / names[x]).write_text(text)
        _MET.add((runtime, options))
    try:
        yield [*map(str, objects), *(names.get(x, x) for x in args)]
    finally:
        for name in names.values():
            (folder / name).unlink()


def _parts(file: Path) -> tuple[str, str]:
    """The runtime of a written file ("": it has none), and the file with its functions inline.
    Their names say which runtime they are of, as a program may have several."""
    text = file.read_text() if file.is_file() else ""
    before, begin, rest = text.partition(BEGIN)
    depth = 1
    for found in re.finditer(r"^#(if|endif)", rest, re.MULTILINE) if begin else ():
        depth += 1 if found[1] == "if" else -1
        if not depth:
            after = rest[found.start() :]
            runtime = HEADER.sub("", KEEPS.sub(SHARED, VARIABLE.sub(SHARED, rest[: found.start()])))
            of = sha256(runtime.encode()).hexdigest()[:8]
            called = "".join(
                f"#define {n} {n}_{of}\n" for n in dict.fromkeys(NAME.findall(runtime))
            )
            header = "".join(f"{x}\n" for x in HEADER.findall(rest[: found.start()]))
            inline = FUNCTION.sub(DECLARED, runtime)
            return called + runtime, f"{before}{begin}{called}{inline}{header}{after}"
    return "", text


@cache
def _compiled(runtime: str, options: tuple[str, ...]) -> Path:
    """The object with these functions, compiled once."""
    path = _folder() / f"{len([*_folder().iterdir()])}.c"
    path.write_text(FUNCTION.sub(DEFINED, runtime))
    command = ["cc", *options, "-c", path.name, "-o", f"{path.stem}.o"]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return path.with_suffix(".o")


@cache
def _folder() -> Path:
    folder = Path(mkdtemp(prefix="runtime-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
