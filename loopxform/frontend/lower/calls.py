"""Why a call is not modelled: what it does besides giving a value."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from loopxform.frontend.names.callgraph import CallGraph
from loopxform.frontend.syntax.tree import every
from loopxform.ir.functions import is_known
from loopxform.ir.nodes import LIBRARY_CALL

_WRITES = """printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc fwrite write
    perror fflush putchar_unlocked putwchar wprintf fwprintf"""
_READS = """scanf fscanf getchar getc fgetc fgets gets fread read getline getdelim ungetc
    fseek rewind ftell feof ferror fopen fclose"""
_GENERATORS = "rand srand random srandom drand48 srand48 lrand48 mrand48 strtok"
_CLOCKS = "erand48 time clock gettimeofday clock_gettime"
_STATE = f"{_GENERATORS} {_CLOCKS}"
_MEMORY = "malloc calloc realloc free alloca aligned_alloc posix_memalign strdup"
_NO_COUNTERPART = """ilogb ilogbf j0 j0f j1 j1f jn jnf y0 y0f y1 y1f yn ynf modf modff frexp frexpf
    remquo remquof sincos sincosf nan nanf nexttoward nexttowardf scalbln scalblnf exp10 exp10f
    pow10 drem significand lgamma_r lgammaf_r fpclassify isunordered islessgreater"""
_ENDS = "exit abort _exit _Exit quick_exit longjmp assert __assert_fail"

_TEXTS = {
    _WRITES: (
        f"{LIBRARY_CALL} '{{}}': the order of output would change",
        "write the values into an array, and print that in a loop of its own",
    ),
    _READS: (
        f"{LIBRARY_CALL} '{{}}': the order of input and of file positions matters",
        "read into an array first, in a loop of its own",
    ),
    _STATE: (
        f"{LIBRARY_CALL} '{{}}': it keeps a state from one call to the next",
        "give each iteration a state of its own",
    ),
    _MEMORY: (
        f"{LIBRARY_CALL} '{{}}': which memory it manages is not known here",
        "allocate once, before the loops",
    ),
    _NO_COUNTERPART: (
        f"{LIBRARY_CALL} '{{}}' has no counterpart in OpenCL C",
        "write it with other functions of <math.h>",
    ),
    _ENDS: (
        f"{LIBRARY_CALL} '{{}}' may end the program",
        "set a flag, and look at it after the loop",
    ),
}
_LONG_DOUBLE = (
    f"{LIBRARY_CALL} '{{}}' computes in long double, which OpenCL C lacks",
    "call the function for double",
)
_KNOWN = {name: why for names, why in _TEXTS.items() for name in names.split()}
_INLINE = "write out what it computes, or move the call out of the loops"


def unknown_call(name: str, own: Mapping[str, str]) -> tuple[str, str]:
    """The reason and the remedy for a call that is not modelled. `own` gives the functions of the
    file, each with what keeps its body from standing in the place of a call, if that is known."""
    if name in own:
        what = f"the effects of calling '{name}' are not known"
        reason = f"{what}: {own[name]}" if own[name] else what
        return reason, f"inline the body of '{name}' into the loop"
    if name.endswith("l") and is_known(name[:-1]):
        return _LONG_DOUBLE[0].format(name), _LONG_DOUBLE[1]
    reason, help = _KNOWN.get(name, ("the effects of calling '{}' are not known", _INLINE))
    return reason.format(name), help


_IN_ORDER = frozenset(f"{_WRITES} {_READS} {_GENERATORS}".split())
"""What must happen in the order of the program; a clock tells the time whatever the order."""


def effect_on_order(name: str) -> str | None:
    """What would change if two calls of a function of the library changed places; None where
    nothing would, or it is not known."""
    if name not in _IN_ORDER:
        return None
    return unknown_call(name, {})[0].partition(": ")[2]


def leaves_variables(name: str) -> bool:
    """Whether a function of the library modifies no variable but those it is given."""
    return name in _KNOWN


def keeps_no_address(name: str) -> bool:
    """Whether a function of the library forgets the addresses that it is given."""
    return (name in _KNOWN and name != "strtok") or is_known(name)


def obstacles(ast: c_ast.FileAST) -> dict[str, str]:
    """What keeps the body of each function of a file from standing in the place of a call."""
    nodes = {n.decl.name: n for n in ast.ext if isinstance(n, c_ast.FuncDef)}
    calls = CallGraph({name: _called(node) for name, node in nodes.items()})
    return {
        name: "it calls itself" if calls.calls_itself(name) else _obstacle(node)
        for name, node in nodes.items()
    }


def _called(node: c_ast.FuncDef) -> frozenset[str]:
    found = (n.name for n in every(node.body) if isinstance(n, c_ast.FuncCall))
    return frozenset(n.name for n in found if isinstance(n, c_ast.ID))


def _obstacle(node: c_ast.FuncDef) -> str:
    inside = list(every(node.body))
    loops = [n for n in inside if isinstance(n, c_ast.For | c_ast.While | c_ast.DoWhile)]
    if any(isinstance(n, c_ast.Return) for s in loops for n in every(s)):
        return "it returns from inside a loop"
    if any(isinstance(n, c_ast.Decl) and "static" in n.storage for n in inside):
        return "it keeps a static variable"
    return ""
