"""Options of `loopxform init`."""

from __future__ import annotations

from loopxform.cli.parser import Parser
from loopxform.targets.profile import PROFILES

EXAMPLES = (
    "init                         for the project in this folder",
    "init solver --profile h100   for another one, and a device",
)

FIRST = ("--force", "--build", "--profile")

SYSTEMS = ("cmake", "meson", "make")


def options() -> Parser:
    about = (
        "Writes a loopxform.toml that explains each key and holds what init finds: the build "
        "system, compile_commands.json, folders with headers, the device. Then it prints what to "
        "add to CMakeLists.txt, meson.build or the Makefile for files with loops for a device."
    )
    p = Parser(prog="loopxform init", description=about, allow_abbrev=False)
    p.examples, p.first = EXAMPLES, FIRST
    help = "the folder of the project (this one)"
    p.add_argument("folder", nargs="?", default=".", metavar="DIR", help=help)
    p.add_argument("--force", action="store_true", help="overwrite the loopxform.toml that exists")
    help = "the build system (default: the first of these whose file exists)"
    p.add_argument("--build", choices=SYSTEMS, help=help)
    help = f"the device that kernels are fitted to: {', '.join(PROFILES)}"
    p.add_argument("--profile", metavar="NAME", help=help)
    p.add_argument("-q", "--quiet", action="store_true", help="do not print what to do next")
    return p
