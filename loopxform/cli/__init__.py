"""The command line: `loopxform check|tile|offload|apply|run|bench|explain|devices`.

This module only finds the command; each command is a module of its own and loads what it needs.
Exit status: 0 done or legal, 1 illegal or a mismatch, 2 bad input or usage, 101 our own bug.
"""

from __future__ import annotations

import os
import signal
import sys

from loopxform import __version__

COMMANDS = {
    "check": "judge every loop of a C file: parallel, reduction, or why not",
    "tile": "write a block- and register-tiled OpenCL kernel with its C host code",
    "offload": "write OpenCL kernels for every nest of a function, the host code in between",
    "apply": "apply transformation steps one by one, each checked",
    "run": "run the tiled kernel and compare it with your own C",
    "bench": "time variants of the kernel, libraries and programs side by side",
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
        "  loopxform --version, and --cmakedir: the folder for CMake's Loopxform_DIR.",
        "",
        "exit status: 0 done, 1 illegal or a mismatch, 2 bad input or usage, 101 internal error",
    ]
)


def main(argv: list[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    try:
        args = sys.argv[1:] if argv is None else argv
        from loopxform.cli.dispatch import guarded, run_command

        if args and args[0] in COMMANDS:
            return run_command(args[0], args[1:])
        return guarded(lambda: _general(args), args or ["--help"])
    except KeyboardInterrupt:
        return 130
    finally:
        if argv is None:  # the process ends: nothing is left to interrupt but Python's own end
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _general(args: list[str]) -> int:
    """What there is without a command."""
    if not args or args[0] in ("-h", "--help"):
        print(OVERVIEW)
        return 0 if args else 2
    if args[0] in ("-V", "--version"):
        print(f"loopxform {__version__}")
        return 0
    if args[0] == "--cmakedir":
        print(_cmake_folder())
        return 0
    from loopxform.errors import UsageError

    message, help = f"'{args[0]}' is not a command", f"commands: {', '.join(COMMANDS)}"
    raise UsageError(message, help=help)


def _cmake_folder() -> str:
    """Where CMake finds the package: `cmake -DLoopxform_DIR=$(loopxform --cmakedir)`."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cmake")
