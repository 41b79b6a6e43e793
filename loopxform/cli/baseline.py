"""`check --baseline FILE`: findings that are known do not fail.

A finding is known by its C file, relative to the folder of the baseline, its function, the counters
of the loops around it, its code and the variable: line numbers, messages and other text may change.
The file counts how many there are alike; the text of their lines says which of them are new.

    {
    "loopxform_baseline": 1,
    "findings": [
    {"file": "src/a.c", "function": "f", "loop": "i/j", "about": "j", ...}
    ]
    }
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from loopxform.api.check import CheckedFile, CheckedFunction
from loopxform.budget import Exhausted
from loopxform.cli.finding import Finding
from loopxform.errors import InputError
from loopxform.files import Output, write_all
from loopxform.json_text import JsonText
from loopxform.records import record
from loopxform.source import Loc

VERSION = 1
"""Of the format. A file of a later one is refused."""

Key: TypeAlias = tuple[str, str, str, str, str]
"""File, function, loop, code, about."""

_MARK = "loopxform_baseline"
_LINES = re.compile(r" \(lines? [\d, ]+\)|\blines? \d+( of \S+)?")


@record
class Entry:
    """`count` findings that are alike, on lines of this text. `level` and `message` are for people;
    `line` is where it stands in the baseline, 0 where it is not from one."""

    key: Key
    source: str
    count: int
    level: str = "error"
    message: str = ""
    line: int = 0

    NAMES: ClassVar[tuple[str, ...]] = ("file", "function", "loop", "code", "about")

    @property
    def file(self) -> str:
        return self.key[0]

    def text(self) -> str:
        named = dict(zip(self.NAMES, self.key))
        data = {**named, "text": self.source, "count": self.count}
        data |= {"level": self.level, "message": self.message}
        return json.dumps(data, ensure_ascii=False)

    def __str__(self) -> str:
        _, function, loop, code, about = self.key
        parts = [f"{self.count} times"] if self.count > 1 else []
        parts += [f"{code} of '{about}'" if about else code]
        parts += [f"loop {loop}"] if loop else []
        return ", ".join([*parts, *([f"function {function}"] if function else [])])


@dataclass
class Compared:
    """The findings of a run beside those of a baseline. `gone` are those of the baseline that were
    looked for and are not there any more, `rest` those of functions that were not looked at. `path`
    is that of the baseline and `folder` where it is, empty where there is none: then all are new.
    """

    path: str = ""
    folder: str = ""
    new: list[Finding] = field(default_factory=list)
    known: list[Finding] = field(default_factory=list)
    gone: list[Entry] = field(default_factory=list)
    rest: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = {id(x.source) for x in self.known}

    @property
    def found(self) -> list[Finding]:
        """All that there are."""
        return [*self.known, *self.new]

    def knows(self, source: object) -> bool:
        """Whether the finding that was made from this is in the baseline."""
        return id(source) in self.sources

    def place(self, entry: Entry) -> Loc:
        """Where it stands in the baseline."""
        return Loc(self.path, max(1, entry.line), 1)

    def file(self, entry: Entry) -> str:
        """The C file that it is about, as it is seen from the working folder."""
        plain = entry.file.startswith("<")
        return entry.file if plain else os.path.relpath(os.path.join(self.folder, entry.file))

    def total(self) -> str:
        """`baseline known.json: 1 new finding, 5 known, 2 gone`."""
        new, gone = counted(len(self.new), "new finding"), sum(e.count for e in self.gone)
        return f"baseline {self.path}: {new}, {len(self.known)} known, {gone} gone"

    def json(self) -> dict[str, object]:
        gone = [{**dict(zip(Entry.NAMES, e.key)), "count": e.count} for e in self.gone]
        new = [x.json() for x in self.new]
        return {"file": self.path, "new": new, "known": len(self.known), "gone": gone}


def counted(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


@record
class Looked:
    """What was looked at of a C file: the functions of these names ("" is what is outside of them),
    all that it has where it is `whole`; not those that took too long."""

    names: frozenset[str]
    late: frozenset[str]
    whole: bool

    @classmethod
    def at(cls, report: CheckedFile, *, narrowed: bool = False) -> Looked:
        """All that could be read of a file; `narrowed` to one function."""
        names = frozenset(f.name for f in report)
        late = frozenset(f.name for f in report if _is_late(f))
        outside = frozenset([] if narrowed else [""])
        return cls(names | outside, late, not (narrowed or report.problems))

    def covers(self, function: str) -> bool:
        return function not in self.late and (self.whole or function in self.names)


def _is_late(f: CheckedFunction) -> bool:
    """Whether limits left something of a function unknown."""
    reasons = (r.code for v in f.loops for r in v.reasons)
    doubts = (d.code for c in f.claims for d in c.doubts)
    return Exhausted.code in (*reasons, *doubts)


class Baseline:
    """The known findings of a file."""

    def __init__(self, path: str, entries: Sequence[Entry] = ()) -> None:
        self.path = path
        self.folder = os.path.realpath(os.path.dirname(path) or ".")
        self.entries = entries

    @classmethod
    def read(cls, path: str, option: str = "--baseline") -> Baseline:
        """Raises InputError."""
        try:
            data = Path(path).read_bytes()
        except (OSError, ValueError) as e:
            message = f"cannot read the baseline '{path}': {getattr(e, 'strerror', None) or e}"
            help = f"write it with loopxform check ... --write-baseline {path}"
            raise InputError(message, code="LX240", help=help, subject=option) from e
        return cls(path, [*_entries(path, data)])

    @classmethod
    def to_write(cls, path: str) -> Baseline:
        """What is to be written anew: the file, or nothing where there is none yet. Raises
        InputError where it is something else."""
        there = os.path.isfile(path) and os.path.getsize(path) > 0
        return cls.read(path, "--write-baseline") if there else cls(path)

    def key(self, x: Finding) -> Key:
        return (self.relative(x.file), x.function, x.loop, x.code, x.about)

    def relative(self, file: str) -> str:
        """The file as it is seen from the folder of the baseline."""
        if file.startswith("<"):
            return file
        folder, name = os.path.split(os.path.abspath(file))
        path = os.path.join(os.path.realpath(folder), name)
        return os.path.relpath(path, self.folder).replace(os.sep, "/")

    def exists(self, file: str) -> bool:
        return file.startswith("<") or os.path.exists(os.path.join(self.folder, file))

    def compare(self, found: Sequence[Finding], looked: Mapping[str, Looked]) -> Compared:
        """Tells the known ones from the others: first those whose lines have not changed. Where a
        file has no entries, those of one that is there no more are taken: it was renamed. `looked`
        is what was looked at of each C file that was judged."""
        left: dict[Key, Counter[str]] = {}
        for e in self.entries:
            left.setdefault(e.key, Counter())[e.source] += e.count
        files = {e.file for e in self.entries}
        lost = sorted(f for f in files if not self.exists(f))
        known: set[int] = set()
        for exact in (True, False):
            for n, x in enumerate(found):
                file, function, loop, code, about = self.key(x)
                named = [file] if file in files else lost
                keys = [(f, function, loop, code, about) for f in named]
                if n not in known and any(_take(left.get(k), x.text, exact=exact) for k in keys):
                    known.add(n)
        new = [x for n, x in enumerate(found) if n not in known]
        old = [x for n, x in enumerate(found) if n in known]
        return self._compared(new, old, left, looked)

    def _compared(
        self,
        new: list[Finding],
        known: list[Finding],
        left: dict[Key, Counter[str]],
        looked: Mapping[str, Looked],
    ) -> Compared:
        judged = {self.relative(file): x for file, x in looked.items()}
        out = Compared(self.path, self.folder, new, known)
        for e in {(e.key, e.source): e for e in self.entries}.values():
            if count := left[e.key][e.source]:
                covered = e.file in judged and judged[e.file].covers(e.key[1])
                gone = covered or not self.exists(e.file)
                (out.gone if gone else out.rest).append(replace(e, count=count))
        return out

    def text(self, found: Sequence[Finding], rest: Sequence[Entry] = ()) -> str:
        """The file that has these findings, and `rest`."""
        entries = {(e.key, e.source): e for e in rest}
        for x in found:
            key = self.key(x)
            message = _LINES.sub(lambda m: "" if m[0][0] == " " else "a line", x.message)
            before = entries.get((key, x.text), Entry(key, x.text, 0))
            count = before.count + 1
            entries[key, x.text] = Entry(key, x.text, count, x.level, message)
        lines = [entries[which].text() for which in sorted(entries)]
        body = "".join(f"\n{line}," for line in lines).removesuffix(",")
        text = f'{{\n"{_MARK}": {VERSION},\n"findings": [{body}\n]\n}}\n'
        return text.encode(errors="backslashreplace").decode()  # JSON escapes surrogates the same

    def write(self, compared: Compared, inputs: Sequence[str]) -> str:
        """Writes it anew: what was not looked at stays, what is gone goes. Returns what is to be
        said of that. Raises InputError."""
        found = compared.found
        output = Output(Path(self.path), self.text(found, compared.rest), "--write-baseline")
        write_all([output], inputs)
        new, gone = len(compared.new), sum(e.count for e in compared.gone)
        changed = f" ({new} new, {gone} gone)" if self.entries and (new or gone) else ""
        kept = sum(e.count for e in compared.rest)
        others = f"; {kept} of what was not checked" if kept else ""
        return f"wrote {self.path}: {counted(len(found), 'finding')}{changed}{others}"


def _take(left: Counter[str] | None, text: str, *, exact: bool) -> bool:
    """Takes one of those that are left: one on such a line, or any."""
    if not left:
        return False
    which = text if exact else next((t for t, n in left.items() if n), text)
    if left[which] < 1:
        return False
    left[which] -= 1
    return True


def _entries(path: str, data: bytes) -> Iterator[Entry]:
    """Raises InputError at the line and the column that mean nothing."""
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    file = JsonText(path, text, "LX240")
    conflict = re.search("^<<<<<<<", text, re.MULTILINE)
    other = "resolve the merge" if conflict else "name another file"
    help = f"{other}, or delete this one and write it with --write-baseline"
    value = file.value(help)
    members = (
        {name: at for name, _, at in file.items(file.start)} if value.__class__ is dict else {}
    )
    if _MARK not in members or not _is_count(value[_MARK]):
        raise file.bad("this is not a baseline of loopxform", 0, help)
    if value[_MARK] > VERSION:
        message = f"the baseline has format {value[_MARK]}, and this loopxform reads {VERSION}"
        help = "a newer loopxform has written it: use that, or write the baseline anew"
        raise file.bad(message, members[_MARK], help, code="LX241")
    if not isinstance(value.get("findings"), list):
        raise file.bad("the baseline has no list 'findings'", 0, help)
    for _, item, at in file.items(members["findings"]):
        wrong = _fault(item)
        if wrong:
            raise file.bad(wrong, at, help)
        name, function, loop, code, about = (item[name] for name in Entry.NAMES)
        key = (name, function, loop, code, about)
        yield Entry(key, item["text"], item["count"], item["level"], item["message"], file.line(at))


def _fault(item: Any) -> str:
    """What is wrong with an entry."""
    if not isinstance(item, dict):
        return "a finding is an object"
    for name in (*Entry.NAMES, "text", "level", "message"):
        if not isinstance(item.get(name), str):
            return f"the finding has no text '{name}'"
    if item["level"] not in ("error", "warning"):
        return "'level' of the finding is neither error nor warning"
    return "" if _is_count(item.get("count")) else "'count' of the finding is not a number above 0"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
