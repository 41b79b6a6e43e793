"""Options in a line of a screen, where their help is longer."""

from __future__ import annotations

from collections.abc import Mapping

BRIEF: Mapping[str, str] = {
    "--Ty": "work-items of a group along the outer tiled loop",
    "--Tx": "work-items of a group along the inner tiled loop",
    "--Ry": "elements of a work-item along the outer tiled loop",
    "--Rx": "elements of a work-item along the inner tiled loop",
    "--target": "a kernel with host code, or C for the CPU",
    "--profile": "a device to fit (loopxform devices lists them)",
    "--fp": "strict, contract (a*b + c), reassociate, or fast",
    "--fp-contract": "whether a*b + c may be fused",
    "--no-tuning": "ignore what loopxform tune has written",
    "--can": "whether a step is legal: 'interchange i j'",
    "--require": "fail unless a loop is as it says: parallel:5",
    "--input": "values of an array, HIGH exclusive",
    "--format": "how verdicts are written (text)",
    "--baseline": "only what is wrong since this file was written fails",
    "--stats": "count the loops by verdict and reason",
    "-j": "files looked at side by side (1)",
    "--time-limit": "CPU time for a file",
    "--sizes": "several sets: M=512,1024; M=N=512,1024; a file",
    "--budget": "measurements: a number, a share, or a time (5%)",
    "--limit": "time for a candidate, building included (20)",
    "--variants": "recipes (naive,block,register)",
    "--vary": "a variant for each of these values",
    "--against": "a library, for matrix products",
    "--command": "a program that prints its milliseconds last",
    "--set": "a named size, in place of the saved one",
    "--emit": "listing, c, opencl or json (listing)",
    "--fuse-stages": "rows and work-items of fused stages (0: never)",
    "--tile-stages": "the same in blocks, 16x64x256 (0: never)",
}
