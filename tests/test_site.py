"""The docs site: built without a warning, complete, and in no need of a network."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from loopxform.cli.manual import commands
from loopxform.codes import CODES
from loopxform.schedule.params import RECIPES
from loopxform.schedule.tiling_options import OPTIONS
from loopxform.targets.profile import PROFILES
from loopxform.transforms import STEPS

ROOT = Path(__file__).parents[1]


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(site: Path, config: Path = ROOT / "mkdocs.yml") -> str:
    """What MkDocs says of the site that it builds; nothing where all is well."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--config-file", config, "--site-dir", site],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert bool(done.returncode) == bool(said), done.stderr
    return "\n".join(said)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("site")
    assert build(where) == ""
    return where


def ids(page: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', page.read_text()))


def test_the_reference_is_complete(site: Path) -> None:
    """Each command with each option, step, recipe, code and profile has its place."""
    here = site / "reference"
    for c in commands():
        options = [o for o in c.parser._actions if o.option_strings and o.help != "==SUPPRESS=="]
        named = {re.sub(r"\W+", "-", f"option-{o.option_strings[0]}") for o in options}
        assert named <= ids(here / "commands" / f"{c.name.replace(' ', '-')}.html")
    assert STEPS.keys() <= ids(here / "steps.html")
    assert set(RECIPES) <= ids(here / "recipes.html")
    assert {code.lower() for code in CODES} <= ids(here / "codes.html")
    assert {f"option-{o.name}" for o in OPTIONS} <= ids(here / "options.html")
    profiles = (here / "profiles.html").read_text()
    assert all(f"<code>{name}</code>" in profiles for name in PROFILES)


@pytest.mark.slow
def test_codes_and_files_link_to_their_pages(site: Path) -> None:
    assert '<a href="reference/codes.html#lx104">LX104</a>' in (site / "check.html").read_text()
    assert '<a href="contributing.html#a-step-from-nothing">' in (site / "house.html").read_text()
    assert '<a href="house.html">Architecture</a>' in (site / "contributing.html").read_text()
    assert "<code>corpus/pipelines</code>" in (site / "examples.html").read_text()


def test_pages_need_no_network(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 40
    for page in pages:
        text = page.read_text()
        assert not re.findall(r'\bsrc="(?:https?:)?//[^"]*"', text), page
        assert not re.findall(r'<link[^>]+href="(?:https?:)?//[^"]*"', text), page
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//|@import", style.read_text()), style


def test_prose_is_shown_as_it_stands() -> None:
    pages = _script("reference_pages")
    assert pages.plain("a*b < c_d[i] `x*y`") == r"a\*b &lt; c\_d\[i\] `x*y`"
    shown = [*pages.prose("Skewing: for i: S -> for j: T.\n\nLegal.\n\n    for i\n      S\n")]
    blocks = ["```text\nfor i: S -> for j: T.\n```\n", "```text\nfor i\n  S\n```\n"]
    assert [x for x in shown if x.startswith("```")] == blocks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "text", "said"),
    [
        ("tutorial.md", "[x](check.md#nowhere)", "'check.md#nowhere'"),
        ("tutorial.md", "[x](nowhere.md)", "'nowhere.md'"),
        ("orphan.md", "# No place in the navigation", "orphan.md"),
    ],
)
def test_what_leads_nowhere_fails(page: str, text: str, said: str, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    subprocess.run(["cp", "-r", ROOT / "docs", docs], check=True)
    with (docs / page).open("a") as file:
        file.write(f"\n\n{text}\n")
    config = tmp_path / "mkdocs.yml"
    hook = ROOT / "scripts" / "site_pages.py"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: {docs}\nhooks: [{hook}]\n")
    assert said in build(tmp_path / "site", config)


@pytest.mark.slow
@pytest.mark.browser
def test_search_from_disk(site: Path, tmp_path: Path) -> None:
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    alone = [f"--user-data-dir={tmp_path}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    page = f"{(site / 'index.html').as_uri()}?q=interchange"
    done = subprocess.run(
        ["chromium", *options, *alone, "--virtual-time-budget=30000", "--dump-dom", page],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    assert re.search(r"\d+ matching documents", done.stdout)
    assert "reference/steps.html?h=interchange#interchange" in done.stdout
