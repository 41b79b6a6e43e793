"""From text to pycparser's tree: the user's C, kernels in OpenCL C, and functions of host code."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

from loopxform import compiler
from loopxform.errors import InputError
from loopxform.validate import tile_macros, vectors
from loopxform.validate.unmodelled import Unmodelled

GNU = [
    "-D__attribute__(x)=", "-D__extension__=", "-D__restrict=restrict", "-D__restrict__=restrict",
    "-D__inline=inline", "-D__inline__=inline", "-D__asm__(x)=", "-D__const=const",
    "-D__volatile__=volatile", "-D__builtin_va_list=int", "-D_Noreturn=", "-D__signed__=signed",
    "-D_Float16=_Float16", "-D_Bool=_Bool", "-D__GNUC_VA_LIST=1", "-D_Float128=double",
]  # fmt: skip
KERNEL_TYPES = (
    "typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort;"
    "typedef unsigned long ulong; typedef long ptrdiff_t; typedef unsigned long size_t;"
    "typedef float half;"
)
USER_TYPES = (
    "typedef float _Float16; typedef float _Float32; typedef double _Float64;"
    "typedef double _Float32x; typedef double _Float64x;"
)
HOST_TYPES = (
    "typedef int cl_int; typedef unsigned int cl_uint; typedef float cl_float;"
    "typedef double cl_double;"
    "typedef char cl_char; typedef unsigned char cl_uchar; typedef short cl_short;"
    "typedef unsigned short cl_ushort; typedef long cl_long; typedef unsigned long cl_ulong;"
    "typedef unsigned long size_t; typedef long ptrdiff_t; typedef unsigned short cl_half;"
    "typedef int *cl_mem; typedef int *cl_kernel; typedef int *cl_command_queue;"
)
NONTEMPORAL = "LX_NONTEMPORAL"
"""Chooses between two forms of a kernel, by the compiler."""

VECTORS = re.compile(r"#define LX_(?:VECTOR|VECTOR_AS|STORE)\(")
"""Macros that move vectors: they have another form for NVIDIA's compiler."""
NVIDIA = "__NV_CL_C_VERSION"

LOCAL = "auto"
"""The storage class that stands for `__local` in the tree."""


def preprocessed(text: str, options: Sequence[str]) -> str:
    """As the C compiler's preprocessor leaves it, with the lines that it came from. Raises
    InputError where there is none, or it refuses."""
    command = compiler.command() if compiler.find() else None
    if command is None:
        help = "install gcc or clang, or set CC"
        raise InputError("no C compiler is there to preprocess with", help=help)
    done = subprocess.run(
        [*command, "-E", "-x", "c", *options, "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        notes = done.stderr.strip().splitlines()[:6]
        help = "pass the -I and -D options your build uses"
        raise InputError("the preprocessor refuses the C", notes=notes, help=help)
    return done.stdout


def without_attributes(text: str) -> str:
    """Without __attribute__((...)), whatever stands inside."""
    kept, at = [], 0
    for m in re.finditer(r"__attribute__\s*\(", text):
        if m.start() < at:
            continue
        depth, end = 1, m.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        kept.append(text[at : m.start()])
        at = end
    return "".join((*kept, text[at:]))


def parsed(text: str, name: str = "") -> c_ast.FileAST:
    try:
        return c_parser.CParser().parse(text, name)
    except Exception as e:  # pycparser's own errors have no common class
        raise Unmodelled(f"what stands there: {name or 'the text'}: {e}") from e


def kernels(text: str, macros: dict[str, str]) -> c_ast.FileAST:
    """A file of OpenCL C with these macros. Raises Unmodelled where a compiler may take another
    form of a kernel than the one that is read here."""
    if f"#if {NONTEMPORAL}" in text:
        raise Unmodelled("stores past the caches, of tiles that are turned in registers")
    tile_macros.require_known(text)
    for name in macros:
        text = re.sub(rf"^[ \t]*#[ \t]*(define|undef)[ \t]+{name}\b.*$", "", text, flags=re.M)
    text = re.sub(r'_Pragma\("[^"]*"\)', "", text)
    tree = _kernels(text, macros)
    if VECTORS.search(text):
        other = _kernels(text, {**macros, NVIDIA: "120"})
        if written(other) != written(tree):
            raise Unmodelled("vectors that compilers read in two forms")
    return tree


def _kernels(text: str, macros: dict[str, str]) -> c_ast.FileAST:
    options = ["-undef", *(f"-D{n}={v}" for n, v in macros.items())]
    body = without_attributes(preprocessed(text, options))
    body = re.sub(r"^[ \t]*#[ \t]*pragma.*$", "", body, flags=re.M)
    body = re.sub(r"\((?:__local|local) +((?:const +)?\w+ *\*\))", r"(\1", body)
    body = re.sub(r"\b__local\b|\blocal\b", LOCAL, body)
    body = re.sub(r"\b(__kernel|kernel|__global|global|__private|__constant|volatile)\b", "", body)
    tree = parsed(f"{KERNEL_TYPES}{vectors.TYPES}\n{body}", "kernel")
    vectors.apart(tree)
    return tree


def constants(tree: c_ast.FileAST) -> dict[str, tuple[float, ...]]:
    """The numbers of arrays and variables of a file that nothing changes."""
    arrays: dict[str, tuple[float, ...]] = {}
    for d in tree.ext:
        if isinstance(d, c_ast.Decl) and isinstance(d.init, c_ast.InitList):
            numbers = _numbers(d.init)
            if numbers is not None:
                arrays[d.name] = numbers
    return arrays


def _numbers(e: c_ast.Node) -> tuple[float, ...] | None:
    if isinstance(e, c_ast.InitList):
        parts = [_numbers(x) for x in e.exprs]
        return None if None in parts else tuple(x for p in parts for x in p or ())
    if isinstance(e, c_ast.UnaryOp) and e.op == "-":
        inner = _numbers(e.expr)
        return None if inner is None else tuple(-x for x in inner)
    if isinstance(e, c_ast.Constant) and e.type != "char":
        text = e.value.rstrip("fFlLuU") if not e.value.lower().startswith("0x") else e.value
        return (float.fromhex(text) if "x" in text.lower() else float(text),)
    return None


def user_file(path: Path, options: Sequence[str]) -> c_ast.FileAST:
    text = preprocessed(f'#include "{path.resolve()}"\n', [*GNU, *options])
    text = re.sub(r"\b__asm(__)?\s*(volatile)?\s*\([^;]*\)", "", text)
    text = re.sub(r"^[ \t]*#[ \t]*pragma.*$", "", text, flags=re.M)
    return parsed(USER_TYPES + "\n" + text, str(path))


def functions(tree: c_ast.FileAST) -> dict[str, c_ast.FuncDef]:
    return {x.decl.name: x for x in tree.ext if isinstance(x, c_ast.FuncDef)}


def written(f: c_ast.Node) -> str:
    """A part of a program as text, in one way whatever its layout."""
    return str(c_generator.CGenerator().visit(f))


def body_of(text: str, start: int) -> str:
    """From `start` to the brace that closes the first one behind it."""
    at = text.index("{", start)
    depth, end = 1, at + 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[start:end]
