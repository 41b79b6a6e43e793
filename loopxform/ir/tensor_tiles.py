"""Products of tiles that the work-items of a warp compute together: who has which element.

Each work-item of a warp has a few elements of the operands and of the result. It is one of `high`
rows of `wide` neighbours, as `warp-tile` arranges them: `y` says which row, `x` which place in it.

    result    rows y, y + high, ...   columns 2*x, 2*x + 1
    left      rows y, y + high, ...   words x, x + wide, ...
    right     column y                words x, x + wide, ...

A word is what a register holds: `packed` terms, one behind the other. (NVIDIA, PTX ISA, "Matrix
fragments for mma.m16n8k4, m16n8k8 and m16n8k16 with .f64", "for mma.m16n8k16" with .f16, "for
mma.m16n8k32" of integers.)

Where a function of OpenCL C computes them, a sub-group of 8 or 16 work-items is one row, and each
has whole columns:

    result    all rows          column x
    left      all rows          word x, of as many terms as fill the row
    right     column x          all words

(Khronos OpenCL registry, cl_intel_subgroup_matrix_multiply_accumulate.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from loopxform.floating_point import FloatingPoint, Level
from loopxform.ir.types import CHAR, DOUBLE, FLOAT, HALF, INT, SCHAR, UCHAR, UINT, USHORT, Scalar
from loopxform.records import record

BANKS = 128
"""Bytes that local memory gives at once."""

MATRIX, MATRIX_ROWS = 16, 8
"""Bytes of a row, and rows, of the matrices that a warp reads four of at once."""

MATRIX_LOADS = {
    f"LX_MATRICES{name}": "ldmatrix.sync.aligned.m8n8.x4"
    + f"{kind}.shared.b16 {{%0, %1, %2, %3}}, [%4];"
    for name, kind in (("", ""), ("_TURNED", ".trans"))
}
"""By their macros, what reads them in PTX: as they are, and turned."""

FACTORS = {
    **{DOUBLE: "f64", CHAR: "s8", SCHAR: "s8", UCHAR: "u8"},
    **{HALF: "f16", USHORT: "bf16", FLOAT: "tf32"},
}
SUMS = {DOUBLE: "f64", INT: "s32", UINT: "s32", FLOAT: "f32"}
"""Types as instructions call them; an unsigned short is the upper half of a float (`ir.bfloats`).
Sums are the same modulo 2^32 with a sign or without."""


@record
class TensorTile:
    """`rows` by `columns` results of one of the types `sums`, each of which the terms of `depth`
    iterations are added to: products of two `operands`. A warp has `high` by `wide` work-items.
    `needs` is what must be permitted of floating point for the results to be right, `result` what
    they are. Those are used `by_default` that are right and quick on a device. Where tiles are
    copied `alone`, the device does it, and operands are read ahead; else work-items do, and make
    words of what they copy. Rows that the device can copy whole warps read as `matrices`. Units
    that keep 11 bits of an operand get each as a sum of two, `split`, and compute three products of
    these. Where an iteration adds several `terms` to a result, neighbours in a row of the warp have
    those of one iteration, in order, then those of the next. Where `warps` can compute a product of
    `across` columns together, they read both operands from local memory, on devices that do that;
    others compute it in tiles of `rows` by `columns`. Both operands are of one type where they may
    not be `mixed`. A `function` of OpenCL C computes it, or an instruction of PTX."""

    rows: int
    columns: int
    depth: int
    operands: tuple[Scalar, ...]
    sums: tuple[Scalar, ...]
    packed: int = 1
    terms: int = 1
    split: bool = False
    needs: Level = "contract"
    result: str = ""
    by_default: bool = False
    alone: bool = False
    matrices: bool = False
    high: int = 8
    wide: int = 4
    warps: int = 1
    across: int = 0
    mixed: bool = False
    function: str = ""

    @property
    def name(self) -> str:
        """`16x8x4`, as steps have it."""
        return f"{self.rows * self.warps}x{self.across or self.columns}x{self.depth}"

    @property
    def word(self) -> int:
        """Bytes of a word."""
        return self.packed * self.operands[0].bytes

    @property
    def words(self) -> int:
        """Words that a work-item has of its column."""
        return self.depth * self.terms // ((1 if self.function else self.wide) * self.packed)

    @property
    def left_words(self) -> int:
        """Words that it has of each of its rows."""
        return 1 if self.function else self.words

    @property
    def left_packed(self) -> int:
        """Terms of such a word."""
        return self.depth // self.wide if self.function else self.packed

    @property
    def left_word(self) -> int:
        """Bytes of such a word."""
        return self.left_packed * self.operands[0].bytes

    @property
    def row(self) -> int:
        """Words that the banks of local memory give at once, where rows are moved in these."""
        return 1 if self.function else BANKS // self.word

    @property
    def moved(self) -> int:
        """How many words further a row of local memory has its neighbours than the one before it,
        so that those that a warp reads together lie in different banks."""
        return self.row // self.wide

    @property
    def own_rows(self) -> int:
        """Rows of the result that a work-item has elements of."""
        return self.rows // self.high

    @property
    def own_columns(self) -> int:
        """Columns of the result that a work-item has elements of, neighbours."""
        return self.columns // self.wide

    def permitted(self, fp: FloatingPoint) -> bool:
        """Whether the results are right where this is permitted."""
        match self.needs:
            case "strict":
                return True
            case "contract":
                return fp.contract
            case "reassociate":
                return fp.reassociate
            case "fast":
                return fp.contract and fp.reassociate and fp.approximate

    def multiplies(self, operands: Iterable[Scalar]) -> bool:
        """Whether numbers of these types are multiplied so."""
        kinds = set(operands)
        return kinds <= set(self.operands) and (self.mixed or len(kinds) < 2)


BYTES = (SCHAR, CHAR, UCHAR)
SUB_GROUP_EXTENSION = "cl_intel_subgroup_matrix_multiply_accumulate"
SUB_GROUP_SIZES = 8, 16
"""The work-items of those that multiply tiles by functions."""

IN_ORDER = "as fused multiply-adds in order"
EXACT = "exact integers"
ANY_ORDER = "exact products, added in any order and rounded toward 0"
AS_FUNCTIONS = "exact products, added in any order, each sum rounded as the device does"
NEAR = "each result within 3*2^-20*(1 + terms/8) times the sum of its products' magnitudes"
"""The bound, of numbers that are not subnormal: less than 2^-20 is left of each operand, as much of
each product, and each of the three sums of 8 terms is taken to lose no more than 2^-20 of the
magnitudes of what it adds. (Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor
cores", 2021.)"""

_FUNCTION = "intel_sub_group_{}_{}_matrix_mad_k{}"

_HALVES = TensorTile(
    *(16, 8, 16, (HALF, USHORT), (FLOAT,)),
    packed=2,
    needs="reassociate",
    result=ANY_ORDER,
    matrices=True,
)

TENSOR_TILES = {
    t.name: t
    for t in (
        TensorTile(16, 8, 4, (DOUBLE,), (DOUBLE,), alone=True, result=IN_ORDER, by_default=True),
        TensorTile(
            *(16, 8, 2, (DOUBLE,), (DOUBLE,)),
            terms=2,
            alone=True,
            result=IN_ORDER,
            by_default=True,
        ),
        TensorTile(
            *(16, 8, 32, BYTES, (INT, UINT)),
            packed=4,
            needs="strict",
            result=EXACT,
            by_default=True,
            mixed=True,
        ),
        *(replace(_HALVES, warps=4, across=n) for n in (256, 128)),
        _HALVES,
        TensorTile(16, 8, 8, (FLOAT,), (FLOAT,), split=True, needs="fast", result=NEAR),
        *(
            TensorTile(
                *(8, n, 16, (HALF, USHORT), (FLOAT,)),
                packed=2,
                needs="reassociate",
                result=AS_FUNCTIONS,
                high=1,
                wide=n,
                function=_FUNCTION,
            )
            for n in SUB_GROUP_SIZES
        ),
        *(
            TensorTile(
                *(8, n, 32, BYTES, (INT, UINT)),
                packed=4,
                needs="strict",
                result=EXACT,
                by_default=True,
                high=1,
                wide=n,
                mixed=True,
                function=_FUNCTION,
            )
            for n in SUB_GROUP_SIZES
        ),
    )
}
"""By their names. Those of m16n8k8 and m16n8k16 of doubles give the same bits, and were slower on
an H100 (docs/performance.md)."""


@record
class Instruction:
    """The product of tiles of two types of numbers."""

    tile: TensorTile
    left: Scalar
    right: Scalar

    CONSTRAINTS: ClassVar[dict[str, str]] = {"f64": "d", "s32": "r", "f32": "f"}

    @property
    def macro(self) -> str:
        """`LX_MMA_16_8_32_S8_U8`."""
        t = self.tile
        names: tuple[str, ...] = (FACTORS[self.left], FACTORS[self.right])
        if not t.mixed:
            names = () if self.left == t.operands[0] else names[:1]
        return "_".join(["LX_MMA", *map(str, (t.rows, t.columns, self.depth)), *names]).upper()

    @property
    def depth(self) -> int:
        """Products that are added to each result."""
        return self.tile.depth * self.tile.terms

    @property
    def text(self) -> str:
        """`mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 { %0, %1, %2, %3}, { %4, %5}, ...;`."""
        t, total = self.tile, SUMS[self.tile.sums[0]]
        kinds = f"{total}.{FACTORS[self.left]}.{FACTORS[self.right]}.{total}"
        head = f"mma.sync.aligned.m{t.rows}n{t.columns}k{self.depth}.row.col.{kinds}"
        groups, first = list[str](), 0
        for names in (self.results, self.lefts, self.rights):
            places = ", ".join(f"%{first + n}" for n in range(len(names)))
            groups.append(f"{{ {places}}}")
            first += len(names)
        return f"{head} {', '.join((*groups, groups[0]))};"

    @property
    def function(self) -> str:
        """`intel_sub_group_u8_i8_matrix_mad_k32`."""
        kinds = (FACTORS[t].replace("s", "i") for t in (self.left, self.right))
        return self.tile.function.format(*kinds, self.depth)

    @property
    def vectors(self) -> tuple[str, str, str]:
        """The types of its operands and of its sums: `ushort8`, `int8`, `int8`."""
        words = (_integer(self.tile.left_word, self.left), _integer(self.tile.word, self.right))
        return f"{words[0]}{self.tile.own_rows}", f"{words[1]}{self.tile.words}", self.sum_vector

    @property
    def sum_vector(self) -> str:
        """`float8`."""
        return f"{self.tile.sums[0].cl}{self.tile.own_rows}"

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the results of a work-item, by rows."""
        return _names("c", self.tile.own_rows * self.tile.own_columns)

    @property
    def lefts(self) -> tuple[str, ...]:
        """Names of its words of the left operand: the first of each row, the second of each."""
        return _names("a", self.tile.own_rows * self.tile.left_words)

    @property
    def rights(self) -> tuple[str, ...]:
        """Names of its words of the right operand."""
        return _names("b", self.tile.words)

    @property
    def sum_constraint(self) -> str:
        """The kind of register of a result."""
        return self.CONSTRAINTS[SUMS[self.tile.sums[0]]]

    @property
    def word_constraint(self) -> str:
        """The kind of register of a word."""
        return "r" if self.tile.word == 4 else self.sum_constraint


def _integer(size: int, of: Scalar) -> str:
    """The type of a word of so many bytes, which is unsigned for bytes without a sign."""
    return ("u" if of == UCHAR else "") + {2: "short", 4: "int"}[size]


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{n}" for n in range(count))


def _instructions() -> dict[str, Instruction]:
    found = dict[str, Instruction]()
    for tile in sorted(TENSOR_TILES.values(), key=lambda t: t.warps):
        kinds = tuple({FACTORS[t]: t for t in reversed(tile.operands)}.values())[::-1]
        pairs = [(x, y) for x in kinds for y in kinds if tile.mixed or x == y]
        for i in (Instruction(tile, left, right) for left, right in pairs):
            found.setdefault(i.macro, i)
    return found


INSTRUCTIONS = _instructions()
"""By their macros; of tiles that have the same ones, those that one warp computes."""

OF_TEXT = {i.text: i for i in INSTRUCTIONS.values() if not i.tile.function}
"""By what they are in PTX."""

OF_CALL = {(i.function, i.tile.left_word): i for i in INSTRUCTIONS.values() if i.tile.function}
"""By the functions that compute them, and the bytes of a word of the left operand."""


def by_sub_groups(products: Iterable[Instruction]) -> dict[int, list[Instruction]]:
    """Those of functions, by the work-items of a sub-group."""
    found = dict[int, list[Instruction]]()
    for i in (i for i in products if i.tile.function):
        found.setdefault(i.tile.wide, []).append(i)
    return found
