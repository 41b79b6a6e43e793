"""Integer expressions as polynomials: the canonical form in which bounds and subscripts are
added, cancelled, divided and printed.

A `Poly` is a sum of integer coefficients times products of atoms. Atoms are scalars, tile sizes and
any subexpression that is not + - * of integers (a division, a min, an array element). Tile sizes
stay symbolic, so `(Ty*Ry - Ry) + (Ry - 1) + 1` is `Ty*Ry`.
"""

from __future__ import annotations

from loopxform.ir.memo import remembered
from loopxform.ir.nodes import Bin, Cast, Const, Expr, Load, Tile, Un, Var
from loopxform.ir.types import INT, Scalar
from loopxform.ir.visit import walk_expr
from loopxform.records import slotted

Monomial = tuple[Expr, ...]


@slotted
class Poly:
    """Terms in order of first appearance; a monomial is a sorted tuple of atoms."""

    terms: tuple[tuple[Monomial, int], ...]

    def __add__(self, other: Poly) -> Poly:
        out = dict(self.terms)
        for m, c in other.terms:
            out[m] = out.get(m, 0) + c
        return Poly(tuple((m, c) for m, c in out.items() if c))

    def __neg__(self) -> Poly:
        return Poly(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Poly) -> Poly:
        out = dict(self.terms)
        for m, c in other.terms:
            out[m] = out.get(m, 0) - c
        return Poly(tuple((m, c) for m, c in out.items() if c))

    def __mul__(self, other: Poly) -> Poly:
        out: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                m = tuple(sorted((*m1, *m2), key=atom_key))
                out[m] = out.get(m, 0) + c1 * c2
        return Poly(tuple((m, c) for m, c in out.items() if c))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Poly) and dict(self.terms) == dict(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    @property
    def constant(self) -> int | None:
        """The value of a constant polynomial (tile sizes count as symbols), else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def value(self) -> int | None:
        """The value where only tile sizes occur, as a number, else None."""
        total = 0
        for m, c in self.terms:
            for atom in m:
                if not isinstance(atom, Tile):
                    return None
                c *= atom.value
            total += c
        return total

    def coefficient(self, name: str) -> Poly:
        """What `name` is multiplied by (the polynomial must be linear in it)."""
        out = Poly(())
        for m, c in self.terms:
            if any(isinstance(a, Var) and a.name == name for a in m):
                rest = list(m)
                rest.remove(next(a for a in m if isinstance(a, Var) and a.name == name))
                out += Poly(((tuple(rest), c),))
        return out

    def without(self, name: str) -> Poly:
        """The terms in which `name` does not occur."""
        keep = (t for t in self.terms if not any(_mentions(a, name) for a in t[0]))
        return Poly(tuple(keep))

    def mentions(self, name: str) -> bool:
        return any(_mentions(a, name) for m, _ in self.terms for a in m)

    def divide(self, divisor: Poly) -> Poly | None:
        """The exact quotient by a single-term divisor, or None."""
        if len(divisor.terms) != 1:
            return None
        dm, dc = divisor.terms[0]
        out = []
        for m, c in self.terms:
            rest = list(m)
            for atom in dm:
                if atom not in rest:
                    return None
                rest.remove(atom)
            if c % dc:
                return None
            out.append((tuple(rest), c // dc))
        return Poly(tuple(out))


def _mentions(atom: Expr, name: str) -> bool:
    return any(isinstance(x, Var) and x.name == name for x in walk_expr(atom))


def atom_key(e: Expr) -> tuple[int, str]:
    """Scalars, then other atoms, then tile sizes: `n*Ty`, `U/Tk*Tk`; ties by text."""
    match e:
        case Var(name):
            return (0, name)
        case Tile(name):
            return (2, _tile_key(name))
        case _:
            return (1, repr(e))


def _tile_key(name: str) -> str:
    """Ty*Ry, not Ry*Ty: T before R."""
    return ("0" if name.startswith("T") else "1") + name


def constant(n: int) -> Poly:
    return Poly((((), n),)) if n else Poly(())


@remembered(16384)
def poly(e: Expr) -> Poly:
    """The polynomial of an integer expression; every expression has one (perhaps a lone atom)."""
    match e:
        case Const(value) if isinstance(value, int):
            return constant(int(value))
        case Bin("+", left, right):
            return poly(left) + poly(right)
        case Bin("-", left, right):
            return poly(left) - poly(right)
        case Bin("*", left, right):
            return poly(left) * poly(right)
        case Un("-", operand):
            return -poly(operand)
        case Un("+", operand):
            return poly(operand)
        case Cast(type, operand) if _widens(type, operand):
            return poly(operand)
        case Bin("/", left, right):
            quotient = poly(left).divide(poly(right))
            if quotient is not None:
                return quotient
            return Poly((((Bin("/", _operand(left), _operand(right)),), 1),))
        case Bin("min" | "max" as op, left, right):
            return _min_max(op, poly(left), poly(right))
        case Bin("&" | "%" as op, Const(int(a)) as left, Const(int(b)) as right) if (
            left.type == right.type == INT and a >= 0 < b
        ):
            return constant(a & b if op == "&" else a % b)
        case Bin(op, left, right):
            return Poly((((Bin(op, _operand(left), _operand(right)),), 1),))
        case _:
            return Poly((((e,), 1),))


def _operand(e: Expr) -> Expr:
    """What is divided, compared or shifted, in canonical form where that cannot change the type it
    is computed in: `10u` makes data unsigned, and sums of data may be wider than their terms."""
    found = list(walk_expr(e))
    typed = any(isinstance(x, Const) and x.type.is_integer and x.type != INT for x in found)
    data = isinstance(e, Bin | Un) and any(isinstance(x, Load) for x in found)
    return e if typed or data else simplify(e)


def _widens(type: Scalar, operand: Expr) -> bool:
    """In bounds and subscripts the front end leaves only casts that keep the value; a number that
    was a float stands under a cast to its own type, where no arithmetic looks through."""
    from_float = isinstance(operand, Cast) and operand.type.is_float
    return type.is_integer and not type.is_unsigned and type.bytes >= 4 and not from_float


def _min_max(op: str, a: Poly, b: Poly) -> Poly:
    gap = (a - b).value
    if gap is None:
        return Poly((((Bin(op, to_expr(a), to_expr(b)),), 1),))
    return a if (gap <= 0) == (op == "min") else b


def to_expr(p: Poly) -> Expr:
    """The expression that prints `p` in the order of its terms, a positive term first."""
    terms = [t for t in p.terms if t[0]] + [t for t in p.terms if not t[0]]
    if not terms:
        return Const(0)
    first = next((t for t in terms if t[1] > 0), terms[0])
    terms.remove(first)
    out = _term(first[0], abs(first[1]))
    if first[1] < 0:
        out = Un("-", out) if not isinstance(out, Const) else Const(-int(out.value))
    for m, c in terms:
        out = Bin("+" if c > 0 else "-", out, _term(m, abs(c)))
    return out


def _term(m: Monomial, c: int) -> Expr:
    out: Expr | None = None if c == 1 and m else Const(c)
    for atom in m:
        out = atom if out is None else Bin("*", out, atom)
    assert out is not None
    return out


def simplify(e: Expr) -> Expr:
    """An equal integer expression in canonical form. Only for bounds and subscripts."""
    return e if isinstance(e, Var) else to_expr(poly(e))


def recombined(e: Expr) -> Expr:
    """The same with x/n*n + x%n as x."""
    return to_expr(_recombined(poly(e)))


def _recombined(p: Poly) -> Poly:
    quotients = [a for m, _ in p.terms for a in m if isinstance(a, Bin) and a.op == "/"]
    for whole in dict.fromkeys(quotients):
        rest = Bin("%", whole.left, whole.right)
        factor = _coefficient(p, rest)
        if factor.terms and _coefficient(p, whole) == factor * poly(whole.right):
            left = Poly(tuple(t for t in p.terms if whole not in t[0] and rest not in t[0]))
            return _recombined(left + factor * poly(whole.left))
    return p


def _coefficient(p: Poly, atom: Expr) -> Poly:
    """What an atom is multiplied by; nothing where it is in a term more than once."""
    out = Poly(())
    for m, c in p.terms:
        if m.count(atom) > 1:
            return Poly(())
        if atom in m:
            n = m.index(atom)
            out += Poly((((*m[:n], *m[n + 1 :]), c),))
    return out


def value_of(e: Expr) -> int | None:
    """The number an expression of constants and tile sizes computes, else None."""
    if isinstance(e, Const) and isinstance(e.value, int):
        return int(e.value)
    return poly(e).value
