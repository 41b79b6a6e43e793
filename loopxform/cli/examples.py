"""The pipelines of `loopxform demo`: a file of examples/ each, its C of corpus/pipelines."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean
from loopxform.records import record

PACKAGE = Path(__file__).parents[1]


@record
class Example:
    """A function `name` of plain C that makes a picture of a picture: parameters `h` and `w` are
    its height and width, `input` is the picture with a `border` that repeats its edge, `numbers`
    are the other arguments. With `contrast` the least element of `output` is black and the largest
    white."""

    name: str
    about: str
    input: str
    output: str
    colours: Literal["grey", "rgb", "rgba"]
    border: int = 0
    contrast: bool = False
    numbers: Mapping[str, int | float] = field(default_factory=dict)

    @property
    def c_file(self) -> Path:
        return _folder("pipelines", "corpus/pipelines") / f"{self.name}.c"


def every() -> dict[str, Example]:
    """All of them by name."""
    files = sorted(_folder("examples", "examples").glob("*.toml"))
    return {f.stem: Example(f.stem, **tomllib.loads(f.read_text("utf-8"))) for f in files}


def example(name: str) -> Example:
    """Raises UsageError."""
    known = every()
    if name not in known:
        help = f"{did_you_mean(name, known)}the pipelines are: {', '.join(known)}"
        raise UsageError(f"there is no pipeline '{name}'", help=help, subject=name)
    return known[name]


def _folder(inside: str, beside: str) -> Path:
    """Of the installed package, or of a checkout."""
    own = PACKAGE / inside
    return own if own.is_dir() else PACKAGE.parent / beside
