"""Small loops in the styles of many programs: on the device they do what they do in C, or the
report says what helps, and that does."""

from __future__ import annotations

import copy

import pytest

import loopxform as lx
from loopxform.verify.check_run import arguments
from loopxform.verify.cref import CSource, Library

LOOP = "for (int i = 0; i < n; i++)"
TAKEN = {
    "matches of a string": (
        "int n, int m, const unsigned char a[restrict n], const unsigned char b[restrict m], "
        "int y[restrict n + 1]",
        "int k = 0; for (int i = 0; i + m <= n; i++) { int ok = 1; for (int j = 0; j < m; j++) "
        "if (a[i + j] / 99 != b[j] / 99) { ok = 0; break; } if (ok) y[k++] = i; } y[n] = k;",
    ),
    "back substitution": (
        "int n, int m, const double a[restrict n], const double b[restrict n], "
        "double y[restrict n]",
        "for (int i = n - 2; i >= 0; i--) y[i] = (y[i] - a[i] * y[i + 1]) / (b[i] + 40);",
    ),
    "running mean": (
        "int n, int m, const float a[restrict n], float y[restrict n]",
        f"float mean = 0; {LOOP} {{ mean += (a[i] - mean) / (i + 1); y[i] = mean; }}",
    ),
    "halves of whole numbers": (
        "int n, int m, const float a[restrict n], float y[restrict n]",
        f"float s = 1; {LOOP} {{ s = (3 - s) / 2; y[i] = s + a[i]; }}",
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("name", TAKEN)
def test_as_the_c_program(name: str) -> None:
    params, body = TAKEN[name]
    text = f"void f({params}) {{ {body} }}"
    f = lx.loads(text)["f"]
    done = f.offload(fp="reassociate")
    left = [p for p in done.parts if p.kind == "one work-item" and p.loops]
    assert all("passes running values" in p.why for p in left), [p.why for p in left]
    call, library = done.compile(), Library(CSource(text=text), [f.function])
    for n, m in ((0, 1), (1, 1), (2, 3), (255, 2), (257, 0), (2305, 2)):
        found = arguments(f.function, {"n": n, "m": m}, 3)
        expected = copy.deepcopy(found)
        library.run("f", expected)
        call(**found)
        assert found["y"] == pytest.approx(expected["y"], rel=1e-4, abs=1e-5), (n, m)


IN_TWO = "in a loop of its own, into an array, and "
LEFT = {
    "largest of sums": (
        f"int s = 0, k = -9; {LOOP} {{ s += a[i]; if (s > k) k = s; x[i] = s; y[i] = k; }}",
        "the update of 'k' reads the value that 's' has in the same iteration "
        f"(compute 's' {IN_TWO}read that here)",
        f"int s = 0, k = -9; {LOOP} {{ s += a[i]; x[i] = s; }}"
        f" {LOOP} {{ if (x[i] > k) k = x[i]; y[i] = k; }}",
    ),
    "place of the largest so far": (
        f"int s = -9, k = 0; {LOOP} {{ if (a[i] > s) {{ s = a[i]; k = i; }} x[i] = s; y[i] = k; }}",
        f"'k' is set where 's' is (compute 's' {IN_TWO}compare with the element before to find 'k' "
        "in a second loop)",
        f"int s = -9, k = 0; {LOOP} {{ if (a[i] > s) s = a[i]; x[i] = s; }}"
        f" {LOOP} {{ if (a[i] > (i ? x[i - 1] : -9)) k = i; y[i] = k; }}",
    ),
}


@pytest.mark.device
@pytest.mark.parametrize("name", LEFT)
def test_what_is_said_to_help_does(name: str) -> None:
    body, said, helped = LEFT[name]
    head = "void f(int n, const int a[restrict n], int x[restrict n], int y[restrict n])"
    (part,) = (p for p in lx.loads(f"{head} {{ {body} }}")["f"].offload().parts if p.loops)
    assert said in part.why, part.why
    done = lx.loads(f"{head} {{ {helped} }}")["f"].offload()
    left = [p for p in done.parts if p.kind == "one work-item" and p.loops]
    assert all("passes running values" in p.why for p in left), [p.why for p in left]
    call, f = done.compile(), lx.loads(f"{head} {{ {body} }}")["f"]
    library = Library(CSource(text=f"{head} {{ {body} }}"), [f.function])
    for n in (0, 1, 257, 2305):
        found = arguments(f.function, {"n": n}, 3)
        expected = copy.deepcopy(found)
        library.run("f", expected)
        call(**found)
        assert (found["x"] == expected["x"]).all()
        assert (found["y"] == expected["y"]).all()


def test_recurrences_say_what_they_are_made_of() -> None:
    head = "void f(int n, float a[n], const float x[restrict n])"
    loop = "for (int i = 2; i < n - 1; i++)"
    said = {
        "a[i] = a[i - 1] - a[i - 2] / 2 + x[i];": "a[i] is made of 2 elements that were set "
        "before, and only m*x + e of one is computed in parts",
        "a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;": "iterations read elements of a that later "
        "ones overwrite (read those from a copy of a made before)",
    }
    for body, why in said.items():
        (part,) = lx.loads(f"{head} {{ {loop} {body} }}")["f"].offload(fp="reassociate").parts
        assert part.why.endswith(why), part.why
    copied = "a[i] = (a[i - 1] + x[i] + x[i + 1]) / 3;"
    parts = lx.loads(f"{head} {{ {loop} {copied} }}")["f"].offload(fp="reassociate").parts
    assert len(parts) > 1
