"""Tokens of the preprocessor are those of the C compiler: numbers, conditions, and what macros put
next to each other."""

from __future__ import annotations

import re
import subprocess

import pytest
from lowering import lower, opaques

from loopxform.errors import InputError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text.preprocess import preprocess
from loopxform.frontend.text.reader import Reader

TOKENS = re.compile(
    r"""L?"(?:\\.|[^"\\])*"|L?'(?:\\.|[^'\\])*'|\.?\d(?:[eEpP][+-]|[\w.])*|\w+|<<=|>>=|->|\+\+
      | --|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\S""",
    re.VERBOSE,
)
MACROS = """#define f 2
#define L 64
#define E 3
#define e5 7
#define EMPTY
#define NEG -1
#define MINUS -
#define STAR *
#define HEX 0xE
#define P(x) x
#define CAT(x, y) x##y
#define LOG(x, ...) log(x __VA_OPT__(,) __VA_ARGS__)
#define SUM(x, ...) (x __VA_OPT__(+ SUM2(__VA_ARGS__, x##x, (#x))) - NEG)
#define SUM2(...) __VA_OPT__(__VA_ARGS__, E)__VA_OPT__()
#define NAMED(x, y...) __VA_OPT__(x, y) x
"""
LINES = [
    *("1.f", "1.5E-3", "1.e5", "3LL", "2.L", "0x1.8p1f", "1E", "5ULL", ".5f", "1.f+E", "0x1p3"),
    *("-NEG", "- NEG", "x-NEG", "-MINUS x", "-P(-x)", "P(-)P(-)x", "+P(+1)", "P(a)P(b)", "P(1)E"),
    *("x/STAR p", "x P(/)P(/) y", "HEX+1", "HEX P(+)1", "&P(&x)", "a P(<)P(<) b", "P(-)>x"),
    *("CAT(1., 5)", "CAT(x, 1)2", "CAT(1, LL)", "x EMPTY+EMPTY+ y", "-EMPTY-x", '"1.f"', "'f'"),
    *("a+++b", "a-- -b", "a<<=1", "p->f", "x?-1:-NEG", "-\\\nNEG"),
    *("LOG(1)", "LOG(1,)", "LOG(1, )", "LOG(E, 2)", "LOG(LOG(1), LOG(2, E))", "LOG(1, (2, 3), 4)"),
    *("SUM(1)", "SUM(1, 2)", "SUM(E, f)", "SUM(1, SUM(2, 3))", "SUM2()", "SUM2(1)"),
    *("NAMED(1)", "NAMED(E, L, 3)"),
]
CONDITIONS = [
    *("5ULL > 3", "2ll == 2", "0b101 == 5", "0xffffffffffffffff > 0", "-1 > 0u", "'\\377' < 0"),
    *("'\\x41' == 65", "'\\0' == 0", "'\\\\' == 92", "010 == 8", "0 ? 1 : 0 ? 0 : 1"),
    *("2 ? 1 : 1 ? 0 : 0", "0 ? 0 : 1 ? 2 ? 3 : 0 : 0", "1 ? 0 ? 0 : 1 : 0", "-7 / 2 == -3"),
    *("(1 ? 2 : 3 ? 4 : 5) == 2", "defined f && f == 2", "L / 10 == 6", "NEG < 0", "- NEG == 1"),
    *("9223372036854775807 + 0u > 0", "18446744073709551615u == -1", "-7 % 3 == -1", "~0 < 0u"),
]


def read(text: str) -> list[str]:
    """The tokens that we read."""
    body = preprocess("t.c", text, CppOptions(), Reader()).text.partition("\nbegin\n")[2]
    return TOKENS.findall(re.sub(r"(?m)^#line.*", "", body))


def test_tokens_are_those_of_the_compiler() -> None:
    conditions = "\n".join(
        f"#if {c}\nyes {n}\n#else\nno {n}\n#endif" for n, c in enumerate(CONDITIONS)
    )
    text = "\n".join((MACROS, "begin", *(f"{line};" for line in LINES), conditions, ""))
    command = ["cc", "-w", "-E", "-P", "-x", "c", "-"]
    theirs = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    assert read(text) == TOKENS.findall(theirs.partition("begin\n")[2])


OPTIONAL = {
    "#define F(x, ...) x ## __VA_OPT__(1)\nF(1);": "beside # or ##, or without parentheses",
    "#define F(x, ...) __VA_OPT__(1) ## x\nF(1);": "beside # or ##, or without parentheses",
    "#define F(...) # __VA_OPT__(x)\nF(1);": "beside # or ##, or without parentheses",
    "#define F(...) __VA_OPT__ x\nF(1);": "beside # or ##, or without parentheses",
    "#define F(...) __VA_OPT__(x\nF(1);": "beside # or ##, or without parentheses",
    "#define N\n#define F(...) __VA_OPT__(x)\nint F(N);\n": "that are nothing once expanded",
}


@pytest.mark.parametrize("text", OPTIONAL)
def test_optional_tokens_that_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=OPTIONAL[text]):
        read(text)
    read("\n".join(line for line in text.splitlines() if line.startswith("#")) + "\nbegin\n")


@pytest.mark.parametrize(
    "text", ["int x = a\\\nb;", "int x = 1\\\n.5;", "x +\\\n+;", "x -\\\n= 1;"]
)
def test_words_go_on_in_no_other_line(text: str) -> None:
    with pytest.raises(InputError, match="continued on the next line is not read"):
        read(f"#define A\nbegin\n{text}\n")


def test_literals_and_comments_go_on_in_another_line() -> None:
    assert read('#define A\nbegin\n"a\\\nb" // c\\\nd\n/* e\\\nf */ g\n')[1:] == ["g"]


UNKNOWN = [
    "#line 7\nvoid f(int n) { n = __LINE__; }",
    "#define P(x) x\nvoid f(int n) { n = P(1 +\n __LINE__); }",
    "#define P(x) x + __LINE__\nvoid f(int n) { n = P(1 +\n 2); }",
    '# 9 "other.c"\nvoid f(int n) { n = 1 + __LINE__; }',
]


@pytest.mark.parametrize("text", UNKNOWN)
def test_numbers_of_lines_that_compilers_count_otherwise(text: str) -> None:
    (statement,) = opaques(lower(text))
    assert "'__LINE__' is not declared" in statement.reason


def test_numbers_of_lines() -> None:
    lines = ("#define P(x) x", "begin", "__LINE__ P(__LINE__) P(", "1) __LINE__")
    text = "\n".join((*lines, "#if __LINE__ == 5", "yes", "#endif", ""))
    assert read(text) == ["3", "3", "1", "4", "yes"]
