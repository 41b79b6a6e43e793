"""Times nests that are no matrix product, on a GPU: n-body, k-means, stencils, ...

    python scripts/bench_nests.py                      # every case
    python scripts/bench_nests.py nbody rows --device 0:0 --repeat 20
    python scripts/bench_nests.py heat --roofline heat.svg   # with what the device can do at most
    python scripts/bench_nests.py contraction --torch        # and torch.einsum, in the same run

Each case is a call of `loopxform bench`, which is given the options that are no names of cases.
"""

from __future__ import annotations

import importlib
import statistics
import sys
from pathlib import Path
from typing import Any

from loopxform.cli import main as loopxform

CORPUS = Path(__file__).parents[1] / "corpus"
CUBE, SQUARE = "n=512,m=512,l=512,c2=0.1", "M=4096,N=4096,U=4096"
HEAT, IMAGE = "n=8192,m=8192", "h=4096,w=4096"
CHUNKS = "--Rk 256 --reassociate"

CASES = {
    "nbody": ("nests/nbody", "n=65536,eps=0.01", "1-d"),
    "batched": ("batched", "P=64,M=512,N=512,U=512", "block,one-sided"),
    "convolution": ("nests/filter_7x7", IMAGE, "register,block,stencil"),
    "dgemm": ("nests/gemm_double", f"{SQUARE},alpha=1.5,beta=0.5", "one-sided,register,block"),
    "halves": ("nests/gemm_half", SQUARE, "register,block"),
    "kmeans": ("nests/kmeans_assign", "n=1048576,k=64,d=16", "1-d"),
    "rows": ("nests/row_sum", "M=32768,N=4096", "1-d"),
    "matvec": ("nests/matvec", "n=16384,m=16384", "1-d"),
    "moments": ("nests/row_moments", "n=32768,m=4096", "1-d"),
    "softmax": ("nests/softmax_rows", "n=16384,m=4096", "1-d"),
    "channels": ("nests/conv_layer", "n=16,co=64,ci=64,h=128,w=128", "register,stencil"),
    "average": ("nests/moving_average", "n=16777216,w=64", "1-d"),
    "window": ("nests/convolve", f"{IMAGE},K=7", "register,stencil"),
    "depthwise": ("nests/depthwise", "n=16,c=256,h=112,w=112", "stencil"),
    "distances": ("nests/squared_distances", "m=262144,n=256,d=64", "register"),
    "syrk": ("nests/lower_syrk", "n=4096,u=4096", "register"),
    "contraction": ("nests/contract", "na=64,nb=64,nc=64,nd=64,ne=32,nf=32", "register"),
    "heat": ("nests/heat_2d", f"{HEAT},c=0.1", "stencil,register"),
    "wave": ("nests/wave_3d", CUBE, "stencil"),
    "nine": ("nests/nine_point", HEAT, "stencil"),
    "blur": ("nests/box_blur", IMAGE, "register,stencil"),
    "smoothing": ("nests/smoothing_grid", "n=262144,grid=16,len=512", ""),
    "words": ("nests/word_counts", "n=524288,width=1024", ""),
    "shift": ("nests/best_shift", "n=262144,shifts=64,len=256", ""),
    "life": ("nests/game_of_life", "h=8192,w=8192", "register,stencil"),
    "norm": ("reductions/norm", "n=8192,m=8192", "", CHUNKS),
    "few_rows": ("nests/row_sum", f"M=64,N={1 << 20}", "reduce", CHUNKS),
    "thin": ("mm", f"M=64,N=64,U={1 << 20}", "register,block", CHUNKS),
}
"""A file, its sizes, the variants besides naive and auto, and further options."""
EINSUMS = {
    "contraction": ("aebf,fdce->abcd", {"A": "na ne nb nf", "B": "nf nd nc ne"}),
    "thin": ("mk,kn->mn", {"A": "M U", "B": "U N"}),
}
"""What torch.einsum computes of a case, and the extents of its operands."""


def main(argv: list[str]) -> int:
    chosen = [word for word in argv if word in CASES]
    options = [word for word in argv if word not in (*CASES, "--torch")]
    worst = 0
    for name in chosen or CASES:
        file, sizes, variants, *more = CASES[name]
        asked = ",".join(x for x in ("naive", "auto", variants) if x)
        words = [*" ".join(more).split(), *options]
        what = ["bench", str(CORPUS / f"{file}.c"), "--size", sizes, "--variants", asked]
        worst = max(worst, loopxform([*what, *words]))
        if "--torch" in argv and name in EINSUMS:
            print(f"  torch.einsum  {_einsum_ms(name, sizes):9.4f} ms")
    return worst


def _einsum_ms(name: str, sizes: str) -> float:
    """The median of twenty calls of torch.einsum, single precision without tensor units."""
    torch: Any = importlib.import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    extents = {n: int(value) for n, value in (word.split("=") for word in sizes.split(","))}
    subscripts, operands = EINSUMS[name]
    arrays = [torch.rand([extents[n] for n in x.split()], device="cuda") for x in operands.values()]
    times = []
    for _ in range(25):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.einsum(subscripts, *arrays)
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return float(statistics.median(times[5:]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
