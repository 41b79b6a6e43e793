"""What has to be known of arrays for the host to copy them: that nothing in front of them is meant,
where they end, how long their rows are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from loopxform.analysis.extent import Extent, NoExtent, explain
from loopxform.analysis.inspector import Inspected, inspected
from loopxform.analysis.key_checks import KeyCheck, key_check
from loopxform.analysis.least_sizes import with_assumptions
from loopxform.analysis.loose_accesses import loose_updates
from loopxform.analysis.matrix_rows import with_row_lengths
from loopxform.api.loops_as_meant import with_loops_as_meant
from loopxform.errors import LoopxformError
from loopxform.ir.nodes import Function
from loopxform.prepare.tracked_extrema import tracked
from loopxform.prepare.while_loops import whole_loops
from loopxform.transforms import Derivation


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
    fn = _with_places(with_loops_as_meant(fn))
    read = whole_loops(fn)
    assumed = with_assumptions(fn, read)
    found = inspected(assumed, replace(read, assumes=assumed.assumes))
    return replace(found, fn=with_row_lengths(found.fn))


def _with_places(fn: Function) -> Function:
    """The program with the extrema whose places its loops keep, where arrays have no end for these
    places alone: `a[best]` of `if (a[k] > a[best]) best = k;`."""
    made = tracked(Derivation(fn)).function
    if made is fn or not any(_ends_only_in(made, fn, p.name) for p in fn.objects if p.array):
        return fn
    return replace(made, start=None, as_written=fn.as_written or fn)


def _ends_only_in(made: Function, fn: Function, array: str) -> bool:
    return isinstance(explain(fn, array), NoExtent) and isinstance(explain(made, array), Extent)


def told_ends(fn: Function) -> Inspected:
    """The program, and what finds out ends of its arrays that only data tell."""
    return inspected(fn, whole_loops(fn))


def checked_updates(fn: Function) -> KeyCheck | None:
    """What looks at the keys of updates, on the host: of arrays of a declared size, where the
    program does not compute the keys itself. Where the host finds out where an array ends, it has
    looked at them."""
    read, ended = whole_loops(fn), {p.ends for p in fn.objects if p.ends}
    check = key_check(read, frozenset(x for x in loose_updates(read) if x.array not in ended))
    return None if check is None or check.stores else check
