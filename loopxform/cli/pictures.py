"""Pictures as arrays, and arrays as pictures. The home of Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from loopxform.cli.examples import Example
from loopxform.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

INSTALL = 'pip install "loopxform[images]" brings it'
MODES = {"grey": "L", "rgb": "RGB", "rgba": "RGBA"}

Pixels = np.ndarray[Any, Any]


def require_pillow() -> None:
    """Raises InputError."""
    try:
        from PIL import Image  # noqa: F401
    except ImportError as e:
        message = f"pictures need Pillow, which cannot be imported: {e}"
        raise InputError(message, code="LX069", help=INSTALL) from e


def brightness(path: str, colours: str) -> Pixels:
    """The brightness of each pixel from 0 to 1, a plane for each colour, or one array of grey.
    Raises InputError."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            pixels = np.asarray(_of_eight_bits(picture).convert(MODES[colours]), "float32")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as e:
        why = e.strerror if isinstance(e, OSError) and e.strerror else e
        help = "name a picture: a PNG, or another format that Pillow reads"
        message = f"cannot read '{path}': {why}"
        raise InputError(message, code="LX001", help=help, subject=path) from e
    planes = pixels if pixels.ndim == 2 else np.moveaxis(pixels, 2, 0)
    return np.ascontiguousarray(planes / np.float32(255))


def _of_eight_bits(picture: Image.Image) -> Image.Image:
    """Pillow cuts the 16 bits of grey pictures off, in place of scaling them."""
    if not picture.mode.startswith("I"):
        return picture
    from PIL import Image

    levels = np.clip(np.asarray(picture, "float64") / 257, 0, 255)
    return Image.fromarray(np.rint(levels).astype("uint8"))


def with_border(planes: Pixels, width: int) -> Pixels:
    """With so many pixels around each plane that repeat its edge."""
    around = [(0, 0)] * (planes.ndim - 2) + [(width, width)] * 2
    return np.pad(planes, around, mode="edge")


def png(result: Pixels, example: Example) -> bytes:
    """A plane of grey, or planes of red, green and blue. What is no number is black."""
    pixels = np.nan_to_num(result.astype("float64"))
    if example.contrast:
        low, high = pixels.min(), pixels.max()
        pixels = (pixels - low) / ((high - low) or 1)
    levels = np.rint(np.clip(pixels, 0, 1) * 255).astype("uint8")
    out = io.BytesIO()
    _picture(levels).save(out, "PNG")
    return out.getvalue()


def _picture(levels: Pixels) -> Image.Image:
    from PIL import Image

    ordered = levels if levels.ndim == 2 else np.moveaxis(levels, 0, 2)
    return Image.fromarray(np.ascontiguousarray(ordered))
