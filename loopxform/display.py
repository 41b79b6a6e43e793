"""What notebooks show of an object, made where it is asked for."""

from __future__ import annotations


class Shown:
    """Whatever a notebook displays as HTML. `report.notebook` makes it: that knows all of them, and
    they need nothing of it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """A piece of HTML that needs nothing else, for IPython."""
        from importlib import import_module  # loads what only a notebook needs

        html: str = import_module("loopxform.report.notebook").html(self)
        return html
