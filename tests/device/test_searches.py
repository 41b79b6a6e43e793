"""Searches on a device: all iterations are asked at the same time, the first hit counts."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.prepare.searches import searches_as_reductions
from loopxform.runtime.kernel import CompiledKernel
from loopxform.runtime.selection import choose
from loopxform.targets.target import GENERIC
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource, Library
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEAD = "void f(int n, int key, const int a[restrict n], int out[restrict 3])"
CASES = {
    "place": "for (int i = 0; i < n; i++) if (a[i] > key) { pos = i; break; }",
    "counter": "int i; for (i = 0; i < n && a[i] <= key; i++) ; pos = i;",
    "flag": "int i, go = 1; for (i = 0; go && i < n; i++) if (a[i] > key) { go = 0; pos = i * 2; }"
    " out[1] = i + go;",
    "descent": "for (int i = 1; i < n; i++) if (a[i] < a[i - 1] - key) { pos = a[i]; break; }",
    "of-what-is-computed": "for (int i = 0; i < n; i++)"
    " { int w = a[i] * a[i]; if (w > key) { pos = w; out[2] = i; break; } }",
    "a-flag-of-the-caller": "int i, go = key & 1; for (i = 0; go && i < n; i++)"
    " if (a[i] > key) go = 0; pos = i * 2 + go;",
    "of-the-file": "for (int i = 0; i < 100; i++) if (table[i] != key) { pos = i; break; }",
    "any": "for (int i = 0; i < n; i++) if (a[i] > key) { pos = 1; break; }",
}
SIZES = tuple(
    {"n": n, "key": key} for n in (0, 1, 2, 255, 257, 9000) for key in (-1000000, 5, 9, 1000000000)
)


def text(name: str) -> str:
    return f"int table[100]; {HEAD} {{ int pos = -1; {CASES[name]} out[0] = pos; }}"


def done(name: str, *parts: int) -> OffloadedRoutine:
    """Offloaded; cut at so many iterations."""
    limits = replace(GENERIC, search_parts=parts or GENERIC.search_parts)
    return lx.loads(text(name))["f"].offload(contract=False, limits=limits)


@pytest.mark.parametrize("name", CASES)
def test_no_search_is_left_to_one_work_item(name: str) -> None:
    parts = done(name).parts
    assert any("a search for the first " in p.why for p in parts)
    single = [p for p in parts if p.kind == "one work-item"]
    assert all(p.why == "statements between the nests" for p in single if not p.loops)
    assert name == "of-the-file" or not any(p.loops for p in single)


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    plan = emit.kernel(done(name).derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text(name)), SIZES, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["place", "descent", "of-what-is-computed"])
def test_without_races(name: str) -> None:
    plan = emit.kernel(done(name, 20).derivation)
    sizes = ({"n": n, "key": key} for n in (1, 2, 37) for key in (5, 1000000))
    given = [arguments(plan.start, s, 5) for s in sizes]
    assert_clean_and_right(plan, given)


@pytest.mark.parametrize("name", CASES)
def test_in_the_executor_of_groups(name: str) -> None:
    plan = emit.kernel(done(name).derivation)
    args = arguments(plan.start, {"n": 19, "key": 5}, 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


@pytest.mark.device
@pytest.mark.parametrize("name", ["of-what-is-computed"])
def test_in_parts(name: str) -> None:
    """What is behind a part with a hit is not asked, and what is in front of one is."""
    plan = emit.kernel(done(name, 7, 300).derivation, fp=SEPARATE)
    assert sum("first_before" in k.text for k in plan.kernels) >= 2
    compiled, reference = (
        CompiledKernel(plan, choose()),
        Library(CSource(text=text(name)), [plan.start]),
    )
    for n in (0, 6, 7, 8, 299, 300, 301, 9000):
        for at in (0, 6, 7, 299, 300, 8000):
            args = arguments(plan.start, {"n": n, "key": 5}, 1)
            args["a"][:] = 1
            args["a"][at:] = 9
            expected = copy.deepcopy(args)
            reference.run("f", expected)
            compiled(**args)
            assert not compare(expected, args), (n, at)


UNSIGNED = "void f(unsigned n, int key, const int a[restrict n], int out[restrict 1])"
WITHOUT_SIGNS = {
    "while": "unsigned i = 0; while (i < n && a[i] != key) ++i; out[0] = i;",
    "from-1": "out[0] = 1; for (unsigned i = 1; i < n; i++) "
    "if (a[i] < a[i - 1] - key) { out[0] = i; break; }",
}


@pytest.mark.device
@pytest.mark.parametrize("name", WITHOUT_SIGNS)
def test_counters_without_a_sign(name: str) -> None:
    source = f"{UNSIGNED} {{ {WITHOUT_SIGNS[name]} }}\n"
    made = lx.loads(source)["f"].offload(contract=False)
    assert not any(p.loops for p in made.parts if p.kind == "one work-item")
    plan = emit.kernel(made.derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=source), SIZES[4:], 3)


HOW_FAR = "search for the first i with a[i] > 3, but it is not known that a[i] is there in all "
LEFT = {
    "a pointer": (
        "const int *restrict a, const int *restrict b",
        "for (int i = 0; i < n; i++) if (a[i] > 3) { pos = i; break; }",
        f"{HOW_FAR}iterations (declare how far a goes: a[n], behind 'n' in the parameters)",
    ),
    "a longer loop": (
        "const int a[n], const int b[n]",
        "for (int i = 0; i < n + 1; i++) if (a[i] > 3) { pos = i; break; }",
        HOW_FAR,
    ),
    "another size": (
        "const int a[m], const int b[n]",
        "for (int i = 0; i < n; i++) if (a[i] > 3) { pos = i; break; }",
        HOW_FAR,
    ),
    "an index from data": (
        "const int a[n], const int b[n]",
        "for (int i = 0; i < n; i++) if (a[b[i]] > 3) { pos = i; break; }",
        "but it is not known that a[b[i]] is there in all iterations",
    ),
    "a start that is read": (
        "const int a[n], const int b[n]",
        "int i = b[0]; while (i < n && a[i] < 3) i++; pos = i;",
        "but it is not known where i begins (begin with a number: for (i = 0; ...))",
    ),
    "a division": (
        "const int a[n], const int b[n]",
        "for (int i = 0; i < n; i++) if (a[i] % b[i] > 3) { pos = i; break; }",
        "but later iterations may divide by 0: a[i] % b[i] (divide by a constant",
    ),
    "a division on the way": (
        "const int a[n], const int b[n]",
        "for (int i = 0; i < n; i++) { int w = a[i]; w /= b[i]; if (w > 3) { pos = i; break; } }",
        "but later iterations may divide by 0: w / b[i] (divide by a constant",
    ),
    "a counter that never gets to the end": (
        "const int a[200], const int b[n]",
        "signed char i; for (i = 0; i < 200; i++) if (a[i] > 3) { pos = i; break; }",
        "but 'i' never is 200 (declare it with a wider type)",
    ),
    "a counter with less bytes": (
        "const int a[n], const int b[n]",
        "short i; for (i = 0; i < n; i++) if (a[i] > 3) { pos = i; break; }",
        "but its end is wider than 'i' (declare 'i' as int)",
    ),
    "an unsigned counter": (
        "const int a[n], const int b[n]",
        "for (unsigned i = 0; i < n; i++) if (a[i] > 3) { pos = i; break; }",
        "but one of 'i' and its end is unsigned (declare 'i' as int)",
    ),
    "a variable of the function": (
        "const int a[n], const int b[n]",
        "int w; for (int i = 0; i < n; i++) { w = a[i]; if (w > 3) { pos = i; break; } }",
        "but each iteration sets 'w' (declare it in the loop)",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_stays_says_why(case: str) -> None:
    arrays, body, why = LEFT[case]
    head = f"void f(int n, int m, unsigned size, {arrays}, int out[restrict 1])"
    made = lx.loads(f"{head} {{ int pos = -1; {body} out[0] = pos; }}")["f"].offload()
    (part,) = (p for p in made.parts if p.kind == "one work-item")
    assert why in part.why


def test_a_flag_that_loses_its_value_ends_no_search() -> None:
    body = "unsigned char go = 0; for (i = 0; i < n && !go; i++) if (a[i] > 3) go = 256;"
    head = "void f(int n, const int a[restrict n], int out[restrict 1])"
    fn = lx.loads(f"{head} {{ int i; {body} out[0] = i; }}")["f"].function
    assert searches_as_reductions(fn, GENERIC.search_parts).fn is fn


def test_a_search_in_a_parallel_loop_stops_at_its_hit() -> None:
    source = """void f(int n, int m, int a[restrict n][m], int place[restrict n]) {
      for (int i = 0; i < n; i++) {
        place[i] = m;
        for (int j = 0; j < m; j++)
          if (a[i][j] > 5) { place[i] = j; break; }
      }
    }"""
    made = lx.loads(source)["f"].offload()
    assert [p.kind for p in made.parts] == ["kernel"]
