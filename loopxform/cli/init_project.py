"""What `loopxform init` finds in a project: its build, headers, the device, files to offload."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Sequence

from loopxform.budget import Budget, within
from loopxform.errors import DeviceError, LoopxformError
from loopxform.records import record
from loopxform.settings.database import WRITTEN
from loopxform.settings.files import DATABASE
from loopxform.targets.profile import PROFILES

BUILDS = {
    "cmake": ("CMakeLists.txt",),
    "meson": ("meson.build",),
    "make": ("GNUmakefile", "makefile", "Makefile"),
}
"""The files of build systems; the first that is there counts: CMake writes Makefiles of its own."""

FOREIGN = re.compile(
    r"third[_-]?party|vendor|extern(al)?|subprojects|deps|_?build([._-].*)?|builddir"
    r"|cmake-build-.*|out"
)
"""Folders whose C is not the project's own, or is written by its build."""

MADE = {
    "cmake": "cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON writes one.",
    "meson": "meson setup build writes one.",
    "make": "bear -- make writes one.",
}

MOST_FILES, MOST_TRIED, SECONDS = 400, 8, 10.0
"""Files that are looked at and that are tried, and the time for each of these."""

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_LOOP = re.compile(r"\bfor\s*\(")
_MAIN = re.compile(r"^\s*(?:int|void)\s+main\s*\(", re.MULTILINE)


@record
class Facts:
    """`system` is one of BUILDS and `build_file` its file, empty where there is none; `database`
    is the folder of compile_commands.json, and `made` says how one is; `device` is what is here;
    `kernels` are the files whose loops can run on a device."""

    folder: str
    system: str
    build_file: str
    database: str
    made: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    profile: str
    device: str
    kernels: tuple[str, ...]


def facts(folder: str, system: str | None, profile: str | None) -> Facts:
    """Paths are relative to the folder. Raises LoopxformError where it cannot be read."""
    system = system or next((s for s in BUILDS if _build_file(folder, s)), "")
    database = _database(folder)
    files = [*_files(folder)][:MOST_FILES]
    texts = {f: _text(folder, f) for f in files}
    include = _include(texts, files)
    found, device = ("", "") if profile else _device()
    return Facts(
        folder,
        system,
        _build_file(folder, system),
        database,
        "" if database else MADE.get(system, ""),
        () if database else include,
        tuple(sorted(d for d in _folders(folder) if FOREIGN.fullmatch(d))),
        profile or found,
        device,
        tuple(_kernels(folder, texts, include)),
    )


def _build_file(folder: str, system: str) -> str:
    names = BUILDS.get(system, ())
    return next((n for n in names if os.path.isfile(os.path.join(folder, n))), "")


def _folders(folder: str) -> list[str]:
    return [e.name for e in os.scandir(folder) if e.is_dir() and not e.name.startswith(".")]


def _database(folder: str) -> str:
    """The folder of compile_commands.json: this one, build, else another one in it."""
    for name in (".", "build", *sorted(_folders(folder))):
        if os.path.isfile(os.path.join(folder, name, DATABASE)):
            return name
    return ""


def _files(folder: str) -> Iterator[str]:
    """The C files and headers of the project's own, with what it takes from others left out."""
    for where, inner, names in os.walk(folder):
        inner[:] = sorted(d for d in inner if not d.startswith(".") and not FOREIGN.fullmatch(d))
        inside = os.path.relpath(where, folder)
        for name in sorted(names):
            stem, end = os.path.splitext(name)
            if end in (".c", ".h") and not stem.endswith(WRITTEN):
                yield os.path.normpath(os.path.join(inside, name))


def _text(folder: str, file: str) -> str:
    try:
        with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def _include(texts: dict[str, str], files: Sequence[str]) -> tuple[str, ...]:
    """The folders in which headers are found that are not beside the file that includes them."""
    headers = [f for f in files if f.endswith(".h")]
    found: dict[str, None] = {}
    for file, text in texts.items():
        for name in _INCLUDE.findall(text):
            beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
            if beside in texts:
                continue
            end = os.path.normpath(name)
            fit = (h for h in headers if h == end or h.endswith(os.sep + end))
            if (header := next(fit, None)) is not None:
                found[header.removesuffix(end).rstrip(os.sep) or "."] = None
    return tuple(found)


def _device() -> tuple[str, str]:
    """The profile of the first GPU that is here, where there is one, and what is here."""
    if importlib.util.find_spec("pyopencl") is None:
        return "", ""
    from loopxform.runtime.device import devices  # loads what only this needs

    try:
        every = devices()
    except DeviceError:
        return "", ""
    device = next((d for d in every if d.type == "gpu"), every[0])
    measured = (n for n, p in PROFILES.items() if any(m in device.name for m in p.measured_on))
    known = next(measured, "") if device.type == "gpu" else ""
    like = known or ("pocl" if device.type == "cpu" else "generic")
    return known, f'The device here is {device}: "{like}".'


def _kernels(folder: str, texts: dict[str, str], include: Sequence[str]) -> Iterator[str]:
    """The files with loops that can run on a device, those without a main function first."""
    loops = [f for f, text in texts.items() if f.endswith(".c") and _LOOP.search(text)]
    loops.sort(key=lambda f: _MAIN.search(texts[f]) is not None)
    kernels = [f for f in loops[:MOST_TRIED] if _is_offloaded(folder, f, include)]
    libraries = [f for f in kernels if not _MAIN.search(texts[f])]
    yield from libraries or kernels


def _is_offloaded(folder: str, file: str, include: Sequence[str]) -> bool:
    from loopxform.api.reading import load  # loads all that analyses C

    folders = [os.path.join(folder, d) for d in include]
    try:
        with within(Budget.of(SECONDS, None)):
            done = load(os.path.join(folder, file), config=True, include=folders).offload()
    except LoopxformError:
        return False
    return bool(done.regions)
