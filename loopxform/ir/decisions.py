"""What was asked of macros that no file of the user's defines, in the order of the text.

Compiled with other answers, the file may say something else.
"""

from __future__ import annotations

from typing import TypeAlias

from loopxform.records import record


@record
class Defined:
    """`#ifdef name`."""

    name: str
    holds: bool
    bare: bool = True

    @property
    def names(self) -> frozenset[str]:
        return frozenset([self.name])

    def __str__(self) -> str:
        return f"{self.name} {'defined' if self.holds else 'not defined'}"


@record
class Holds:
    """`#if condition`, all of whose `names` are such macros; `asks` are the questions in it that
    the compiler alone answers: `__has_builtin(x)`."""

    condition: str
    names: frozenset[str]
    holds: bool
    bare: bool = True
    asks: tuple[Holds, ...] = ()

    def __str__(self) -> str:
        return self.condition if self.holds else f"not ({self.condition})"


@record
class Expands:
    """`name` stands for `text`; None where it is no macro."""

    name: str
    text: str | None
    bare: bool = True

    @property
    def names(self) -> frozenset[str]:
        return frozenset([self.name.partition("(")[0]])

    def __str__(self) -> str:
        if self.text is None:
            return f"{self.name} not defined"
        return f"{self.name} = {self.text}" if self.text else f"{self.name} defined"


@record
class Line:
    """The includes and definitions from here on are in force: the answers after it are theirs."""

    text: str


Decision: TypeAlias = Defined | Holds | Expands
"""`bare` is an answer that no header has a part in."""

Event: TypeAlias = Decision | Line
