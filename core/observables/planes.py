"""Planes of the input space on which a run's neurons and data are drawn, and their text form.

This module does not load the numerical packages: a window's menu needs the titles before it has a
run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import Any, final

from core.errors import InputError
from core.settings import Registry


@final
@dataclass(frozen=True, slots=True)
class NodePlane:
    """Choice of a plane: a kind of PLANES, and the numbers that the kind takes."""

    kind: str = "coordinates"
    numbers: tuple[int, ...] = (0, 1)


@final
@dataclass(frozen=True, slots=True)
class PlaneKind:
    """Way to choose a plane.

    `maker` takes (run, numbers) and returns a `core.observables.projection.Axes`, or raises
    InputError that says why the run has no such plane; "module:name" is imported at first use.
    """

    name: str
    title: str
    maker: str | Callable[[Any, tuple[int, ...]], Any]

    def load(self) -> Callable[[Any, tuple[int, ...]], Any]:
        """Return the function that makes the plane of a run."""
        if not isinstance(self.maker, str):
            return self.maker
        module, _, name = self.maker.partition(":")
        factory: Callable[[Any, tuple[int, ...]], Any] = getattr(import_module(module), name)
        return factory


PAIR = re.compile(r"([0-9]{1,9}),([0-9]{1,9})", re.ASCII)
COORDINATES = NodePlane()
HERE = f"{__package__}.projection"
PLANES: Registry[PlaneKind] = Registry(
    attrgetter("name"),
    PlaneKind("coordinates", "Two coordinates", f"{HERE}:coordinates"),
    PlaneKind("motion", "Principal directions of the motion", f"{HERE}:motion"),
    PlaneKind("means", "Class means", f"{HERE}:class_means"),
    PlaneKind("components", "Principal components of the data", f"{HERE}:components"),
    PlaneKind("nodes", "Span of two pinned neurons", f"{HERE}:nodes"),
)


# Planes without numbers in their name.
ALONE = tuple(name for name in PLANES if name not in (COORDINATES.kind, "nodes"))


def parse_plane(text: str) -> NodePlane:
    """Parse the text of a plane.

    Allowed: a kind; two coordinates counted from 1, as on the axes; the span of two neurons counted
    from 0, such as nodes:3,7. Raises InputError for anything else.

    >>> parse_plane("motion"), parse_plane("3, 7")
    (NodePlane(kind='motion', numbers=()), NodePlane(kind='coordinates', numbers=(2, 6)))
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts):
        # Cut: longer numbers are invalid, and slow to parse.
        first, second = (int(part[:9]) - 1 for part in parts)
        if min(first, second) >= 0:
            return NodePlane(COORDINATES.kind, (first, second))
    pair = text.removeprefix("nodes:")
    if pair != text and (match := PAIR.fullmatch(pair)):
        return NodePlane("nodes", (int(match[1]), int(match[2])))
    if text not in ALONE:
        raise InputError(
            f"{text[:40]!r} is not a plane; give {', '.join(ALONE)}, or two coordinates such as "
            "1,2."
        )
    return NodePlane(text, ())
