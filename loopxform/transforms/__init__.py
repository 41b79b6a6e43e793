"""The steps: each a frozen dataclass in the file of its name, applied through a `Derivation`.

from loopxform.transforms import Derivation, Stripmine, Interchange
program = Derivation(fn).then(Stripmine("i", "64")).function
"""

from __future__ import annotations

from loopxform.transforms.arrange import Arrange
from loopxform.transforms.asynchronous import Asynchronous
from loopxform.transforms.bands import Bands
from loopxform.transforms.base import Step, from_json, from_text
from loopxform.transforms.convert import Convert
from loopxform.transforms.copy_to_local import CopyToLocal
from loopxform.transforms.copy_to_private import CopyToPrivate
from loopxform.transforms.cyclic import Cyclic
from loopxform.transforms.demote import Demote
from loopxform.transforms.derivation import Derivation, Record, with_tiles
from loopxform.transforms.dissolve import Dissolve
from loopxform.transforms.distribute import Distribute
from loopxform.transforms.distribute_guard import DistributeGuard
from loopxform.transforms.distribute_if import DistributeIf
from loopxform.transforms.embed import Embed
from loopxform.transforms.enclose import Enclose
from loopxform.transforms.epilogue import Epilogue
from loopxform.transforms.expand import Expand
from loopxform.transforms.few import Few
from loopxform.transforms.final_value import FinalValue
from loopxform.transforms.flag import Flag
from loopxform.transforms.fuse import Fuse
from loopxform.transforms.hoist import Hoist
from loopxform.transforms.interchange import Interchange
from loopxform.transforms.interior import Interior
from loopxform.transforms.interleave import Interleave
from loopxform.transforms.lanes import Lanes
from loopxform.transforms.manifest import Manifest
from loopxform.transforms.map_to import MapTo
from loopxform.transforms.narrow import Narrow
from loopxform.transforms.normalise import Normalise
from loopxform.transforms.own import Own
from loopxform.transforms.pack import Pack
from loopxform.transforms.pad import Pad
from loopxform.transforms.parallelise import Parallelise
from loopxform.transforms.permute import Permute
from loopxform.transforms.pipeline import Pipeline
from loopxform.transforms.preload import Preload
from loopxform.transforms.privatise import Privatise
from loopxform.transforms.rename import Rename
from loopxform.transforms.reverse import Reverse
from loopxform.transforms.rfactor import Rfactor
from loopxform.transforms.scalarise import Scalarise
from loopxform.transforms.sequentialise import Sequentialise
from loopxform.transforms.serpentine import Serpentine
from loopxform.transforms.settle import Settle
from loopxform.transforms.share import Share
from loopxform.transforms.single import Single
from loopxform.transforms.sink import Sink
from loopxform.transforms.skew import Skew
from loopxform.transforms.specialise import Specialise
from loopxform.transforms.split import Split
from loopxform.transforms.store_vectors import StoreVectors
from loopxform.transforms.stripmine import Stripmine
from loopxform.transforms.substitute import Substitute
from loopxform.transforms.trim import Trim
from loopxform.transforms.unguard import Unguard
from loopxform.transforms.unroll import Unroll
from loopxform.transforms.vectorise import Vectorise
from loopxform.transforms.version import Version
from loopxform.transforms.widen import Widen

STEPS: dict[str, type[Step]] = {
    kind.verb: kind
    for kind in (
        Specialise,
        Arrange,
        Few,
        Parallelise,
        Privatise,
        Scalarise,
        Substitute,
        Widen,
        Stripmine,
        Interchange,
        Skew,
        Reverse,
        Rename,
        Expand,
        Own,
        FinalValue,
        Demote,
        Flag,
        Single,
        Dissolve,
        Distribute,
        DistributeGuard,
        DistributeIf,
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
        Embed,
        Permute,
        Manifest,
        MapTo,
        CopyToLocal,
        CopyToPrivate,
        Convert,
        Share,
        Epilogue,
        Unguard,
        Pad,
        Trim,
        Interior,
        Narrow,
        Settle,
        Pack,
        Version,
        Vectorise,
        StoreVectors,
        Lanes,
        Pipeline,
        Asynchronous,
        Preload,
        Bands,
        Cyclic,
        Serpentine,
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
    "Arrange",
    "Asynchronous",
    "Bands",
    "Convert",
    "CopyToLocal",
    "CopyToPrivate",
    "Cyclic",
    "Demote",
    "Derivation",
    "Dissolve",
    "Distribute",
    "DistributeGuard",
    "DistributeIf",
    "Embed",
    "Enclose",
    "Epilogue",
    "Expand",
    "Few",
    "FinalValue",
    "Flag",
    "Fuse",
    "Hoist",
    "Interchange",
    "Interior",
    "Interleave",
    "Lanes",
    "Manifest",
    "MapTo",
    "Narrow",
    "Normalise",
    "Own",
    "Pack",
    "Pad",
    "Parallelise",
    "Permute",
    "Pipeline",
    "Preload",
    "Privatise",
    "Record",
    "Rename",
    "Reverse",
    "Rfactor",
    "Scalarise",
    "Sequentialise",
    "Serpentine",
    "Settle",
    "Share",
    "Single",
    "Sink",
    "Skew",
    "Specialise",
    "Split",
    "Step",
    "StoreVectors",
    "Stripmine",
    "Substitute",
    "Trim",
    "Unguard",
    "Unroll",
    "Vectorise",
    "Version",
    "Widen",
    "from_json",
    "replay",
    "step",
    "with_tiles",
]
