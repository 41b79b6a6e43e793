"""Options of `loopxform demo`."""

from __future__ import annotations

from loopxform.cli.arguments import tiling
from loopxform.cli.parser import Parser
from loopxform.schedule.offload_options import FUSE_STAGES, TILE_STAGES

EXAMPLES = (
    "demo                                          the pipelines that there are",
    "demo harris photo.png                         writes photo_harris.png",
    "demo harris photo.png --fuse-stages 32x256    tiles of 32 rows, whatever the device is",
)

FIRST = ("-o", "--device", "--fuse-stages", "--tile-stages", "--repeat")


def options() -> Parser:
    p = Parser(
        prog="loopxform demo",
        description="Runs a pipeline of plain C on a picture, its stages in one kernel where that "
        "pays, compares every element with what your compiler makes of the C, and writes "
        "PICTURE_NAME.png.",
    )
    p.examples, p.first = EXAMPLES, FIRST
    p.add_argument("name", nargs="?", metavar="NAME", help="a pipeline (none: list them)")
    p.add_argument("picture", nargs="?", metavar="PICTURE.png", help="any format that Pillow reads")
    p.add_argument("-o", dest="output", metavar="DIR", default=".", help="where to write (.)")
    p.add_argument(
        "--repeat", default="5", metavar="N", help="timed runs; the shortest is printed (5)"
    )
    tiling.add_named(p, (FUSE_STAGES, TILE_STAGES))
    tiling.add_device(p)
    return p
