"""Kernels of a plan, run from their text without a device or a compiler."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from loopxform.codegen.plan import Plan
from loopxform.ir.tensor_tiles import SUB_GROUP_EXTENSION, by_sub_groups
from loopxform.runtime.kernel import CompiledKernel
from loopxform.verify.group.queue import ASYNCHRONOUS, DEVICE, WARP_GROUPS, GroupQueue

Arguments = Mapping[str, Any]


def execute(
    plan: Plan,
    args: Arguments,
    *,
    seed: int = 0,
    asynchronous: bool = True,
    warp_groups: bool = True,
) -> None:
    """Runs the kernels of a plan as the host would: see `Executor.run`."""
    Executor(plan, asynchronous=asynchronous, warp_groups=warp_groups).run(args, seed=seed)


class Executor:
    """The kernels of a plan, translated once, to be run many times. They are built as for a device
    that makes `asynchronous` copies, and whose `warp_groups` compute products together, or as for
    others: each has parts of the text of its own. One whose sub-groups multiply tiles is the first
    kind for kernels that have such products."""

    def __init__(self, plan: Plan, *, asynchronous: bool = True, warp_groups: bool = True) -> None:
        self._rng = random.Random()
        self._names = plan.plain_names
        defines = ASYNCHRONOUS | (WARP_GROUPS if warp_groups else {}) if asynchronous else {}
        for size in by_sub_groups(plan.tile_products) if asynchronous else ():
            defines = {"LX_SUB_GROUPS": str(size), SUB_GROUP_EXTENSION: "1"}
        queue = GroupQueue(self._rng, defines)
        self._kernel = CompiledKernel(plan, DEVICE, queue=queue)

    def run(self, args: Arguments, *, seed: int = 0) -> None:
        """`args` gives every parameter and global by name, as for the interpreter; arrays that the
        program writes are updated in place. Work-items and groups run in an order shuffled by
        `seed`.

        Raises ExecutionError where a kernel does what it must not, or its text is not modelled,
        and ArgumentError where the arguments do not fit.
        """
        self._rng.seed(seed)
        self._kernel(**{self._names.get(n, n): v for n, v in args.items()})
