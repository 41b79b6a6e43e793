"""The command line: `loopxform check|tile|apply|run|explain|devices`.

This module only finds the command; each command is a module of its own and loads what it needs.
Exit status: 0 done or legal, 1 illegal or a mismatch, 2 bad input or usage, 101 our own bug.
"""

from __future__ import annotations

import sys

from loopxform import __version__

COMMANDS = {
    "check": "judge every loop of a C file: parallel, reduction, or why not",
    "tile": "write a block- and register-tiled OpenCL kernel with its C host code",
    "apply": "apply transformation steps one by one, each checked",
    "run": "run the tiled kernel and compare it with your own C",
    "explain": "explain a step or a diagnostic code",
    "devices": "list the OpenCL devices and the named profiles",
}

OVERVIEW = "\n".join(
    [
        "usage: loopxform COMMAND [OPTION ...] FILE.c",
        "",
        "Source-to-source loop transformation: from C loop nests to proven, tiled OpenCL.",
        "",
        "commands:",
        *(f"  {name:<8} {text}" for name, text in COMMANDS.items()),
        "",
        "  loopxform COMMAND --help shows the options of a command.",
        "  loopxform tile mm.c --Ty 16 --Rx 4 is a good start.",
        "",
        "exit status: 0 done, 1 illegal or a mismatch, 2 bad input or usage, 101 internal error",
    ]
)


def main(argv: list[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    args = sys.argv[1:] if argv is None else argv
    if not args or args[0] in ("-h", "--help"):
        print(OVERVIEW)
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        print(f"loopxform {__version__}")
        return 0
    if args[0] not in COMMANDS:
        print(f"loopxform: error: '{args[0]}' is not a command [LX020]", file=sys.stderr)
        print(f"   = help: commands: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    from loopxform.cli.dispatch import run_command

    return run_command(args[0], args[1:])
