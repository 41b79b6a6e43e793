"""What somebody may have meant who wrote a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

ALIKE = 0.7
"""Least share of the letters of two words that they have in common: `tile` is not `single`."""

SHORTEST_START = 3
"""Letters from which on the start of a name stands for it."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The name that is most like the word, whatever the case; None where none is."""
    names = {_letters(name): name for name in known}
    text = _letters(word)
    if text in names:
        return names[text]
    begun = [name for letters, name in names.items() if letters.startswith(text)]
    if len(begun) == 1 and len(text) >= SHORTEST_START:
        return begun[0]
    close = get_close_matches(text, names, 1, ALIKE)
    return names[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean 'tile'? `, to stand in front of other help; nothing where no name is close."""
    close = nearest(word, known)
    return f"did you mean '{close}'? " if close else ""


def _letters(name: str) -> str:
    """A name without the dashes of options."""
    return name.lower().lstrip("-")
