"""Counts with a limit, as people write them: numbered by a scan on the device, and cut there."""

from __future__ import annotations

import copy

import pytest
from harness import assert_clean_and_right, assert_runs_agree

import loopxform as lx
from loopxform.api.offload import OffloadedRoutine
from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.prepare.capped_counts import counts_of_all
from loopxform.prepare.while_loops import whole_loops
from loopxform.verify.check_run import arguments
from loopxform.verify.compare import compare
from loopxform.verify.cref import CSource
from loopxform.verify.group.execute import execute
from loopxform.verify.interp import Program

HEAD = (
    "void f(int n, int most, const int a[restrict n], int out[restrict n + 1], int c[restrict 2])"
)
LOOP = "for (int i = 0; i < n; i++)"
CASES = {
    "with-the-condition": f"{LOOP} if (a[i] > 4 && k < most) out[k++] = i;",
    "before-the-condition": f"{LOOP} if (most > k && a[i] > 4) {{ out[k] = a[i]; ++k; }}",
    "at-most": f"{LOOP} if (a[i] > 4) if (k <= most) {{ out[k] = i; k += 1; }}",
    "until-it-is": f"{LOOP} if (a[i] > 4 && k != most) out[k++] = i;",
    "room-first": f"{LOOP} if (k < most) {{ int v = a[i]; if (v > 4 && v % 2) out[k++] = v; }}",
    "beside-a-sum": f"{LOOP} {{ s += a[i]; if (a[i] > 4 && k < most) {{ out[k] = i; k++; }} }}",
    "continue": f"{LOOP} {{ if (a[i] < 4) continue; if (k >= most) continue; out[k++] = i; }}",
    "a-number": f"{LOOP} if (a[i] > 4 && k < 100 - 40) out[k++] = i;",
    "break-before": f"{LOOP} if (a[i] > 4) {{ if (k == most) break; out[k++] = i; }}",
    "break-first": f"{LOOP} {{ if (k >= most) break; int v = a[i]; if (v > 4) out[k++] = v; }}",
    "break-behind": f"{LOOP} if (a[i] > 4) {{ out[k++] = i; if (k >= most) break; }}",
    "break-behind-above": f"{LOOP} if (a[i] > 4) {{ out[k++] = i; if (most < k) break; }}",
    "break-behind-at": f"{LOOP} if (a[i] > 4) {{ out[k++] = i; if (k == most) break; }}",
    "in-the-header": "for (int i = 0; i < n && k < most; i++) if (a[i] > 4) out[k++] = a[i];",
    "while": "int i = 0; while (k != most && i < n) { if (a[i] > 4) { out[k] = i; k++; } i++; }",
}  # fmt: skip
SIZES = tuple(
    {"n": n, "most": most} for n in (0, 1, 2, 255, 257, 2305) for most in (-3, 0, 1, 7, 256, 9000)
)


def text(name: str) -> str:
    return f"{HEAD} {{ int k = 0, s = 0; {CASES[name]} c[0] = k; c[1] = s; }}"


def offloaded(name: str) -> OffloadedRoutine:
    return lx.loads(text(name))["f"].offload(contract=False)


@pytest.mark.parametrize("name", CASES)
def test_no_count_is_left_to_one_work_item(name: str) -> None:
    left = [p for p in offloaded(name).parts if p.kind == "one work-item" and p.loops]
    assert all("passes running values" in p.why for p in left), left
    fn = lx.loads(text(name))["f"].function
    counted, fn = counts_of_all(fn).fn, whole_loops(fn)
    for sizes in SIZES[:18]:
        expected = arguments(fn, sizes, 3)
        args = copy.deepcopy(expected)
        Program(fn).run(expected)
        Program(counted).run(args)
        assert not compare(expected, args), sizes


@pytest.mark.device
@pytest.mark.parametrize("name", CASES)
def test_as_the_c_program(name: str) -> None:
    plan = emit.kernel(offloaded(name).derivation, fp=SEPARATE)
    assert_runs_agree(plan, CSource(text=text(name)), SIZES, 3)


@pytest.mark.oclgrind
@pytest.mark.parametrize("name", ["with-the-condition", "break-behind"])
def test_without_races(name: str) -> None:
    plan = emit.kernel(offloaded(name).derivation)
    sizes = ({"n": n, "most": most} for n in (1, 37) for most in (0, 3))
    assert_clean_and_right(plan, [arguments(plan.start, s, 5) for s in sizes])


@pytest.mark.parametrize("name", ["at-most", "break-before"])
def test_in_the_executor_of_groups(name: str) -> None:
    plan = emit.kernel(offloaded(name).derivation)
    args = arguments(plan.start, {"n": 19, "most": 5}, 5)
    expected = copy.deepcopy(args)
    Program(plan.start).run(expected)
    execute(plan, args, seed=3)
    assert not compare(expected, args)


KEPT = {
    "a pointer": ("const int *a", "if (a[i] > 4) { if (k == most) break; out[k++] = i; }"),
    "another effect": (
        "const int a[n]", "{ s += a[i]; if (k >= most) break; if (a[i]) out[k++] = i; }"),
    "a bound that moves": ("const int a[n]", "if (a[i] > 4 && k < i) out[k++] = i;"),
    "an unsafe condition": ("const int a[n]", "if (k < most && 9 / a[i] > 4) out[k++] = i;"),
    "otherwise": ("const int a[n]", "if (a[i] > 4 && k < most) out[k++] = i; else s = k;"),
    "a start that data say": ("const int a[n]", "if (a[i] > 4 && k < most) out[k++] = i;"),
    "at the end, behind none": (
        "const int a[n]", "{ if (a[i] > 4) out[k++] = i; if (k >= most) break; }"),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_what_counts_otherwise_stays(name: str) -> None:
    a, body = KEPT[name]
    head = HEAD.replace("const int a[restrict n]", a)
    first = "a[0]" if name == "a start that data say" else "0"
    source = f"{head} {{ int k = {first}, s = 0; {LOOP} {body} c[0] = k; c[1] = s; }}"
    fn = lx.loads(source)["f"].function
    assert counts_of_all(fn).fn is fn


def test_says_what_is_missing() -> None:
    head = HEAD.replace("a[restrict n]", "*restrict a")
    source = f"{head} {{ int k = 0; {CASES['while']} c[0] = k; }}"
    (part,) = (p for p in lx.loads(source)["f"].offload().parts if p.kind == "one work-item")
    text = (
        "compaction that 'k' counts up to a bound, but it is not known that a[i] is there in all "
    )
    assert (
        f"{text}iterations (declare how far a goes: a[n], behind 'n' in the parameters)" in part.why
    )
