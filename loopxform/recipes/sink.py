"""Moving parallel loops inside sequential ones: forall i: { A; for k: S; B }
-> forall i: A; for k: forall i: S; forall i: B.

What the parts share is expanded first, what is the same for all iterations of the foralls is
hoisted. (Cholewa-Madsen and Holst, steps 3 and 4, listings 5 to 7; section 2.4.4.)
"""

from __future__ import annotations

from collections.abc import Iterator

from loopxform.ir.nodes import Decl, For, Stmt
from loopxform.ir.visit import LoopSite, Path, reads, resolve, writes
from loopxform.recipes.deriving import Work
from loopxform.transforms import Distribute, Expand, Hoist


def sink(
    w: Work, band: list[str], inside: frozenset[str], *, uniform: frozenset[str] = frozenset()
) -> list[str]:
    """Moves the loops `band` (perfectly nested foralls, outermost first) into every loop named in
    `inside` that they directly hold, and so on inwards; values named in `uniform` are the same for
    the whole band. Returns the storage that was expanded. Raises TransformError."""
    expanded: list[str] = []
    while (site := _next(w, band, inside)) is not None:
        body = site.loop.body
        common = tuple(s.name for s in body if isinstance(s, Decl) and s.name in uniform)
        if common:
            w.stage("What a group has in common")
            _hoist(w, site, len(band), common)
            continue
        parts = [s for s in body if not isinstance(s, Decl)]
        if len(body) == 1:
            w.stage("Listing 7: Interchanging inner parallelism inside sequential loops")
            for path in reversed(_band(site.path, len(band))):
                w.interchange(path)
            continue
        for name in _shared(body, inside):
            w.stage("Listing 5: Array expansion before distribution")
            w.do(Expand(name, tuple(band)))
            expanded.append(name)
        if len(parts) > 1:
            w.stage(f"Listing 6: Distributing parallel loops of indices {', '.join(band)}")
            refs = _refs(w, band, inside)
            w.do(Distribute(refs, tuple(s.var for s in _opened(tuple(parts), inside))))
    return expanded


def _next(w: Work, band: list[str], inside: frozenset[str]) -> LoopSite | None:
    """The first innermost loop of the band that holds one of the loops `inside`."""
    for site in resolve(w.fn, band[-1]):
        if site.loop.level is None and any(True for _ in _opened(site.loop.body, inside)):
            return site
    return None


def _opened(body: tuple[Stmt, ...], inside: frozenset[str]) -> Iterator[For]:
    return (s for s in body if isinstance(s, For) and s.var in inside)


def _band(path: Path, depth: int) -> list[Path]:
    """The paths of the loops of a band whose innermost is at `path`."""
    return [path[: len(path) - n] for n in range(depth - 1, -1, -1)]


def _refs(w: Work, band: list[str], inside: frozenset[str]) -> tuple[str, ...]:
    site = _next(w, band, inside)
    assert site is not None
    return tuple(w.ref(p) for p in _band(site.path, len(band)))


def _hoist(w: Work, site: LoopSite, depth: int, names: tuple[str, ...]) -> None:
    """Out of the loops of the band, innermost first; each move shifts what is further in."""
    for n in range(depth):
        path = site.path[: len(site.path) - n]
        w.do(Hoist(w.ref(path), names))


def _shared(body: tuple[Stmt, ...], inside: frozenset[str]) -> list[str]:
    """What the body declares and more than one of its parts uses, or a loop of `inside` at all:
    the band moves into that."""
    out = []
    for d in (s for s in body if isinstance(s, Decl)):
        users = [n for n, s in enumerate(body) if not isinstance(s, Decl) and _uses(s, d.name)]
        touched = body[users[0] : users[-1] + 1] if users else ()
        if any(True for _ in _opened(touched, inside)):
            out.append(d.name)
    return out


def _uses(s: Stmt, name: str) -> bool:
    return name in reads((s,)) | writes((s,))
