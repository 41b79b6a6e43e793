"""Local pointers that are set several times: arrays of their own where they stand still."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.analysis.verdict import LoopVerdict

HEAD = "#include <stdlib.h>\ndouble *get(void); double *other(double *); void use(double *, int);\n"
HEAD += "double *keep;\n"


def judged(body: str, params: str = "int n, int m, double *a, double *b") -> list[LoopVerdict]:
    return list(lx.loads(f"{HEAD}void f({params}) {{ {body} }}")["f"].check())


def verdict(body: str, **more: str) -> tuple[str, tuple[str, ...]]:
    """Of the last loop."""
    last = judged(body, **more)[-1]
    return last.parallel, last.assumes


SWAP = """double *now = a, *next = b;
for (int t = 0; t < m; t++) {
  for (int i = 1; i < n - 1; i++) next[i] = now[i - 1] + now[i + 1];
  double *old = now; now = next; next = old;
}"""


def test_two_buffers_that_change_places() -> None:
    t, i = judged(SWAP)
    assert (t.parallel, i.parallel) == ("unknown", "yes")
    assert i.assumes == ("now and next do not overlap",)


def test_a_recurrence_through_one_of_them() -> None:
    body = SWAP.replace("next[i] = now[i - 1]", "next[i] = next[i - 1]")
    assert judged(body)[1].parallel == "no"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("double *p = get();", ("yes", ("b and p do not overlap",))),
        ("double *p = (double *) get(); if (!p) return; p = get();",
         ("yes", ("b and p do not overlap",))),
        ("double *p = NULL; if (n > 3) p = get();", ("yes", ("b and p do not overlap",))),
        ("double *p = a; if (n > 3) p = get();", ("yes", ("b and p do not overlap",))),
        ("double *p = get(); p = get(); use(p, 1);", ("yes", ("b and p do not overlap",))),
        ("double *p = a; again: p = get(); if (n > 7) goto again;",
         ("yes", ("b and p do not overlap",))),
    ],
)  # fmt: skip
def test_memory_that_nobody_knows(body: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert verdict(f"{body} for (int i = 0; i < n; i++) p[i] = b[i];") == expected


@pytest.mark.parametrize(
    "body",
    [
        "double *p = b; if (n > 3) p = get();",  # b by another name
        "double *p = a; if (n > 3) p = b + 1;",  # a place inside
        "double *p = a; if (n > 3) p = &b[1];",
        "double *q = b; if (n > 3) q = get(); double *p = get(); if (n > 4) p = q;",  # in between
        "double *p = get(); p = get(); keep = p; double *q = get(); q = keep;",
        "double *p = other(b);",  # what a call returns may be what it was given
        "double *p = get(); double **pp = &p; *pp = b;",
    ],
)
def test_what_is_reached_by_another_name_stays_unknown(body: str) -> None:
    right = "keep[i - 1]" if "use" in body else "q[i - 1]" if "keep" in body else "b[i - 1]"
    parallel, _ = verdict(f"{body} for (int i = 1; i < n; i++) p[i] = {right};")
    assert parallel == "unknown"


LOOP = "for (int i = 1; i < n; i++) q[i] = p[i - 1];"


@pytest.mark.parametrize(
    "start",
    [
        "double *p = get(), *q = get(); if (n > 3) q = p;",
        "double *p = get(); p = get(); double *q = get(); q = other(p);",
        "double *p = get(), *q = other(p); p = get(); if (n > 3) q = get();",
        "double *p = a, *q = a; if (n > 3) { double *x = p; p = q; q = x; }",
        "double *p = a, *q = b; if (n > 3) { double *x = p; p = q; q = p; }",
        "double *p = a, *q = b; if (n > 3) { double *x = p; p = q; q = x + 1; }",
        "double *p = a, *q = b, *x = p; if (n > 3) { x = p; p = q; q = x; } x[0] = 1;",
    ],
)
def test_pointers_that_the_text_brings_together(start: str) -> None:
    assert verdict(f"{start} {LOOP}")[0] == "unknown"


def test_a_pointer_that_the_function_keeps() -> None:
    """What it leads to may be what an argument leads to: that is asked."""
    loop = "for (int i = 1; i < n; i++) p[i] = b[i - 1];"
    expected = ("yes", ("b and p do not overlap",))
    assert verdict(f"static double *p; if (!p) p = get(); {loop}") == expected


def test_three_buffers_that_change_places() -> None:
    turn = "double *x = p; p = q; q = r; r = x;"
    start = f"double *p = a, *q = b, *r = get(); if (n > 3) {{ {turn} }}"
    expected = ("yes", ("p and q do not overlap",))
    assert verdict(f"{start} r[0] = 1; {LOOP}") == expected


def test_a_loop_that_sets_the_pointer_is_unknown() -> None:
    body = "double *p = get(); for (int i = 0; i < n; i++) { p[i] = 1; if (b[i] > 0) p = get(); }"
    assert verdict(body)[0] == "unknown"


def test_a_pointer_and_an_array_of_the_function() -> None:
    body = "double w[9]; use(w, 1); double *p = get(); p = get(); "
    body += "for (int i = 0; i < 9; i++) p[i] = w[i];"
    assert verdict(body) == ("yes", ("p and w do not overlap",))


def test_only_check_takes_them() -> None:
    loop = "for (int i = 0; i < n; i++) p[i] = b[i];"
    for text in (f"double *p = get(); p = get(); {loop}", f"double *p; {loop}"):
        file = lx.loads(f"{HEAD}void f(int n, double *b) {{ {text} }}")
        with pytest.raises(lx.LoopxformError):
            file["f"].tile()
        with pytest.raises(lx.LoopxformError):
            file["f"].tile(variant="naive")


def test_threads_may_have_pointers_of_their_own() -> None:
    text = f"""{HEAD}void f(int n, double *a) {{
#pragma omp parallel
{{
  double *p = get();
  p = get();
#pragma omp for
  for (int i = 0; i < n; i++) p[0] += a[i];
}}
}}"""
    claims = lx.loads(text)["f"].audit()
    assert [(c.text, c.proven) for c in claims] == [("for", None), ("parallel", None)]
