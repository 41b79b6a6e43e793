"""Intel's functions for products of tiles, on devices that have none: the work-items of a group
exchange their words through local memory."""

from __future__ import annotations

from loopxform.ir.tensor_tiles import OF_CALL, SUB_GROUP_EXTENSION, Instruction
from loopxform.ir.types import HALF, SCHAR, UCHAR, USHORT

VALUES = {
    HALF: "half_of_bits(%s)",
    USHORT: "bfloat_of_bits(%s)",
    SCHAR: "(char)(%s)",
    UCHAR: "(uchar)(%s)",
}
HEAD = """\
#define {extension} 1
#define intel_reqd_sub_group_size(n) unused
#define ITEM ((uint)(get_local_id(1) * get_local_size(0) + get_local_id(0)))
#define get_sub_group_id() (ITEM / {size})
#define get_sub_group_local_id() (ITEM % {size})
float half_of_bits(ushort h)
{{
  return vload_half(0, (const __private half *)&h);
}}
float bfloat_of_bits(ushort h)
{{
  return as_float((uint)h << 16);
}}
"""
FUNCTION = """\
{sum} {function}_shown(__local uint (*shown)[8], {left} a, {right} b, {sum} c)
{{
  const uint first = ITEM - ITEM % {size};
  uint right[8];
  vstore8(as_uint8(b), 0, right);
  vstore8({words}, 0, shown[ITEM]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint row = 0; row < 8; row++)
    for (uint k = 0; k < {depth}; k++)
      c[row] += {x} * {y};
  barrier(CLK_LOCAL_MEM_FENCE);
  return c;
}}
#define {function}(a, b, c) {function}_shown(shown, a, b, c)
"""
SHOWN = "  __local uint shown[256][8]; "


def emulated(size: int, term: str = "k") -> str:
    """The functions of sub-groups of so many work-items, which take the terms of the left operand
    in some order."""
    own = [i for i in OF_CALL.values() if i.tile.wide == size]
    head = HEAD.format(extension=SUB_GROUP_EXTENSION, size=size)
    return head + "".join(_function(i, term) for i in own)


def _function(i: Instruction, term: str) -> str:
    left, right, total = i.vectors
    per, bits = i.tile.left_packed, 8 * i.left.bytes
    words = "as_uint8(a)" if i.tile.left_word == 4 else "convert_uint8(as_ushort8(a))"
    x = f"shown[first + ({term}) / {per}][row] >> ({term}) % {per} * {bits}"
    y = f"right[k / {i.tile.packed}] >> k % {i.tile.packed} * {bits}"
    return FUNCTION.format(
        **{"function": i.function, "size": i.tile.wide, "depth": i.depth, "words": words},
        **{"left": left, "right": right, "sum": total},
        **{"x": VALUES[i.left] % x, "y": VALUES[i.right] % y},
    )
