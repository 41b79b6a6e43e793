"""The user's own C, compiled by the system's compiler and called on numpy arrays.

A wrapper includes the source, so that static functions and objects are within reach, and exports
for each function a `void (void **args)` that ctypes can call whatever the prototype is.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loopxform import compiler
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.structs import c_layout, place, pointed, records, roots
from loopxform.codegen.tables import initialiser
from loopxform.errors import InputError
from loopxform.ir.nodes import Function, Param, Struct
from loopxform.ir.printer import expr_text
from loopxform.ir.types import HALF
from loopxform.ir.typing import all_types
from loopxform.runtime.structs import member

FLAGS = ("-O2", "-ffp-contract=off", "-fexcess-precision=standard", "-fPIC", "-shared", "-w")
"""Contraction is off: a fused multiply-add would round differently from the interpreter. Excess
precision ends at assignments and casts, as the C standard has it."""

IN_FLOAT = ("-mno-avx512fp16",) if platform.machine() == "x86_64" else ()
"""For programs with halves, whatever the compiler is told to compile for: see `ir.types.common`."""


@dataclass(frozen=True)
class CSource:
    """C to compile: a file, or text where `text` is given (then `path` only names it), with the
    user's `-I`, `-D`, `-U` options."""

    path: str = "<text>"
    text: str | None = None
    include: tuple[str, ...] = ()
    define: tuple[str, ...] = ()
    undefine: tuple[str, ...] = ()
    flags: tuple[str, ...] = field(default=())
    cflags: tuple[str, ...] = ()
    """What `compiler.flags` takes of the options of the user's build: the macros are those that the
    compiler defines then, the arithmetic is that of the C standard."""

    @property
    def options(self) -> list[str]:
        """Compiler options; directories are made absolute, since the wrapper lies elsewhere."""
        dirs = [f"-I{os.path.abspath(d)}" for d in self.include]
        macros = [f"-D{d}" for d in self.define] + [f"-U{u}" for u in self.undefine]
        return [*dirs, *macros, *self.flags]


class Library:
    """Compiled functions. The files are gone once it is loaded; the code stays until the process
    ends, since it may have started threads of its own (OpenMP).

    Raises InputError where there is no compiler or the source does not compile.
    """

    def __init__(self, source: CSource, functions: Sequence[Function]) -> None:
        self.functions = {f.name: n for n, f in enumerate(functions)}
        self._by_name = {f.name: f for f in functions}
        with tempfile.TemporaryDirectory(prefix="loopxform-") as directory:
            self._library: Any = ctypes.CDLL(_compile(source, functions, Path(directory)))

    def run(self, name: str, args: Mapping[str, Any]) -> int | float | None:
        """Calls a function and returns its value (None for void).

        `args` is as for `interp.run`: every parameter and global by name, arrays C-contiguous and
        of the exact element type, updated in place. Globals are set before the call (const ones
        keep the value the source gives them), and read back into their array (a scalar global:
        where its argument is a 0-d array); pointers at file scope point to their array. Raises
        InputError.
        """
        fn, number = self._by_name[name], self.functions[name]
        values = [_as_array(p, args) for p in _objects(fn, fn.params)]
        result = np.zeros((), fn.returns.numpy if fn.returns else "int32")
        pointers = (ctypes.c_void_p * (len(values) + 1))(
            *(v.ctypes.data for v in values), result.ctypes.data
        )
        own = _objects(fn, fn.globals)
        objects = [(p, _as_array(p, args), self._global(number, p)) for p in own]
        _point(fn, args)
        for p, array, address in objects:
            if p.pointer:
                ctypes.c_void_p.from_address(address).value = array.ctypes.data
            elif not p.const:
                ctypes.memmove(address, array.ctypes.data, array.nbytes)
        with _largest_stack():
            getattr(self._library, f"loopxform_ref_{number}")(pointers)
        for p, array, address in objects:
            if not p.pointer:
                ctypes.memmove(array.ctypes.data, address, array.nbytes)
        return result.item() if fn.returns else None

    def read_constants(self, name: str, args: Mapping[str, Any]) -> None:
        """Copies the values of the const globals of a function into their arrays in `args`: the
        source fixes them, so other runs must be given the same."""
        for p in _objects(self._by_name[name], self._by_name[name].globals):
            if p.const and not p.pointer:
                array = _as_array(p, args)
                address = self._global(self.functions[name], p)
                ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def _global(self, function: int, p: Param | Struct) -> int:
        find = getattr(self._library, f"loopxform_global_{function}")
        find.restype = ctypes.c_void_p
        fn = [*self._by_name.values()][function]
        address = find(_objects(fn, fn.globals).index(p))
        if address is None:
            what = f"'{p.name}' is static in it, and cannot be set"
            raise InputError(f"'{fn.name}' cannot be called: {what}", code="LX058")
        return int(address)


@contextmanager
def _largest_stack() -> Iterator[None]:
    """As much stack as the system allows: functions have large arrays of their own, and systems let
    the stack of the first thread grow as far as the limit says when it grows."""
    before = resource.getrlimit(resource.RLIMIT_STACK)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_STACK, (before[1], before[1]))
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_STACK, before)


def run_reference(source: CSource, fn: Function, args: Mapping[str, Any]) -> int | float | None:
    """Compiles `source` and calls `fn` once. See `Library.run`. Raises InputError."""
    return Library(source, [fn]).run(fn.name, args)


def wrapper_text(source: CSource, functions: Sequence[Function]) -> str:
    """What is compiled: the source, where it is text (a file is included by an option of the
    compiler, since its name may hold what no `#include` can), then the entry points."""
    parts = [source.text or "", "#undef main", "#include <stddef.h>"]
    for n, fn in enumerate(functions):
        parts += [_entry(fn, n), _globals(fn, n)]
    return "\n".join(parts) + "\n"


def _entry(fn: Function, n: int) -> str:
    params = _objects(fn, fn.params)
    arguments = ", ".join(
        f"{_ARGS}[{k}]" if p.shape else f"*({p.type.c} *){_ARGS}[{k}]" for k, p in enumerate(params)
    )
    result = f"*({fn.returns.c} *){_ARGS}[{len(params)}] = " if fn.returns else ""
    layouts = (f'_Static_assert({x}, "");\n' for r in records(fn) for x in c_layout(r))
    return (
        f"{''.join(layouts)}{_EXPORT} void loopxform_ref_{n}(void **{_ARGS})\n"
        f"{{\n  {result}{fn.name}({arguments});\n}}"
    )


def _globals(fn: Function, n: int) -> str:
    cases = "".join(
        f"  if ({_NUMBER} == {k}) {_address(p)}\n" for k, p in enumerate(_objects(fn, fn.globals))
    )
    return f"{_EXPORT} void *loopxform_global_{n}(int {_NUMBER})\n{{\n{cases}  return 0;\n}}"


def _address(p: Param | Struct) -> str:
    if not isinstance(p, Param) or not p.kept:
        return f"return (void *)&{p.name};"
    if not p.values:
        return "return 0;"
    # A table inside a function: one like it.
    size = "".join(f"[{expr_text(e)}]" for e in p.shape if e is not None)
    values = initialiser(p, Dialect("c", {}))
    return f"{{ static const {p.type.c} {p.name}{size} = {values}; return (void *)&{p.name}; }}"


_ARGS, _NUMBER = "loopxform_args", "loopxform_number"
"""Parameters of the entry points, which must hide no name of the user's."""

_EXPORT = '__attribute__((visibility("default")))'


def _compile(source: CSource, functions: Sequence[Function], directory: Path) -> str:
    """The path of the shared library. What the wrapper does not reach is dropped, so that a file
    that calls functions of other files loads all the same."""
    wrapper, library = directory / "reference.c", directory / "reference.so"
    wrapper.write_text(wrapper_text(source, functions), encoding="utf-8")
    file = ["-include", os.path.abspath(source.path)] if source.text is None else []
    own = ["-Dmain=loopxform_user_main", *file]
    sections = ["-ffunction-sections", "-fdata-sections", "-fvisibility=hidden"]
    linker = ["-Wl,--gc-sections"] if os.uname().sysname == "Linux" else ["-Wl,-dead_strip"]
    command = [
        *compiler.command(),
        *FLAGS,
        *compiler.language(source.cflags),
        *_macros(source.cflags),
        *sections,
        *source.options,
        *(IN_FLOAT if any(HALF in all_types(f) for f in functions) else ()),
        *own,
        str(wrapper),
        "-o",
        str(library),
    ]
    done = subprocess.run([*command, *linker, "-lm"], capture_output=True, text=True, check=False)
    if done.returncode:
        log = done.stderr.replace(str(wrapper), source.path).strip().splitlines()
        raise InputError(
            f"{source.path} does not compile with {command[0]}",
            code="LX057",
            notes=log[:12],
            help="pass the -I and -D options your build uses",
        )
    return str(library)


def _macros(cflags: Sequence[str]) -> list[str]:
    """Options for the macros that our own options would change."""
    wanted = compiler.macros(cflags) or {}
    known = compiler.macros((*FLAGS, *compiler.language(cflags))) or {}
    changed = [f"-D{n}={v.strip()}" for n, v in wanted.items() if known.get(n) != v]
    return [*changed, *(f"-U{n}" for n in known if n not in wanted)]


def _objects(fn: Function, among: Sequence[Param]) -> list[Param | Struct]:
    """The parameters or globals as C has them, structs whole. Raises InputError."""
    known: dict[str, Param | Struct] = {p.name: p for p in among}
    known |= {s.name: s for s in fn.structs}
    missing = [n for n in roots(among) if n not in known]
    if missing:
        what = f"how the struct '{missing[0]}' lies in memory is not known"
        raise InputError(f"'{fn.name}' cannot be called: {what}", code="LX058")
    return [known[n] for n in roots(among)]


def _point(fn: Function, args: Mapping[str, Any]) -> None:
    """Sets the pointers inside structs to what they point to."""
    for name in pointed(fn):
        at = place(fn, name)
        assert at is not None
        if name in args:
            inside = member(args[at.struct.name], [m.name for m in at.path])
            inside[...] = args[name].ctypes.data


def _as_array(p: Param | Struct, args: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The memory of an argument: the caller's own array, or a new 0-d array for a number."""
    if p.name not in args:
        raise InputError(f"no argument is given for {p.name}", code="LX058")
    value = args[p.name]
    if not p.shape and not isinstance(value, np.ndarray):
        return np.array(value, p.type.numpy)
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(p.type.numpy):
        raise InputError(f"{p.name} must be an array of {p.type.numpy}", code="LX058")
    if not value.flags.c_contiguous:
        raise InputError(f"{p.name} must be contiguous", code="LX058")
    return value
