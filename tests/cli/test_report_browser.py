"""Pages of `loopxform report` in a browser without a screen: its script, and what one sees."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from html_pages import by_id, of_class, tree, words
from PIL import Image

from loopxform.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = ("mm.c", "races/dependences.c", "pipelines/unsharp_mask.c")
DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert main(["report", *(str(CORPUS / f) for f in FILES), "-q", "-o", str(path)]) == 0
    return path


def chromium(page: str, profile: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Opens a page with a user profile of its own, no network and no graphics card."""
    own = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
    quiet = ["--no-first-run", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command = ["chromium", *own, *quiet, "--enable-logging=stderr", *options, page]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)


def test_the_script_shows_one_step_and_counts_what_is_found(page: Path, tmp_path: Path) -> None:
    done = chromium(f"{page.as_uri()}#file-2", tmp_path, "--dump-dom")
    assert not re.search(r"CONSOLE.*(error|refused|violat)", done.stderr, re.IGNORECASE)
    root = tree(done.stdout.strip())
    every = [*of_class(root, "steps")]
    assert len(every) > 5
    for steps in every:
        items = [*of_class(steps, "step")]
        assert [n for n, x in enumerate(items) if x.get("hidden") is None] == [0]
        (controls,) = of_class(steps, "controls")
        assert controls.get("hidden") is None
        assert f"1 of {len(items)}" in words(controls)
        slider = next(e for e in controls.iter("input"))
        assert slider.get("aria-valuetext", "").startswith(f"1 of {len(items)}: ")
    search = next(of_class(root, "search"))
    assert "3 of 3 shown" in words(search)
    assert len([*by_id(root, "files").iter("tr")]) == 4


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_drawn(scheme: str, width: int, page: Path, tmp_path: Path) -> None:
    """The page is as light or dark as asked, and nothing of it makes it wider than the window."""
    picture = tmp_path / "page.png"
    options = [DARK] if scheme == "dark" else []
    size = f"--window-size={width},1600"
    chromium(
        page.as_uri(), tmp_path, size, f"--screenshot={picture}", "--hide-scrollbars", *options
    )
    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    assert image.size == (width, 1600)
    back = (255, 255, 255) if scheme == "light" else (20, 23, 27)
    for x in (0, width - 1):
        edge = image.crop((x, 0, x + 1, 1600)).getcolors()
        assert edge == [(1600, back)]
    assert len(image.getcolors(1 << 24) or ()) > 12
