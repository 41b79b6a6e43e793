"""Numbers that the parts of a function begin with as they are declared."""

from __future__ import annotations

import pytest
from pycparser import c_ast, c_parser

from loopxform.frontend.names.variables import Variables
from loopxform.frontend.outline.first_values import begins_as_declared
from loopxform.frontend.syntax.tree import every

LOOP = "for (i = 0; i < n; i++) s += x[i];"
FIRST = {
    "a literal": (f"double s = -1; int i; {LOOP} return s;", True),
    "set before": (f"double s = 0; int i; s += n; {LOOP} return s;", False),
    "its address": (f"double s = 0, *p = &s; int i; *p = 1; {LOOP} return s;", False),
    "another block": (f"double s = 0; int i; while (n--) {{ {LOOP} }} return s;", False),
    "a jump": (f"int i; again:; double s = 0; {LOOP} if (s < 0) goto again; return s;", False),
}


@pytest.mark.parametrize("name", FIRST)
def test_a_number_begins_as_it_is_declared(name: str) -> None:
    """Where nothing sets it between, on no way."""
    body, known = FIRST[name]
    text = f"double f(int n, const double *x) {{ {body} }}"
    (function,) = c_parser.CParser().parse(text).ext
    variables = Variables(function, {})
    loop = next(x for x in every(function.body) if isinstance(x, c_ast.For))
    (d,) = [x for x in every(function.body) if isinstance(x, c_ast.Decl) and x.name == "s"]
    assert begins_as_declared(d, [loop], function, variables) is known
