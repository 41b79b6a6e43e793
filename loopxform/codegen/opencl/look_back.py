"""Looking back in OpenCL C: how a group finds the values that its chunk begins with.

    turn = the number of groups that began before              lx_take
    tell what the chunk makes of the values                    lx_tell(..., 1, ...)
    each work-item: wait for what some chunk before has told   lx_look
    combine these, from a value at the end of a chunk on
    tell the value at the end of the chunk                     lx_tell(..., 2, ...)

The upper half of a word says what it holds (0: nothing yet, 1: what a chunk makes of a value, 2:
the value at its end), its lower half has 32 bits of that. So each word is told and read in one
piece, and no fence is needed. A number of 64 bits takes two words, which must agree about what they
hold. The oldest chunk that is looked at is waited for until it knows the value at its end. Groups
wait only for those that have taken a number before them, and run: the one with the least number
waits for none. (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back",
2016, section 4.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from loopxform.codegen.cexpr import expr
from loopxform.codegen.opencl.cooperative_copy import OwnNames
from loopxform.codegen.opencl.dialect import KernelDialect
from loopxform.codegen.opencl.work_item import indented
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Assign, Decl, Expr, For, Function, Load, Stmt, Var
from loopxform.ir.types import Scalar
from loopxform.ir.visit import walk
from loopxform.records import record

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"

_HELPERS = {
    "lx_take(": """uint lx_take(volatile __global ulong *p)
{
  return (uint)atom_add(p, (ulong)1);
}""",
    "lx_tell(": """void lx_tell(volatile __global ulong *p, const ulong what, const uint bits)
{
  atom_xchg(p, what << 32 | bits);
}""",
    "lx_look(": """ulong lx_look(volatile __global ulong *p)
{
#ifdef __NV_CL_C_VERSION
  return *p; /* in one piece, and never from the cache of a unit */
#else
  return atom_add(p, (ulong)0);
#endif
}""",
}


def helpers(text: str) -> Iterator[str]:
    """The definitions of functions that kernels call, in order."""
    return (definition for call, definition in _HELPERS.items() if call in text)


def extensions(fn: Function) -> Iterator[str]:
    """Those with the atomic functions that the kernels of a function call."""
    if any(isinstance(s, For) and s.look_back for _, s in walk(fn.body)):
        yield "cl_khr_int64_base_atomics"


@record
class _Passed:
    """A value that is passed on: the `array` it is in, what is `seen` of other chunks, and their
    factors or flags in `far`. `end` is the variable for the value, `made` and `other` are those for
    what a chunk makes of it; `own`, `own_far` and `begin` have elements for the chunk itself.
    `onward` makes of the value at the beginning of a chunk that at its end, `word` is the first of
    the words of a chunk that are about it."""

    array: str
    seen: str
    far: str
    rounded: bool
    end: Decl
    made: Decl
    other: Decl | None
    own: Load
    own_far: Load | None
    begin: Load
    onward: tuple[Stmt, ...]
    word: int

    @property
    def end_word(self) -> int:
        """The words that say what a chunk makes of the value; those for the value at its end, if
        that has its own, come next."""
        return _pieces(self.made.type) + (_pieces(self.other.type) if self.other else 0)

    @property
    def words(self) -> int:
        return self.end_word + (_pieces(self.made.type) if self.rounded else 0)


def turn_lines(link: For, own: OwnNames, d: KernelDialect) -> list[str]:
    """The number of a group, by the order in which groups begin."""
    words, turn, *_ = map(d.name, link.look_back)
    return [
        f"if ({own.local_x} == 0)",
        f"  {turn}[0] = (int)lx_take(&{words}[0]);",
        BARRIER,
    ]


def turn_of(link: For, d: KernelDialect) -> str:
    return f"{d.name(link.look_back[1])}[0]"


def link_lines(
    link: For,
    own: OwnNames,
    d: KernelDialect,
    items: int,
    text: Callable[[tuple[Stmt, ...]], list[str]],
) -> list[str]:
    """What the whole group does for a loop that looks back; `text` is that of the statements of a
    work-item."""
    every = _passed(link)
    writer = _Writer(link, own, d, sum(x.words for x in every), items, text)
    lines = [f"const int {own.number} = {turn_of(link, d)};", *writer.told(every)]
    for x in every:
        lines += [*writer.found(x), *([] if x is every[-1] else [BARRIER])]
    return ["{", *indented(lines), "}"]


class _Writer:
    def __init__(
        self,
        link: For,
        own: OwnNames,
        d: KernelDialect,
        width: int,
        items: int,
        text: Callable[[tuple[Stmt, ...]], list[str]],
    ) -> None:
        self.own = own
        self.d = d
        self.width = width
        self.items = items
        self.text = text
        self.words, _, self.near = map(d.name, link.look_back[:3])

    def told(self, every: Sequence[_Passed]) -> list[str]:
        """The first work-item tells what the chunk makes of the values: but for the first one,
        which knows them."""
        own, lines = self.own, list[str]()
        for x in every:
            lines += self._tell(x.word, 1, x.made.type, self._text(x.own))
            if x.other and x.own_far:
                word = x.word + _pieces(x.made.type)
                lines += self._tell(word, 1, x.other.type, self._text(x.own_far))
        return [f"if ({own.local_x} == 0 && {own.number} > 0) {{", *indented(lines), "}"]

    def found(self, x: _Passed) -> list[str]:
        """The value at the beginning of the chunk, and that at its end."""
        own = self.own
        seen = self._in_blocks(x) if x.rounded else self._up_to_nearest(x)
        last = [f"if ({own.local_x} == 0) {{", *indented(self._last(x)), "}"]
        return ["{", *indented([*seen, *self._tree(x), *last]), "}"]

    def _up_to_nearest(self, x: _Passed) -> list[str]:
        """What the chunks before have told, back to the last one that knows the value at its
        end."""
        own, window, item = self.own, self._window(x), self.own.c1
        v, *_ = names = self._names(x)
        pieces = _pieces(x.made.type)
        known, far = f"{v} >> 32 == 2", names[pieces:]
        nothing = [f"{v} >> 32 == 0", f"({item} == {window - 1} && !({known}))"]
        nothing += [f"{v} >> 32 != {name} >> 32" for name in names[1:pieces]]
        nothing += [f"(!({known}) && {name} >> 32 == 0)" for name in far]
        row = self._times(f"{own.number} - {item}")
        return [
            f"if ({own.local_x} == 0)",
            f"  {self.near}[0] = {window};",
            BARRIER,
            self._shared(item, "", f"min({window}, {own.number})"),
            *indented(self._read(x, _plus(row, x.word), nothing, known)),
            f"  if ({known})",
            f"    atomic_min(&{self.near}[0], {item});",
            "}",
            BARRIER,
            f"const int {own.first} = {own.number} > 0 ? {self.near}[0] : 0;",
        ]

    def _in_blocks(self, x: _Passed) -> list[str]:
        """What the chunks before have told, back to the last of a block of half a window, and not
        the last block: that knows the value at its end by now. Where one begins depends on nothing
        but its number, and so does how sums are rounded."""
        own, block, item = self.own, self._block(x), self.own.c1
        names = self._names(x)
        pieces = _pieces(x.made.type)
        known = f"{item} == {own.first}"
        nothing = [f"{name} >> 32 == 0" for name in names[:pieces]]
        nothing += [f"({item} < {own.first} && {name} >> 32 == 0)" for name in names[pieces:]]
        row = _plus(self._times(f"{own.number} - {item}"), x.word)
        start = f"max({own.number} / {block} * {block} - {block + 1}, 0)"
        return [
            f"const int {own.first} = {own.number} > 0 ? {own.number} - 1 - {start} : -1;",
            self._shared(item, "", f"{own.first} + 1"),
            *indented(self._read(x, f"{row} + ({known} ? {x.end_word} : 0)", nothing, known)),
            "}",
            BARRIER,
        ]

    def _names(self, x: _Passed) -> tuple[str, ...]:
        """The variables for the words that say what a chunk makes of a value."""
        own = self.own
        return (own.v, own.r, own.c2, own.c3)[: x.end_word]

    def _read(self, x: _Passed, row: str, nothing: list[str], known: str) -> list[str]:
        """What a chunk has told, as soon as it has: all words are read at once."""
        own, item, names = self.own, self.own.c1, self._names(x)
        pieces = _pieces(x.made.type)
        reads = [
            f"  {name} = lx_look(&{self.words}[{_plus(own.rows, n)}]);"
            for n, name in enumerate(names)
        ]
        lines = [
            f"const int {own.rows} = {row};",
            f"ulong {', '.join(names)};",
            *("do {", *reads, f"}} while ({' || '.join(nothing)});"),
            f"{self.d.name(x.seen)}[{item}] = {_number(x.made.type, names[:pieces], self.d)};",
        ]
        if x.other:
            number = _number(x.other.type, names[pieces:], self.d)
            lines.append(f"{self.d.name(x.far)}[{item}] = {known} ? 0 : {number};")
        return lines

    def _block(self, x: _Passed) -> int:
        return max(self._window(x) // 2, 1)

    def _shared(self, var: str, factor: str, end: str) -> str:
        """The head of a loop over what the work-items share."""
        first, step = f"{factor}{self.own.local_x}", f"{factor}{self.items}"
        return f"for (int {var} = {first}; {var} < {end}; {var} += {step}) {{"

    def _tree(self, x: _Passed) -> list[str]:
        """Pairs of neighbours, pairs of these, and so on, up to the first value that is known."""
        own = self.own
        at, width = own.at, own.c0
        after = f"{at} + {width}"
        body = [
            *self._variables(x, f"{self.d.name(x.seen)}[{after}]", at),
            *self.text(x.onward),
            f"{self.d.name(x.seen)}[{at}] = {self.d.name(x.end.name)};",
        ]
        if x.other:
            far = self.d.name(x.far)
            body.append(f"{far}[{at}] = {self.d.name(x.other.name)} * {far}[{after}];")
        head = self._shared(at, f"2 * {width} * ", f"{own.first} - {width} + 1")
        return [
            f"for (int {width} = 1; {width} <= {own.first}; {width} *= 2) {{",
            *indented([head, *indented(body), "}"]),
            f"  {BARRIER}",
            "}",
        ]

    def _variables(self, x: _Passed, end: str, at: str) -> list[str]:
        """What one chunk of those that were seen makes of a value."""
        d = self.d
        kind = d.type_name(x.made.type)
        lines = [
            f"{kind} {d.name(x.end.name)} = {end};",
            f"const {kind} {d.name(x.made.name)} = {d.name(x.seen)}[{at}];",
        ]
        if x.other:
            other = f"const {d.type_name(x.other.type)} {d.name(x.other.name)}"
            lines.append(f"{other} = {d.name(x.far)}[{at}];")
        return lines

    def _last(self, x: _Passed) -> list[str]:
        """What the first work-item makes of it all."""
        own, d = self.own, self.d
        end, kind = d.name(x.end.name), d.type_name(x.end.type)
        array = d.name(x.array)
        lines = [
            f"{kind} {end};",
            f"if ({own.number} > 0)",
            f"  {end} = {d.name(x.seen)}[0];",
            "else",
            f"  {end} = {array}[0];",
        ]
        lines += [
            f"{self._text(x.begin)} = {end};",
            f"const {d.type_name(x.made.type)} {d.name(x.made.name)} = {self._text(x.own)};",
        ]
        if x.other and x.own_far:
            other = f"const {d.type_name(x.other.type)} {d.name(x.other.name)}"
            lines.append(f"{other} = {self._text(x.own_far)};")
        lines += self.text(x.onward)
        lines.append(f"{array}[{own.number} + 1] = {end};")
        if not x.rounded:
            return [*lines, *self._tell(x.word, 2, x.made.type, end)]
        block = self._block(x)
        last = f"if ({own.number} == 0 || {own.number} % {block} == {block - 1}) {{"
        told = self._tell(x.word + x.end_word, 2, x.made.type, end)
        return [*lines, last, *indented(told), "}"]

    def _tell(self, word: int, what: int, kind: Scalar, value: str) -> list[str]:
        row = self._times(f"{self.own.number} + 1")
        texts = _bits(kind, value)
        return [
            f"lx_tell(&{self.words}[{_plus(row, word + n)}], {what}, {text});"
            for n, text in enumerate(texts)
        ]

    def _times(self, row: str) -> str:
        return row if self.width == 1 else f"{self.width} * ({row})"

    def _window(self, x: _Passed) -> int:
        return value_of(self.d.tiles[x.seen].decl.shape[0]) or 1

    def _text(self, e: Expr) -> str:
        return expr(e, self.d)


def _bits(kind: Scalar, value: str) -> tuple[str, ...]:
    """The bits of a number, 32 at a time."""
    if _pieces(kind) == 1:
        return (f"as_uint({value})" if kind.is_float else f"(uint){value}",)
    whole = f"as_ulong({value})" if kind.is_float else f"(ulong){value}"
    return f"(uint)({whole})", f"(uint)({whole} >> 32)"


def _number(kind: Scalar, words: Sequence[str], d: KernelDialect) -> str:
    """The number whose bits one word holds, or two."""
    name, low = d.type_name(kind), f"(uint){words[0]}"
    if len(words) == 1:
        return f"as_float({low})" if kind.is_float else f"({name}){low}"
    bits = f"({words[1]} << 32 | {low})"
    return f"as_double{bits}" if kind.is_float else f"({name}){bits}"


def _plus(place: str, n: int) -> str:
    return f"{place} + {n}" if n else place


def _pieces(kind: Scalar) -> int:
    return -(-kind.bytes // 4)


def _passed(link: For) -> list[_Passed]:
    """What a loop that looks back passes on, as the step `look-back` writes it."""
    decls = {s.name: s for s in link.body if isinstance(s, Decl)}
    out: list[_Passed] = []
    word = 0
    marks = link.look_back[3:]
    for array, seen, far, order in zip(*(marks[n::4] for n in range(4))):
        first = next(n for n, s in enumerate(link.body) if _reads(s, array))
        last = next(n for n, s in enumerate(link.body) if _writes(s, array))
        take, begin, *rest = link.body[first:last]
        held = [s for s in rest if not isinstance(s, Decl)]
        made, *more = held
        assert isinstance(take, Assign)
        assert isinstance(begin, Assign)
        assert isinstance(made, Assign)
        assert isinstance(take.target, Var)
        assert isinstance(made.target, Var)
        other = own_far = None
        if far:
            first_one, *more = more
            assert isinstance(first_one, Assign)
            assert isinstance(first_one.target, Var)
            assert isinstance(first_one.value, Load)
            other, own_far = decls[first_one.target.name], first_one.value
        assert isinstance(made.value, Load)
        assert isinstance(begin.target, Load)
        x = _Passed(
            array,
            seen,
            far,
            order == "by blocks",
            decls[take.target.name],
            decls[made.target.name],
            other,
            made.value,
            own_far,
            begin.target,
            tuple(more),
            word,
        )
        out.append(x)
        word += x.words
    return out


def _reads(s: Stmt, array: str) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Load) and s.value.array == array


def _writes(s: Stmt, array: str) -> bool:
    return isinstance(s, Assign) and isinstance(s.target, Load) and s.target.array == array
