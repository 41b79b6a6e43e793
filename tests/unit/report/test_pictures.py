"""The pictures of a report: what is drawn, and where."""

from __future__ import annotations

import re
from math import log10
from pathlib import Path
from xml.etree import ElementTree

import pytest

import loopxform as lx
from loopxform.analysis.pairs import Witness
from loopxform.floating_point import CONTRACT
from loopxform.ir.nodes import For
from loopxform.ir.visit import walk
from loopxform.report import roofline, svg, tile_picture
from loopxform.report.costs import Costs
from loopxform.report.iteration_space import STEP, Axis, Space, axis, drawn
from loopxform.report.roofline import Point, Roof
from loopxform.targets.profile import profile

CORPUS = Path(__file__).parents[3] / "corpus"

TRIANGLE = """
void f(int n, double a[n][n])
{
  for (int i = 1; i < n; i++)
    for (int j = i; j < n; j += 2)
      a[i][j] = a[i - 1][j];
}
"""


def space(text: str) -> Space:
    """The loops of the only function of a text."""
    loops = [s for _, s in walk(lx.loads(text).routine().function.body) if isinstance(s, For)]
    return Space(tuple(s.var for s in loops), tuple(loops))


def parts(picture: str, class_: str) -> list[dict[str, str]]:
    """The attributes of the elements of a class."""
    root = ElementTree.fromstring(picture)
    return [e.attrib for e in root.iter() if class_ in (e.get("class") or "").split()]


def test_the_iterations_that_there_are_and_the_two_that_collide() -> None:
    witness = Witness({"n": 5}, {"i": 1, "j": 3}, {"i": 2, "j": 4}, {})
    picture = drawn("p", "title", witness, space(TRIANGLE), "i", ("one", "two"))
    dots = {(float(d["cx"]), float(d["cy"])) for d in parts(picture, "dot")}
    left, top = min(x for x, _ in dots), min(y for _, y in dots)
    found = {((y - top) / STEP + 1, (x - left) / STEP + 1) for x, y in dots}
    assert found == {(i, j) for i in range(1, 5) for j in range(i, 5, 2)}
    ends = [parts(picture, kind)[0] for kind in ("source", "sink")]
    places = [((float(e["cy"]) - top) / STEP + 1, (float(e["cx"]) - left) / STEP + 1) for e in ends]
    assert places == [(1, 3), (2, 4)]
    assert len(parts(picture, "arrow")) == len(parts(picture, "head")) == 1


def test_a_picture_says_in_words_what_it_shows() -> None:
    witness = Witness({"n": 5}, {"i": 1, "j": 3}, {"i": 2, "j": 3}, {})
    picture = drawn("p", "Two <iterations>", witness, space(TRIANGLE), "i", ("a & b", "c"))
    root = ElementTree.fromstring(picture)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"] == "p-title p-desc"
    texts = {e.attrib["id"]: e.text for e in root if "id" in e.attrib}
    assert texts == {"p-title": "Two <iterations>", "p-desc": "1: a & b. 2: c."}


@pytest.mark.parametrize(
    ("ends", "values", "expected"),
    [
        ((1, 2), range(1, 4), (1, 2, 3)),
        ((3, 6), None, (2, 3, 4, 5, 6, 7)),
        ((0, 1), range(0, 1000), (0, 1, 2)),
        ((0, 900), range(0, 1000), (0, 1, 2, None, 898, 899, 900, 901)),
        ((999, 4), range(0, 1000), (3, 4, 5, 6, None, 997, 998, 999)),
        ((5, 5), range(9, 0, -1), tuple(range(1, 10))),
    ],
)
def test_an_axis_leaves_out_where_nothing_happens(
    ends: tuple[int, int], values: range | None, expected: tuple[int | None, ...]
) -> None:
    assert axis("i", ends, values) == Axis("i", expected)


def test_nothing_is_drawn_of_loops_that_the_witness_does_not_name() -> None:
    witness = Witness({}, {"k": 1}, {"k": 2}, {})
    assert drawn("p", "t", witness, space(TRIANGLE), "i", ("a", "b")) == ""


@pytest.mark.parametrize(
    ("name", "items", "elements", "staged"),
    [
        ("mm.c", "16 x 16 work-items", "8 x 8 elements", ["A", "B"]),
        ("nests/box_blur.c", "4 x 32 work-items", "8 x 1 elements", ["in"]),
        ("nests/dft.c", "256 work-items", "one element", ["re", "im"]),
        ("nests/asian_option.c", "Ty*Tx = 256 work-items", "one iteration", []),
    ],
)
def test_a_tile_is_drawn_to_scale(name: str, items: str, elements: str, staged: list[str]) -> None:
    done = lx.load(f"{CORPUS}/{name}").routine().tile()
    picture = tile_picture.drawn("t", done.tiled)
    told = " ".join(ElementTree.fromstring(picture).itertext())
    assert items in told
    assert elements in told
    assert len(parts(picture, "cells")) == len(parts(picture, "chosen")) == 3
    boxes = [s.stage for s in done.tiled.staged]
    assert [s.array for s in boxes] == staged
    for s, box in zip(boxes, parts(picture, "staged")):
        *_, rows, columns = (1, *(w.value(done.sizes) for w in s.box.widths))
        wide, high = float(box["width"]), float(box["height"])
        assert wide > high if columns > rows else wide <= high


def test_the_roofs_meet_the_peak_where_arithmetic_and_memory_balance() -> None:
    roof = Roof("h", 1000, 100, 10, 3)
    picture = roofline.drawn("r", [Point("p", 1, 0.05)], roof)
    for kind, ridge in (("memory", 10), ("caches", 10 / 3)):
        (line,) = parts(picture, kind)
        (x0, y0), (x1, y1), (x2, y2) = (
            tuple(map(float, p.split(","))) for p in line["points"].split()
        )
        assert y1 == y2 < y0
        assert (x1 - x0) / (x2 - x0) == pytest.approx((log10(ridge) + 1) / 3, abs=0.01)
    (dot,) = parts(picture, "point")
    assert y1 < float(dot["cy"]) < y0


@pytest.mark.parametrize(
    ("name", "points"), [("mm", 2), ("nests/asian_option", 1), ("nests/box_blur", 0)]
)
def test_no_kernel_is_above_the_peak(name: str, points: int) -> None:
    """Of integers the model knows no operations."""
    limits = profile("generic")
    done = lx.load(f"{CORPUS}/{name}.c").routine().tile(limits=limits)
    picture = Costs.of(done.tiled, limits, CONTRACT).roofline("r")
    about = ElementTree.fromstring(picture).findtext("desc") if picture else ""
    shares = [float(x) for x in re.findall(r"byte, ([\d.e+-]+) % of the peak", about or "")]
    assert len(shares) == points
    assert all(0 < x <= 100 for x in shares)


def test_numbers_and_texts_are_written_alike_everywhere() -> None:
    assert svg.element("a", x=1 / 3, y=2.0, class_="b", w=None) == '<a x="0.3" y="2" class="b"/>'
    assert svg.text(0, 1, "<&>") == '<text x="0" y="1" text-anchor="start">&lt;&amp;&gt;</text>'
