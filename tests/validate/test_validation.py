"""The validator: kernels as they are written are proven, with a mistake in them they are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopxform.cli import main
from loopxform.validate.validation import Verdict, validate

PRODUCT = """void product(int M, int U, int N, const float A[M][U], const float B[U][N],
             float C[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float acc = 0;
      for (int k = 0; k < U; k++)
        acc += A[i][k] * B[k][j];
      C[i][j] = acc;
    }
}
"""
BLUR = """void blur(int h, int w, const float in[h][w], float out[h][w])
{
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      out[i][j] = (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]) / 4.0f;
}
"""
TURN = """void turn(int n, int m, const double *a, double *b)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[j * n + i] = a[i * m + j];
}
"""
CLAMPED = """void clamped(int n, const int *restrict a, int *restrict b)
{
  for (int i = 0; i < n; i++) {
    int last = i + 1 < n ? i + 1 : n - 1;
    if (a[i] > 3)
      b[i] = a[last] - a[i];
    else
      b[i] = 0;
  }
}
"""
COUNTS = """void counts(int n, int m, const unsigned char a[n], int h[256])
{
  for (int i = 0; i < n; i++)
    h[a[i]]++;
}
"""
STEPS = ("parallelise i", "stripmine i 16 ii", "map ii group.x", "map i thread.x")
SMALL = ("--Ty", "2", "--Tx", "4", "--Tk", "8", "--Ry", "2", "--Rx", "2")


def written(folder: Path, text: str, *options: str) -> tuple[Path, Path, Path]:
    """The kernel, the host code and the C of a program."""
    source = folder / "f.c"
    source.write_text(text)
    assert main(["tile", str(source), "-o", str(folder), "-q", *options]) == 0
    return folder / "f.cl", folder / "f_opencl.c", source


def edited(folder: Path, before: str, after: str) -> None:
    """Plants a mistake in the kernel, and in the text that the host code holds."""
    for name, held in (("f.cl", False), ("f_opencl.c", True)):
        lines = (folder / name).read_text().splitlines(keepends=True)
        old, new = (x.replace("?", "\\?") if held else x for x in (before, after))
        at = next(n for n, x in enumerate(lines) if old in x and x.startswith('  "') >= held)
        lines[at] = lines[at].replace(old, new, 1)
        (folder / name).write_text("".join(lines))


def verdict(folder: Path, text: str, *options: str) -> Verdict:
    kernel, host, source = written(folder, text, *options)
    return validate(kernel, source, host=host)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        pytest.param(PRODUCT, SMALL, id="register tiles"),
        pytest.param(BLUR, (), id="naive"),
        pytest.param(TURN, (), id="transposition"),
        pytest.param(CLAMPED, (), id="conditions"),
    ],
)
def test_proven(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    v = verdict(tmp_path, text, *options)
    assert (v.status, v.reason) == ("proven", "")
    assert v.kernels


ROWS = """void rows(int n, int m, const float a[restrict n][m], float y[restrict n])
{
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < m; j++)
      s += a[i][j];
    y[i] = s;
  }
}
"""


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", "", ""),
        ("from[(at) + lx_k]", "from[(at) + lx_k + 1]", "another LX_TURN_TILE than the known one"),
        ("v[lx_k].hi", "v[lx_k].lo", "another LX_TRANSPOSE than the known one"),
        ("LX_TURN_TILE(float, 16,", "LX_TURN_TILE(float, 4,", "nothing was stored to"),
        ("(i_v + c0)*m + j_b", "(i_v + c0)*m + 0", "another element of a"),
        ("LX_TURN_TILE(float, 16,", "LX_TURN_TILE(float, 3,", "tiles of 3 rows"),
    ],
)
def test_tiles_that_are_turned(tmp_path: Path, before: str, after: str, found: str) -> None:
    kernel, host, source = written(tmp_path, ROWS, "--profile", "pocl")
    if before:
        edited(tmp_path, before, after)
    v = validate(kernel, source, host=host)
    assert (v.status == "proven") == (not before)
    assert found in v.reason, v.reason


SHORTS = """void shorts(int n, unsigned short *restrict a, const unsigned short *restrict b)
{
  for (int i = 0; i < n; i++)
    a[i] = 7 - b[i];
}
"""


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", "", ""),
        ("b_reg[3] = v.s3", "b_reg[3] = v.s2", "another element of b"),
        ("8, &b[i_v], uint4", "8, &b[i_v + 1], uint4", "b may be read out of bounds"),
        ("a_reg[a_reg_e + 3]", "a_reg[a_reg_e + 2]", "another element of b"),
        ("as_uint((type##2)(a, b)", "as_uint((type##2)(b, a)", "compilers read in two forms"),
        ("const words *)(at)", "const int *)(at)", "compilers read in two forms"),
        ("as_uint((type##2)(a, b))", "vload2((type##2)(a, b))", "in two forms"),
        ("const words *)(at)", "const words *)(at + 1)", "a vector at a place that is computed"),
        ("const ushort8 v", "const short8 v", "a vector of another type than the array has"),
    ],
)
def test_vectors(tmp_path: Path, before: str, after: str, found: str) -> None:
    kernel, host, source = written(tmp_path, SHORTS, "--profile", "h100")
    if before:
        edited(tmp_path, before, after)
    v = validate(kernel, source, host=host)
    assert (v.status == "proven") == (not before)
    assert found in v.reason, v.reason


MISTAKES = [
    (PRODUCT, "  barrier(CLK_LOCAL_MEM_FENCE);\n", "", "two items may race for"),
    (PRODUCT, "kk + k < U", "kk + k < U - 1", ""),
    (PRODUCT, "(ii + i)*N + (jj + j)] = acc", "(ii + i)*N + (jj + j)] = 2 * acc", "not"),
    (PRODUCT, "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "two items may race for"),
    (PRODUCT, "A_reg[i] * B_reg[j]", "A_reg[j] * B_reg[i]", "another element of"),
    (PRODUCT, "min(iii + c0, M - 1)", "min(iii + c0, M)", "out of bounds"),
    (BLUR, "i < h - 1", "i < h - 2", "what out held at the start"),
    (BLUR, "i < h - 1", "i <= h - 1", "out of bounds"),
    (BLUR, "(i - 1)*w", "(i + 0)*w", "another element of in"),
    (BLUR, "4.0f", "4.5f", "the number 4.5"),
    (CLAMPED, "> 3", "> 4", "another number"),
    (CLAMPED, " - a[i]", " + a[i]", "+, not -"),
]


@pytest.mark.parametrize(("text", "before", "after", "reason"), MISTAKES)
def test_a_mistake_is_found(
    tmp_path: Path, text: str, before: str, after: str, reason: str
) -> None:
    options = SMALL if text is PRODUCT else ()
    kernel, host, source = written(tmp_path, text, *options)
    edited(tmp_path, before.strip() if before.startswith(" ") else before, after)
    v = validate(kernel, source, host=host)
    assert (v.status, reason in v.reason) == ("wrong", True), v


@pytest.mark.parametrize(
    ("before", "after"),
    [("int i_c = ii;", "ushort i_c = ii;"), ("int i_c = ii;", "uint i_c = ii - 1;")],
)
def test_counters_that_leave_their_type(tmp_path: Path, before: str, after: str) -> None:
    text = "void f(int n, const float *restrict a, float *restrict b)\n"
    text += "{\n  for (int i = 0; i < n; i++)\n    b[i] = a[i] * 2;\n}\n"
    kernel, host, source = written(tmp_path, text, "--profile", "h100")
    edited(tmp_path, before, after)
    v = validate(kernel, source, host=host)
    assert (v.status, v.reason) == ("unmodelled", "a number that its type may not hold")


def test_a_launch_that_is_too_small(tmp_path: Path) -> None:
    kernel, host, source = written(tmp_path, BLUR)
    text = host.read_text()
    step = next(x for x in text.splitlines() if x.startswith("  lx_step(lx_job, 0, "))
    host.write_text(
        text.replace(step, step.replace("(long long)w + 16 - 3", "(long long)w + 12", 1))
    )
    assert host.read_text() != text
    assert validate(kernel, source, host=host).status == "wrong"


def test_the_host_code_holds_another_kernel(tmp_path: Path) -> None:
    kernel, host, source = written(tmp_path, BLUR)
    kernel.write_text(kernel.read_text().replace("4.0f", "4.5f"))
    v = validate(kernel, source, host=host)
    assert v.status == "unmodelled"
    assert "which the host code holds otherwise" in v.reason


def test_what_is_not_modelled_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, _, source = written(tmp_path, COUNTS)
    assert main(["validate", str(kernel), "--from", str(source)]) == 3
    what = "a store at a place that data decide"
    message = f"{source}:4: not proven: the validator does not model {what}"
    assert message in capsys.readouterr().err


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel, _, source = written(tmp_path, BLUR)
    assert main(["validate", str(kernel), "--from", str(source)]) == 0
    said = capsys.readouterr().out
    assert said == f"{kernel}: proven: lx_blur computes what {source} does, for all sizes\n"
    assert main(["validate", str(kernel), "--from", str(source), "--json", "-"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["kernels"]) == ("proven", ["lx_blur"])
    edited(tmp_path, "4.0f", "4.5f")
    assert main(["validate", str(kernel), "--from", str(source)]) == 1
    told = capsys.readouterr().err
    assert "error: not proven: the number 4.5, not 4 [LX247]" in told
    assert "out[" in told or "v[" in told  # the line of the kernel
    other = tmp_path / "other.c"
    for text, reason in (
        (None, "there is no file"),
        ("int x;\n", "has no function 'blur'"),
        ('#include "nowhere.h"\n', "the preprocessor refuses the C"),
    ):
        if text is not None:
            other.write_text(text)
        assert main(["validate", str(kernel), "--from", str(other)]) == 2
        assert reason in capsys.readouterr().err


def test_where_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.c"
    source.write_text(TURN)
    for words in (["tile", "--dry-run"], ["tile", "--target", "openmp"], ["offload", "--dry-run"]):
        assert main([words[0], str(source), "--validate", *words[1:]]) == 2
        assert "--validate has no kernels to look at" in capsys.readouterr().err
    assert [x.name for x in tmp_path.iterdir()] == ["f.c"]


@pytest.mark.parametrize(
    "words",
    [
        ["tile"],
        ["offload"],
        ["apply", *(w for s in STEPS for w in ("--do", s)), "--emit", "opencl"],
    ],
    ids=lambda words: words[0],
)
def test_what_is_written_is_validated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    source = tmp_path / "f.c"
    source.write_text(TURN)
    assert main([words[0], str(source), *words[1:], "-o", str(tmp_path), "--validate"]) == 0
    said = capsys.readouterr().out
    assert f"{tmp_path / 'f.cl'}: proven: lx_turn" in said
