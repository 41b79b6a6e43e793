"""`loopxform lsp`: the language server, which speaks the Language Server Protocol 3.17."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import tempfile
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from uuid import uuid4

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcContentModified, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from loopxform import __version__
from loopxform.errors import LoopxformError
from loopxform.files import safe_name
from loopxform.lsp import protocol
from loopxform.lsp.actions import Action, actions, tiled
from loopxform.lsp.analysis import Ask, FileFacts
from loopxform.lsp.documents import Document, Documents, Outdated
from loopxform.lsp.flags import settings_of
from loopxform.lsp.texts import Text

R = TypeVar("R")

MANY = 12
"""Functions to judge from which on an editor is told how far that is."""

MOST_KEPT = 256
"""Notifications that pygls may remember."""

ALLOCATIONS = 20_000
"""Objects that are made before Python looks for cycles: a command ends soon, a server does not."""

LINES = 8
"""Lines of a selection whose loops are offered edits."""


class Server(LanguageServer):
    """The server with its documents."""

    def __init__(self) -> None:
        super().__init__("loopxform", __version__, max_workers=2)
        self.documents = Documents(self.publish, self.tell)
        self.initial: object = None
        self.working = dict[str, Working]()
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def forget_answered(self) -> None:
        """Lets go of what pygls 2.1 keeps of every notification for as long as it runs."""
        futures = self.protocol._request_futures
        if len(futures) > MOST_KEPT:
            for number in [n for n, f in futures.items() if f.done()]:
                del futures[number]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Answers to requests say themselves what went wrong."""
        if not isinstance(error, JsonRpcException):
            super().report_server_error(error, source)

    def supports(self, *path: str) -> Any:
        """What the client says that it can do: `supports("window", "show_document")`."""
        found: Any = self.client_capabilities
        for name in path:
            found = getattr(found, name, None)
        return found

    # ------------------------------------------------------------ documents

    def document(self, uri: str) -> Document:
        """Raises JsonRpcException for one that is not open."""
        d = self.documents.open.get(uri)
        if d is None:
            raise JsonRpcException(f"{uri} is not open", lsp.ErrorCodes.InvalidParams.value)
        return d

    def publish(self, d: Document, facts: FileFacts) -> None:
        found = protocol.diagnostics(d, facts)
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(d.uri, found, d.version)
        )

    def clear(self, uri: str) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

    def tell(self, d: Document, done: int, total: int) -> None:
        """How far the judgement of a document is, where it takes a while."""
        working = self.working.get(d.uri)
        if done >= total:
            if working is not None and total == 1:
                del self.working[d.uri]
                working.end()
        elif working is not None:
            working.report(done, total)
        elif total - done >= MANY and self.supports("window", "work_done_progress"):
            self.working[d.uri] = Working(self, Path(d.path).name)

    async def current(self, asked: Awaitable[R]) -> R:
        """An answer. Raises JsonRpcContentModified where it is about a text that has changed."""
        try:
            return await asked
        except Outdated:
            raise JsonRpcContentModified("the document has changed") from None

    # ------------------------------------------------------------ settings

    def take(self, given: object) -> None:
        """New settings, over those of the start; what is wrong with them is shown."""
        both = given
        if isinstance(given, dict) and isinstance(self.initial, dict):
            own = {n: v for n, v in given.items() if v is not None}
            both = {**self.initial, **own}
        elif given is None:
            both = self.initial
        settings, wrong = settings_of(both)
        for e in wrong:
            help = f"; {e.help}" if e.help else ""
            text = f"loopxform: {e.message} [{e.code}]{help}"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))
        changed = settings != self.documents.settings
        self.documents.settings = settings
        if changed and self.documents.open:
            self.documents.again()
            if self.supports("workspace", "inlay_hint", "refresh_support"):
                self.workspace_inlay_hint_refresh(None)

    async def fetch(self) -> None:
        """The settings as the client has them now."""
        item = lsp.ConfigurationItem(section="loopxform")
        found = await self.workspace_configuration_async(lsp.ConfigurationParams([item]))
        self.take(found[0] if found else None)

    # ------------------------------------------------------------ the kernel

    def show(self, name: str, text: str) -> None:
        """Opens a text in the editor, or says where it is."""
        if self.folder is None:
            self.folder = tempfile.TemporaryDirectory(prefix="loopxform-")
        path = Path(self.folder.name) / name
        path.write_text(text)
        if self.supports("window", "show_document", "support"):
            params = lsp.ShowDocumentParams(path.as_uri(), take_focus=True)
            self.window_show_document(params)
        else:
            said = lsp.ShowMessageParams(lsp.MessageType.Info, f"The kernel is in {path}")
            self.window_show_message(said)

    def close(self) -> None:
        self.documents.shut_down()
        if self.folder is not None:
            self.folder.cleanup()
            self.folder = None


class Working:
    """The progress of one judgement, as an editor shows it."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.name, self.token = server, name, str(uuid4())
        self.shown, self.ended = False, False
        self.task = asyncio.get_running_loop().create_task(self.begin())

    async def begin(self) -> None:
        await self.server.work_done_progress.create_async(self.token)
        if self.ended:
            self._forget()
            return
        self.shown = True
        begin = lsp.WorkDoneProgressBegin(f"loopxform: {self.name}", percentage=0)
        self.server.work_done_progress.begin(self.token, begin)

    def report(self, done: int, total: int) -> None:
        if self.shown:
            text = f"{done} of {total} functions"
            said = lsp.WorkDoneProgressReport(message=text, percentage=100 * done // total)
            self.server.work_done_progress.report(self.token, said)

    def end(self) -> None:
        self.ended = True
        if self.shown:
            self.server.work_done_progress.end(self.token, lsp.WorkDoneProgressEnd())
            self._forget()

    def _forget(self) -> None:
        self.server.work_done_progress.tokens.pop(self.token, None)


def server() -> Server:
    """The server with its handlers."""
    s = Server()
    _add_documents(s)
    _add_files(s)
    _add_settings(s)
    _add_requests(s)
    return s


def _is_c(item: lsp.TextDocumentItem) -> bool:
    """Whether a document is judged: headers are where they are included."""
    return item.language_id == "c" and not item.uri.endswith(".h")


def _path(uri: str) -> str:
    return to_fs_path(uri) or uri


def _changed(text: Text, changes: Sequence[lsp.TextDocumentContentChangeEvent]) -> Text:
    for change in changes:
        if isinstance(change, lsp.TextDocumentContentChangePartial):
            a, b = change.range.start, change.range.end
            text = text.replaced((a.line, a.character), (b.line, b.character), change.text)
        else:
            text = Text(change.text, text.units)
    return text


def _units(s: Server) -> str:
    encoding = s.server_capabilities.position_encoding
    return str(getattr(encoding, "value", encoding) or "utf-16")


def _add_documents(s: Server) -> None:
    @s.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if _is_c(item):
            s.documents.put(item.uri, _path(item.uri), Text(item.text, _units(s)), item.version)

    @s.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        s.forget_answered()
        d = s.documents.open.get(params.text_document.uri)
        if d is None:
            return
        text = _changed(d.text, params.content_changes)
        s.documents.put(d.uri, d.path, text, params.text_document.version)

    @s.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        if s.documents.close(params.text_document.uri) is not None:
            s.clear(params.text_document.uri)


def _add_files(s: Server) -> None:
    @s.feature(lsp.TEXT_DOCUMENT_DID_SAVE, lsp.SaveOptions(include_text=False))
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        if params.text_document.uri not in s.documents.open:  # a header, for one
            s.documents.again()

    @s.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        if any(c.uri not in s.documents.open for c in params.changes):
            s.documents.again()

    every = lsp.FileOperationFilter(lsp.FileOperationPattern("**/*.{c,h}"), scheme="file")

    @s.feature(
        lsp.WORKSPACE_DID_RENAME_FILES, lsp.FileOperationRegistrationOptions(filters=[every])
    )
    def renamed(params: lsp.RenameFilesParams) -> None:
        for file in params.files:
            d = s.documents.close(file.old_uri)
            if d is None:
                continue
            s.clear(file.old_uri)
            if file.new_uri not in s.documents.open and file.new_uri.endswith(".c"):
                s.documents.put(file.new_uri, _path(file.new_uri), d.text, d.version)
        s.documents.again()

    @s.feature(lsp.SHUTDOWN)
    def shut_down(_: None) -> None:
        s.close()


def _add_settings(s: Server) -> None:
    @s.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        s.initial = params.initialization_options
        folders = params.workspace_folders
        root = folders[0].uri if folders else params.root_uri
        s.documents.root = _path(root) if root else params.root_path

    @s.feature(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        if s.supports("workspace", "configuration"):
            await s.fetch()
        else:
            s.take(None)

    @s.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(params: lsp.DidChangeConfigurationParams) -> None:
        given: Any = params.settings
        if s.supports("workspace", "configuration"):
            await s.fetch()
        else:
            s.take(given.get("loopxform", given) if isinstance(given, dict) else given)


def _add_requests(s: Server) -> None:
    @s.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        d = s.document(params.text_document.uri)
        if not s.documents.settings.hints:
            return []
        facts = await s.current(s.documents.facts(d))
        return protocol.hints(d, facts, params.range)

    @s.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        d = s.document(params.text_document.uri)
        facts = await s.current(s.documents.facts(d))
        return protocol.hover(d, facts, params.position.line)

    kinds = [
        lsp.CodeActionKind.QuickFix,
        lsp.CodeActionKind.RefactorRewrite,
        lsp.CodeActionKind.Refactor,
    ]

    @s.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))
    async def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        d = s.document(params.text_document.uri)
        facts = await s.current(s.documents.facts(d))
        out: list[lsp.CodeAction] = []
        versioned = bool(s.supports("workspace", "workspace_edit", "document_changes"))
        last = min(params.range.end.line, params.range.start.line + LINES)
        for line in range(params.range.start.line, last + 1):
            found = await s.current(_actions(s, d, facts, line))
            out += [protocol.code_action(d, a, versioned=versioned) for a in found]
            if loops := protocol.loops_at(d, facts, line):
                name = facts.of_line(loops[0].loc.line).name
                out.append(protocol.show_tiled(d, line, name))
        only = params.context.only
        return [a for a in out if only is None or any(_is_of(a, k) for k in only)]

    @s.command(protocol.TILED_KERNEL)
    async def tiled_kernel(uri: str, line: int) -> dict[str, str]:
        d = s.document(uri)

        def work(ask: Ask) -> tuple[str, str] | LoopxformError:
            try:
                return tiled(ask, line + 1)
            except LoopxformError as e:
                return e

        found = await s.current(s.documents.ask(d, work))
        if isinstance(found, LoopxformError):
            raise JsonRpcException(f"{found}", lsp.LSPErrorCodes.RequestFailed.value)
        name, text = found
        title = f"{safe_name(name)}.cl"
        s.show(title, text)
        return {"title": title, "languageId": "opencl", "text": text}


def _is_of(a: lsp.CodeAction, kind: str) -> bool:
    own = getattr(a.kind, "value", a.kind) or ""
    wanted = getattr(kind, "value", kind)
    return own == wanted or own.startswith(f"{wanted}.") or not wanted


async def _actions(s: Server, d: Document, facts: FileFacts, line: int) -> list[Action]:
    """What can be done at a line; asked once for each text."""
    if line not in d.actions:
        number = d.text.plain.count("\n", 0, d.text.offset(line, 0)) + 1
        own = facts.of_line(number)
        lines = [x.loc.line for x in own.loops]
        wrong = {
            f: next((n for n in sorted(lines) if n > f.pragma.line), 0)
            for f in own.findings
            if f.pragma is not None
        }
        about = [f for f, loop in wrong.items() if f.pragma and number in (f.pragma.line, loop)]
        if number not in lines and not about:
            return []
        at = number if number in lines else wrong[about[0]]
        d.actions[line] = await s.documents.ask(
            d, lambda ask: actions(ask, at, about, cures_alone=at != number)
        )
    return d.actions[line]


def run(given: BinaryIO, out: BinaryIO) -> None:
    """Serves one client over a pair of streams, until it says that that is all."""
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    gc.set_threshold(ALLOCATIONS, 10, 10)
    s = server()
    kept, sys.stdout = sys.stdout, sys.stderr  # nothing but messages may go to the client
    try:
        s.start_io(given, out)
    finally:
        sys.stdout = kept
        s.close()
