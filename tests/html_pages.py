"""Pages as trees, read strictly: every element is closed, and has an attribute once."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from xml.etree.ElementTree import Element, SubElement, tostring

VOID = frozenset(["meta", "br", "input", "link", "img", "hr"])
EMPTY_IN_SVG = frozenset(["rect", "line", "circle", "path", "polygon", "polyline"])


class _Reader(HTMLParser):
    """Builds a tree, and finds fault with tags that do not match."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("page")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        made = SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})
        if tag not in VOID:
            self.open.append(made)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in EMPTY_IN_SVG, f"<{tag}/> is no element that ends itself"
        SubElement(self.open[-1], tag, {name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, (
            f"</{tag}> ends <{self.open[-1].tag}>, line {self.getpos()}"
        )
        self.open.pop()

    def handle_data(self, data: str) -> None:
        at = self.open[-1]
        if len(at):
            at[-1].tail = (at[-1].tail or "") + data
        else:
            at.text = (at.text or "") + data


def tree(page: str) -> Element:
    """The tree of a page. Fails where it is not well-formed."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].tag}> is not closed"
    (html,) = reader.root
    return html


def words(e: Element) -> str:
    """What a reader sees of an element, blanks as one."""
    return " ".join("".join(e.itertext()).split())


def by_id(root: Element, name: str) -> Element:
    (found,) = (e for e in root.iter() if e.get("id") == name)
    return found


def of_class(root: Element, name: str) -> Iterator[Element]:
    return (e for e in root.iter() if name in (e.get("class") or "").split())


def fragment(e: Element) -> str:
    """The HTML of an element alone, a line for each element."""
    text = tostring(e, encoding="unicode", method="html")
    return (
        "\n".join(line for line in text.replace("><", ">\n<").splitlines() if line.strip()) + "\n"
    )
