"""What the validator cannot model."""


class Unmodelled(Exception):
    """`what` names it, `line` is where it stands (0: nowhere in particular)."""

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(what)
        self.what, self.line = what, line
