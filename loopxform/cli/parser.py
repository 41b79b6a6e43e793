"""argparse, with our diagnostics, each under the word that it is about, and our help."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

from loopxform.cli.colour import WHEN
from loopxform.cli.place import put_at_word
from loopxform.cli.words import is_option, short, torn, without
from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean

Section: TypeAlias = tuple[str, str | None, list[argparse.Action]]
"""A title, a remark and options."""


class Parser(argparse.ArgumentParser):
    """argparse whose errors are diagnostics of ours. Help shows the `examples`, then the options
    `first`, which matter most, then the others in their groups. `takers` are the commands that have
    an option."""

    examples: Sequence[str] = ()
    first: Sequence[str] = ()
    takers: Callable[[str], list[str]] = staticmethod(lambda _: [])

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        help = "colours in diagnostics and verdicts (auto: on a terminal, unless NO_COLOR is set)"
        self.add_argument("--color", choices=WHEN, default="auto", help=help)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str], namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """`given` are the options that the command line has, by their names among those that were
        read. Raises UsageError."""
        namespace = namespace or argparse.Namespace()
        namespace.given = set[str]()
        return super().parse_args(self._in_order(list(args), namespace.given), namespace)

    def error(self, message: str) -> NoReturn:
        about = re.match(r"argument ([^\s:/]+)", message)
        raise UsageError(message, help=f"{self.prog} --help", subject=about and about[1])

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        option, known = action.option_strings[0], [str(c) for c in action.choices]
        help = f"{did_you_mean(str(value), known)}{option} takes {', '.join(known)}"
        raise UsageError(f"{option} cannot be '{value}'", help=help, subject=option)

    # ---------------------------------------------------------------- words

    def _in_order(self, words: list[str], given: set[str]) -> list[str]:
        """The words with those that are no options first; which options there are goes to `given`.
        Raises UsageError for an option that there is not, one without its value or with a value too
        many, and where there are too few or too many other words."""
        plain = []
        left = iter(enumerate(words))
        for n, word in left:
            action = self._action(word)
            _warn_if_renamed(word, action)
            if action is not None and word != "--":
                given.add(action.dest)
            if word == "--":
                plain += [n for n, _ in left]
            elif action is None and is_option(word):
                raise self._at(n, words, without(self, words, n))
            elif action is None:
                if torn(words, n):
                    raise self._at(n, words, without(self, words, n))
                plain.append(n)
            elif action.nargs == argparse.REMAINDER:
                break
            elif "--help" in action.option_strings:
                return words
            elif action.nargs == 0 and word.startswith("--") and "=" in word:
                raise self._at(n, words, _valued(word))
            elif action.nargs != 0 and word in action.option_strings:
                value = next(left, None)
                if value is None or is_option(value[1]):
                    raise self._at(n, words, _valueless(word, action))
        self._require_count(words, plain)
        if "--" in words:
            return words
        options = [word for n, word in enumerate(words) if n not in plain]
        return [*(words[n] for n in plain), *options]

    def _require_count(self, words: list[str], plain: list[int]) -> None:
        wanted = self._get_positional_actions()
        if not plain and wanted and wanted[0].nargs != "?":
            what = f"{self.prog} needs a C file"
            raise self._at(-1, words, UsageError(what, help=f"{self.prog} {wanted[0].metavar}"))
        if len(plain) > len(wanted) and not any(a.nargs == "+" for a in wanted):
            n = plain[len(wanted)]
            raise self._at(n, words, without(self, words, n))

    def _action(self, word: str) -> argparse.Action | None:
        """The option that a word names: `--Ty`, `--Ty=4`, `-DX`."""
        known = self._option_string_actions
        return known.get(word) or known.get(word.partition("=")[0]) or known.get(short(word))

    def _at(self, n: int, words: list[str], error: UsageError) -> UsageError:
        """The error, under a word of the command line (-1: the command itself)."""
        command = self.prog.split()[1:]
        put_at_word(error, [*command, *words], n + len(command))
        return error

    @property
    def options(self) -> tuple[str, ...]:
        """Every option, as it is written."""
        return tuple(self._option_string_actions)

    @property
    def flags(self) -> tuple[str, ...]:
        """The options without a value."""
        return tuple(o for o, action in self._option_string_actions.items() if action.nargs == 0)

    @property
    def choices(self) -> dict[str, str]:
        """The options by the words that they take."""
        return {str(c): a.option_strings[-1] for a in self._actions for c in a.choices or ()}

    @property
    def positional(self) -> str:
        """What the command takes beside options: `FILE.c`; nothing where it takes nothing."""
        return " ".join(str(a.metavar) for a in self._get_positional_actions())

    # ---------------------------------------------------------------- help

    def format_usage(self) -> str:
        return " ".join(["usage:", self.prog, "[OPTION ...]", *self.positional.split()]) + "\n"

    def format_help(self) -> str:
        shown = ["examples:", *(f"  loopxform {line}" for line in self.examples), ""]
        return "\n".join(
            [
                self.format_usage(),
                self._formatted(self.description, []),
                *(shown if self.examples else []),
                self._formatted(self.epilog, self._sections()),
            ]
        )

    def _formatted(self, text: str | None, sections: Iterable[Section]) -> str:
        """Sections with their options, and a text."""
        formatter = self._get_formatter()
        for title, about, actions in sections:
            formatter.start_section(title)
            formatter.add_text(about)
            formatter.add_arguments(actions)
            formatter.end_section()
        formatter.add_text(text)
        return formatter.format_help()

    def _sections(self) -> Iterator[Section]:
        first = [self._option_string_actions[name] for name in self.first]
        positional, plain, *groups = self._action_groups
        yield "arguments", None, positional._group_actions
        yield "options that matter most", None, first
        for g in groups:
            yield g.title or "", g.description, [a for a in g._group_actions if a not in first]
        yield "other options", None, [a for a in plain._group_actions if a not in first]


def _valued(word: str) -> UsageError:
    name = word.partition("=")[0]
    return UsageError(f"{name} takes no value", help=f"{name} alone")


def _valueless(word: str, action: argparse.Action) -> UsageError:
    value = action.metavar or "|".join(map(str, action.choices or ("VALUE",)))
    return UsageError(f"{word} needs a value", help=f"{word} {value}")


def _warn_if_renamed(word: str, action: argparse.Action | None) -> None:
    """An option of an earlier release is understood, with a FutureWarning."""
    name = getattr(action, "current", None)
    if name is not None:
        written = word.partition("=")[0]
        text = f"the option '{written}' is called '{name}' now"
        warnings.warn(text, FutureWarning, stacklevel=2)
