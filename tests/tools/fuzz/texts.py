"""Formats of texts: links, view files, sessions, searches, formulas, pasted points."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path
from typing import final

from app.scenes.scene import Scene, Zoom
from app.scenes.scene_texts import link_of, parse_link, parse_view, view_text, with_absolute_paths
from app.scenes.session_keeper import LastSession, parse_session, session_text
from app.state.intent import Intent
from app.training.study_edits import Edits
from core.data.points import parse_points
from core.errors import InputError
from core.files import read_text
from core.observables.planes import NodePlane
from core.studies.formulas import evaluate
from core.studies.study import parse_study
from tests.support.made_up_library import chosen, many_entries
from tests.support.mutations import damaged_text
from tests.tools.fuzz.format import Format, WrongError

SCENE = Scene(
    runs=(Path("/runs/a b.msrun"), Path("/runs/c.msrun")),
    intent=Intent(
        cursor=2.5,
        views=("neurons", "margins", "curves"),
        curves=("hard_margin", "risk"),
        pinned=frozenset({(0, 3), (0, 4), (1, 7)}),
        plane=NodePlane("coordinates", (1, 3)),
        interval=(1.0, 2.0),
        log_curves=True,
    ),
    zooms=(Zoom(1, "neurons", -1.5, 2.25, 0.0, 1e-3),),
)
STUDY = 'title = "S"\n[data]\nd = 4\nn = 10\n[network]\nm = 3\n'


class TextFormat(Format):
    """Format that is damaged as a text."""

    def damage(self, data: bytes, chance: random.Random) -> bytes:
        return damaged_text(data, chance)


class OneOfTexts(TextFormat):
    """Format of one text, with several whole texts of which one is damaged at a time."""

    texts: tuple[str, ...] = ()

    def files(self, folder: Path) -> dict[str, bytes]:
        return {f"{k}": text.encode() for k, text in enumerate(self.texts)}

    @final
    def damaged(self, files: dict[str, bytes], chance: random.Random) -> dict[str, bytes]:
        name = chance.choice([*files])
        return {name: self.damage(files[name], chance)}

    @final
    def each(self, files: dict[str, bytes]) -> list[str]:
        return [*files]


def text_of(path: Path) -> str:
    """Return bytes as the text that a command line or clipboard would pass."""
    return path.read_bytes().decode("utf-8", "surrogateescape")


@final
class LinkText(TextFormat):
    """Link: refused, or read as a picture that survives writing and reading."""

    name, count = "link", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        return {"a.link": link_of(SCENE).encode()}

    def open(self, path: Path) -> None:
        scene = parse_link(text_of(path), Scene())
        if parse_link(link_of(scene), Scene()) != scene:
            raise WrongError("another picture when it is copied")
        with_absolute_paths(scene)


@final
class ViewFile(TextFormat):
    """A view file beside its runs."""

    name, count = "view", 400

    def files(self, folder: Path) -> dict[str, bytes]:
        return {"a.msview": view_text(SCENE, Path("/runs")).encode()}

    def open(self, path: Path) -> None:
        text = read_text(path, 200_000, "view file")
        scene = parse_view(text, path.parent, Scene(), path.name)
        again = parse_view(view_text(scene, path.parent), path.parent, Scene(), path.name)
        if again != scene:
            raise WrongError("another picture when it is saved")


@final
class SessionFile(TextFormat):
    """Session with a partly filled form."""

    name, count = "session", 500

    def files(self, folder: Path) -> dict[str, bytes]:
        form = Edits(parse_study(STUDY, "s"), (), (("network.m", "7"), ("data.n", "1e")), ())
        scene = Scene(SCENE.runs, form, SCENE.intent, SCENE.zooms)
        return {"session.json": session_text(LastSession(scene, ended=False)).encode()}

    def open(self, path: Path) -> None:
        session = parse_session(read_text(path, 5_000_000, "session"))
        again = parse_session(session_text(session))
        if (again.scene.runs, again.scene.intent, again.scene.zooms, again.ended) != (
            session.scene.runs,
            session.scene.intent,
            session.scene.zooms,
            session.ended,
        ):
            raise WrongError("another session when it is written")


@final
class PastedPoints(OneOfTexts):
    """Points of the clipboard: every number between commas equals Python's own."""

    name, count = "pasted points", 400

    def files(self, folder: Path) -> dict[str, bytes]:
        rows = [(k / 7 - 1, -k * 1e-3, 1 if k % 3 else -1) for k in range(12)]
        tables = {"commas": ",", "tabs": "\t", "semicolons": ";", "blanks": " "}
        found = {
            name: "\n".join(mark.join(map(repr, row)) for row in rows).encode()
            for name, mark in tables.items()
        }
        found["header"] = b"x1,x2,y\n" + found["commas"]
        found["words"] = b"0,5; 1; cat\n0,25; 2; dog\n1e-2; -3; cat\n"
        return found

    def open(self, path: Path) -> None:
        points = parse_points(text_of(path)).points
        assert all(math.isfinite(value) and len(row) in (2, 3) for row in points for value in row)
        assert {row[-1] for row in points} <= {-1.0, 1.0}
        if path.name == "commas":
            lines = [line.strip() for line in text_of(path).splitlines()]
            lines = [line for line in lines if line and not line.startswith("#")]
            rows = [*csv.reader(lines, quoting=csv.QUOTE_NONE)]
            rows = rows[len(rows) - len(points) :]
            for told, row in zip(points, rows, strict=True):
                plain = [text.strip(" \"'").replace("\u2212", "-") for text in row[:-1]]
                if tuple(map(float, plain)) != told[:-1]:
                    raise WrongError(f"{told} of {row}")


@final
class SearchText(OneOfTexts):
    """Searches of the library that match some of its runs."""

    name, count = "search", 300
    entries = many_entries(40)
    texts = (
        'm >= 256 and hard_margin > .9 * gamma_gl / 2 or tag == "talk"',
        'share > 90 / 100 and date >= "2026-11" and not tag == "talk"',
        'dynamics == "gd" and (step < .1 or log10_risk < -20) and size < 20 MB',
        '"figure 1" flow talk',
        "2 <= seed <= 2^3 - 1 and log10(m) > 1",
    )

    def open(self, path: Path) -> None:
        found = chosen(self.entries, text_of(path))
        assert set(map(id, found)) <= set(map(id, self.entries))


@final
class FormulaText(OneOfTexts):
    name, count = "formula", 300
    texts = ("3.2 * d / (m + d)", "min(2 d, d^2) - ln(n)", "round(sqrt(2 * d)) ^ -2", "m")

    def open(self, path: Path) -> None:
        value = evaluate(text_of(path), {"d": 20.0, "m": 44.0, "n": 100.0})
        assert math.isfinite(value)


def refused(text: str) -> bool:
    """Return True if a link in the notes is refused, which is reported when it is shown."""
    try:
        parse_link(text, Scene())
    except InputError:
        return True
    return False
