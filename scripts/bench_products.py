"""Times matrix products on a GPU, against the libraries that are found: the tables of
docs/performance.md.

    python scripts/bench_products.py                            # every case
    python scripts/bench_products.py squares types --against cublas --against clblast

Each case is a call of `loopxform bench`, which is given the options that are no names of cases.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from loopxform.cli import main as loopxform

CORPUS = Path(__file__).parents[1] / "corpus"
SQUARE = "M=4096,N=4096,U=4096"

CASES = {
    "squares": [("mm", "--sizes", "M=U=N=1024,4096,8192", "--variants", "auto")],
    "thesis": [("mm", "--sizes", "thesis", "--variants", "auto")],
    "ladder": [("mm", "--size", "M=4294,U=4220,N=4229", "--variants", "naive,block,register")],
    "types": [
        ("double", "--size", SQUARE, "--variants", "auto"),
        ("int", "--size", SQUARE, "--variants", "auto"),
        ("nests/gemm_half", "--size", SQUARE, "--variants", "auto"),
    ],
    "forms": [
        ("mm_at", "--size", SQUARE, "--variants", "auto"),
        ("mm_bt", "--size", SQUARE, "--variants", "auto"),
        ("gemm", "--size", f"{SQUARE},alpha=1.5,beta=0.5", "--variants", "auto"),
        ("batched", "--size", "P=64,M=512,N=512,U=512", "--variants", "auto"),
    ],
}
"""Files of the corpus, or the product of `mm` in another type, and options."""

ALONE = ("int", "nests/gemm_half", "gemm", "batched")
"""What no library is asked for."""


def main(argv: list[str]) -> int:
    chosen = [word for word in argv if word in CASES]
    options = [word for word in argv if word not in CASES]
    before = ["", *options]
    plain = [o for b, o in zip(before, options) if "--against" not in (b, o)]
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for file, *words in (case for name in chosen or CASES for case in CASES[name]):
            more = plain if file in ALONE else options
            worst = max(worst, loopxform(["bench", _source(file, Path(folder)), *words, *more]))
    return worst


def _source(file: str, folder: Path) -> str:
    """The C, written into the folder where only its type is new."""
    if (CORPUS / f"{file}.c").exists():
        return str(CORPUS / f"{file}.c")
    made = folder / f"mm_{file}.c"
    made.write_text((CORPUS / "mm.c").read_text().replace("float", file))
    return str(made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
