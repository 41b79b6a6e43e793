"""Runs kernels as a job directory describes them; started under Oclgrind by `oclgrind.py`.

job.json: source, options, and launches, each with kernel, global_size, local_size and args, each
{"array": key}, {"room": key, "bytes": n}, {"local": bytes} or {"scalar": dtype, "value": v}; in.npz
holds the arrays, out.npz what became of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main(directory: Path) -> None:
    """Runs the job in `directory` on the only device there is."""
    import pyopencl as cl

    job = json.loads((directory / "job.json").read_text())
    arrays = dict(np.load(directory / "in.npz"))
    ctx = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, job["source"]).build(job["options"])
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {k: cl.Buffer(ctx, flags, hostbuf=np.ascontiguousarray(a)) for k, a in arrays.items()}
    rooms: dict[str, Any] = {}

    def bind(arg: dict[str, Any]) -> Any:
        if "array" in arg:
            return buffers[arg["array"]]
        if "room" in arg:
            if arg["room"] not in rooms:
                rooms[arg["room"]] = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, arg["bytes"])
            return rooms[arg["room"]]
        if "local" in arg:
            return cl.LocalMemory(arg["local"])
        return np.array(arg["value"], arg["scalar"])[()]

    for x in job["launches"]:
        kernel = cl.Kernel(program, x["kernel"])
        kernel(queue, x["global_size"], x["local_size"], *(bind(a) for a in x["args"]))
    queue.finish()
    for key, array in arrays.items():
        cl.enqueue_copy(queue, array, buffers[key])
    queue.finish()
    np.savez(directory / "out.npz", **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
