"""`loopxform offload`: the report, the files, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Golden

import loopxform as lx
from loopxform.budget import cpu_seconds
from loopxform.cli import main
from loopxform.cli.arguments.offload import options
from loopxform.cli.options import limits
from loopxform.cli.users_names import UsersNames

Capture = pytest.CaptureFixture[str]
PROGRAMS = Path(__file__).parents[2] / "corpus" / "programs"
NAMES = sorted(p.stem for p in PROGRAMS.glob("*.c"))


@pytest.mark.parametrize("name", NAMES)
def test_report(name: str, golden: Golden, capsys: Capture) -> None:
    file = str(PROGRAMS / f"{name}.c")
    assert main(["offload", file, "--report", "--dry-run"]) == 0
    golden.check(capsys.readouterr().out)


def test_it_writes_three_files_and_says_what_became_of_the_parts(
    tmp_path: Path, capsys: Capture
) -> None:
    file = str(PROGRAMS / "jacobi_time.c")
    assert main(["offload", file, "-o", str(tmp_path), "-MD", "--Tx", "8"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("jacobi_time: 5 kernels; 2 loops of the host\n")
    assert "Tx=8 (lx_jacobi_time_4)" in out
    assert "copied" not in out
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {f"jacobi_time{x}" for x in (".cl", ".d", "_opencl.c", "_opencl.h")}
    text = (tmp_path / "jacobi_time_opencl.c").read_text()
    assert "for (t = t_first; lx_job->status == CL_SUCCESS && t < steps; ++t) {" in text


FILE = """#include <stdio.h>
void f(int n, int *a) {
  for (int i = 0; i < n; i++) a[i] = i;
}
int g(int n, int *a) {
  for (int i = 1; i < n; i++) a[i] = a[i - 1] / 3 - a[i];
  return a[0];
}
int main(void) {
  int a[100];
  f(100, a);
  for (int i = 0; i < 100; i++) a[i] += i;
  for (int i = 0; i < 100; i++) printf("%d", a[i]);
  return g(100, a);
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "in.c").write_text(FILE)
    return str(tmp_path / "in.c")


def test_a_file_is_all_its_functions(file: str, capsys: Capture) -> None:
    assert main(["offload", file, "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [x.replace(file, "in.c") for x in lines if not x.startswith(" ")] == [
        "f: 1 kernel",
        "main, line 12: 1 kernel",
        "in.c:6:3: left on the host, in 'g': no loop can run in parallel: i: flow dependence of a, "
        "direction (<): line 6 writes it at i=1 and reads it at i=2 (n=3) [LX062]",
        "in.c:13:33: left on the host, in 'main': the call to 'printf': the order of output would "
        "change [LX012]",
        "summary: 2 loops of 4 on the device, 2 left on the host; what to change, the most work "
        "first:",
    ]


LEFT = """#include <stdio.h>
int main(void) {
  float a[64][64], s = 0;
  int w_2 = 3, i, j;
  for (i = 0; i < 64; i++) for (j = 0; j < 64; j++) a[i][j] = i + j;
  for (i = 0; i < w_2; i++) puts("once");
  for (i = 0; i < 64; i++) for (j = 0; j < 64; j++) s += a[i][j];
  for (i = 1; i < 3; i++) a[i][0] = a[i - 1][0];
  printf("%g", s);
}
"""


COLUMNS = """\
void f(int m, int n, int lda, int ldb, const double {A}, double {B})
{{
  for (int j = 0; j < n; j++)
    for (int k = 0; k < m; k++)
      if (B[k + j * ldb] != 0.0)
        for (int i = 0; i < k; i++)
          B[i + j * ldb] += A[i + k * lda];
}}
"""


def test_loops_around_say_which_size_they_need(tmp_path: Path, capsys: Capture) -> None:
    """And take it."""
    plain = {"A": "*restrict A", "B": "*restrict B"}
    sized = {"A": "A[restrict lda * m]", "B": "B[restrict ldb * n]"}
    for names, summary in (
        (
            plain,
            [
                "summary: 1 loop of 3 on the device, 2 of the host around them; what to change, "
                "the most work first:",
                "  1. line 4, 3 deep: how much of 'A' is touched cannot be told: a condition on "
                "data, or a bound that is not affine, decides [LX040]",
                "     declare how many elements 'A' has: A[n]",
            ],
        ),
        (sized, ["summary: 3 loops of 3 on the device"]),
    ):
        (tmp_path / "f.c").write_text(COLUMNS.format(**names))
        assert main(["offload", str(tmp_path / "f.c"), "--dry-run"]) == 0
        shown = capsys.readouterr().out
        assert shown[shown.index("summary: ") :].splitlines() == summary


def test_what_is_left_is_shown_and_summed_up(tmp_path: Path, capsys: Capture) -> None:
    """With the names of the text, the place, and the largest first."""
    file = tmp_path / "left.c"
    file.write_text(LEFT)
    assert main(["offload", str(file), "--dry-run"]) == 0
    shown = capsys.readouterr().out.replace(str(file), "left.c")
    assert shown.startswith("main, line 5: 1 kernel\n")
    at = shown.index("left.c:7:")
    assert shown[at:].splitlines()[1:5] == [
        "   |",
        " 7 |   for (i = 0; i < 64; i++) for (j = 0; j < 64; j++) s += a[i][j];",
        "   |   ^",
        "   = help: allow it: --fp reassociate",
    ]
    *_, summary = shown.partition("summary: ")
    lines = summary.splitlines()
    assert lines[0].startswith("2 loops of 6 on the device, 4 left on the host; what to change")
    assert [x.partition(":")[0] for x in lines[1:] if x[2].isdigit()] == [
        "  1. line 7, 2 deep",
        "  2. line 6",
        "  3. line 8",
    ]
    assert lines[2] == "     allow it: --fp reassociate"
    assert not {"main_1", "i_2", "i_3", "j_2"} & set(re.findall(r"\w+", summary))


AROUND = """void f(int n, int m, int *a) {
  for (int k = 0; k < m; k++) {
    for (int i = 0; i < n; i++) a[i] = i + k;
    if (k == 3) return;
  }
}
"""


def test_a_loop_around_what_the_device_does_is_counted_apart(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "around.c"
    file.write_text(AROUND)
    assert main(["offload", str(file), "--dry-run"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "summary: 1 loop of 2 on the device, 1 of the host around them"


def test_where_nothing_is_taken_each_reason_is_told(tmp_path: Path, capsys: Capture) -> None:
    """The error is that of the largest nest."""
    file = tmp_path / "none.c"
    file.write_text(
        "#include <stdio.h>\nvoid f(int n, double *a, double *s) {\n"
        '  for (int i = 0; i < n; i++) puts("");\n'
        "  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) s[0] = s[0] * a[j] + s[0];\n"
        "}\nvoid g(int n) { for (int i = 0; i < n; i++) getchar(); }\n"
    )
    assert main(["offload", str(file), "--dry-run"]) in (1, 2)
    out, err = capsys.readouterr()
    assert out.count("left on the host, in") == 3
    assert "summary: 0 loops of 4 on the device, 4 left on the host" in out
    assert err.startswith(f"{file}:4:3: error: no loop can run in parallel")


def test_what_sets_memory_is_no_loop(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "clear.c"
    head = "#include <string.h>\n#define memcpy_P memcpy\n"
    file.write_text(
        f"{head}void f(int n, int *x, const int *y) {{\n"
        "  memset(x, 0, n * sizeof *x);\n  x += 2;\n  memcpy_P(x, y, n * sizeof *x);\n}\n"
    )
    assert main(["offload", str(file), "--dry-run"]) == 0
    lines = [x.split()[:3] for x in capsys.readouterr().out.splitlines() if "line" in x[:6]]
    assert lines == [["line", "4", "memset"], ["line", "6", "memcpy_P"]]


def test_names_are_the_users(tmp_path: Path) -> None:
    file = tmp_path / "names.c"
    file.write_text("void f(int n, int *x_2) { for (int i = 0; i < n; i++) x_2[i] = 1; } /* y */\n")
    users = UsersNames(lx.load(file))
    given = ("x_2", "x_2_acc", "i_3_2", "i#2", "i_t", "y_2", "n_2_loc", "lx_f_2", "Ty", "i_two")
    given = (*given, "ii", "ii_c")
    assert [users.of(x) for x in given] == [
        *("x_2", "x_2", "i", "i", "i", "y_2", "n", "lx_f_2", "Ty", "i_two", "i", "i")
    ]
    assert users.in_text("writes x_2_acc at i_3=1 (2*n_2)") == "writes x_2 at i=1 (2*n)"
    file.write_text("struct s { int sum; }; void f(struct s *s) { s->sum = 1; }\n")
    users = UsersNames(lx.load(file))
    assert [users.of(x) for x in ("s_sum_acc", "s_sum", "s_2")] == ["s.sum", "s.sum", "s"]


def test_functions_are_named(file: str, capsys: Capture) -> None:
    """One that is named runs on the device whatever it costs."""
    asked = ["--function", "g", "--function", "f"]
    assert main(["offload", file, "--dry-run", *asked]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [x for x in lines if not x.startswith(" ")] == [
        "f: 1 kernel",
        "g, line 6: 1 kernel, 1 of them on one work-item",
        "summary: 2 loops of 2 on the device",
    ]


@pytest.mark.parametrize("named", [[], ["--function", "f"]])
def test_loops_on_numbers_of_the_host(named: list[str], tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "in.c"
    text = "void f(int n) {\n  int t = 1;\n  while (t < n) { if (n > 9) break; t *= 2; }\n}\n"
    file.write_text(text)
    assert main(["offload", str(file), "--dry-run", *named]) == 2
    said = "in.c:3:3: error: the loops compute nothing but scalars, which the host needs itself"
    assert said in capsys.readouterr().err


def test_a_function_that_is_named_and_has_nothing_to_offload(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "in.c"
    file.write_text(FILE + 'void h(int n) { while (n--) puts(""); }\nint k;\n')
    assert main(["offload", str(file), "-o", str(tmp_path / "o"), "--function", "h"]) == 2
    assert "the call to 'puts'" in capsys.readouterr().err
    assert main(["offload", str(file), "-o", str(tmp_path / "o"), "--function", "nix"]) == 2
    assert "there is no function 'nix'" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_a_macro_that_would_change_what_is_written(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "in.c"
    file.write_text("#define LX_LOCAL 3\n" + FILE)
    assert main(["offload", str(file), "-o", str(tmp_path / "o")]) == 2
    assert "the macro 'LX_LOCAL' would change the C that is written" in capsys.readouterr().err


def test_steps_are_shown(capsys: Capture) -> None:
    file = str(PROGRAMS / "c89_filter.c")
    assert main(["offload", file, "--show-steps", "--dry-run", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "scalar-to-memory mean" in out
    assert "  unit-loop 4 3 once" in out


@pytest.mark.parametrize(
    ("text", "status", "why"),
    [
        (
            "int f(int n, int *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1] / 3; return 3; }",
            1,
            "flow",
        ),
        ("void f(int *a) { a[0] = 1; }", 2, "no function of the file has a loop nest"),
        ("void f(int n, int *a) { while (a[0]) a[0]--; while (a[n]) a[n]--; }", 2, "while"),
        (
            "volatile int g[9]; void f(int n) { for (int i = 0; i < n; i++) g[i] = i; }",
            2,
            "volatile",
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, capsys: Capture, text: str, status: int, why: str) -> None:
    file = tmp_path / "in.c"
    file.write_text(text)
    assert main(["offload", str(file), "-o", str(tmp_path / "out")]) == status
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_complex_numbers_are_left_to_the_host_or_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "c.c").write_text(
        "void f(int n, double _Complex *a) { for (int i = 0; i < n; i++) a[i] *= 2; }\n"
        "void g(int n, float *b) { for (int i = 0; i < n; i++) b[i] *= 2; }\n"
    )
    command = ["offload", str(tmp_path / "c.c"), "--dry-run"]
    assert main(command) == 0
    said = "c.c:1:32: left on the host, in 'f': 'a' has type double _Complex *"
    assert said in capsys.readouterr().out
    assert main([*command, "--function", "f"]) == 2
    assert "c.c:1:32: error: 'a' has type double _Complex *" in capsys.readouterr().err


def hard(count: int) -> str:
    """A function of our own kind of trouble: many subscripts with remainders, in one nest."""
    lines = "".join(
        f"    if (i % {k % 5 + 2} == {k % 2})\n"
        f"      A[i / {k % 3 + 2} + {k}] = A[i * {k % 4 + 1} % {k + 3}];\n"
        for k in range(count)
    )
    return f"void hard(int n, float *A) {{\n  for (int i = 1; i < n - 1; i++) {{\n{lines}  }}\n}}\n"


EASY = "void easy(int n, float *a) {\n  for (int i = 0; i < n; i++) a[i] = 2 * a[i];\n}\n"


def test_what_is_too_hard_stays_as_it_is_and_is_not_kept(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is shared by the functions; a result that was cut short is made anew."""
    monkeypatch.setenv("LOOPXFORM_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "f.c"
    file.write_text(hard(60) + EASY)
    command = ["offload", str(file), "-o", str(tmp_path), "--time-limit", "2"]
    for _ in range(2):
        began = cpu_seconds()
        assert main(command) == 0
        assert 1 < cpu_seconds() - began < 8
        said = capsys.readouterr().out
        why = "time limit: too hard to analyse within it [LX104]"
        assert f"left on the host, in 'hard': {why}" in said
        assert "easy: 1 kernel" in said
    assert "lx_try_easy" in (tmp_path / "f_opencl.c").read_text()
    assert "lx_try_hard" not in (tmp_path / "f_opencl.c").read_text()


def test_a_loop_that_is_too_hard_leaves_time_for_the_others(
    tmp_path: Path, capsys: Capture
) -> None:
    file = tmp_path / "f.c"
    head, _, body = hard(60).partition("{\n")
    easy = "  for (int i = 0; i < n; i++) A[i] = 2 * A[i];\n"
    text = f"{head}{{\n{body.rstrip()[:-1]}  puts(A);\n{easy}  return 1;\n}}\n"
    file.write_text(text.replace("void", "int"))
    began = cpu_seconds()
    assert main(["offload", str(file), "-o", str(tmp_path), "--time-limit", "2"]) == 0
    assert cpu_seconds() - began < 6
    said = capsys.readouterr().out
    assert "f.c:2:3: left on the host, in 'hard': time limit" in said
    assert f"hard, line {text.count(chr(10)) - 2}: 1 kernel" in said


def test_the_time_that_is_left_out_is_by_the_lines(tmp_path: Path) -> None:
    def seconds(lines: int, *given: str) -> float:
        file = tmp_path / "f.c"
        file.write_text("\n" * lines)
        return limits(options().parse_args([*given, str(file)]))[0]

    assert [seconds(n) for n in (0, 10, 1000, 1001, 3500)] == [30, 30, 30, 60, 120]
    assert seconds(10, "--time-limit", "7") == 7


def test_a_function_that_is_too_hard_is_not_tiled(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "f.c"
    apart = "".join(f"A[2*(60*i + {k})] = A[2*(i*{k % 4 + 1} % {k + 3}) + 1];" for k in range(60))
    file.write_text(
        f"void hard(int n, float *A) {{\n  for (int i = 0; i < n; i++) {{ {apart} }}\n}}\n"
    )
    assert main(["tile", str(file), "-o", str(tmp_path), "--time-limit", "0.5"]) == 2
    said = capsys.readouterr().err
    assert "time limit: too hard to analyse within it" in said
    assert "--time-limit allows more" in said
    assert not list(tmp_path.glob("*_opencl.c"))


def test_what_is_passed_is_told_as_it_is_written(tmp_path: Path, capsys: Capture) -> None:
    """Parameters of what stands for loops are no names of the user's."""
    path = tmp_path / "f.c"
    path.write_text(
        "static double t; static int size[2]; struct s { double x; int n; };\n"
        "double g(void) { return t; }\n"
        "void f(double *x) {\n"
        "  for (int i = 0; i < size[1]; i++) { t = i; x[i] = t; }\n"
        "}\n"
        "int h(double *x, struct s *p) { struct s q = *p; p = &q;\n"
        "  for (int i = 0; i < q.n; i++) x[i] = p->x; return 0; }\n"
    )
    main(["offload", str(path), "--report", "--dry-run"])
    said = capsys.readouterr().out
    assert "size[1]" in said
    assert "  out       t   " in said
    assert not re.search(r"\b(t_out|size_1|q_at)\b", said)


JUMPS = """int f(int n, int *a, int m)
{
  for (int i = 0; i < n; i++) {
    if (a[i] == 7)
      return i;
    a[i] = 2;
  }
  for (int i = 0; i < n; i++)
    a[i] = m;
  switch (m) {
  case 0:
    for (int i = 0; i < n; i++) {
  case 1:
      a[i] = 4;
    }
  }
  for (int k = 0; k < n; k++) {
    if (a[k] > m)
      goto out;
    a[k] = m;
  }
out:
  return 0;
}
"""


def test_jumps_are_told_by_their_words(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "jumps.c"
    file.write_text(JUMPS)
    main(["offload", str(file), "--dry-run"])
    lines = re.findall(r"jumps.c:(\d+:\d+): left on the host, in 'f': (.*) \[LX(?:011|249)\]",
                       capsys.readouterr().out)  # fmt: skip
    assert lines == [
        ("6:5", "a return leaves a loop whose iterations before set a[i]"),
        ("13:3", "a switch may enter the loops"),
        ("10:3", "a switch"),
        ("19:7", "'goto out' may leave the loops"),
    ]


IN_ORDER = {
    "for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i] + b[i];": (
        "; scan of x (linear recurrence, inclusive)"
    ),
    "for (int i = 0; i < n - 1; i++) a[i] = a[b[i] + 1] + 1;": (
        "i: flow dependence of a, direction (<), could not be excluded"
    ),
    "if (a[0] > 3) for (int i = 2; i < n; i++) a[i] = a[i - 1] ^ a[i - 2];": (
        "i: flow dependence of a, direction (<), could not be excluded"
    ),
}


@pytest.mark.parametrize("body", IN_ORDER)
def test_what_keeps_iterations_in_order_is_said(body: str) -> None:
    head = "int n, int *restrict a, const int *restrict b, float *restrict x"
    text = f"void f({head}) {{ {body} }}"
    (part,) = (p for p in lx.loads(text)["f"].offload().parts if "i" in p.loops)
    assert part.kind == "one work-item"
    assert IN_ORDER[body] in part.why


def test_conditions_that_follow_from_others_are_not_shown(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "f.c").write_text(
        "void f(int n, int m, int w, float *a, const float *b) {\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i*w + j] = b[i*w + j]; }\n"
    )
    assert main(["offload", str(tmp_path / "f.c"), "--dry-run", "--report"]) == 0
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("  in        a "))
    asked = line.partition(", where ")[2].partition(":")[0]
    assert sorted(asked.split(" && ")) == ["m >= 1", "n >= 2", "w >= m + 1"]
