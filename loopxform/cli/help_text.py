"""The help of a command: a screen with what matters most, and a page with every option by group."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from loopxform.cli.brief import BRIEF

Section: TypeAlias = tuple[str, str | None, list[argparse.Action]]
"""A title, a remark and options."""

SCREEN = 24
"""Lines of a terminal."""

SUPPRESSED = argparse.SUPPRESS

FIRST = "options that matter most"
TRAILING = ("preprocessor", "build systems")
"""Groups that many commands have: they come after the command's own."""

WIDEST, NARROW, MANY = 40, 20, "NAME"
"""Columns of words to choose from on the page, and on the screen; what stands for more."""


class Formatter(argparse.HelpFormatter):
    """argparse's, with many words to choose from in the text and not in the place of the value."""

    def _metavar_formatter(
        self, action: argparse.Action, default_metavar: str
    ) -> Callable[[int], tuple[str, ...]]:
        if not action.choices or action.metavar:
            return super()._metavar_formatter(action, default_metavar)
        return lambda size: (value(action),) * size

    def _get_help_string(self, action: argparse.Action) -> str | None:
        chosen = not action.metavar and value(action) == MANY
        return f"{action.help} ({_words(action)})" if chosen else action.help


class Documented(argparse.ArgumentParser):
    """argparse with our help, which begins with the options `first`, which matter most, and the
    `examples`."""

    examples: Sequence[str] = ()
    first: Sequence[str] = ()

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs, add_help=False, formatter_class=Formatter)
        help = "this help; -h: only what matters most"
        self.add_argument("-h", "--help", action=Help, help=help)

    @property
    def positional(self) -> str:
        """What the command takes beside options: `FILE.c`; nothing where it takes nothing."""
        return " ".join(str(a.metavar) for a in self._get_positional_actions())

    def format_usage(self) -> str:
        return " ".join(["usage:", self.prog, "[OPTION ...]", *self.positional.split()]) + "\n"

    def format_help(self) -> str:
        return page(self)


class Help(argparse._HelpAction):
    """`-h`: a screen; `--help`: all there is."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002
        values: object,  # noqa: ARG002
        option_string: str | None = None,
    ) -> None:
        assert isinstance(parser, Documented)
        print((screen if option_string == "-h" else page)(parser), end="")
        parser.exit()


def screen(p: Documented) -> str:
    """What fits on a screen: what the command does, the options `first` and examples."""
    if not p.first:
        return page(p)
    lines = _opening(p)
    more = f"loopxform {p.prog.partition(' ')[2]} --help shows all {len(_shown(p))} options."
    examples = [line for line in map(_in_a_line, _examples(p)) if len(line) < _columns()]
    room = SCREEN - len(lines) - 3
    if room > 1:
        lines += ["", *examples[:room]]
    return "\n".join([*lines, "", more, ""])


def page(p: Documented) -> str:
    """The screen, and each option in full."""
    parts = ["\n".join(_opening(p)), "\n".join(_examples(p))]
    parts += [_formatted(p, *section) for section in sections(p)]
    parts.append(p.epilog or "")
    return "\n\n".join(part for part in parts if part) + "\n"


def sections(p: Documented) -> Iterator[Section]:
    """What there is besides positional arguments, in groups, and these first."""
    positional, plain, *groups = p._action_groups
    groups.sort(key=lambda g: g.title in TRAILING)
    yield "arguments", None, positional._group_actions
    for g in groups:
        yield g.title or "", g.description, g._group_actions
    yield "other options", None, plain._group_actions


def invocations(action: argparse.Action) -> tuple[tuple[str, ...], str]:
    """How an option is written, and what stands for its value; of another argument its name."""
    if not action.option_strings:
        return (str(action.metavar or action.dest),), ""
    return tuple(action.option_strings), value(action)


def expanded(p: Documented, action: argparse.Action) -> str:
    """What an option does, in full."""
    return p._get_formatter()._expand_help(action) if action.help else ""


def summary(action: argparse.Action) -> tuple[str, str]:
    """An option with its value, `-j, --jobs N`, and what it does, in a line."""
    names = action.option_strings[: 1 if action.option_strings[0].startswith("--") else 2]
    about = BRIEF.get(names[0]) or (action.help or "").replace("%%", "%")
    return f"{', '.join(names)} {value(action, NARROW)}".rstrip(), about


def value(action: argparse.Action, columns: int = WIDEST) -> str:
    """What stands for the value of an option; nothing where it takes none."""
    if action.nargs == 0:
        return ""
    if action.metavar is not None:
        return str(action.metavar)
    words = "{" + _words(action).replace(", ", ",") + "}"
    return words if action.choices and len(words) < columns else MANY


def _words(action: argparse.Action) -> str:
    return ", ".join(map(str, action.choices or ()))


def _opening(p: Documented) -> list[str]:
    about = p._get_formatter()
    about.add_text(p.description)
    lines = [p.format_usage().rstrip(), "", *about.format_help().rstrip().split("\n")]
    if not p.first:
        return lines
    pairs = [summary(p._option_string_actions[name]) for name in p.first]
    width = max(len(option) for option, _ in pairs)
    return [*lines, "", f"{FIRST}:", *(f"  {o:<{width}}  {text}" for o, text in pairs)]


def _examples(p: Documented) -> list[str]:
    return ["examples:", *(f"  loopxform {line}" for line in p.examples)] if p.examples else []


def _in_a_line(example: str) -> str:
    """An example, with its remark where there is room."""
    if len(example) < _columns():
        return example
    command, _ = split(example.strip())
    return f"  {command}"


def _columns() -> int:
    return shutil.get_terminal_size().columns


def split(example: str) -> tuple[str, str]:
    """The command of an example, and the remark."""
    command, _, remark = example.partition("   ")
    return command, remark.strip()


def _formatted(p: Documented, title: str, about: str | None, actions: list[argparse.Action]) -> str:
    formatter = p._get_formatter()
    formatter.start_section(title)
    formatter.add_text(about)
    formatter.add_arguments(actions)
    formatter.end_section()
    return formatter.format_help().strip("\n")


def _shown(p: Documented) -> list[argparse.Action]:
    return [a for a in p._actions if a.option_strings and a.help != SUPPRESSED]
