"""A hook of MkDocs: the pages of the site that are not in docs/, and links that lead to them.

Reference pages are made from the code, and CONTRIBUTING.md, CHANGELOG.md and examples/README.md are
pages, too. A link to a file that is no page of the site becomes its text. Codes of diagnostics link
to their explanations.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from types import ModuleType

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
BESIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
    "README.md": "index.md",
}
"""Files of the project that are pages of the site."""

COMMANDS, API = "reference/commands", "reference/api"
"""Folders whose pages are all in the navigation."""

LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")
CODE_BLOCK = re.compile(r"^( *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`[^`]*`)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the pages of commands and of the Python interface to the navigation."""
    (reference,) = (x["Reference"] for x in config.nav or [] if "Reference" in x)
    commands = [p for p in _reference_pages().pages() if p.startswith(COMMANDS)]
    reference.insert(0, {"Commands": _index_first(commands)})
    api = [f"{API}/{p.name}" for p in Path(config.docs_dir, API).glob("*.md")]
    if api:
        reference.append({"Python interface": _index_first(sorted(api))})
    return config


def _index_first(pages: list[str]) -> list[str]:
    return sorted(pages, key=lambda page: not page.endswith("/index.md"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, text in _reference_pages().pages().items():
        files.append(File.generated(config, path, content=text))
    for path, page in BESIDE.items():
        if page != "index.md":
            files.append(File.generated(config, page, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    parts = CODE_BLOCK.split(markdown)
    return "".join(x if n % 2 else _linked(x, page.file.src_uri) for n, x in enumerate(parts))


def _linked(text: str, page: str) -> str:
    """Text without blocks of code, with links that lead somewhere."""
    text = LINK.sub(lambda m: _link(m, page), text)
    if page == "reference/codes.md":
        return text
    codes = relpath("reference/codes.md", dirname(page) or ".")
    if page.startswith("reference/"):
        text = re.sub(r"\bdocs/(\w+\.md)\b", lambda m: _to(m[1], page), text)
    parts = CODE_SPAN.split(text)
    return "".join(x if n % 2 else _with_codes(x, codes) for n, x in enumerate(parts))


def _title(file: str) -> str:
    """The title of a page, which the site shows in the place of the name of its file."""
    return (ROOT / file).read_text("utf-8").partition("\n")[0].strip("# `")


def _to(target: str, page: str) -> str:
    """A link to a page, with its name."""
    return f"[{_title(f'docs/{target}')}]({relpath(target, dirname(page))})"


def _with_codes(text: str, codes: str) -> str:
    return re.sub(r"\bLX\d{3}\b", lambda m: f"[{m[0]}]({codes}#{m[0].lower()})", text)


def _link(m: re.Match[str], page: str) -> str:
    """A link of a page of docs/, or of a file beside."""
    text, target = m.groups()
    if "://" in target or target.startswith("#"):
        return m[0]
    origin = next((path for path, name in BESIDE.items() if name == page), f"docs/{page}")
    origin = "docs/index.md" if page == "index.md" else origin
    path, _, anchor = target.partition("#")
    place = normpath(join(dirname(origin), path))
    if text.endswith(".md") and (ROOT / place).is_file():
        text = _title(place)
    if place in BESIDE:
        there = BESIDE[place]
    elif place.startswith("docs/"):
        there = place.removeprefix("docs/")
    elif (ROOT / place).exists():
        return text if "`" in text else f"`{text}`"
    else:
        return m[0]  # MkDocs tells that it leads nowhere
    return f"[{text}]({relpath(there, dirname(page) or '.')}{'#' * bool(anchor)}{anchor})"


def _reference_pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "scripts" / "reference_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
