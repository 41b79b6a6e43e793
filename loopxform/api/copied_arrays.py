"""What has to be known of arrays for the host to copy them: that nothing in front of them is meant,
where they end, how long their rows are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from loopxform.analysis.inspector import Inspected, inspected
from loopxform.analysis.key_checks import KeyCheck, key_check
from loopxform.analysis.least_sizes import with_assumptions
from loopxform.analysis.loose_accesses import loose_updates
from loopxform.analysis.matrix_rows import with_row_lengths
from loopxform.api.loops_as_meant import with_loops_as_meant
from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Function
from loopxform.prepare.while_loops import whole_loops


@contextmanager
def told_why(known: Inspected) -> Iterator[None]:
    """Where the ends of arrays are unknown because two pointers may lead to one array, the error
    says so."""
    try:
        yield
    except LoopxformError as e:
        if known.shared is not None and _UNKNOWN in e.message:
            told, stored = known.shared
            if stored.is_global or stored.is_member:
                e.help = f"copy '{told.name}' to an array of the function in front of the loops"
            else:
                declared = f"{stored.type.c} *restrict {stored.name}"
                e.help = (
                    f"declare '{stored.name}' restrict ({declared}): as it is, it may be"
                    f" '{told.name}', which decides what is read"
                )
        raise


_UNKNOWN = "is touched cannot be told"


def copied_arrays(fn: Function) -> Inspected:
    """The program under the assumptions that this takes, and what finds out ends of its arrays.
    Raises UnsupportedC for rows of which it is not known how much is touched."""
    fn = with_loops_as_meant(fn)
    read = whole_loops(fn)
    assumed = with_assumptions(fn, read)
    found = inspected(assumed, replace(read, assumes=assumed.assumes))
    return replace(found, fn=with_row_lengths(found.fn))


def told_ends(fn: Function) -> Inspected:
    """The program, and what finds out ends of its arrays that only data tell."""
    return inspected(fn, whole_loops(fn))


def checked_updates(fn: Function) -> KeyCheck | None:
    """What looks at the keys of updates, on the host: of arrays of a declared size, where the
    program does not compute the keys itself."""
    read = whole_loops(fn)
    check = key_check(read, loose_updates(read))
    return None if check is None or check.stores else check
