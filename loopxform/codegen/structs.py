"""Members of structs in text: `p.x[i]` of the loop tree is `p[i].x` where it is C.

A kernel gets the user's structs as they lie in memory (`__global lx_p *p`), once for all members
that it uses. Numbers in a struct that is no array (`q.n`) and pointers in a struct (`s->a`) are
arguments of their own there, under names of their own (`q_n`, `s_a`): see `plain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from loopxform.codegen.opencl.words import free_name
from loopxform.errors import EmitError, LoopxformError
from loopxform.ir.names import used_names
from loopxform.ir.nodes import Decl, Expr, Function, Param, Struct, Var
from loopxform.ir.records import Member, Record
from loopxform.ir.renaming import rename
from loopxform.ir.types import Scalar
from loopxform.ir.visit import substitute, walk
from loopxform.records import record

Path: TypeAlias = tuple[str, ...]
"""Names of members: `in`, `x`."""


@record
class Place:
    """Where the elements of a member are: in a struct, through members of it."""

    struct: Struct
    path: tuple[Member, ...]

    def rank(self, subscripts: int) -> int:
        """How many of the subscripts say which struct; the others are those of members."""
        return subscripts - sum(len(m.shape) for m in self.path)


def place(fn: Function, name: str) -> Place | None:
    """The place of what `name` stands for, or None where it is no member of a known struct."""
    owners = [s for s in fn.structs if name.startswith(f"{s.name}.")]
    if not owners:
        return None
    owner = max(owners, key=lambda s: len(s.name))
    path = owner.type.path(name[len(owner.name) + 1 :].split("."))
    return None if path is None else Place(owner, path)


def places(fn: Function) -> dict[str, Place]:
    """The arrays whose elements lie in structs."""
    found = {p.name: place(fn, p.name) for p in fn.objects if p.is_member and p.shape}
    return {n: at for n, at in found.items() if at is not None and at.path[-1].type is not None}


NOT_NULL = " != 0)"
"""Ends the text of a number that says whether a pointer points somewhere."""


def c_text(fn: Function, name: str) -> str:
    """What C calls a number or a pointer in one struct: `q.n`, `s->in.a`; whether a pointer points
    somewhere: `(p != 0)`."""
    if "." not in name:
        return name
    at = place(fn, name)
    if at is None:
        tested = next((p.tests for p in fn.objects if p.name == name), "")
        return f"({tested}{NOT_NULL}" if tested else name
    arrow = "->" if at.struct.array else "."
    return c_text(fn, at.struct.name) + arrow + ".".join(m.name for m in at.path)


def roots(objects: Iterable[Param]) -> tuple[str, ...]:
    """The names in C of parameters or globals, in order: a struct once."""
    return tuple(dict.fromkeys(p.name.partition(".")[0] for p in objects))


def pointed(fn: Function) -> tuple[str, ...]:
    """The arrays that pointers inside structs point to, and the structs: `s.a`, `s.b`."""
    names = [p.name for p in fn.objects if p.is_member] + [s.name for s in fn.structs]
    found = {n: place(fn, n) for n in dict.fromkeys(names) if "." in n}
    return tuple(n for n, at in found.items() if at is not None and at.path[-1].type is None)


def require_layout(fn: Function) -> None:
    """Raises EmitError for a member of a struct that cannot be written."""
    for p in fn.objects:
        found = place(fn, p.name) if p.is_member else None
        if p.is_member and not p.tests and (found is None or "{" in found.struct.type.spelling):
            struct, _, _ = p.name.partition(".")
            raise EmitError(
                f"how the struct '{struct}' lies in memory is not known",
                loc=p.origin.loc,
                help="bit-fields, unions, long double, packed and aligned structs are not "
                "written: use separate arrays for the members",
            )


@record
class Inside:
    """The numbers and pointers in structs as C sets them up under plain names: `plain` is
    `written` with those."""

    written: Function
    plain: Function

    @property
    def texts(self) -> dict[str, str]:
        """The C text of each plain name."""
        pairs = zip((*self.written.objects,), (*self.plain.objects,))
        return {p.name: c_text(self.written, w.name) for w, p in pairs if "." not in p.name}

    def locals(self) -> Iterator[tuple[str, str]]:
        """Declarations, with the names. What is behind a null pointer is 0."""
        for w, p in zip(self.written.objects, self.plain.objects):
            if "." in w.name and "." not in p.name and not p.of_structs:
                value = self._reached(w.name, c_text(self.written, w.name))
                const = "const " if p.const or not p.array else ""
                if p.array:
                    kind = f"{const}{p.type.c} {'*' * len(p.shape) if p.rows else '*'}"
                    yield p.name, f"{kind}const {p.name} = ({kind})({value});"
                else:
                    yield p.name, f"const {p.type.c} {p.name} = {value};"
        for s, t in zip(self.written.structs, self.plain.structs):
            if "." in s.name:
                const = "const " if s.const else ""
                value = self._reached(s.name, c_text(self.written, s.name))
                yield t.name, f"{const}{t.type.c} *const {t.name} = {value};"

    def pointers(self, p: Param, index: Sequence[str]) -> tuple[str, ...]:
        """The pointers that lead to a row of a matrix, the one to the row last: `a[i]`, `a[i][j]`;
        `s[i].a` where they are members of structs."""
        own = dict(zip((x.name for x in self.plain.objects), self.written.objects))[p.name]
        at = place(self.written, own.name) if p.of_structs else None
        if at is None:
            return tuple(p.name + _subscripts(index[: k + 1]) for k in range(len(index)))
        names = dict(zip((s.name for s in self.written.structs), self.plain.structs))
        text, rest = names[at.struct.name].name, list(index)
        for rank, step in ((len(at.struct.shape), ""), *((len(m.shape), m.name) for m in at.path)):
            text += (f".{step}" if step else "") + _subscripts(rest[:rank])
            rest = rest[rank:]
        return tuple(text + _subscripts(rest[:k]) for k in range(len(rest) + 1))

    def owner(self, p: Param) -> str:
        """The array of structs whose members are pointers to rows; "" of other matrices."""
        own = dict(zip((x.name for x in self.plain.objects), self.written.objects))[p.name]
        at = place(self.written, own.name) if p.of_structs else None
        names = dict(zip((s.name for s in self.written.structs), self.plain.structs))
        return names[at.struct.name].name if at is not None else ""

    def nulls(self) -> Iterator[str]:
        """The pointers to structs that must point somewhere for that."""
        dotted = [p.name for p in self.written.objects] + [s.name for s in self.written.structs]
        own = [n for n in dotted if "." in n and n not in places(self.written)]
        yield from dict.fromkeys(p for n in own for p in self._pointers(n))

    def _reached(self, name: str, text: str) -> str:
        pointers = list(self._pointers(name))
        return f"{' && '.join(pointers)} ? {text} : 0" if pointers else text

    def _pointers(self, name: str) -> list[str]:
        """The pointers that C follows to get at `name`, the first one first."""
        at = place(self.written, name)
        if at is None or not at.struct.array:
            return []
        outer, s = at.struct.name, at.struct
        is_one = not s.static and (s.pointer or not s.is_global)
        return [*self._pointers(outer), *([c_text(self.written, outer)] if is_one else [])]


def _subscripts(index: Sequence[str]) -> str:
    return "".join(f"[{n}]" for n in index)


# ---------------------------------------------------------------- plain names


def plain_names(fn: Function) -> dict[str, str]:
    """A C name for each number and each pointer in a struct, and for the structs behind such."""
    inside = places(fn)
    dotted = [p.name for p in fn.objects if p.is_member and p.name not in inside]
    dotted += [s.name for s in fn.structs if "." in s.name]
    taken = set(used_names(fn))
    out: dict[str, str] = {}
    for name in dict.fromkeys(dotted):
        out[name] = _free(name, taken)
    return out


@contextmanager
def refused_as_written(new: Mapping[str, str]) -> Iterator[None]:
    """Errors about plain names name what is inside of structs: 's.a' for 's_a'."""
    try:
        yield
    except LoopxformError as e:
        for member, name in new.items():
            e.message = e.message.replace(f"'{name}'", f"'{member}'")
            e.help = e.help and e.help.replace(f"'{name}'", f"'{member}'")
        raise


def plain(fn: Function, new: Mapping[str, str]) -> Function:
    """`fn` with the names that `plain_names` chose."""

    def renamed(name: str) -> str:
        if name in new:
            return new[name]
        owners = [n for n in new if name.startswith(f"{n}.")]
        owner = max(owners, key=len, default="")
        return new[owner] + name[len(owner) :] if owner else name

    names = {p.name: renamed(p.name) for p in fn.objects if renamed(p.name) != p.name}
    if not names and not new:
        return fn
    scalars: dict[str, Expr] = {n: Var(names[n]) for n in names}

    def size(e: Expr | None) -> Expr | None:
        return None if e is None else substitute(e, scalars)

    def param(p: Param) -> Param:
        shape, ends = tuple(map(size, p.shape)), renamed(p.ends)
        part_of = renamed(p.part_of)
        return replace(p, name=renamed(p.name), shape=shape, part_of=part_of, ends=ends)

    def struct(s: Struct) -> Struct:
        return replace(s, name=renamed(s.name), shape=tuple(map(size, s.shape)))

    return replace(
        fn,
        params=tuple(map(param, fn.params)),
        globals=tuple(map(param, fn.globals)),
        body=rename(fn.body, names),
        assumes=tuple(substitute(e, scalars) for e in fn.assumes),
        representable=tuple(substitute(e, scalars) for e in fn.representable),
        structs=tuple(map(struct, fn.structs)),
    )


def plain_locals(fn: Function) -> Function:
    """`fn` with the members of its own structs as variables: `t.x` is `t_x`."""
    taken = set(used_names(fn))
    own = dict.fromkeys(s.name for _, s in walk(fn.body) if isinstance(s, Decl) and "." in s.name)
    return replace(fn, body=rename(fn.body, {n: _free(n, taken) for n in own}))


def _free(name: str, taken: set[str]) -> str:
    made = name.replace(".", "_")
    while made in taken:
        made += "_"
    taken.add(made)
    return made


# ---------------------------------------------------------------- definitions


def records(fn: Function) -> tuple[Record, ...]:
    """The types of the structs, each once; what others point to comes first."""
    deepest = sorted(fn.structs, key=lambda s: -s.name.count("."))
    return tuple(dict.fromkeys(s.type for s in deepest))


def c_definition(r: Record, pointers: Mapping[Path, str]) -> str:
    """`struct v { float x; float y; };`, or a typedef where it has no tag. `pointers` declares
    those of its members that are followed."""
    inside = _members(r, lambda t: t.c, lambda path: pointers.get(path, f"void *{path[-1]}"), str)
    if r.spelling.startswith("struct "):
        return f"{r.spelling} {{ {inside} }};"
    return f"typedef struct {{ {inside} }} {r.spelling};"


def c_layout(r: Record) -> Iterator[str]:
    """What C must say of its layout for it to be that of the kernel."""
    yield f"sizeof({r.spelling}) == {r.bytes}"
    for m in r.members[1:]:
        yield f"offsetof({r.spelling}, {m.name}) == {m.offset}"


def kernel_name(r: Record) -> str:
    return f"lx_{r.spelling.replace(' ', '_')}"


def kernel_definition(r: Record) -> str:
    """The same in OpenCL C, where members need other names than its own words; a pointer is a
    number, since it points to memory of the host."""
    inside = _members(r, lambda t: t.memory, lambda path: f"ulong {free_name(path[-1])}", free_name)
    return f"typedef struct {{ {inside} }} {kernel_name(r)};"


def _members(
    r: Record,
    scalar: Callable[[Scalar], str],
    pointer: Callable[[Path], str],
    own: Callable[[str], str],
    outside: Path = (),
) -> str:
    out = []
    for m in r.members:
        match m.type:
            case None:
                text = pointer((*outside, m.name))
            case Record():
                inside = _members(m.type, scalar, pointer, own, (*outside, m.name))
                text = f"struct {{ {inside} }} {own(m.name)}"
            case Scalar():
                text = f"{scalar(m.type)} {own(m.name)}"
        out.append(text + "".join(f"[{n}]" for n in m.shape) + ";")
    return " ".join(out)
