"""What `loopxform init` prints: what to add to a build, as docs/building.md has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from loopxform.cli.init_project import Facts

EXAMPLE = "heat.c"
"""A file where none was found."""

_TARGET = re.compile(r"add_(?:library|executable)\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_OBJECTS = re.compile(r"^(\S*)%\.o\s*:\s*(?:\S+\s*:\s*)?(\S*)%\.c\b", re.MULTILINE)


def lines(facts: Facts) -> Iterator[str]:
    """What to do next, a line each."""
    kernels = facts.kernels or (EXAMPLE,)
    yield ""
    if not facts.kernels:
        yield f"No C file with loops for a device was found; {EXAMPLE} stands for yours."
    match facts.system:
        case "cmake":
            yield from _cmake(facts, kernels)
        case "meson":
            yield from _meson(facts, kernels)
        case "make":
            yield from _make(facts, kernels)
        case _:
            yield "No build system was found. By hand:"
            yield ""
            yield f"  loopxform offload {kernels[0]} -o build"
    yield ""
    yield "To look at a file:"
    file = _at(facts, kernels[0])
    yield from _indented(
        f"loopxform check {file}     which loops are parallel, and why not\n"
        f"loopxform config {file}    what holds for the file, and where it is said"
    )


def _at(facts: Facts, file: str) -> str:
    return os.path.normpath(os.path.join(facts.folder, file))


def _indented(text: str) -> Iterator[str]:
    yield ""
    yield from (f"  {line}" if line and line[0] != "\t" else line for line in text.splitlines())


# ---------------------------------------------------------------- CMake


def _cmake(facts: Facts, kernels: Sequence[str]) -> Iterator[str]:
    targets: dict[tuple[str, str], list[str]] = {}
    for file in kernels:
        targets.setdefault(_target_of(facts.folder, file), []).append(file)
    for (where, target), files in targets.items():
        inside = os.path.dirname(where)
        named = " ".join(os.path.relpath(f, inside or ".") for f in files)
        yield f"Add to {_at(facts, where)}, behind the target {target}:"
        yield from _indented(
            f"find_package(Loopxform REQUIRED)\nloopxform_add_kernels({target} FILES {named})"
        )
        yield ""
    yield "Then configure and build:"
    source, build = facts.folder, _at(facts, "build")
    yield from _indented(
        f"cmake -S {source} -B {build} -DLoopxform_DIR=$(loopxform --cmakedir)\n"
        f"cmake --build {build}"
    )


def _target_of(folder: str, file: str) -> tuple[str, str]:
    """The CMakeLists.txt and the target of a file: where its name is among the sources, else the
    first target of the nearest CMakeLists.txt."""
    nearest = ""
    inside = os.path.dirname(file)
    while True:
        path = os.path.join(inside, "CMakeLists.txt")
        text = _read(os.path.join(folder, path))
        targets = _TARGET.findall(re.sub(r"#.*", "", text))
        name = os.path.relpath(file, inside or ".")
        for target, sources in targets:
            if name in sources.replace('"', "").split():
                return path, target
        if targets and not nearest:
            nearest, first = path, targets[0][0]
        if not inside:
            return (nearest, first) if nearest else (path, "TARGET")
        inside = os.path.dirname(inside)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()
    except OSError:
        return ""


# ---------------------------------------------------------------- Meson

MESON = """\
cc = meson.get_compiler('c')
opencl = [cc.find_library('OpenCL'), cc.find_library('m', required: false)]
flags = [{flags}]
loopxform = generator(
  find_program('loopxform'),
  output: ['@BASENAME@_opencl.c', '@BASENAME@_opencl.h', '@BASENAME@.cl'],
  depfile: '@BASENAME@.d',
  arguments: ['offload', '@INPUT@', '-q', '-o', '@BUILD_DIR@',
              '-MF', '@DEPFILE@', '-MQ', '@OUTPUT0@', '-MQ', '@OUTPUT1@', '-MQ', '@OUTPUT2@',
              '--cflags', flags])
"""


def _meson(facts: Facts, kernels: Sequence[str]) -> Iterator[str]:
    folders = dict.fromkeys((*facts.include, *(os.path.dirname(f) or "." for f in kernels)))
    flags = (f"'-I' + meson.current_source_dir() / '{d}'" for d in folders)
    yield f"Add to {_at(facts, 'meson.build')}, in front of the target:"
    yield from _indented(MESON.format(flags=", ".join(flags)))
    yield ""
    yield "In the target, replace the files and add the options:"
    yield ""
    for file in kernels:
        yield f"  '{file}'  ->  loopxform.process('{file}')"
    yield "  c_args: flags, dependencies: opencl"


# ---------------------------------------------------------------- Make


def _make(facts: Facts, kernels: Sequence[str]) -> Iterator[str]:
    makefile = facts.build_file or "Makefile"
    text = _read(os.path.join(facts.folder, makefile))
    yield f"Add to {_at(facts, makefile)}, at its end:"
    yield from _indented("\n".join(_rules(text, kernels)))
    yield ""
    if not re.search(r"\.o\b", text):
        yield "No objects were found in it. Where it compiles, replace the files:"
        yield ""
        for file in kernels:
            yield f"  {file}  ->  {_written(file)}, with -iquote {os.path.dirname(file) or '.'}"
        yield ""
    yield "If your rule that links does not use $(LDLIBS), add -lOpenCL -lm to it."


def _rules(makefile: str, kernels: Sequence[str]) -> Iterator[str]:
    for folder in dict.fromkeys(map(os.path.dirname, kernels)):
        source = os.path.join(folder, "%.c")
        yield f"build/%_opencl.c build/%_opencl.h build/%.cl: {source}"
        yield "\tloopxform offload $< -q -o build -MF build/$*.d --cflags $(CPPFLAGS) $(CFLAGS)"
        yield ""
    for file in kernels:
        yield f"{_object(makefile, file)}: {_written(file)}"
        beside = os.path.dirname(file) or "."
        yield f"\t$(CC) $(CPPFLAGS) -iquote {beside} $(CFLAGS) -c -o $@ $<"
        yield ""
    yield "-include $(wildcard build/*.d)"
    yield "LDLIBS += -lOpenCL -lm"


def _written(file: str) -> str:
    stem = os.path.splitext(os.path.basename(file))[0]
    return f"build/{stem}_opencl.c"


def _object(makefile: str, file: str) -> str:
    """The object of a file: as a rule of the Makefile has it, else beside it."""
    stem = os.path.splitext(file)[0]
    rules = _OBJECTS.findall(makefile)
    for to, of in rules:
        if of and stem.startswith(of):
            return f"{to}{stem.removeprefix(of)}.o"
    for to, of in rules:
        if "$" in of or not of:
            return f"{to}{os.path.basename(stem) if of else stem}.o"
    return f"{stem}.o"
