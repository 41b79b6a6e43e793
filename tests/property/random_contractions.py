"""Random contractions: products of two operands, summed over some indices, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

LETTERS = "abcdefg"
MOST = 9
"""Of a size; 0 is one, too."""


@dataclass(frozen=True)
class Contraction:
    """The text of a function `f`, and numbers for its sizes, by name."""

    text: str
    sizes: dict[str, int]


def contraction(rng: Random) -> Contraction:
    """One of 3 to 7 loops, in an order of its own as each of its arrays: rows, columns and terms of
    a product of matrices, one of each kind at least, and batches. Some sizes are numbers."""
    total = rng.randint(3, 7)
    kinds = ["row", "column", "term"]
    kinds += rng.choices(["row", "column", "term", "batch"], (4, 4, 3, 2), k=total - 3)
    of = {kind: [v for v, k in zip(LETTERS, kinds) if k == kind] for kind in (*kinds, "batch")}
    sizes = {f"n{v}": rng.choice((0, *range(1, MOST + 1), 4, 8)) for v in LETTERS[:total]}
    fixed = {n: m for n, m in sizes.items() if m and rng.random() < 0.2}
    bound = {v: str(fixed.get(f"n{v}", f"n{v}")) for v in LETTERS[:total]}
    first = _shuffled(rng, of["batch"] + of["row"] + of["term"])
    second = _shuffled(rng, of["batch"] + of["column"] + of["term"])
    result = of["batch"] + of["row"] + of["column"]
    if rng.random() < 0.4:
        result = _shuffled(rng, result)
    parallel = result if rng.random() < 0.6 else _shuffled(rng, result)
    kind = rng.choice(("float", "float", "double", "int", "short"))
    total_type = "int" if kind == "short" else kind
    flat = rng.random() < 0.3
    arrays = [
        _declared(kind, "A", first, bound, flat),
        _declared(kind, "B", second, bound, flat),
        _declared(total_type, "C", result, bound, False),
    ]
    x, y = (_element(n, index, bound, flat) for n, index in (("A", first), ("B", second)))
    if rng.random() < 0.5:
        x, y = y, x
    target = _element("C", result, bound, False)
    loops = "".join(_loop(v, bound) for v in parallel)
    terms = "".join(_loop(v, bound) for v in of["term"])
    start, end = rng.choice(
        (
            ("0", "{0} = s;"),
            ("0", "{0} += s;"),
            ("{0}", "{0} = s;"),
            ("0", "{0} = 3 * s - 2 * {0};"),
        )
    )
    whole = f"{total_type} s = {start.format(target)}; {terms} s += {x} * {y}; {end.format(target)}"
    if rng.random() < 0.2:
        whole = f"{target} = 0; {terms} {target} += {x} * {y};"
    params = ", ".join([*(f"int {n}" for n in sizes if n not in fixed), *arrays])
    text = f"void f({params})\n{{ {loops} {{ {whole} }} }}\n"
    return Contraction(text, {n: m for n, m in sizes.items() if n not in fixed})


def _shuffled(rng: Random, loops: list[str]) -> list[str]:
    return rng.sample(loops, len(loops))


def _loop(v: str, bound: dict[str, str]) -> str:
    return f"for (int {v} = 0; {v} < {bound[v]}; {v}++) "


def _declared(kind: str, name: str, index: list[str], bound: dict[str, str], flat: bool) -> str:
    const = "" if name == "C" else "const "
    if flat:
        return f"{const}{kind} *{name}"
    return f"{const}{kind} {name}" + "".join(f"[{bound[v]}]" for v in index)


def _element(name: str, index: list[str], bound: dict[str, str], flat: bool) -> str:
    if not flat:
        return name + "".join(f"[{v}]" for v in index)
    place = index[0]
    for v in index[1:]:
        place = f"({place})*{bound[v]} + {v}" if "+" in place else f"{place}*{bound[v]} + {v}"
    return f"{name}[{place}]"
