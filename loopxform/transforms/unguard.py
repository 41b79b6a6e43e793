"""Redundant computation instead of guards: if (ii+i < M && jj+j < N) acc[i, j] += e(ii+i, jj+j)
   -> acc[i, j] += e(min(ii+i, M-1), min(jj+j, N-1)).

Work-items past the edge repeat the last iteration inside it, on storage of their own that nobody
reads. Legal where every statement that writes the storage stands under the same guard, every other
read of it stands under that guard too, and everything else the statements read is either unchanged
by the clamping or a staged copy clamped at the same bound. No padding value is computed with: each
value is one that some iteration of the program computes. (Replaces the padding of seed 000, sections
4.2.1 and 7.3.2, for every operator.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from loopxform.errors import Obstacle
from loopxform.ir.affine import poly, simplify, to_expr
from loopxform.ir.nodes import Assign, Bin, Const, Copy, Expr, For, Function, If, Load, Stmt
from loopxform.ir.types import Space
from loopxform.ir.visit import (
    Path,
    at,
    declared,
    enclosing,
    loads,
    map_expr,
    names,
    replace_at,
    stmt_exprs,
    walk,
)
from loopxform.transforms.base import Step
from loopxform.transforms.bounds import conjuncts, least, operands
