"""Facts as the messages of the protocol, in the places of the editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol import types as lsp

from loopxform.analysis.matrix import aligned
from loopxform.cli.check_text import LEGEND
from loopxform.errors import LoopxformError
from loopxform.frontend.text.rawtext import read
from loopxform.lsp.actions import Action
from loopxform.lsp.analysis import FileFacts
from loopxform.lsp.documents import Document
from loopxform.lsp.facts import Finding, LoopFact, Related
from loopxform.lsp.texts import Text
from loopxform.source import Loc

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "information": lsp.DiagnosticSeverity.Information,
    "hint": lsp.DiagnosticSeverity.Hint,
}
TILED_KERNEL = "loopxform.tiledKernel"


def position(text: Text, loc: Loc, further: int = 0) -> lsp.Position:
    return lsp.Position(*text.place_of(loc, further))


def span(text: Text, loc: Loc, width: int) -> lsp.Range:
    return lsp.Range(position(text, loc), position(text, loc, width))


# ---------------------------------------------------------------- diagnostics


def diagnostics(d: Document, facts: FileFacts) -> list[lsp.Diagnostic]:
    """All findings of a file, those of its headers at its beginning."""
    every = [*facts.findings, *(f for x in facts.every for f in x.findings)]
    return [diagnostic(d, f) for f in every]


def diagnostic(d: Document, f: Finding) -> lsp.Diagnostic:
    here = f.loc.file == d.path
    place = span(d.text, f.loc, f.width) if here else lsp.Range(_TOP, _TOP)
    message = f.message if here else f"{f.loc}: {f.message}"
    related = [x for r in f.related if (x := _related(d, r)) is not None]
    return lsp.Diagnostic(
        range=place,
        message=message,
        severity=SEVERITIES[f.severity],
        code=f.code,
        source="loopxform",
        related_information=related or None,
    )


_TOP = lsp.Position(0, 0)


def _related(d: Document, r: Related) -> lsp.DiagnosticRelatedInformation | None:
    if r.loc.file == d.path:
        where = lsp.Location(d.uri, span(d.text, r.loc, 1))
        return lsp.DiagnosticRelatedInformation(where, r.message)
    try:
        text = Text(read(r.loc.file), d.text.units)
    except (LoopxformError, OSError, ValueError):
        return None
    where = lsp.Location(Path(r.loc.file).absolute().as_uri(), span(text, r.loc, 1))
    return lsp.DiagnosticRelatedInformation(where, r.message)


# ---------------------------------------------------------------- hints and hovers


def hints(d: Document, facts: FileFacts, within: lsp.Range) -> list[lsp.InlayHint]:
    """A verdict behind the line of each loop; several on a line say which is whose."""
    lines = dict[int, list[LoopFact]]()
    for x in _loops(d, facts):
        lines.setdefault(d.text.place_of(x.loc)[0], []).append(x)
    out = list[lsp.InlayHint]()
    for line, loops in lines.items():
        if not within.start.line <= line <= within.end.line:
            continue
        for x in loops:
            label = x.label if len(loops) == 1 else f"{x.var}: {x.label}"
            end = d.text.place(d.text.starts[line] + len(d.text.line(line)))
            tooltip = lsp.MarkupContent(lsp.MarkupKind.Markdown, x.about)
            out.append(lsp.InlayHint(lsp.Position(*end), label, tooltip=tooltip, padding_left=True))
    return out


def _loops(d: Document, facts: FileFacts) -> Iterator[LoopFact]:
    return (x for f in facts.every for x in f.loops if x.loc.file == d.path)


def loops_at(d: Document, facts: FileFacts, line: int) -> list[LoopFact]:
    """The loops that begin on a line of the editor."""
    return [x for x in _loops(d, facts) if d.text.place_of(x.loc)[0] == line]


def hover(d: Document, facts: FileFacts, line: int) -> lsp.Hover | None:
    """What is known of the loops of a line, with the matrix of their nest."""
    found = loops_at(d, facts, line)
    if not found:
        return None
    parts = [x.about for x in found]
    for rows, notes in dict.fromkeys((x.matrix, x.notes) for x in found):
        lines = [*aligned(rows), *notes, *(["", LEGEND] if rows else [])]
        if lines:
            parts.append("\n".join(["Dependences of the nest:\n", "```text", *lines, "```"]))
    apart = dict.fromkeys(n for x in found for n in x.apart)
    if apart:
        parts.append(f"With `restrict` on {', '.join(apart)}, less is assumed.")
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(parts)))


# ---------------------------------------------------------------- actions


def code_action(d: Document, a: Action, *, versioned: bool) -> lsp.CodeAction:
    end = d.text.line_end
    edits: list[lsp.TextEdit] = []
    for e in a.edits:
        there = lsp.Range(lsp.Position(*d.text.place(e.start)), lsp.Position(*d.text.place(e.end)))
        edits.append(lsp.TextEdit(there, e.text.replace("\r", "").replace("\n", end)))
    kind = lsp.CodeActionKind.QuickFix if a.cures else lsp.CodeActionKind.RefactorRewrite
    return lsp.CodeAction(
        title=a.title,
        kind=kind,
        edit=_edit(d, edits, versioned=versioned),
        diagnostics=[diagnostic(d, a.cures)] if a.cures else None,
    )


def _edit(d: Document, edits: Sequence[lsp.TextEdit], *, versioned: bool) -> lsp.WorkspaceEdit:
    if not versioned:
        return lsp.WorkspaceEdit(changes={d.uri: list(edits)})
    about = lsp.OptionalVersionedTextDocumentIdentifier(d.uri, d.version)
    return lsp.WorkspaceEdit(document_changes=[lsp.TextDocumentEdit(about, list(edits))])


def show_tiled(d: Document, line: int, function: str) -> lsp.CodeAction:
    title = f"Show the tiled kernel of {function}"
    return lsp.CodeAction(
        title=title,
        kind=lsp.CodeActionKind.Refactor,
        command=lsp.Command(title, TILED_KERNEL, arguments=[d.uri, line]),
    )
