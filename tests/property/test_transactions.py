"""Transactions: the estimate against the addresses that a mapped nest touches, one by one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import pytest
from deriving import assert_same_meaning, c
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tracing import Access, trace

from loopxform.frontend import parse_file
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Const, For, Function, Var
from loopxform.ir.visit import walk
from loopxform.recipes.tile import estimate, tile
from loopxform.recipes.tiled import Tiled
from loopxform.schedule.params import Options
from loopxform.targets.profile import PROFILES

DEVICE = PROFILES["generic"]
WARP, SEGMENT = DEVICE.warp, DEVICE.costs.segment
ROWS, COLUMNS, TERMS = 16, 32, 3
WIDTHS = {"char": 1, "short": 2, "float": 4, "double": 8}

coefficients = st.tuples(*[st.integers(-1, 2)] * 3)
subscripts = st.tuples(coefficients, coefficients)


@dataclass(frozen=True)
class Program:
    """A nest that reads a[.., ..] and x[.., ..] for each term of b[i, j], or of b[i]."""

    type: str
    columns: int
    reads: tuple[tuple[tuple[int, ...], ...], ...]
    flat: bool

    @property
    def text(self) -> str:
        a, x = (self._element(name, at) for name, at in zip("ax", self.reads))
        inner = f"for (int k = 0; k < {TERMS}; k++) s += {a} * {x};"
        target = "b[i]" if self.flat else "b[i][j]"
        around = "" if self.flat else f"for (int j = 0; j < {COLUMNS}; j++) "
        body = f"for (int i = 0; i < {self.rows}; i++) {around}"
        body += f"{{ {self.type} s = 0; {inner} {target} = s; }}"
        size = f"[{self.rows}]" if self.flat else f"[{ROWS}][{COLUMNS}]"
        arrays = ", ".join(f"const {self.type} {n}[9999][{self.columns}]" for n in "ax")
        return c(body, f"{arrays}, {self.type} b{size}")

    @property
    def rows(self) -> int:
        return ROWS * COLUMNS if self.flat else ROWS

    def _element(self, array: str, subscript: tuple[tuple[int, ...], ...]) -> str:
        names = ("i", "0" if self.flat else "j", "k")
        terms = ([f"{n}*({v})" for n, v in zip(at, names) if n] for at in subscript)
        sums = (" + ".join([*found, str(ROWS * COLUMNS + 99)]) for found in terms)
        return array + "".join(f"[{s}]" for s in sums)


programs = st.builds(
    Program,
    st.sampled_from(sorted(WIDTHS)),
    st.sampled_from([1999, 2048, 4001]),
    st.tuples(subscripts, subscripts),
    st.booleans(),
)


def naive(text: str, **sizes: int) -> Tiled:
    (fn,) = parse_file("t.c", text=text).unit.functions
    return tile(fn, sizes, "naive", PROFILES["generic"], options=Options(relayout=()))


def counted(done: Tiled) -> dict[str, int]:
    """For every access of every warp the segments that its work-items touch, counted from the first
    of them. What a work-item reads again in the next iteration it has in a register."""
    fn, out = done.function, dict[str, int]()
    together: dict[object, set[int]] = defaultdict(set)
    last: dict[object, int] = {}
    number: dict[object, int] = defaultdict(int)
    for e in trace(fn, {}):
        place = _address(fn, e)
        item = (*_item(fn, e), e.label, e.place[0], e.write)
        if place is None or last.get(item) == place:
            continue
        last[item] = place
        number[item] += 1
        group, lane, *site = item
        together[group, lane // WARP, *site, number[item]].add(place)
    for key, places in together.items():
        assert isinstance(key, tuple)
        segments = {(p - min(places)) // SEGMENT for p in places}
        out[key[3]] = out.get(key[3], 0) + len(segments)
    return out


def _item(fn: Function, e: Access) -> tuple[tuple[int, ...], int]:
    """The group of a work-item, and its number in the group."""
    mapped = [s for _, s in walk(fn.body) if isinstance(s, For) and s.level is not None]
    group = tuple(e.iteration[s.var] for s in mapped if str(s.level).startswith("group"))
    lane, before = 0, 1
    for s in sorted((s for s in mapped if str(s.level).startswith("thread")), key=_level):
        assert isinstance(s.lo, Var)
        lane += (e.iteration[s.var] - e.iteration[s.lo.name]) * before
        before *= next(_width(g) for g in mapped if g.var == s.lo.name)
    return group, lane


def _level(s: For) -> str:
    return str(s.level)


def _width(group: For) -> int:
    return value_of(group.step) or 1


def _address(fn: Function, e: Access) -> int | None:
    for p in fn.objects:
        if p.name == e.place[0] and p.array:
            at = 0
            for i, extent in zip(e.place[2], p.shape):
                assert isinstance(extent, Const)
                at = at * int(extent.value) + i
            return at * p.type.bytes
    return None


GROUPS = st.sampled_from([(4, 8), (2, 8), (8, 16), (16, 2), (1, 32)])


def assert_estimated(program: Program, tiles: tuple[int, int]) -> None:
    done = naive(program.text, Ty=tiles[0], Tx=tiles[1])
    assert estimate(done, DEVICE).counts == counted(done)


@settings(max_examples=2, deadline=None)
@given(programs, GROUPS)
def test_estimates_are_what_warps_touch(program: Program, tiles: tuple[int, int]) -> None:
    assert_estimated(program, tiles)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(programs, GROUPS)
def test_more_estimates_are_what_warps_touch(program: Program, tiles: tuple[int, int]) -> None:
    assert_estimated(program, tiles)


@settings(max_examples=8, deadline=None)
@given(programs)
def test_another_layout_counts_like_a_program_that_has_it(program: Program) -> None:
    """A[i, k] with its dimensions the other way round is A[k, i] of a transposed array."""
    first, second = program.reads
    turned = replace(program, reads=(first[::-1], second))
    done = naive(program.text.replace(f"[9999][{program.columns}]", "[2048][2048]"), Ty=4, Tx=8)
    other = naive(turned.text.replace(f"[9999][{program.columns}]", "[2048][2048]"), Ty=4, Tx=8)
    same = replace(other.choice, neighbours=done.choice.neighbours, dims=done.choice.dims)
    after = replace(estimate(other, DEVICE), choice=same)
    assert replace(estimate(done, DEVICE), layouts={"a": (1, 0)}).counts == after.counts


@st.composite
def walks(draw: st.DrawFn) -> str:
    """Rows and columns of `a`, walked several times over by each work-item."""
    type = draw(st.sampled_from(["short", "float"]))
    pairs = [
        ("i", "k"),
        draw(st.sampled_from([("i", "2*k"), ("2*p", "k"), ("k", "i"), ("j", "k")])),
    ]
    reads = (
        f"a[{r} + {draw(st.integers(0, 2))}][{c} + {draw(st.integers(0, 2))}]" for r, c in pairs
    )
    guard = draw(st.sampled_from(["", "if (k % 2 == p % 3) "]))
    down = draw(st.booleans())
    header = "int k = m - 1; k >= 0; k--" if down else "int k = 0; k < m; k++"
    around = "for (int i = 0; i < m; i++) for (int j = 0; j < 2; j++)"
    inner = f"for (int p = 0; p < q; p++) for ({header}) {guard}s = s / 2 + {' - '.join(reads)};"
    shape = "[restrict 2 * (m + q) + 3][2 * m + 3]"
    return c(
        f"{around} {{ {type} s = 1; {inner} b[i][j] = s; }}",
        f"int m, int q, const {type} a{shape}, {type} b[restrict m][2]",
    )


def assert_copies_change_nothing(text: str) -> None:
    (fn,) = parse_file("t.c", text=text).unit.functions
    done = tile(fn, {"Ty": 2, "Tx": 3}, None, PROFILES["generic"])
    event(f"{len(done.copied)} copies")
    assert_same_meaning(fn, done.function, (0, 1, 4))


@settings(max_examples=4, deadline=None)
@given(walks())
def test_copies_that_pay_change_no_result(text: str) -> None:
    assert_copies_change_nothing(text)


@pytest.mark.slow
@settings(max_examples=18, deadline=None)
@given(walks())
def test_more_copies_that_pay_change_no_result(text: str) -> None:
    assert_copies_change_nothing(text)
