"""`loopxform --help`: the commands by what they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopxform.cli.commands import COMMANDS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "analyse": ("check", "report", "validate", "explain"),
    "transform": ("tile", "offload", "apply"),
    "run and tune": ("run", "tune", "bench", "demo", "devices"),
    "project": ("init", "config", "lsp", "completion"),
}
"""Commands by what they are for; those that are not here are `other`."""

EXAMPLES = (
    "loopxform check mm.c                             which loops are parallel, and why not",
    "loopxform tile mm.c --Ty 16 --Rx 4 -o build      a kernel, and C that launches it",
    "loopxform run mm.c --size M=513,U=129,N=1025     its results against those of your C",
)

CLOSING = """\
  loopxform COMMAND -h shows the options that matter most, --help all of them;
  loopxform explain LX101 explains an error, loopxform explain stripmine a step.
  loopxform --version; loopxform --cmakedir, the folder for CMake's Loopxform_DIR.

exit status: 0 done, 1 illegal or a mismatch, 2 bad input or usage, 101 internal error"""


def text() -> str:
    """The help of the program."""
    return "\n".join(
        [
            "usage: loopxform COMMAND [OPTION ...] FILE.c",
            "",
            "Source-to-source loop transformation: from C loop nests to proven, tiled OpenCL.",
            *_commands(),
            "",
            "examples:",
            *(f"  {line}" for line in EXAMPLES),
            "",
            CLOSING,
        ]
    )


def grouped() -> Iterator[tuple[str, list[str]]]:
    """Each group with its commands, in the order of help."""
    rest = dict(COMMANDS)
    for title, names in GROUPS.items():
        known = [name for name in names if rest.pop(name, None)]
        if known:
            yield title, known
    if rest:
        yield "other", [*rest]


def _commands() -> Iterator[str]:
    width = max(map(len, COMMANDS))
    for title, names in grouped():
        yield ""
        yield f"{title}:"
        yield from (f"  {name:<{width}}  {COMMANDS[name]}" for name in names)
