"""`loopxform lsp`: a language server for C files, for editors."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from importlib.util import find_spec

from loopxform.errors import UsageError


def main(args: argparse.Namespace) -> int:
    del args
    missing = [name for name in ("pygls", "lsprotocol") if find_spec(name) is None]
    if missing:
        message = f"lsp needs the package {missing[0]}, which is not installed"
        raise UsageError(message, code="LX238", help="pip install 'loopxform[lsp]'")
    from loopxform.lsp.server import run  # loads what only this needs

    given, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with suppress(BrokenPipeError), given, out:  # broken: the editor has ended
        run(given, out)
    return 0
