"""Links with absurd zooms and times, opened in a window: shown or refused, and never waited for."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from app.application import Marginscope
from tests.tools.fuzz.window import WORST, links, open_link, watchdog

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
