"""Macros of kernels that compilers may read in two forms: a tile that a work-item turns, in vectors
and in loops. What is read is the loops; the vectors do the same in tiles of 2, 4, 8 or 16 rows,
where the text is the one below."""

from __future__ import annotations

import re

from loopxform.validate.unmodelled import Unmodelled

TURN_TILE = "LX_TURN_TILE"
TRANSPOSE = "LX_TRANSPOSE"

_TRANSPOSE = """
#define LX_TRANSPOSE(type, n, v) \\
  _Pragma("unroll") for (int lx_n = 1; lx_n < n; lx_n *= 2) { \\
    type lx_w[n]; \\
    _Pragma("unroll") for (int lx_k = 0; lx_k < n / 2; ++lx_k) { \\
      lx_w[2*lx_k].even = v[lx_k].lo, lx_w[2*lx_k].odd = v[lx_k + n / 2].lo; \\
      lx_w[2*lx_k + 1].even = v[lx_k].hi, lx_w[2*lx_k + 1].odd = v[lx_k + n / 2].hi; \\
    } \\
    _Pragma("unroll") for (int lx_k = 0; lx_k < n; ++lx_k) v[lx_k] = lx_w[lx_k]; \\
  }
"""
_TURN_TILE = """
#if defined(LX_VECTOR_TILES) || defined(POCL_DEVICE_ADDRESS_BITS)
#define LX_TURN_TILE(type, n, ahead, c, to, from, at) \\
  { \\
    type##n lx_v[n]; \\
    _Pragma("unroll") for (int c = 0; c < n; ++c) { \\
      if (ahead) __builtin_prefetch((const void *)((uintptr_t)&from[at] + ahead)); \\
      lx_v[c] = vload##n(0, &from[at]); \\
    } \\
    LX_TRANSPOSE(type##n, n, lx_v) \\
    _Pragma("unroll") for (int c = 0; c < n; ++c) vstore##n(lx_v[c], 0, &to[c][0]); \\
  }
#else
#define LX_TURN_TILE(type, n, ahead, c, to, from, at) \\
  for (int c = 0; c < n; ++c) for (int lx_k = 0; lx_k < n; ++lx_k) to[lx_k][c] = from[(at) + lx_k];
#endif
"""


def require_known(text: str) -> None:
    """Raises Unmodelled where kernels turn tiles by other text than that above: then a compiler may
    see something else than what is read."""
    if TURN_TILE not in text:
        return
    lines = [x.strip() for x in text.splitlines()]
    for known, name, count in ((_TRANSPOSE, TRANSPOSE, 1), (_TURN_TILE, TURN_TILE, 2)):
        wanted = [x.strip() for x in known.strip().splitlines()]
        found = any(lines[n : n + len(wanted)] == wanted for n in range(len(lines)))
        made = sum(x.startswith("#") and name in x for x in lines)
        if not found or made != count:
            raise Unmodelled(f"tiles that are turned by another {name} than the known one")
    sizes = re.findall(rf"(?<!define ){TURN_TILE}\(\s*\w+\s*,\s*(\w+)", text)
    other = {*sizes} - {"2", "4", "8", "16"}
    if other:
        raise Unmodelled(f"tiles of {min(other)} rows that are turned in registers")
