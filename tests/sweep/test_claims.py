"""Claims: their format, their measures by closed forms, and the verdicts."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.errors import InputError
from core.studies.cell_table import Row
from core.studies.measures.registry import measure
from core.studies.study import Study, parse_study
from core.studies.trials import Trial, select_trials, trials_of
from core.studies.verdicts import judge
from tests.support.small_studies import BASE, QUICK

HALVES = """
[[claims]]
text = "The risk falls."
measure = "risk / risk_0"
over = "max"
compare = "<="
value = 1.0

[[claims]]
text = "It does not."
measure = "risk"
against = { measure = "risk_0" }
relation = "difference"
compare = ">="
value = 0.0

[[claims]]
text = "Only in the paper."
measure = "risk"
where = { "data.n" = 8 }
compare = "~"
value = 0.0
sizes = ["paper"]
reason = "too few steps"
"""


def power_law(rate: float) -> tuple[Study, tuple[Trial, ...]]:
    """Test errors that fall with ln n through .1 at n* = 1.25 d^rate; seeds do not differ."""
    text = BASE.format(until=0.5) + (
        '[axes]\n"data.d" = [4, 8, 16]\n"data.n" = [2, 8, 32, 128, 512]\n"run.seed" = [0, 1]\n'
    )
    study = parse_study(text, "law")
    rows = {}
    for cell in study.cells():
        d, n = cell.values["data.d"], cell.values["data.n"]
        # log-linear in n between grid points is what the interpolation assumes
        error = 0.1 - 0.05 * (math.log(n) - math.log(1.25 * d**rate))
        rows[cell.name] = Row(cell.name, "done", "completed", values={"test_error": error})
    return study, trials_of(study, rows, {name: Path(name) for name in rows})


def claim(text: str) -> Study:
    return parse_study(QUICK + '[[claims]]\ntext = "t"\n' + text, "quick")


@pytest.mark.parametrize("rate", [1.0, 2.0])
def test_the_crossing_slope_of_a_power_law_is_its_rate(rate: float) -> None:
    _, trials = power_law(rate)
    options = 'options = { y = "test_error", along = "data.n", x = "data.d", level = 0.1 }'
    ask = claim(f'measure = "crossing_slope"\n{options}\ncompare = "~"\nvalue = 1.0').claims[0]
    found = measure(trials, ask)
    assert found.value == pytest.approx(rate, abs=1e-9)
    assert found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high
    one = claim(
        f'measure = "crossing"\n{options}\nwhere = {{ "data.d" = 8 }}\ncompare = "~"\nvalue = 1.0'
    ).claims[0]
    assert measure(select_trials(trials, one), one).value == pytest.approx(1.25 * 8.0**rate)


def test_shares_and_ranks() -> None:
    _, trials = power_law(1.0)
    share = claim(
        'measure = "share"\noptions = { of = "test_error", below = 0.0 }\n'
        'compare = "~"\nvalue = 0.5'
    ).claims[0]
    values = np.array([trial.value("test_error", None) for trial in trials])
    assert measure(trials, share).value == np.mean(values < 0.0)
    text = 'measure = "spearman"\noptions = { y = "test_error", x = "data.n" }\n'
    rank = claim(text + 'where = { "data.d" = 8 }\ncompare = "<="\nvalue = 0.0').claims[0]
    assert measure(select_trials(trials, rank), rank).value == pytest.approx(-1.0)


def test_an_unknown_measure_is_told_with_those_there_are() -> None:
    _, trials = power_law(1.0)
    ask = claim('measure = "no_such"\ncompare = "~"\nvalue = 0.0').claims[0]
    with pytest.raises((InputError, FileNotFoundError)):
        measure(trials, ask)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('measure = "risk"\ncompare = "<"\nvalue = 1', "allowed: >=, <=, ~"),
        ('measure = "risk"\ncompare = "~"', "value is missing"),
        ('measure = "risk"\ncompare = "~"\nvalue = 1\nover = "all"', "allowed: mean"),
        ('measure = "risk"\ncompare = "~"\nvalue = 1\nsizes = ["paper"]', "needs a reason"),
        ('measure = "risk"\ncompare = "~"\nvalue = 1\nagainst = {}', "go together"),
        ('measure = "risk"\ncompare = "~"\nvalue = 1\ntol = 1', "tol does not exist"),
    ],
)
def test_what_is_no_claim_is_refused(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        claim(text)


def test_a_study_with_claims_reads_back_from_its_toml() -> None:
    study = parse_study(QUICK + HALVES + '[sweep]\ncolumns = ["risk"]\n', "quick")
    again = parse_study(study.to_toml(), "quick")
    assert (again.claims, again.sweep) == (study.claims, study.sweep)


def test_verdicts() -> None:
    study, trials = power_law(1.0)
    values = [trial.value("test_error", None) for trial in trials]
    bounds = [(">=", min(values)), (">=", min(values) + 1.0), ("~", max(values))]
    claims = "".join(
        f'[[claims]]\ntext = "t"\nmeasure = "test_error"\nover = "min"\ncompare = "{sign}"\n'
        f"value = {value}\ntolerance = 1e-9\n"
        for sign, value in bounds
    )
    told = [one.verdict for one in judge(parse_study(QUICK + claims, "q"), trials, None)]
    assert told == ["confirmed", "refuted", "refuted"]
    assert [one.verdict for one in judge(study, trials, None)] == []


def test_check_runs_a_study_and_judges_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "halves.toml"
    sizes = '[sizes.quick]\n"dynamics.until_log10_time" = 0.5\n'
    file.write_text(QUICK + sizes + HALVES)
    out = str(tmp_path / "out")
    arguments = ["check", str(file), "--out", out, "--json", "--quiet", "--jobs", "1"]
    assert main(arguments) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["verdict"] for one in told] == ["confirmed", "refuted", "not at this size"]
    assert {"text", "measured", "tolerance", "verdict"} <= told[0].keys()
    assert 0.0 < told[0]["measured"] < 1.0
    assert told[1]["measured"] < 0.0
    assert told[2]["why"] == "too few steps"
    assert main(["check", out, "--json"]) == 1  # reads what is there
    assert json.loads(capsys.readouterr().out) == told
    assert main(["check", str(tmp_path)]) == 2


def test_values_of_nodes(tmp_path: Path) -> None:
    from core.observables.registry import OBSERVABLES
    from core.runs import open_run
    from core.sweep.control import SweepControl
    from core.sweep.loop import sweep
    from core.sweep.plan import plan
    from core.sweep.pools import InProcessPool

    study = parse_study(QUICK, "quick").with_settings(["data.n=16"])
    made, control = plan(study, tmp_path), SweepControl()
    assert [*sweep(made, InProcessPool(control.cell), control)][-1].done == 2
    rows = {name: entry.row for name, entry in made.ledger.entries.items()}
    trials = trials_of(study, rows, made.paths)
    least = []
    for path in made.paths.values():
        with open_run(path) as run:
            least.append(float(np.min(OBSERVABLES["rotation"].value_at(run, run.frames - 1))))
    text = 'measure = "nodes"\noptions = { of = "rotation", by = "min" }\nover = "max"\n'
    ask = claim(text + 'compare = "~"\nvalue = 1').claims[0]
    assert measure(trials, ask).value == max(least)
    below = (
        'measure = "nodes"\noptions = { of = "rotation", below = 2.0 }\ncompare = "~"\nvalue = 1'
    )
    assert measure(trials, claim(below).claims[0]).value == 1.0
    with pytest.raises(InputError, match="is not a value of each neuron"):
        trials[0].nodes("risk", None)
