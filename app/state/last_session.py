"""The session as a small file: the scene, the form as it was typed, and whether it ended well."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from app.state.edits import Edits, Pairs
from app.state.fields import OF_SESSION, read, written
from app.state.scene import Scene
from core.errors import InputError
from core.studies.study import parse_study

VERSION = 1
MOST_BYTES = 5_000_000
MOST_PAIRS, LONGEST = 500, 500_000
NOT_OURS = "it is no session of this program"


@final
@dataclass(frozen=True, slots=True)
class LastSession:
    """`ended`: the window was closed, and not killed."""

    scene: Scene
    ended: bool = True


def session_text(session: LastSession) -> str:
    """A session as JSON."""
    form = session.scene.form
    return json.dumps(
        {
            "version": VERSION,
            "ended": session.ended,
            "scene": written(session.scene, OF_SESSION),
            "form": None if form is None else _form_table(form),
        },
        indent=1,
    )


def _form_table(form: Edits) -> dict[str, Any]:
    base = form.base
    return {
        "study": base.id,
        "folder": str(base.folder) if base.folder is not None else None,
        "text": base.to_toml(),
        "kinds": form.kinds,
        "texts": form.texts,
        "latest": form.latest,
        # Of a recorded run: a study file has no word for settings that are not known.
        "unknown": sorted(base.unknown),
        "optimizer": base.optimizer,
    }


def parse_session(text: str) -> LastSession:
    """A session from its text. Raises InputError for what `session_text` cannot have written."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("version") != VERSION:
            raise TypeError
        scene, form = document["scene"], document["form"]
        if not isinstance(scene, dict) or not isinstance(document["ended"], bool):
            raise TypeError
        for texts in scene.values():
            if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
                raise TypeError
        edits = None if form is None else _edits_of(form)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(NOT_OURS) from error
    return LastSession(read(scene, Scene(form=edits), OF_SESSION, "session"), document["ended"])


def _edits_of(table: dict[str, Any]) -> Edits:
    name, folder, text = table["study"], table["folder"], table["text"]
    if not isinstance(name, str) or not isinstance(text, str):
        raise TypeError
    if folder is not None and not isinstance(folder, str):
        raise TypeError
    base = parse_study(text, name, None if folder is None else Path(folder))
    unknown, optimizer = table.get("unknown", []), table.get("optimizer", "")
    if not _are_texts(unknown) or not isinstance(optimizer, str) or len(optimizer) > LONGEST:
        raise TypeError
    base = replace(base, unknown=frozenset(unknown), optimizer=optimizer)
    latest = table["latest"]
    if not _are_texts(latest):
        raise TypeError
    return Edits(base, _pairs(table["kinds"]), _pairs(table["texts"]), tuple(latest[:MOST_PAIRS]))


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)


def _pairs(values: Any) -> Pairs:
    if not isinstance(values, list) or len(values) > MOST_PAIRS:
        raise TypeError
    pairs = []
    for key, value in values:
        if not isinstance(key, str) or not isinstance(value, str) or len(value) > LONGEST:
            raise TypeError
        pairs.append((key, value))
    return tuple(pairs)
