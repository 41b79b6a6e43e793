"""What runs where an assumption does not hold asks what the user's loops ask."""

from __future__ import annotations

import pytest

import loopxform as lx
from loopxform.codegen import emit
from loopxform.prepare.while_loops import whole_bodies
from loopxform.transforms import Derivation, step

HEADERS = {
    "unsigned i = 0; i + 1 < u": "for (unsigned int i = 0; i + 1 < u; i++)",
    "int i = 0; i < n && i <= m": "for (int i = 0; i < n && i <= m; i++)",
    "int i = 0; i <= n && i + 2 <= m": "for (int i = 0; i <= n && i + 2 <= m; i++)",
    "int i = 0; i != n && i < m": "for (int i = 0; i != n && i < m; i++)",
    "int i = 0; i < (n < m ? n : m)": "for (int i = 0; i < LX_MIN(n, m); i++)",
}
PARAMS = "int n, int m, unsigned u, float *restrict a, const float *restrict b"


@pytest.mark.parametrize("header", HEADERS)
def test_headers(header: str) -> None:
    text = f"void f({PARAMS}) {{ for ({header}; i++) a[i] += b[i]; }}"
    done = Derivation(lx.loads(text)["f"].function).then(step("parallelise i"))
    done = done.then(step("stripmine i 8 ii")).then(step("parallelise ii"))
    names = {"stem": "f", "origin": "f.c", "version": "0"}
    written = emit.openmp(done, **names).files["f_openmp.c"]
    own, transformed = written.split("f_as_written")[1].split("f_transformed")[:2]
    assert HEADERS[header] in own
    assert HEADERS[header] not in transformed


def test_a_loop_that_is_left_early() -> None:
    """Its counter has a name of its own there, and so has what is asked of it."""
    text = f"""void f({PARAMS}) {{
      for (int k = 0; k < 9; k++) {{
        int i;
        for (i = 0; i <= n; i++) {{ if (b[i] > k) break; a[k] += b[i]; }}
        a[k + 9] = i;
      }} }}"""
    fn = whole_bodies(lx.loads(text)["f"].function)
    done = Derivation(fn).then(step("parallelise k"))
    names = {"stem": "f", "origin": "f.c", "version": "0"}
    written = emit.openmp(done, **names).files["f_openmp.c"]
    own, transformed = written.split("f_as_written")[1].split("f_transformed")[:2]
    assert "more && i_2 <= n; i_2++" in own
    assert "more && i_2 < n + 1; i_2++" in transformed


NAMES = {"stem": "f", "origin": "f.c", "version": "0"}
BY_HAND = {
    "unrolled": (
        ("unsigned int i = 0; i + 50 < u; i += 2",),
        "{ a[i] = b[i]; a[i + 1] = b[i + 1]; }",
        "reroll i",
    ),
    "blocked": (
        ("unsigned int ii = 0; ii + 50 < u; ii += 32", "unsigned int i = ii; i < ii + 32; i++"),
        "a[i] = b[i];",
        "unstripmine ii i",
    ),
    "two_ends": (
        ("unsigned int ii = 0; ii < u; ii += 32", "unsigned int i = ii; i < ii + 32 && i < u; i++"),
        "a[i] = b[i];",
        "unstripmine ii i",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_was_done_by_hand(name: str) -> None:
    """It is undone where the assumptions hold; elsewhere the loops are those of the text."""
    headers, body, undone = BY_HAND[name]
    loops = " ".join(f"for ({x})" for x in headers)
    fn = lx.loads(f"void f({PARAMS}) {{ {loops} {body} }}")["f"]
    for written in (emit.openmp(fn.apply(undone), **NAMES), fn.tile().openmp, fn.tile().opencl):
        text = next(t for file, t in written.files.items() if file.endswith(".c"))
        assert all(f"for ({x}) {{" in text for x in headers)
