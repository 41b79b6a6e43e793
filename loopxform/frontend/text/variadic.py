"""`__VA_OPT__(tokens)` of C23: the tokens stay where a call of the macro has variable arguments.

    #define LOG(text, ...) log(text __VA_OPT__(,) __VA_ARGS__)

A definition that holds it is two macros, one for calls with variable arguments and one for those
without.
"""

from __future__ import annotations

from copy import copy
from typing import Any

_WORD = "__VA_OPT__"
_Above: Any = object


class Variadic(_Above):  # type: ignore[misc]  # pcpp has no types
    """A preprocessor of pcpp, which does not know the word."""

    def macro_prescan(self, macro: Any) -> None:
        """Prepares a macro that has parameters; calls make the forms that they need."""
        macro.forms = None
        if macro.variadic and any(t.value == _WORD for t in macro.value):
            macro.forms = {}
        else:
            super().macro_prescan(macro)

    def macro_expand_args(self, macro: Any, args: Any) -> Any:
        if macro.forms is None:
            return super().macro_expand_args(macro, args)
        kept = self._has_variable(macro, args[-1])
        if kept not in macro.forms:
            macro.forms[kept] = self._form(macro, kept=kept)
        return super().macro_expand_args(macro.forms[kept], args)

    def _form(self, macro: Any, *, kept: bool) -> Any:
        """The macro with the tokens of each `__VA_OPT__` (`kept`), or without them."""
        form, left = copy(macro), [copy(t) for t in macro.value]
        form.value = []
        while left:
            t = left.pop(0)
            if t.value != _WORD:
                form.value.append(t)
                continue
            taken = self.collect_args(left, True)[0] if left else 0
            before = next((b.value for b in reversed(form.value) if b.type not in self.t_WS), "")
            if not taken or before in ("#", "##") or [b.value for b in left[taken:][:1]] == ["##"]:
                message = f"macro {macro.name} has {_WORD} beside # or ##, or without parentheses"
                self.on_error(t.source, t.lineno, message)
            first = [b.value for b in left].index("(") + 1
            form.value += left[first : taken - 1] if kept else []
            del left[:taken]
        super().macro_prescan(form)
        return form

    def _has_variable(self, macro: Any, given: list[Any]) -> bool:
        """Whether a call has variable arguments."""
        if all(t.type in self.t_WS for t in given):
            return False
        expanded = self.expand_macros([copy(t) for t in given])
        if all(t.type in self.t_WS for t in expanded):
            message = f"macro {macro.name} is given arguments that are nothing once expanded"
            self.on_error(given[0].source, given[0].lineno, message)
        return True
