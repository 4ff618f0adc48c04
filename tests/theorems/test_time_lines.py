"""What statements say frame by frame: it cannot contradict the verdict, nor a shorter run's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from core.runs import Run
from core.runs.meta import Reason
from core.runs.run_file import Event, Index
from core.theorems.report import timing_words
from core.theorems.statement import Assessment, Comparison, Hypothesis, Verdict
from core.theorems.states import State, combine_states, met_of, state_of, state_spans
from core.theorems.timing import make_timing
from tests.support.judged_runs import Margins, exactly, judge, problem_of, recorded_run
from tests.theorems.gallery import GALLERY
from tests.theorems.test_statements import made_up

SOME = ("flow", "sgd", "cones", "scalar", "normalised", "leaky", "smooth", "batch norm, sgd")
KNOWN = exactly(gamma_gl=0.15, gamma_ntk=0.1, gamma_linear=0.05, gamma_a=0.02, gamma_c=0.01)
Judged = dict[tuple[str, str], Assessment]


class Shorter(Run):
    """The first frames of a run, as when it was being recorded."""

    def __init__(self, run: Run, count: int) -> None:
        self.path, self.memo = run.path, dict[Any, Any]()
        self._header = run._header
        self._run, self._count = run, count

    @property
    def status(self) -> str:
        return self._run.status

    @property
    def reason(self) -> Reason | None:
        return self._run.reason

    @property
    def index(self) -> Index:
        whole = self._run.index
        count = self._count
        return Index(whole.steps[:count], whole.log10_time[:count], whole.rho[:count])

    @property
    def bytes_on_disk(self) -> int:
        return self._run.bytes_on_disk

    def refresh(self) -> int:
        return self._count

    @property
    def whole_run(self) -> Run:
        return self

    def parameters(self, index: int) -> Any:
        return self._run.parameters(index)

    def dual(self, index: int) -> Any:
        return self._run.dual(index)

    def diagnostics(self, index: int) -> dict[str, float]:
        return self._run.diagnostics(index)

    def events(self) -> tuple[Event, ...]:
        return ()

    @contextmanager
    def batch(self) -> Iterator[None]:
        with self._run.batch():
            yield

    def close(self) -> None:
        """Do nothing: the test closes the run itself."""


@pytest.fixture(scope="module", params=SOME)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    at = problem_of(**GALLERY[request.param], frames=12)
    with recorded_run(tmp_path_factory.mktemp("lines") / "run", at) as opened:
        yield opened


def told_by_its_line(one: Assessment) -> Verdict | None:
    """Return the verdict as somebody reads it off the two lines; None where they leave it open."""
    assert one.comparison.states is not None
    assert one.premises is not None
    if not one.statement.constants:
        return Verdict.NO_CONSTANT
    lines = {span.state for span in state_spans(one.comparison.states)}
    met = one.premises[-1] == State.HOLDS
    if one.comparison.limit:
        if one.comparison.states[-1] == State.HOLDS:
            return Verdict.HOLDS if met else Verdict.HOLDS_ANYWAY
        return None
    if State.FAILS in lines:
        return Verdict.VIOLATED if met else Verdict.VIOLATED_NOT_MET
    if State.HOLDS in lines:
        return Verdict.HOLDS if met else Verdict.HOLDS_ANYWAY
    return Verdict.UNDECIDED


@pytest.mark.parametrize("margins", [{}, KNOWN], ids=["none known", "known"])
def test_line_and_verdict_agree(run: Run, margins: Margins) -> None:
    """Read off its line every statement has the verdict that it has."""
    lines = 0
    for key, one in judge(run, margins).items():
        assert one.premises is not None
        assert one.premises.shape == (run.frames,)
        met = [hypothesis.met for hypothesis in one.hypotheses]
        assert (one.premises[-1] == State.HOLDS) == all(met), key
        if one.comparison.states is None:
            continue
        lines += 1
        assert one.comparison.states.shape == (run.frames,)
        read = told_by_its_line(one)
        assert read in (one.verdict, None), key
        if read is None:  # a limit that does not hold at the last frame, or not yet
            assert one.verdict not in (Verdict.HOLDS, Verdict.HOLDS_ANYWAY), key
    assert lines > 3


def test_each_frame_is_compared_with_its_bound(known: Judged) -> None:
    """By a loop over the frames, in plain numbers."""
    for key, one in known.items():
        c = one.comparison
        if c.states is None or c.bound_trace is None or c.measured_trace is None:
            continue
        for state, bound, measured in zip(c.states, c.bound_trace, c.measured_trace, strict=True):
            if state in (State.SILENT, State.OPEN):
                continue
            above, below = (bound, measured) if c.sense == "<=" else (measured, bound)
            room = 1e-9 * max(abs(bound), abs(measured))
            if state == State.HOLDS and not c.why:  # else within the integration's error
                assert above >= below - room or above == below, key
            if state == State.FAILS:
                assert above < below, key


@pytest.fixture(scope="module")
def known(run: Run) -> Judged:
    """Return the assessments of the run with all margins known."""
    return judge(run, KNOWN)


@pytest.fixture(scope="module")
def earlier(run: Run) -> dict[int, Judged]:
    """Return the assessments of the run as it was after so many frames."""
    return {count: judge(Shorter(run, count), KNOWN) for count in (2, 5, 9)}


def test_a_hypothesis_is_at_each_frame_what_the_shorter_run_has(
    known: Judged, earlier: dict[int, Judged]
) -> None:
    """The run is judged as it was after so many frames: the hypotheses are those of the line."""
    followed = 0
    for count, found in earlier.items():
        for key, one in known.items():
            for then, now in zip(found[key].hypotheses, one.hypotheses, strict=True):
                if now.text.endswith("at the last frame"):  # it costs too much at the others
                    assert now.at is not None and (now.at[:-1] == State.OPEN).all()
                    assert met_of(int(now.at[-1])) is now.met
                elif now.at is not None:
                    followed += 1
                    assert met_of(int(now.at[count - 1])) is then.met, (key, now.text, count)
    assert followed or not any(one.at is not None for k in known.values() for one in k.hypotheses)


def test_a_conclusion_is_at_each_frame_what_the_shorter_run_has(
    known: Judged, earlier: dict[int, Judged]
) -> None:
    """Where nothing of it depends on the time at which the run ends, as gamma-hat of Lemma A.6."""
    for count, found in earlier.items():
        for key, one in found.items():
            now = known[key].comparison
            assert (one.comparison.states is None) == (now.states is None)
            if now.states is None or one.comparison.states is None or ENDS & {key[1]}:
                continue
            assert one.comparison.states.tolist() == now.states[:count].tolist(), key


# The proof's rate is the least of the whole run; t_0 is told where the fit has come.
ENDS = {"Lemma A.6", "Theorem 3.4 (time)"}


def test_some_hypotheses_end_and_some_begin(tmp_path: Any) -> None:
    """A width that was enough for t = 1 is not for t = 100; a risk comes below l(0)/n."""
    at = problem_of({"m": 64}, {"kind": "flow", "until_log10_time": 4.0}, "exponential", frames=30)
    with recorded_run(tmp_path / "run", at) as run:
        one = judge(run, {})["telgarsky22", "Lemma A.4"]
        risk = next(h for h in one.hypotheses if h.text.startswith("log10 R"))
        assert [span.state for span in state_spans(risk.at)] == [State.FAILS, State.HOLDS]
        assert one.premises.tolist() == risk.at.tolist()
        # Closed form: the first frame at which the sum of the losses is below 1.
        from core.observables.registry import OBSERVABLES

        sums = run.dataset.n * OBSERVABLES["risk"].trace(run)
        first = int(np.flatnonzero(sums < 1.0)[0])
        assert state_spans(risk.at)[1].first == first
        # What it says begins a frame later: it is about what the norm does from there on.
        assert one.comparison.states is not None
        assert [span.state for span in state_spans(one.comparison.states)] == [
            State.SILENT,
            State.HOLDS,
        ]
        assert one.timing.holds_from == float(run.log10_time[first + 1])


# --------------------------------------------------------------------------- times and slack


def test_moments_of_a_verdict() -> None:
    times = np.array([-np.inf, 0.0, 1.0, 2.0, 3.0])
    states = np.array([3, 1, 0, 1, 1])
    found = make_timing(states, 2, times)
    assert (found.told, found.first_violated, found.holds_from) == (1.0, 1.0, 2.0)
    assert make_timing(states[:3], None, times).holds_from is None
    assert make_timing(None, -1, times).told == 3.0
    assert make_timing(None, 0, times).told == -np.inf


@pytest.mark.parametrize(
    ("sense", "bound", "measured", "slack", "ratio"),
    [("<=", 4.0, 1.0, 3.0, 4.0), (">=", 4.0, 1.0, -3.0, 0.25), (">=", 0.0, 1.0, 1.0, math.nan)],
)
def test_slack_and_ratio(
    sense: str, bound: float, measured: float, slack: float, ratio: float
) -> None:
    found = Comparison(sense, bound, measured, True)
    assert found.slack == slack
    assert found.ratio == pytest.approx(ratio, nan_ok=True)


def assessed(comparison: Comparison, times: Any, verdict: Verdict = Verdict.HOLDS) -> Assessment:
    timing = make_timing(comparison.states, comparison.frame, np.asarray(times))
    return Assessment(made_up(True, True), (), comparison, verdict, timing)


def test_verdicts_in_words() -> None:
    times = [-np.inf, 0.0, 1.0, 2.0]
    states = np.array([3, 1, 1, 1], dtype=np.int8)
    holds = Comparison("<=", 4.0, 1.0, True, states=states, frame=2)
    assert timing_words(assessed(holds, times)) == (
        "from t = 1 on, least slack 3 (ratio 4) at t = 10"
    )
    states = np.array([1, 1, 0, 1], dtype=np.int8)
    fails = Comparison(">=", 4.0, 1.0, False, states=states, frame=2)
    assert timing_words(assessed(fails, times)) == (
        "first violated at t = 10, short by 3 (ratio 0.25) at t = 10"
    )
    once = Comparison(">=", 0.0, 0.25, True, frame=0)
    assert timing_words(assessed(once, times)) == "slack 0.25 at t = 0"
    assert timing_words(assessed(Comparison(">=", 1.0, math.nan, None), times)) == ""
    late = Comparison(
        ">=", 2.0, 3.0, True, states=np.array([0, 0, 1, 1], dtype=np.int8), frame=-1, limit=True
    )
    assert timing_words(assessed(late, times)) == ("from t = 10 on, slack 1 (ratio 1.5) at t = 100")


def test_conditions_together() -> None:
    """By the table of both: a failure decides, and what is open leaves the rest open."""
    for first in (True, False, None):
        for second in (True, False, None):
            both = combine_states((state_of(first), state_of(second)), 2)
            if first is False or second is False:
                assert both.tolist() == [State.FAILS] * 2
            else:
                assert met_of(int(both[0])) is (True if first and second else None)
    assert combine_states((), 2).tolist() == [State.HOLDS] * 2
    assert Hypothesis("always", "", "", None).states() == State.OPEN
