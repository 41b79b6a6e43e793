"""What the model says of a kernel, or of several that run one after the other."""

from __future__ import annotations

from loopxform.records import record


@record
class Predicted:
    """The multiply-adds of floats in the time that kernels take, the bytes of memory that they
    move, and how many elements they compute of the `elements` that there are."""

    time: float
    bytes: float
    computed: float
    elements: float

    def __add__(self, other: Predicted) -> Predicted:
        return Predicted(
            self.time + other.time,
            self.bytes + other.bytes,
            self.computed + other.computed,
            self.elements + other.elements,
        )

    def times(self, factor: float) -> Predicted:
        """The same for so many times as much."""
        return Predicted(
            self.time * factor,
            self.bytes * factor,
            self.computed * factor,
            self.elements * factor,
        )

    @property
    def overlap(self) -> float:
        """How many times each element is computed, on average."""
        return self.computed / self.elements if self.elements else 1.0


NOTHING = Predicted(0.0, 0.0, 0.0, 0.0)
