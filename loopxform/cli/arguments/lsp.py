"""Options of `loopxform lsp`."""

from __future__ import annotations

from loopxform.cli.parser import Parser

EXAMPLES = ("lsp                       started by an editor, see docs/editors.md",)


def options() -> Parser:
    p = Parser(
        prog="loopxform lsp",
        description="Serves an editor over standard input and output: verdicts beside the loops, "
        "diagnostics with the iterations that collide, edits that are proven, the dependence "
        "matrix. It needs pip install 'loopxform[lsp]'.",
    )
    p.examples = EXAMPLES
    help = "use standard input and output: the default, which some editors ask for"
    p.add_argument("--stdio", action="store_true", help=help)
    return p
