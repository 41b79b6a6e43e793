"""argparse, with our diagnostics, each under the word that it is about, and our help."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from loopxform.cli.colour import WHEN
from loopxform.cli.help_text import Documented
from loopxform.cli.place import put_at_word
from loopxform.cli.words import is_option, short, torn, without
from loopxform.errors import UsageError
from loopxform.nearest import did_you_mean


class Parser(Documented):
    """argparse whose errors are diagnostics of ours. `takers` are the commands that have an
    option."""

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
        if missing := re.fullmatch(r"the following arguments are required: (--\S+)", message):
            action = self._option_string_actions[missing[1]]
            words = (str(a.metavar) for a in self._get_positional_actions())
            example = f"{self.prog} {' '.join(words)} {missing[1]} {action.metavar}"
            raise UsageError(f"{self.prog} needs {missing[1]}, {action.help}", help=example)
        about = re.match(r"argument ([^\s:/]+)", message)
        raise UsageError(message, help=f"{self.prog} --help", subject=about and about[1])

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(c) for c in action.choices]
        option = action.option_strings[0] if action.option_strings else str(action.metavar)
        help = f"{did_you_mean(str(value), known)}{option} takes {', '.join(known)}"
        subject = option if action.option_strings else str(value)
        raise UsageError(f"{option} cannot be '{value}'", help=help, subject=subject)

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
            name = str(wanted[0].metavar)
            what = f"{self.prog} needs {'a C file' if 'FILE' in name else name}"
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
