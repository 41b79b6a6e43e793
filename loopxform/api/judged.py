"""What is true of a C function: its verdicts, OpenMP claims and dependences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from loopxform.analysis.matrix import matrix
from loopxform.api.arguments import CHECKING, require
from loopxform.api.results import Claims, Matrices, Verdicts
from loopxform.api.source import SourceRoutine
from loopxform.api.verdicts import claims, verdicts
from loopxform.ir.printer import listing


@dataclass(frozen=True, repr=False)
class JudgedRoutine(SourceRoutine):
    """A function of a C file, with the answers about its loops."""

    @property
    def listing(self) -> str:
        """The function as a program of loops, a line for each."""
        return listing(self.function)

    def dtype(self, name: str) -> Any:
        """The numpy dtype of the elements of a parameter or a variable of the file.

        Args:
            name: The parameter or variable.

        Returns:
            The dtype; that of a struct has the layout of C.

        Raises:
            KeyError: There is no such name.
            DeviceError: numpy is not installed.
        """
        from loopxform.runtime.structs import dtype_of

        return dtype_of(self.function, name)

    def check(self, seconds: float | None = None) -> Verdicts:
        """A verdict for every loop, in text order.

        Args:
            seconds: CPU time for each nest; the loops of one that takes longer are `unknown` for
                that reason. None: no limit.

        Returns:
            The verdicts; a notebook shows a table.

        Raises:
            ArgumentError: `seconds` is no number above 0.
        """
        require(CHECKING, seconds=seconds)
        return Verdicts.of(verdicts(self, seconds), self.file.parsed.sources)

    def audit(self, seconds: float | None = None) -> Claims:
        """What is true of every OpenMP pragma, in text order.

        Args:
            seconds: CPU time for each claim; one that takes longer is not proven. None: no limit.

        Returns:
            The claims: `proven` is True, False or None for each.

        Raises:
            ArgumentError: `seconds` is no number above 0.
        """
        require(CHECKING, seconds=seconds)
        return Claims(claims(self, seconds))

    def matrix(self) -> str:
        """The dependence matrix of every nest, as text; see `matrices`."""
        return str(self.matrices())

    def matrices(self) -> Matrices:
        """The dependence matrix of every nest: `rows` are dependences, `loops` the columns."""
        return Matrices(matrix(self.function))
