"""`loopxform report`: pages that hold together, that everybody can read, and need no network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from conftest import Golden
from html_pages import by_id, fragment, of_class, tree, words

from loopxform.cli import main

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
STYLE = (ROOT / "templates" / "report" / "style.css").read_text()
HEAVIEST = 1_500_000

NASTY = """
/* </script><script>alert(1)</script> <img src=x onerror=alert(2)> "a" & 'b' \u202e\u2066 \x07 */
#define S "<!-- ]]> --> <b>"
void nasty(int n, double *restrict a, const char *s)
{
  for (int i = 1; i < n; i++) /* <i>markup</i> */
    a[i] = a[i - 1] < 2 ? a[i] : 1;
  for (int i = 0; i < n; i++)
    puts(S);
}
int without_loops(void) { return 1; }
"""
BROKEN = "void broken(int n { for }\n"
NAMES = {
    "mm": CORPUS / "mm.c",
    "races": CORPUS / "races" / "dependences.c",
    "pipeline": CORPUS / "pipelines" / "unsharp_mask.c",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A page of each kind by a name; `all` has several files, one of which cannot be read."""
    folder = tmp_path_factory.mktemp("pages")
    nasty, broken = folder / "na&<b>'sty.c", folder / "broken.c"
    nasty.write_text(NASTY)
    broken.write_text(BROKEN)
    asked = {name: [str(path)] for name, path in NAMES.items()}
    asked["all"] = [str(nasty), str(broken)]
    out = {}
    for name, files in asked.items():
        page = folder / f"{name}.html"
        assert main(["report", *files, "-q", "-o", str(page)]) == 0
        out[name] = page.read_text()
    return out


EVERY = ("mm", "races", "pipeline", "all")


@pytest.fixture(params=EVERY)
def page(request: pytest.FixtureRequest, pages: dict[str, str]) -> str:
    text: str = pages[request.param]
    return text


def elements(root: Element, *tags: str) -> Iterator[Element]:
    return (e for e in root.iter() if e.tag in tags)


# ---------------------------------------------------------------- what every page is


def test_a_page_is_well_formed_and_its_links_lead_somewhere(page: str) -> None:
    root = tree(page)
    ids = [name for e in root.iter() if (name := e.get("id"))]
    assert len(ids) == len(set(ids))
    targets = {href for a in elements(root, "a") if (href := a.get("href")) is not None}
    assert targets
    assert {t[1:] for t in targets} <= set(ids)
    assert page.startswith("<!DOCTYPE html>\n")


def test_a_page_needs_nothing_from_outside(page: str) -> None:
    root = tree(page)
    assert not [e for e in root.iter() if {"src", "srcset", "data", "action"} & {*e.keys()}]
    assert not [*elements(root, "link", "iframe", "object", "embed", "img", "base")]
    assert not re.search(r"https?:|@import|url\(|\bfetch\(|XMLHttpRequest|innerHTML", page)
    (policy,) = (e for e in elements(root, "meta") if e.get("http-equiv"))
    assert policy.get("content", "").startswith("default-src 'none'; ")
    assert len(page.encode()) <= HEAVIEST


def test_headings_make_an_outline(page: str) -> None:
    levels = [int(e.tag[1]) for e in tree(page).iter() if re.fullmatch("h[1-6]", e.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_what_a_screen_reader_needs(page: str) -> None:
    root = tree(page)
    ids = {e.get("id"): e for e in root.iter() if e.get("id")}
    assert root.get("lang") == "en"
    assert words(next(elements(root, "title")))
    assert len([*elements(root, "main")]) == len([*elements(root, "header")]) == 1
    for e in elements(root, "svg"):
        assert e.get("role") == "img"
        assert all(words(ids[name]) for name in e.get("aria-labelledby", "").split())
        assert [x.tag for x in e][:2] == ["title", "desc"]
    for e in elements(root, "input", "select"):
        assert any(e in label.iter() and words(label) for label in elements(root, "label"))
    for e in elements(root, "a", "button", "summary"):
        assert words(e) or e.get("aria-label")
    for e in elements(root, "table"):
        assert e[0].tag == "caption"
        assert words(e[0])
        assert all(th.get("scope") in ("col", "row") and words(th) for th in elements(e, "th"))
    for e in elements(root, "section"):
        assert ids[e.get("aria-labelledby")].tag in ("h2", "h3")
    for e in of_class(root, "scroll"):  # what scrolls can be scrolled by keyboard
        assert e.get("tabindex") == "0"
        assert e.get("role") == "group"
        assert e.get("aria-label")


def test_the_order_of_tabs_is_that_of_the_text(page: str) -> None:
    root = tree(page)
    assert {e.get("tabindex") for e in root.iter()} <= {None, "0", "-1"}
    body = next(elements(root, "body"))
    assert body[0].get("class") == "skip"
    assert by_id(root, body[0].get("href", "")[1:]).tag == "main"


def test_without_scripts_every_step_is_there(page: str) -> None:
    """What the script needs alone is hidden until it runs; nothing else is."""
    root = tree(page)
    hidden = [e for e in root.iter() if "hidden" in e.keys()]  # noqa: SIM118
    assert all("controls" in e.get("class", "") for e in hidden)
    for steps in of_class(root, "steps"):
        items = [*of_class(steps, "step")]
        assert next(elements(steps, "input")).get("max") == str(len(items))
        assert all(e.get("data-title") for e in items)


def palette(text: str) -> dict[str, tuple[int, int, int]]:
    """Colours by name."""
    found = re.findall(r"--([\w-]+): #([0-9a-f]{6});", text)
    return {n: (int(v[:2], 16), int(v[2:4], 16), int(v[4:], 16)) for n, v in found}


def contrast(a: tuple[int, int, int], b: tuple[int, int, int]) -> float:
    """The ratio of luminances (WCAG 2.2)."""

    def luminance(colour: tuple[int, int, int]) -> float:
        linear = [
            x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4
            for x in (c / 255 for c in colour)
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


TEXTS = [
    *((name, back) for name in ("text", "muted", "link") for back in ("page", "panel")),
    *((name, f"{name}-back") for name in ("yes", "no", "unknown", "partly", "new")),
    *((name, back) for name in ("no", "yes", "partly") for back in ("page", "panel")),
]
LINES = [(name, "page") for name in ("mark", "strong", "second", "focus")]


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_contrast(scheme: str) -> None:
    """Of texts 4.5 to 1, of what else has a meaning 3 to 1 (WCAG 2.2, AA)."""
    light, _, rest = STYLE.partition("@media (prefers-color-scheme: dark)")
    dark, _, printed = rest.partition("@media print")
    own = {"light": "", "dark": dark, "print": printed}[scheme]
    colours = palette(light) | palette(own)
    assert len(palette(own or light)) >= 18
    for pairs, least in ((TEXTS, 4.5), (LINES, 3.0)):
        for a, b in pairs:
            assert contrast(colours[a], colours[b]) >= least, f"{a} on {b}, {scheme}"


# ---------------------------------------------------------------- what they say


def test_a_product(pages: dict[str, str], golden: Golden) -> None:
    root = tree(pages["mm"])
    rows = [by_id(root, f"file-1-L{n}") for n in (3, 5, 8)]
    tables = [e for e in elements(root, "table") if words(e[0]) in ("All loops", "Accesses")]
    text = "".join(map(fragment, (*rows, *tables)))
    golden.check(text.replace(str(CORPUS), "CORPUS"))


def test_a_race(pages: dict[str, str], golden: Golden) -> None:
    root = tree(pages["races"])
    parts = (by_id(root, "file-1-L6"), by_id(root, "file-1-f-1-loop-1"))
    golden.check("".join(map(fragment, parts)))


def test_a_pipeline(pages: dict[str, str], golden: Golden) -> None:
    root = tree(pages["pipeline"])
    parts = [words(p) for part in of_class(root, "part") for p in part if p.tag == "p"]
    tables = [e for e in elements(root, "table") if words(e[0]).startswith("Stages")]
    golden.check("\n".join(parts) + "\n" + "".join(map(fragment, tables)))


def test_everything_from_the_source_is_escaped(pages: dict[str, str]) -> None:
    root = tree(pages["all"])
    assert len([*elements(root, "script")]) == len([*elements(root, "style")]) == 1
    assert not [*elements(root, "b", "i", "img")]
    assert not [name for e in root.iter() for name in e.keys() if name.startswith("on")]  # noqa: SIM118
    assert "</script><script>alert(1)" in words(by_id(root, "file-1-L2"))
    assert "[U+202E][U+2066] [U+0007]" in words(by_id(root, "file-1-L2"))
    assert 'S "<!-- ]]> --> <b>"' in words(by_id(root, "file-1-L3"))
    assert not re.search("[\x00-\x08\u202e\u2066]", pages["all"])


def test_a_file_that_cannot_be_read_is_told(pages: dict[str, str]) -> None:
    root = tree(pages["all"])
    (found,) = (e for e in of_class(root, "finding") if "LX001" in words(e))
    assert words(next(of_class(found, "badge"))) == "not read"
    assert "void broken(int n { for }" in words(found)
    assert by_id(root, "file-2-L1") is not None


# ---------------------------------------------------------------- the command


def test_a_page_is_the_same_every_time(pages: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "again.html"
    assert main(["report", str(NAMES["mm"]), "-q", "-o", str(page)]) == 0
    assert page.read_text() == pages["mm"]


@pytest.fixture
def two_files(tmp_path: Path) -> list[str]:
    files = []
    for name in ("a.c", "b/a.c"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n")
        files.append(str(path))
    return files


def test_a_folder_has_an_index_and_a_page_for_each_file(
    two_files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["report", *two_files, "-o", f"{out}/"]) == 0
    assert capsys.readouterr().out == f"wrote {out}/index.html and 2 more\n"
    written = {p.name: p.read_text() for p in out.iterdir()}
    index = tree(written.pop("index.html"))
    hrefs = [a.get("href", "") for a in elements(by_id(index, "files"), "a")]
    assert {h.partition("#")[0] for h in hrefs} == written.keys()
    for href in hrefs:
        page, _, name = href.partition("#")
        assert by_id(tree(written[page]), name) is not None


@pytest.mark.slow
def test_several_processes_write_the_same_page(two_files: list[str], tmp_path: Path) -> None:
    written = []
    for jobs in ("1", "2"):
        page = tmp_path / f"{jobs}.html"
        assert main(["report", *two_files, "-q", "-o", str(page), "-j", jobs]) == 0
        written.append(page.read_text())
    assert written[0] == written[1]


ROW = {
    "key": "0",
    "program": "f",
    "function": "f",
    "text": "0",
    "recipe": "naive",
    "data": {"n": 64},
    "device": "a device",
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


@pytest.mark.parametrize("form", ["list", "lines"])
def test_what_was_measured(form: str, tmp_path: Path) -> None:
    text = "void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n"
    (tmp_path / "f.c").write_text(text)
    default = {**ROW, "sizes": None, "milliseconds": [2.0, 2.0]}
    tile = {**ROW, "sizes": {"Ty": 2, "Tx": 64}, "milliseconds": [1.0, 1.0], "baseline": 2.0}
    rows = [default, tile]
    saved = json.dumps(rows) if form == "list" else "".join(f"{json.dumps(r)}\n" for r in rows)
    (tmp_path / "f.json").write_text(saved)
    page = tmp_path / "f.html"
    asked = ["--measured", str(tmp_path / "f.json"), "-q", "-o", str(page)]
    assert main(["report", str(tmp_path / "f.c"), *asked]) == 0
    (found,) = (
        e for e in elements(tree(page.read_text()), "table") if words(e[0]).startswith("Measured")
    )
    assert words(found[0]) == "Measured on a device, the quickest first"
    assert [words(e) for e in found[2][0]] == [
        "1",
        "1",
        "1-1",
        "2.00x",
        "-",
        "Ty=2, Tx=64 (not raced)",
    ]


@pytest.mark.parametrize(
    ("text", "status", "shown"),
    [
        (BROKEN, 2, "LX001"),
        ("int f(void) { return 1; }\n", 0, ""),
        ("", 0, ""),
        (None, 2, "no such file"),
    ],
)
def test_the_exit_status(
    text: str | None, status: int, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can be read, there is no page."""
    file, page = tmp_path / "f.c", tmp_path / "f.html"
    if text is not None:
        file.write_text(text)
    assert main(["report", str(file), "-o", str(page)]) == status
    assert shown in capsys.readouterr().err
    assert page.exists() == (status == 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "f.c"], "would be overwritten"),
        (["--profile", "nothing"], "nothing"),
        (["-o", "there/is/none", "--fp", "loose"], "--fp cannot be 'loose'"),
        (["-j", "0"], "--jobs"),
        (["--measured", "f.c"], "there are no measurements in f.c"),
    ],
)
def test_a_command_line_that_is_refused(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = i; }\n"
    Path("f.c").write_text(text)
    assert main(["report", "f.c", *options]) == 2
    assert message in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["f.c"]
    assert Path("f.c").read_text() == text
