"""Absurd links and damaged files, opened in a window: shown or refused, and never waited for."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from tests.app.shell.absurd_links import WORST, links, open_link, watchdog
from tests.support.run_files import tamper

FEW = 1  # that chance makes; `make fuzz` opens 500


def test_absurd_links_are_opened_or_refused(
    program: Marginscope, subtests: pytest.Subtests
) -> None:
    paths = [Path(run.source) for run in program.session]
    outcomes = []
    for link in islice(links(paths), len(WORST) + FEW):
        with subtests.test(link=link), watchdog():
            outcomes.append(open_link(program, link))
            assert outcomes[-1] in ("opened", "refused")
    assert {"opened", "refused"} == set(outcomes)


def test_a_run_that_fails_at_its_first_frame_leaves_the_theory_panel_empty(
    program: Marginscope, tmp_path: Path, qtbot: QtBot
) -> None:
    whole = Path(next(iter(program.session)).source)
    damaged = tmp_path / "damaged.msrun"
    damaged.write_bytes(whole.read_bytes())
    tamper(damaged, "UPDATE frame SET crc32 = crc32 + 1 WHERE idx = 0")
    program.files.open_files([str(damaged)])
    qtbot.waitUntil(lambda: any(run.failure for run in program.session))
    program.display.update_intent(
        hidden_margins=frozenset({"gamma_gl"})
    )  # which shows the panel again
    qtbot.waitUntil(lambda: "checksum of frame 0" in program.window.bar.text)
