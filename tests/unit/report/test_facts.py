"""What a report is made of: verdicts with reasons and remedies, derivations, kernels, gains."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopxform as lx
from loopxform.floating_point import PERMITTED
from loopxform.report.build import file_report
from loopxform.report.facts import FileFact, FunctionFact
from loopxform.report.mapping import Wanted
from loopxform.targets.profile import profile

CORPUS = Path(__file__).parents[3] / "corpus"

SUM = """
void f(int n, const float *restrict x, float *restrict s)
{
  float t = 0;
  for (int i = 0; i < n; i++)
    t += x[i];
  s[0] = t;
}
"""


def report(file: lx.File, profile_name: str = "generic") -> FileFact:
    wanted = Wanted(profile(profile_name), PERMITTED["contract"], True, "")
    return file_report(file, "f", wanted)


def function(facts: FileFact, name: str) -> FunctionFact:
    return next(f for f in facts.functions if f.name == name)


def test_a_product(mm: FileFact) -> None:
    (f,) = mm.functions
    assert [(x.line, x.var, x.verdict, x.mapped, x.time) for x in f.loops] == [
        (5, "i", "yes", "register", ""),
        (6, "j", "yes", "", ""),
        (8, "k", "reduction", "", ""),
    ]
    assert mm.command == f"loopxform tile {CORPUS}/mm.c"
    assert "--size M=513,U=129,N=1025" in f.verify
    (gain,) = f.gains
    assert gain.what == "restrict on A, B, C"
    assert gain.lines == (5, 6)
    (part,) = f.mappings[0].parts
    assert [t.title for t in part.tables][:2] == ["Data", "Transactions of global memory"]
    assert len(part.pictures) == 2
    assert part.gain.startswith("7.31 times the speed")


def test_a_profile_with_rates_predicts_times() -> None:
    (f,) = report(lx.load(f"{CORPUS}/nests/dft.c"), "h100").functions
    assert f.loops[0].time.endswith("s")
    assert f.mappings[0].parts[0].time == f.loops[0].time


def test_of_several_variants_one_is_derived_and_all_are_told() -> None:
    text = "void f(int n, const float x[n][n], float *restrict y)\n{\n"
    text += "  for (int i = 0; i < n; i++) {\n    float s = 0;\n"
    text += "    for (int j = 0; j < n; j++) s += x[i][j];\n    y[i] = s;\n  }\n}\n"
    wanted = Wanted(profile("h100"), PERMITTED["reassociate"], True, " --fp reassociate")
    facts = file_report(lx.loads(text), "f", wanted)
    (made,) = facts.functions[0].mappings
    assert len(made.variants) > 1
    assert made.variants[-1].guard == ()
    assert all(v.guard for v in made.variants[:-1])
    assert made.shown.startswith("variant ")
    assert made.stages[-1].title.startswith("Variant ")


def test_a_derivation_marks_the_lines_that_are_new(mm: FileFact) -> None:
    (made,) = mm.functions[0].mappings
    first, parallel, tiles, *_ = made.stages
    assert not first.steps
    assert not any(line.is_new for line in first.lines)
    new = [line.text.strip() for line in parallel.lines if line.is_new]
    assert [text.partition(" ")[0] for text in new] == ["forall", "forall"]
    assert parallel.gone == 2
    assert tiles.title == "Listing 3: Stripmining of all loops"
    assert tiles.steps[0][0] == "stripmine i Ty*Ry iii"
    assert made.stages[-1].lines[0].text.startswith("forall (iii")


def test_the_lines_of_a_kernel_lead_to_those_that_they_come_from(mm: FileFact) -> None:
    (made,) = mm.functions[0].mappings
    (kernel,) = made.kernels
    found = {text.strip(): lines for text, lines in kernel.lines if lines}
    assert found["acc[i][j] = 0;"] == (7,)
    assert found["acc[i][j] += A_reg[i] * B_reg[j];"] == (9,)
    assert found["C[(ptrdiff_t)(ii + i)*N + (jj + j)] = acc[i][j];"] == (10,)
    assert found["for (int kk = 0; kk < U / Tk * Tk; kk += Tk) {"] == (8,)
    levels = [(b.level, b.line) for b in kernel.tree if b.level]
    assert levels[:4] == [("grid", 5), ("grid", 6), ("group", 5), ("group", 6)]
    written = lx.load(f"{CORPUS}/mm.c")["mm"].tile().kernel
    assert all(text in written for text, _ in kernel.lines)


@pytest.mark.parametrize(
    ("name", "line", "verdict", "claim", "remedy"),
    [
        ("one_back", 6, "no", "wrong", "remove the pragma: nothing short of that makes it right"),
        ("even_and_odd", 20, "yes", "proven", ""),
        ("scattered", 89, "unknown", "not proven", ""),
    ],
)
def test_an_openmp_loop(
    name: str, line: int, verdict: str, claim: str, remedy: str, races: FileFact
) -> None:
    (loop,) = function(races, name).loops
    assert (loop.line, loop.verdict) == (line, verdict)
    assert loop.claim is not None
    assert loop.claim.answer == claim
    assert [f.remedy for f in loop.claim.findings] == ([remedy] if claim != "proven" else [])
    if verdict == "no":
        (reason,) = loop.findings
        assert (reason.code, reason.witness) == ("LX101", "i=1 and i=2 (n=3)")
        assert "<svg" in reason.picture
        assert reason.meaning
        assert reason.remedy
        (refused,) = function(races, name).refusals
        assert refused.code == "LX062"
        assert refused.remedy == "allow it: --fp reassociate"
    if verdict == "unknown":
        assert [f.kind for f in loop.findings] == ["not decided"]


def test_what_is_wrong_comes_first(races: FileFact) -> None:
    assert races.todo[0].line == 7
    assert races.todo[0].what.startswith("remove the pragma")
    assert all("one work-item all the same" not in x.what for x in races.todo)


def test_a_pipeline() -> None:
    facts = report(lx.load(f"{CORPUS}/pipelines/unsharp_mask.c"))
    assert facts.command.startswith("loopxform offload ")
    (f,) = facts.functions
    assert not f.matrices
    assert f.independent == (10, 15, 20, 24)
    outer = [x for x in f.loops if not x.depth]
    assert {x.mapped for x in outer} == {"4 nests in one kernel"}
    (made,) = f.mappings
    (table,) = made.tables
    assert [row[0] for row in table.rows][:2] == ["chosen", "unfused"]
    assert [p.line for p in made.parts] == [10, 10, 15]
    assert len(made.kernels) == 3
    (picture,) = made.parts[0].pictures
    assert "a group: tiles of 64 rows, 64 items with 2 elements each; stages: " in picture
    assert "the nests of lines 10, 15, 20, 24, one after the other for each row" in picture


def test_what_a_permission_would_gain() -> None:
    facts = report(lx.loads(SUM, "<stdin>"))
    assert facts.command == "loopxform offload -"
    (f,) = facts.functions
    (gain,) = f.gains
    assert gain.what == "--fp reassociate"
    assert gain.lines == (5,)
    assert "results differ in the last digits" in gain.brings


APART = """
float total[64];
void f(int n, float *a, const float *b)
{
  for (int i = 0; i < n; i++)
    a[i] = b[i];
  for (int i = 0; i < n; i++)
    total[i] = a[i] + b[i];
}
"""


def test_what_restrict_would_gain_is_so() -> None:
    """The text with it has the verdicts that are promised: pointers may still lead to `total`."""
    (f,) = report(lx.loads(APART)).functions
    (gain,) = f.gains
    assert gain.what == "restrict on a, b"
    assert gain.brings.startswith("1 loop would be 'yes' whatever overlaps; ")
    assert gain.lines == (5,)
    with_it = APART.replace("*a", "*restrict a").replace("*b", "*restrict b")
    (f,) = report(lx.loads(with_it)).functions
    assert not f.gains
    assert [x.words == "yes" for x in f.loops] == [True, False]


def test_what_was_tuned(tmp_path: Path) -> None:
    c_file = tmp_path / "mm.c"
    c_file.write_text((CORPUS / "mm.c").read_text())
    (tmp_path / "mm.tuning").write_text(
        "version=1\ndevice=generic\n# mm, M=512: 4.101 ms, defaults 5.730 ms\n"
        "mm.text=0\nmm.fp=contract\nmm.recipe=register\nmm.Ty=4\n"
    )
    (f,) = report(lx.load(c_file)).functions
    (table,) = f.tuning
    assert table.rows == (("recipe", "register"), ("floating point", "contract"), ("Ty", "4"))
    assert table.notes == (
        "Found on generic.",
        "mm, M=512: 4.101 ms, defaults 5.730 ms",
        "The function has changed since: tune again.",
    )
    assert "Ty=4" in f.mappings[0].headline


@pytest.fixture(scope="module")
def mm() -> FileFact:
    return report(lx.load(f"{CORPUS}/mm.c"))


@pytest.fixture(scope="module")
def races() -> FileFact:
    return report(lx.load(f"{CORPUS}/races/dependences.c"))
