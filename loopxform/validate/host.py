"""What the written host code launches: which kernels, with which macros, over how many groups of
which shape, with which arguments, and for which sizes it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pycparser import c_ast

from loopxform.validate.text import HOST_TYPES, body_of, functions, parsed, without_attributes
from loopxform.validate.unmodelled import Unmodelled

THRESHOLD = "lx_threshold"
"""Stands for the numbers that tuning may set."""


@dataclass(frozen=True)
class Kernel:
    """One of the host's kernels: its name, the shape of a group, the macros of its program, and the
    name on the host of each argument."""

    name: str
    shape: tuple[int, int, int]
    macros: dict[str, str]
    arguments: dict[int, str]


@dataclass(frozen=True)
class Host:
    """`run` is the function that launches; its calls are of lx_step. `guards` hold for the sizes
    that are not refused. `rooms` are the sizes of the memory of the device, `own` what of it is no
    copy of the caller's, `source` the text of the kernels."""

    name: str
    kernels: tuple[Kernel, ...]
    run: c_ast.FuncDef
    guards: tuple[c_ast.Node, ...]
    rooms: dict[str, c_ast.Node]
    own: frozenset[str]
    tested: frozenset[str]
    """Pointers that it compares with null."""
    source: str


def read(text: str) -> Host:
    """Raises Unmodelled where the file holds other than one part that was written by `tile`."""
    parts = re.findall(r"^static void lx_run_(\w+)\(", text, flags=re.M)
    if len(parts) != 1:
        raise Unmodelled(f"host code with {len(parts)} parts")
    (name,) = parts
    launch = _function(text, f"static void lx_launch_{name}(")
    kernels = _kernels(text, name, launch)
    run = functions(parsed(_prelude(_function(text, f"static void lx_run_{name}(")), "host"))
    for function in (f"lx_launch_{name}", f"lx_run_{name}"):
        _passed_alike(text, function)
    guards: list[c_ast.Node] = []
    if f"lx_refusal_{name}(" in text:
        refusal = _function(text, f"static const char *lx_refusal_{name}(")
        tree = functions(parsed(_prelude(refusal), "host"))[f"lx_refusal_{name}"]
        guards = list(_holding(tree))
    strings = re.search(rf"lx_source_{name}\[\] = \{{(.*?)^\}};", text, flags=re.M | re.S)
    source = "".join(
        bytes(s.replace(r"\?", "?"), "utf-8").decode("unicode_escape")
        for s in re.findall(r'"((?:[^"\\]|\\.)*)"', strings[1] if strings else "")
    )
    tested = frozenset(re.findall(r"^  const int (\w+)_given = \(\1 != 0\);", text, flags=re.M))
    return Host(
        name,
        kernels,
        run[f"lx_run_{name}"],
        tuple(guards),
        _rooms(text),
        own_rooms(launch),
        tested,
        source,
    )


def _prelude(text: str) -> str:
    job = "struct lx_job { double operations; };"
    text = re.sub(r"lx_thresholds_\w+\[\d+\]\.used_number", THRESHOLD, text)
    text = re.sub(r"\bLX_MIN\b", "min", re.sub(r"\bLX_MAX\b", "max", text))
    return HOST_TYPES + job + "\n" + without_attributes(text)


def _function(text: str, head: str) -> str:
    at = text.find(head)
    if at < 0:
        raise Unmodelled(f"host code without {head.split()[-1].rstrip('(')}")
    return body_of(text, at)


def _kernels(text: str, name: str, launch: str) -> tuple[Kernel, ...]:
    table = re.search(rf"lx_kernels_{name}\[\] = \{{(.*?)^\}};", text, flags=re.M | re.S)
    programs = re.search(rf"lx_programs_{name}\[\] = \{{(.*?)^\}};", text, flags=re.M | re.S)
    if table is None or programs is None:
        raise Unmodelled("host code without its kernels")
    options = re.findall(r'\{ "\w+", "([^"]*)", \w+ \}', programs[1])
    macros = [dict(re.findall(r"-D(\w+)=(\S+)", o)) for o in options]
    rows = re.findall(r'\{ "(\w+)", (\d+), \d+, \d+, \{ (\d+), (\d+), (\d+) \} \}', table[1])
    arguments: list[dict[int, str]] = [{} for _ in rows]
    for few, call, many in re.findall(
        r"for \(lx_n = (\d+); lx_n < (\d+); \+\+lx_n\) \{(.*?)\}", launch, flags=re.S
    ):
        for k in range(int(few), int(call)):
            for place, value in re.findall(
                r"lx_set\(lx_job, lx_n, (\d+), sizeof \w+, &(\w+)\)", many
            ):
                arguments[k][int(place)] = value
    for k, place, value in re.findall(
        r"lx_set\(lx_job, (\d+), (\d+), sizeof \w+, &(\w+)\)", launch
    ):
        arguments[int(k)][int(place)] = value
    return tuple(
        Kernel(n, (int(x), int(y), int(z)), macros[int(p)], arguments[k])
        for k, (n, p, x, y, z) in enumerate(rows)
    )


def _passed_alike(text: str, function: str) -> None:
    """Each call passes what the parameters of a function are called."""
    head = re.search(rf"^static void {function}\(([^)]*)\)", text, flags=re.M)
    names = [p.split()[-1].lstrip("*") for p in head[1].split(",")][1:] if head else []
    for call in re.findall(rf"^\s+{function}\((.*)\);", text, flags=re.M):
        given = [re.sub(r"\(\w+\)|\blx_mem_", "", a).strip() for a in call.split(",")][1:]
        if given != names:
            raise Unmodelled(f"a call of {function} with other arguments")


def _rooms(launch: str) -> dict[str, c_ast.Node]:
    """Memory of the device by name, with its number of elements: the host's own arrays
    (`lx_own_room`) and those that the caller's are copied to."""
    rooms: dict[str, c_ast.Node] = {}
    for name, count in re.findall(
        r"\b(lx_mem_\w+) = (?:\w+ \? )?lx_(?:own_|lent_)?room\(&?lx_job, (.*), sizeof", launch
    ):
        text = f"long long f(void) {{ return {count}; }}"
        f = functions(parsed(_prelude(text), "host"))["f"]
        rooms[name] = f.body.block_items[0].expr
    return rooms


def own_rooms(launch: str) -> frozenset[str]:
    return frozenset(re.findall(r"cl_mem (\w+) = (?:\w+ \? )?lx_own_room\(", launch))


def _holding(refusal: c_ast.FuncDef) -> list[c_ast.Node]:
    """What holds where nothing is refused: of `return !(a) ? "..." : !(b) ? "..." : NULL`."""
    guards: list[c_ast.Node] = []
    for s in refusal.body.block_items or ():
        e = s.expr if isinstance(s, c_ast.Return) else None
        while isinstance(e, c_ast.TernaryOp):
            if isinstance(e.cond, c_ast.UnaryOp) and e.cond.op == "!":
                guards.append(e.cond.expr)
            e = e.iffalse
    return guards
