"""Kernels: how they are launched, their loops with what runs each, and their text beside the lines
of the user's file that it comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from loopxform.codegen.opencl import describe
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.ir.nodes import Assign, Copy, For, If, Load, Stmt, Var
from loopxform.ir.printer import expr_text, header_text, lines
from loopxform.ir.visit import declared, walk
from loopxform.report.facts import Branch, KernelFact

MOST_KERNELS = 6
"""Texts of kernels of one part that are shown: the written file has them all."""

MOST_LINES = 400
"""Lines of one kernel that are shown."""


def kernel_facts(
    plan: Plan, file: str, about: Mapping[str, str], sizes: Mapping[str, int]
) -> tuple[tuple[KernelFact, ...], int]:
    """The kernels of a program, those of one text once and those with these tile `sizes` first, and
    how many are left out; `about` says of some, by name, what they stand for."""
    texts: dict[str, list[KernelPlan]] = {}
    for k in plan.kernels:
        texts.setdefault(k.text, []).append(k)
    ordered = sorted(texts.values(), key=lambda same: not any(_has(k, sizes) for k in same))
    shown = ordered[:MOST_KERNELS]
    return tuple(_kernel(same, file, about) for same in shown), len(texts) - len(shown)


def _has(k: KernelPlan, sizes: Mapping[str, int]) -> bool:
    """Whether a kernel has tiles of these sizes."""
    own = dict(k.macros)
    return bool(own) and own.items() <= sizes.items()


def _kernel(same: Sequence[KernelPlan], file: str, about: Mapping[str, str]) -> KernelFact:
    k = same[0]
    said = [about[x.name] for x in same if x.name in about]
    if len(same) > 1:
        said.append(f"one text for {len(same)} kernels, which differ in their macros")
    text = k.text.rstrip("\n").split("\n")
    origins = _Origins(k, file)
    rows = tuple((line, origins.of(line)) for line in text[:MOST_LINES])
    tree = tuple(_tree(k.function.body, file, 0))
    left = max(0, len(text) - MOST_LINES)
    return KernelFact(k.name, "; ".join(dict.fromkeys(said)), _launch(k), tree, rows, left)


def _launch(k: KernelPlan) -> tuple[tuple[str, str], ...]:
    shapes = {name: d.shape for name, d in declared(k.function.body).items()}
    tiles = [f"{name} = {value}" for name, value in k.macros]
    rows = [
        ("grid", describe.grid(k.mapping)),
        ("group", describe.group(k.mapping)),
        ("local memory", describe.local_memory(k.mapping)),
        ("private", describe.private_arrays(k.mapping, shapes)),
    ]
    rows += [("sizes", ", ".join(tiles))] if tiles else []
    rows += [("launched where", expr_text(k.when))] if k.when is not None else []
    return tuple(rows)


# ---------------------------------------------------------------- the loops


def _tree(body: Sequence[Stmt], file: str, depth: int) -> Iterator[Branch]:
    """Loops, copies and assignments, each with what runs it."""
    for s in body:
        line = _line(s, file)
        match s:
            case For():
                role, level = _role(s)
                yield Branch(depth, header_text(s), role, level, line)
                yield from _tree(s.body, file, depth + 1)
            case If():
                yield Branch(depth, f"if ({expr_text(s.cond)})", "", "", line)
                yield from _tree(s.then, file, depth + 1)
                if s.orelse:
                    yield Branch(depth, "else", "", "")
                    yield from _tree(s.orelse, file, depth + 1)
            case Copy(collective=True):
                text = next(lines((s,))).partition("  !")[0]
                yield Branch(depth, text, "the group copies it into local memory", "group", line)
            case Copy():
                text = next(lines((s,))).partition("  !")[0]
                yield Branch(depth, text, "into registers", "item", line)
            case Assign():
                yield Branch(depth, next(lines((s,))), "", "", line)
            case _:
                pass


def _role(s: For) -> tuple[str, str]:
    """What runs the iterations of a loop, in words and in one."""
    if s.level is not None and s.level.kind == "grid":
        return f"one work-group for each, dimension {'xyz'[s.level.dimension]}", "grid"
    if s.level is not None:
        return f"one work-item for each, dimension {'xyz'[s.level.dimension]}", "group"
    unrolled = ", unrolled" if s.unroll else ""
    if any(isinstance(x, Copy) and x.collective for x in s.body):
        return f"the group in step, a tile at a time{unrolled}", "group"
    return f"in order{unrolled}", "item"


def _line(s: Stmt, file: str) -> int:
    loc = s.origin.loc
    return loc.line if loc is not None and loc.file == file else 0


# ---------------------------------------------------------------- the user's lines

_SET = re.compile(r"^\s*(?:[\w\s]*\s)?\*?(\w+)(?:\[[^=]*\])*\s*([-+*/%&|^]|<<|>>|)=[^=]")
_LOOP = re.compile(r"\bfor\s*\(\s*(?:const\s+)?\w+\s+(\w+)\s*=")


class _Origins:
    """By the names that a kernel sets and counts, and by what operator, the lines of the user's
    file."""

    def __init__(self, k: KernelPlan, file: str) -> None:
        self.sets: dict[tuple[str, str], set[int]] = {}
        self.counts: dict[str, set[int]] = {}
        for _, s in walk(k.function.body):
            line = _line(s, file)
            if not line:
                continue
            match s:
                case Assign(Var(name) | Load(name), op=op):
                    self.sets.setdefault((name, op), set()).add(line)
                case Copy(name):
                    self.sets.setdefault((name, ""), set()).add(line)
                case For(var):
                    self.counts.setdefault(var, set()).add(line)
                case _:
                    pass

    def of(self, text: str) -> tuple[int, ...]:
        """The lines that a line of the kernel comes from; none where that is not certain."""
        loop, found = _LOOP.search(text), _SET.match(text)
        if loop:
            return tuple(sorted(self.counts.get(loop[1], ())))
        return tuple(sorted(self.sets.get((found[1], found[2]), ()))) if found else ()
