"""Conditionals of a file: what of it is read, and lines that ask the same again."""

from __future__ import annotations

import pytest

from loopxform.frontend.outline.conditionals import Conditionals
from loopxform.frontend.parsed import CppOptions

BRANCHES = """#define WIDE
void f(int n)
{
#if LEVEL > 2
  int a = LEVEL;
#elif defined(WIDE) && \\
      !defined(NARROW)
  int b;
  #ifdef DEEP
  int c;
  #endif
#else
  int d;
  #ifdef WIDE
  int e;
  #endif
#endif
}
"""


def conditionals(text: str, *defines: str) -> Conditionals:
    return Conditionals("f.c", text, frozenset(), CppOptions(defines=defines))


@pytest.mark.parametrize(
    ("defines", "kept"),
    [
        ((), "b"),
        (("LEVEL=3",), "a"),
        (("DEEP",), "bc"),
        (("NARROW",), "de"),
        (("LEVEL=3", "NARROW"), "a"),
    ],
)
def test_what_is_read(defines: tuple[str, ...], kept: str) -> None:
    found = conditionals(BRANCHES, *defines)
    assert [x for x in "abcde" if f"int {x}" in found.read] == list(kept)
    assert len(found.read) == len(BRANCHES)
    assert "#if" not in found.read
    assert "#define WIDE" in found.read


def asked(text: str, *defines: str) -> list[str]:
    return list(conditionals(text, *defines).questions("OTHER", 0, len(text)))


def test_the_same_is_asked_again() -> None:
    assert asked(BRANCHES) == [
        "#if LEVEL > 2",
        "#define OTHER 1",
        "#elif defined(WIDE) &&        !defined(NARROW)",
        "#ifdef DEEP",
        "#define OTHER 1",
        "#endif",
        "#else",
        "#define OTHER 1",
        "#endif",
    ]
    assert asked("#ifdef A\nx\n#endif\n", "A") == ["#ifdef A", "#else", "#define OTHER 1", "#endif"]
    assert asked("#ifndef A\nx\n#endif\n", "A") == ["#ifndef A", "#define OTHER 1", "#endif"]
    assert asked("x\n") == []


@pytest.mark.parametrize("defines", [(), ("LEVEL=3",), ("DEEP",), ("NARROW",), ("NARROW", "DEEP")])
def test_the_answer_is_another_where_other_text_is_read(defines: tuple[str, ...]) -> None:
    text = "\n".join(["#define WIDE", *asked(BRANCHES), "#ifdef OTHER", "word", "#endif", ""])
    assert ("word" in conditionals(text, *defines).read) == bool(defines)


def test_what_straddles() -> None:
    text = "a\n#if X\nb\n#else\nc\n#endif\nd\n"
    found = conditionals(text, "X")

    def first(start: str, end: str) -> str | None:
        d = found.straddling(text.index(start), text.index(end) + 1)
        return None if d is None else d.kind

    assert first("a", "d") is None
    assert first("b", "b") is None
    assert first("a", "b") == "if"
    assert first("b", "d") == "else"
    assert first("c", "d") == "endif"


def test_where_a_place_is() -> None:
    text = "A\n#if X\nB\n#if Y\nC\n#else\nD\n#endif\n#endif\nE\n"
    found = conditionals(text)
    places = {x: found.around(text.index(f"{x}\n", text.index("\n") - 1)) for x in "ABCDE"}
    assert [len(places[x]) for x in "ABCDE"] == [0, 1, 2, 2, 0]
    assert places["C"][0] == places["D"][0] == places["B"][0]
    assert places["C"] != places["D"]
    at = {x: text.index(f"{x}\n", text.index("\n") - 1) for x in "ABCDE"}

    def above(names: str) -> int:
        return found.above([at[x] for x in names])

    assert above("A") == above("AE") == at["A"]
    assert above("BE") == above("DE") == text.index("#if X")
    assert above("BD") == at["B"]
    assert above("CD") == text.index("#if Y")
    assert above("DD") == at["D"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("#ifdef A\n#endif\n#define B\n", None),
        ("#define B\n#ifdef A\n#endif\n", "ifdef"),
        ("#if 0\n#define B\n#endif\n#ifdef A\n#endif\n", None),
        ("#if __LINE__ > 7\n#endif\n", "if"),
        ("#ifdef A\n#undef A\n#elif B\n#endif\n", None),
    ],
)
def test_what_may_be_answered_otherwise_in_front(text: str, kind: str | None) -> None:
    found = conditionals(text).unrepeatable(0, len(text))
    assert (found.kind if found else None) == kind
