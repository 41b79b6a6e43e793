"""Pointers that move, steps inside expressions, and loops that count down: what they become."""

from __future__ import annotations

import numpy as np
from differential import compare, needs_compiler
from walking import Walker


def arguments(n: int) -> dict[str, object]:
    arrays = {name: np.arange(200) * k % 13 for name, k in (("a", 3), ("b", 5), ("c", 7))}
    return {"n": n, **arrays}


@needs_compiler
def test_random_walks_do_what_the_compiler_makes_of_them() -> None:
    names = [f"f{seed}" for seed in range(150)]
    programs = "\n".join(Walker(seed).text(name) for seed, name in enumerate(names))
    compared, reasons = compare(f"#include <stddef.h>\n{programs}", *map(arguments, (0, 1, 4)))
    assert compared > 75, reasons
