"""What is too hard for the limits is unknown for that reason, and nothing else changes.

Time passes here by questions: the clock moves by one second whenever it is looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count, permutations

import pytest
from nests import fn, loop, s, when

import loopxform as lx
from loopxform import budget
from loopxform.analysis.deps import dependences
from loopxform.analysis.extent import NoExtent, explain
from loopxform.analysis.matrix import matrix, matrix_text
from loopxform.analysis.verdict import judge
from loopxform.api.check import checked
from loopxform.budget import Budget, Exhausted, in_turn, shared, spend, within
from loopxform.ir.memo import forget, remembered
from loopxform.ir.nodes import Function, Stmt


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock of questions; nothing is remembered from other tests."""
    seconds = count()
    monkeypatch.setattr(budget, "cpu_seconds", lambda: float(next(seconds)))
    monkeypatch.setattr(budget, "PAUSE", 0)
    forget()
    yield
    forget()


def nested(depth: int, target: str, value: str) -> Function:
    body: Stmt = s(f"a[{target}] = a[{value}]", "S0")
    for k in reversed(range(depth)):
        body = loop(f"i{k}", 0, "n", body)
    return fn("n, a[]", body)


def tangled(statements: int = 30) -> Function:
    """Many pairs of accesses with remainders: seconds of work."""
    body = [
        when(f"i % {k % 5 + 2} == {k % 2}", s(f"a[i//{k % 3 + 2} + {k}] = a[(i*3) % {k + 3}]", "S"))
        for k in range(statements)
    ]
    return fn("n, a[]", loop("i", 1, "n", *body))


def test_sixty_loops_are_judged_in_seconds() -> None:
    """Each loop of a sum of sixty variables carries: the patterns are too many to list, one row per
    level stands for them, with a witness."""
    every = " + ".join(f"i{k}" for k in range(60))
    for target in ("0", "i59", every):
        began = time.process_time()
        verdicts = judge(nested(60, target, f"{target} + 1"))
        assert time.process_time() - began < 8
        assert {v.parallel for v in verdicts} == {"no"}


def test_patterns_that_are_too_many_are_one_row_with_a_witness() -> None:
    every = " + ".join(f"i{k}" for k in range(8))
    rows = dependences(nested(8, every, every))
    assert {(len(rows), d.exact) for d in rows if d.level == 0} == {(len(rows), True)}
    (first,) = {d.direction for d in rows if d.level == 0}
    assert first == ("<", *"*******")
    assert not any(d.tight for d in rows if d.level == 0)
    assert all(d.tight for d in rows if d.level == 6)


def test_what_takes_too_long_is_unknown() -> None:
    f = tangled()
    (v,) = judge(f, seconds=0)
    assert (v.parallel, [r.code for r in v.reasons]) == ("unknown", ["LX104"])
    (why,) = (r.message for r in v.reasons)
    assert why == "time limit: too hard to analyse within it; --time-limit allows more"
    (m,) = matrix(f, seconds=0)
    assert m.rows == ()
    assert [(d.array, d.direction, d.exact) for d in m.unmodelled] == [("*", ("*",), False)]
    assert why in matrix_text(m)


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("seconds", [0, 1, 2, 5, 10, 30, 100, 300, 1000, 3000])
def test_a_limit_changes_nothing_but_to_unknown(seconds: int) -> None:
    """Judged under a limit and then without one in the same process: as in a fresh one."""
    programs = (nested(2, "i1", "i1 + 1"), nested(3, "i0 + i2", "i1"), summed(), tangled(4))
    for f in programs:
        with within(Budget.of(seconds)):
            limited = judge(f)
        again = judge(f)
        forget()
        fresh = judge(f)
        assert again == fresh
        for v, w in zip(limited, fresh, strict=True):
            assert v == w or (v.parallel, v.reasons[0].code) == ("unknown", "LX104")


def summed() -> Function:
    """A sum, a private scalar and a recurrence: verdicts that several questions make."""
    inner = loop("j", 0, "n", s("t = a[i] * 2"), s("a[j] += t"), s("r += t"))
    return fn("n, t, r, a[], b[]", loop("i", 1, "n", inner, s("b[i] = b[i-1]")))


@pytest.mark.usefixtures("ticking")
def test_an_extent_that_took_too_long_is_asked_again() -> None:
    f = fn("n, a[]", loop("i", 0, "n", s("a[i] = 1")))
    with within(Budget.of(1)), pytest.raises(Exhausted):
        explain(f, "a")
    assert not isinstance(explain(f, "a"), NoExtent)


def test_what_raises_is_in_no_table() -> None:
    asked = list[Function | str]()

    @remembered(2)
    def answer(f: Function, name: str) -> str:
        asked.extend((f, name))
        spend()
        return name

    f = summed()
    with within(Budget.of(0)), pytest.raises(Exhausted):
        answer(f, "a")
    assert [answer(f, "a"), answer(f, "a"), answer(f, "b")] == ["a", "a", "b"]
    assert asked == [f, "a", f, "a", f, "b"]
    forget()
    answer(f, "b")
    assert asked[6:] == [f, "b"]


def test_limits_end_with_their_block() -> None:
    with within(Budget.of(0)) as none:
        with pytest.raises(Exhausted), within(Budget.of(60)):
            spend()
        assert none.left == 0
    spend()
    with within(Budget.of(None)) as endless:
        spend()
    assert not endless.exhausted


def test_memory_is_a_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is taken after the beginning: the caller may have much in use."""
    larger, smaller = (Budget.of(mebibytes=n, in_use=5000 * budget.MEBIBYTE) for n in (1000, 800))
    monkeypatch.setattr(budget, "memory_bytes", lambda: 5900 * budget.MEBIBYTE)
    with within(larger):
        assert [v.parallel for v in judge(summed())] != ["unknown", "unknown"]
    forget()
    with within(smaller):
        verdicts = judge(summed())
    assert Budget.of(mebibytes=1).bytes == 5901 * budget.MEBIBYTE
    Budget.of(mebibytes=1).spend()
    whys = {r.message for v in verdicts for r in v.reasons}
    assert whys == {"memory limit: too hard to analyse within it; --memory-limit allows more"}


def worked(seconds: int) -> str:
    """What is said of an item that takes so long."""
    try:
        for _ in range(seconds):
            spend()
    except Exhausted:
        return "unknown"
    return "known"


@pytest.mark.usefixtures("ticking")
def test_parts_of_a_budget_do_not_depend_on_the_order() -> None:
    """The easy ones are done whatever the hard one takes, which gets what they leave."""

    for work in permutations((2, 3, 500, 60, 2)):
        with within(Budget.of(200)):
            answers = dict(zip(work, shared(work, worked)))
        assert answers == {2: "known", 3: "known", 60: "known", 500: "unknown"}


@pytest.mark.usefixtures("ticking")
def test_the_smallest_first() -> None:
    """What they leave is for the larger ones; what those leave for what was short of time."""

    for work in permutations((2, 3, 500, 60, 100)):
        with within(Budget.of(200)):
            answers = dict(zip(work, in_turn(work, worked, float)))
        assert answers == {2: "known", 3: "known", 60: "known", 100: "unknown", 500: "unknown"}
    with within(Budget.of(200)):
        assert in_turn((3, 80, 2), worked, lambda n: 1 / n) == ("known", "known", "known")
    assert in_turn((100, 20), worked, float) == ("known", "known")
    assert in_turn((), worked, float) == ()


@pytest.mark.usefixtures("ticking")
def test_what_is_short_of_time_inside_gets_more() -> None:
    """The part of a part is too little for the item, the whole is not."""

    def worked(seconds: int) -> str:
        with within(budget.part(1 / 2)):
            (answer,) = shared([seconds], attempt)
        return answer

    def attempt(seconds: int) -> str:
        try:
            for _ in range(seconds):
                spend()
        except Exhausted:
            return "unknown"
        return "known"

    with within(Budget.of(400)):
        assert shared([1, 1, 1, 90], worked) == ("known",) * 4


def test_many_statements_have_a_row_for_each_kind_of_pair() -> None:
    """200 statements, 40,000 pairs a kind: verdicts with a witness, and a matrix that says what it
    leaves out, in a second."""
    body = [s(f"a[i + {k % 5}] = a[i - {k % 4}]") for k in range(200)]
    f = fn("n, a[]", loop("i", 4, "n", *body))
    began = time.process_time()
    (v,), (m,) = judge(f), matrix(f)
    assert time.process_time() - began < 2
    assert (v.parallel, v.reasons[0].witness) == ("no", "i=4 and i=5 (n=6)")
    assert m.note.startswith("160000 pairs of accesses:")
    assert 0 < len(m.rows) < 100


TANGLED = "".join(
    f"if (i % {k % 5 + 2} == {k % 2}) a[i / {k % 3 + 2} + {k}] = a[i * 3 % {k + 3}];\n"
    for k in range(12)
)
FUNCTIONS = (
    "void easy(int n, float *b) { for (int i = 0; i < n; i++) b[i] = 1; }\n",
    f"void hard(int n, float *a) {{ for (int i = 1; i < n; i++) {{ {TANGLED} }} }}\n",
    "float sum(int n, float *b) { float s = 0; for (int i = 0; i < n; i++) s += b[i];return s; }\n",
)


@pytest.mark.usefixtures("ticking")
def test_a_file_is_judged_in_any_order() -> None:
    answers = set()
    for order in permutations(FUNCTIONS):
        file = lx.loads("".join(order))
        with within(Budget.of(200)):
            report = checked(file)
        answers.add(tuple(sorted((f.name, f.loops[0].parallel) for f in report)))
    assert answers == {(("easy", "yes"), ("hard", "unknown"), ("sum", "reduction"))}


def test_steps_heed_the_limits() -> None:
    (routine,) = lx.loads(FUNCTIONS[0])
    with within(Budget.of(0)), pytest.raises(Exhausted):
        routine.apply("parallelise i")


@pytest.mark.parametrize("dimensions", [60, 150])
def test_arrays_of_many_dimensions_take_no_time(dimensions: int) -> None:
    shape, index = "[2]" * dimensions, "[i]" * dimensions
    text = f"void f(int n, float a{shape}) {{ for (int i = 0; i < n; i++) a{index} = 1; }}"
    began = time.process_time()
    assert "lx_f" in lx.loads(text)["f"].tile().kernel
    assert time.process_time() - began < 10
