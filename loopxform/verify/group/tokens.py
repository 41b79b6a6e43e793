"""The words of OpenCL C text, with macros expanded and conditionals decided."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopxform.records import record
from loopxform.verify.group.fault import NotModelled

_WORD = re.compile(
    r"""(?P<space>(?:[ \t\r\f\v]|\\\n|/\*.*?\*/|//[^\n]*)+)
    |(?P<newline>\n)
    |(?P<number>0[xX][0-9a-fA-F]*(?:\.[0-9a-fA-F]*)?(?:[pP][+-]?\d+[fF]?)?[uUlL]*
       |(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<mark><<=|>>=|\#\#|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_DEFINED = re.compile(r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)")
_CONDITION = re.compile(r"(?:\d+|[()<>=!+*/ -]|and|or|not)*")


@record
class Token:
    """A word of the text; `kind` is a group of `_WORD`, `line` counts from 1."""

    kind: str
    text: str
    line: int


@record
class Macro:
    """`parameters` None: no parentheses follow the name."""

    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def scanned(text: str, line: int = 1) -> Iterator[Token]:
    """The words, spaces and ends of lines among them."""
    for m in _WORD.finditer(text):
        yield Token(m.lastgroup or "mark", m[0], line)
        line += m[0].count("\n")


def preprocessed(text: str, defines: Mapping[str, str]) -> list[Token]:
    """The words that are left once the directives are done, `_Pragma` among these."""
    words = list(_Preprocessor(defines).words(text))
    pragmas = {k for n, t in enumerate(words) if t.text == "_Pragma" for k in range(n, n + 4)}
    return [t for n, t in enumerate(words) if n not in pragmas]


@dataclass
class _Branch:
    """An #if: whether the lines in it count now, and whether a part of it has counted."""

    active: bool
    taken: bool


class _Preprocessor:
    def __init__(self, defines: Mapping[str, str]) -> None:
        self.macros = {n: Macro(None, tuple(_plain(scanned(v)))) for n, v in defines.items()}
        self.branches: list[_Branch] = []

    def words(self, text: str) -> Iterator[Token]:
        """Lines between directives are expanded together: calls of macros may span several."""
        pending: list[Token] = []
        line: list[Token] = []
        for t in [*scanned(text), Token("newline", "\n", 0)]:
            if t.kind != "newline":
                line.append(t)
                continue
            content = [x for x in line if x.kind != "space"]
            if content and content[0].text == "#":
                yield from self.expanded(pending)
                pending = []
                self._directive(line, content)
            elif all(b.active for b in self.branches):
                pending += content
            line = []
        yield from self.expanded(pending)

    # ------------------------------------------------------------ directives

    def _directive(self, line: Sequence[Token], content: Sequence[Token]) -> None:
        word = content[1].text if len(content) > 1 else ""
        rest = content[2:]
        active = all(b.active for b in self.branches)
        match word:
            case "ifdef" | "ifndef":
                self._open((rest[0].text in self.macros) == (word == "ifdef"))
            case "if":
                self._open(active and self._holds(rest))
            case "elif" | "else":
                branch = self.branches[-1]
                holds = not branch.taken and (word == "else" or self._holds(rest))
                branch.active, branch.taken = holds, branch.taken or holds
            case "endif":
                self.branches.pop()
            case "define" if active:
                self._define(line)
            case "undef" if active:
                self.macros.pop(rest[0].text, None)

    def _open(self, holds: bool) -> None:
        self.branches.append(_Branch(holds, holds))

    def _holds(self, tokens: Sequence[Token]) -> bool:
        text = " ".join(t.text for t in tokens)
        text = _DEFINED.sub(lambda m: str(int((m[1] or m[2]) in self.macros)), text)
        words = self.expanded(_plain(scanned(text)))
        plain = " ".join("0" if t.kind == "name" else t.text for t in words)
        plain = plain.replace("&&", " and ").replace("||", " or ").replace("! ", " not ")
        if not _CONDITION.fullmatch(plain):
            raise NotModelled(f"#if {text}", tokens[0].line)
        return bool(eval(plain))  # numbers and operators alone

    def _define(self, line: Sequence[Token]) -> None:
        """A parenthesis directly behind the name begins parameters."""
        start = next(n for n, t in enumerate(line) if t.text == "define") + 2
        name, rest = line[start].text, line[start + 1 :]
        if not rest or rest[0].text != "(":
            self.macros[name] = Macro(None, tuple(_plain(rest)))
            return
        end = next(n for n, t in enumerate(rest) if t.text == ")")
        parameters = tuple(t.text for t in _plain(rest[1:end]) if t.text != ",")
        self.macros[name] = Macro(parameters, tuple(_plain(rest[end + 1 :])))

    # ------------------------------------------------------------ expansion

    def expanded(
        self, tokens: Sequence[Token], hidden: frozenset[str] = frozenset()
    ) -> list[Token]:
        """Macros replaced, but those being replaced already."""
        words: list[Token] = []
        n = 0
        while n < len(tokens):
            t = tokens[n]
            n += 1
            macro = self.macros.get(t.text) if t.kind == "name" else None
            if macro is None or t.text in hidden:
                words.append(t)
                continue
            body: Sequence[Token] = macro.body
            if macro.parameters is not None:
                if n >= len(tokens) or tokens[n].text != "(":
                    words.append(t)
                    continue
                arguments, n = _arguments(tokens, n)
                body = self._filled(macro, arguments, hidden)
            here = [replace(x, line=t.line) for x in body]
            words += self.expanded(here, hidden | {t.text})
        return words

    def _filled(
        self, macro: Macro, arguments: Sequence[Sequence[Token]], hidden: frozenset[str]
    ) -> list[Token]:
        """The body with arguments in place of parameters, joined by ## and quoted by #."""
        given = dict(zip(macro.parameters or (), arguments))
        words: list[Token] = []
        body = macro.body
        n = 0
        while n < len(body):
            t = body[n]
            follows = body[n + 1].text if n + 1 < len(body) else ""
            if t.text == "#":
                n += 1
                text = " ".join(x.text for x in given[body[n].text])
                words.append(replace(t, kind="string", text=f'"{text}"'))
            elif t.text == "##":
                n += 1
                right = given.get(body[n].text, [body[n]])
                joined = words.pop().text + "".join(x.text for x in right)
                words += _plain(scanned(joined, t.line))
            elif t.text not in given:
                words.append(t)
            else:
                raw = list(given[t.text])
                words += raw if follows == "##" else self.expanded(raw, hidden)
            n += 1
        return words


def _plain(tokens: Iterator[Token] | Sequence[Token]) -> list[Token]:
    return [t for t in tokens if t.kind not in ("space", "newline")]


def _arguments(tokens: Sequence[Token], at: int) -> tuple[list[list[Token]], int]:
    """The arguments in the parentheses that open at `at`, and what follows these."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for n in range(at, len(tokens)):
        t = tokens[n]
        depth += (t.text == "(") - (t.text == ")")
        if depth == 0:
            return arguments, n + 1
        if t.text == "," and depth == 1:
            arguments.append([])
        elif n > at:
            arguments[-1].append(t)
    raise NotModelled("a call of a macro that does not end", tokens[at].line)
