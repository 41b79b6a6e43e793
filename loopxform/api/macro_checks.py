"""Whether a build compiles the text of a part that was read: C for the user's file that asks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loopxform.codegen import render
from loopxform.codegen.host.macro_checks import Mark, marks, test
from loopxform.frontend.outline import Definition, Original
from loopxform.ir.decisions import Decision, Defined, Expands, Holds

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Configured:
    """What is asked of macros for the text of a function: at the top of the file, where nothing of
    the user's has changed them (`above`); in front of the function, where headers are known
    (`here`); and what macros of the file, defined or not for other reasons, stand for there."""

    above: tuple[Decision, ...] = ()
    here: tuple[Decision, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.above or self.here or self.texts)

    @property
    def names(self) -> frozenset[str]:
        """The macros that are asked for in front of the function."""
        return frozenset(n for e in self.here for n in e.names) | {n for n, _ in self.texts}

    def text(self, name: str, known: Sequence[Mark], *, first: bool) -> str:
        """`lx_same_NAME`, for the part called `name`."""
        tests = [(differs, said(e)) for e in self.here if (differs := test(e)) is not None]
        marked = [(m.differs, said(m.decision)) for m in known if m.decision in self.above]
        given = {"name": name, "first": first, "asked": self.texts}
        return render.fill("same_macros.c.j2", tests=tests, marked=marked, **given)


def configured(original: Original, events: Iterable[object], owner: Definition) -> Configured:
    """What decides the text of `owner`; `events` are those that do."""
    decisions = [e for e in events if isinstance(e, Defined | Holds | Expands)]
    own = {m.group(1) for text in original.texts for m in _DEFINE.finditer(text)}
    late = [e for e in decisions if not e.bare]
    changed = [e for e in late if not _texts(e).isdisjoint(own) or test(e) is None]
    names = sorted({n for e in changed for n in _texts(e)})
    asks = [a for e in changed for a in _asks(e)]
    return Configured(
        tuple(e for e in decisions if e.bare),
        tuple(dict.fromkeys([*(e for e in late if e not in changed), *asks])),
        tuple(original.expansions(owner, names).items()) if names else (),
    )


def _asks(e: Decision) -> tuple[Holds, ...]:
    return e.asks if isinstance(e, Holds) else ()


def _texts(e: Decision) -> frozenset[str]:
    """The macros of an answer that stand for text: `__has_builtin`, which a compiler computes where
    it is asked, does not."""
    return e.names - {n for a in _asks(e) for n in a.names}


def above(parts: Iterable[Configured]) -> list[Mark]:
    """What the parts ask at the top of their file."""
    return list(marks(e for p in parts for e in p.above))


def said(e: Decision) -> str:
    """What has to be as it was."""
    match e:
        case Holds(condition, _, _):
            return f"the condition {condition}"
        case Defined(name, _) | Expands(name, _):
            return f"the macro {name}"
