"""SVG as text: elements with attributes, every text escaped.

Colours are classes of the page's style sheet, so that pictures are light or dark as the page is.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def element(name: str, *inside: str, **attributes: object) -> str:
    """An element around others; `class_` is the attribute `class`, `text_anchor` `text-anchor`."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{named}>{''.join(inside)}</{name}>" if inside else f"<{name}{named}/>"


def _number(value: object) -> str:
    """Coordinates with a decimal at most, the same on every machine."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def text(x: float, y: float, words: str, class_: str = "", anchor: str = "start") -> str:
    """A text whose baseline begins, ends or has its middle at a point."""
    return element("text", escape(words), x=x, y=y, class_=class_ or None, text_anchor=anchor)


def rect(x: float, y: float, w: float, h: float, class_: str) -> str:
    return element("rect", x=x, y=y, width=w, height=h, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def picture(
    name: str, title: str, about: str, width: float, height: float, parts: Iterable[str]
) -> str:
    """A picture that says in its title and description what it shows; `name` is its own on the
    page."""
    return element(
        "svg",
        element("title", escape(title), id=f"{name}-title"),
        element("desc", escape(about), id=f"{name}-desc"),
        *parts,
        viewBox=f"0 0 {_number(float(width))} {_number(float(height))}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )
