"""Scalars of work-items: what one of them sets, the others do not see."""

from __future__ import annotations

import pytest
from deriving import c, derived

from loopxform.codegen import emit
from loopxform.errors import EmitError

PARAMS = "int n, const float a[n], float b[n][8]"
ONE = "for (int k = i; k < i + 1; k++) s = a[k];"
ALL = "for (int j = 0; j < 8; j++) b[i][j] += s;"
MAPPED = ("parallelise k", "map i group.x", "map k thread.x")


def text(*lines: str) -> str:
    return c(f"for (int i = 0; i < n; i++) {{ float s = 0; {' '.join(lines)} }}", PARAMS)


@pytest.mark.parametrize("steps", [(), ("parallelise j", "map j thread.x")])
def test_a_scalar_that_others_read_is_refused(steps: tuple[str, ...]) -> None:
    done = derived(text(ONE, ALL), "parallelise i", *MAPPED, *steps)
    with pytest.raises(EmitError) as e:
        emit.kernel(done)
    assert e.value.message == (
        "'s' is set by the one work-item of the loop over 'k', and read by all"
    )
    assert e.value.help == "keep it in memory: scalar-to-memory s"


def test_declarations_of_one_name_are_expanded_together() -> None:
    whole = "for (int i = 0; i < n; i++) { float s = a[i]; b[i][0] = s; }"
    steps = ("parallelise i", "stripmine i 4 i_v", "sequentialise i", "separate-full-tiles i_v")
    mapped = (
        "rename i#1 w",
        "expand s w",
        "stripmine i_v 8 g",
        "map g group.x",
        "map i_v thread.x",
    )
    done = derived(c(whole, PARAMS), *steps, *mapped)
    with pytest.raises(EmitError) as e:
        emit.kernel(done)
    assert e.value.message == "'s' has 0 dimensions here and 1 elsewhere"
    both = derived(c(whole, PARAMS), *steps, *mapped, "expand s i")
    assert emit.kernel(both).source.count("float s[4];") == 2


def test_one_that_the_same_work_item_reads_stays() -> None:
    again = "for (int j = i; j < i + 1; j++) b[j][0] = s;"
    steps = ("parallelise i", *MAPPED, "parallelise j", "map j thread.x")
    assert "get_local_id" in emit.kernel(derived(text(ONE, again), *steps)).source
