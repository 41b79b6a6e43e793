"""`loopxform demo`: pipelines of plain C on pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from loopxform.api.reading import load
from loopxform.cli import examples, main

Capture = pytest.CaptureFixture[str]
EVERY = examples.every()


def picture(path: Path, shape: tuple[int, ...]) -> str:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(7).integers(0, 256, shape, "uint8")
    image.fromarray(pixels).save(path)
    return str(path)


@pytest.mark.parametrize("name", EVERY)
def test_a_demo_gives_every_parameter(name: str) -> None:
    x = EVERY[name]
    params = {p.name: p for p in load(x.c_file)[name].function.params}
    assert params.keys() == {"h", "w", x.input, x.output, *x.numbers}
    planes = params[x.input].shape[:-2]
    assert bool(planes) == (x.colours != "grey")


def test_the_list(capsys: Capture) -> None:
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in EVERY)


RUNS = [
    ("harris", (30, 41), ["--fuse-stages", "8x16"], (30, 41)),
    ("blur3", (9, 14, 4), ["--fuse-stages", "4x16"], (9, 14, 3)),
    ("unsharp_mask", (1, 3), [], (1, 3, 3)),
    pytest.param("interpolate", (5, 6, 4), [], (5, 6, 3), marks=pytest.mark.slow),
]


@pytest.mark.device
@pytest.mark.parametrize(("name", "shape", "options", "made"), RUNS)
def test_a_picture_in_and_a_picture_out(
    name: str,
    shape: tuple[int, ...],
    options: list[str],
    made: tuple[int, ...],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    image = pytest.importorskip("PIL.Image")
    photo = picture(tmp_path / "photo.png", shape)
    argv = ["demo", name, photo, "-o", str(tmp_path / "out"), "--repeat", "1", "--device", "c"]
    assert main([*argv, *options]) == 0
    out = capsys.readouterr().out
    assert f"elements of {EVERY[name].output} are identical to the C's" in out
    assert ("in one kernel" in out) == bool(options)
    written = tmp_path / "out" / f"photo_{name}.png"
    assert out.endswith(f"wrote {written}\n")
    with image.open(written) as result:
        assert np.asarray(result).shape == made


def test_a_picture_is_as_bright_as_the_numbers(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from loopxform.cli import pictures

    (tmp_path / "p.png").write_bytes(
        pictures.png(np.array([[0, 0.5, 1, 2, -1, np.nan]], "float32"), EVERY["blur3"])
    )
    found = pictures.brightness(str(tmp_path / "p.png"), "grey")
    assert np.rint(found * 255).astype(int).tolist() == [[0, 128, 255, 255, 0, 0]]


WRONG = {
    "no pipeline": (["haris", "p.png"], "did you mean 'harris'?"),
    "no picture": (["harris"], "loopxform demo harris photo.png"),
    "not there": (["harris", "nix.png"], "cannot read 'nix.png': No such file"),
    "not a picture": (["harris", "bad.png"], "cannot read 'bad.png'"),
    "not a number": (["harris", "p.png", "--repeat", "0"], "--repeat"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refusals(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    picture(tmp_path / "p.png", (4, 4))
    Path("bad.png").write_text("no picture")
    argv, text = WRONG[case]
    assert main(["demo", *argv]) == 2
    assert text in capsys.readouterr().err
    assert not [*tmp_path.glob("*_harris.png")]


def test_without_pillow(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["demo", "harris", "p.png"]) == 2
    told = capsys.readouterr().err
    assert "pictures need Pillow" in told
    assert 'pip install "loopxform[images]"' in told


def test_sixteen_bits_of_grey(tmp_path: Path) -> None:
    from PIL import Image

    from loopxform.cli import pictures

    Image.fromarray(np.array([[0, 257, 65535]], "uint16")).save(tmp_path / "p.png")
    found = pictures.brightness(str(tmp_path / "p.png"), "grey")
    assert np.array_equal(found, np.array([[0, 1, 255]], "float32") / np.float32(255))
