"""A Dask cluster of two workers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from distributed import LocalCluster


@contextmanager
def local_cluster() -> Iterator[str]:
    """The address of its scheduler inside."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as local:
        yield local.scheduler_address
