"""Macro expansion and conditionals, by pcpp: the only module that imports it.

Headers the user's folders do not hold are not read; what they and the compiler define is looked up
where it is mentioned (`outside`), and what that decides is recorded (`decisions`).
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from pcpp.parser import Action, OutputDirective, default_lexer
from pcpp.preprocessor import Preprocessor

from loopxform import trace
from loopxform.budget import spend
from loopxform.errors import InputError, LoopxformError
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.text import prelude, rawtext
from loopxform.frontend.text.conditions import evaluated
from loopxform.frontend.text.outside import COMPUTED, Outside, may_be
from loopxform.frontend.text.pragma_macros import expand_pragma
from loopxform.frontend.text.reader import Reader, in_front, is_file, missing_include
from loopxform.frontend.text.standards import escaped, require_plain
from loopxform.frontend.text.tokens import Lexical
from loopxform.frontend.text.variadic import Variadic
from loopxform.ir.decisions import Defined, Event, Expands, Holds, Line
from loopxform.source import Loc

_REMEDIES = {
    "unterminated #": "close it with #endif",
    "misplaced #": "remove it, or look for the #if that is missing before",
    "condition cannot": "a condition is a whole number: names of macros, operators, defined(NAME)",
    "macro": "look at the definition of the macro",
}
_LOOK = "preprocess the file with cc -E to see what is wrong"

_REMOVE: Exception = cast(Any, OutputDirective)(Action.IgnoreAndRemove)
_MARK = re.compile(r'^#line (\d+) "(.*?)"$', re.MULTILINE | re.DOTALL)


def expand(
    file: str, text: str, options: CppOptions, reader: Reader
) -> tuple[str, tuple[str, ...], tuple[Event, ...]]:
    """The text with macros expanded and `#line N "k"` marks, the system headers included, and what
    macros from outside decided."""
    cpp = _Preprocessor(file, options, reader)
    out = io.StringIO()
    try:
        for name in options.forced:
            cpp.put_in_front(name, out)
        cpp.parse(escaped(text), file)
        cpp.write(out)
        if any(now in out.getvalue() for now in cpp.now):
            trace.passing()
    except LoopxformError:
        raise
    except RecursionError as e:
        message = "includes or macros are nested too deeply"
        help = "look for a header that includes itself, or preprocess the file with cc -E"
        raise InputError(message, loc=Loc(file, 1, 1), help=help) from e
    except Exception as e:  # whatever pcpp trips over, the user's file is the cause
        help = "preprocess the file with cc -E, and name the result"
        raise InputError(f"cannot be preprocessed: {e}", loc=cpp.where(), help=help) from e
    return _MARK.sub(cpp.numbered, out.getvalue()), tuple(cpp.headers), tuple(cpp.events)


_NAME = re.compile(r"\W")
_HAS = re.compile(r"\b(__has_\w+)\s*\(\s*(?:<[^>\n]*>|\"[^\"\n]*\"|[\w:]+)\s*\)")
_DEFINED = re.compile(r"(!?) ?defined ?\(? ?(\w+) ?\)?")

_Base: Any = Preprocessor


def _definition(given: str) -> str:
    """`NAME VALUE` of what -D gives."""
    name, equals, value = given.partition("=")
    return f"{name} {value if equals else '1'}"


class _Macros(dict[str, Any]):
    """The macros that are defined, those from outside once they are asked for."""

    def __init__(self, cpp: _Preprocessor) -> None:
        super().__init__()
        self._cpp = cpp

    def __contains__(self, name: object) -> bool:
        spend()
        known = super().__contains__(name) or self._cpp.find(str(name))
        self._cpp.asked(str(name), known=known)
        return known


_BEGAN: dict[str, Any] = {}
"""The macros of the time at which the first file was read: one that is read twice is one text."""


class _Preprocessor(Lexical, Variadic, _Base):  # type: ignore[misc]  # pcpp has no types
    """pcpp with our headers, our diagnostics, and file names as the user gave them."""

    temp_path: list[str]
    """Folders of the files being read, the innermost first."""

    def __init__(self, file: str, options: CppOptions, reader: Reader) -> None:
        self._reader = reader
        super().__init__(default_lexer())  # type: ignore[no-untyped-call]
        self.evaluator = self._evaluated
        self.rewrite_paths: list[Any] = []
        self.auto_pragma_once_enabled = False
        self.headers: list[str] = []
        self._expanding: list[str] = []
        for name in ("__DATE__", "__TIME__"):
            self.macros[name] = _BEGAN.setdefault(name, self.macros[name])
        self.now = [self.macros[m].value[0].value.strip('"') for m in ("__DATE__", "__TIME__")]
        self._names = {os.path.abspath(file): file}
        self._absolute = os.path.isabs(file)
        del self.macros["__PCPP__"]
        self.outside = Outside(options)
        self.events: list[Event] = []
        self._gone = set(options.undefines)
        self._used = set[str]()
        self._tested = ""
        self._condition: dict[str, bool] | None = None
        known = dict[str, Any](self.macros)
        self._own = set(known)
        self.macros: dict[str, Any] = _Macros(self)
        self.macros.update(known)
        given = (d for d in options.defines if _NAME.split(d)[0] not in self._gone)
        self._given = [self._take(_definition(d)) for d in given]
        self.path += options.include_dirs
        self._quoted, self._in_front = options.quote_dirs, False

    # ------------------------------------------------------------ macros from outside

    def define(self, tokens: Any) -> None:
        """A definition: the user's, where it is not text."""
        super().define(tokens)
        if not isinstance(tokens, str):
            name = str(tokens[0].value)
            self._gone.discard(name)
            self._declare(name, "#define " + "".join(str(t.value) for t in tokens))

    def undef(self, tokens: Any) -> None:
        super().undef(tokens)
        if not isinstance(tokens, str):
            name = str(tokens[0].value)
            self._gone.add(name)
            self._declare(name, f"#undef {name}")

    def _declare(self, name: str, line: str) -> None:
        """What a macro is, is said by the user's text from now on, or in front of it."""
        said, other = self._own, self.outside.names
        if self._in_front:
            said, other = other, said
        said.add(name)
        other.discard(name)
        self._matters(name, line)

    def _record(self, event: Event) -> None:
        if not self._in_front:
            self.events.append(event)

    def _matters(self, name: str, line: str) -> None:
        """Tells the headers that are included later, where they may ask."""
        if may_be(name) or name == "NDEBUG":
            self.outside.line(line)
            self.events.append(Line(line))

    def _take(self, definition: str) -> str:
        super().define(definition)
        return _NAME.split(definition)[0]

    def find(self, name: str) -> bool:
        """Whether a macro that no file defines is known outside; then it is defined from now on."""
        if name in self._gone or name in COMPUTED:
            return False
        in_condition = self._condition is not None or name == self._tested
        if not (in_condition or may_be(name) or name in self.outside.headers):
            return False
        definition = self.outside.definition(name)
        if definition is not None:
            self._take(definition)
        return definition is not None

    def asked(self, name: str, *, known: bool) -> None:
        """Records what a macro decides that no file defines."""
        if name in self._own or name in COMPUTED or name == "__cplusplus":
            return
        if self._condition is not None:
            self._condition[name] = known
        elif name == self._tested:
            self._tested = ""
            known = known or self.outside.is_computed(name)
            self._record(Defined(name, known, self._is_bare(name)))
        elif known and name not in self._used and not self.outside.by_header(name):
            self._used.add(name)
            self._expands(name)

    def _expands(self, name: str) -> None:
        """Records what a macro stands for; one with parameters only where the user gives it."""
        m = self.macros.get(name)
        bare = self._is_bare(name)
        if m is None:
            self._record(Expands(name, None, bare))
        elif m.arglist is None:
            self._record(Expands(name, self.outside.text(name), bare))
        elif name in self._given or name in self.outside.names:
            call = f"{name}({', '.join(f'lx_{n}' for n, _ in enumerate(m.arglist))})"
            self._record(Expands(call, self.outside.text(call), bare))

    def _is_bare(self, *names: str) -> bool:
        return not self.headers or all(map(self.outside.is_bare, names))

    def on_directive_handle(
        self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
    ) -> bool | None:
        tests = directive.value in ("ifdef", "ifndef") and toks
        self._tested = str(toks[0].value) if tests else ""
        kept: bool | None = super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)
        return kept

    def evalexpr(self, tokens: Any) -> Any:
        """The value of a condition; what the compiler alone can say is asked of it."""
        names = dict.fromkeys(str(t.value) for t in tokens if t.type == self.t_ID)
        names.pop("defined", None)
        text = " ".join("".join(str(t.value) for t in tokens).split())
        outer, self._condition = self._condition, {}
        self._asks = list[Holds]()
        try:
            value = super().evalexpr(self._answered(tokens))
        finally:
            asked, self._condition = self._condition, outer
        if self._own.isdisjoint(names) and COMPUTED.isdisjoint(names):
            e = Holds(text, frozenset(names), bool(value[0]), self._is_bare(*names))
            if m := _DEFINED.fullmatch(text):
                self._record(Defined(m.group(2), e.holds != bool(m.group(1)), e.bare))
            elif names:
                self._record(replace(e, asks=tuple(self._asks)))
        else:
            computed = (e.condition.partition("(")[0].rstrip() for e in self._asks)
            for name in asked.keys() - {"defined", *computed}:
                self._expands(name)
            for e in self._asks:
                self._record(e)
        return value

    def _evaluated(self, tokens: list[Any], **more: Any) -> Any:
        """A condition whose macros have been replaced, which may ask the compiler."""
        return evaluated(self._answered(tokens), **more)

    def _answered(self, tokens: list[Any]) -> list[Any]:
        """The tokens with the compiler's answers (`_asks`) for `__has_builtin(x)` and the like."""
        text = "".join(str(t.value) for t in tokens)
        if "__has_" not in text:
            return tokens
        return list(self.tokenize(_HAS.sub(self._answer, text)))

    def _answer(self, m: re.Match[str]) -> str:
        call = m.group()
        if m.group(1) in self._own:  # a macro of the user's
            return call
        if self.outside.finds(call, self.temp_path[:1]):
            return "1"
        names = frozenset(filter(None, _NAME.split(call)))
        answer = Holds(call, names, self.outside.holds(call), bare=False)
        self._asks.append(replace(answer, asks=(answer,)))
        return str(int(answer.holds))

    def on_unknown_macro_in_defined_expr(self, tok: Any) -> bool:
        return self.outside.is_computed(str(tok.value))

    def on_unknown_macro_in_expr(self, ident: str) -> int:
        return self.include_depth - 1 if ident == "__INCLUDE_LEVEL__" else 0

    # ------------------------------------------------------------ places and diagnostics

    def numbered(self, m: re.Match[str]) -> str:
        """A line mark with the number of the file."""
        return f'#line {m.group(1)} "{self._reader.files.index(self._shown(m.group(2)))}"'

    def where(self) -> Loc:
        """The directive that was being handled, else the start of the file."""
        last = self.lastdirective
        if last is None:
            return Loc(self._reader.files[1], 1, 1)
        return self._place(last.source, last.lineno)

    def _shown(self, path: str) -> str:
        """The user's spelling of a file name."""
        if path in self._names:
            return self._names[path]
        here = os.getcwd() + os.sep
        return path[len(here) :] if path.startswith(here) and not self._absolute else path

    def _place(self, file: str, line: int, word: str = "") -> Loc:
        shown = self._shown(file)
        raw = self._reader.sources.line(Loc(shown, line, 1)) or ""
        column = raw.find(word) if word and word in raw else len(raw) - len(raw.lstrip())
        return Loc(shown, line, column + 1)

    def expand_macros(self, tokens: Any, expanding_from: Sequence[str] = ()) -> Any:
        """Leaves the macros alone that the tokens come from; pcpp forgets these when it expands an
        argument."""
        outer = self._expanding
        self._expanding = [*expanding_from] or outer
        try:
            return super().expand_macros(tokens, self._expanding)
        finally:
            self._expanding = outer

    def include(self, tokens: Any, original_line: Any) -> Iterator[Any]:
        """Looks for "x.h" beside the file that includes it, and in the folders of -iquote and -I;
        pcpp would also look beside the files that include that one, which C compilers for Unix do
        not."""
        outer, self.temp_path = self.temp_path, [*self.temp_path[:1], *self._quoted]
        yield from super().include(tokens, original_line)
        self.temp_path = outer

    def put_in_front(self, name: str, out: io.StringIO) -> None:
        """Reads a file of -include. What it decides itself is not asked again: its macros are, like
        those of -D, where the text depends on them. Raises InputError."""
        path = in_front(name, ("", *self._quoted, *self.path))
        self.outside.forced.append(os.path.abspath(path))
        self._in_front = True
        try:
            self.parse(self._text(os.path.abspath(path)), path)
            self.write(out)
            out.write("\n")
        finally:
            self._in_front = False

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        """Reads a header; OSError makes pcpp look further. Without -I it would look for <math.h>
        where it runs, as no compiler does."""
        if (is_system_include and not self.path) or not is_file(includepath):
            raise FileNotFoundError(includepath)
        return io.StringIO(self._text(includepath))

    def _text(self, path: str) -> str:
        shown, text = self._shown(path), rawtext.read(path)
        stripped = self._reader.add(shown, text)
        require_plain(shown, text, self.outside.options.flags)
        return escaped(stripped)

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, _curdir: str, includepath: str
    ) -> None:
        """System headers are known by what they declare; a user's own header must exist."""
        last = self.lastdirective
        if is_malformed:
            help = '#include "file.h", or #include <file.h>'
            loc = self._place(last.source, last.lineno)
            raise InputError("malformed #include", loc=loc, help=help)
        known = includepath in prelude.TYPES or includepath in prelude.MACROS
        if not is_system_include and not known:
            loc = self._place(last.source, last.lineno, f'"{includepath}"')
            raise missing_include(includepath, loc, quoted=True)
        self.headers.append(includepath)
        self.outside.include(includepath, ndebug=dict.__contains__(self.macros, "NDEBUG"))
        again = self._gone & self.outside.headers.keys()
        self._gone -= again
        self._own -= again
        self._record(Line(f"#include <{includepath}>"))
        raise _REMOVE

    def on_directive_unknown(
        self, directive: Any, toks: Any, _ifpassthru: bool, _precedingtoks: Any
    ) -> bool | None:
        """Pragmas pass; #error is an error; #warning and #ident are not for us."""
        if directive.value == "pragma":
            expand_pragma(toks, self.expand_macros)
            return None
        text = "".join(t.value for t in toks).strip()
        if directive.value == "error":
            raise InputError(
                f"#error {text}".strip(),
                loc=self._place(directive.source, directive.lineno, "#"),
                help="set what it asks for with -D NAME=VALUE",
            )
        if directive.value in ("warning", "ident", "sccs"):
            return True
        raise InputError(
            f"unknown directive #{directive.value}",
            loc=self._place(directive.source, directive.lineno, "#"),
            help="the directives are those of C99, and #pragma",
        )

    def on_error(self, file: str, line: int, msg: str) -> None:
        if "evaluat" in msg or msg == "Empty expression":
            msg = "the condition cannot be evaluated"
        loc = self.where() if file == "unknown" else self._place(file, line)
        message = msg[:1].lower() + msg[1:].strip()
        help = next((h for words, h in _REMEDIES.items() if words in message), _LOOK)
        raise InputError(message, loc=loc, help=help)
