"""Edits a C file in the language server and prints how long it takes to answer, and its memory.

    scripts/lsp_edits.py corpus/mm.c --edits 50000
    scripts/lsp_edits.py --lines 2000 --edits 100 --every 1 --debounce 60

Each edit changes a number in the body of a function, adds a line or takes one away. After every
`--every`th the inlay hints are asked for: the answer is there once the text has been judged. The
times are from the edit to the answer, `--debounce` (milliseconds) included; on a machine that is
busy the CPU time says more.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MEBIBYTE = 2**20


class Server:
    """The server's process, with one document."""

    def __init__(self, text: str, uri: str, debounce: float) -> None:
        command = [sys.executable, "-m", "loopxform", "lsp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines, self.uri, self.version, self.asked = text.split("\n"), uri, 1, 0
        options = {"debounce": debounce}
        capabilities: dict[str, Any] = {}
        about = {"capabilities": capabilities, "initializationOptions": options, "processId": None}
        self.request("initialize", about)
        self.notify("initialized", {})
        item = {"uri": uri, "languageId": "c", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def notify(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: object) -> Any:
        """The answer."""
        self.asked += 1
        self._send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self.asked and "method" not in message:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]

    def _send(self, message: object) -> None:
        data = json.dumps(message).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if not line:
                raise RuntimeError("the server has ended")
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def replace(self, first: int, last: int, new: list[str]) -> None:
        """Lines `first` up to `last` with others in their place."""
        self.lines[first:last] = new
        self.version += 1
        text = "".join(f"{line}\n" for line in new)
        place = {"start": _start(first), "end": _start(last)}
        about = {"uri": self.uri, "version": self.version}
        change = {"range": place, "text": text}
        self.notify("textDocument/didChange", {"textDocument": about, "contentChanges": [change]})

    def hints(self) -> int:
        """How many loops have a verdict."""
        place = {"start": _start(0), "end": _start(len(self.lines))}
        about = {"textDocument": {"uri": self.uri}, "range": place}
        return len(self.request("textDocument/inlayHint", about))

    @property
    def seconds(self) -> float:
        """CPU time so far."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Resident memory in MiB."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / MEBIBYTE

    def close(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(60)


def _start(line: int) -> dict[str, int]:
    return {"line": line, "character": 0}


def program(lines: int) -> str:
    """A C file of about so many lines: the nests of the corpus that need nothing but themselves,
    as often as it takes, each function under a name of its own."""
    folder = ROOT / "corpus"
    texts = [
        p.read_text() for f in ("nests", "reductions") for p in sorted((folder / f).glob("*.c"))
    ]
    plain = [t for t in texts if "#" not in t and t.count("\n}\n") == 1 and "\nvoid " in f"\n{t}"]
    out, count = list[str](), 0
    while sum(t.count("\n") for t in out) < lines:
        text = plain[count % len(plain)]
        head, _, rest = f"\n{text}".partition("\nvoid ")
        out.append(f"{head}\nvoid f{count}_{rest}")
        count += 1
    return "".join(out)


def edit(server: Server, rng: random.Random, added: list[int]) -> None:
    """One small edit inside a function, or its end: after two there is what was there before."""
    if added:
        at = added.pop()
        server.replace(at, at + 1, [])
        return
    bodies = [n for n, line in enumerate(server.lines) if line.startswith("  for (")]
    at = rng.choice(bodies)
    added.append(at)
    server.replace(at, at, [f"  int edited_{rng.randrange(10**6)} = {rng.randrange(100)};"])


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("file", nargs="?", help="a C file; without it, one of --lines")
    p.add_argument("--lines", type=int, default=2000)
    p.add_argument("--edits", type=int, default=1000)
    p.add_argument("--every", type=int, default=20, help="edits between two questions")
    p.add_argument("--debounce", type=float, default=60, help="milliseconds")
    p.add_argument("--rows", type=int, default=10, help="lines to print")
    args = p.parse_args()
    text = Path(args.file).read_text() if args.file else program(args.lines)
    uri = (Path(args.file) if args.file else Path("edited.c")).absolute().as_uri()
    start = time.perf_counter()
    server = Server(text, uri, args.debounce)
    loops = server.hints()
    first = time.perf_counter() - start
    print(f"{len(server.lines)} lines, {loops} loops, first answer after {first:.2f} s")
    rng, added, times = random.Random(20200608), list[int](), list[float]()
    spent, rows = server.seconds, max(1, args.edits // args.rows)
    for n in range(1, args.edits + 1):
        before = time.perf_counter()
        edit(server, rng, added)
        if n % args.every == 0:
            server.hints()
            times.append(time.perf_counter() - before)
        if n % rows == 0:
            server.hints()
            recent = sorted(times[-1000:]) or [0.0]
            half, most = recent[len(recent) // 2], recent[int(0.95 * (len(recent) - 1))]
            print(
                f"{n:>6} edits: {server.memory:6.1f} MiB, answers {1000 * half:.0f} ms (median), "
                f"{1000 * most:.0f} ms (95 %), {1000 * (server.seconds - spent) / rows:.1f} ms of "
                "CPU time for each edit",
                flush=True,
            )
            spent = server.seconds
    server.close()


if __name__ == "__main__":
    main()
