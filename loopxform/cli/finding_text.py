"""Findings as text for tools: a line each as compilers write them, GitHub's workflow commands,
GitLab's code quality report."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator

from loopxform.cli.baseline import Entry
from loopxform.cli.outcome import Outcome
from loopxform.cli.questions import Answer
from loopxform.source import Loc

GONE = "LX242"
"""The code of what is in the baseline and is no more."""
ASKED = "question"
"""What stands in the place of a code where a question is answered with no."""


def concise(o: Outcome) -> Iterator[str]:
    """A line each; what could not be read is a diagnostic of its own."""
    yield from (_asked(a) for a in o.answers if not a.holds)
    yield from beside_baseline(o) if o.compared.path else _new(o)


def beside_baseline(o: Outcome) -> Iterator[str]:
    """What is new, what is gone, and how many there are."""
    yield from _new(o)
    for e in o.compared.gone:
        yield f"{o.compared.place(e)}: note: {_gone(o, e)} [{GONE}]"
    yield o.compared.total()


def _new(o: Outcome) -> Iterator[str]:
    return (x.line() for x in o.compared.new if x.kind != "unread")


def _asked(a: Answer) -> str:
    return f"{a.loc or '<command line>:1:1'}: error: {_answer(a)} [{ASKED}]"


def _answer(a: Answer) -> str:
    return f"{a.question}: {a.word}; {'; '.join(a.reasons)}"


def _gone(o: Outcome, e: Entry) -> str:
    return f"no longer found: {e} in {o.compared.file(e)}"


# ---------------------------------------------------------------- GitHub


def github(o: Outcome) -> Iterator[str]:
    """Workflow commands, each of which GitHub shows at its line."""
    root = os.environ.get("GITHUB_WORKSPACE")
    for x in o.compared.new:
        yield _command(x.level, x.code, x.message, x.place, root)
    for error in o.unknown_errors:
        yield _command("error", error.code, error.message, error.loc, root)
    for a in o.answers:
        if not a.holds:
            yield _command("error", ASKED, _answer(a), a.loc, root)
    for e in o.compared.gone:
        yield _command("notice", GONE, _gone(o, e), o.compared.place(e), root)
    if o.compared.path:
        yield o.compared.total()


def _command(level: str, code: str, message: str, loc: Loc | None, root: str | None) -> str:
    """`::error file=a.c,line=8,col=5,title=loopxform (LX301)::race on 'j'`."""
    properties = {"title": f"loopxform ({code})"}
    if loc is not None and not loc.file.startswith("<"):
        at = {"file": below(loc.file, root), "line": str(loc.line), "col": str(max(1, loc.column))}
        properties = at | properties
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def below(file: str, root: str | None) -> str:
    """The file as it is seen from the folder of the repository, where it is in there; else as a
    whole. Without `root` that is the working folder."""
    if file.startswith("<"):
        return file
    folder, name = os.path.split(os.path.abspath(file))
    whole = os.path.join(os.path.realpath(folder), name)
    seen = os.path.relpath(whole, os.path.realpath(root or "."))
    outside = seen.split(os.sep)[0] == os.pardir
    return (whole if outside else seen).replace(os.sep, "/")


# ---------------------------------------------------------------- GitLab


def gitlab(o: Outcome) -> Iterator[str]:
    """The report that a job has as its artifact `codequality`."""
    root = os.environ.get("CI_PROJECT_DIR")
    alike = Counter[tuple[str, ...]]()
    issues = []
    for x in o.compared.new:
        key = (below(x.file, root), x.function, x.loop, x.code, x.about)
        alike[key] += 1
        mark = "\0".join((*key, str(alike[key]))).encode(errors="replace")
        place = {"path": below(x.place.file, root), "lines": {"begin": x.place.line}}
        issues.append(
            {
                "description": x.message,
                "check_name": x.code,
                "fingerprint": hashlib.sha256(mark).hexdigest()[:32],
                "severity": "major" if x.level == "error" else "minor",
                "location": place,
            }
        )
    yield json.dumps(issues, indent=2)
