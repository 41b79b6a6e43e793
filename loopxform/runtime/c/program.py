"""Kernels compiled by the C compiler to shared libraries, and the process that a sanitizer watches.

What is compiled is kept on disk (`LOOPXFORM_CACHE`) by the text, the compiler and the options.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loopxform import compiler
from loopxform.cache import digest, store
from loopxform.errors import DeviceError
from loopxform.runtime.c.translate import CKernel, translated

HERE = Path(__file__).parent
LANGUAGE = ("-std=c11", "-Wno-error", "-fsigned-char", "-fno-strict-aliasing", "-ffp-contract=off")
"""Arithmetic as C has it: what may be contracted need not be."""

FRAME = 3 * 2**18
"""Bytes of the stack that a work-item may use: 3/4 of its own (groups.c)."""

HEADERS = ("opencl.h", "groups.h")


@dataclass(frozen=True, slots=True)
class Mode:
    """How kernels are compiled: plain, or with a sanitizer. `groups` are options for groups.c,
    which is compiled without it; `frame` is how many bytes of the stack a work-item may use."""

    name: str
    flags: tuple[str, ...]
    groups: tuple[str, ...] = ()
    finds: str = ""
    frame: int = FRAME

    @property
    def sanitizer(self) -> bool:
        return bool(self.finds)


_SERVED = ("-DLX_SERVED", "-ftls-model=initial-exec")
"""What kernels call is in the process that loads them, its variables as well: memory that the
loader allocates for a thread would be shared by its fibres."""

PLAIN = Mode("c", ("-O3",))
ASAN = Mode(
    "c+asan",
    ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,bounds", *_SERVED),
    ("-DLX_ASAN", "-DLX_SERVED"),
    "accesses out of bounds",
    4 * FRAME,
)
TSAN = Mode(
    "c+tsan",
    ("-O1", "-g", "-fsanitize=thread", *_SERVED),
    ("-DLX_TSAN", "-DLX_SERVED"),
    "races",
)
MODES = {m.name: m for m in (PLAIN, ASAN, TSAN)}


@dataclass(frozen=True, slots=True)
class Program:
    """A library and the kernels in it."""

    path: Path
    kernels: tuple[CKernel, ...]
    mode: Mode

    def number(self, kernel: str) -> int:
        """The place of a kernel in the table. Raises DeviceError."""
        names = [k.name for k in self.kernels]
        if kernel not in names:
            raise DeviceError(f"the source has no kernel {kernel}", notes=names)
        return names.index(kernel)


@cache
def program(source: str, mode: Mode, options: tuple[str, ...] = ()) -> Program:
    """The program for a text of kernels; of `options` those that define macros count. Raises
    DeviceError with the compiler's words, InputError where there is no compiler."""
    c = translated(source)
    macros = [o for o in options if o.startswith(("-D", "-U"))]
    frame = f"-Wframe-larger-than={mode.frame}"
    flags = (*LANGUAGE, frame, *mode.flags, *macros, f"-I{HERE}")
    groups = [] if mode.sanitizer else [_object(HERE / "groups.c", _GROUPS)]
    headers = [(HERE / h).read_text() for h in HEADERS]
    linked = ("-shared", "-fPIC", "-fvisibility=hidden")
    key = _key(c.text, *headers, *flags, *linked, *(o.name for o in groups))
    words = [*flags, *linked, "-x", "c", "-", "-x", "none", *map(str, groups), "-lm", "-lpthread"]
    return Program(_built(key, words, c.text), c.kernels, mode)


@cache
def server(mode: Mode) -> Path:
    """The program that loads kernels and runs them under a sanitizer. Raises as `program`."""
    parts = [_object(HERE / part, (*mode.groups, *_GROUPS)) for part in ("groups.c", "server.c")]
    words = [*mode.flags, "-rdynamic", *map(str, parts), "-ldl", "-lpthread"]
    return _built(_key(*words), words, "")


_GROUPS = ("-O2", "-fPIC")


def _object(part: Path, flags: Sequence[str]) -> Path:
    """A part of the runtime, compiled."""
    texts = [part.read_text(), *((HERE / h).read_text() for h in HEADERS)]
    words = ["-std=c11", *flags, f"-I{HERE}", "-c", "-x", "c", "-"]
    return _built(_key(*texts, *flags), words, texts[0], ".o")


def _key(*parts: str) -> str:
    return digest(repr(compiler.stamp()).encode(), *(p.encode() for p in parts))


def _command() -> list[str]:
    """The compiler; which sanitizer runs is the mode's to say."""
    return [word for word in compiler.command() if not word.startswith("-fsanitize")]


def _built(key: str, words: Sequence[str], text: str, suffix: str = "") -> Path:
    """The file that the compiler makes of a text, or made of it before."""
    folder = _folder()
    path = folder / f"{key}{suffix}"
    if path.exists():
        with suppress(OSError):
            os.utime(path)
        return path
    temporary = folder / f"{key}.{os.getpid()}.{os.urandom(4).hex()}{suffix}"
    command = [*_command(), *words, "-o", str(temporary)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        temporary.unlink(missing_ok=True)
        message, notes = f"the kernel does not build with {command[0]}", _log(done.stderr)
        missing = any(_NO_SANITIZER.search(n) for n in notes)
        raise DeviceError(message, code="LX059", notes=notes, help=INSTALL if missing else None)
    if _LARGE in done.stderr:
        temporary.unlink(missing_ok=True)
        notes = [line.strip() for line in done.stderr.splitlines() if _LARGE in line]
        message = "the arrays of a work-item are too large for kernels as C"
        raise DeviceError(message, code="LX059", notes=notes, help=SMALLER)
    try:
        temporary.replace(path)
    except FileNotFoundError as e:
        raise DeviceError(f"{command[0]} writes no file", code="LX059") from e
    return path


INSTALL = "the compiler's sanitizers are not installed (Debian: libclang-rt-dev for clang); CC=gcc"
SMALLER = "use smaller arrays inside the loops, or an OpenCL device (--device)"
_LARGE = "-Wframe-larger-than"
_NO_SANITIZER = re.compile(r"cannot find \S*(clang_rt|asan|tsan|ubsan)")
_WRONG = re.compile(r"error|cannot find", re.IGNORECASE)


def _log(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    first = next((n for n, line in enumerate(lines) if _WRONG.search(line)), 0)
    return lines[first : first + 20]


@cache
def _folder() -> Path:
    """Where compiled files lie: with what else is kept, or for this process alone."""
    kept = store("kernels")
    if kept is not None:
        with suppress(OSError):
            kept.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _trim(kept.folder)
            if os.access(kept.folder, os.W_OK | os.X_OK):
                return kept.folder
    import atexit

    folder = tempfile.mkdtemp(prefix="loopxform-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


MOST = 256 * 2**20
"""Bytes of compiled files; those not used for longest go."""


def _trim(folder: Path) -> None:
    files = sorted((p.stat().st_mtime, p.stat().st_size, p) for p in folder.iterdir())
    left = sum(size for _, size, _ in files)
    for _, size, path in files:
        if left <= MOST:
            return
        path.unlink(missing_ok=True)
        left -= size
