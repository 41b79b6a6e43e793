"""A real client of `loopxform lsp`: its process, its open documents, and what it was told."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE = 60
"""Seconds that nobody waits for."""


class Editor(LanguageClient):
    """An editor; `texts` are its documents, `found` the last diagnostics of each."""

    def __init__(self, settings: object = None) -> None:
        super().__init__("editor", "1")
        self.settings = settings
        self.texts = dict[str, str]()
        self.versions = dict[str, int]()
        self.found = dict[str, lsp.PublishDiagnosticsParams]()
        self.shown = list[str]()
        self.opened = list[str]()
        self.progress = list[Any]()
        self.news = asyncio.Condition()
        self._listen()

    def _listen(self) -> None:
        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def told(params: lsp.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.found[params.uri] = params
                self.news.notify_all()

        @self.feature(lsp.WINDOW_SHOW_MESSAGE)
        async def message(params: lsp.ShowMessageParams) -> None:
            async with self.news:
                self.shown.append(params.message)
                self.news.notify_all()

        @self.feature(lsp.WINDOW_SHOW_DOCUMENT)
        def show(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
            self.opened.append(params.uri)
            return lsp.ShowDocumentResult(success=True)

        @self.feature(lsp.WORKSPACE_CONFIGURATION)
        def configuration(_: lsp.ConfigurationParams) -> list[Any]:
            return [self.settings]

        @self.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(_: None) -> None:
            return None

        @self.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(_: lsp.WorkDoneProgressCreateParams) -> None:
            return None

        @self.feature(lsp.PROGRESS)
        def progress(params: lsp.ProgressParams) -> None:
            self.progress.append(params.value)

    # ------------------------------------------------------------ documents

    async def open(self, uri: str, text: str) -> None:
        self.texts[uri], self.versions[uri] = text, 1
        item = lsp.TextDocumentItem(uri, "c", 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def edit(self, uri: str, old: str, new: str, *, count: int = 1) -> None:
        """Has the first place of `old` say something else, as one small change."""
        text = self.texts[uri]
        assert old in text
        at = text.index(old)
        range = lsp.Range(_place(text, at), _place(text, at + len(old)))
        self.change(uri, lsp.TextDocumentContentChangePartial(range, new))
        self.texts[uri] = text.replace(old, new, count)

    def change(self, uri: str, *changes: lsp.TextDocumentContentChangeEvent) -> None:
        self.versions[uri] += 1
        about = lsp.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(about, list(changes)))

    def apply(self, uri: str, action: lsp.CodeAction) -> str:
        """The text with the edits of an action."""
        assert action.edit is not None
        text = self.texts[uri]
        for change in action.edit.document_changes or ():
            assert isinstance(change, lsp.TextDocumentEdit)
            assert change.text_document.version == self.versions[uri]
            for e in sorted(change.edits, key=lambda e: _offset(text, e.range.start), reverse=True):
                assert isinstance(e, lsp.TextEdit)
                a, b = (_offset(text, p) for p in (e.range.start, e.range.end))
                text = text[:a] + e.new_text + text[b:]
        return text

    async def diagnostics(self, uri: str, version: int | None = None) -> list[lsp.Diagnostic]:
        """Those of the text that the document has now."""
        wanted = self.versions.get(uri) if version is None else version
        async with self.news, asyncio.timeout(PATIENCE):
            await self.news.wait_for(
                lambda: uri in self.found and self.found[uri].version == wanted
            )
        return list(self.found[uri].diagnostics)

    async def message(self) -> str:
        async with self.news, asyncio.timeout(PATIENCE):
            await self.news.wait_for(lambda: self.shown)
        return self.shown[-1]

    # ------------------------------------------------------------ questions

    async def hints(self, uri: str) -> dict[int, str]:
        """By line, from 1."""
        everything = lsp.Range(lsp.Position(0, 0), lsp.Position(10**6, 0))
        about = lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), everything)
        found = await self.text_document_inlay_hint_async(about)
        return {h.position.line + 1: str(h.label) for h in found or ()}

    async def hover(self, uri: str, line: int) -> str:
        about = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(line - 1, 4))
        found = await self.text_document_hover_async(about)
        if found is None:
            return ""
        assert isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value

    async def titles(
        self, uri: str, line: int, only: Sequence[lsp.CodeActionKind] | None = None
    ) -> list[str]:
        """What is offered at a line. (An action that is a command is taken for one by lsprotocol,
        which loses its arguments.)"""
        return [a.title for a in await self._offered(uri, line, only)]

    async def actions(
        self, uri: str, line: int, only: Sequence[lsp.CodeActionKind] | None = None
    ) -> dict[str, lsp.CodeAction]:
        """The edits that are offered at a line."""
        found = await self._offered(uri, line, only)
        return {a.title: a for a in found if isinstance(a, lsp.CodeAction)}

    async def _offered(
        self, uri: str, line: int, only: Sequence[lsp.CodeActionKind] | None
    ) -> Sequence[lsp.CodeAction | lsp.Command]:
        here = lsp.Range(lsp.Position(line - 1, 0), lsp.Position(line - 1, 0))
        context = lsp.CodeActionContext([], list(only) if only else None)
        about = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), here, context)
        return await self.text_document_code_action_async(about) or ()


def _place(text: str, offset: int) -> lsp.Position:
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return lsp.Position(line, len(before.encode("utf-16-le")) // 2)


def _offset(text: str, at: lsp.Position) -> int:
    lines = text.split("\n")
    before = sum(len(x) + 1 for x in lines[: at.line])
    own = (lines[at.line] if at.line < len(lines) else "").encode("utf-16-le")
    return min(len(text), before + len(own[: 2 * at.character].decode("utf-16-le")))


CAPABILITIES = lsp.ClientCapabilities(
    workspace=lsp.WorkspaceClientCapabilities(
        configuration=True,
        workspace_edit=lsp.WorkspaceEditClientCapabilities(document_changes=True),
        inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(refresh_support=True),
    ),
    window=lsp.WindowClientCapabilities(
        work_done_progress=True, show_document=lsp.ShowDocumentClientCapabilities(support=True)
    ),
)


@asynccontextmanager
async def editor(
    root: Path, options: object = None, settings: object = None
) -> AsyncIterator[Editor]:
    """An editor that has started the server in a folder."""
    e = Editor(settings)
    env = {**os.environ, "LOOPXFORM_CACHE": "off"}
    await e.start_io(sys.executable, "-m", "loopxform", "lsp", env=env)
    params = lsp.InitializeParams(CAPABILITIES, root_uri=root.as_uri())
    params.initialization_options = options
    await e.initialize_async(params)
    e.initialized(lsp.InitializedParams())
    try:
        yield e
    finally:
        with suppress(TimeoutError):
            await asyncio.wait_for(e.shutdown_async(None), PATIENCE)
        e.exit(None)
        await e.stop()


def pid(e: Editor) -> int:
    """The number of the server's process."""
    server: Any = e._server
    return int(server.pid)
