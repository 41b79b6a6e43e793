"""The commands, each a module of its own, with what it does in a line."""

from __future__ import annotations

COMMANDS = {
    "check": "judge every loop of a C file: parallel, reduction, or why not",
    "tile": "write a block- and register-tiled OpenCL kernel with its C host code",
    "offload": "write OpenCL kernels for every nest of a file, and the host code between them",
    "apply": "apply transformation steps one by one, each checked",
    "run": "run the tiled kernel and compare it with your own C",
    "bench": "time variants of the kernel, libraries and programs side by side",
    "tune": "find the tile sizes that are quickest on a device",
    "demo": "run a pipeline of plain C on a picture, fused, and compare it with your C",
    "report": "write a page for the browser: verdicts, reasons, steps, kernels, costs",
    "validate": "prove that written kernels compute what the C does, from their texts alone",
    "lsp": "serve an editor: verdicts, diagnostics and edits while you type",
    "init": "write a loopxform.toml for a CMake, Make or Meson project",
    "config": "print the settings of a file, and where each comes from",
    "explain": "explain a step or a diagnostic code",
    "completion": "write what a shell needs to complete command lines",
    "devices": "list the OpenCL devices and the named profiles",
}

WITHIN = {
    "tune": {
        "merge": "combine what several runs have measured",
        "explain": "print what was measured of a C file, and why some candidates have no time",
        "export": "write what was measured in the format of another program",
    }
}
"""Second words that name a command of their own; a file of such a name is written ./NAME."""


def split(words: list[str]) -> tuple[str, list[str]]:
    """The command that a command line begins with, as its module is called, and what follows."""
    name, *rest = words
    if rest and rest[0] in WITHIN.get(name, ()):
        return f"{name}_{rest[0]}", rest[1:]
    return name, rest
