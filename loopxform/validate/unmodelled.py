"""What the validator cannot model."""


class Unmodelled(Exception):
    """`what` names it, `line` is where it stands (0: nowhere in particular), in the user's file or
    in the `kernel`."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line, self.kernel = what, line, False


class EndedByData(Unmodelled):
    """A loop whose iterations data count."""
