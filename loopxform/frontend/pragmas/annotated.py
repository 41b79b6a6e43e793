"""Annotations of one function: what they govern, and what their names stand for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

import loopxform.frontend.pragmas.annotations as written
from loopxform.errors import InputError
from loopxform.frontend.names.symbols import Symbol, Table
from loopxform.frontend.pragmas.annotations import Malformed, Written
from loopxform.frontend.pragmas.conditions import condition
from loopxform.frontend.pragmas.directives import pragma_text
from loopxform.frontend.pragmas.governed import by_origin, outermost
from loopxform.frontend.syntax.places import Inlined, Places
from loopxform.frontend.syntax.tree import every
from loopxform.ir.annotations import Annotation
from loopxform.ir.nodes import Expr, Stmt
from loopxform.source import Loc, Origin

LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_CODE = "LX066"
OF_NAMES = ("assume", "noalias")
"""What is said of the whole function, wherever it stands."""


@dataclass
class Noted:
    """An annotation, and the origins of what it governs."""

    annotation: Annotation
    origins: list[Origin] = field(default_factory=list)


class Annotations:
    """Collects the annotations of one function while its statements are lowered; `before` are the
    pragmas in front of it, `own` its parameters and the objects of the file that it uses. Raises
    InputError for one that says nothing meaningful. A `part` of a function has what its own
    statements are tiled by, and what is said of the names that it has."""

    def __init__(
        self,
        table: Table,
        places: Places,
        stable: Collection[str],
        before: Sequence[c_ast.Pragma],
        own: Mapping[str, Symbol],
        *,
        part: bool = False,
    ) -> None:
        self.table = table
        self.places = places
        self.stable = stable
        self.own = own
        self.part = part
        self.seen: list[Noted] = []
        self.scop: Noted | None = None
        for node in before:
            for w in self._read(node):
                noted = self._note(node, w, own)
                if noted is None:
                    continue
                noted.annotation = replace(noted.annotation, whole=True)
                if w.verb == "parallel":
                    help = "write it in front of each loop that it is said of, or write check"
                    raise _error(node, places, w.at, w.verb, "stands in front of no loop", help)

    # ------------------------------------------------------------ the walk over the body

    def meet(self, node: c_ast.Pragma) -> list[Noted]:
        """Notes a pragma of a block; the result waits for the statement that it governs."""
        waiting = []
        for w in self._read(node):
            if isinstance(node.coord, Inlined) and w.verb not in ("tile", "ignore"):
                continue  # what it says is asked where the function is defined
            if w.verb == "endscop":
                self.scop = None
                continue
            if w.verb == "scratch":
                help = "write it in front of the function whose caller gives the array"
                error = "stands inside of a function"
                raise _error(node, self.places, w.at, w.verb, error, help)
            seen = self.table.pragmas.get(id(node), {})
            noted = self._note(node, w, {n: s for n, s in seen.items() if self._is_here(s)})
            if noted is None:
                continue
            if w.verb == "scop":
                self.scop = noted
            elif w.verb not in OF_NAMES:
                waiting.append(noted)
        return waiting

    def govern(
        self,
        waiting: Sequence[Noted],
        node: c_ast.Node,
        found: Sequence[Stmt],
        scop: Noted | None,
    ) -> None:
        """The statements that `node` was lowered to are governed by the pragmas before it, and by
        the scop it began in and did not leave."""
        for noted in waiting:
            a = noted.annotation
            if a.verb != "ignore" and not isinstance(node, LOOPS):
                help = "write it directly in front of a loop"
                raise self._misplaced(a, "stands in front of no loop", help)
            noted.origins += [s.origin for s in found]
        if scop is not None and scop is self.scop:
            scop.origins += [s.origin for s in found]

    def end(self, waiting: Sequence[Noted]) -> None:
        """Nothing follows in this block."""
        for noted in waiting:
            help = "write it in front of a statement"
            raise self._misplaced(noted.annotation, "stands in front of nothing", help)

    def resolved(self, body: tuple[Stmt, ...]) -> tuple[Annotation, ...]:
        """The annotations in text order, with the paths that their statements have in `body`."""
        where = by_origin(body)
        return tuple(replace(n.annotation, paths=outermost(n.origins, where)) for n in self.seen)

    @property
    def assumed(self) -> tuple[Expr, ...]:
        """The conditions of all `assume`."""
        found = (n.annotation.conditions for n in self.seen)
        return tuple(dict.fromkeys(e for es in found for e in es))

    @property
    def scratch(self) -> tuple[str, ...]:
        """The arrays of all `scratch`."""
        found = (n.annotation for n in self.seen if n.annotation.verb == "scratch")
        return tuple(dict.fromkeys(name for a in found for name in a.words))

    # ------------------------------------------------------------ one annotation

    def _read(self, node: c_ast.Pragma) -> tuple[Written, ...]:
        found = read(node, self.places)
        return tuple(w for w in found if not self.part or w.verb in ("tile", *OF_NAMES))

    def _note(self, node: c_ast.Pragma, w: Written, names: Mapping[str, Symbol]) -> Noted | None:
        """The annotation; None where a part of a function does not have the names in it."""
        loc, width = word_place(node, self.places, w.at, w.verb)
        made = Annotation(w.verb, w.text, loc, width)
        try:
            match w.verb:
                case "tile":
                    made = replace(made, options=written.options(w))
                case "check":
                    made = replace(made, words=(written.verdict(w),))
                case "fp":
                    made = replace(made, words=(written.level(w),))
                case "assume":
                    text = w.argument or ""
                    found = condition(text, w.inside, names, self.stable)
                    made = replace(made, conditions=found)
                case "noalias":
                    arrays = written.arrays(w)
                    made = replace(made, words=tuple(_array(at, n, names) for at, n in arrays))
                case "scratch":
                    arrays = written.arrays(w)
                    words = tuple(_parameter(at, n, names) for at, n in arrays)
                    made = replace(made, words=words)
                case _:
                    pass
        except Malformed as why:
            if self.part and w.verb in OF_NAMES:
                return None
            raise _malformed(node, self.places, why) from why
        self.seen.append(Noted(made))
        return self.seen[-1]

    def _is_here(self, s: Symbol) -> bool:
        """Whether a name of the file is one that the function uses."""
        return s.kind != "global" or s.value is not None or s.name in self.own

    def _misplaced(self, a: Annotation, message: str, help: str) -> InputError:
        return InputError(f"'{a.verb}' {message}", loc=a.loc, code=_CODE, help=help, width=a.width)


def _array(at: int, name: str, names: Mapping[str, Symbol]) -> str:
    """The array of that name. Raises Malformed."""
    symbol = names.get(name)
    if symbol is None or not symbol.type.derived or not symbol.is_variable:
        help = "name arrays or pointers of the function"
        raise Malformed(at, name, f"noalias: '{name}' is no array here", help)
    return symbol.ir or symbol.name


def _parameter(at: int, name: str, names: Mapping[str, Symbol]) -> str:
    """The array of that name that the caller gives. Raises Malformed."""
    symbol = names.get(name)
    if symbol is None or not symbol.type.derived or symbol.kind != "param":
        help = "name arrays or pointers among the parameters; others are the function's own anyway"
        raise Malformed(at, name, f"scratch: '{name}' is no array that the caller gives", help)
    return symbol.ir or symbol.name


# ---------------------------------------------------------------- pragmas


def read(node: c_ast.Pragma, places: Places) -> tuple[Written, ...]:
    """What a pragma says to us, nothing where it is not ours. Raises InputError."""
    text = pragma_text(node)
    if not written.is_ours(text):
        return ()
    try:
        return written.verbs(text)
    except Malformed as why:
        raise _malformed(node, places, why) from why


def unread(pragmas: Sequence[c_ast.Pragma], places: Places) -> tuple[Annotation, ...]:
    """What the pragmas of a function ask that is not modelled: without what they govern."""
    return tuple(
        Annotation(w.verb, w.text, *word_place(node, places, w.at, w.verb))
        for node in pragmas
        for w in read(node, places)
    )


def require_balance(ast: c_ast.FileAST, places: Places) -> None:
    """In the text of every function each `scop` is followed by its `endscop`. Raises InputError."""
    for node in ast.ext:
        if isinstance(node, c_ast.FuncDef):
            _require_balance(node.body, places)


def _require_balance(body: c_ast.Node, places: Places) -> None:
    last: tuple[c_ast.Pragma, str] | None = None
    pragmas = (n for n in every(body) if isinstance(n, c_ast.Pragma))
    for node in pragmas:
        for w in read(node, places):
            if w.verb not in written.SCOPS:
                continue
            if w.verb == "scop" and last is not None:
                help = "write #pragma endscop before it"
                raise _error(node, places, w.at, w.verb, "begins inside another", help)
            if w.verb == "endscop" and last is None:
                help = "write #pragma scop in front of the first loop"
                raise _error(node, places, w.at, w.verb, "has no scop before it", help)
            last = (node, w.verb) if w.verb == "scop" else None
    if last is not None:
        help = "write #pragma endscop behind the last loop"
        raise _error(last[0], places, 0, last[1], "has no endscop in its function", help)


def misplaced(nodes: Sequence[c_ast.Pragma], places: Places) -> None:
    """Pragmas of the file that no function follows. Raises InputError for one that is ours."""
    for node in nodes:
        for w in read(node, places):
            help = "write it in front of a function, or of a loop"
            raise _error(node, places, w.at, w.verb, "stands in front of no function", help)


def _malformed(node: c_ast.Pragma, places: Places, why: Malformed) -> InputError:
    loc, width = word_place(node, places, why.at, why.word)
    return InputError(why.message, loc=loc, code=_CODE, help=why.help, width=width)


def _error(
    node: c_ast.Pragma, places: Places, at: int, verb: str, message: str, help: str
) -> InputError:
    loc, width = word_place(node, places, at, verb)
    return InputError(f"'{verb}' {message}", loc=loc, code=_CODE, help=help, width=width)


def word_place(node: c_ast.Pragma, places: Places, at: int, word: str) -> tuple[Loc | None, int]:
    """The place of a word of a pragma, and how long it is there: the pragma's own place where
    the word stands in another line or comes from a macro."""
    loc = places.loc(node.coord, "#" if isinstance(node.string, str) else "_Pragma")
    raw = places.sources.line(loc) if loc else None
    if loc is None or raw is None:
        return loc, 1
    start = raw.find(pragma_text(node).split()[0], loc.column - 1)
    column = max(raw.find(word, start + at), raw.find(word, max(start, 0)))
    if start < 0 or column < 0:
        return loc, 1
    return Loc(loc.file, loc.line, column + 1), len(word)
