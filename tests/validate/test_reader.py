"""What the reader says of small C functions, run: against the same loops in Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fmod, prod
from pathlib import Path

import islpy as isl
import pytest

from loopxform.validate import programs
from loopxform.validate.flow import schedules
from loopxform.validate.model import (
    Cases,
    Expr,
    Number,
    Operation,
    Program,
    Read,
    Statement,
    Undefined,
    Whole,
)
from loopxform.validate.unmodelled import Unmodelled

B = (3, -1, 0, 5, 0, -2, 7, 1, 0, 4, -6, 2)
"""What the array b holds, which functions only read."""
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "min": min, "max": max},
    **{"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne},
    **{"&&": lambda x, y: x and y, "||": lambda x, y: x or y},
}
UNDEFINED = 1 << 40
"""What stands for a value that is not known, and must not be taken for another one."""
Places = tuple[int, ...]
Trace = list[tuple[int, int]]
"""The stores to the array a: the subscript, and what is stored."""


def program(tmp_path: Path, body: str) -> Program:
    path = tmp_path / "f.c"
    path.write_text(
        "static int clamp(int x, int end) { if (x < 0) return 0; int last = end - 1;\n"
        "  return x > last ? last : x; }\n"
        "static int shadowed(int x) { return x + n; }\n"
        "static int halved(int last) { last = last / 2; return last; }\n"
        f"void f(int n, int *a, const int *b)\n{{ {body} }}\n"
    )
    return programs.user(path, "f", []).program


@dataclass
class Run:
    """The statements of a program for one n, in the order in which they say that they run."""

    program: Program
    n: int

    def __post_init__(self) -> None:
        self.memory: dict[tuple[str, Places], int] = {("b", (i,)): x for i, x in enumerate(B)}

    def trace(self) -> Trace:
        stores: Trace = []
        for _, s, at in sorted(self.instances(), key=lambda x: x[0]):
            place, value = self.image(s.cells, at), self.value(s.value, at)
            self.memory[s.array, place] = value
            if s.array == "a":
                row, *rest = place  # a[i * n + j] has rows of n
                stores.append((row * self.n + rest[0] if rest else row, value))
        return stores

    def instances(self) -> Iterator[tuple[Places, Statement, isl.Set]]:
        """With their times; none two statements have at once."""
        times = schedules(self.program.statements)
        for s in self.program.statements:
            points: list[isl.Point] = []
            self.fixed(s.domain).foreach_point(points.append)
            for p in points:
                at = isl.Set.from_point(p)
                yield self.image(times[s.name], at), s, at

    def fixed(self, s: isl.Set) -> isl.Set:
        place = s.find_dim_by_name(isl.dim_type.param, "n")
        return s.fix_val(isl.dim_type.param, place, isl.Val(self.n))

    def image(self, m: isl.Map, at: isl.Set) -> Places:
        point = m.intersect_domain(at).range().sample_point()
        dims = range(point.get_space().dim(isl.dim_type.set))
        return tuple(int(point.get_coordinate_val(isl.dim_type.set, d).to_python()) for d in dims)

    def value(self, e: Expr, at: isl.Set) -> int:
        match e:
            case Whole():
                terms = e.value.terms.items()
                return sum(
                    self.image(isl.Map.from_pw_aff(v), at)[0] * prod(self.n for _ in m)
                    for m, v in terms
                )
            case Read():
                return self.memory[e.array, self.image(e.cells, at)]
            case Cases():
                (only,) = (x for where, x in e.pieces if not where.intersect(at).is_empty())
                return self.value(only, at)
            case Operation("cast", (x,)) if not e.type.signed:
                return self.value(x, at) % (1 << e.type.bits)
            case Operation("!", (x,)):
                return int(not self.value(x, at))
            case Operation("?:", (c, x, y)):
                return self.value(x if self.value(c, at) else y, at)
            case Operation(name, (x, y)):
                result = int(OPERATIONS[name](self.value(x, at), self.value(y, at)))
                return result if e.type.signed else result % (1 << e.type.bits)
            case Number():
                return int(e.value)
            case Undefined():
                return UNDEFINED
        raise AssertionError(f"{e} in a program of whole numbers")


LOOPS: list[tuple[str, Callable[[int], Trace]]] = [
    ("for (int i = 0; i < n; i++) a[i] = 2 * i;", lambda n: [(i, 2 * i) for i in range(n)]),
    ("for (int i = 1; i <= n; i += 3) a[i] = i;", lambda n: [(i, i) for i in range(1, n + 1, 3)]),
    ("for (int i = n - 1; i >= 0; --i) a[i] = n;", lambda n: [(i, n) for i in range(n)[::-1]]),
    ("for (int i = n; i > 0; i = i - 2) a[i] = i;", lambda n: [(i, i) for i in range(n, 0, -2)]),
    ("while (n--) a[n] = n + 1;", lambda n: [(i, i + 1) for i in range(n)[::-1]]),
    ("for (int k = n; k-- > 0;) a[k] = 0;", lambda n: [(i, 0) for i in range(n)[::-1]]),
    (
        "for (int i = 0; i < n; i++) { if (i % 3 == 1) continue; a[i] = i / 2; }",
        lambda n: [(i, i // 2) for i in range(n) if i % 3 != 1],
    ),
    (
        "for (int i = 0; i < n; i++) { a[2 * i] = 1; for (int j = i; j < n / 2; j++) a[j] = i; }",
        lambda n: [
            x for i in range(n) for x in ((2 * i, 1), *((j, i) for j in range(i, n // 2)))
        ],
    ),
    (
        "for (int i = 0; i < n; i++) if (i < 2 || !(i != 4)) a[i] = 3; else a[i + n] = 5;",
        lambda n: [(i, 3) if i < 2 or i == 4 else (i + n, 5) for i in range(n)],
    ),
    (
        "for (int i = 0; i < n; i++) { int j = i - 1 < 0 ? 0 : i - 1; a[j] = j; }",
        lambda n: [(max(i - 1, 0), max(i - 1, 0)) for i in range(n)],
    ),
    (
        "for (int i = 0; i < n; i++) a[i] = clamp(i + 2, n);",
        lambda n: [(i, min(i + 2, n - 1)) for i in range(n)],
    ),
    (
        "int k = 3; for (int i = 0; i < n; i++) { k = 2 * i; a[k] = i; k = k + 1; a[k] = k; }",
        lambda n: [x for i in range(n) for x in ((2 * i, i), (2 * i + 1, 2 * i + 1))],
    ),
    (
        "int i; for (i = 1; i < n; i += 2) a[i] = 0; a[i] = 7;",
        lambda n: [*((i, 0) for i in range(1, n, 2)), (max(n - n % 2 + 1, 1), 7)],
    ),
    (
        "int i = 2; for (; i < n; ++i) a[i] = i; a[0] = i;",
        lambda n: [*((i, i) for i in range(2, n)), (0, max(n, 2))],
    ),
    (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = i - j;",
        lambda n: [(i * n + j, i - j) for i in range(n) for j in range(n)],
    ),
    (
        "int i = 5; for (i = n - 1; i >= 0; i--) a[i] = 0; a[0] = i;",
        lambda n: [*((i, 0) for i in range(n)[::-1]), (0, UNDEFINED)],
    ),
    (
        "int i = 5; if (b[0] > 0) for (i = 0; i < n; i++) a[i] = i; a[0] = i;",
        lambda n: [*((i, i) for i in range(n)), (0, n)],
    ),
    (
        "int i = 5; if (b[1] > 0) for (i = 0; i < n; i++) { } a[0] = i;",
        lambda _: [(0, 5)],
    ),
    (
        "for (int i = 0; i < n; i++) { const unsigned u = i; a[i] = u - 1 < 2; }",
        lambda n: [(i, int(i in (1, 2))) for i in range(n)],
    ),
    (
        "for (unsigned i = 0; i < 5; i++) a[i] = i - 1 < 2;",
        lambda _: [(i, int(i in (1, 2))) for i in range(5)],
    ),
    (
        "const unsigned end = 3; for (int i = 0; i < n; i++) a[i] = i - 1 < end;",
        lambda n: [(i, int(1 <= i < 4)) for i in range(n)],
    ),
    (
        "a[0] = (n - 5) / 2; a[1] = (n - 5) % 2; a[2] = -7 / 2; a[3] = -7 % 3; a[4] = n / 4;",
        lambda n: [(0, int((n - 5) / 2)), (1, int(fmod(n - 5, 2))), (2, -3), (3, -1), (4, n // 4)],
    ),
    ("int t[3] = {4, 5, 6}; for (int i = 0; i < 3; i++) a[i] = t[2 - i];",
     lambda _: [(0, 6), (1, 5), (2, 4)]),
    (
        "int s = 0; for (int i = 0; i < n; i++) { s += b[i]; a[i] = s; }",
        lambda n: [(i, sum(B[: i + 1])) for i in range(n)],
    ),
    (
        "for (int i = 0; i < n; i++) { int x = 1; if (b[i] > 0 && i != 3) x = b[i]; else if (b[i])"
        " x = 9; a[i] = x; }",
        lambda n: [(i, B[i] if B[i] > 0 and i != 3 else 9 if B[i] else 1) for i in range(n)],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), LOOPS, ids=[body for body, _ in LOOPS])
def test_statements_run_as_in_c(
    tmp_path: Path, body: str, expected: Callable[[int], Trace]
) -> None:
    read = program(tmp_path, body)
    for n in (1, 2, 6):
        assert Run(read, n).trace() == expected(n), n


STORE = "a store to an array in a loop that data end"
REFUSED = [
    ("while (b[n] > 0) { int n = 0; n--; }", "two variables n"),
    ("for (int i = 0; i < b[0]; i++) a[i] = 0;", STORE),
    ("for (int i = b[0]; i < n; i++) a[i] = 0;", STORE),
    ("for (int i = 1; i < n; i *= 2) a[i] = 0;", "a loop whose step is not a number"),
    ("a[n++] = 0;", "the operator ++ in an expression"),
    ("for (int i = 0; i < n; i++) { a[i] = 0; i += 1; }", "a loop that changes its counter i"),
    ("for (int i = 0; i % 4 < 2; i++) a[i] = 0;", "a loop whose condition fails and holds again"),
    ("for (int i = 0; i < n; i++) { if (b[i]) break; a[i] = 0; }", STORE),
    ("for (int i = 0; i < n; i++) a[b[i]] = 0;", "a store at a place that data decide"),
    ("int t[4] = {0}; a[0] = t[b[0]];", "a variable array at a place that data decide"),
    ("int t[n]; t[0] = 1; a[0] = t[0];", "the size of t"),
    ("const int *p = b + 1; a[0] = p[0];", "a pointer variable"),
    ("if (n < 3) return; a[0] = 0;", "a return before the end"),
    ("int g(int); a[0] = g(n);", "a call of g"),
    ("static int calls = 0; calls += 1; a[0] = calls;", "the static variable calls"),
    ("a[0] = a[1] = n;", "an assignment in an expression"),
    ("b -= 1; a[0] = b[1];", "the value of the pointer b"),
]


@pytest.mark.parametrize(("body", "reason"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_is_not_modelled_is_named_with_its_line(
    tmp_path: Path, body: str, reason: str
) -> None:
    with pytest.raises(Unmodelled) as e:
        program(tmp_path, body)
    assert (e.value.what, e.value.line) == (reason, 6)


@pytest.mark.parametrize(
    ("body", "reason", "line"),
    [
        ("a[0] = shadowed(1);", "the name n", 3),
        ("a[0] = clamp(n, 3); a[0] = halved(n);", "a call of halved", 4),
    ],
)
def test_functions_that_are_called_see_no_names_of_others(
    tmp_path: Path, body: str, reason: str, line: int
) -> None:
    with pytest.raises(Unmodelled) as e:
        program(tmp_path, body)
    assert (e.value.what, e.value.line) == (reason, line)
