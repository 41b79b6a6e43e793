"""Mistakes to plant in the host code that launches kernels: see `mutant_edits`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutant_edits import each
from mutant_runs import Edit

PARENTHESES = r"(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*"
COUNT = re.compile(rf"lx_count\(({PARENTHESES})\)")
LAUNCH = re.compile(rf"lx_step\(lx_job, (\d+)(?:, lx_count\({PARENTHESES}\)){{3}},")
SHAPE = re.compile(r'\{ "(\w+)", \d+, \d+, \d+, \{ (\d+), (\d+), (\d+) \} \}')
SWAPPED = re.compile(r"sizeof (\w+), &\1(\), lx_set\(lx_job, \d+, \d+, )sizeof (\w+), &\3\)")


def host_edits(host: str, cl: str) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Mistakes in the launches of a written C file: how many groups, of which shape, of which
    kernel, with which arguments, and when."""
    for m in LAUNCH.finditer(host):
        nth = host[: m.start()].count(m[0])
        for new in _launches(m[0]):
            yield "wrong work size", (Edit(m[0], new, nth, host=True),)
        last = sum(f"void {found[1]}(" in cl for found in SHAPE.finditer(host)) - 1
        if last > 0:
            other = (int(m[1]) + 1) % (last + 1)
            new = m[0].replace(f"lx_job, {m[1]},", f"lx_job, {other},", 1)
            yield "wrong kernel", (Edit(m[0], new, nth, host=True),)
            yield "missing launch", (Edit(m[0], f"if (0) {m[0]}", nth, host=True),)
    for m in re.finditer(r"  if \((.*?\w+ % \d+ == 0.*?)\) \{\n", host):
        for new in each(r"\w+ % \d+ == 0", "1", m[0]):
            yield (
                "wrong version guard",
                (Edit(m[0], new, host[: m.start()].count(m[0]), host=True),),
            )
    for m in SWAPPED.finditer(host):
        new = f"sizeof {m[3]}, &{m[3]}{m[2]}sizeof {m[1]}, &{m[1]})"
        nth = host[: m.start()].count(m[0])
        yield "swapped arguments", (Edit(m[0], new, nth, host=True),)
    yield from _shapes(host, cl)


def _launches(launch: str) -> Iterator[str]:
    counts = list(COUNT.finditer(launch))
    x, y, _ = counts
    if x[1] != y[1]:
        head, middle, tail = launch[: x.start()], launch[x.end() : y.start()], launch[y.end() :]
        yield head + y[0] + middle + x[0] + tail
    for c in counts:
        if c[1] != "1":
            floor = re.sub(r" \+ [^()]+ - 1\)", ")", c[1])
            for other in (floor, f"{c[1]} - 1", "1"):
                if other != c[1]:
                    yield f"{launch[: c.start()]}lx_count({other}){launch[c.end() :]}"


def _shapes(host: str, cl: str) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """A group with fewer work-items along a dimension than the kernel counts on."""
    lines = cl.split("\n")
    for m in SHAPE.finditer(host):
        heads = [n for n, x in enumerate(lines) if x.startswith(f"void {m[1]}(")]
        if len(heads) != 1 or not lines[heads[0] - 1].startswith("__kernel __attribute__"):
            continue
        head = lines[heads[0] - 1]
        sizes = re.search(r"reqd_work_group_size\((.*?), (.*?), (.*?)\)", head)
        assert sizes is not None
        for n in (1, 2, 3):
            if m[1 + n] != "1":
                fewer = m[0][: m.start(1 + n) - m.start()] + "1" + m[0][m.end(1 + n) - m.start() :]
                new = head[: sizes.start(n)] + "1" + head[sizes.end(n) :]
                kernel = Edit(head, new, lines[: heads[0] - 1].count(head))
                nth = host[: m.start()].count(m[0])
                yield "wrong group shape", (kernel, Edit(m[0], fewer, nth, host=True))
