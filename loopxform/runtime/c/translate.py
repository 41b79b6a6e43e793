"""OpenCL C, as `codegen` writes it, to a C file for `opencl.h`: the same lines, with the words that
no macro can stand for replaced.

    __local float A[8][9];          float (*const A)[9] = lx_local(sizeof(float[8][9]));
    (float4)(a, b, c, d)            LX_MAKE(float4, a, b, c, d)
    convert_float4(v)               LX_CONVERT(float, 4, v)

Constants get names that no header of C declares. Behind the kernels stands a table of them, each
with a function that takes its arguments from an array of addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_KERNEL = re.compile(r"__kernel\b[^{;]*?\b(\w+)\s*\(([^()]*)\)\s*\{", re.DOTALL)
_LOCAL = re.compile(
    r"(?:^|(?<=[;{}]))([ \t]*)__local\s+([A-Za-z_][\w \t]*?)\s+(\w+)((?:\[[^\];]*\])*)"
    r"(?:\s*__attribute__\(\(.*?\)\))?\s*;",
    re.MULTILINE,
)
_VECTOR = r"(?:u?char|u?short|u?int|u?long|float|double)(?:2|4|8|16)"
_LITERAL = re.compile(rf"\(({_VECTOR})\)\s*\(")
_CONVERTED = re.compile(r"\bconvert_(u?char|u?short|u?int|u?long|float|double)(2|4|8|16)\(")
_CONSTANT = re.compile(r"^__constant\s+[\w\s]+?\b(\w+)\s*[\[=]", re.MULTILINE)
_BARRIER = re.compile(r"\bbarrier\s*\(")


@dataclass(frozen=True, slots=True)
class CKernel:
    """A kernel of a translated text. `params` are the types of its scalars, `*` for pointers."""

    name: str
    params: tuple[str, ...]
    barriers: bool
    local_arrays: int


@dataclass(frozen=True, slots=True)
class Translation:
    """A C file and the kernels in it, in the order of its table."""

    text: str
    kernels: tuple[CKernel, ...]


def translated(source: str, name: str = "kernel.cl") -> Translation:
    """The C for a text of kernels; its lines keep their numbers and are those of `name`."""
    plain = _COMMENT.sub(_lines_of, source)
    kernels = tuple(_kernels(plain))
    body = _LOCAL.sub(_local, plain)
    body = _LITERAL.sub(r"LX_MAKE(\1, ", body)
    body = _CONVERTED.sub(r"LX_CONVERT(\1, \2, ", body)
    names = (f"#undef {c}\n#define {c} lx_constant_{c}" for c in _CONSTANT.findall(plain))
    parts = ['#include "opencl.h"', *names, f'#line 1 "{name}"', body, *_table(kernels)]
    return Translation("\n".join(parts) + "\n", kernels)


def _lines_of(comment: re.Match[str]) -> str:
    return " " + "\n" * comment[0].count("\n")


def _local(m: re.Match[str]) -> str:
    """An array as a pointer to its first row, which the work-items of a group share."""
    indent, kind, name, dims = m[1], m[2], m[3], m[4]
    rows = re.findall(r"\[[^\]]*\]", dims)
    if not rows:
        raise ValueError(f"the local variable {name} is no array")
    rest = "".join(rows[1:])
    target = f"(*const {name}){rest}" if rest else f"*const {name}"
    return f"{indent}{kind} {target} = lx_local(sizeof({kind}{dims}));"


def _kernels(text: str) -> Iterator[CKernel]:
    starts = list(_KERNEL.finditer(text))
    ends = [m.start() for m in starts[1:]] + [len(text)]
    for m, end in zip(starts, ends):
        params = tuple(_param(p) for p in m[2].split(",") if p.strip() not in ("", "void"))
        barriers = _BARRIER.search(text, m.end(), end) is not None
        yield CKernel(m[1], params, barriers, len(_LOCAL.findall(text, m.end(), end)))


def _param(text: str) -> str:
    """The type of a scalar: all but the name."""
    return "*" if "*" in text else text.rpartition(" ")[0].strip()


def _table(kernels: tuple[CKernel, ...]) -> Iterator[str]:
    for k in kernels:
        given = (f"a[{n}]" if p == "*" else f"*({p} *)a[{n}]" for n, p in enumerate(k.params))
        yield f"static void lx_run_{k.name}(void **a) {{ {k.name}({', '.join(given)}); }}"
    rows = (f'{{"{k.name}", lx_run_{k.name}, {int(k.barriers)}}}, ' for k in kernels)
    yield f"const struct lx_kernel lx_kernels[] = {{{''.join(rows)}{{0}}}};"
