"""Edits that an editor offers at a loop. Each is proven before it is offered: the file is read
again with it, and has to say what was promised.

restrict       parameters that a verdict assumes to be apart get it
pragma         a loop that is parallel gets `#pragma omp parallel for` with its clauses
cure           a wrong pragma gets the clause that makes it right, or goes
interchange    two headers change places where the step `interchange` is legal
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopxform.analysis.verdict import LoopVerdict
from loopxform.api.check import CheckedFunction
from loopxform.cli.check_text import together
from loopxform.cli.step_questions import can
from loopxform.errors import LoopxformError, TransformError
from loopxform.frontend.text.rawtext import without_comments
from loopxform.ir.nodes import For, Function
from loopxform.ir.visit import at, loops
from loopxform.lsp.analysis import Ask, looked_at
from loopxform.lsp.facts import Finding
from loopxform.records import record
from loopxform.source import Loc
from loopxform.transforms import Derivation, Interchange


@record
class Edit:
    """New text for what stands between two offsets."""

    start: int
    end: int
    text: str


@record
class Action:
    """Something to do, with its edits in text order; `cures` is the finding that it takes away."""

    title: str
    edits: tuple[Edit, ...]
    cures: Finding | None = None


def edited(text: str, edits: Sequence[Edit]) -> str:
    out, end = list[str](), 0
    for e in edits:
        out += [text[end : e.start], e.text]
        end = e.end
    return "".join([*out, text[end:]])


def actions(
    ask: Ask, line: int, findings: Sequence[Finding], *, cures_alone: bool = False
) -> list[Action]:
    """What can be done about the loops that begin on a line, and about `findings` there. Raises
    Stopped."""
    try:
        found = _Found(ask, looked_at(ask, line))
    except LoopxformError:
        return []
    out = list[Action]()
    for v in found.function.at_line(line) if not cures_alone else ():
        offered = (found.pragma(v), found.restrict(v), found.outwards(v), found.inwards(v))
        out += [a for a in offered if a is not None and a not in out]
    cured = (found.cure(f) for f in findings if f.pragma is not None)
    return [*(a for a in cured if a is not None), *out]


class _Found:
    """A function in its file, of which edits are asked."""

    def __init__(self, ask: Ask, function: CheckedFunction) -> None:
        self.ask, self.function = ask, function
        self.text, self.bare = ask.text, without_comments(ask.text)
        self.starts = [0, *(m.end() for m in re.finditer("\n", ask.text))]

    def offset(self, loc: Loc) -> int:
        return self.starts[loc.line - 1] + loc.column - 1

    def line(self, loc: Loc) -> str:
        return self.bare[self.starts[loc.line - 1] :].partition("\n")[0]

    def again(
        self, edits: Sequence[Edit], holds: Callable[[CheckedFunction], bool]
    ) -> tuple[Edit, ...] | None:
        """The edits, where the function is found in the edited file, and something holds of it."""
        here = self.function.loc
        assert here is not None
        before = sum(e.text.count("\n") for e in edits if e.start < self.offset(here))
        ask = replace(self.ask, text=edited(self.text, edits))
        try:
            after = looked_at(ask, here.line + before)
            is_same = after.name == self.function.name and holds(after)
        except LoopxformError:
            return None
        return tuple(edits) if is_same else None

    # ------------------------------------------------------------ restrict

    def restrict(self, v: LoopVerdict) -> Action | None:
        """`restrict` for the parameters that a verdict assumes to be apart."""
        from loopxform.report.restrict import restrictable  # loads what only this needs

        named = {word for a in v.assumes for word in a.split()}
        names = [n for n in restrictable(self.function) if n in named]
        edits = [e for n in names if (e := self._qualified(n)) is not None]
        if not names or len(edits) < len(names):
            return None
        edits.sort(key=lambda e: e.start)
        proven = self.again(edits, lambda f: _is_less(f, self.function, v, names))
        title = f"Add restrict to {', '.join(names)} (where no caller passes arrays that overlap)"
        return None if proven is None else Action(title, proven)

    def _qualified(self, name: str) -> Edit | None:
        """`float *a` -> `float *restrict a`, `a[N]` -> `a[restrict N]`; None where the declaration
        is of another form."""
        head = self._head()
        if head is None:
            return None
        start, end = head
        word = self._word()
        for m in re.finditer(rf"\b{re.escape(name)}\b\s*(\[)?", self.bare[start:end]):
            first = self.bare[: start + m.start()].rstrip()[-1:]
            if m[1] and (first.isalnum() or first in "_*"):
                there = start + m.end()
                inside = self.bare[there:].lstrip()[:1]
                return Edit(there, there, word if inside == "]" else f"{word} ")
            if not m[1] and (pointer := self._pointer(start, start + m.start())) is not None:
                return Edit(pointer, pointer, f"{word} " if self.bare[pointer] != " " else word)
        return None

    def _pointer(self, start: int, end: int) -> int | None:
        """Behind the last star in front of a name, that is in its own declaration."""
        m = re.search(r"\*((?:\s|const|volatile)*)\Z", self.bare[start:end])
        return None if m is None else start + m.start() + 1

    def _word(self) -> str:
        old = ("-ansi", "-std=c89", "-std=c90", "-std=iso9899:1990", "-std=gnu89", "-std=gnu90")
        return "__restrict" if any(x in old for x in self.ask.flags.cflags) else "restrict"

    def _head(self) -> tuple[int, int] | None:
        """Where the parameters of the function stand."""
        here = self.function.loc
        if here is None:
            return None
        start = self.bare.find("(", self.offset(here))
        depth = 0
        for n in range(start, len(self.bare)) if start >= 0 else ():
            depth += (self.bare[n] == "(") - (self.bare[n] == ")")
            if depth == 0:
                return start, n
        return None

    # ------------------------------------------------------------ pragmas

    def pragma(self, v: LoopVerdict) -> Action | None:
        """`#pragma omp parallel for` with the clauses of a verdict."""
        clauses = _clauses(v)
        has_one = any(v.path[: len(c.path)] == c.path for c in self.function.claims if c.path)
        if clauses is None or v.loc is None or has_one:  # of the loop, or of one around it
            return None
        indent = self.line(v.loc)[: v.loc.column - 1]
        if indent.strip():
            return None
        header = self._header(v.loc)
        if header is None or not is_canonical(self.bare[header[0] : header[1]]):
            return None
        words = " ".join(["#pragma omp parallel for", *clauses])
        there = self.starts[v.loc.line - 1]
        edit = Edit(there, there, f"{indent}{words}\n")
        proven = self.again([edit], lambda f: _is_proven(f, v.line + 1))
        notes = [", ".join(together(v.assumes))] if v.assumes else []
        notes = [f"proven if {n}" for n in notes]
        return None if proven is None else Action(_noted(f"Insert {words}", notes), proven)

    def cure(self, finding: Finding) -> Action | None:
        """The pragma of a finding with what makes it right, or without the pragma."""
        assert finding.pragma is not None
        at = self.starts[finding.pragma.line - 1]
        line = self.line(finding.pragma)
        if line.rstrip().endswith("\\") or not re.match(r"\s*#\s*pragma\b", line):
            return None
        made = _cured(line.rstrip(), finding.cure)
        end = at + (len(line.rstrip()) if made else len(line) + 1)
        edit = Edit(at, end, made)
        proven = self.again([edit], lambda f: _is_cured(f, finding, removed=not made))
        title = f"Cure: {finding.cure}" if made else "Remove the pragma, which is wrong"
        return None if proven is None else Action(title, proven, finding)

    # ------------------------------------------------------------ interchange

    def outwards(self, v: LoopVerdict) -> Action | None:
        """Interchange of a loop with the one that it is in."""
        return self._interchange(v.path[:-1]) if v.path and v.path[-1] == 0 else None

    def inwards(self, v: LoopVerdict) -> Action | None:
        """Interchange of a loop with the one that it holds."""
        return self._interchange(v.path)

    def _interchange(self, path: tuple[int, ...]) -> Action | None:
        fn = self.function.routine.function
        sites = {s.path: s.loop for s in loops(fn)}
        outer, inner = sites.get(path), sites.get((*path, 0))
        if outer is None or inner is None or len(outer.body) != 1:
            return None
        step = Interchange(_reference(fn, path), _reference(fn, (*path, 0)))
        edits = self._exchanged(outer, inner)
        if edits is None:
            return None
        answer = can(self.function.routine, str(step))
        if not answer.holds:
            return None
        after = Derivation(fn).then(step).function
        proven = self.again(edits, lambda f: f.routine.function.body == after.body)
        names = dict(fn.spelling)
        pair = " and ".join(names.get(x.var, x.var) for x in (outer, inner))
        notes = [f"legal if {', '.join(together(answer.assumes))}"] if answer.assumes else []
        title = _noted(f"Interchange the loops over {pair}", notes)
        return None if proven is None else Action(title, proven)

    def _exchanged(self, outer: For, inner: For) -> list[Edit] | None:
        """The two headers in each other's place, where nothing but braces and comments stands
        between them."""
        spans = [self._header(x.origin.loc) for x in (outer, inner)]
        if spans[0] is None or spans[1] is None or spans[0][1] > spans[1][0]:
            return None
        assert inner.origin.loc is not None
        between = self.bare[spans[0][1] + 1 : self.offset(inner.origin.loc)]
        if between.strip(" \t\n{"):
            return None
        if any(self._is_under_pragma(a) for a, _ in (spans[0], spans[1])):
            return None
        texts = [self.text[a:b] for a, b in (spans[0], spans[1])]
        return [Edit(*spans[0], texts[1]), Edit(*spans[1], texts[0])]

    def _header(self, loc: Loc | None) -> tuple[int, int] | None:
        """Where what is between the parentheses of a `for` begins and ends."""
        if loc is None or not re.match(r"for\s*\(", self.bare[self.offset(loc) :]):
            return None
        start = self.bare.index("(", self.offset(loc)) + 1
        depth = 1
        for n in range(start, len(self.bare)):
            depth += (self.bare[n] == "(") - (self.bare[n] == ")")
            if depth == 0:
                return start, n
        return None

    def _is_under_pragma(self, offset: int) -> bool:
        before = self.bare[: self.bare.rfind("for", 0, offset)].rstrip()
        return before[before.rfind("\n") + 1 :].lstrip().startswith("#")


INIT = re.compile(r"(?:[A-Za-z_]\w*\s+)*([A-Za-z_]\w*)\s*=(?!=)[^,=]*")
CONDITION = re.compile(r"([^<>=!&|?,]*)(<=?|>=?)([^<>=!&|?,]*)")


def is_canonical(header: str) -> bool:
    """Whether OpenMP takes a header, which is what stands between the parentheses of a `for`: one
    variable is set, compared and moved by some amount (OpenMP 5.2, section 4.4.1)."""
    parts = [p.strip() for p in header.split(";")]
    init = INIT.fullmatch(parts[0])
    condition = CONDITION.fullmatch(parts[1]) if len(parts) == 3 else None
    if init is None or condition is None or init[1] not in (x.strip() for x in condition.groups()):
        return False
    var = re.escape(init[1])
    steps = rf"{var}\s*(\+\+|--)|(\+\+|--)\s*{var}|{var}\s*[+-]=[^,=]+"
    longer = rf"{var}\s*=\s*({var}\s*[+-][^,=]+|[^,=]+\+\s*{var})"
    return re.fullmatch(f"{steps}|{longer}", parts[2]) is not None


def _noted(title: str, notes: Sequence[str]) -> str:
    return f"{title} ({'; '.join(notes)})" if notes else title


def _is_less(
    after: CheckedFunction, before: CheckedFunction, v: LoopVerdict, names: Sequence[str]
) -> bool:
    """Whether parameters are `restrict`, nothing else has changed, and less is assumed."""
    same = {x.path: x for x in after.loops}.get(v.path)
    fn, was = after.routine.function, before.routine.function
    qualified = {p.name for p in fn.params if p.restrict and not p.is_global}
    params = tuple(replace(p, restrict=False) for p in fn.params)
    unchanged = params == tuple(replace(p, restrict=False) for p in was.params)
    fewer = same is not None and len(same.assumes) < len(v.assumes)
    answer = same is not None and same.parallel == v.parallel
    return unchanged and fn.body == was.body and set(names) <= qualified and fewer and answer


def _clauses(v: LoopVerdict) -> list[str] | None:
    """The clauses of a verdict; None where there are none that say it."""
    if v.parallel in ("no", "unknown") or v.conditional:
        return None
    last = [n for n in v.private if n in v.copies and n != v.var]
    private = [n for n in v.private if n not in v.copies and n != v.var]
    if v.var in v.private and v.var in v.copies:
        last.insert(0, v.var)
    out = [f"private({', '.join(private)})"] if private else []
    out += [f"lastprivate({', '.join(last)})"] if last else []
    for op in dict.fromkeys(r.op for r in v.reductions):
        targets = [r.var for r in v.reductions if r.op == op]
        out.append(f"reduction({op}: {', '.join(targets)})")
    return out


def _is_proven(f: CheckedFunction, line: int) -> bool:
    claims = [f.claim(v) for v in f.at_line(line)]
    return bool(claims) and all(c is not None and c.proven is True for c in claims)


def _cured(line: str, cure: str) -> str:
    """The line of a pragma with a cure: a clause takes the place of another about the same names;
    "" without the pragma."""
    if cure.startswith("remove "):
        return re.sub(rf"\s*\b{re.escape(cure.removeprefix('remove '))}\b", "", line)
    m = re.fullmatch(r"\w+\((?:[^:()]*:)?\s*([^()]*)\)", cure)
    if m is None:
        return ""
    name = re.escape(m[1].strip())
    plain = re.sub(rf"\s*\b\w+\((?:[^:()]*:)?\s*{name}\s*\)", "", line)
    return f"{plain} {cure}"


def _is_cured(after: CheckedFunction, finding: Finding, *, removed: bool) -> bool:
    """Whether nothing is left of a finding, and nothing else is wrong with the pragma."""
    assert finding.pragma is not None
    here = [c for c in after.claims if c.loc and c.loc.line == finding.pragma.line]
    left = any(x.code == finding.code for c in here for x in c.findings)
    return not here if removed else bool(here) and not left


def _reference(fn: Function, path: tuple[int, ...]) -> str:
    """What a step calls a loop: `i`, or `i#2` where it is the second over i."""
    loop = at(fn, path)
    assert isinstance(loop, For)
    same = [s.path for s in loops(fn) if s.loop.var == loop.var]
    return loop.var if len(same) == 1 else f"{loop.var}#{same.index(path) + 1}"


def tiled(ask: Ask, line: int) -> tuple[str, str]:
    """The name of the function at a line, and its kernels: tiled, or where it has no single nest,
    those of the whole function. Raises LoopxformError, Stopped."""
    routine = looked_at(ask, line).routine
    with ask.limits():
        try:
            return routine.name, routine.tile().kernel
        except TransformError:
            raise
        except LoopxformError:
            return routine.name, routine.offload().kernel
