"""C projects around the written files: compiled without a warning, linked against the system's
OpenCL, and run beside the user's own function."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import one_runtime
import program_server
import pytest

from loopxform.api.splice import OffloadedFile
from loopxform.codegen import emit
from loopxform.codegen.c import declarations
from loopxform.floating_point import SEPARATE
from loopxform.ir.nodes import Function
from loopxform.transforms import Derivation

PEDANTIC = '#pragma GCC diagnostic ignored "-Wpedantic"\n'
"""For callers with halves, which ISO C has only since 2023."""

STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
SANITIZED = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
PLAIN = ["-O1" if os.environ.get("CI") else "-O0", "-ffp-contract=off"]
"""Compilers warn of more where they optimise, and take twice the time: CI's do."""

PROBE = """
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
int main(void)
{
  cl_platform_id p; cl_device_id d;
  if (clGetPlatformIDs(1, &p, NULL) != CL_SUCCESS) return 1;
  return clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL) != CL_SUCCESS;
}
"""


@cache
def missing() -> str | None:
    """Why no OpenCL program can be built and run with the system's compiler, or None."""
    if not shutil.which("cc"):
        return "there is no C compiler"
    with TemporaryDirectory() as name:
        app = Path(name, "probe")
        Path(name, "probe.c").write_text(PROBE)
        built = cc(Path(name), "probe.c", "-o", "probe", "-lOpenCL")
        if built.returncode:
            return "the OpenCL headers or the loader are not installed"
        return (
            None if run_app(app).returncode == 0 else "the system's loader finds no OpenCL device"
        )


def cc(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Sanitized programs are not optimised: that takes thrice the time, and others are for what
    compilers warn of."""
    level = ["-O0"] if any(x.startswith("-fsanitize") for x in args) else []
    with one_runtime.linked(folder, [*args, *level]) as words:
        return subprocess.run(
            ["cc", *words], cwd=folder, capture_output=True, text=True, check=False
        )


def build_both(folder: Path, *options: str) -> None:
    """Builds `user` from `user.c`, and `user_opencl` from what was written for it."""
    level = PLAIN if "-w" not in options else ["-O0", *PLAIN[1:]]  # there are no warnings to see
    for name, libraries in (("user", []), ("user_opencl", ["-lOpenCL", "-lm"])):
        built = cc(folder, *options, *level, f"{name}.c", "-o", name, *libraries)
        assert not built.returncode, built.stderr


def assert_both_print(folder: Path, *args: object) -> subprocess.CompletedProcess[str]:
    """Both programs print the same and end alike; returns how the written one ran, with what it
    said of its calls."""
    found = run_app(folder / "user_opencl", *args, whole=True, LOOPXFORM_VERBOSE="1")
    plain = run_app(folder / "user", *args)
    assert (found.stdout, found.returncode) == (plain.stdout, plain.returncode)
    return found


def run_app(
    app: Path, *args: object, whole: bool = False, **more: str
) -> subprocess.CompletedProcess[str]:
    """With the system's loader and its devices, whatever this process uses. That the device ran a
    call is as it should be, and left out of what is said, but for the `whole` of it."""
    command = [str(app), *map(str, args)]
    done = subprocess.run(
        command,
        env={**environment(), **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    done.stderr = done.stderr if whole else without_device(done.stderr)
    return done


def assert_file_prints_the_same(source: Path, done: OffloadedFile, *, sanitized: bool) -> list[str]:
    """A program of one file and what `offload` made of it; returns what that says of each call."""
    folder, stem = source.parent, source.stem
    done.write(folder / "out")
    flags = [*(SANITIZED if sanitized else STRICT), *PLAIN]
    plain = cc(folder, *flags, source.name, "-o", "plain", "-lm")
    assert not plain.returncode, plain.stderr
    built = cc(folder, *flags, f"out/{stem}_opencl.c", "-o", "app", "-lOpenCL", "-lm")
    assert not built.returncode, built.stderr
    settings = {"ASAN_OPTIONS": "detect_leaks=0"}
    expected = run_app(folder / "plain", **settings)
    assert expected.returncode == 0, expected.stderr
    found = run_app(folder / "app", whole=True, LOOPXFORM_VERBOSE="1", **settings)
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    return found.stderr.splitlines()


def environment() -> dict[str, str]:
    """Of written programs: their kernels are compiled as those that run in this process."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OCL_ICD", "LOOPXFORM"))}
    if flags := os.environ.get("PYOPENCL_BUILD_OPTIONS"):
        env = {"POCL_EXTRA_BUILD_FLAGS": flags, **env}
    return {**env, **program_server.settings(), "LOOPXFORM_CACHE": "off", "LOOPXFORM_HOST": "never"}


def without_device(said: str) -> str:
    """Without the lines of calls that the device ran."""
    lines = said.splitlines(keepends=True)
    return "".join(x for x in lines if not (x.startswith("loopxform: ") and ON_DEVICE.search(x)))


ON_DEVICE = re.compile(": on the device| begins: .* bytes are there$")


def require_opencl() -> None:
    """Skips a test where the system cannot build and run OpenCL programs."""
    reason = missing()
    if reason and os.environ.get("CI"):
        pytest.fail(f"CI must run this test: {reason}")
    if reason:
        pytest.skip(reason)


@dataclass(frozen=True)
class Project:
    """A folder with the written files, the user's object file (its function called user_...) and a
    caller."""

    folder: Path
    name: str

    def build(self, caller: str, *options: str) -> Path:
        (self.folder / "caller.c").write_text(caller)
        files = [f"{self.name}_opencl.c", "caller.c", "user.o", "-o", "app"]
        done = cc(self.folder, *STRICT, *PLAIN, *options, *files, "-lOpenCL", "-lm")
        assert done.returncode == 0, done.stderr
        return self.folder / "app"


def project_of(folder: Path, derivation: Derivation, source: Path) -> Project:
    """The files of a mapped program; `source` is the user's."""
    name = derivation.start.name
    emitted = emit.opencl(derivation, stem=name, origin=f"{name}.c", version="test", fp=SEPARATE)
    for file, text in emitted.files.items():
        (folder / file).write_text(text)
    user = [f"-D{name}=user_{name}", str(source), "-o", "user.o"]
    assert cc(folder, *PLAIN, "-c", *user).returncode == 0
    return Project(folder, name)


@dataclass(frozen=True)
class Compared:
    """A mapped program and the user's C, to be compared with each set of arguments; `caller` is C
    with `int differs(void)` in place of that."""

    derivation: Derivation
    text: str
    every: tuple[Mapping[str, Any], ...] = ()
    caller: str = ""


def assert_all_same(folder: Path, programs: Iterable[Compared], *options: str, **more: str) -> None:
    """All in one process, which loads the drivers of OpenCL once; their functions have different
    names. Silent although verbose: the device did it all."""
    require_opencl()
    files, calls = list[str](), list[str]()
    for p in programs:
        fn = p.derivation.start
        (folder / f"{fn.name}.c").write_text(p.text)
        project_of(folder, p.derivation, folder / f"{fn.name}.c")
        (folder / "user.o").rename(folder / f"{fn.name}.o")
        caller = p.caller or PEDANTIC + checks_of(fn, *p.every)
        named = caller.replace("static int differs(void)", f"int differs_{fn.name}(void)")
        declared = f"int differs_{fn.name}(void);\n"
        (folder / f"{fn.name}_caller.c").write_text(declared + named)
        files += [f"{fn.name}_opencl.c", f"{fn.name}_caller.c", f"{fn.name}.o"]
        calls.append(f'  if (differs_{fn.name}()) return puts("{fn.name}"), 1;\n')
    declared = "".join(f"int differs_{x.removesuffix('.o')}(void);\n" for x in files[2::3])
    body = f'int main(void)\n{{\n{"".join(calls)}  return puts("same"), 0;\n}}\n'
    (folder / "main.c").write_text(f"#include <stdio.h>\n{declared}{body}")
    built = cc(folder, *STRICT, *PLAIN, *options, *files, "main.c", "-o", "app", "-lOpenCL", "-lm")
    assert built.returncode == 0, built.stderr
    assert_same(run_app(folder / "app", **{"LOOPXFORM_VERBOSE": "1", **more}))


# ---------------------------------------------------------------- callers

PREAMBLE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "{name}_opencl.h"
{prototype};

static unsigned lx_seed = 1;
static int number(void)
{{
  lx_seed = lx_seed * 1103515245u + 12345u;
  return 1 + (int)(lx_seed >> 16) % 9;
}}
"""


def preamble_of(fn: Function) -> str:
    prototype = declarations.prototype(fn, f"user_{fn.name}")
    return PREAMBLE.format(name=fn.name, prototype=prototype)


def caller_of(fn: Function, *every: Mapping[str, Any]) -> str:
    """Runs the user's function and the drop-in on equal arrays for each set of arguments."""
    body = "".join(_comparison(fn, args) for args in every)
    return f'{preamble_of(fn)}\nint main(void)\n{{\n{body}  puts("same");\n  return 0;\n}}\n'


def checks_of(fn: Function, *every: Mapping[str, Any]) -> str:
    """`differs()`, which says whether the drop-in computes anything else than the user's function,
    for some set of arguments."""
    body = "".join(_comparison(fn, args) for args in every)
    return f"{preamble_of(fn)}\nstatic int differs(void)\n{{\n{body}  return 0;\n}}\n"


def _comparison(fn: Function, args: Mapping[str, Any]) -> str:
    """Every array twice, in memory of its exact size; floats get a fraction that is not exact."""
    name = fn.name
    lines, calls = list[str](), list[str]()
    for p in fn.params:
        if not p.array:
            calls.append(str(args[p.name]))
            continue
        bytes_ = f"{args[p.name].size} * sizeof({p.type.c})"
        value = "number() * 0.37" if p.type.is_float else "number()"
        lines += [
            f"void *{p.name}[2];",
            f"{p.name}[0] = malloc({bytes_} + 1);",
            f"{p.name}[1] = malloc({bytes_} + 1);",
            f"for (int n = 0; n < {args[p.name].size}; n++)",
            f"  (({p.type.c} *){p.name}[0])[n] = ({p.type.c})({value});",
            f"memcpy({p.name}[1], {p.name}[0], {bytes_});",
        ]
        calls.append(f"{p.name}[WHICH]")
    call = ", ".join(calls)
    lines += [
        f"user_{name}({call.replace('WHICH', '0')});",
        f"{name}({call.replace('WHICH', '1')});",
    ]
    for p in (p for p in fn.params if p.array):
        bytes_ = f"{args[p.name].size} * sizeof({p.type.c})"
        lines += [
            f"if (memcmp({p.name}[0], {p.name}[1], {bytes_}) != 0)",
            '  return puts("differs"), 1;',
        ]
        lines += [f"free({p.name}[0]);", f"free({p.name}[1]);"]
    return "  {\n" + "".join(f"    {line}\n" for line in lines) + "  }\n"


def assert_same(done: subprocess.CompletedProcess[str], stderr: str = "") -> None:
    assert (done.returncode, done.stdout, done.stderr) == (0, "same\n", stderr)
