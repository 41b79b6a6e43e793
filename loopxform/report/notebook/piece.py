"""A piece of HTML for notebooks: templates of the report in a box with a style of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from loopxform.codegen import render
from loopxform.report.page import ASKED, visible

BOX = ".loopxform.loopxform"
"""The class of the box, twice: notebooks style tables themselves, and what is more specific
counts."""

DARK = (
    '[data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-'
    'light), [data-theme="dark"], [theme="dark"], [data-md-color-scheme="slate"]'
)
"""Where Jupyter, Visual Studio Code, Sphinx, Colab and Material for MkDocs say that it is dark."""

LIGHT = (
    '[data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light, '
    '[data-theme="light"], [theme="light"], [data-md-color-scheme="default"]'
)

PAGES_ONLY = re.compile(
    r"^(html|header|main|footer|h1|\.skip|\.search|\.controls|button|input|select|svg$|a\.badge)"
)
"""Selectors of what there is on pages alone."""

_RULE = re.compile(r"\s*([^{}]+)\{((?:[^{}]|\{[^{}]*\})*)\}")


def piece(label: str, template: str, **values: object) -> str:
    """A filled template of `templates/report/notebook`. Headings are paragraphs with that role: a
    notebook's table of contents has the headings that its author wrote."""
    body = render.page(f"notebook/{template}", still=True, **ASKED, **values)
    body = re.sub(
        r"<h([1-6])([ >])", r'<p class="h\1" role="heading" aria-level="\1"\2', visible(body)
    )
    body = re.sub(r"</h[1-6]>", "</p>", body)
    body = "\n".join(line for line in body.splitlines() if line.strip())
    return render.page(
        "notebook/piece.html.j2", label=visible(label), style=_needed(body), body=body
    )


def _needed(body: str) -> str:
    """The rules of the style sheet that something of a piece is meant by."""
    classes = {name for m in re.findall(r'class="([^"]*)"', body) for name in m.split()}
    tags = {*re.findall(r"<([a-z]+)", body)}
    return "\n".join(rule for names, rule in style() if names <= classes | tags)


@cache
def style() -> tuple[tuple[frozenset[str], str], ...]:
    """The rules of the style sheet of pages and of that of notebooks, for the box alone, each with
    the classes that it is about."""
    texts = (render.style(name) for name in ("style.css", "notebook/notebook.css"))
    return tuple(rule for text in texts for rule in _scoped(text))


def _scoped(text: str) -> Iterator[tuple[frozenset[str], str]]:
    for selectors, body in _RULE.findall(text):
        name = " ".join(selectors.split())
        if "prefers-color-scheme" in name:
            ((_, colours),) = _RULE.findall(body)
            own = " ".join(colours.split())
            yield frozenset(), f"{name} {{ :not(:is({LIGHT}) *){BOX} {{{own}}} }}"
            yield frozenset(), f":is({DARK}) {BOX} {{{own}}}"
        elif name.startswith("@"):
            yield from ((names, f"{name} {{ {rule} }}") for names, rule in _scoped(body))
        else:
            for selector in filter(None, map(_own, name.split(", "))):
                inner = selector.removeprefix(BOX)
                names = frozenset(re.findall(r"\.([a-z][\w-]*)|\b(svg|table)\b", inner))
                about = frozenset(a or b for a, b in names)
                yield about, f"{selector} {{{' '.join(body.split())}}}"


def _own(selector: str) -> str:
    """A selector of pages for the box; nothing where there is no such thing in it."""
    if selector in (":root", "body"):
        return BOX
    if PAGES_ONLY.match(selector):
        return ""
    return f"{BOX} " + re.sub(r"(?<![\w.-])h([2-5])\b", r".h\1", selector)
