"""What notebooks show: small, self-contained, escaped, scoped, and readable without the style."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from conftest import Golden
from html_pages import fragment, tree, words

import loopxform as lx
from loopxform.api.tuning import TuningResult
from loopxform.display import Shown
from loopxform.report import notebook
from loopxform.report.highlight import coloured
from loopxform.report.notebook.piece import BOX, style
from loopxform.tune.results import results

CORPUS = Path(__file__).parents[3] / "corpus"
MM = CORPUS / "mm.c"

ROW = {
    "key": "0",
    "program": "mm",
    "function": "mm",
    "text": "0",
    "recipe": "register",
    "data": {"M": 64},
    "device": "a <device>",
    "platform": "a platform",
    "driver": "1",
    "fp": "contract",
    "host": "h",
    "given": "{}",
    "statistic": "faster-half",
    "race": False,
    "status": "ok",
}
"""What measurements have in common."""

RACE = """
void f(int n, float *a)
{
  #pragma omp parallel for
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1];
}
"""


def mm() -> lx.Routine:
    return lx.load(MM)["mm"]


def refusal() -> lx.LoopxformError:
    with pytest.raises(lx.TransformError) as e:
        mm().apply("parallelise k")
    return e.value


def tuning() -> TuningResult:
    rows = [
        {**ROW, "sizes": None, "milliseconds": [2.0, 2.0]},
        {**ROW, "sizes": {"Ty": 2, "Tx": 64}, "milliseconds": [1.0, 1.0], "baseline": 2.0},
        {**ROW, "sizes": {"Ty": 4, "Tx": 64}, "status": "timeout", "why": "it took 20 s"},
        {**ROW, "status": "space", "candidates": 9, "legal": 7, "limits": {"registers": 2}},
    ]
    return TuningResult(results(rows)[0], {"Ty": 2, "Tx": 64})


THINGS: dict[str, Callable[[], Any]] = {
    "file": lambda: lx.load(MM),
    "routine": mm,
    "verdicts": lambda: mm().check(),
    "verdict": lambda: mm().check()[2],
    "matrices": lambda: mm().matrices(),
    "matrix": lambda: mm().matrices()[0],
    "dependence": lambda: mm().matrices()[0].rows[3],
    "claims": lambda: lx.loads(RACE)["f"].audit(),
    "claim": lambda: lx.loads(RACE)["f"].audit()[0],
    "checked-file": lambda: lx.check(MM),
    "checked-function": lambda: lx.check(MM)["mm"],
    "many-functions": lambda: lx.check(CORPUS / "races" / "dependences.c"),
    "derivation": lambda: mm().apply("interchange i j", "stripmine i 16"),
    "record": lambda: mm().apply("interchange i j").records[0],
    "tiled": lambda: mm().tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2),
    "offloaded": lambda: lx.loads(RACE)["f"].offload(),
    "offloaded-file": lambda: lx.loads(f"{RACE}{MM.read_text()}").offload(),
    "region": lambda: lx.loads(MM.read_text()).offload().regions[0],
    "report": lambda: lx.Report.of(MM),
    "refusal": refusal,
    "tuning": tuning,
}
GOLDEN = ("file", "verdicts", "matrices", "claims", "record", "refusal", "tuning")
"""Those whose whole text is compared."""


@pytest.fixture(scope="module")
def pieces() -> dict[str, str]:
    return {name: make()._repr_html_() for name, make in THINGS.items()}


def elements(root: Element, *tags: str) -> Iterator[Element]:
    return (e for e in root.iter() if e.tag in tags)


@pytest.mark.parametrize("name", THINGS)
def test_a_piece_stands_alone(name: str, pieces: dict[str, str]) -> None:
    piece = pieces[name]
    root = tree(piece)
    assert (root.tag, root.get("class")) == ("div", "loopxform")
    assert root.get("aria-label")
    assert len(piece.encode()) < 100_000
    assert not [*elements(root, "script", "link", "iframe", "img", "input", "button")]
    assert not [*elements(root, "h1", "h2", "h3", "h4", "h5", "h6")]  # the author's own outline
    assert not re.search(r"https?:|@import|url\(", piece)
    assert not {name for e in root.iter() for name in e.keys() if name.startswith("on")}  # noqa: SIM118
    ids = [x for e in root.iter() if (x := e.get("id"))]
    assert len(ids) == len(set(ids))
    assert {a.get("href", "")[1:] for a in elements(root, "a")} <= {*ids}
    assert name in ("refusal",) or "Refused" not in root.get("aria-label", "")


@pytest.mark.parametrize("name", THINGS)
def test_what_a_screen_reader_needs(name: str, pieces: dict[str, str]) -> None:
    root = tree(pieces[name])
    for e in elements(root, "table"):
        assert e[0].tag == "caption"
        assert words(e[0])
        assert all(th.get("scope") in ("col", "row") and words(th) for th in elements(e, "th"))
    for e in root.iter():
        if "scroll" in (e.get("class") or "").split():
            assert (e.get("tabindex"), e.get("role")) == ("0", "group")
            assert e.get("aria-label")
    assert all(words(e) for e in elements(root, "summary", "a"))


@pytest.mark.parametrize("make", [lambda: lx.check(MM)["mm"], lambda: lx.Report.of(MM)])
def test_names_of_two_pieces_differ(make: Callable[[], Any]) -> None:
    shown = make()
    one, other = ({e.get("id") for e in tree(shown._repr_html_()).iter()} for _ in range(2))
    assert one & other == {None}


def test_every_rule_is_for_the_box_alone() -> None:
    """A rule of pages alone is left out, and none reaches what the author of a notebook wrote."""
    for _, rule in style():
        selector = rule.partition("{")[0].strip()
        if selector.startswith("@media"):
            selector = rule.partition("{")[2].partition("{")[0].strip()
        depth, selectors = 0, [""]
        for c in selector:
            depth += (c in "([") - (c in ")]")
            selectors = [*selectors, ""] if c == "," and not depth else selectors
            selectors[-1] += c
        assert all(BOX in s for s in selectors), rule
    assert not any("button" in rule for _, rule in style())


@pytest.mark.parametrize("name", GOLDEN)
def test_what_a_piece_says(name: str, pieces: dict[str, str], golden: Golden) -> None:
    root = tree(pieces[name])
    for e in [*elements(root, "style")]:
        e.text = ""
    golden.check(re.sub(r"lx\d+", "lxN", fragment(root).replace(str(CORPUS), "CORPUS")))


def test_a_derivation_shows_each_step(pieces: dict[str, str]) -> None:
    steps = [*elements(tree(pieces["derivation"]), "details")]
    titles = [words(next(elements(e, "summary"))) for e in steps]
    assert titles == ["As written: mm", "interchange i j", "stripmine i 16"]
    assert [e.get("open") is not None for e in steps] == [False, False, True]
    new = [words(e) for e in elements(steps[2], "mark")]
    assert new == ["for (ii = 0; ii < M; ii += 16)", "for (i = ii; i < min(M, ii + 16); i++)"]


def test_a_tiled_function_shows_its_kernel_beside_the_c(pieces: dict[str, str]) -> None:
    root = tree(pieces["tiled"])
    (pair,) = (e for e in elements(root, "table") if e.get("class") == "pair")
    rows = ["".join(e.itertext()) for e in elements(pair, "tr")]
    assert any("acc += A[i][k] * B[k][j];" in row and "A_reg" in row for row in rows)
    assert "__kernel" in [words(e) for e in elements(pair, "span") if e.get("class") == "ck"]


def test_what_stays_on_the_host_says_why(pieces: dict[str, str]) -> None:
    text = words(tree(pieces["offloaded-file"]))
    assert "What stays on the host, and why" in text
    assert "lx_mm" in text


@pytest.mark.device
def test_a_compiled_kernel_says_how_it_is_called() -> None:
    fill = lx.loads("void f(int n, float a[n]) { for (int i = 0; i < n; i++) a[i] = 1; }")["f"]
    root = tree(fill.tile().compile()._repr_html_())
    assert [words(e) for e in elements(root, "dd")][1:] == ["lx_f", "not called yet"]
    cells = [[words(e) for e in row] for row in elements(root, "tr")]
    assert cells[1:] == [["n", "int", "number"], ["a", "float [n]", "array of numpy or pyopencl"]]


NASTY = """
/* </style><script>alert(1)</script> */
void f(int n, float *restrict a) { /* <img src=x onerror=alert(1)> */
  for (int i = 0; i < n; i++) a[i] = 1; /* </td></table> \u202e */
}
"""


@pytest.mark.parametrize("what", ["file", "routine", "check", "tile", "report", "error"])
def test_texts_of_the_user_are_escaped(what: str) -> None:
    file = lx.loads(NASTY, "<b>&.c")
    made = {
        "file": lambda: file,
        "routine": lambda: file["f"],
        "check": lambda: lx.api.check.checked(file),
        "tile": lambda: file["f"].tile(),
        "report": lambda: lx.Report.of(file),
        "error": lambda: lx.InputError('<script> & "', loc=lx.source.Loc("<b>&.c", 4, 1)),
    }[what]()
    piece = made._repr_html_()
    root = tree(piece)
    assert not [*elements(root, "script", "img", "b", "i")]
    assert len([*elements(root, "table")]) == piece.count("</table>")
    assert "\u202e" not in piece


def test_what_cannot_be_shown_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that cannot be written is a refusal; our own mistake says how to report it."""

    def refuse(*_: object, **__: object) -> None:
        raise lx.EmitError("no text for it")

    tiled = mm().tile()
    monkeypatch.setattr("loopxform.codegen.emit.opencl", refuse)
    assert "no text for it" in tiled._repr_html_()
    monkeypatch.setattr("loopxform.codegen.emit.opencl", lambda *_, **__: 1 / 0)
    assert "internal error in" in mm().tile()._repr_html_()


def shown(cls: type) -> Iterator[type]:
    for c in cls.__subclasses__():
        yield c
        yield from shown(c)


def test_whatever_is_shown_has_a_home() -> None:
    for name in notebook.HOMES.values():
        __import__(f"loopxform.report.notebook.{name}")
    import loopxform.runtime.kernel  # noqa: F401

    classes = [*shown(Shown)]
    names = {c.__name__ for c in classes}
    assert names >= notebook.HOMES.keys()
    assert all({m.__name__ for m in c.__mro__} & notebook.HOMES.keys() for c in classes)


def test_nothing_of_it_is_loaded_before_it_is_shown() -> None:
    code = f"import sys, loopxform as lx; lx.load({str(MM)!r})['mm'].check(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "loopxform.api.results" in loaded
    assert not [m for m in loaded if m.startswith(("loopxform.report", "jinja2", "IPython"))]


def test_words_of_c_have_classes() -> None:
    text = 'for (int i = 0x1F;; i++) /* a\n  b */ s = "x\\"y"; // c'
    first, second = coloured((line, ()) for line in text.split("\n"))
    assert [t for t in first if t[0]] == [
        ("ck", "for"),
        ("ck", "int"),
        ("cn", "0x1F"),
        ("cm", "/* a"),
    ]
    assert second == [
        ("cm", "  b */"),
        ("", " s = "),
        ("cs", '"x\\"y"'),
        ("", "; "),
        ("cm", "// c"),
    ]
    assert coloured([("", ()), ("  int a;", ())]) == [[], [("ck", "  int"), ("", " a;")]]
