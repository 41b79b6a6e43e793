"""Tiles hold elements as what they are computed with, where that is one floating type."""

from __future__ import annotations

import pytest
from c_texts import MAPPED, MM, STAGED
from conftest import Golden
from deriving import assert_step, refusal

import loopxform as lx
from loopxform.transforms.storage.convert_on_copy import read_as

BYTES = MM.replace("float A", "unsigned char A")
LISTINGS = {
    "bytes": (BYTES, *STAGED, "convert-on-copy A_loc"),
    "read-into-registers": (BYTES, *STAGED, "convert-on-copy A_loc", "copy-to-private A_loc k"),
    "padded": (BYTES, *STAGED, "convert-on-copy A_loc", "clamp-edges acc", "pad kk"),
}
REFUSALS = {
    "no-tile": (BYTES, *MAPPED, "convert-on-copy A"),
    "its-own-type": (BYTES, *STAGED, "convert-on-copy B_loc"),
    "in-registers-already": (BYTES, *STAGED, "copy-to-private A_loc k", "convert-on-copy A_loc"),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_listing(case: str, golden: Golden) -> None:
    golden.check(assert_step(*LISTINGS[case]))


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    golden.check(refusal(*REFUSALS[case]))


TEXT = """
void f(int n, const {kind} a[n], const float b[n], double d[n], float x[n], {kind} y[n], int z[n])
{{
  for (int i = 0; i < n; i++) {{
    {body}
  }}
}}"""

CASES = [
    ("unsigned char", "x[i] = a[i] * b[i];", "float"),
    ("unsigned char", "x[i] += a[i];", "float"),
    ("unsigned char", "x[i] = a[i];", "float"),
    ("unsigned char", "x[i] = b[i] < a[i] ? b[i] : 0;", "float"),
    ("unsigned char", "x[i] = z[i] ? a[i] : b[i];", "float"),
    ("unsigned char", "d[i] = z[i] ? a[i] : b[i];", "float"),
    ("float", "d[i] = z[i] ? a[i] : -a[0];", "double"),
    ("unsigned char", "d[i] += (float)a[i];", "float"),
    ("int", "x[i] = a[i] * b[i] + (float)a[0];", "float"),
    ("float", "d[i] += a[i];", "double"),
    ("float", "d[i] += (double)a[i] * a[0];", "double"),
    ("_Float16", "x[i] = -a[i];", "float"),
    ("_Float16", "y[i] = a[i] * b[i];", "float"),
    ("_Float16", "x[i] = a[i];", "float"),
    ("_Float16", "y[i] += a[i];", "float"),
    # Two types, and elements that are used as they are.
    ("unsigned char", "x[i] = a[i] * b[i]; d[i] = a[i] * d[i];", None),
    ("unsigned char", "x[i] = a[i] * b[a[i]];", None),
    ("unsigned char", "x[i] = a[i] * z[i];", None),
    ("unsigned char", "x[i] = a[i] - 1;", None),
    ("unsigned char", "z[i] = a[i] << 2;", None),
    ("unsigned char", "if (a[i]) x[i] += a[i];", None),
    ("unsigned char", "x[i] = b[i] * (a[i] && z[i]);", None),
    ("float", "d[i] += a[i] * a[i];", None),
    ("float", "x[i] = (float)a[i];", None),
    ("double", "x[i] = a[i] * b[i];", None),
    ("unsigned int", "x[i] = -a[i];", None),
    ("unsigned int", "x[i] = b[i] > 1 ? a[i] : -1;", None),
    ("float", "d[i] = b[i] > 1 ? a[i] : z[i];", None),
    ("double", "x[i] = z[i] > 1 ? a[i] : z[i] * 1L;", None),
    ("float", "d[i] = z[i] ? a[i] : (z[0] ? b[i] : 1);", "double"),
    ("int", "x[i] = z[i] ? a[i] : z[0];", "float"),
    ("_Float16", "y[i] = -a[i];", None),
    ("_Float16", "y[i] = a[i];", None),
    ("_Float16", "y[i] = z[i] ? a[i] : a[0];", None),
    ("_Float16", "y[i] = (_Float16)a[i];", None),
    ("_Float16", "x[i] = a[i] * b[i]; y[i] = a[i];", None),
]


@pytest.mark.parametrize(("kind", "body", "held"), CASES)
def test_what_elements_are_read_as(kind: str, body: str, held: str | None) -> None:
    fn = lx.loads(TEXT.format(kind=kind, body=body))["f"].function
    assert read_as(fn, fn.body, "a").c == (held or kind)
