"""Products of tiles in a function of OpenCL C: by instructions of PTX, and by functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from loopxform.ir.tensor_tiles import MATRIX_LOADS, OF_CALL, Instruction
from loopxform.ir.types import Scalar
from loopxform.ir.warp_groups import GroupInstruction
from loopxform.verify.group.expressions import Expressions
from loopxform.verify.group.operands import Location, Operand, converted
from loopxform.verify.group.syntax import Assembly, Expression
from loopxform.verify.group.types import Vector


class TileProductWriter(Expressions):
    """Writes them as Python: work-items show each other their words, meet, and compute."""

    # ------------------------------------------------------------ what `FunctionWriter` brings

    @abstractmethod
    def emit(self, text: str) -> None: ...

    @abstractmethod
    def fresh(self, name: str) -> str: ...

    @abstractmethod
    def meet(self) -> None: ...

    # ------------------------------------------------------------ products

    def call(self, name: str, arguments: tuple[Expression, ...]) -> Operand:
        """A function that multiplies tiles too: of what all work-items of the sub-group have."""
        if not any(name == of for of, _ in OF_CALL):
            return super().call(name, arguments)
        left, right, sums = (self.settled(a) for a in arguments)
        assert isinstance(left.type, Vector)
        product = OF_CALL.get((name, left.type.of.bytes))
        if product is None or tuple(x.type.cl for x in (left, right, sums)) != product.vectors:
            raise self.error(f"{name} of other vectors")
        self.emit(f"item.show(*{left.text}, *{right.text})")
        self.meet()
        return Operand(f"item.products('{product.macro}', *{sums.text})", sums.type)

    def tile_product(self, s: Assembly, product: Instruction) -> None:
        """Work-items show each other their words of the operands, meet, and compute their own
        elements of the result."""
        count = len(product.results)
        results = [self.location(e) for e in s.operands[:count]]
        shown = ", ".join(self.settled(e).text for e in s.operands[count:])
        self.emit(f"item.show({shown})")
        self.meet()
        self._summed(f"item.products('{product.macro}'", results, product.tile.sums[0])

    def product_of_warps(self, s: Assembly, product: GroupInstruction) -> None:
        """A work-item computes its own elements of the result, from what it reads in place of the
        warps: the places and the shapes of both operands."""
        count = len(product.results)
        results = [self.location(e) for e in s.operands[:count]]
        left, left_shape, right, right_shape = s.operands[count:]
        operands = (
            f"({at.array}, {at.at}, {self.settled(shape).text})"
            for at, shape in ((self.address(left), left_shape), (self.address(right), right_shape))
        )
        call = f"item.products_of_warps('{product.macro}', ({', '.join(operands)})"
        self._summed(call, results, product.tile.sums[0])

    def _summed(self, call: str, results: Sequence[Location], kind: Scalar) -> None:
        """Stores the results of a call that takes what they are before."""
        names = [self.fresh("sum") for _ in results]
        own = ", ".join(self.loaded(at).text for at in results)
        self.emit(f"{', '.join(names)} = {call}, {own})")
        for at, name in zip(results, names):
            total = Operand(name, kind)
            kept = converted(total, at.type) if isinstance(at.type, Scalar) else total
            self.emit(f"{at.array}.store({at.at}, {kept.text})")

    def matrices(self, s: Assembly) -> None:
        """Work-items show each other the rows of matrices whose places they say, meet, and take
        their own words."""
        *words, first = s.operands
        at = self.address(first)
        self.emit(f"item.show_row({at.array}, {at.at})")
        self.meet()
        names = [self.fresh("word") for _ in words]
        turned = s.text == MATRIX_LOADS["LX_MATRICES_TURNED"]
        self.emit(f"{', '.join(names)} = item.matrices({turned})")
        for e, name in zip(words, names):
            to = self.location(e)
            self.emit(f"{to.array}.store({to.at}, {name})")
