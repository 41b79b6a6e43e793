"""Conditions of `#if`, computed as C compilers do: in the widest integers, with or without a sign
(C11 6.10.1).

    5ULL > 3        -1 > 0u        -7 % 3 == -1        '\\377' < 0        0 ? 1 : 1 ? 2 : 3
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_INTEGER = re.compile(
    r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uU]?(?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU])"
)
_CHARACTER = re.compile(
    r"L?'(?:\\([0-7]{1,3})|\\x([0-9a-fA-F]+)|\\([ntrabfv\\'\"?])|([ -&(-\[\]-~]))'"
)
_ESCAPES = dict(zip("ntrabfv", "\n\t\r\a\b\f\v"))
_MOST = 2**63 - 1
_MOST_BYTE = 255
_BITS = 64

_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="))
_TIGHTER = (("<<", ">>"), ("+", "-"), ("*", "/", "%"))
_BINDING = {op: n for n, level in enumerate((*_LEVELS, *_TIGHTER), 1) for op in level}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class Number(NamedTuple):
    """A number of type intmax_t or uintmax_t."""

    number: int
    unsigned: bool = False

    def value(self) -> int:
        return self.number


def number(text: str) -> Number:
    """An integer constant, or a character as a signed char. Raises ValueError."""
    if m := _INTEGER.fullmatch(text):
        digits, suffix = m.groups()
        value = int(digits, 8 if digits.isdigit() and digits[0] == "0" else 0)
        return _wrapped(value, unsigned="u" in suffix.lower() or value > _MOST)
    m = _CHARACTER.fullmatch(text)
    if m is None:
        raise ValueError(text)
    octal, hexadecimal, escaped, plain = m.groups()
    if plain or escaped:
        return Number(ord(plain or _ESCAPES.get(escaped, escaped)))
    value = int(octal, 8) if octal else int(hexadecimal, 16)
    if value > _MOST_BYTE or text[0] == "L":
        raise ValueError(text)
    return Number(value - (_MOST_BYTE + 1) * (value > _MOST_BYTE // 2))


def _wrapped(value: int, *, unsigned: bool) -> Number:
    value %= 1 << _BITS
    return Number(value - (1 << _BITS) * (value > _MOST and not unsigned), unsigned)


def evaluated(
    tokens: Sequence[Any],
    functions: Mapping[str, Any],  # noqa: ARG001
    identifiers: Mapping[str, Any],
) -> Number:
    """The value of a condition whose macros have been replaced; `identifiers` are those that are
    left. Raises ValueError where it is none."""
    words = [str(t.value) for t in tokens if str(t.value).strip() and "COMMENT" not in t.type]
    reading = _Reading(words, identifiers)
    found = reading.choice(live=True)
    if reading.rest:
        raise ValueError(reading.rest[0])
    return found


class _Reading:
    """A condition that is read from left to right. Of what is not `live`, C says that it is not
    computed."""

    def __init__(self, words: Sequence[str], identifiers: Mapping[str, Any]) -> None:
        self.rest = list(words)
        self._identifiers = identifiers

    def _take(self, *expected: str) -> str:
        if not self.rest or (expected and self.rest[0] not in expected):
            raise ValueError(self.rest[:1])
        return self.rest.pop(0)

    def choice(self, *, live: bool) -> Number:
        condition = self._binary(1, live=live)
        if self.rest[:1] != ["?"]:
            return condition
        self._take("?")
        holds = condition.number != 0
        first = self.choice(live=live and holds)
        self._take(":")
        second = self.choice(live=live and not holds)
        chosen = first if holds else second
        return _wrapped(chosen.number, unsigned=first.unsigned or second.unsigned)

    def _binary(self, level: int, *, live: bool) -> Number:
        left = self._unary(live=live)
        while self.rest and _BINDING.get(self.rest[0], 0) >= level:
            op = self._take()
            known = {"&&": left.number == 0, "||": left.number != 0}.get(op, False)
            right = self._binary(_BINDING[op] + 1, live=live and not known)
            left = _computed(op, left, right, live=live)
        return left

    def _unary(self, *, live: bool) -> Number:
        word = self._take()
        match word:
            case "+":
                return self._unary(live=live)
            case "-":
                n, unsigned = self._unary(live=live)
                return _wrapped(-n, unsigned=unsigned)
            case "~":
                n, unsigned = self._unary(live=live)
                return _wrapped(~n, unsigned=unsigned)
            case "!":
                return Number(int(self._unary(live=live).number == 0))
            case "(":
                found = self.choice(live=live)
                self._take(")")
                return found
        if word[0].isalpha() or word[0] == "_":
            return Number(int(self._identifiers[word])) if word[-1] != "'" else number(word)
        return number(word)


def _computed(op: str, a: Number, b: Number, *, live: bool) -> Number:
    if op in ("&&", "||"):
        both = (a.number != 0, b.number != 0)
        return Number(int(all(both) if op == "&&" else any(both)))
    if op in ("<<", ">>"):
        by = b.number if op == "<<" else -b.number
        moved = a.number << min(by, _BITS) if by >= 0 else a.number >> min(-by, _BITS)
        return _wrapped(moved, unsigned=a.unsigned)
    unsigned = a.unsigned or b.unsigned
    x, y = (_wrapped(n.number, unsigned=unsigned).number for n in (a, b))
    if op in _COMPARISONS:
        return Number(int(_COMPARISONS[op](x, y)))
    if op in _ARITHMETIC:
        return _wrapped(_ARITHMETIC[op](x, y), unsigned=unsigned)
    if y == 0:
        if live:
            raise ValueError("division by zero")
        return Number(0, unsigned)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return _wrapped(quotient if op == "/" else x - quotient * y, unsigned=unsigned)
