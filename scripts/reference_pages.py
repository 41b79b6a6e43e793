"""The reference pages of the docs site, from the code: commands, steps, recipes, codes, options of
tiling, profiles. `python scripts/reference_pages.py DIR` writes them."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from loopxform.cli import overview
from loopxform.cli.help_text import SUPPRESSED, expanded, invocations, sections
from loopxform.cli.manual import Command, commands
from loopxform.codes import CODES
from loopxform.recipes import registry
from loopxform.schedule import tiling_options
from loopxform.schedule.offload_options import OF_PROGRAMS
from loopxform.schedule.option_values import FLAG
from loopxform.schedule.params import KINDS
from loopxform.schedule.tiling_options import OPTIONS, TilingOption
from loopxform.targets.profile import PROFILES, profile
from loopxform.transforms import STEPS

GROUPS: Mapping[str, str] = {
    "restructure": "Order of loops and statements",
    "storage": "Where data is kept",
    "mapping": "Mapping to groups and work-items",
    "reductions": "Reductions and running values",
    "edges": "Partial tiles and guards",
    "latency": "Hiding latency",
    "overlapped": "Overlapped tiles",
    "attention": "Attention",
}
"""The groups of steps, by their folder in `loopxform/transforms`."""

LIMITS: Mapping[str, str] = {
    "group_size": "work-items in a group",
    "local_bytes": "local memory, bytes",
    "registers": "registers of a work-item",
    "warp": "work-items in lockstep",
    "compute_units": "compute units",
    "bandwidth": "GB/s",
    "peak": "GFLOP/s",
}
"""Fields of `Limits` that the table of profiles has; 0 where the data sheet says nothing."""


def pages() -> dict[str, str]:
    """Markdown by path in the docs."""
    made = {f"reference/commands/{_slug(c.name)}.md": _command(c) for c in commands()}
    made["reference/commands/index.md"] = _overview()
    made["reference/steps.md"] = _steps()
    made["reference/recipes.md"] = _recipes()
    made["reference/codes.md"] = _codes()
    made["reference/options.md"] = _options()
    made["reference/profiles.md"] = _profiles()
    return {path: "\n".join([*lines, ""]) for path, lines in made.items()}


# ---------------------------------------------------------------- commands


def _overview() -> Iterator[str]:
    yield "# Commands\n"
    yield "`loopxform COMMAND -h` shows the options that matter most, `--help` all of them;"
    yield "`man loopxform-COMMAND` has the same text. What all commands have in common, such as the"
    yield "exit status, is in [Commands](../../commands.md).\n"
    every = {c.name: c for c in commands()}
    for title, names in overview.grouped():
        yield f"## {title.capitalize()}\n"
        for c in (c for c in every.values() if c.name.partition(" ")[0] in names):
            yield f"- [`loopxform {c.name}`]({_slug(c.name)}.md): {plain(c.about)}"
        yield ""


def _command(c: Command) -> Iterator[str]:
    yield f"# loopxform {c.name}\n"
    yield f"```text\n{c.parser.format_usage().removeprefix('usage: ').rstrip()}\n```\n"
    yield f"{plain(c.parser.description or '')}\n"
    if c.parser.examples:
        yield "```sh"
        yield from (f"loopxform {line}" for line in _with_remarks(c.parser.examples))
        yield "```\n"
    if c.parser.first:
        names = ", ".join(f"[`{n}`](#{_anchor(n)})" for n in c.parser.first)
        yield f"**Options that matter most:** {names}.\n"
    for title, about, actions in sections(c.parser):
        shown = [a for a in actions if a.help != SUPPRESSED]
        if shown:
            yield f"## {title.capitalize()}\n"
            yield f"{plain(about.capitalize())}.\n" if about else ""
            for a in shown:
                yield from _argument(c, a)
    if c.parser.epilog:
        title, _, text = c.parser.epilog.partition(":\n")
        yield f"## {title.capitalize()}\n\n```text\n{inspect.cleandoc(text)}\n```"


def _with_remarks(examples: Sequence[str]) -> Iterator[str]:
    """Examples, their remarks as comments, aligned."""
    parts = [re.split(r" {3,}", example, maxsplit=1) for example in examples]
    width = max(len(p[0]) for p in parts if len(p) > 1) if any(p[1:] for p in parts) else 0
    for command, *remark in parts:
        yield f"{command:<{width}}  # {remark[0]}" if remark else command


def _argument(c: Command, action: argparse.Action) -> Iterator[str]:
    names, value = invocations(action)
    written = ", ".join(names) + (f" {value}" if value else "")
    yield f"`{written}`{{ #{_anchor(names[0])} }}"
    yield f":   {plain(expanded(c.parser, action)) or '(no more to say)'}\n"


# ---------------------------------------------------------------- steps, recipes, codes


def _steps() -> Iterator[str]:
    yield "# Every step\n"
    yield "A step is one checked transformation: [Steps](../steps.md) says how to name loops and to"
    yield "write scripts. `loopxform explain STEP` prints the same text.\n"
    kinds = sorted(STEPS.values(), key=lambda k: [*GROUPS].index(_folder(k)))
    for folder, group in groupby(kinds, key=_folder):
        yield f"## {GROUPS[folder]}\n"
        for kind in group:
            yield f"### {kind.verb}\n"
            yield f"```text\n{kind.usage}\n```\n"
            yield from prose(inspect.getdoc(sys.modules[kind.__module__]) or "")


def _folder(kind: type) -> str:
    return kind.__module__.split(".")[2]


def _recipes() -> Iterator[str]:
    yield "# Every recipe\n"
    yield "A recipe is a list of steps that tiles a nest. `--recipe NAME` asks for one;"
    yield "[Tiling](../tiling.md) says when which is chosen.\n"
    for name, kind in KINDS.items():
        yield f"## {name}\n"
        sizes = ", ".join(f"`{n}` ({kind.tiles.numbers[n]})" for n in kind.sizes)
        yield f"*{kind.title.capitalize()}.* Sizes with their defaults: {sizes or 'none'}.\n"
        recipe = registry.RECIPES[name]
        yield from prose(inspect.getdoc(sys.modules[type(recipe).__module__]) or "")


def _codes() -> Iterator[str]:
    yield "# Diagnostic codes\n"
    yield "Every diagnostic ends with its code. `loopxform explain CODE` prints the same text.\n"
    for code, text in CODES.items():
        yield f"`{code}`{{ #{code.lower()} }}"
        yield f":   {plain(text)}\n"


# ---------------------------------------------------------------- options, profiles


def _options() -> Iterator[str]:
    yield "# Options of tiling\n"
    yield "Each option has the same name on the command line, in [annotations](../annotations.md)"
    yield "and in Python, where `-` is `_`. An option that a recipe has no use for is an error.\n"
    yield "## Sizes\n"
    for name, about in tiling_options.SIZES.items():
        yield f"`--{name} N`, `tile({name}=N)`\n:   {plain(about)}\n"
    yield "## For a nest\n"
    for o in OPTIONS:
        yield from _option(o, [n for n in KINDS if o.name in tiling_options.TAKEN[n]])
    yield "## For several nests\n"
    yield "`offload` takes these.\n"
    for o in OF_PROGRAMS.values():
        yield from _option(o, [])


def _option(o: TilingOption, recipes: list[str]) -> Iterator[str]:
    value = f" {'|'.join(o.kind.choices) or o.kind.metavar}" if o.kind is not FLAG else ""
    yield f"`--{o.name}{value}`{{ #{_anchor(f'--{o.name}')} }}"
    takers = "all recipes" if len(recipes) == len(KINDS) else ", ".join(recipes)
    yield f":   {plain(o.about)}" + (f". *Taken by {takers}.*" if recipes else "") + "\n"


def _profiles() -> Iterator[str]:
    yield "# Profiles\n"
    yield "A profile describes a device that need not be there: `--profile NAME`. The figures are"
    yield "of data sheets; [Devices](../devices.md) says how devices are chosen, and"
    yield "[Architecture](../house.md#how-to-add-a-target) how to add a profile.\n"
    yield f"| profile | {' | '.join(LIMITS.values())} |"
    yield f"|---|{'---:|' * len(LIMITS)}"
    for name in PROFILES:
        limits = profile(name)
        cells = (getattr(limits, field) for field in LIMITS)
        yield f"| `{name}` | {' | '.join(f'{x:,}' if x else '' for x in cells)} |"


# ---------------------------------------------------------------- text


def prose(docstring: str) -> Iterator[str]:
    """Paragraphs, and code where lines are indented or a form becomes another one."""
    docstring = re.sub(r"\s*\(Seed\s+\d[^()]*\)", "", docstring)
    for paragraph in re.split(r"\n\s*\n", docstring):
        lines = paragraph.split("\n")
        name, colon, form = paragraph.partition(": ")
        if colon and " -> " in form and "\n" not in form.partition(" -> ")[0]:
            yield f"{plain(name)}:\n"
            yield f"```text\n{form}\n```\n"
        elif any(line.startswith((" ", "->")) for line in lines):
            first = next(n for n, line in enumerate(lines) if line.startswith((" ", "->")))
            if first:
                yield plain("\n".join(lines[:first])) + "\n"
            code = inspect.cleandoc("\n".join(["", *lines[first:]]))
            yield f"```text\n{code}\n```\n"
        else:
            yield plain(paragraph) + "\n"


def plain(text: str) -> str:
    """Text in Markdown as it stands, but for what is in backquotes."""
    parts = re.split(r"(`[^`\n]+`)", text)
    texts = (escape(part, quote=False) for part in parts[::2])
    escaped = (re.sub(r"([\\*_\[\]#{}])", r"\\\1", text) for text in texts)
    return "".join(x for pair in zip(escaped, [*parts[1::2], ""]) for x in pair)


def _anchor(name: str) -> str:
    return re.sub(r"\W+", "-", f"{'option' if name.startswith('-') else 'argument'}-{name}")


def _slug(command: str) -> str:
    return command.replace(" ", "-")


def main(folder: str) -> None:
    for path, text in pages().items():
        file = Path(folder, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
