"""State that arithmetic and pure functions use or leave behind: `errno`, `signgam`, and the
floating-point environment.

    y = log(x); if (errno) ...      log is not pure where somebody looks at errno
    y = lgamma(x); s = signgam;     nor is lgamma where somebody looks at signgam
    fesetround(FE_UPWARD); y = x/3; nor is x/3 where somebody sets or tests the environment

Who looks is known within the file: the function itself, what it calls, and what calls it. A caller
counts for errno only where the file sets errno, because the library never clears it. `#pragma STDC
FENV_ACCESS ON` at file scope says that everybody may look at the environment, and so does what sets
the rounding of a block (`FENV_ROUND` of C23, `#pragma clang fp rounding`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from pycparser import c_ast

from loopxform.frontend.names.callgraph import CallGraph
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.syntax.tree import every
from loopxform.ir.functions import CLASSES, INTEGER, base_name

_ERRNO = frozenset(["errno", "__errno_location", "__error", "_errno"])
_SIGNGAM = frozenset(["signgam"])
_SILENT_TEXT = "cbrt ceil copysign fabs floor fmax fmin nearbyint rint round trunc"
_SILENT = CLASSES | frozenset(_SILENT_TEXT.split()) | INTEGER.keys()
"""Functions that set neither."""

_ENVIRONMENT = frozenset(
    re.findall(
        r"\w+",
        """feclearexcept fedisableexcept feenableexcept fegetenv fegetexceptflag fegetmode
        fegetround feholdexcept feraiseexcept fesetenv fesetexceptflag fesetmode fesetround
        fetestexcept feupdateenv _mm_setcsr _mm_getcsr _MM_SET_ROUNDING_MODE
        _MM_SET_FLUSH_ZERO_MODE __builtin_ia32_ldmxcsr _controlfp _controlfp_s""",
    )
)
ARITHMETIC = "/"
"""What `seen` takes for operations on floating-point numbers, which are no calls."""

_ACCESS = re.compile(
    r"(?:STDC\s+FENV_ACCESS|fenv_access)\s*\(?\s*ON\b"
    r"|STDC\s+FENV_ROUND\s+(?!FE_TONEAREST\b)\w"
    r"|clang\s+fp\b.*\brounding\s*\(\s*(?!tonearest\b)\w"
    r"|clang\s+fp\b.*\bexceptions\s*\(\s*(?:strict|maytrap)\b"
    r"|float_control\s*\(\s*except\s*,\s*on\b",
    re.IGNORECASE,
)
"""The environment may be looked at, or is another than the usual."""
_PRAGMA = "#pragma STDC FENV_ACCESS"


class Hidden:
    """What the functions of a file see of that state."""

    def __init__(self, text: Sequence[c_ast.Node]) -> None:
        """`text` is what stands at file scope, in order."""
        self._owner: Mapping[str, str] = {}
        self._looking = dict[frozenset[str], set[str]]()
        nodes = {n.decl.name: n for n in text if isinstance(n, c_ast.FuncDef)}
        self._named = {name: _names(n.body) for name, n in nodes.items()}
        self._calls = CallGraph(self._named)
        any_errno = any(found & _ERRNO for found in self._named.values())
        self._access = any(map(_access, text))
        self._clears = any_errno and any(_sets_errno(n.body) for n in nodes.values())

    def with_parts(self, owners: Mapping[str, str]) -> Hidden:
        """With functions made of statements of others, which `owners` names."""
        out = copy(self)
        out._owner = owners
        return out

    def reached(self, nodes: Iterable[c_ast.Node]) -> frozenset[str]:
        """The functions of the file that statements name, and those that these name."""
        named = (x.name for n in nodes for x in every(n) if isinstance(x, c_ast.ID))
        return frozenset[str]().union(*(self._calls.inside(name) for name in named))

    def seen(self, function: str, call: str) -> str | None:
        """The state that a call of a math function may change, and that somebody looks at who runs
        before or after `function`; None where there is none."""
        name, function = base_name(call) or call, self._owner.get(function, function)
        if call == ARITHMETIC:
            return "the floating-point environment" if self._rounds(function) else None
        if name == "lgamma" and self._looks(function, _SIGNGAM, callers=True):
            return "signgam"
        if name in _SILENT:
            return None
        return "errno" if self._looks(function, _ERRNO, callers=self._clears) else None

    def _rounds(self, function: str) -> bool:
        """Whether arithmetic may round in another way than to nearest, or somebody may look at the
        exceptions that it raises."""
        seen = _ENVIRONMENT | {_PRAGMA}
        return self._access or self._looks(function, seen, callers=True)

    def _looks(self, function: str, state: frozenset[str], *, callers: bool) -> bool:
        if state not in self._looking:
            direct = {f for f, named in self._named.items() if named & state}
            self._looking[state] = {f for f in self._named if self._calls.inside(f) & direct}
        around = self._calls.around(function) if callers else {function}
        return not self._looking[state].isdisjoint(around)


def _names(node: c_ast.Node) -> frozenset[str]:
    inside = list(every(node))
    named = frozenset(n.name for n in inside if isinstance(n, c_ast.ID))
    return named | {_PRAGMA} if any(map(_access, inside)) else named


def _access(node: c_ast.Node) -> bool:
    """`#pragma STDC FENV_ACCESS ON`, or what says as much in other words."""
    if not isinstance(node, c_ast.Pragma):
        return False
    return _ACCESS.match(pragma_text(node).strip()) is not None


def _sets_errno(node: c_ast.Node) -> bool:
    targets = (n.lvalue for n in every(node) if isinstance(n, c_ast.Assignment))
    return any(_names(t) & _ERRNO for t in targets)
