"""A C file as its pieces, the declarations at file scope, and which of them a function depends on.

A function is judged again only where a piece changes that its verdicts may depend on:

    its own text, and that of functions that it calls, through any number of calls
    the declarations of names that are mentioned in these, and in one another
    functions that take the address of a static variable that these mention
    all directives of the file
    where functions have words that mean something for others: those, and all that call it

Of a function without loops and pragmas there are no verdicts: it depends on declarations alone.
The others need not even be parsed: `reduced` leaves declarations of them, every line in its place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from loopxform.frontend.syntax.declarations import Chunk, chunks, external_declarations
from loopxform.frontend.text.rawtext import blank, without_comments
from loopxform.records import record

DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
OWN_PRAGMA = re.compile(r"\s*#\s*pragma\s+(omp|loopxform|unroll|GCC\s+(unroll|ivdep))\b")
DEFINE = re.compile(r"#\s*define\s+(\w+)(.*)", re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
ADDRESS = re.compile(r"(?<!&)&(?!&)([^;{}]*)")
MARGIN = re.compile(r"^\}.*$", re.MULTILINE)
BRACE = re.compile(r"[{};]")
CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
FAR_REACHING = re.compile(
    r"\b(?:errno|__errno_location|__error|_errno|signgam|fe[a-z]+|asm|__asm\w*|_Pragma|__pragma"
    r"|__attribute\w*|_mm_\w+|_MM_\w+|__builtin_ia32_\w+|_control\w+|setjmp|longjmp"
    r"|__LINE__|__COUNTER__|__FILE__|extern)\b"
)
"""Words of a function that may mean something for others: what hidden state they see, whose
addresses are taken, what is permitted of floating point."""

TAIL = "\nstatic void loopxform_nothing_(void) {}\n"
"""A function that can always be read: errors of all others are problems of theirs."""


@record
class Piece:
    """A declaration or the definition of a function, from its first to its last character; `name`
    is that of the function, "" of anything else. `line` is where it begins."""

    text: str
    start: int
    line: int
    name: str = ""

    @property
    def lines(self) -> range:
        return range(self.line, self.line + self.text.count("\n") + 1)


@record
class Pieces:
    """A C file. `directives` are those that mean something outside of their function."""

    text: str
    items: tuple[Piece, ...]
    directives: tuple[Piece, ...]

    def at(self, line: int) -> Piece | None:
        """The piece that a line belongs to."""
        return next((p for p in self.items if line in p.lines), None)


def pieces(text: str) -> Pieces:
    """The pieces of a C file; where braces do not match, a function ends with a brace at the
    margin."""
    bare = without_comments(text)
    directives, parts, end, line = list[Piece](), list[str](), 0, 1
    for m in DIRECTIVE.finditer(bare):
        parts += [bare[end : m.start()], blank(m.group())]
        line += bare.count("\n", end, m.start())
        directives.append(Piece(m.group(), m.start(), line))
        line += m.group().count("\n")
        end = m.end()
    plain = "".join([*parts, bare[end:]])
    items = tuple(_items(text, plain))
    inside = [range(p.start, p.start + len(p.text)) for p in items if p.name]
    own = {d.start for d in directives if OWN_PRAGMA.match(d.text)}
    own = {at for at in own if any(at in r for r in inside)}
    return Pieces(text, items, tuple(d for d in directives if d.start not in own))


def _items(text: str, plain: str) -> Iterator[Piece]:
    """The declarations of a text, which is `plain` without comments and directives."""
    end, line = 0, 1
    for c in _declarations(plain):
        own = plain[c.start : c.end]
        start, stop = c.end - len(own.lstrip()), c.start + len(own.rstrip())
        if stop > start:
            line += plain.count("\n", end, start)
            end = start
            yield Piece(text[start:stop], start, line, _defined(plain[start:stop], c.name))


def _declarations(plain: str) -> Iterator[Chunk]:
    """The declarations of a text; where its braces do not match, each } at the margin ends some,
    and what does not match in front of it is one of them."""
    whole = chunks(plain)
    if whole is not None:
        yield from whole
        return
    ends = [m.end() for m in MARGIN.finditer(plain)]
    for start, end in zip([0, *ends], [*ends, len(plain)]):
        block = plain[start:end]
        cut = end if chunks(block) is not None else start + _balanced(block)
        for c in chunks(plain[start:cut]) or ():
            yield Chunk(start + c.start, start + c.end, c.name)
        if plain[cut:end].strip():
            name = CALLED.search(plain, cut, end)
            yield Chunk(cut, end, name[1] if name else None)


def _balanced(block: str) -> int:
    """The length of the declarations at the beginning of a text that end."""
    depth = last = 0
    for m in BRACE.finditer(LITERAL.sub(lambda x: blank(x.group()), block)):
        depth += (m[0] == "{") - (m[0] == "}")
        if depth < 0:
            break
        last = m.end() if depth == 0 else last
    return last


def _defined(text: str, name: str | None) -> str:
    """The name of the function that a piece defines."""
    return name if name and "{" in text and not text.startswith("typedef") else ""


# ---------------------------------------------------------------- what depends on what


@lru_cache(2048)
def _words(text: str) -> frozenset[str]:
    """The identifiers of a text, those of comments and literals aside."""
    return frozenset(IDENTIFIER.findall(LITERAL.sub(" ", without_comments(text))))


@lru_cache(2048)
def _heads(text: str) -> frozenset[str]:
    """What the function that a text defines may be called."""
    return frozenset(CALLED.findall(without_comments(text).partition("{")[0])) - KEYWORDS


LOOPS = frozenset(["for", "while", "do", "goto"])
KEYWORDS = frozenset(
    IDENTIFIER.findall(
        """auto break case char const continue default do double else enum extern float for goto if
        inline int long register restrict return short signed sizeof static struct switch typedef
        union unsigned void volatile while size_t include define pragma"""
    )
)


class Dependences:
    """What the functions of a file depend on. `headers` are the texts of files that it includes."""

    def __init__(self, found: Pieces, headers: Sequence[str] = ()) -> None:
        self.found, self.headers = found, tuple(headers)
        self._aliases, self._taking = dict[str, frozenset[str]](), set[str]()
        self._read_macros()
        declared = [p for p in found.items if not p.name]
        every = [*(p.text for p in declared), *headers]
        self._unions = any("union" in _words(t) for t in every)
        self._variables = self._shared(declared)
        self._declaring = defaultdict[str, list[int]](list)
        self._defining = defaultdict[str, list[int]](list)
        self._naming = defaultdict[str, list[int]](list)
        self._addressing = defaultdict[str, list[int]](list)
        self._mentioned = list[frozenset[str]]()
        self._loopless = set[int]()
        self._number(found.items)
        self._far = [n for n, p in enumerate(found.items) if p.name and self._reaches_far(p)]

    def _read_macros(self) -> None:
        """What the names of macros stand for, and which of them take addresses."""
        own = (p.text for p in self.found.directives)
        theirs = (m.group() for h in self.headers for m in DIRECTIVE.finditer(h))
        for text in (*own, *theirs):
            if m := DEFINE.search(text):
                self._aliases[m[1]] = self._aliases.get(m[1], frozenset()) | _words(m[2])
                if ADDRESS.search(m[2]):
                    self._taking.add(m[1])

    def _shared(self, declared: Iterable[Piece]) -> frozenset[str]:
        """The names through which one function can tell something of others by taking addresses:
        static variables, and where there are unions, whatever declarations mention."""
        words = [_words(p.text) for p in declared]
        for h in self.headers:
            plain = DIRECTIVE.sub("", without_comments(h))
            words += [_words(plain[c.start : c.end]) for c in external_declarations(plain)]
        kept = (w for w in words if self._unions or "static" in w)
        return frozenset[str]().union(*kept) - KEYWORDS - self._aliases.keys()

    def _number(self, items: Sequence[Piece]) -> None:
        functions = frozenset[str]().union(*(_heads(p.text) for p in items if p.name))
        for n, p in enumerate(items):
            every = self._expanded(p.text)
            words = every - KEYWORDS
            self._mentioned.append(words)
            if every.isdisjoint(LOOPS) and "#" not in p.text:
                self._loopless.add(n)
            if not p.name:
                _enter(self._declaring, words, n)
                continue
            _enter(self._defining, _heads(p.text), n)
            _enter(self._naming, words & functions, n)
            _enter(self._addressing, self._addressed(p.text, words) & self._variables, n)

    def _addressed(self, text: str, words: frozenset[str]) -> frozenset[str]:
        """The names whose addresses a function may take, or, where there are unions, whose members
        it mentions."""
        if self._unions or words & self._taking:
            return words
        return frozenset[str]().union(*map(_words, ADDRESS.findall(without_comments(text))))

    def _expanded(self, text: str) -> frozenset[str]:
        """The names that a text mentions, those of macros with what they stand for."""
        seen = set(_words(text))
        waiting = [w for w in seen if w in self._aliases]
        while waiting:
            new = self._aliases[waiting.pop()] - seen
            seen |= new
            waiting += [w for w in new if w in self._aliases]
        return frozenset(seen)

    def _reaches_far(self, p: Piece) -> bool:
        if FAR_REACHING.search(p.text):
            return True
        return any(FAR_REACHING.search(w) for w in self._expanded(p.text) - _words(p.text))

    def of(self, number: int) -> frozenset[int]:
        """The numbers of the pieces that a function depends on, itself included."""
        if number in self._loopless:
            return self._closure([number], [self._declaring])
        of_functions = [self._declaring, self._defining, self._addressing]
        of_functions += [self._naming] if self._far else []
        return self._closure([number, *self._far], of_functions)

    def _closure(
        self, start: Iterable[int], of_functions: Sequence[dict[str, list[int]]]
    ) -> frozenset[int]:
        seen = set(start)
        waiting = list(seen)
        while waiting:
            n = waiting.pop()
            tables = of_functions if self.found.items[n].name else [self._declaring]
            for table in tables:
                for w in self._mentioned[n] & table.keys():
                    waiting += (new := set(table[w]) - seen)
                    seen |= new
        return frozenset(seen)


def _enter(table: dict[str, list[int]], words: Iterable[str], n: int) -> None:
    for w in words:
        table[w].append(n)


# ---------------------------------------------------------------- fewer functions

PLAIN_HEAD = re.compile(r"[^{}]*\)\s*\Z")


def reduced(found: Pieces, kept: Iterable[int]) -> str:
    """The file with the functions that are `kept` alone, every line in its place; others that
    declarations name are declared."""
    stay = frozenset(kept)
    inside = [d.start for d in found.directives]
    named = frozenset[str]().union(*(_words(p.text) for p in found.items if not p.name))
    out, end = list[str](), 0
    for n, p in enumerate(found.items):
        if not p.name or n in stay or any(p.start <= at < p.start + len(p.text) for at in inside):
            continue
        body = without_comments(p.text).find("{") if p.name in named else 0
        if body and not PLAIN_HEAD.match(without_comments(p.text[:body])):
            continue
        at, stop = p.start + body, p.start + len(p.text)
        out += [found.text[end:at], ";" if body else " ", blank(found.text[at + 1 : stop])]
        end = stop
    return "".join([*out, found.text[end:]]) + TAIL
