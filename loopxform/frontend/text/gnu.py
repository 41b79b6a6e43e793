"""GNU spellings turned into standard C of the same extent, so that lines and columns survive.

Attributes, `__attribute__((x))` or `[[x]]`, that cannot change what a loop computes are blanked;
the others stay, and the declaration they are in is refused. `typeof(x)` becomes a type that is not
modelled, `asm` a call of `asm`, which lowering refuses, and `va_arg(list, type)` a call of a
function that nobody knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from loopxform.frontend.text.rawtext import blank

_WORDS = {
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__inline": "inline",
    "__inline__": "inline",
    "__const": "const",
    "__const__": "const",
    "__volatile": "volatile",
    "__volatile__": "volatile",
    "__signed": "signed",
    "__signed__": "signed",
    "__extension__": "",
    "__thread": "_Thread_local",
}
_ATTRIBUTE = frozenset(["__attribute__", "__attribute"])
_ASM = frozenset(["asm", "__asm", "__asm__"])
_TYPEOF = frozenset(["typeof", "__typeof", "__typeof__"])
_LIST = re.compile(r"\bva_list\b|\b__va_list_tag\b")
"""Where it does not occur, `va_arg` is a name of the user's own."""
_VA_ARG = re.compile(r"\bva_arg\b")
_BEFORE = re.compile(r"(\w*)([\s*]*)\Z")
_EXPRESSION = frozenset(["", "return", "case", "else", "do", "sizeof"])
_TYPES = frozenset(
    ["void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool"]
)
_NO_TYPE = "enum _"
"""A type that lowering does not know, so that what is declared with it is refused."""
_HARMLESS_TEXT = """aligned alloc_size always_inline artificial assume_aligned cold const deprecated
    fallthrough flatten format gnu_inline hot leaf malloc no_sanitize noclone noinline nonnull
    noreturn nothrow optimize packed pure returns_nonnull section target target_clones unused used
    visibility warn_unused_result maybe_unused nodiscard reproducible unsequenced"""
_HARMLESS = frozenset(_HARMLESS_TEXT.split())
_QUICK = re.compile(
    r"\b__(?:thread|restrict|inline|const|volatile|signed|extension|attribute|typeof)"
    r"|\btypeof\b|\basm\b|__asm|va_arg\b|\[\["
)
_TOKEN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\d[\w.]*|\[\[""")
_PAREN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[()]""")
_LISTED = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[(),]""")
_ASM_WORDS = re.compile(r"\s*(?:(?:__)?(?:volatile|goto|inline)(?:__)?\s*)*")
_NESTED = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_SPACE = re.compile(r"\s*")


def normalise(text: str) -> str:
    """`text` with GNU keywords, attributes and asm replaced."""
    if not _QUICK.search(text):
        return text
    return _normalised(text, variadic=_LIST.search(text) is not None and not _declares_va_arg(text))


def _declares_va_arg(text: str) -> bool:
    """Whether `va_arg` follows a type somewhere, or stands in parentheses, which no macro does."""
    for m in _VA_ARG.finditer(text):
        before = _BEFORE.search(text, max(0, m.start() - 80), m.start())
        assert before is not None
        word, between = before.groups()
        own = word in _TYPES if "*" in between else word not in _EXPRESSION
        if own or text[m.end() : m.end() + 80].lstrip()[:1] == ")":
            return True
    return False


def _normalised(text: str, *, variadic: bool) -> str:
    out: list[str] = []
    at = 0
    while m := _TOKEN.search(text, at):
        out.append(text[at : m.start()])
        at = m.end()
        word = m.group()
        if word in _WORDS:
            out.append(_WORDS[word].ljust(len(word)))
        elif word in _ATTRIBUTE:
            end = _closing(text, at)
            skipped = text[m.start() : end]
            out.append(blank(skipped) if harmless(skipped) else skipped)
            at = end
        elif word == "[[" and (end := text.find("]]", at) + 2) > at:
            skipped = text[m.start() : end]
            known = harmless(f"__attribute__(({skipped[2:-2].replace('gnu::', '')}))")
            out.append(blank(skipped) if known else skipped)
            at = end
        elif word in _TYPEOF and (end := _closing(text, at)) > at:
            out.append(_NO_TYPE + blank(text[m.start() + len(_NO_TYPE) : end]))
            at = end
        elif word == "va_arg" and variadic and (end := _closing(text, at)) > at:
            start = _after(_SPACE, text, _comma(text, at, end))
            if start < end - 1:
                before = _normalised(text[at:start], variadic=variadic)
                out.append(f"{word}{before}0{blank(text[start + 1 : end - 1])})")
                at = end
            else:
                out.append(word)
        elif word in _ASM:
            end = _closing(text, _after(_ASM_WORDS, text, at))
            skipped = text[at:end]
            out.append(word + "(" + blank(skipped)[2:] + ")" if len(skipped) > 1 else skipped)
            at = end
        else:
            out.append(word)
    out.append(text[at:])
    return "".join(out)


_UNTYPED = re.compile(r"\bno-strict-aliasing\b|\b_*may_alias_*\b")
_ALIASING = ("-fstrict-aliasing", "-fno-strict-aliasing")


def strict_aliasing(text: str, flags: Sequence[str]) -> bool:
    """Whether the compiler tells objects apart by their types: neither the last of its options nor
    the text says otherwise."""
    said = [f for f in flags if f in _ALIASING]
    return said[-1:] != [_ALIASING[1]] and not _UNTYPED.search(text)


def harmless(attribute: str) -> bool:
    """Whether every attribute of `__attribute__((...))` leaves the meaning of a loop alone."""
    inner = attribute.partition("(")[2].rstrip()[:-1].strip()
    if not (inner.startswith("(") and inner.endswith(")")):
        return False
    flat = inner[1:-1]
    while (shorter := _NESTED.sub("", flat)) != flat:
        flat = shorter
    names = [n.strip().strip("_") for n in flat.split(",")]
    return all(n in _HARMLESS for n in names if n)


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    m = pattern.match(text, at)
    return m.end() if m else at


def _comma(text: str, at: int, end: int) -> int:
    """The place behind the first comma of an argument list, else its end."""
    depth = 0
    for m in _LISTED.finditer(text, at, end):
        depth += {"(": 1, ")": -1}.get(m.group(), 0)
        if depth == 1 and m.group() == ",":
            return m.end()
    return end - 1


def _closing(text: str, at: int) -> int:
    """The end of the parenthesised group that starts at `at` (after blanks), else `at`."""
    start = _after(_SPACE, text, at)
    if text[start : start + 1] != "(":
        return at
    depth = 0
    for m in _PAREN.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(m.group(), 0)
        if depth == 0:
            return m.end()
    return at
