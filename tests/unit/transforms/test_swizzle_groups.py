"""SwizzleGroups: the groups of a grid in another order."""

from __future__ import annotations

from itertools import product

import pytest
from c_texts import MAPPED, MM, PARALLEL
from conftest import Golden
from deriving import assert_step, c, derived, refusal

from loopxform.codegen import emit

ONE = (*PARALLEL, "map i group.y")
CUBE = c(
    "for (int g = 0; g < 4; g++) for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " a[g][i][j] = 1;",
    "int n, float a[4][n][n]",
)
SHARED = ("parallelise g", "parallelise i", "parallelise j")
SHARED += ("map g group.y", "map i group.y", "map j group.x")

REFUSALS = {
    "no-number": (MM, *MAPPED, "swizzle-groups iii Ty"),
    "none": (MM, *MAPPED, "swizzle-groups iii 0"),
    "columns": (MM, *MAPPED, "swizzle-groups jjj 8"),
    "one-dimension": (MM, *ONE, "swizzle-groups i 8"),
    "unknown": (MM, *MAPPED, "swizzle-groups z 8"),
    "shared": (CUBE, *SHARED, "swizzle-groups g 8"),
}


def test_listing(golden: Golden) -> None:
    golden.check(assert_step(MM, *MAPPED, "swizzle-groups iii 8"))


def test_kernel(golden: Golden) -> None:
    golden.check(emit.kernel(derived(MM, *MAPPED, "swizzle-groups iii 8")).source)


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str, golden: Golden) -> None:
    text, *steps = REFUSALS[case]
    golden.check(refusal(text, *steps))


@pytest.mark.parametrize(("rows", "across", "down"), [*product((1, 2, 3, 8), (1, 2, 5), (1, 4, 7))])
def test_every_group_is_there_once(rows: int, across: int, down: int) -> None:
    """The expressions of the kernel, with the numbers of a grid."""
    source = emit.kernel(derived(MM, *MAPPED, f"swizzle-groups iii {rows}")).source
    lines = [x.strip().rstrip(";") for x in source.splitlines()]
    texts = [x for x in lines if x.startswith(("const size_t", "const int iii", "const int jjj"))]
    names = [x.split(" = ")[0].split()[-1] for x in texts]
    values = [x.split(" = ")[1].split(" * (T")[0].replace("(int)", "") for x in texts]
    seen = []
    for y, x in product(range(down), range(across)):
        known = {"get_group_id": (x, y).__getitem__, "min": min}
        known |= {"get_num_groups": (across, down).__getitem__}
        for name, value in zip(names, values):
            known[name] = eval(value.replace("(size_t)", "").replace("/", "//"), {}, known)
        seen.append((known["iii"], known["jjj"]))
    assert names[-2:] == ["iii", "jjj"]
    assert sorted(seen) == list(product(range(down), range(across)))
    height = min(rows, down)
    assert seen[:height] == [(n, 0) for n in range(height)]
