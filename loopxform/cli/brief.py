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
    "--require": "fail unless line 5 has such a loop: parallel:5",
    "--input": "values of an array, HIGH exclusive",
    "--format": "the form of the answer",
    "--baseline": "fail only for findings that are not in this file",
    "--stats": "count the loops by verdict and reason",
    "-j": "files looked at side by side (1)",
    "--time-limit": "CPU time for a file",
    "--cflags": "your compiler's options, to the end of the line",
    "--config": "the settings to use, in place of the nearest file",
    "--no-config": "ignore such files, and compile_commands.json",
    "--compile-commands": "compile_commands.json or its folder",
    "--sizes": "several sets: M=512,1024; M=N=512,1024; a file",
    "--budget": "how much to measure: a number, a share, a time (5%)",
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
