"""The only home of jinja2: templates are found, filled, and never compute anything."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.bccache

from loopxform.errors import EmitError


def template_dir() -> Path:
    """The folder of the templates: inside the installed package, or beside it in a checkout."""
    spec = importlib.util.find_spec("loopxform")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Templates as Python code, kept for the next run. Failing to write is no failure."""

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        with contextlib.suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled() -> jinja2.BytecodeCache | None:
    """In the user's cache folder; None where there is none."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = base / "loopxform" / "templates"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return _Compiled(str(folder))


@cache
def _pages() -> jinja2.Environment:
    """For pages, in which every value is escaped that is not marked as safe."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(template_dir() / "report")),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled(),
    )


def page(template: str, **values: Any) -> str:
    """The text of a page (`templates/report`)."""
    return _pages().get_template(template).render(**values) + "\n"


def style(name: str) -> str:
    """The text of a style sheet (`templates/report`)."""
    return (template_dir() / "report" / name).read_text()


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(template_dir())),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_compiled(),
    )
    environment.filters["c_string"] = c_string
    environment.filters["c_literal"] = c_literal
    environment.filters["comment"] = comment
    environment.filters["shell"] = shlex.quote
    return environment


def c_string(line: str) -> str:
    """A line of text as a C string literal that ends with a newline."""
    return f'{c_literal(line)[:-1]}\\n"'


def c_literal(text: str) -> str:
    """A text as a C string literal."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return '"' + plain.replace("\n", "\\n") + '"'


def comment(text: str) -> str:
    """Text that a C comment can hold, whatever it is: it ends none, starts none, and no line of it
    goes on in the next."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    return re.sub(r"(\*(?=/)|/(?=\*)|\?(?=\?))", r"\1 ", plain).rstrip("\\")


def fill(template: str, **values: Any) -> str:
    """The text of a template. Raises EmitError where it asks for something the plan lacks."""
    try:
        return _environment().get_template(template).render(**values)
    except jinja2.UndefinedError as e:
        raise EmitError(f"template {template}: {e}") from e


def kernel(**k: Any) -> str:
    """The text of a kernel; see templates/kernel.cl.j2 for what it needs."""
    return fill("kernel.cl.j2", k=k)


def kernels_comment(lines: Sequence[str]) -> str:
    """The comment on top of a file of kernels."""
    body = (f" * {comment(line)}".rstrip() for line in lines)
    return "\n".join(["/*", *body, " */", ""])


def kernels_shared(**p: Any) -> str:
    """What stands above the kernels of a program; see templates/kernels.cl.j2 for what it needs."""
    return fill("kernels.cl.j2", p=p).rstrip("\n") + "\n\n"


def collective_copy(copy: object) -> str:
    """The statements of a collective copy (a `CopyPlan`)."""
    return fill("collective_copy.cl.j2", copy=copy)
