"""The steps: each a frozen dataclass in the file of its name, applied through a `Derivation`.

from loopxform.transforms import Derivation, Stripmine, Interchange
program = Derivation(fn).then(Stripmine("i", "64")).function
"""

from __future__ import annotations

from loopxform.transforms.attention.online_softmax import OnlineSoftmax
from loopxform.transforms.base import Step, from_json, from_text
from loopxform.transforms.derivation import Derivation, Record, possible, with_tiles
from loopxform.transforms.edges.begin_at import BeginAt
from loopxform.transforms.edges.bound_trips import BoundTrips
from loopxform.transforms.edges.clamp_edges import ClampEdges
from loopxform.transforms.edges.pad import Pad
from loopxform.transforms.edges.separate_full_tiles import SeparateFullTiles
from loopxform.transforms.edges.shift_inwards import ShiftInwards
from loopxform.transforms.edges.skip_empty_tiles import SkipEmptyTiles
from loopxform.transforms.latency.gather_quotients import GatherQuotients
from loopxform.transforms.latency.pipeline import Pipeline
from loopxform.transforms.latency.register_pipeline import RegisterPipeline
from loopxform.transforms.latency.serpentine import Serpentine
from loopxform.transforms.latency.speculate import Speculate
from loopxform.transforms.latency.store_vectors import StoreVectors
from loopxform.transforms.latency.turn_tile import TurnTile
from loopxform.transforms.latency.vectorise import Vectorise
from loopxform.transforms.mapping.assume import Assume
from loopxform.transforms.mapping.block_cyclic import BlockCyclic
from loopxform.transforms.mapping.dispatch import Dispatch, Variant, is_threshold, thresholds_of
from loopxform.transforms.mapping.index32 import Index32
from loopxform.transforms.mapping.join_kernels import JoinKernels
from loopxform.transforms.mapping.look_back import LookBack
from loopxform.transforms.mapping.map_to import MapTo
from loopxform.transforms.mapping.parallelise import Parallelise
from loopxform.transforms.mapping.round_robin import RoundRobin
from loopxform.transforms.mapping.sequentialise import Sequentialise
from loopxform.transforms.mapping.simd import Simd
from loopxform.transforms.mapping.swizzle_groups import SwizzleGroups
from loopxform.transforms.mapping.tensorise import Tensorise
from loopxform.transforms.mapping.warp_tile import WarpTile
from loopxform.transforms.overlapped.fuse_stages import FuseStages
from loopxform.transforms.overlapped.tile_stages import TileStages
from loopxform.transforms.overlapped.time_boxes import TimeBoxes
from loopxform.transforms.overlapped.time_tile import TimeTile
from loopxform.transforms.reductions.atomic_stores import AtomicStores
from loopxform.transforms.reductions.atomic_updates import AtomicUpdates
from loopxform.transforms.reductions.chain_chunks import ChainChunks
from loopxform.transforms.reductions.last_stores import LastStores
from loopxform.transforms.reductions.online_sum import OnlineSum
from loopxform.transforms.reductions.privatise_updates import PrivatiseUpdates
from loopxform.transforms.reductions.reduce_then_scan import ReduceThenScan
from loopxform.transforms.reductions.rfactor import Rfactor
from loopxform.transforms.reductions.row_sums import RowSums
from loopxform.transforms.reductions.track_extremum import TrackExtremum
from loopxform.transforms.reductions.vector_accumulators import VectorAccumulators
from loopxform.transforms.reductions.widen_updates import WidenUpdates
from loopxform.transforms.restructure.bounding_box import BoundingBox
from loopxform.transforms.restructure.branch_choice import BranchChoice
from loopxform.transforms.restructure.coalesce import Coalesce
from loopxform.transforms.restructure.copy_parameter import CopyParameter
from loopxform.transforms.restructure.defer_update import DeferUpdate
from loopxform.transforms.restructure.distribute import Distribute
from loopxform.transforms.restructure.distribute_branches import DistributeBranches
from loopxform.transforms.restructure.distribute_guard import DistributeGuard
from loopxform.transforms.restructure.exit_flag import ExitFlag
from loopxform.transforms.restructure.final_value import FinalValue
from loopxform.transforms.restructure.flatten import Flatten
from loopxform.transforms.restructure.forward_substitute import ForwardSubstitute
from loopxform.transforms.restructure.fuse import Fuse
from loopxform.transforms.restructure.hoist import Hoist
from loopxform.transforms.restructure.if_convert import IfConvert
from loopxform.transforms.restructure.interchange import Interchange
from loopxform.transforms.restructure.merge_copy import MergeCopy
from loopxform.transforms.restructure.name_condition import NameCondition
from loopxform.transforms.restructure.name_terms import NameTerms
from loopxform.transforms.restructure.narrow_functions import NarrowFunctions
from loopxform.transforms.restructure.normalise import Normalise
from loopxform.transforms.restructure.peel import Peel
from loopxform.transforms.restructure.rematerialise import Rematerialise
from loopxform.transforms.restructure.remove_unit_loop import RemoveUnitLoop
from loopxform.transforms.restructure.rename import Rename
from loopxform.transforms.restructure.reorder import Reorder
from loopxform.transforms.restructure.reorder_nests import ReorderNests
from loopxform.transforms.restructure.reroll import Reroll
from loopxform.transforms.restructure.reverse import Reverse
from loopxform.transforms.restructure.rows_apart import RowsApart
from loopxform.transforms.restructure.signed_counters import SignedCounters
from loopxform.transforms.restructure.sink_tail import SinkTail
from loopxform.transforms.restructure.skew import Skew
from loopxform.transforms.restructure.specialise import Specialise
from loopxform.transforms.restructure.split import Split
from loopxform.transforms.restructure.stripmine import Stripmine
from loopxform.transforms.restructure.substitute import Substitute
from loopxform.transforms.restructure.uncoalesce import Uncoalesce
from loopxform.transforms.restructure.unit_loop import UnitLoop
from loopxform.transforms.restructure.unroll import Unroll
from loopxform.transforms.restructure.unsplit import Unsplit
from loopxform.transforms.restructure.unstripmine import Unstripmine
from loopxform.transforms.storage.bound_extent import BoundExtent
from loopxform.transforms.storage.buffer_box import BufferBox
from loopxform.transforms.storage.buffer_slice import BufferSlice
from loopxform.transforms.storage.carry import Carry
from loopxform.transforms.storage.convert_on_copy import ConvertOnCopy
from loopxform.transforms.storage.copy_to_local import CopyToLocal
from loopxform.transforms.storage.copy_to_private import CopyToPrivate
from loopxform.transforms.storage.expand import Expand
from loopxform.transforms.storage.node_split import NodeSplit
from loopxform.transforms.storage.pack import Pack
from loopxform.transforms.storage.pack_operands import PackOperands
from loopxform.transforms.storage.permute import Permute
from loopxform.transforms.storage.privatise import Privatise
from loopxform.transforms.storage.promote_to_local import PromoteToLocal
from loopxform.transforms.storage.recompute import Recompute
from loopxform.transforms.storage.relayout import Relayout
from loopxform.transforms.storage.reuse_storage import ReuseStorage
from loopxform.transforms.storage.scalar_to_memory import ScalarToMemory
from loopxform.transforms.storage.scalarise import Scalarise
from loopxform.transforms.storage.split_floats import SplitFloats
from loopxform.transforms.storage.stage_filled import StageFilled
from loopxform.transforms.storage.stage_stores import StageStores
from loopxform.transforms.storage.stage_terms import StageTerms
from loopxform.transforms.storage.stripe import Stripe
from loopxform.transforms.storage.turn_accesses import TurnAccesses
from loopxform.transforms.storage.unfold import Unfold
from loopxform.transforms.storage.unfold_windows import UnfoldWindows
from loopxform.transforms.storage.unscalarise import Unscalarise

STEPS: dict[str, type[Step]] = {
    kind.verb: kind
    for kind in (
        Specialise,
        Assume,
        Dispatch,
        PackOperands,
        SplitFloats,
        Unfold,
        UnfoldWindows,
        Parallelise,
        RowsApart,
        Privatise,
        Scalarise,
        Carry,
        Substitute,
        BoundingBox,
        BranchChoice,
        Stripmine,
        ShiftInwards,
        Interchange,
        Coalesce,
        Uncoalesce,
        Skew,
        SignedCounters,
        Reroll,
        Reverse,
        Rename,
        Expand,
        CopyParameter,
        FinalValue,
        ScalarToMemory,
        ExitFlag,
        Flatten,
        UnitLoop,
        RemoveUnitLoop,
        Reorder,
        ReorderNests,
        OnlineSoftmax,
        Distribute,
        DistributeBranches,
        DistributeGuard,
        NameCondition,
        DeferUpdate,
        IfConvert,
        ForwardSubstitute,
        MergeCopy,
        Peel,
        Fuse,
        Hoist,
        Rematerialise,
        Recompute,
        NameTerms,
        NarrowFunctions,
        Sequentialise,
        Normalise,
        Split,
        RoundRobin,
        Unroll,
        Unsplit,
        Unscalarise,
        Unstripmine,
        Rfactor,
        ReduceThenScan,
        ChainChunks,
        RowSums,
        OnlineSum,
        AtomicUpdates,
        AtomicStores,
        LastStores,
        PrivatiseUpdates,
        VectorAccumulators,
        WidenUpdates,
        TrackExtremum,
        SinkTail,
        Permute,
        Relayout,
        NodeSplit,
        LookBack,
        MapTo,
        CopyToLocal,
        CopyToPrivate,
        StageStores,
        StageTerms,
        StageFilled,
        ConvertOnCopy,
        BufferBox,
        TurnAccesses,
        BufferSlice,
        BoundExtent,
        BeginAt,
        BoundTrips,
        Stripe,
        ReuseStorage,
        PromoteToLocal,
        ClampEdges,
        Pad,
        SkipEmptyTiles,
        SeparateFullTiles,
        Index32,
        Pack,
        Vectorise,
        GatherQuotients,
        Speculate,
        StoreVectors,
        TurnTile,
        Simd,
        WarpTile,
        Pipeline,
        RegisterPipeline,
        SwizzleGroups,
        JoinKernels,
        Tensorise,
        BlockCyclic,
        Serpentine,
        TimeTile,
        TimeBoxes,
        FuseStages,
        TileStages,
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
    "Assume",
    "AtomicStores",
    "AtomicUpdates",
    "BeginAt",
    "BlockCyclic",
    "BoundExtent",
    "BoundTrips",
    "BoundingBox",
    "BranchChoice",
    "BufferBox",
    "BufferSlice",
    "Carry",
    "ChainChunks",
    "ClampEdges",
    "Coalesce",
    "ConvertOnCopy",
    "CopyParameter",
    "CopyToLocal",
    "CopyToPrivate",
    "DeferUpdate",
    "Derivation",
    "Dispatch",
    "Distribute",
    "DistributeBranches",
    "DistributeGuard",
    "ExitFlag",
    "Expand",
    "FinalValue",
    "Flatten",
    "ForwardSubstitute",
    "Fuse",
    "FuseStages",
    "GatherQuotients",
    "Hoist",
    "IfConvert",
    "Index32",
    "Interchange",
    "JoinKernels",
    "LastStores",
    "LookBack",
    "MapTo",
    "MergeCopy",
    "NameCondition",
    "NameTerms",
    "NarrowFunctions",
    "NodeSplit",
    "Normalise",
    "OnlineSoftmax",
    "OnlineSum",
    "Pack",
    "PackOperands",
    "Pad",
    "Parallelise",
    "Peel",
    "Permute",
    "Pipeline",
    "Privatise",
    "PrivatiseUpdates",
    "PromoteToLocal",
    "Recompute",
    "Record",
    "ReduceThenScan",
    "RegisterPipeline",
    "Relayout",
    "Rematerialise",
    "RemoveUnitLoop",
    "Rename",
    "Reorder",
    "ReorderNests",
    "Reroll",
    "ReuseStorage",
    "Reverse",
    "Rfactor",
    "RoundRobin",
    "RowSums",
    "RowsApart",
    "ScalarToMemory",
    "Scalarise",
    "SeparateFullTiles",
    "Sequentialise",
    "Serpentine",
    "ShiftInwards",
    "SignedCounters",
    "Simd",
    "SinkTail",
    "Skew",
    "SkipEmptyTiles",
    "Specialise",
    "Speculate",
    "Split",
    "SplitFloats",
    "StageFilled",
    "StageStores",
    "StageTerms",
    "Step",
    "StoreVectors",
    "Stripe",
    "Stripmine",
    "Substitute",
    "SwizzleGroups",
    "Tensorise",
    "TileStages",
    "TimeBoxes",
    "TimeTile",
    "TrackExtremum",
    "TurnAccesses",
    "TurnTile",
    "Uncoalesce",
    "Unfold",
    "UnfoldWindows",
    "UnitLoop",
    "Unroll",
    "Unscalarise",
    "Unsplit",
    "Unstripmine",
    "Variant",
    "VectorAccumulators",
    "Vectorise",
    "WarpTile",
    "WidenUpdates",
    "from_json",
    "is_threshold",
    "possible",
    "replay",
    "step",
    "thresholds_of",
    "with_tiles",
]
