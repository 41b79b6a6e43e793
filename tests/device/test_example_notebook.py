"""examples/first_kernel.ipynb runs as it is; what it shows is as light or dark as its viewer."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from html_pages import tree, words
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image

import loopxform as lx

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_kernel.ipynb"
MM = Path(__file__).parents[2] / "corpus" / "mm.c"

SHOWN = {
    "file": "first.c: 1 function",
    "mm": "mm of first.c: 3 loops",
    "mm.check()": "reduction",
    "mm.matrices()": "Nest over i, j, k",
    'mm.apply("interchange i j", "stripmine i 16")': "stripmine i 16",
    "    display(refusal)": "cannot parallelise k",
    "tiled": "register tiling, Ty=8, Tx=8, Tk=8, Ry=2, Rx=2",
    "kernel": "ms on the device",
    "found": "with times, the quickest first",
    "report": "consider restrict on A, B, C",
}
"""Of cells, by their last lines, what their output says among other things."""


def test_no_outputs_are_committed() -> None:
    book: Any = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(book)
    cells = [c for c in book.cells if c.cell_type == "code"]
    assert all(not c.outputs and c.execution_count is None for c in cells)
    assert book.metadata == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    assert {c.source.splitlines()[-1] for c in cells} >= SHOWN.keys()


@pytest.mark.device
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    book: Any = nbformat.read(NOTEBOOK, 4)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=240, kernel_name="python3", resources=folder).execute()
    cells = [c for c in book.cells if c.cell_type == "code"]
    assert not [o for c in cells for o in c.outputs if o.output_type == "error"]
    said = {}
    for c in cells:
        for o in c.outputs:
            html = o.get("data", {}).get("text/html")
            if html:
                assert len(html) < 100_000
                said[c.source.splitlines()[-1]] = words(tree(html))
    assert said.keys() == SHOWN.keys()
    assert not [line for line, text in SHOWN.items() if text not in said[line]]
    gains = next(c for c in cells if "report.gains" in c.source)
    assert gains.outputs[0].text.startswith("restrict on A, B, C: 2 loops would be 'yes'")
    assert (tmp_path / "build" / "first.cl").is_file()


WHITE, BLACK = (255, 255, 255), (20, 23, 27)
VIEWERS = {
    "light page": ("", False, WHITE),
    "dark page": ("", True, BLACK),
    "Jupyter, light on a dark desktop": ('data-jp-theme-light="true"', True, WHITE),
    "Jupyter, dark on a light desktop": ('data-jp-theme-light="false"', False, BLACK),
    "Code, light on a dark desktop": ('class="vscode-light"', True, WHITE),
    "Code, dark on a light desktop": ('class="vscode-dark"', False, BLACK),
    "Code, high contrast light": (
        'class="vscode-high-contrast vscode-high-contrast-light"',
        True,
        WHITE,
    ),
    "Material, dark": ('data-md-color-scheme="slate"', False, BLACK),
}
"""What a viewer says on its body, whether the desktop is dark, and how a piece has to look."""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("viewer", VIEWERS)
def test_a_piece_is_as_light_or_dark_as_its_viewer(viewer: str, tmp_path: Path) -> None:
    said, dark, back = VIEWERS[viewer]
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    piece = lx.check(MM)["mm"]._repr_html_()
    page.write_text(
        f'<!DOCTYPE html><body {said} style="margin: 0"><p class="badge">mine</p>{piece}'
    )
    own = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    own += ["--blink-settings=preferredColorScheme=0"] if dark else []
    own += ["--hide-scrollbars", "--window-size=900,900", f"--screenshot={picture}"]
    subprocess.run(["chromium", *own, page.as_uri()], capture_output=True, timeout=240, check=True)
    with Image.open(picture) as opened:
        image = opened.convert("RGB")
    colours = {c: n for n, c in image.crop((2, 60, 890, 700)).getcolors(1 << 24) or ()}
    assert max(colours, key=lambda c: colours[c]) in (back, (245, 246, 248), (29, 33, 38))
    assert colours.get(back, 0) > 10_000
    other = BLACK if back == WHITE else WHITE
    assert colours.get(other, 0) < 3_000


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_that_nbconvert_makes_keep_every_piece(theme: str) -> None:
    """It rewrites HTML: blanks between elements become one."""
    piece = lx.load(MM)["mm"].tile(Ty=4, Tx=4, Tk=4, Ry=2, Rx=2)._repr_html_()
    output = nbformat.v4.new_output("display_data", {"text/html": piece})
    cell = nbformat.v4.new_code_cell("tiled", outputs=[output])
    page, _ = HTMLExporter(theme=theme).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    (kept,) = BeautifulSoup(page, "html.parser").select("div.loopxform")
    codes = [e.get_text() for e in kept.select("code")]
    assert codes == ["".join(e.itertext()) for e in tree(piece).iter("code")]
    assert any(code.startswith("  const int") for code in codes)
