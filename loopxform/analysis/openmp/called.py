"""Functions that a loop calls know nothing of its copies: a name of the file is the file's variable
there, whatever the clauses make private where the call stands (OpenMP 5.2, 5.1.2)."""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.analysis.openmp.claim import Doubt
from loopxform.analysis.openmp.construct import PRIVATE, Construct
from loopxform.ir.nodes import For, Load, Node, Stmt, Var
from loopxform.ir.visit import stmt_exprs, walk_expr

_MARK = "inline "


def called(c: Construct) -> Iterator[Doubt]:
    """Copies whose originals are used by functions that stand in the place of their calls."""
    copies = c.private.union(*(d.variables(*PRIVATE) for d in (*c.around, *c.inside)))
    of_file = {p.name for p in c.fn.globals if not p.local} - c.threadprivate
    for _, s in c.statements:
        for name, function in _of_functions(s):
            if name in of_file and {name, name.partition(".")[0]} & copies:
                text = f"'{name}' is a copy here, and {function}() uses the variable of the file"
                yield Doubt("LX310", text, s.origin.loc)


def _of_functions(s: Stmt) -> Iterator[tuple[str, str]]:
    """The names in a statement that are the text of a function called there, with that function."""
    if isinstance(s, For) and (function := _function(s)):
        yield s.var, function
    for e in (x for root in stmt_exprs(s) for x in walk_expr(root)):
        if function := _function(e):
            match e:
                case Var(name) | Load(name, _):
                    yield name, function


def _function(node: Node) -> str:
    found = (s.removeprefix(_MARK) for s in node.origin.steps if s.startswith(_MARK))
    return next(found, "")
