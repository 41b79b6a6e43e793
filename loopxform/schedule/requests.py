"""What a user may ask of tiling, by name: one table for the command line and for annotations.

--Ty 16 --recipe block --pad          #pragma loopxform tile(Ty=16, recipe=block, pad)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopxform.errors import AnnotationError, LoopxformError, UsageError
from loopxform.ir.annotations import Annotation
from loopxform.ir.nodes import For, Function
from loopxform.ir.types import INT_MAX
from loopxform.ir.visit import Path, enclosing, walk
from loopxform.ir.written import LARGEST_TILE, whole
from loopxform.nearest import did_you_mean
from loopxform.records import record
from loopxform.schedule.option_texts import FLAGS
from loopxform.schedule.params import NAMES, PLAIN, RECIPES, Options, Recipe
from loopxform.schedule.used_options import require_taken
from loopxform.source import Loc
from loopxform.transforms.latency.asynchronous import MOST_BUFFERS
from loopxform.transforms.latency.vectorise import WIDTHS

RECIPE_NAMES = ("recipe", "variant")
_FLAGGED = {
    "pad": Options(pad=True),
    "no-pad": Options(pad=False),
    "preload": Options(preload=True),
    "no-preload": Options(preload=False),
    "async-copies": Options(asynchronous=True),
    "edge-versions": Options(versions=True),
    "reassociate": Options(reassociate=True),
}


@record
class Wish:
    """What is asked of one nest, or of all: tile sizes, a recipe (None: any that fits), options;
    the `annotation` that asks for it, None where the command line or a call does."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    recipe: Recipe | None = None
    options: Options = PLAIN
    annotation: Annotation | None = None

    @property
    def strict(self) -> bool:
        """Whether a recipe that does not fit is an error."""
        return self.recipe is not None and self.recipe != "naive"

    def over(self, other: Wish) -> Wish:
        """Both wishes, this one where they differ."""
        mine, theirs = self.options, other.options
        options = Options(
            pad=theirs.pad if mine.pad is None else mine.pad,
            preload=theirs.preload if mine.preload is None else mine.preload,
            asynchronous=mine.asynchronous or theirs.asynchronous,
            versions=mine.versions or theirs.versions,
            layouts=theirs.layouts if mine.layouts is None else mine.layouts,
            chunks=theirs.chunks if mine.chunks is None else mine.chunks,
            reassociate=mine.reassociate or theirs.reassociate,
            vector=theirs.vector if mine.vector is None else mine.vector,
            narrow=theirs.narrow if mine.narrow is None else mine.narrow,
            lanes=theirs.lanes if mine.lanes is None else mine.lanes,
            fixed=tuple({**dict(theirs.fixed), **dict(mine.fixed)}.items()),
            bands=theirs.bands if mine.bands is None else mine.bands,
            stages=theirs.stages if mine.stages is None else mine.stages,
            serpentine=theirs.serpentine if mine.serpentine is None else mine.serpentine,
            cyclic=theirs.cyclic if mine.cyclic is None else mine.cyclic,
            pack=theirs.pack if mine.pack is None else mine.pack,
        )
        return Wish(
            {**other.sizes, **self.sizes},
            self.recipe or other.recipe,
            options,
            self.annotation or other.annotation,
        )

    def unmet(self, e: LoopxformError) -> LoopxformError:
        """The error where the wish cannot be met: that of the annotation, if it was one's."""
        a = self.annotation
        if a is None:
            return e
        return AnnotationError(
            f"{a.text} cannot be met: {e.message}",
            loc=a.loc,
            code="LX401",
            width=a.width,
            notes=((f"{e.loc} [{e.code}]",) if e.loc else ()) + e.notes,
            help=e.help,
        )


# ---------------------------------------------------------------- by name


def wish(options: Mapping[str, str]) -> Wish:
    """The wish of options as they are written, by name. Raises UsageError with the name as its
    subject."""
    out = Wish()
    for name, text in options.items():
        out = _with(out, name, text)
    require_taken((name for name in options if name not in RECIPE_NAMES), (out.recipe,))
    return out


def _with(w: Wish, name: str, text: str) -> Wish:
    if name in NAMES:
        return replace(w, sizes={**w.sizes, name: number(name, text)})
    if name in FLAGS:
        if text:
            raise UsageError(f"{name} takes no value", help=f"write {name} alone", subject=name)
        return Wish(options=_FLAGGED[name]).over(w)
    found = _OTHERS.get(name)
    if found is None:
        raise UsageError(f"tile has no option '{name}'", help=_nearest(name), subject=name)
    return found(w, text)


def _with_recipe(w: Wish, text: str) -> Wish:
    if text == "auto":
        return replace(w, recipe=None)
    chosen = next((r for r in RECIPES if r == text), None)
    if chosen is None:
        known = ("auto", *RECIPES)
        help = f"{did_you_mean(text, known)}the recipes are: {', '.join(known)}"
        raise UsageError(f"there is no recipe '{text}'", help=help, subject="recipe")
    return replace(w, recipe=chosen)


def _with_chunks(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, chunks=number("Rk", text)))


def _with_layouts(w: Wish, text: str) -> Wish:
    parts = () if text == "none" else text.split(";")
    found = tuple(layout(part.strip(), "manifest") for part in parts)
    return replace(w, options=replace(w.options, layouts=found))


def _with_vector(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, vector=vector("vector", text)))


def _with_index(w: Wish, text: str) -> Wish:
    if text not in ("32", "64"):
        raise UsageError("offsets have 32 or 64 bits", help="index=32", subject="index")
    return replace(w, options=replace(w.options, narrow=text == "32"))


def _with_stages(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, stages=stages("stages", text)))


def _with_fixed(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, fixed=fixed("specialise", [text])))


def _with_bands(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, bands=number("group-order", text)))


def _with_serpentine(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, serpentine=rows("serpentine", text)))


def _with_cyclic(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, cyclic=number("cyclic", text)))


def _with_pack(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, pack=iterations("pack", text)))


def _with_lanes(w: Wish, text: str) -> Wish:
    return replace(w, options=replace(w.options, lanes=lanes("item-layout", text)))


_OTHERS: dict[str, Callable[[Wish, str], Wish]] = {
    "recipe": _with_recipe,
    "variant": _with_recipe,
    "Rk": _with_chunks,
    "manifest": _with_layouts,
    "vector": _with_vector,
    "index": _with_index,
    "item-layout": _with_lanes,
    "stages": _with_stages,
    "specialise": _with_fixed,
    "group-order": _with_bands,
    "serpentine": _with_serpentine,
    "cyclic": _with_cyclic,
    "pack": _with_pack,
}


def _nearest(name: str) -> str:
    known = (*NAMES, *_OTHERS, *FLAGS)
    return f"{did_you_mean(name, known)}the options are: {', '.join(known)}"


def number(option: str, text: str) -> int:
    """A size. Raises UsageError."""
    return whole(option, text, 1, LARGEST_TILE, "16")


def rows(option: str, text: str) -> int:
    """Rows of a register tile, 0 for none. Raises UsageError."""
    return whole(option, text, 0, LARGEST_TILE, "2")


def iterations(option: str, text: str) -> int:
    """Iterations for which copies are made, 0 for never. Raises UsageError."""
    return whole(option, text, 0, LARGEST_TILE, "1920")


def stages(option: str, text: str) -> int:
    """The buffers of a tile. Raises UsageError."""
    return whole(option, text, 1, MOST_BUFFERS, "2")


def fixed(option: str, texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Sizes that become numbers, `M=4096,N=U=512`. Raises UsageError."""
    out: dict[str, int] = {}
    for part in (p.strip() for text in texts for p in text.split(",")):
        *names, value = part.split("=")
        if not (names and all(n.isidentifier() for n in names)):
            help = f"{option} M=4096,N=512"
            raise UsageError(
                f"'{part}' is not NAME=NUMBER", code="LX023", help=help, subject=option
            )
        out |= dict.fromkeys(names, whole(option, value, 0, INT_MAX, f"{names[0]}=4096"))
    return tuple(out.items())


def vector(option: str, text: str) -> int:
    """The elements of a vector. Raises UsageError."""
    if text not in ("1", *WIDTHS):
        message = f"no vector has {text} elements"
        raise UsageError(message, help=f"use 1, {', '.join(WIDTHS)}", subject=option)
    return int(text)


def lanes(option: str, text: str) -> tuple[int, int]:
    """`4x8`: rows and columns. Raises UsageError."""
    rows, _, columns = text.partition("x")
    if all(n.isascii() and n.isdecimal() and len(n) < 5 for n in (rows, columns)):
        return int(rows), int(columns)
    raise UsageError(f"'{text}' is no rectangle", help="rows x columns: 4x8", subject=option)


def layout(text: str, option: str) -> tuple[str, str]:
    """`A:1,0`. Raises UsageError."""
    array, _, order = text.partition(":")
    if array and order and all(n.strip().isdecimal() for n in order.split(",")):
        return array.strip(), ",".join(n.strip() for n in order.split(","))
    example = "--manifest A:1,0" if option.startswith("--") else "manifest(A:1,0)"
    raise UsageError(
        f"'{text}' is no layout",
        help=f"an array and its dimensions in order: {example}",
        subject=option,
    )


# ---------------------------------------------------------------- by loop


@dataclass
class Wishes:
    """What is asked of the nests of a function: `common` of all, `at` of those that hold the loop
    that is written at a place, or stand in it. `met` are the places of loops that were mapped."""

    common: Wish = field(default_factory=Wish)
    at: Mapping[Loc, Wish] = field(default_factory=dict)
    met: set[Loc] = field(default_factory=set)

    def of(self, fn: Function, path: Path) -> Wish:
        """What is asked of the nest at `path`: of its outermost loop that is annotated, else of
        the nearest around it."""
        found = self._places(fn, path)
        return self.at[found[0]] if found else self.common

    def meet(self, fn: Function, path: Path) -> None:
        """The nest at `path` was mapped as asked."""
        self.met.update(self._places(fn, path))

    def _places(self, fn: Function, path: Path) -> list[Loc]:
        parents = enclosing(fn, path)
        inside = [s for _, s in walk((parents[-1],)) if isinstance(s, For)]
        around = [s for s in reversed(parents[:-1]) if isinstance(s, For)]
        places = (s.origin.loc for s in (*inside, *around))
        return [p for p in places if p is not None and p in self.at]

    @property
    def left(self) -> tuple[tuple[Loc, Wish], ...]:
        """The loops that are in no nest that was mapped, and what is asked of these."""
        return tuple((p, w) for p, w in self.at.items() if p not in self.met)
