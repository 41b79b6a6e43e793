"""Frozen dataclasses that are cheap to declare.

`dataclasses.dataclass` compiles six methods for each class, which for hundreds of them is a quarter
of the time that a command takes. Records share theirs, and `__init__` is compiled when the first
object is made. `fields`, `replace` and `match` treat them as the dataclasses that they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from types import MemberDescriptorType
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: C) -> C:
    """`@dataclass(frozen=True)`, of fields without `init=False` or `InitVar`."""
    return _record(cls, _declared(cls, slots=False))


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def slotted(cls: C) -> C:
    """`@dataclass(frozen=True, slots=True)`, for what there are many of. Fields may be `kw_only`,
    not `init=False` nor an `InitVar`."""
    made = _declared(cls, slots=True)
    made.__getstate__, made.__setstate__ = _state, _restore
    return _record(cls, made)


def _declared(cls: Any, *, slots: bool) -> Any:
    """The dataclass without methods, nor a signature where there is no text about it: that takes as
    long as the methods of four classes."""
    text = cls.__doc__
    cls.__doc__ = text or cls.__name__
    made = dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    made.__doc__ = text
    return made


def _record(cls: C, made: Any) -> C:
    every = fields(made)
    assert all(f.init for f in every), cls
    names = tuple(f.name for f in every if f.compare)
    compared = _values(names)

    def init(self: Any, *args: Any, **named: Any) -> None:
        made.__init__ = _init(made, every)
        made.__init__(self, *args, **named)

    def eq(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    own = vars(cls)
    made.__init__, made.__setattr__, made.__delattr__ = init, _set, _delete
    if "__repr__" not in own:
        made.__repr__ = _repr
    if "__eq__" not in own:
        made.__eq__ = eq
    if own.get("__hash__") is None:
        made.__hash__ = _hash_of_one(names[0]) if len(names) == 1 else lambda x: hash(compared(x))
    return made  # type: ignore[no-any-return]


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of the attributes of these names, one alone twice: what gives tuples
    is written in C."""
    if not names:
        return lambda _: ()
    return attrgetter(*names) if len(names) > 1 else attrgetter(*names, *names)


def _hash_of_one(name: str) -> Callable[[Any], int]:
    value = attrgetter(name)
    return lambda x: hash((value(x),))


def _init(made: Any, every: tuple[Field[Any], ...]) -> Callable[..., None]:
    scope: dict[str, Any] = {"_set": object.__setattr__, "MISSING": MISSING}
    params, lines = ["self"], ["pass"]
    ordered = sorted(every, key=lambda f: f.kw_only is True)
    first_named = next((n for n, f in enumerate(ordered) if f.kw_only is True), None)
    for n, f in enumerate(ordered):
        value = f.name
        if n == first_named:
            params.append("*")
        if f.default_factory is not MISSING:
            scope[f"_make_{f.name}"] = f.default_factory
            params.append(f"{f.name}=MISSING")
            value = f"_make_{f.name}() if {f.name} is MISSING else {f.name}"
        elif f.default is not MISSING:
            scope[f"_default_{f.name}"] = f.default
            params.append(f"{f.name}=_default_{f.name}")
        else:
            params.append(f.name)
        slot = getattr(made, f.name, None)
        if isinstance(slot, MemberDescriptorType):
            scope[f"_set_{f.name}"] = slot.__set__
            lines.append(f"_set_{f.name}(self, {value})")
        else:
            lines.append(f"_set(self, {f.name!r}, {value})")
    if "__post_init__" in dir(made):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(params)}):\n " + "\n ".join(lines), scope)
    return scope["__init__"]  # type: ignore[no-any-return]


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state):
        object.__setattr__(self, f.name, value)


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({shown})"


def _set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
