"""A fixed sample of random studies: none is violated, not finite, or an internal error.

`make hunt` does the same for hundreds of them. Each kind of each section comes up in the sample.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from core.observables.registry import OBSERVABLES
from core.runs import open_run
from core.studies.study import parse_study
from core.study_file.experiment import KINDS
from core.theorems.registry import STATEMENTS
from tests.tools.hunt import chase as chasing
from tests.tools.hunt.__main__ import Counts
from tests.tools.hunt.chase import DEFECTS, VIOLATED, Found, chase
from tests.tools.hunt.studies import FOCI, drawn
from tests.tools.hunt.undefined_frames import INFINITE, UNDEFINED, not_finite

SEED = 27
# The cheapest studies of this seed in which every kind of every section comes up.
QUICK = {3, 4, 7, 10, 14, 15, 16, 17, 18, 19, 20, 22, 25, 27, 29, 32, 33, 38, 39, 40, 43, 45, 49}
QUICK |= {52, 53, 54, 55, 56}
ALL_KINDS = {(section, kind) for section, kinds in KINDS.items() for kind in kinds}


def chase_studies(
    numbers: Iterable[int], folder: Path, subtests: pytest.Subtests
) -> set[tuple[str, str]]:
    """Check random studies, each with little time; the kinds that they have."""
    seen: set[tuple[str, str]] = set()
    for number in numbers:
        place = folder / str(number)
        place.mkdir()
        with subtests.test(study=number, about=FOCI[number]), pytest.MonkeyPatch.context() as patch:
            patch.setattr(chasing, "TRAINING_S", 1.0)
            patch.setattr(chasing, "MARGIN_S", 0.2)
            found = chase(SEED, number, place)
            section, kind = FOCI[number]
            assert found.kinds[section] == kind
            assert [pair for pair in found.defects if pair[0] in DEFECTS] == []
            # The papers' statements are about labels, and about other networks than these.
            silent = found.kinds["network"] in ("multiclass", "custom", "quadratic")
            assert found.verdicts or silent or found.kinds["loss"] == "least_squares"
            seen |= set(found.kinds.items())
    return seen


def test_the_program_is_right_about_random_studies(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    assert chase_studies(sorted(QUICK), tmp_path, subtests) >= ALL_KINDS


@pytest.mark.slow
def test_the_program_is_right_about_further_random_studies(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    """With the studies above, one study has each kind of each section as its subject."""
    others = sorted({*range(len(FOCI))} - QUICK)
    assert others
    chase_studies(others, tmp_path, subtests)


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        pytest.param(3407, 34, id="a flow into zero weights"),
        pytest.param(3407, 135, id="a Hessian on which divide and conquer fails"),
        pytest.param(3407, 192, id="points, whose number is their own"),
        pytest.param(3407, 256, id="single precision beyond double"),
        pytest.param(9091, 105, id="features beyond what HiGHS takes for infinite"),
        pytest.param(9091, 331, id="weights with squares beyond float64"),
        pytest.param(9091, 386, id="a curvature beyond float64"),
        pytest.param(777, 437, id="an objective that is 0"),
        pytest.param(20261126, 431, id="at rest after the last comparison"),
    ],
)
def test_defects_that_a_hunt_found_stay_mended(seed: int, number: int, tmp_path: Path) -> None:
    assert chase(seed, number, tmp_path).defects == []


def test_every_kind_has_its_turn() -> None:
    assert {kind for _, kind in FOCI} == {kind for kinds in KINDS.values() for kind in kinds}


def test_a_study_is_drawn_alike_and_is_valid(tmp_path: Path) -> None:
    """Twice the same, and another seed draws another; the file is the study, without its place."""
    texts = []
    for place, seed in (("one", 1), ("two", 1), ("three", 2)):
        folder = tmp_path / place
        folder.mkdir()
        study = drawn(seed, 0, folder).study
        texts.append((folder / "study.toml").read_text())
        assert parse_study(texts[-1], "study", folder.resolve()) == study
    assert texts[0] == texts[1]
    assert texts[1] != texts[2]


def test_what_may_be_undefined_is_there() -> None:
    assert set(UNDEFINED) <= set(OBSERVABLES)
    assert {(one.source, one.name) for one in STATEMENTS.values()} >= INFINITE


def test_a_number_that_is_none_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check sees a NaN where the definition has a number, and lets one be where it has none."""
    found = chase(SEED, FOCI.index(("dynamics", "gd")), tmp_path)
    assert found.defects == []
    with open_run(tmp_path / "run.msrun") as run:
        assert not_finite(run, "distance") == ""
        run.memo.clear()
        monkeypatch.setattr(type(run.network), "physical", _nothing)
        assert not_finite(run, "distance").startswith("distance of frame 0")


def _nothing(network: object, flat: np.ndarray, rho: float) -> np.ndarray:
    return flat * np.nan


def test_defects_of_every_kind_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An exception, and a warning, are internal errors with their place; the table counts them."""
    monkeypatch.setattr(chasing, "find_alarms", _broken)
    monkeypatch.setattr(chasing, "facts", _warning)
    found = chase(SEED, FOCI.index(("dynamics", "gd")), tmp_path)
    wrong = [line for kind, line in found.defects if kind == "internal error"]
    assert [line.split(" (")[0] for line in wrong] == [
        "info: RuntimeWarning: divide by zero encountered in log",
        "alarms: ZeroDivisionError: division by zero",
    ]
    counts = Counts()
    line = {**vars(found), "defects": [*found.defects, (VIOLATED, "made up")]}
    counts.add(line)
    assert counts.outcomes == {"internal error": 1, VIOLATED: 1}
    assert len(counts.lines) == 3
    counts.add(vars(Found(1)))
    assert counts.outcomes["nothing wrong"] == 1


def _broken(run: object) -> float:
    return 1 / 0


def _warning(run: object) -> float:
    return float(np.log(np.zeros(1))[0])
