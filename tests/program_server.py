"""Builds the programs of other processes in this one, into PoCL's cache.

A process that builds a program that PoCL's cache does not have loads the library of OpenCL's
functions first, which takes half a second, five times what the program takes. This process has
loaded it. `settings` makes others ask it before they build (`program_layer.c`); what they run is
what their own PoCL finds in the cache, as in any second run.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from tempfile import mkdtemp
from threading import Thread
from typing import Any

LAYER = Path(__file__).with_name("program_layer.c")


@cache
def settings() -> dict[str, str]:
    """Environment of programs that use the system's loader; nothing where its first device is not
    PoCL's, or where this process has no OpenCL."""
    context = _context()
    if context is None:
        return {}
    folder = Path(mkdtemp(prefix="programs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    layer = folder / "layer.so"
    built = subprocess.run(
        ["cc", "-O1", "-fPIC", "-shared", str(LAYER), "-o", str(layer)], capture_output=True
    )
    if built.returncode:
        return {}
    server = socket(AF_UNIX, SOCK_STREAM)
    server.bind(str(folder / "server"))
    server.listen()
    Thread(target=_serve, args=(server, context), daemon=True).start()
    return {"OPENCL_LAYERS": str(layer), "PROGRAM_SERVER": str(folder / "server")}


def _context() -> Any:
    if find_spec("pyopencl") is None:
        return None
    import pyopencl as cl

    with suppress(cl.Error):
        first = cl.get_platforms()[0]
        if first.name == "Portable Computing Language":
            return cl.Context(first.get_devices()[:1])
    return None


def _serve(server: socket, context: Any) -> None:
    """Answers one after the other; a process that stops in between is none of the next one's
    concern."""
    while True:
        client, _ = server.accept()
        with client, suppress(OSError, ValueError):
            options, source = _received(client).split(b"\0", 1)
            _build(context, options, source.decode())
            client.sendall(b"\0")


def _received(client: socket) -> bytes:
    parts = []
    while part := client.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def _build(context: Any, options: bytes, source: str) -> None:
    """As the other process asks for it: `pyopencl.Program.build` would add options of its own. What
    does not compile, the other process will see."""
    import pyopencl as cl

    with suppress(cl.Error):
        cl._cl._Program(context, source)._build(options, None)
