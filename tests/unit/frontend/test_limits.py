"""Reading a file heeds the limits: what is too hard in one function is a problem of that function.

Time passes here by questions: the clock moves by one second whenever it is looked at.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count

import pytest

import loopxform as lx
from loopxform import budget
from loopxform.api.check import checked
from loopxform.budget import Budget, Exhausted, within

EASY = "void easy(int n, float *b) { for (int i = 0; i < n; i++) b[i] = 1; }\n"
JUMPS = "".join(f"L{k}: i++; if (a[i] > {k}) goto L{k * 7 % 25}; a[i] = {k};\n" for k in range(25))
HARD = f"void hard(int n, int *a) {{ int i = 0; {JUMPS} }}\n"
DOUBLED = "".join(
    f"float g{k + 1}(float x) {{ float a = g{k}(x); float b = g{k}(a); return a + b; }}\n"
    for k in range(6)
)
CALLS = f"float g0(float x) {{ return x + 1; }}\n{DOUBLED}"
MACROS = "".join(f"#define A{k + 1} A{k} A{k}\n" for k in range(30))


@pytest.fixture(autouse=True)
def _ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(budget, "cpu_seconds", lambda: float(next(seconds)))
    monkeypatch.setattr(budget, "PAUSE", 0)


@pytest.mark.parametrize("text", [EASY + HARD, HARD + EASY, EASY + CALLS])
def test_one_function_is_too_hard(text: str) -> None:
    with within(Budget.of(1500)):
        file = lx.loads(text)
    assert "easy" in [r.name for r in file]
    assert {e.code for e in file.parsed.problems} == {"LX104"}
    for e in file.parsed.problems:
        assert (e.help, e.loc is not None) == ("--time-limit allows more", True)
    assert not lx.loads(text).parsed.problems


def test_one_function_may_take_half_of_the_time() -> None:
    """It is not refused while there is as much left as it needs."""
    loops = "for (int i = 0; i < n; i++) a[i] += 1;\n" * 40
    text = f"void long_one(int n, int *a) {{ {loops} }}\n"
    began = budget.cpu_seconds()
    lx.loads(text)
    needed = budget.cpu_seconds() - began
    with within(Budget.of(4 * needed)):
        assert not lx.loads(text).parsed.problems


NESTED = """for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i] += j;
"""


@pytest.mark.parametrize("seconds", [40, 100, 200, 400, 1000])
def test_loops_of_a_function_that_is_not_read_in_time_are_unknown(seconds: int) -> None:
    text = (
        f"struct s {{ int x[2]; }};\n{EASY}{HARD.replace('int i = 0;', f'int i; {NESTED} i = 0;')}"
    )
    with within(Budget.of(seconds)):
        report = checked(lx.loads(text))
    assert not report.problems
    hard = report["hard"]
    assert [(v.line, v.var, v.depth, v.parallel) for v in hard.loops] == [
        (3, "i", 0, "unknown"),
        (4, "j", 1, "unknown"),
    ]
    assert {r.code for v in hard.loops for r in v.reasons} == {"LX104"}


def test_what_keeps_iterations_in_order_is_known_all_the_same() -> None:
    """It is in the text of the loop."""
    search = "for (i = 0; i < n; i++) if (a[i] == n) break;"
    hard = HARD.replace("int i = 0;", f"int i; {search}\n {NESTED} i = 0;")
    with within(Budget.of(400)):
        report = checked(lx.loads(EASY + hard))
    verdicts = [(v.parallel, r.code) for v in report["hard"].loops for r in v.reasons]
    assert verdicts == [("no", "LX105"), ("unknown", "LX104"), ("unknown", "LX104")]


def test_a_function_with_pragmas_that_is_not_read_in_time_is_a_problem() -> None:
    """What they claim is not passed over in silence."""
    text = HARD.replace("int i = 0;", f"int i; \n#pragma omp parallel for\n{NESTED} i = 0;")
    with within(Budget.of(400)):
        report = checked(lx.loads(EASY + text))
    assert [(e.code, e.loc.line if e.loc else 0) for e in report.problems] == [("LX104", 2)]


@pytest.mark.parametrize("seconds", [3500, 9000])
def test_functions_that_are_read_are_judged_however_hard_the_others_are(seconds: int) -> None:
    others = "".join(HARD.replace("hard", f"hard{n}") for n in range(40))
    with within(Budget.of(seconds)) as limits:
        file = lx.loads(EASY + others)
        assert limits.left >= seconds / 16
        (verdict,) = checked(file)["easy"].loops
    assert verdict.parallel == "yes"
    assert {e.code for e in file.parsed.problems} == {"LX104"}


def test_every_function_has_an_answer_once_the_text_is_parsed() -> None:
    """Wherever time runs out from there on."""
    text = EASY + EASY.replace("easy", "late")
    answers = [_answer(text, seconds) for seconds in range(400)]
    first = next(n for n, verdicts in enumerate(answers) if verdicts is not None)
    assert all(verdicts is not None and len(verdicts) == 2 for verdicts in answers[first:])
    assert answers[first] == ["unknown"] * 2
    assert answers[-1] == ["yes"] * 2


def _answer(text: str, seconds: int) -> list[str] | None:
    """What is said of each loop; None where there is no time to parse the text."""
    with within(Budget.of(seconds)), suppress(Exhausted):
        report = checked(lx.loads(text))
        assert not report.problems
        return [v.parallel for v in report.loops]
    return None


def test_parsing_heeds_the_limits() -> None:
    text = "".join(f"int g{n};\n" for n in range(500)) + EASY
    with within(Budget.of(300)), pytest.raises(Exhausted):
        lx.loads(text)
    with within(Budget.of(3000)):
        assert [r.name for r in lx.loads(text)] == ["easy"]


def test_macros_that_grow_without_end() -> None:
    text = f"#define A0 x +\n{MACROS}void f(float *a, float x) {{ a[0] = A30 x; }}\n"
    with within(Budget.of(3000)), pytest.raises(Exhausted) as raised:
        lx.loads(text)
    assert raised.value.render().startswith("<text>:1:1: error: time limit: too hard")


def test_values_that_double_with_every_line() -> None:
    """A value in terms of arguments that would have 2^40 of them is not written out."""
    lines = "".join(f"int t{k + 1} = t{k} + t{k};\n" for k in range(40))
    text = f"void f(int t0, float *a) {{ {lines} for (int i = 0; i < t40; i++) a[i] = t40; }}\n"
    with within(Budget.of(5000)):
        assert [v.parallel for v in lx.loads(text)["f"].check()] == ["yes"]
