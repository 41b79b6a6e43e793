"""Elements that decide subscripts: which values are drawn, and what the user has to say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopxform import loads
from loopxform.cli import main
from loopxform.errors import UsageError
from loopxform.verify import interp
from loopxform.verify.check_run import arguments
from loopxform.verify.ranges import Interval, binary
from loopxform.verify.values import wanted

Capture = pytest.CaptureFixture[str]

HEAD = """void f(int n, int m, int idx[n], int off[n], int row[n + 1], unsigned char pix[n],
       short s[n], double w[n], double x[m], double y[n], int h[8])
{{
  for (int i = 0; i < n; i++) {{ {} }}
}}
"""
SIZES = {"n": 400, "m": 50}

FOLLOWED = {
    "directly": ("y[i] = x[idx[i]];", {"idx": (0, 49)}),
    "written-to": ("x[idx[i]] = 1;", {"idx": (0, 49)}),
    "by-a-scalar": ("int j = idx[i]; int k = j; y[i] = x[k];", {"idx": (0, 49)}),
    "counted-from-one": ("y[i] = x[idx[i] - 1];", {"idx": (1, 50)}),
    "from-the-end": ("y[i] = x[m - idx[i]];", {"idx": (1, 50)}),
    "shifted": ("int j = 3 + idx[i]; y[i] = x[j];", {"idx": (-3, 46)}),
    "strided": ("y[i] = x[4 * idx[i] + 1];", {"idx": (0, 12)}),
    "halved": ("y[i] = x[idx[i] / 2];", {"idx": (0, 99)}),
    "around": ("y[i] = x[idx[i] % m];", {"idx": (0, 9)}),
    "chosen": ("int j = i > 0 ? idx[i - 1] : 0; y[i] = x[j];", {"idx": (0, 49)}),
    "two-arrays": ("y[i] = x[idx[i]] + h[off[i]];", {"idx": (0, 49), "off": (0, 7)}),
    "the-smaller-one": ("y[i] = x[idx[i]]; h[idx[i]] = 1;", {"idx": (0, 7)}),
    "index-of-an-index": ("y[i] = x[idx[off[i]]];", {"idx": (0, 49), "off": (0, 399)}),
    "rows": ("for (int e = row[i]; e < row[i + 1]; e++) y[i] += x[e];", {"row": (0, 50)}),
    "downwards": ("for (int e = row[i]; e >= 0; e--) y[i] += x[e];", {"row": (0, 49)}),
    "a-length": ("for (int e = 0; e < off[i]; e++) y[i] += x[e];", {"off": (0, 50)}),
    "tested": ("if (idx[i] >= 0) y[i] = x[idx[i]];", {"idx": (0, 49)}),
    "wide": ("y[i] = x[(long)idx[i]];", {"idx": (0, 49)}),
    "a-short": ("y[i] = x[s[i]];", {"s": (0, 49)}),
    # these are inside whatever the elements are
    "high-bits": ("h[pix[i] >> 5] += 1;", {}),
    "low-bits": ("h[pix[i] & 7] += 1;", {}),
    "clamped": ("int b = pix[i]; b = b > 7 ? 7 : b; h[b] += 1;", None),
    "clamped-at-once": ("h[pix[i] > 7 ? 7 : pix[i]] += 1;", {}),
    "guarded": ("int b = (int)(w[i] * w[i] / 0.1); if (b < 8) h[b] += 1;", {}),
    "compared-unsigned": ("if (idx[i] > 3u && idx[i] < 8) h[idx[i]] += 1;", {"idx": (0, 7)}),
    "between": ("if (idx[i] >= 0 && idx[i] < 8) h[idx[i]] += 1;", {}),
    "behind-and": ("y[i] = idx[i] >= 0 && idx[i] < m && x[idx[i]] > 1;", {}),
    "not-data": ("y[i] = x[i % m];", {}),
    "compared": ("y[i] = x[idx[i] > off[i]];", {}),
}


def inputs(body: str, **given: str) -> dict[str, Any]:
    fn = loads(HEAD.format(body))["f"].function
    return arguments(fn, SIZES, 3, {name: wanted(text) for name, text in given.items()})


@pytest.mark.parametrize("case", FOLLOWED)
def test_elements_that_decide_subscripts(case: str) -> None:
    body, expected = FOLLOWED[case]
    if expected is None:
        with pytest.raises(UsageError, match="cannot be told"):
            inputs(body)
        return
    args = inputs(body)
    plain = inputs("y[i] = 0;")
    changed = {n for n in args if np.any(args[n] != plain[n])}
    assert changed == set(expected)
    for name, (low, high) in expected.items():
        assert low <= args[name].min() <= low + (high - low) // 20
        assert high - (high - low) // 20 <= args[name].max() <= high
    interp.run(loads(HEAD.format(body))["f"].function, args)


def test_long_expressions_take_no_time() -> None:
    text = "w[i]"
    for k in range(9):
        text = f"({text} < x[{k}] ? {text} : x[{k}])"
    body = f"if ({text} > 1) y[i] = {text} + x[idx[i]];"
    assert inputs(body)["idx"].max() < 50


def test_row_pointers_ascend() -> None:
    row = inputs(FOLLOWED["rows"][0])["row"]
    assert (np.diff(row) >= 0).all()
    assert (np.diff(row) > 0).any()
    length = inputs(FOLLOWED["a-length"][0])["off"]
    assert (np.diff(length) < 0).any()


CONSTANT = """
static const int step[3] = {-1, 0, 1};
void f(int n, int m, const int idx[n], const double x[m], double y[n])
{ for (int i = 1; i < n - 1; i++) for (int d = 0; d < 3; d++) y[i] += x[%s]; }
"""


def test_tables_of_the_source_are_as_they_are() -> None:
    fn = loads(CONSTANT % "i + step[d]")["f"].function
    arguments(fn, {"n": 9, "m": 9}, 3)
    fn = loads(CONSTANT % "idx[i] + step[d]")["f"].function
    with pytest.raises(UsageError, match="which elements of idx keep a subscript inside"):
        arguments(fn, {"n": 9, "m": 9}, 3)
    assert arguments(fn, {"n": 9, "m": 9}, 3, {"idx": wanted("1:8")})["idx"].max() <= 7


# ---------------------------------------------------------------- what the user says


def test_values_that_are_given() -> None:
    args = inputs("y[i] = x[idx[i] + off[i]] + w[i];", idx="0:25", off="10:26", w="-2:-1")
    assert (args["idx"].min(), args["idx"].max()) == (0, 24)
    assert (args["off"].min(), args["off"].max()) == (10, 25)
    assert -2 <= args["w"].min() < args["w"].max() < -1
    assert (np.diff(inputs("y[i] = 0;", w="0:n:sorted")["w"]) >= 0).all()
    assert inputs("y[i] = 0;", pix="0:256")["pix"].max() > 200


def test_the_end_is_not_among_the_values() -> None:
    fn = loads("void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 0; }")["f"].function
    for text in ("16777215.5:16777216", "0.3:0.3000000001"):
        drawn = arguments(fn, {"n": 99}, 1, {"a": wanted(text)})["a"]
        assert drawn.max() < float(text.partition(":")[2])


GATHER = """void f(int n, int m, const int idx[n], const int off[n], const float x[m], float y[n])
{
  for (int i = 0; i < n; i++)
    y[i] = x[SUBSCRIPT];
}
"""


def run(subscript: str, folder: Path, *options: str) -> int:
    (folder / "f.c").write_text(GATHER.replace("SUBSCRIPT", subscript))
    return main(["run", str(folder / "f.c"), "--size", "n=50,m=7", *options])


@pytest.mark.device
def test_a_run_with_subscripts_from_data(tmp_path: Path, capsys: Capture) -> None:
    assert run("idx[i]", tmp_path) == 0
    assert run("idx[i] + off[i]", tmp_path, "--input", "idx=0:4", "--input", "off=0:4:sorted") == 0
    assert "identical to your C's" in capsys.readouterr().out


REFUSED = {
    "not-told": (
        "idx[i] * off[i]",
        (),
        "f.c:1:32: error: which elements of idx keep a subscript inside its array cannot be told "
        "[LX065]",
        "give their least value and one past the greatest: --input idx=0:8",
    ),
    "one-of-two": (
        "idx[i] * off[i]",
        ("--input", "idx=0:2"),
        "error: which elements of off keep a subscript inside its array cannot be told [LX065]",
        "give their least value and one past the greatest: --input off=0:8",
    ),
    "too-large": (
        "idx[i]",
        ("--input", "idx=0:8"),
        "error: an element of idx is a subscript, and only 0 to 6 are inside the array it is for "
        "[LX065]",
        "--input idx=0:7",
    ),
    "no-values-fit": ("idx[i]", ("--size", "m=0"), "error: no element of idx keeps", "give other"),
    "no-array": (
        "idx[i]",
        ("--input", "n=0:7"),
        "error: 'n' is not an array of f [LX054]",
        "the arrays are: idx, off, x, y",
    ),
    "no-size": (
        "idx[i]",
        ("--input", "idx=0:k"),
        "error: 'k' is neither a number nor a size [LX054]",
        "--input NAME=LOW:HIGH or NAME=LOW:HIGH:sorted; a size may stand for a number",
    ),
    "no-form": (
        "idx[i]",
        ("--input", "idx=7"),
        "error: '7' is not LOW:HIGH [LX023]",
        "--input NAME=LOW:HIGH",
    ),
    "no-name": ("idx[i]", ("--input", "0:7"), "'0:7' is not NAME=LOW:HIGH [LX023]", "--input NAME"),
    "no-order": ("idx[i]", ("--input", "idx=0:7:up"), "'0:7:up' is not LOW:HIGH", "--input NAME"),
    "empty": ("idx[i]", ("--input", "idx=7:7"), "int idx has no values from 7 up to", "--input"),
    "beyond-int": ("idx[i]", ("--input", "idx=0:1e12"), "int idx has no values", "--input NAME"),
}


@pytest.mark.device
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, tmp_path: Path, capsys: Capture) -> None:
    subscript, options, message, remedy = REFUSED[case]
    assert run(subscript, tmp_path, *options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert f"   = help: {remedy}" in err


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%", "&", ">>", "min", "max", "<", "^"])
def test_intervals_hold_every_value(op: str) -> None:
    ends = range(-3, 6)
    for a in [Interval(p, q) for p in ends for q in ends if p <= q]:
        for b in [Interval(p, q) for p in ends for q in ends if p <= q]:
            found = binary(op, a, b, whole=True)
            for x in range(int(a.low), int(a.high) + 1):
                for y in range(int(b.low), int(b.high) + 1):
                    if (op in ("/", "%") and y == 0) or (op == ">>" and y < 0):
                        continue
                    assert found.low <= value(op, x, y) <= found.high, (op, a, b, x, y)


def value(op: str, x: int, y: int) -> int:
    match op:
        case "/":
            return math.trunc(x / y)
        case "%":
            return int(math.fmod(x, y))
        case "min" | "max":
            return min(x, y) if op == "min" else max(x, y)
        case _:
            return int(eval(f"{x} {op} {y}"))
