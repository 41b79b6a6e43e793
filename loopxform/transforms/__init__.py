"""The steps: each a frozen dataclass in the file of its name, applied through a `Derivation`.

from loopxform.transforms import Derivation, Stripmine, Interchange
program = Derivation(fn).then(Stripmine("i", "64")).function
"""

from __future__ import annotations

from loopxform.transforms.base import Derivation, Record, Step, from_json, from_text, with_tiles
from loopxform.transforms.copy_to_local import CopyToLocal
from loopxform.transforms.copy_to_private import CopyToPrivate
from loopxform.transforms.distribute import Distribute
from loopxform.transforms.distribute_guard import DistributeGuard
from loopxform.transforms.enclose import Enclose
from loopxform.transforms.epilogue import Epilogue
from loopxform.transforms.expand import Expand
from loopxform.transforms.fuse import Fuse
from loopxform.transforms.hoist import Hoist
from loopxform.transforms.interchange import Interchange
from loopxform.transforms.interior import Interior
from loopxform.transforms.interleave import Interleave
from loopxform.transforms.manifest import Manifest
from loopxform.transforms.map_to import MapTo
from loopxform.transforms.normalise import Normalise
from loopxform.transforms.pad import Pad
from loopxform.transforms.parallelise import Parallelise
from loopxform.transforms.permute import Permute
from loopxform.transforms.privatise import Privatise
from loopxform.transforms.rename import Rename
from loopxform.transforms.reverse import Reverse
from loopxform.transforms.rfactor import Rfactor
from loopxform.transforms.scalarise import Scalarise
from loopxform.transforms.sequentialise import Sequentialise
from loopxform.transforms.share import Share
from loopxform.transforms.sink import Sink
from loopxform.transforms.split import Split
from loopxform.transforms.stripmine import Stripmine
from loopxform.transforms.substitute import Substitute
from loopxform.transforms.unguard import Unguard
from loopxform.transforms.unroll import Unroll
from loopxform.transforms.widen import Widen

STEPS: dict[str, type[Step]] = {
    kind.verb: kind
    for kind in (
        Parallelise,
        Privatise,
        Scalarise,
        Substitute,
        Widen,
        Stripmine,
        Interchange,
        Reverse,
        Rename,
        Expand,
        Distribute,
        DistributeGuard,
        Fuse,
        Hoist,
        Sink,
        Sequentialise,
        Normalise,
        Split,
        Unroll,
        Rfactor,
        Interleave,
        Enclose,
        Permute,
        Manifest,
        MapTo,
        CopyToLocal,
        CopyToPrivate,
        Share,
        Epilogue,
        Unguard,
        Pad,
        Interior,
    )
}
"""Every step by its verb, in the order of the seed's walk."""


def step(text: str) -> Step:
    """The step that a line such as `stripmine i 64` means. Raises UsageError."""
    return from_text(STEPS, text)


def replay(start: Derivation, steps: list[object]) -> Derivation:
    """Applies steps read from JSON. Raises UsageError or TransformError."""
    return start.run(tuple(from_json(STEPS, s) for s in steps))


__all__ = [
    "STEPS",
    "CopyToLocal",
    "CopyToPrivate",
    "Derivation",
    "Distribute",
    "DistributeGuard",
    "Enclose",
    "Epilogue",
    "Expand",
    "Fuse",
    "Hoist",
    "Interchange",
    "Interior",
    "Interleave",
    "Manifest",
    "MapTo",
    "Normalise",
    "Pad",
    "Parallelise",
    "Permute",
    "Privatise",
    "Record",
    "Rename",
    "Reverse",
    "Rfactor",
    "Scalarise",
    "Sequentialise",
    "Share",
    "Sink",
    "Split",
    "Step",
    "Stripmine",
    "Substitute",
    "Unguard",
    "Unroll",
    "Widen",
    "from_json",
    "replay",
    "step",
    "with_tiles",
]
