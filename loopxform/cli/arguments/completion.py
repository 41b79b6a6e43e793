"""Options of `loopxform completion`."""

from __future__ import annotations

from loopxform.cli.parser import Parser

SHELLS = ("bash", "zsh", "fish", "tcsh")

EXAMPLES = (
    "completion bash > ~/.local/share/bash-completion/completions/loopxform",
    "completion zsh > ~/.zfunc/_loopxform    with fpath+=(~/.zfunc) before compinit in .zshrc",
    "completion fish > ~/.config/fish/completions/loopxform.fish",
    "completion tcsh > ~/.loopxform.tcsh     with source ~/.loopxform.tcsh in .tcshrc",
)


def options() -> Parser:
    p = Parser(
        prog="loopxform completion",
        description="Writes what a shell needs to complete commands, options, their values and "
        "names of files. Completing then takes the shell alone. Write it again after an update.",
    )
    p.examples = EXAMPLES
    p.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    return p
