"""What has to be known of arrays for the host to copy them: that nothing in front of them is meant,
where they end, how long their rows are."""

from __future__ import annotations

from dataclasses import replace

from loopxform.analysis.inspector import Inspected, inspected
from loopxform.analysis.matrix_rows import with_row_lengths
from loopxform.analysis.subscripts_from_zero import with_subscripts_from_zero
from loopxform.ir.nodes import Function
from loopxform.prepare.while_loops import whole_loops


def copied_arrays(fn: Function) -> Inspected:
    """The program under the assumptions that this takes, and what finds out ends of its arrays.
    Raises UnsupportedC for rows of which it is not known how much is touched."""
    read = whole_loops(fn)
    assumed = with_subscripts_from_zero(fn, read)
    found = inspected(assumed, replace(read, assumes=assumed.assumes))
    return replace(found, fn=with_row_lengths(found.fn))
