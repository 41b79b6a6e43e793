"""Macro expansion and conditionals, by pcpp: the only module that imports it.

Headers the user's folders do not hold are not read; what they define is in `prelude`.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, cast

from pcpp.parser import Action, OutputDirective
from pcpp.preprocessor import Preprocessor

from loopxform import trace
from loopxform.errors import InputError, LoopxformError
from loopxform.frontend import prelude, rawtext
from loopxform.frontend.parsed import CppOptions
from loopxform.frontend.preprocess import Reader, is_file, missing_include
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
) -> tuple[str, tuple[str, ...]]:
    """The text with macros expanded and `#line N "k"` marks, and the system headers included."""
    cpp = _Preprocessor(file, options, reader)
    out = io.StringIO()
    try:
        for d in options.defines:
            name, equals, value = d.partition("=")
            cpp.define(f"{name} {value if equals else '1'}")
        for name in options.undefines:
            cpp.undef(cpp.tokenize(name))
        cpp.parse(text, file)
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
    return _MARK.sub(cpp.numbered, out.getvalue()), tuple(cpp.headers)


_Base: Any = Preprocessor


class _Preprocessor(_Base):  # type: ignore[misc]  # pcpp has no types
    """pcpp with our headers, our diagnostics, and file names as the user gave them."""

    temp_path: list[str]
    """Folders of the files being read, the innermost first."""

    def __init__(self, file: str, options: CppOptions, reader: Reader) -> None:
        super().__init__()
        self.rewrite_paths: list[Any] = []
        self.auto_pragma_once_enabled = False
        self.headers: list[str] = []
        self._expanding: list[str] = []
        self.now = [self.macros[m].value[0].value.strip('"') for m in ("__DATE__", "__TIME__")]
        self._reader = reader
        self._names = {os.path.abspath(file): file}
        self._absolute = os.path.isabs(file)
        self.undef(self.tokenize("__PCPP__"))
        for name, value in prelude.PREDEFINED.items():
            self.define(f"{name} {value}")
        for folder in options.include_dirs:
            self.path.append(folder)

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
        """Looks for "x.h" beside the file that includes it, and in the folders of -I; pcpp would
        also look beside the files that include that one, which C compilers for Unix do not."""
        outer, self.temp_path = self.temp_path, self.temp_path[:1]
        yield from super().include(tokens, original_line)
        self.temp_path = outer

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        """Reads a header; OSError makes pcpp look further. Without -I it would look for <math.h>
        where it runs, as no compiler does."""
        if (is_system_include and not self.path) or not is_file(includepath):
            raise FileNotFoundError(includepath)
        shown = self._shown(includepath)
        return io.StringIO(self._reader.add(shown, rawtext.read(includepath)))

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
        for name, value in prelude.macros_of(includepath, ndebug="NDEBUG" in self.macros).items():
            self.define(f"{name} {value}")
        raise _REMOVE

    def on_directive_unknown(
        self, directive: Any, toks: Any, _ifpassthru: bool, _precedingtoks: Any
    ) -> bool | None:
        """Pragmas pass; #error is an error; #warning and #ident are not for us."""
        if directive.value == "pragma":
            if toks and toks[0].value == "omp":
                self._expand_pragma(toks)
            elif toks and toks[0].value == "loopxform":
                self._expand_arguments(toks)
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

    def _expand_pragma(self, toks: list[Any]) -> None:
        """Macros in an OpenMP pragma are expanded (OpenMP 5.2, 3.1), in place."""
        expanded = self.expand_macros([copy(t) for t in toks[1:]])
        for t in toks[1:]:
            t.value = " "
        toks[-1].value = "omp" + "".join(t.value for t in expanded).replace("\n", " ")
        toks[0].value = " "

    def _expand_arguments(self, toks: list[Any]) -> None:
        """Macros in the arguments of an annotation stand for what they are defined as; the names
        of its options do not."""
        depth = 0
        for n, t in enumerate(toks):
            depth += {"(": 1, ")": -1}.get(t.value, 0)
            following = next((x.value for x in toks[n + 1 :] if x.value.strip()), "")
            if depth and t.type == self.t_ID and following != "=":
                t.value = "".join(x.value for x in self.expand_macros([copy(t)])).strip()

    def on_error(self, file: str, line: int, msg: str) -> None:
        if "evaluat" in msg or msg == "Empty expression":
            msg = "the condition cannot be evaluated"
        loc = self.where() if file == "unknown" else self._place(file, line)
        message = msg[:1].lower() + msg[1:].strip()
        help = next((h for words, h in _REMEDIES.items() if words in message), _LOOK)
        raise InputError(message, loc=loc, help=help)
