"""What `check` prints for people: nothing that says nothing, and every loop by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopxform import loads
from loopxform.analysis.verdict import LoopVerdict
from loopxform.cli import main
from loopxform.cli.check_text import LEGEND, words

MAIN = """#include <stdio.h>
int main(int argc, char **argv)
{
  int n = argc; float a[100];
  for (int i = 0; i < n; i++) printf("%s", argv[i]);
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i]+=j; for(int i = 0; i<3; i++) a[i]=0;
  return 0;
}
"""


def test_main(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.c").write_text(MAIN)
    assert main(["check", str(tmp_path / "m.c")]) == 0
    out = capsys.readouterr().out
    assert "opaque" not in out
    assert "argc " not in out.partition("kind")[2]
    assert out.count("line 5 is not modelled: it may depend on everything") == 1
    assert [x.split("  ")[-1] for x in out.splitlines() if x.startswith("    6 |")] == [
        "i at column 3: yes",
        "j at column 31: reduction (+ of a[i])",
        "i at column 68: yes",
    ]


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("i = 0, j = 1; i < n; i *= 3, j++", "i"),
        ("; a[0] < n; i++", "i"),
        ("; i < n; --j", "j"),
        ("; i < n; i *= 2", "i"),
        ("; n == i; i = i * 3", "i"),
        ("a[0] = 0; a[0] < 3; a[0]++", ""),
        ("*p = 0; *p < n; (*p)++", ""),
        (";;", ""),
        ("double y = 0; y < 1; y += 0.1", "y"),
        ("unsigned long int m = 0; m * m < 10; m++", "m"),
        ("int *q = p; q < (int *)a; q++", "q"),
        ("i\n= 0; i < n; i = i * 3 + 1", "i"),
    ],
)
def test_variables_of_loops_that_are_not_modelled(header: str, name: str) -> None:
    text = f"void f(int n, float *a, int *p) {{ int i = 0, j = 0;\n for ({header}) a[i] = j; }}"
    (verdict,) = loads(text)["f"].check()
    assert verdict.parallel == ("no" if "i *" in header else "unknown")
    assert verdict.var == name


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ("ab ac", "a and b do not overlap, a and c do not overlap"),
        ("ab ac bc", "no two of a, b, c overlap"),
        ("ad bd cd", "d overlaps none of a, b, c"),
        ("ac bc ad bd cd", "c, d overlap neither each other nor a, b"),
        ("ab bc cd", "a and b do not overlap, b and c do not overlap, c and d do not overlap"),
    ],
)
def test_many_arrays_that_do_not_overlap(pairs: str, text: str) -> None:
    assumes = tuple(f"{a} and {b} do not overlap" for a, b in pairs.split())
    verdict = LoopVerdict((), None, "i", 0, "yes", assumes=(*assumes, "n > 0"))
    assert words(verdict) == f"yes (if {text}, n > 0)"


def test_what_several_lines_have_in_common_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.c").write_text(
        "void g(int);\nvoid f(int n)\n{\n  for (int i = 0; i < n; i++) {\n    g(i);\n"
        "    g(n);\n  }\n}\n"
    )
    assert main(["check", str(tmp_path / "m.c")]) == 0
    out = capsys.readouterr().out
    assert out.count("the effects of calling 'g' are not known") == 1
    assert "the effects of calling 'g' are not known (lines 5, 6)\n" in out


def test_signs_are_explained_where_there_are_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.c").write_text(
        "void f(int n, int *a)\n{ for (int i = 0; i < n; i++) a[i] = 0; }\n"
    )
    assert main(["check", str(tmp_path / "m.c")]) == 0
    assert LEGEND not in capsys.readouterr().out
    (tmp_path / "m.c").write_text(
        "void f(int n, int *a)\n{ for (int i = 1; i < n; i++) a[i] = a[i - 1]; }\n"
    )
    assert main(["check", str(tmp_path / "m.c")]) == 0
    assert capsys.readouterr().out.endswith(f"\n{LEGEND}\n")
