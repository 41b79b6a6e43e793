"""The verdicts that the files of corpus/vectorisation state, one comment at the end of every `for`.

    yes
    reduction OP of NAME, OP of NAME
    privatizable NAME, NAME
    no: KIND of NAME               KIND is flow, anti or output
    no: KIND of NAME, distance N   every dependence of that kind on it spans N iterations
    no: control                    an iteration decides whether there is a next one
    unknown: KIND of NAME          data decide whether there is such a dependence
    unknown: effects               what a function does is not known

`(unknown)` after the truth says that `check` does not find it out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "corpus" / "vectorisation"
FILES = sorted(FOLDER.glob("*.c"))

KINDS = "flow|anti|output"
FORM = re.compile(
    rf"""(?P<yes>yes)
    | reduction\ (?P<reduction>\S+\ of\ \S+(,\ \S+\ of\ \S+)*)
    | privatizable\ (?P<privatizable>\w+(,\ \w+)*)
    | no:\ ((?P<no>{KINDS})\ of\ (?P<carried>[\w.]+)(,\ distance\ (?P<distance>\d+))?|control)
    | unknown:\ ((?P<unknown>{KINDS})\ of\ (?P<possible>[\w.]+)|effects)""",
    re.X,
)


@dataclass(frozen=True)
class Stated:
    """The truth about one loop, and what `check` says where it does not find that out."""

    line: int
    text: str
    truth: str
    verdict: str
    names: frozenset[str] = frozenset()
    """Those that are private."""
    reductions: frozenset[tuple[str, str]] = frozenset()
    kind: str = ""
    name: str = ""
    distance: int | None = None


def stated(text: str) -> dict[int, Stated]:
    """The comments of a file by line; a `for` without one, or with another text, is an error."""
    found = {}
    for line, source in enumerate(text.splitlines(), 1):
        if not re.search(r"\bfor \(", source.split("/*")[0]):
            continue
        comment = re.search(r"/\* (.*) \*/$", source)
        assert comment, f"line {line} states no verdict"
        found[line] = parse(line, comment[1])
    return found


def parse(line: int, comment: str) -> Stated:
    said, found_out = re.subn(r" \(unknown\)", "", comment)
    m = FORM.fullmatch(said)
    assert m, f"line {line}: what is '{comment}'?"
    truth = re.split(r"\W", said)[0]
    pairs = (x.split(" of ") for x in (m["reduction"] or "").split(", ") if x)
    return Stated(
        line,
        comment,
        truth,
        "unknown" if found_out else truth,
        frozenset((m["privatizable"] or "").split(", ")) - {""},
        frozenset((op, name) for op, name in pairs),
        m["no"] or m["unknown"] or "",
        m["carried"] or m["possible"] or "",
        int(m["distance"]) if m["distance"] else None,
    )
