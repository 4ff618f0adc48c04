"""Claims against runs: measured, and judged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, final

from core.numbers import MINUS, number_text, replace_nonfinite
from core.studies.claims import Claim, Quantity
from core.studies.measures.measurement import Measurement
from core.studies.measures.registry import measure
from core.studies.study import Study
from core.studies.trials import Trial, select_trials

Verdict = Literal["confirmed", "refuted", "not at this size"]
NOT_HERE: Verdict = "not at this size"
NOT_TESTABLE = "not testable at this size"  # displayed form of NOT_HERE


@final
@dataclass(frozen=True, slots=True, repr=False)
class JudgedClaim:
    """Claim of a study with its verdict.

    Attributes
    ----------
    text : str
        The claim, as the study file says it.
    verdict : str
        "confirmed", "refuted" or "not at this size".
    measured : float
        Measured number; NaN where there is none.
    low, high : float
        Ends of its interval; NaN where there is none.
    compare : str
        "<=", ">=" or "~": how `measured` is compared with `value`.
    value : float
        Number that is claimed.
    tolerance : float
        Difference from `value` that is allowed.
    runs : int
        Number of runs that were measured.
    basis : str
        Where the claim comes from.
    why : str
        How it was measured, or why it could not be judged.
    line : str
        The claim, its verdict and its numbers in one line.
    measurement : str
        The numbers in words.
    asked : int or None
        Number of runs that the claim is about.
    unfit : int
        Number of further runs that were left out because they do not fit.
    """

    text: str
    verdict: Verdict
    measured: float
    low: float
    high: float
    compare: str
    value: float
    tolerance: float
    runs: int
    basis: str
    why: str
    line: str
    measurement: str
    asked: int | None
    unfit: int

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values that JSON has; numbers that are not finite are None."""
        result: dict[str, Any] = replace_nonfinite(asdict(self))
        return result

    def __repr__(self) -> str:
        return f"<{self.verdict}: {self.text}>"

    def __str__(self) -> str:
        return self.line


def judge(study: Study, trials: Sequence[Trial], size: str | None) -> list[JudgedClaim]:
    """Judge every claim of a study on its finished cells.

    A claim that cannot be judged at this size, or of which no run was recorded, is "not at this
    size" with the reason, and has its number all the same where there is one.

    Parameters
    ----------
    study : Study
        Study with its claims.
    trials : sequence of Trial
        Its finished and failed cells.
    size : str or None
        Size at which they were run; None for the user's own settings, with which all claims are
        judged.

    Returns
    -------
    list of Judged
        In the order of the study file.
    """
    return list(each_judged(study, trials, size))


def each_judged(study: Study, trials: Sequence[Trial], size: str | None) -> Iterator[JudgedClaim]:
    """Judge one claim after another: some take seconds.

    Parameters
    ----------
    study : Study
        Study with its claims.
    trials : sequence of Trial
        Its finished and failed cells.
    size : str or None
        Size at which they were run; None for the user's own settings.

    Yields
    ------
    JudgedClaim
        Each claim with its verdict, in the order of the study file.
    """
    for claim in study.claims:
        yield _judge(claim, trials, size)


def _measurement(claim: Claim, measured: Measurement) -> str:
    """Return the measured and the expected value in words, such as ".65 over 3 runs (...)"."""
    number = "no value" if math.isnan(measured.value) else _number(measured.value, 4)
    if math.isfinite(measured.low):
        number += f" [{_number(measured.low, 3)}, {_number(measured.high, 3)}]"
    bound = {">=": "at least ", "<=": "at most ", "~": ""}[claim.compare] + _number(claim.value, 6)
    sign = {">=": "-", "<=": "+", "~": "+-"}[claim.compare]
    slack = f" {sign} {_number(claim.tolerance, 6)}" if claim.tolerance else ""
    return f"{number} {measured.sample_text} (expected {bound}{slack})"


def _number(value: float, digits: int) -> str:
    return number_text(value, digits).replace(MINUS, "-")


def _judge(claim: Claim, trials: Sequence[Trial], size: str | None) -> JudgedClaim:
    """Return a claim with its measurement, related to `against` if given, and its verdict."""
    result = _measure(claim, trials)
    if claim.against is not None:
        result = _relate(claim, result, trials)
    return make_judged(claim, result, *_verdict(claim, result, size))


def make_judged(claim: Claim, result: Measurement, verdict: Verdict, reason: str) -> JudgedClaim:
    """Return a claim with its verdict on a measurement, in words.

    Parameters
    ----------
    claim : Claim
        Claim of a study.
    result : Measurement
        Number measured on the study's runs.
    verdict : Verdict
        Verdict of the comparison.
    reason : str
        Method of measurement, or the reason why the claim is not judged.

    Returns
    -------
    JudgedClaim
        Verdict with all its sentences.
    """
    measurement = _measurement(claim, result)
    stated = verdict if verdict != NOT_HERE else NOT_TESTABLE
    explained = (
        f": {reason.rstrip('.')}" if reason and (verdict == NOT_HERE or result.missing) else ""
    )
    return JudgedClaim(
        text=claim.text,
        verdict=verdict,
        measured=result.value,
        low=result.low,
        high=result.high,
        compare=claim.compare,
        value=claim.value,
        tolerance=claim.tolerance,
        runs=result.count,
        basis=claim.basis,
        why=reason,
        line=f"{stated}: {claim.text} Measured {measurement}{explained}.",
        measurement=measurement,
        asked=result.requested,
        unfit=result.unfit,
    )


def _verdict(claim: Claim, result: Measurement, size: str | None) -> tuple[Verdict, str]:
    """Return the verdict on a measurement, and its reason or its method."""
    # The measurement is shown at every size, but judged only at the sizes that the study names.
    if size is not None and size not in claim.sizes:
        return NOT_HERE, claim.reason
    if result.requested == 0:
        return NOT_HERE, "none of its runs has finished"
    # Finished runs without a value refute: otherwise a claim could not fail by them (decision
    # 0009).
    if math.isnan(result.value):
        return "refuted", "none of its runs has a value"
    if result.missing > claim.missing * (result.requested or 0):
        return "refuted", f"{result.missing} of {result.requested} runs have no value"
    judged = (result.low, result.high) if claim.interval else (result.value,)
    return "confirmed" if all(map(claim.is_confirmed, judged)) else "refuted", result.note


def _measure(quantity: Quantity, trials: Sequence[Trial]) -> Measurement:
    """Measure a quantity on its runs; `requested` is 0 if none of them has ended or failed.

    Cells that failed count as requested, without a value.
    """
    every = select_trials(trials, quantity.model_copy(update={"exclude_unfit": False}))
    ended = [trial for trial in every if not trial.has_failed]
    failed = len(every) - len(ended)
    if not ended:
        return Measurement(math.nan, requested=failed)
    some = select_trials(ended, quantity)
    unfit = len(ended) - len(some)
    if not some:
        return Measurement(math.nan, requested=len(every), note="no run fits its training data")
    result = measure(some, quantity)
    requested = failed + (result.count if result.requested is None else result.requested)
    return replace(result, unfit=result.unfit + unfit, requested=requested)


def _relate(claim: Claim, first: Measurement, trials: Sequence[Trial]) -> Measurement:
    """Return the difference, with its interval, or the ratio of two quantities.

    The interval of a difference has the half-width sqrt(h_1^2 + h_2^2), as for independent errors.
    """
    assert claim.against is not None
    second = _measure(claim.against, trials)
    if 0 in (first.requested, second.requested):
        return Measurement(math.nan, requested=0)
    count = first.count + second.count
    requested = count + first.missing + second.missing
    if claim.relation == "difference":
        value = first.value - second.value
        half = math.hypot(first.high - first.low, second.high - second.low) / 2.0
        return Measurement(value, value - half, value + half, count, requested=requested)
    is_known = second.value != 0.0 and math.isfinite(second.value)
    ratio = first.value / second.value if is_known else math.nan
    return Measurement(ratio, count=count, requested=requested)
