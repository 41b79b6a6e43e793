"""The control flow of the host as C: what `lx_run_NAME` does in templates/control.c.j2.

{
  cl_int t;
  for (t = 0; lx_job->status == CL_SUCCESS && t < T; ++t) {
    if (!lx_require(lx_job, ..., "..."))            a condition of this launch
      return;
    lx_set(lx_job, ..., &t);                        an argument that differs between launches
    lx_step(lx_job, ..., ...);                      groups, and operations of a work-item
  }
}

After a failure none of these functions does anything. A condition on data is read back from the
device; without kernels nothing is known behind it:

  if (lx_ahead(lx_job))
    return;
  while (lx_job->status == CL_SUCCESS && lx_told(lx_job, lx_mem_more)) {

where iterations may be enqueued before that is known (`turns_ahead`), several of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import assert_never

from loopxform.codegen import cexpr
from loopxform.codegen.cexpr import Dialect
from loopxform.codegen.host.guards import numbers, told_in_int, wide
from loopxform.codegen.host.schedule import Choose, Item, Launch, Repeat, Set, every
from loopxform.codegen.host.shares import split
from loopxform.codegen.host.turns_ahead import FAR, is_safe, set_in
from loopxform.codegen.host.work import work_of_item
from loopxform.codegen.opencl.kernel_plan import KernelPlan
from loopxform.codegen.plan import Plan
from loopxform.codegen.render import c_literal
from loopxform.ir import whiles
from loopxform.ir.affine import value_of
from loopxform.ir.nodes import Const, Expr, For, Param, Tile
from loopxform.ir.types import LLONG
from loopxform.ir.typing import symbols
from loopxform.ir.visit import names, walk_expr
from loopxform.records import record


@record
class Hosted:
    """What the host does in place of a launch, in C: the arguments that say what it takes, and the
    call."""

    price: str
    call: str


def lines(
    plan: Plan,
    thresholds: Mapping[str, str] = MappingProxyType({}),
    hosted: Mapping[int, Hosted] = MappingProxyType({}),
) -> list[str]:
    """The statements of `lx_run_NAME`; `thresholds` are the variables for those that have one, and
    `hosted` the kernels that the host may run, by number."""
    set_here = {x.name: x.type for x in every(plan.schedule) if isinstance(x, Set)}
    types = {**symbols(plan.function), **set_here}
    d = Dialect("c", types, thresholds=thresholds, ahead=True)
    body = _items(plan.schedule, plan, d, hosted)
    read = " ".join(re.sub(r"^\s*\w+ = ", "", line) for line in body)
    unread = (n for n in set_here if not re.search(rf"\b{n}\b", read))
    return [*_variables(plan), *body, *(f"(void){n};" for n in unread)]


def _variables(plan: Plan) -> Iterator[str]:
    """The scalars that the host sets, but for parameters."""
    given = {p.name for p in plan.start.objects}
    found = {x.name: x.type for x in every(plan.schedule) if isinstance(x, Set)}
    for name, kind in found.items():
        if name not in given:
            yield f"cl_{kind.cl} {name} = 0;"


def _items(
    items: tuple[Item, ...], plan: Plan, d: Dialect, hosted: Mapping[int, Hosted]
) -> list[str]:
    return [line for x in items for line in _item(x, plan, d, hosted)]


def _item(x: Item, plan: Plan, d: Dialect, hosted: Mapping[int, Hosted]) -> list[str]:
    match x:
        case Launch(number):
            return list(_launch(plan.kernels[number], number, d, hosted.get(number)))
        case Repeat(_, _, flag, turn) if turn:
            return [*_data_ahead(flag), *_turns(x, plan, d, hosted)]
        case Repeat(loop, body, flag):
            inside = replace(d, types={**d.types, loop.var: loop.type})
            inner = _items(body, plan, inside, hosted)
            return [*_data_ahead(flag), *_loop(loop, inner, flag, d)]
        case Choose(cond, then, orelse, flag):
            head = f"if ({_told(flag) if flag else asked(cond, d)}) {{"
            out = [*_data_ahead(flag), head, *_indented(_items(then, plan, d, hosted)), "}"]
            other = _items(orelse, plan, d, hosted)
            match orelse:
                case ():
                    return out
                case (Choose(_, _, _, ""),):
                    return [*out[:-1], f"}} else {other[0]}", *other[1:]]
                case _:
                    return [*out[:-1], "} else {", *_indented(other), "}"]
        case Set(name, _, value):
            return [f"{name} = {_text(value, d)};"]
        case _:
            assert_never(x)


def _data_ahead(flag: str) -> list[str]:
    """What depends on data is not gone through without kernels."""
    return ["if (lx_ahead(lx_job))", "  return;"] if flag else []


def _told(flag: str) -> str:
    return f"lx_told(lx_job, {device_variable(flag)})"


def device_variable(array: str) -> str:
    """What the host code calls an array that is not the user's."""
    return f"lx_mem_{array}"


def _loop(loop: For, body: list[str], flag: str, d: Dialect) -> list[str]:
    """A loop that ends where something fails; its counter lives in it alone."""
    step = value_of(loop.step) or 1
    by = {1: f"++{loop.var}", -1: f"--{loop.var}"}.get(step, f"{loop.var} += {_text(loop.step, d)}")
    counted = replace(loop, hi=whiles.end(loop)) if flag else loop
    test = cexpr.expr(numbers(whiles.test(counted), d), d, 5)
    if whiles.is_while(loop):
        test = _told(flag) if flag else test
        return [f"while (lx_job->status == CL_SUCCESS && {test}) {{", *_indented(body), "}"]
    test = f"{test} && {_told(flag)}" if flag else test
    head = (
        f"for ({loop.var} = {_text(loop.lo, d)}; lx_job->status == CL_SUCCESS && {test}; {by}) {{"
    )
    inner = [f"cl_{loop.type.cl} {loop.var};", head, *_indented(body), "}"]
    return ["{", *_indented(inner), "}"]


def _turns(x: Repeat, plan: Plan, d: Dialect, hosted: Mapping[int, Hosted]) -> Iterator[str]:
    """A loop whose iterations are enqueued before the flag is known. Behind the last one, the
    scalars of the host get their values again."""
    moving = set_in(x.body)
    own = [y for y in every(x.body) if isinstance(y, Launch)]
    kernels = [plan.kernels[y.number] for y in own]
    counted = all(is_safe(e, frozenset(moving)) for k in kernels for e in k.computed)
    asked = any(names(c.expr) & set(moving) for k in kernels for c in k.conditions)
    signed = (n for n, s in moving.items() if not s.type.is_unsigned)
    far = [*(f"{n} > -{FAR}" for n in signed), *(f"{n} < {FAR}" for n in moving)]
    by_host = ["lx_job->by_host == 0"] if any(y.number in hosted for y in own) else []
    may = " && ".join([*far, *by_host]) or "1"
    yield "{"
    yield f"  cl_int {x.turn}, lx_most, lx_done = 0, lx_flag = {_told(x.flag)};"
    yield "  while (lx_flag > 0) {"
    yield from (f"    const cl_{s.type.cl} lx_from_{n} = {n};" for n, s in moving.items())
    yield f"    lx_most = lx_turns(lx_job, &lx_done, {may if counted and not asked else '0'});"
    goes_on = f"lx_job->status == CL_SUCCESS && {x.turn} <= lx_most"
    yield f"    for ({x.turn} = 1; {goes_on}; ++{x.turn}) {{"
    yield from _indented(_indented(_indented(_items(x.body, plan, d, hosted))))
    yield "    }"
    yield f"    lx_flag = {_told(x.flag)};"
    if moving:
        yield "    if (lx_flag < 0) {"
        yield from (f"      {n} = lx_from_{n};" for n in moving)
        yield f"      for ({x.turn} = lx_flag; {x.turn} < 0; ++{x.turn}) {{"
        settings = tuple(y for y in x.body if isinstance(y, Set))
        yield from _indented(_indented(_indented(_indented(_items(settings, plan, d, hosted)))))
        yield "      }"
        yield "    }"
    yield "  }"
    yield "}"


def _launch(k: KernelPlan, number: int, d: Dialect, hosted: Hosted | None) -> Iterator[str]:
    for c in k.conditions:
        yield f"if (!lx_require(lx_job, {c.text(d)}, {c_literal(c.why)}))"
        yield "  return;"
    own = {p.name for p in k.changing}
    changing = [
        f"lx_set(lx_job, {number}, {place}, sizeof {a.name}, &{a.name})"
        for place, a in enumerate(k.arguments)
        if isinstance(a, Param) and a.name in own
    ]
    for n in range(0, len(changing), 2):
        yield f"{', '.join(changing[n : n + 2])};"
    x, y, z = (f"lx_count({text})" for text in _groups(k, d))
    there = {a.name for a in k.arguments if isinstance(a, Param)} | own
    there |= {name for e in k.computed for name in names(e)}
    scalars = [p for p in k.function.objects if p.name in there]
    work = work_of_item(k.function, scalars, prod(k.group_shape))
    step = f"lx_step(lx_job, {number}, {x}, {y}, {z}, {work or 'lx_job->operations'});"
    if hosted is None or work is None:
        share = split(k, d)
        if share is not None:
            yield share
        yield step
    else:
        alone = "lx_most == 1 && " if k.asks else ""
        yield f"if ({alone}lx_is_hosts(lx_job, {number}, {work}, {hosted.price}))"
        yield f"  {hosted.call};"
        yield "else"
        yield f"  {step}"


def _groups(k: KernelPlan, d: Dialect) -> tuple[str, str, str]:
    """How many groups a launch has, in C: none where its condition does not hold."""
    x, y, z = (wide(count, d) for count in k.grid)
    return (x, y, z) if k.when is None else (f"({wide(k.when, d)}) ? {x} : 0", y, z)


def asked(e: Expr, d: Dialect) -> str:
    """A condition, in 64 bits where one of its numbers is a threshold or has 64 bits: what it is
    compared with may be more than an int holds."""
    long = any(
        isinstance(x, Tile) or (isinstance(x, Const) and x.type == LLONG) for x in walk_expr(e)
    )
    return wide(e, d) if long else _text(told_in_int(e, d), d)


def _text(e: Expr, d: Dialect) -> str:
    """In the types of C, in which the user's program computes it."""
    return cexpr.expr(numbers(e, d), d)


def _indented(lines: list[str]) -> list[str]:
    return ["  " + line for line in lines]
