"""The geography of preprocessed text: external declarations, and offsets of places."""

from __future__ import annotations

import re

from loopxform.frontend.text.rawtext import blank
from loopxform.records import record

MARK = re.compile(r'#line (\d+) "(\d+)"$')
TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*|[(){};]|[A-Za-z_]\w*|[^\s\w]'
)
MARKS = re.compile(r"^#line .*$", re.MULTILINE)
_OLD_STYLE = re.compile(r"[A-Za-z_]\w*\s*\(\s*\w[\w\s,]*\)\s*[A-Za-z_]")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")


@record
class Fault:
    """Why the parser stopped: a message and the number, line and column it gives."""

    message: str
    file: int
    line: int
    column: int


@record
class Chunk:
    """One external declaration of the preprocessed text; `name` of the function it defines."""

    start: int
    end: int
    name: str | None


def without(text: str, chunk: Chunk) -> str:
    """`text` with a declaration blanked; line marks stay, so what follows keeps its place."""
    lines = text[chunk.start : chunk.end].split("\n")
    blanked = "\n".join(x if MARK.match(x) else blank(x) for x in lines)
    return text[: chunk.start] + blanked + text[chunk.end :]


def chunks(text: str) -> list[Chunk] | None:
    """The external declarations of `text`; None where braces do not match. Parentheses may: a
    brace ends what is open inside its own."""
    out: list[Chunk] = []
    start, previous, before, body = 0, "", "", False
    opened: list[str] = []
    for m in TOKEN.finditer(text):
        t = m.group()
        if t[0] == "#" and len(t) > 1:
            continue
        if t in "({":
            if t == "{" and opened and "{" not in opened and _ends_no_list(previous, before):
                opened.clear()  # a body: the parenthesis in front of it is missing
                body = True
            elif t == "{" and not opened:
                begins = not MARKS.sub("", text[start : m.start()]).strip()
                start = _old_style_head(text, out) if begins and previous == ";" else start
                body = body or previous == ")" or begins
            opened.append(t)
        elif t == ")" and opened[-1:] == ["("]:
            opened.pop()
        elif t == "}":
            if "{" not in opened:
                return None
            while opened.pop() != "{":
                pass
        if not opened and (t == ";" or (t == "}" and body)):
            name = _NAME.search(text, start, m.end()) if body else None
            out.append(Chunk(start, m.end(), name.group(1) if name else None))
            start, body = m.end(), False
        previous, before = t, previous
    if "{" in opened:
        return None
    if text[start:].strip():
        out.append(Chunk(start, len(text), None))
    return out


def _ends_no_list(previous: str, before: str) -> bool:
    """Whether a brace behind these tokens opens no list inside parentheses: `(int n {`."""
    is_word = previous[:1].isalpha() or previous[:1] == "_"
    return (is_word and before not in ("struct", "union", "enum")) or previous == "]"


def _old_style_head(text: str, out: list[Chunk]) -> int:
    """Where a definition in the old (K&R) style starts whose body comes next: the declarations of
    its parameters are taken back from `out`."""
    start = out[-1].end
    for n in range(len(out) - 1, -1, -1):
        if out[n].name:
            break
        if _OLD_STYLE.search(text, out[n].start, out[n].end):
            start = out[n].start
            del out[n:]
            break
    return start


def _by_margin(text: str) -> list[Chunk]:
    """External declarations by layout, where braces do not match: a } at the margin ends one."""
    ends = [m.end() for m in re.finditer(r"^\}.*$", text, re.MULTILINE)]
    out = []
    for start, end in zip([0, *ends], [*ends, len(text)]):
        name = _NAME.search(text, start, end)
        out.append(Chunk(start, end, name.group(1) if name else None))
    return out


def external_declarations(text: str) -> list[Chunk]:
    """Those of `text` in order, by its braces, or by its layout where they do not match."""
    return chunks(text) or _by_margin(text)


def chunk_at(text: str, start: int, fault: Fault, declarations: list[Chunk]) -> Chunk | None:
    """Which of the declarations of `text` holds the place of a fault behind the offset `start`."""
    offset = offset_of(text, fault, start)
    if offset is None:
        return None
    return next((c for c in declarations if c.start <= offset < c.end), None)


def offset_of(text: str, fault: Fault, start: int = 0) -> int | None:
    """The offset in the preprocessed text, from `start` on, of a place the parser names."""
    at, file, line = 0, 1, 0
    for raw in text.split("\n"):
        line += 1
        if m := MARK.match(raw):
            file, line = int(m.group(2)), int(m.group(1)) - 1
        elif (file, line) == (fault.file, fault.line) and at + len(raw) >= start:
            return at + min(fault.column - 1, len(raw))
        at += len(raw) + 1
    return None


def place_of(text: str, offset: int) -> tuple[int, int, int]:
    """File number, line and column of an offset."""
    at, file, line = 0, 1, 0
    for raw in text.split("\n"):
        line += 1
        if m := MARK.match(raw):
            file, line = int(m.group(2)), int(m.group(1)) - 1
        if at <= offset <= at + len(raw):
            return file, line, offset - at + 1
        at += len(raw) + 1
    return file, line, 1
