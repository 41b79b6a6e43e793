"""Every nest of the corpus can be tiled for other devices than the one that is there: kernels are
written, and their tiles fit."""

from __future__ import annotations

import pytest
from corpus_nests import FOLDER, nest

from loopxform.codegen import emit
from loopxform.floating_point import SEPARATE
from loopxform.targets.profile import PROFILES

NAMES = sorted(p.stem for p in FOLDER.glob("*.c"))
SOME = ("matvec", "gemm_double", "filter_7x7", "softmax_rows", "heat_2d", "kmeans_assign")
"""One of each recipe."""


def check(name: str, device: str) -> None:
    tiled = nest(name).routine.tile(limits=device, contract=False)
    room = PROFILES[device]
    for k in emit.kernel(tiled.derivation, fp=SEPARATE).kernels:
        assert sum(t.bytes for t in k.mapping.tiles) <= room.local_bytes, (name, device, k.name)
        assert k.mapping.group_size <= room.group_size, (name, device, k.name)


@pytest.mark.parametrize("device", ["h100", "mi250", "mali"])
@pytest.mark.parametrize("name", SOME)
def test_some_nests_fit_other_devices(name: str, device: str) -> None:
    check(name, device)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_nest_fits_other_devices(name: str) -> None:
    check(name, "h100")
