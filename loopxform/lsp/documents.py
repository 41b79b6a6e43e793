"""The documents that are open, and who judges them when: one thread, outside of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from loopxform.budget import Stopped
from loopxform.lsp.actions import Action
from loopxform.lsp.analysis import Analysis, Ask, FileFacts
from loopxform.lsp.flags import Flags, Settings, flags_of
from loopxform.lsp.texts import Text

R = TypeVar("R")

STACK = 64 * 2**20
"""Bytes for the thread that judges: programs are trees, and some are deep."""


class Outdated(Exception):
    """The document has changed since something was asked about it."""


@dataclass
class Document:
    """A C file of the editor. `facts` resolves to what is true of the text that it has now, or to
    None where that changed before; `stop` tells those who work on it so."""

    uri: str
    path: str
    text: Text
    version: int | None
    analysis: Analysis = field(default_factory=Analysis)
    stop: threading.Event = field(default_factory=threading.Event)
    facts: asyncio.Future[FileFacts | None] | None = None
    timer: asyncio.TimerHandle | None = None
    actions: dict[int, list[Action]] = field(default_factory=dict)

    def change(self, text: Text, version: int | None) -> None:
        """Another text; what was asked about the last one is outdated."""
        self.close()
        self.text, self.version = text, version
        self.stop = threading.Event()
        self.actions = {}
        self.facts = asyncio.get_running_loop().create_future()

    def close(self) -> None:
        self.stop.set()
        if self.timer is not None:
            self.timer.cancel()
        if self.facts is not None and not self.facts.done():
            self.facts.set_result(None)


class Documents:
    """The open documents; `publish` and `tell` are called in the event loop: with facts that are
    new, and with how many functions of how many are judged."""

    def __init__(
        self,
        publish: Callable[[Document, FileFacts], None],
        tell: Callable[[Document, int, int], None],
    ) -> None:
        self.publish, self.tell = publish, tell
        self.settings = Settings()
        self.root: str | None = None
        self.open = dict[str, Document]()
        before = threading.stack_size(STACK)
        self._thread = ThreadPoolExecutor(1, "judge")
        self._thread.submit(_nothing).result()
        threading.stack_size(before)
        self._tasks = set[asyncio.Task[None]]()

    def put(self, uri: str, path: str, text: Text, version: int | None) -> None:
        """Opens a document, or gives it another text; it is judged once nobody types."""
        d = self.open.get(uri)
        later = self.settings.debounce / 1000 if d else 0.0
        d = self.open.setdefault(uri, Document(uri, path, text, version))
        d.change(text, version)
        loop = asyncio.get_running_loop()
        d.timer = loop.call_later(later, lambda: self._start(self._judge(d)))

    def again(self) -> None:
        """Has all documents judged again."""
        for d in self.open.values():
            self.put(d.uri, d.path, d.text, d.version)

    def close(self, uri: str) -> Document | None:
        d = self.open.pop(uri, None)
        if d is not None:
            d.close()
        return d

    def shut_down(self) -> None:
        for uri in list(self.open):
            self.close(uri)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def facts(self, d: Document) -> FileFacts:
        """What is true of the text that a document has now. Raises Outdated where it changes
        before that is known."""
        assert d.facts is not None
        found = await asyncio.shield(d.facts)
        if found is None:
            raise Outdated
        return found

    async def ask(self, d: Document, work: Callable[[Ask], R]) -> R:
        """What `work` answers about the text that a document has now. Raises Outdated, and what
        `work` raises."""
        stop, cancelled = d.stop, threading.Event()
        about = self._ask(d, lambda: stop.is_set() or cancelled.is_set())
        try:
            done, answer = await self._in_thread(lambda: work(about))
        except asyncio.CancelledError:
            cancelled.set()
            raise
        if not done or stop.is_set():
            raise Outdated
        assert answer is not None
        return answer

    async def _judge(self, d: Document) -> None:
        stop, facts = d.stop, d.facts
        loop = asyncio.get_running_loop()

        def tell(done: int, total: int) -> None:
            loop.call_soon_threadsafe(self.tell, d, done, total)

        about = self._ask(d, stop.is_set)
        done, found = await self._in_thread(lambda: d.analysis.judge(about, tell))
        self.tell(d, 1, 1)
        if not done or stop.is_set() or facts is None or facts.done():
            return
        assert found is not None
        facts.set_result(found)
        self.publish(d, found)

    def _in_thread(self, work: Callable[[], R]) -> Awaitable[tuple[bool, R | None]]:
        """Whether some work was done to its end, and what it gave."""

        def one() -> tuple[bool, R | None]:
            try:
                return True, work()
            except Stopped:
                return False, None

        return asyncio.get_running_loop().run_in_executor(self._thread, one)

    def _ask(self, d: Document, is_stopped: Callable[[], bool]) -> Ask:
        return Ask(d.path, d.text.plain, self.flags(d), self.settings, is_stopped)

    def flags(self, d: Document) -> Flags:
        return flags_of(d.path, self.settings, self.root)

    def _start(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _nothing() -> None:
    """Has the thread started."""
