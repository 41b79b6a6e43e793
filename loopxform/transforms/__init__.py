"""The steps: each a frozen dataclass in the file of its name, applied through a `Derivation`.

from loopxform.transforms import Derivation, Stripmine, Interchange
program = Derivation(fn).then(Stripmine("i", "64")).function
"""

from __future__ import annotations

from loopxform.transforms.base import Step, from_json, from_text
from loopxform.transforms.derivation import Derivation, Record, with_tiles
from loopxform.transforms.edges.epilogue import Epilogue
from loopxform.transforms.edges.interior import Interior
from loopxform.transforms.edges.pad import Pad
from loopxform.transforms.edges.trim import Trim
from loopxform.transforms.edges.unguard import Unguard
from loopxform.transforms.latency.asynchronous import Asynchronous
from loopxform.transforms.latency.pipeline import Pipeline
from loopxform.transforms.latency.preload import Preload
from loopxform.transforms.latency.serpentine import Serpentine
from loopxform.transforms.latency.store_vectors import StoreVectors
from loopxform.transforms.latency.vectorise import Vectorise
from loopxform.transforms.mapping.bands import Bands
from loopxform.transforms.mapping.cyclic import Cyclic
from loopxform.transforms.mapping.few import Few
from loopxform.transforms.mapping.lanes import Lanes
from loopxform.transforms.mapping.map_to import MapTo
from loopxform.transforms.mapping.narrow import Narrow
from loopxform.transforms.mapping.parallelise import Parallelise
from loopxform.transforms.mapping.sequentialise import Sequentialise
from loopxform.transforms.mapping.settle import Settle
from loopxform.transforms.mapping.version import Version
from loopxform.transforms.reductions.interleave import Interleave
from loopxform.transforms.reductions.rfactor import Rfactor
from loopxform.transforms.restructure.dissolve import Dissolve
from loopxform.transforms.restructure.distribute import Distribute
from loopxform.transforms.restructure.distribute_guard import DistributeGuard
from loopxform.transforms.restructure.distribute_if import DistributeIf
from loopxform.transforms.restructure.embed import Embed
from loopxform.transforms.restructure.enclose import Enclose
from loopxform.transforms.restructure.final_value import FinalValue
from loopxform.transforms.restructure.flag import Flag
from loopxform.transforms.restructure.fuse import Fuse
from loopxform.transforms.restructure.hoist import Hoist
from loopxform.transforms.restructure.interchange import Interchange
from loopxform.transforms.restructure.normalise import Normalise
from loopxform.transforms.restructure.own import Own
from loopxform.transforms.restructure.rename import Rename
from loopxform.transforms.restructure.reverse import Reverse
from loopxform.transforms.restructure.single import Single
from loopxform.transforms.restructure.sink import Sink
from loopxform.transforms.restructure.skew import Skew
from loopxform.transforms.restructure.specialise import Specialise
from loopxform.transforms.restructure.split import Split
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.restructure.substitute import Substitute
from loopxform.transforms.restructure.unroll import Unroll
from loopxform.transforms.restructure.widen import Widen
from loopxform.transforms.storage.arrange import Arrange
from loopxform.transforms.storage.convert import Convert
from loopxform.transforms.storage.copy_to_local import CopyToLocal
from loopxform.transforms.storage.copy_to_private import CopyToPrivate
from loopxform.transforms.storage.demote import Demote
from loopxform.transforms.storage.expand import Expand
from loopxform.transforms.storage.manifest import Manifest
from loopxform.transforms.storage.pack import Pack
from loopxform.transforms.storage.permute import Permute
from loopxform.transforms.storage.privatise import Privatise
from loopxform.transforms.storage.scalarise import Scalarise
from loopxform.transforms.storage.share import Share

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
