"""Measures of claims by second routes: brute force, SciPy, the observables themselves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr, t

from core.errors import InputError
from core.observables.registry import OBSERVABLES
from core.runs import open_run
from core.studies.cell_table import Row
from core.studies.measures.frame_measures import first_passage, largest_fall
from core.studies.measures.measurement import Measurement, aggregate_values
from core.studies.measures.registry import measure
from core.studies.statistics import mean_interval
from core.studies.study import Study, parse_study
from core.studies.trials import Trial, select_trials, trials_of
from core.studies.verdicts import JudgedClaim, judge
from tests.support.small_studies import BASE
from tests.support.sweeps import recorded_trials, with_claims

PAIRED = 'measure = "paired"\noptions = { y = "risk", along = "network.m", ends = [4, 8]'
WIDTHS = BASE.format(until=0.5) + '[axes]\n"network.m" = [4, 8]\n"run.seed" = [0, 1, 2, 3]\n'


def made_up(values: dict[tuple[int, int], dict[str, float]]) -> tuple[Study, tuple[Trial, ...]]:
    """Return trials at widths 4 and 8 whose last values are these, by width and seed."""
    study = parse_study(WIDTHS, "widths")
    rows = {}
    for cell in study.cells():
        at = (cell.values["network.m"], cell.values["run.seed"])
        if at in values:
            rows[cell.name] = Row(cell.name, "done", "completed", values=values[at])
    return study, trials_of(study, rows, {name: Path(name) for name in rows})


def asked(study: Study, trials: tuple[Trial, ...], claim: str) -> JudgedClaim:
    (found,) = judge(with_claims(study, claim), trials, None)
    return found


def errors(at_4: list[float], at_8: list[float]) -> dict[tuple[int, int], dict[str, float]]:
    """Return risks of the seeds 0, 1, ... at either width, of runs that fit."""
    sides = ((4, at_4), (8, at_8))
    return {
        (m, seed): {"risk": value, "train_error": 0.0}
        for m, values in sides
        for seed, value in enumerate(values)
    }


# ------------------------------------------------------------------------- runs without a number


@pytest.mark.parametrize("lost", [math.nan, math.inf])
def test_a_run_without_a_number_is_not_dropped_in_silence(lost: float) -> None:
    study, trials = made_up(errors([1.0, 1.0, lost], [1.0]))
    claim = 'measure = "risk"\ncompare = "<="\nvalue = 1.0\n'
    found = asked(study, trials, claim)
    assert (found.verdict, found.runs, found.asked) == ("refuted", 3, 4)
    assert "1 of 4 runs have no value" in found.line
    assert "over 3 of 4 runs" in found.measurement
    allowed = asked(study, trials, claim + "missing = 0.25\n")
    assert allowed.verdict == "confirmed"
    assert "over 3 of 4 runs" in allowed.measurement
    assert asked(study, trials, claim + "missing = 0.24\n").verdict == "refuted"


def failed(trial: Trial, study: Study) -> Trial:
    """Return the same cell, of which no run was finished."""
    (cell,) = [cell for cell in study.cells() if cell.name == trial.row.name]
    return Trial(study, cell, Row(cell.name, "failed", "failed"), Path("nowhere"))


def test_a_cell_that_failed_is_not_dropped_in_silence() -> None:
    """A cell without a finished run was asked about: it has no number, and its file is not read."""
    study, trials = made_up(errors([1.0, 1.0], [2.0, 3.0]))
    ill = (failed(trials[0], study), *trials[1:])
    mean = 'measure = "risk"\ncompare = ">="\nvalue = 1.0\nwhere = { "network.m" = 4 }\n'
    pairs = PAIRED + ' }\ncompare = ">="\nvalue = 1.0\n'
    against = 'against = { where = { "network.m" = 8 } }\nrelation = "ratio"\n'
    for claim, count in (
        (mean, 1),
        (pairs, 1),
        (mean.replace(">=", "<=") + against, 3),
        (
            'measure = "slope"\noptions = { y = "risk", x = "network.m" }\ncompare = ">="\n'
            "value = 0.5\n",
            3,
        ),
    ):
        assert asked(study, trials, claim).verdict == "confirmed", claim
        found = asked(study, ill, claim)
        assert (found.verdict, found.runs, found.asked - found.runs) == (
            "refuted",
            count,
            1,
        ), found.line
        assert asked(study, ill, claim + "missing = 0.5\n").verdict == "confirmed"
    every = tuple(failed(trial, study) for trial in trials)
    assert asked(study, every, mean).verdict == "refuted"
    assert asked(study, every, mean).asked == 2


def test_runs_that_are_not_there_refute_nothing() -> None:
    """A comparison with a width that was not run is not judged; one that no run fits is refuted."""
    study, trials = made_up(errors([1.0, 2.0], []))
    there = 'measure = "risk"\nwhere = { "network.m" = 4 }\ncompare = ">="\nvalue = 0.0\n'
    against = 'against = { where = { "network.m" = 8 } }\nrelation = "ratio"\n'
    assert asked(study, trials, there).verdict == "confirmed"
    ratio = 'compare = ">="\nvalue = 0.0\n'
    for claim in (there + against, PAIRED + " }\n" + ratio):
        found = asked(study, trials, claim)
        assert (found.verdict, found.why) == (
            "not at this size",
            "none of its runs has finished",
        )
    values = errors([1.0], [2.0])
    values[8, 0]["train_error"] = 0.5
    assert asked(*made_up(values), PAIRED + " }\n" + ratio).verdict == "refuted"


def test_a_claim_says_how_many_runs_it_used() -> None:
    study, trials = made_up(errors([1.0, 2.0], [3.0]))
    claim = 'measure = "risk"\ncompare = ">="\nvalue = 1.0\n'
    assert "Measured 2 over 3 runs (expected at least 1)." in asked(study, trials, claim).line
    one = asked(study, trials, claim + 'where = { "network.m" = 8 }\n')
    assert "Measured 3 over 1 run (expected at least 1)." in one.line
    assert one.as_dict()["runs"] == one.as_dict()["asked"] == 1


def test_curves_that_do_not_cross_are_counted() -> None:
    text = BASE.format(until=0.5) + '[axes]\n"data.d" = [4, 8]\n"data.n" = [2, 8, 32]\n'
    study = parse_study(text + '"run.seed" = [0, 1]\n', "law")
    rows = {}
    for cell in study.cells():
        d, n, seed = (cell.values[key] for key in ("data.d", "data.n", "run.seed"))
        error = 0.3 if (d, seed) == (8, 1) else 0.3 - 0.1 * math.log(n / d)
        rows[cell.name] = Row(cell.name, "done", "completed", values={"test_error": error})
    trials = trials_of(study, rows, {name: Path(name) for name in rows})
    options = 'options = { y = "test_error", along = "data.n", x = "data.d", level = 0.25 }\n'
    claim = f'measure = "crossing_slope"\n{options}compare = "~"\nvalue = 1.0\ntolerance = 1e-6\n'
    found = asked(study, trials, claim)
    assert (found.verdict, found.runs, found.asked) == ("refuted", 3, 4)
    assert found.measured == pytest.approx(1.0)
    assert asked(study, trials, claim + "missing = 0.25\n").verdict == "confirmed"


# ------------------------------------------------------------------------------ over the frames


def test_the_largest_fall_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        values, room = rng.uniform(0.5, 2.0, 12), rng.uniform(0.0, 0.2, 12)
        every = [
            (values[s] - values[t] - room[t]) / values[s]
            for s in range(12)
            for t in range(s + 1, 12)
        ]
        assert largest_fall(values, room) == pytest.approx(max([0.0, *every]))
    assert largest_fall(np.sort(values), room) == 0.0


@pytest.fixture(scope="module")
def run_trials(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, tuple[Trial, ...]]:
    """Return small runs of 2-parity, two seeds, twelve frames."""
    text = BASE.format(until=1.5).replace("frames = 4", "frames = 12")
    study = parse_study(text + '[axes]\n"run.seed" = [0, 1]\n', "small")
    return study, recorded_trials(study, tmp_path_factory.mktemp("small"))


def quantity(study: Study, claim: str) -> Any:
    """Return the quantity of a claim without its comparison."""
    return with_claims(study, claim + 'compare = "~"\nvalue = 0.0\n').claims[0]


def traces(trials: tuple[Trial, ...], name: str) -> list[np.ndarray[Any, Any]]:
    """Return an observable of each run at all frames, straight from the file."""
    found = []
    for trial in trials:
        with open_run(trial.path) as run:
            found.append(OBSERVABLES[name].trace(run))
    return found


def test_a_span_is_over_the_frames_it_names(run_trials: Any) -> None:
    study, trials = run_trials
    options = 'options = { of = "risk", by = "min", since = -0.2, until = 0.8 }\n'
    ask = quantity(study, 'measure = "span"\nover = "max"\n' + options)
    wanted = [
        risks[(trial.log10_times >= -0.2) & (trial.log10_times <= 0.8)].min()
        for trial, risks in zip(trials, traces(trials, "risk"), strict=True)
    ]
    found = measure(trials, ask)
    assert found.value == pytest.approx(max(wanted))
    assert (found.count, found.requested) == (2, 2)
    none = quantity(study, 'measure = "span"\noptions = { of = "risk", by = "min", since = 5 }\n')
    assert (measure(trials, none).count, measure(trials, none).requested) == (0, 2)


def test_a_span_of_nodes(run_trials: Any) -> None:
    study, trials = run_trials
    ask = quantity(
        study,
        'measure = "span"\nover = "min"\n'
        'options = { of = "rotation", nodes = "min", by = "min" }\n',
    )
    wanted = min(float(trace.min()) for trace in traces(trials, "rotation"))
    assert measure(trials, ask).value == pytest.approx(wanted)


def test_where_a_level_is_first_passed(run_trials: Any) -> None:
    """By interpolation of each trace by NumPy, which is of falling ones here."""
    study, trials = run_trials
    level = 0.999 * min(float(trace[0]) for trace in traces(trials, "risk"))
    text = 'measure = "when"\nover = "max"\noptions = {{ of = "risk", level = {}{} }}\n'
    found = measure(trials, quantity(study, text.format(level, ', x = "distance"')))
    both = zip(traces(trials, "risk"), traces(trials, "distance"), strict=True)
    wanted = [float(np.interp(-level, -risk, distance)) for risk, distance in both]
    assert found.value == pytest.approx(max(wanted)) and found.count == 2
    in_time = measure(trials, quantity(study, text.format(level, "")))
    times = [10.0**trial.log10_times for trial in trials]
    pairs = zip(traces(trials, "risk"), times, strict=True)
    wanted = [float(np.interp(-level, -risk, t)) for risk, t in pairs]
    assert in_time.value == pytest.approx(max(wanted))
    late = measure(trials, quantity(study, text.format(level, ", since = 99")))
    never = measure(trials, quantity(study, text.format(-1.0, "")))
    assert (late.count, never.count, never.requested) == (0, 0, 2)


def test_a_level_is_passed_either_way_or_not_at_all() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    assert first_passage(x, np.array([0.0, 2.0, 1.0, 4.0]), 1.5) == pytest.approx(0.75)
    assert first_passage(x, np.array([4.0, 2.0, 3.0, 0.0]), 2.0) == 1.0
    for y in ([2.0, 2.0, 5.0, 9.0], [0.0, 0.5, 1.0, 1.9]):
        assert math.isnan(first_passage(x, np.array(y), 2.0))
    assert math.isnan(first_passage(x[:0], x[:0], 1.0))


def test_falls_begin_where_they_are_asked_to(run_trials: Any) -> None:
    study, trials = run_trials
    text = 'measure = "fall"\nover = "max"\noptions = {{ of = "hard_margin"{} }}\n'
    found = measure(trials, quantity(study, text.format("")))
    wanted = [largest_fall(trace, np.zeros(trace.size)) for trace in traces(trials, "hard_margin")]
    assert found.value == pytest.approx(max(wanted))
    after = measure(trials, quantity(study, text.format(', after = "0.9 * risk_0 - risk"')))
    later = []
    for margins, risks in zip(traces(trials, "hard_margin"), traces(trials, "risk"), strict=True):
        kept_part = margins[int(np.flatnonzero(risks < 0.9 * risks[0])[0]) :]
        later.append(largest_fall(kept_part, np.zeros(kept_part.size)))
    assert after.value == pytest.approx(max(later))
    never = measure(trials, quantity(study, text.format(', after = "0 - risk"')))
    assert (never.count, never.requested) == (0, 2)
    roomy = measure(trials, quantity(study, text.format(', room = "risk_0"')))
    assert roomy.value <= found.value


def test_a_moment_that_the_run_does_not_reach_has_no_number(run_trials: Any) -> None:
    study, trials = run_trials
    claim = 'measure = "risk"\nat = {}\ncompare = "<="\nvalue = 1e9\n'
    assert asked(study, trials, claim.format(1.48)).verdict == "confirmed"
    found = asked(study, trials, claim.format(2.5))
    assert (found.verdict, found.runs) == ("refuted", 0)


def test_a_statement_is_what_the_theorems_say(run_trials: Any) -> None:
    from core.theorems.registry import STATEMENTS
    from core.theorems.statement import Context, assess
    from tests.support.judged_runs import margins_of

    study, trials = run_trials
    with pytest.raises(InputError, match="applies to this run"):
        measure(trials, quantity(study, 'measure = "statement"\noptions = { name = "x" }\n'))
    ask = quantity(
        study, 'measure = "statement"\nover = "max"\noptions = { name = "Lemma A.2 (norms)" }\n'
    )
    (statement,) = (one for one in STATEMENTS.values() if one.name == "Lemma A.2 (norms)")
    wanted = []
    for trial in trials:
        with open_run(trial.path) as run:
            told = assess(statement, Context(run, margins_of(run.problem))).comparison
            wanted.append(told.measured / told.bound)
    found = measure(trials, ask)
    assert found.value == pytest.approx(max(wanted))
    assert "hypotheses met in" in found.note


def test_ranks_of_nodes(run_trials: Any) -> None:
    study, trials = run_trials
    ask = quantity(
        study,
        'measure = "node_ranks"\nover = "max"\n'
        'options = { of = "relative_norm", with = "rotation" }\n',
    )
    wanted = []
    for trial in trials:
        with open_run(trial.path) as run:
            pair = [
                OBSERVABLES[k].value_at(run, run.frames - 1) for k in ("relative_norm", "rotation")
            ]
            wanted.append(spearmanr(*pair).statistic)
    assert measure(trials, ask).value == pytest.approx(max(wanted))


# --------------------------------------------------------------------------------- over the seeds


def test_pairs_of_seeds() -> None:
    study, trials = made_up(errors([1.0, 2.0, 3.0], [2.0, 1.0, 6.0, 9.0]))
    told = {}
    for by in ("ratio", "difference", "share"):
        ask = quantity(study, PAIRED + f', by = "{by}" }}\n')
        told[by] = measure(trials, ask)
    assert told["ratio"].value == pytest.approx(9.0 / 6.0)
    assert told["difference"].value == pytest.approx(1.0)
    assert told["share"].value == pytest.approx(2.0 / 3.0)
    assert all((one.count, one.requested) == (3, 3) for one in told.values())
    half = t.ppf(0.975, 2) * np.std([1.0, -1.0, 3.0], ddof=1) / math.sqrt(3.0)
    assert told["difference"].high == pytest.approx(1.0 + half)
    assert told["ratio"].low < 1.5 < told["ratio"].high


def test_pairs_of_which_one_does_not_fit_are_told() -> None:
    values = errors([1.0, 2.0, 3.0], [2.0, 1.0, 6.0])
    values[8, 1]["train_error"] = 0.5
    study, trials = made_up(values)
    found = measure(trials, quantity(study, PAIRED + " }\n"))
    assert (found.count, found.value) == (2, 2.0)
    assert found.sample_text == "over 2 runs, without 1 that does not fit"
    assert measure(trials, quantity(study, PAIRED + ", fit = false }\n")).count == 3


def test_runs_left_out_as_unfit_are_told() -> None:
    values = errors([1.0, 2.0, 9.0], [])
    values[4, 2]["train_error"] = 0.5
    claim = 'measure = "risk"\nexclude_unfit = true\ncompare = "~"\nvalue = 1.5\n'
    found = asked(*made_up(values), claim)
    assert (found.verdict, found.unfit) == ("confirmed", 1)
    assert "over 2 runs, without 1 that does not fit" in found.line
    nobody = {place: ends | {"train_error": 0.5} for place, ends in values.items()}
    assert asked(*made_up(nobody), claim).verdict == "refuted"


def test_two_runs_of_one_seed_are_no_pair() -> None:
    text = BASE.format(until=0.5) + '[axes]\n"network.m" = [4, 8]\n"data.n" = [8, 16]\n'
    study = parse_study(text, "two")
    rows = {
        cell.name: Row(cell.name, "done", "completed", values={"risk": 1.0, "train_error": 0.0})
        for cell in study.cells()
    }
    trials = trials_of(study, rows, {name: Path(name) for name in rows})
    with pytest.raises(InputError, match="two runs of one seed"):
        measure(trials, quantity(study, PAIRED + " }\n"))


def test_an_interval_is_judged_by_its_ends() -> None:
    study, trials = made_up(errors([1.0, 1.2, 0.8, 1.0], []))
    claim = 'measure = "risk"\ncompare = "<="\nvalue = {}\n{}'
    for value, flag, verdict in (
        (1.01, "", "confirmed"),
        (1.01, "interval = true\n", "refuted"),
        (1.3, "interval = true\n", "confirmed"),
    ):
        assert asked(study, trials, claim.format(value, flag)).verdict == verdict
    low, high = t.interval(0.95, 3, loc=1.0, scale=np.std([1.0, 1.2, 0.8, 1.0], ddof=1) / 2.0)
    found = measure(trials, with_claims(study, claim.format(1.0, "")).claims[0])
    assert (found.low, found.high) == pytest.approx((low, high))
    one = made_up(errors([1.0], []))  # no interval of one run
    assert asked(*one, claim.format(2.0, "interval = true\n")).verdict == "refuted"


def test_a_mean_over_different_settings_has_no_interval() -> None:
    study, trials = made_up(errors([1.0, 2.0, 3.0], [1.0]))
    found = measure(trials, quantity(study, 'measure = "risk"\n'))
    assert math.isnan(found.low) and found.count == 4


def test_differences_carry_both_intervals() -> None:
    study, trials = made_up(errors([1.0, 2.0, 3.0], [4.0, 6.0, 8.0]))
    claim = (
        'measure = "risk"\nwhere = { "network.m" = 8 }\n'
        'against = { where = { "network.m" = 4 } }\nrelation = "difference"\n'
        'compare = "~"\nvalue = 4.0\ntolerance = 1e-9\n'
    )
    found = asked(study, trials, claim)
    halves = [t.ppf(0.975, 2) * s / math.sqrt(3.0) for s in (1.0, 2.0)]
    assert found.measured == pytest.approx(4.0)
    assert found.high - found.measured == pytest.approx(math.hypot(*halves))
    assert found.runs == 6


def test_what_measures_need_is_told() -> None:
    study, trials = made_up(errors([1.0], [2.0]))
    for text, why in (
        ('measure = "span"\noptions = { of = "risk", by = "mode" }\n', "allowed: min, max"),
        ('measure = "fall"\n', "needs options.of"),
        ('measure = "fall"\noptions = { of = "risk", aftr = "risk" }\n', "no option aftr.*after"),
        ('measure = "paired"\noptions = { y = "risk", along = "network.m", ends = [4] }\n', "two"),
        (PAIRED + ', by = "sum" }\n', "by is one of"),
    ):
        with pytest.raises(InputError, match=why):
            measure(trials, quantity(study, text))


def test_no_numbers_are_no_number() -> None:
    empty = aggregate_values([], "mean")
    assert math.isnan(empty.value) and empty.missing == 0
    assert all(math.isnan(x) for x in mean_interval([]))
    assert Measurement(1.0, count=2, requested=2).sample_text == "over 2 runs"
    assert select_trials((), quantity(parse_study(WIDTHS, "w"), 'measure = "risk"\n')) == []
