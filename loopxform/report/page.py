"""Pages from facts: one with all files, or a folder with an index and a page for each file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from loopxform.analysis.verdict import Answer
from loopxform.codegen import render
from loopxform.model.coalescing import NOMINAL
from loopxform.records import record
from loopxform.report.facts import FileFact, FunctionFact, LoopFact
from loopxform.report.highlight import coloured
from loopxform.report.mapping import Wanted
from loopxform.version import __version__

ORDER: tuple[Answer, ...] = ("yes", "reduction", "privatizable", "no", "unknown")


BECAUSE: dict[str, str] = {
    "yes": "no iteration needs another: the loop carries no dependence",
    "reduction": "the loop carries nothing but updates that may be applied in any order",
    "privatizable": "each iteration can have variables of its own; then the loop carries nothing",
    "no": "its iterations have to run in order, and that is proven",
    "unknown": "whether an iteration needs another is not proven, neither that nor the opposite",
}
"""What the verdicts mean."""


@record
class Row:
    """A file in the index: where it is, "" for this page."""

    file: FileFact
    page: str

    @property
    def href(self) -> str:
        return f"{self.page}#{self.file.anchor}"


def one_page(files: Sequence[FileFact], wanted: Wanted) -> str:
    """All files on one page, with an index where they are several."""
    rows = [Row(f, "") for f in files] if len(files) > 1 else []
    names = files[0].name if len(files) == 1 else f"{len(files)} files"
    return _page(f"loopxform report: {names}", files, rows, wanted)


def pages(files: Sequence[FileFact], wanted: Wanted) -> dict[str, str]:
    """`index.html`, and a page for each file, by their names."""
    names = [f"{n:03d}-{_plain(f.name)}.html" for n, f in enumerate(files, 1)]
    rows = [Row(f, name) for f, name in zip(files, names)]
    out = {"index.html": _page(f"loopxform report: {len(files)} files", [], rows, wanted)}
    for f, name in zip(files, names):
        out[name] = _page(f"loopxform report: {f.name}", [f], [], wanted, up="index.html")
    return out


def _plain(name: str) -> str:
    """A name of a file that every system and every link can hold."""
    return re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._")[-60:] or "file"


def _page(
    title: str, files: Sequence[FileFact], rows: Sequence[Row], wanted: Wanted, up: str = ""
) -> str:
    every = [r.file for r in rows]
    text = render.page(
        "page.html.j2",
        title=title,
        version=__version__,
        profile=f"the profile {wanted.limits.name}",
        fp=wanted.fp.level,
        nominal=NOMINAL,
        files=files,
        rows=rows,
        up=up,
        counts=loop_counts(x for f in every for x in f.loops),
        functions=sum(len(f.functions) for f in every),
        loops=sum(len(f.loops) for f in every),
        still=False,
        brief=False,
        **ASKED,
    )
    return visible(text)


def loop_counts(loops: Iterable[LoopFact]) -> list[tuple[str, int]]:
    """The verdicts that there are, with how many loops have them."""
    counts = Counter(x.verdict for x in loops)
    return [(a, counts[a]) for a in ORDER if counts[a]]


def by_line(file: FileFact) -> dict[int, list[LoopFact]]:
    """The loops that begin on each line."""
    out = defaultdict[int, list[LoopFact]](list)
    for x in file.loops:
        out[x.line].append(x)
    return out


def wrong(f: FunctionFact) -> bool:
    """Whether a pragma of a function is wrong."""
    claims = [*(x.claim for x in f.loops if x.claim), *f.claims]
    return any(c.answer == "wrong" for c in claims)


def function_has(f: FunctionFact) -> str:
    """What may be searched for: the verdicts of its loops, `wrong`, `refused`."""
    words = [v for v, _ in loop_counts(f.loops)]
    words += ["wrong"] if wrong(f) else []
    return " ".join([*words, *(["refused"] if f.refusals else [])])


def file_has(file: FileFact) -> str:
    words = " ".join(map(function_has, file.functions)).split()
    return " ".join(dict.fromkeys(words))


ASKED: dict[str, object] = {
    "because": BECAUSE,
    "by_line": by_line,
    "coloured": coloured,
    "file_counts": lambda f: loop_counts(f.loops),
    "loop_counts": loop_counts,
    "file_has": file_has,
    "function_has": function_has,
    "wrong": wrong,
}
"""What templates ask of facts."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with characters that nobody sees, and that may reorder or end it, by number."""
    return _HIDDEN.sub(lambda m: f"[U+{ord(m[0]):04X}]", text)
