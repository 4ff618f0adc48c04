"""Runs of the shipped studies in which the effect of each claim is absent.

A counter-run is a study at its quick size with other settings, and with other texts in its file,
which may also exchange numbers of its axes and claims alike. `WITHOUT` names the claims that no run
can refute, with the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

from core.studies.study import Study, load_study, parse_study

END = "recording.frames=2; recording.log10_times=[]"
EARLY = f"dynamics.until_log10_time=-3; {END}"
TINY = "data.n=16; network.m=4; recording.spacing=log; recording.frames=40; run.seed=[0]"


@final
@dataclass(frozen=True, slots=True)
class CounterRun:
    """A study at its quick size with patterns of its text replaced, then settings applied."""

    settings: tuple[str, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()

    def study(self, name: str) -> Study:
        """Return the changed study, of two seeds unless the settings name them."""
        study = load_study(name).at_size("quick")
        if self.changes:
            text = study.to_toml()
            for pattern, new in self.changes:
                text, count = re.subn(pattern, new, text)
                assert count, (name, pattern)
            study = parse_study(text, name)
        settings = list(self.settings)
        if not any(one.startswith("run.seed") for one in settings) and "run.seed" in study.axes:
            settings.append(f"run.seed={list(study.axes['run.seed'])[:2]}")
        return study.with_settings(settings)


def changed(settings: str, *changes: tuple[str, str]) -> CounterRun:
    """Return a counter-run with settings separated by semicolons."""
    return CounterRun(tuple(settings.split("; ")), changes)


def untrained(settings: str = "") -> CounterRun:
    """Return a run of at most one step."""
    return changed(f"{EARLY}; {settings}" if settings else EARLY)


def whole(number: int, other: int) -> tuple[str, str]:
    """Return the replacement of an isolated whole number."""
    return rf"(?<![\d.]){number}(?![\d.])", str(other)


def widths(one: int, other: int) -> tuple[tuple[str, str], ...]:
    """Return the replacements that exchange two whole numbers."""
    return whole(one, 99999), whole(other, one), whole(99999, other)


def literally(old: str, new: str) -> tuple[str, str]:
    """Return the replacement of a literal text."""
    return re.escape(old), new.replace("\\", r"\\")


def exchanged(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """Return the replacements that exchange two texts."""
    return literally(one, "@@"), literally(other, one), literally("@@", other)


LABELS = exchanged('"true"', '"random"')
POINTS = exchanged('"paper"', '"symmetric"')
ETA = '"dynamics.step" = "eta"'
SMALL_D = (
    literally("round(10 ^ (3 + 0.5 * c))", "round(10 ^ (1.5 + 0.25 * c))"),
    literally("10000", "100"),
)
STEPS = (2.0, 1.0, 0.01, 0.5, 0.005, 0.001, 3.8, 1.4)
EARLIER = r"until_log10_time\" = [\d.]+", 'until_log10_time" = 1.7'
REVERSED = literally('"10 ^ c"', '"10 ^ (0 - c)"')

COUNTER_RUNS: dict[str, tuple[CounterRun, ...]] = {
    "batchnorm-dyadic": (untrained("network.m=12"),),
    "batchnorm-figure-1": (
        changed(
            f"{EARLY}; data.n=60", whole(4096, 62), whole(1024, 61), whole(2048, 65), whole(256, 63)
        ),
        changed(
            f"{EARLY}; data.n=40",
            whole(4096, 30),
            whole(1024, 20),
            whole(2048, 21),
            whole(256, 40),
            whole(64, 50),
        ),
    ),
    "batchnorm-theorem-2-1": (
        changed(
            "dynamics.until_log10_time=1.31; recording.frames=4; data.labels=random; run.seed=[0]"
        ),
    ),
    "batchnorm-theorem-2-2": (
        changed(
            "data.labels=random; dynamics.until_log10_time=2.01; "
            "recording.log10_times=[2]; recording.frames=4; network.m=64; run.seed=[0]"
        ),
    ),
    "benarous21-exponents": (
        # Descent on 40 examples, a teacher that is elsewhere, and longer steps online.
        changed(
            "run.seed=[0]; recording.frames=40; recording.log10_times=[]; data.teacher=random",
            literally('kind = "population"', 'kind = "gd"'),
            literally('kind" = "population"', 'kind" = "gd"'),
            literally("= 3.12", "= 1.3"),
            literally("0.00025", "0.025"),
        ),
        # Online steps of a tenth of the length, so that v keeps its own.
        changed(
            "run.seed=[0]; recording.frames=40; recording.log10_times=[]",
            literally('"data.d" = 400', '"data.d" = 100'),
            literally("0.00025", "0.0001"),
            literally("= 3.12", "= 1.3"),
            literally("= 0.9", "= 0.3"),
        ),
    ),
    "boursier22-orthonormal": (
        untrained(),
        *(
            changed(
                "recording.frames=60; network.m=16; run.seed=[0]",
                literally("10^(-decades)", f"10^(-decades / {share})"),
            )
            for share in (4, 12)
        ),
    ),
    "boursier25-alignment-times": (
        changed(
            "recording.frames=60; network.m=8", literally("10^(-decades)", "10^(-decades / 6)")
        ),
        changed(
            "recording.frames=100; network.m=16; factor.decades=[2]",
            literally("10^(-decades)", "10^(-4 * decades)"),
            literally("log10(8 * decades)", "log10(32 * decades)"),
        ),
        changed("recording.frames=60; network.m=8", *POINTS),
    ),
    "boursier25-spurious": (
        untrained("network.m=[16,64]; run.seed=[0]"),
        changed("recording.frames=4; run.seed=[0]", *POINTS),
    ),
    "chizat19-lazy-and-rich": (
        # Small and large starts are exchanged, and the kernel is of fewer nodes.
        changed(
            "recording.frames=2; run.seed=[0]; network.m=32",
            literally('"network.scale" = "scale"', '"network.scale" = "1 / scale"'),
            literally("(1 + scale^2)", "(1 + 1 / scale^2)"),
        ),
    ),
    "cohen21-edge-logistic": (
        changed(TINY, *LABELS),
        changed(TINY, *LABELS, literally(ETA, '"dynamics.step" = "3 * eta"')),
    ),
    "cohen21-edge-squared": (
        changed(
            f"{TINY}; factor.eta=[0.5,2.0,3.0]", literally(ETA, '"dynamics.step" = "eta / 50"')
        ),
        changed(f"{TINY}; factor.eta=[0.5,1.0,1.3]", literally(ETA, '"dynamics.step" = "3 * eta"')),
        changed(
            f"{TINY}; factor.eta=[0.5,2.0,3.0]; recording.spacing=pairs",
            literally(ETA, '"dynamics.step" = "1.5 * eta"'),
        ),
        changed(
            f"{TINY}; factor.eta=[0.5,2.0,3.0]", literally("log10(6000 eta)", "log10(3000 / eta^4)")
        ),
    ),
    "cohen22-every-edge": (
        changed(TINY, *(literally(f'step" = {eta}', f'step" = {eta / 50}') for eta in STEPS)),
        changed(TINY, *(literally(f'step" = {eta}', f'step" = {eta * 30}') for eta in STEPS)),
        changed(
            'run.seed=[0]; variant=["Adam","short Adam"]',
            *exchanged("[variants.Adam]", '[variants."short Adam"]'),
        ),
        changed(
            'run.seed=[0]; variant=["SAM"]',
            literally('"dynamics.rho" = 0.05', '"dynamics.rho" = 0.0'),
        ),
        # Ends before Adam comes to its edge.
        changed('run.seed=[0]; variant=["Adam, tanh"]', literally("1.30102999566", "0.0")),
    ),
    "damian21-label-noise": (
        changed(
            "run.seed=[0]; recording.frames=20",
            *exchanged("[variants.noise]", '[variants."no noise"]'),
            literally("log10(1.5 / eta)", "log10(15 / eta)"),
        ),
        # Ends long before the drift.
        changed("run.seed=[0]; recording.frames=4", literally("log10(15", "log10(0.1")),
    ),
    "frei23-figure-1": (
        changed(
            "network.m=32; data.n=20",
            *SMALL_D,
            literally('init_multiple" = 0.02', 'init_multiple" = 50.0'),
        ),
        changed("network.m=2; data.n=20", *SMALL_D, REVERSED),
    ),
    "frei23-figure-2": (
        changed(
            "network.m=32; data.n=200; run.seed=[0]; dynamics.until_log10_time=1.71; "
            "recording.frames=4",
            ("(?<![\\d.])0\\.02(?!\\d)", "30.0"),
        ),
        changed(
            "network.m=32; data.n=200; run.seed=[0]; dynamics.kind=adam; "
            "dynamics.step=0.5; dynamics.until_log10_time=0.5; recording.frames=4; "
            "recording.log10_times=[0]"
        ),
    ),
    "frei23-figure-3": (changed("network.slope=0.3; data.n=10; data.d=10; network.m=8"),),
    "frei23-figure-4": (
        changed("network.m=32; data.n=20", literally("10000", "60")),
        changed(
            "network.m=32; data.n=20",
            literally("10000", "60"),
            literally('step" = 0.01', 'step" = 30.0'),
            literally('time" = 1.0', 'time" = 3.0'),
            (r"at = -2\.0\b", "at = 1.47712125472"),
        ),
        changed(
            "network.m=32; data.n=20",
            literally("10000", "60"),
            (r"0\.32\b", "1e-05"),
            (r"2\.505149978|2\.50515\b", "-2.0"),
            (r"-0\.49485\d*", "-5.0"),
        ),
        changed(f"{EARLY}; network.m=32; data.n=20", literally("10000", "60")),
    ),
    "frei23-figure-5": (
        changed(
            "network.m=16; data.d=200; dynamics.step=100.0; dynamics.until_log10_time=4.0; "
            "recording.log10_times=[]; recording.frames=4; run.seed=[0]"
        ),
    ),
    "frei23-theorem-3-2": (
        changed("data.n=6; data.coherence=0.2; network.m=10; run.seed=0; recording.frames=20"),
        changed(
            "data.kind=gaussian_mixture; data.d=8; data.n=20; network.m=10; run.seed=0; "
            "dynamics.until_log10_time=300"
        ),
    ),
    "frei23-xor": (
        changed(
            "data.kind=gaussian_mixture; data.n=10; data.d=[100,1000,10000]; network.m=4; "
            "dynamics.until_log10_time=-1; recording.frames=2; run.seed=[0]"
        ),
    ),
    "gunasekar18-depth": (
        changed("dynamics.until_log10_time=0; recording.frames=2"),
        # Points on one axis, with larger margins of every kind.
        changed(
            "dynamics.until_log10_time=2",
            (r"points = \[[\s\d.,\[\]-]*\]", "points = [[2.0, 0, 0, 0, 1], [-2.0, 0, 0, 0, -1]]"),
        ),
    ),
    "homogeneity-example-4-1": (
        changed("data.k=3; data.d=8; dynamics.until_log10_time=0; run.seed=[0]"),
    ),
    "homogeneity-mirror-flow": (untrained(),),
    "homogeneity-odd-parity": (
        changed("data.k=2; data.d=6; network.m=128; run.seed=[0]"),
        untrained("run.seed=[0]"),
    ),
    "homogeneity-theorem-3-6": (
        untrained("run.seed=[0]"),
        changed(
            "dynamics.kind=adam; dynamics.step=0.5; dynamics.until_log10_time=3.01; run.seed=[0]"
        ),
    ),
    "homogeneity-theorem-4-1": (
        changed(
            "data.n=40; data.d=6; data.k=4; network.m=[4]; run.seed=[0]; "
            "dynamics.until_log10_time=3.1"
        ),
        changed("data.n=4; data.d=4; run.seed=[0]; dynamics.until_log10_time=3.1"),
        changed(
            "data.kind=gaussian_mixture; data.d=20; data.n=10; run.seed=[0]; "
            "dynamics.until_log10_time=0; recording.log10_times=[]"
        ),
    ),
    "morwani24-grokking": (changed("network.m=1"),),
    "morwani24-margin": (changed("network.m=4; data.p=[5,7]; run.seed=[0]"),),
    "morwani24-penalty": (
        changed("network.m=4; run.seed=[0]"),
        changed("run.seed=[0]; variant=lambda = 1e-5", literally('l23" = 1e-05', 'l23" = 1e-04')),
    ),
    "morwani24-width": (
        changed("data.p=[5]; run.seed=[0]", literally("width * (p - 1)", "(18 - width) * (p - 1)")),
        untrained("run.seed=[0]"),
    ),
    "saad95-online": (
        # Steps of .6: a lower plateau, which lasts.
        changed(
            "run.seed=[0]; recording.frames=40",
            literally("0.00375", "0.0015"),
            literally("2.18", "1.48"),
        ),
        # Another teacher, of few dimensions, and descent in place of the flow.
        changed(
            "run.seed=[0]; recording.frames=40; data.teacher=random; data.d=8; data.seed=3",
            literally("0.00375", "0.1875"),
            literally("0.00125", "0.0625"),
            literally("2.18", "1.48"),
            literally('"dynamics.kind" = "population"', '"dynamics.kind" = "gd"'),
        ),
    ),
    "saad95-plateau": (
        # A random teacher, and online steps of a hundred times the length.
        changed(
            "data.teacher=random; run.seed=[0]; recording.frames=40",
            literally("0.0005", "0.05"),
            literally('"data.n" = 20000', '"data.n" = 2000'),
        ),
        changed(
            "run.seed=[0]; recording.frames=40",
            literally('"data.n" = 20000', '"data.n" = 200'),
            literally('"dynamics.kind" = "population"', '"dynamics.kind" = "gd"'),
        ),
    ),
    "saxe14-depth": (
        changed(
            "network.init=random; dynamics.kind=gd; dynamics.step=0.5; recording.spacing=log; "
            "recording.frames=40; run.seed=[0]"
        ),
        changed(
            "recording.frames=40; run.seed=[0]; dynamics.until_log10_time=0.6",
            literally("3.0", "1.0"),
        ),
    ),
    "saxe14-maps": (
        # Long steps from random starts: no curve is exact, and nothing is conserved.
        changed(
            "network.init=random; dynamics.kind=gd; dynamics.step=0.3; recording.spacing=log; "
            "recording.frames=40; run.seed=[0]"
        ),
        # A target with four equal modes, which are learned at once.
        changed("recording.frames=40; run.seed=[0]; data.singular_values=[1, 1, 1, 1]"),
    ),
    "saxe14-modes": (
        changed(
            "dynamics.kind=gd; dynamics.step=0.5; recording.spacing=log; recording.frames=40; "
            "network.m=4; run.seed=[0]"
        ),
        changed("recording.frames=40; network.m=4; run.seed=[0]", literally("1e-06", "0.3")),
    ),
    "telgarsky22-figure-1": (
        changed("dynamics.until_log10_time=3.01", whole(256, 15)),
        changed("dynamics.until_log10_time=3.01", whole(16, 15), whole(256, 16)),
        untrained(),
    ),
    "telgarsky22-figure-1-shares": (changed("data.d=8; data.n=24; dynamics.until_log10_time=0"),),
    "telgarsky22-figure-1-statistics": (
        changed(
            "run.seed=[0,1,2,3]; dynamics.until_log10_time=1; recording.frames=2",
            whole(16, 15),
            whole(256, 16),
        ),
        changed("run.seed=[0]", whole(16, 65), whole(256, 64)),
        changed("run.seed=[0]; data.k=4; recording.frames=2"),
    ),
    "telgarsky22-figure-2": (
        untrained(),
        changed(
            f"data.alpha=0.7; network.m=[16,64]; run.seed=[0]; dynamics.until_log10_time=30; {END}"
        ),
    ),
    "telgarsky22-lemma-2-4-room": (changed("network.m=256; run.seed=[0]"), untrained()),
    "telgarsky22-table-1": (
        changed(f"data.k=3; {EARLY}; run.seed=[0]; data.d=[8,20]; factor.c=[1.0,2.0]; network.m=8"),
    ),
    "telgarsky22-table-1-scalar": (untrained("run.seed=[0]; data.d=[8,12]"),),
    "telgarsky22-theorem-2-1": (
        changed(
            "data.kind=gaussian_mixture; data.d=20; data.n=8; dynamics.until_log10_time=1.5; "
            "run.seed=[0]"
        ),
    ),
    "telgarsky22-theorem-2-2": (
        untrained("run.seed=[0]; data.d=6; data.n=8"),
        changed(
            "data.n=4; data.d=4; run.seed=[0]; recording.frames=10; dynamics.until_log10_time=30"
        ),
    ),
    "telgarsky22-theorem-3-2": (changed("dynamics.until_log10_time=1; run.seed=[0]"),),
    "telgarsky22-theorem-3-3": (
        untrained("run.seed=[0]"),
        changed(f"data.d=[6]; data.n=64; network.m=[4095]; run.seed=[0]; {END}", whole(64, 4095)),
        changed(f"data.d=[2]; data.n=4; network.m=[4096]; run.seed=[0,1,2]; {END}"),
        changed(
            "data.d=[2]; run.seed=[0]; recording.frames=8; dynamics.until_log10_time=12",
            whole(4096, 8),
            whole(64, 7),
        ),
    ),
    "telgarsky22-theorem-3-3-room": (changed("network.m=4; recording.frames=6"),),
    "tsilivis25-adam-memory": (
        changed(
            "recording.frames=6; run.seed=[0]",
            *exchanged('[variants."beta 0.999"]', '[variants."short steps"]'),
            *exchanged('"dynamics.eps" = 0.0', '"dynamics.eps" = 1e-08'),
        ),
        changed(
            "recording.frames=6; run.seed=[0]",
            literally('"dynamics.beta2" = 0.95', '"dynamics.beta2" = 0.85'),
            *exchanged('[variants."beta 0.999"]', '[variants."short steps"]'),
        ),
    ),
    "tsilivis25-order-turns-over": (
        changed(
            "recording.frames=2; run.seed=[0]",
            EARLIER,
            *exchanged("[variants.normalised]", "[variants.Muon]"),
            *exchanged("[variants.sign]", "[variants.Muon]"),
        ),
        changed("recording.frames=2; run.seed=[0]", EARLIER, literally("0.5", "1.0")),
    ),
    "tsilivis25-sampled-parity": (
        changed(
            "recording.frames=2; run.seed=[0]",
            EARLIER,
            *exchanged("[variants.normalised]", "[variants.Muon]"),
            *exchanged("[variants.Signum]", "[variants.sign]"),
        ),
        changed("data.d=2; data.n=40; recording.frames=2; run.seed=[0]", EARLIER),
    ),
    "wei19-figure-1": (
        changed(
            "data.kind=gaussian_mixture; data.d=20; data.n=200; "
            "dynamics.until_log10_time=0; recording.frames=2; run.seed=[0]"
        ),
    ),
    "wei19-figure-2": (untrained(), untrained("data.n=2; run.seed=[1]")),
    "wei19-figure-3-left": (
        untrained("network.m=[32,128,256]; dynamics.step=0.001"),
        changed(
            "data.n=40; network.m=[32,256,1024]; dynamics.until_log10_time=2", *widths(32, 1024)
        ),
    ),
    "wei19-figure-3-right": (
        untrained("network.m=[64,8192]; data.n=40; run.seed=[0]"),
        changed("data.n=100; network.m=[16,512]; dynamics.until_log10_time=2.1", *widths(16, 512)),
    ),
    "wei19-figure-4": (
        untrained("data.n=[25,50,200]"),
        untrained('data.n=[400]; run.seed=[0]; variant=["network","kernel, ridge 5"]'),
    ),
    "wei19-figure-5": (untrained("run.seed=[0]; data.n=6; factor.e=[8,10,14,16]"),),
    "wei19-perturbed-flow": (changed("dynamics.until_log10_time=0; run.seed=[0]"),),
    "wei19-theorem-2-1": (
        changed(
            f"{EARLY}; run.seed=[0]; data.d=[20,30]; factor.c=[1.0,2.0,4.0]",
            literally("round(c * d^2 / 4)", "round(8 * c * d)"),
        ),
    ),
}

WITHOUT: dict[str, dict[str, str]] = {
    "batchnorm-dyadic": {
        "gamma_linear = sqrt(3/(4^(d+1) - 4))": "an identity of the data, whatever is trained",
    },
    "frei23-figure-1": {
        "After 1000 steps the relative stable rank grows with the initial scale": (
            "the runs differ by the scale of one draw alone, so that a larger start keeps more of "
            "its rank at every step size"
        ),
    },
    "frei23-figure-3": {
        "The smoothed leaky ReLU has slopes of at most 1": "so it is at every slope gamma",
        "The smoothed leaky ReLU is 1/4-smooth": "(1 - gamma)/4 is at most 1/4 at every slope",
        "The smoothed leaky ReLU is zero at the origin": "so it is at every slope gamma",
    },
    "homogeneity-mirror-flow": {
        "From a balanced start |a_j| = |b_j| at all times": (
            "every start of this network is balanced, and every step keeps it"
        ),
    },
    "homogeneity-theorem-4-1": {
        "The shallow network has C_2 = 0": "an identity of the network",
    },
    "morwani24-margin": {
        "No run exceeds the maximum margin gamma*": "proved for every network on all pairs",
    },
    "telgarsky22-figure-1-shares": {
        "No seed exceeds gamma_gl/2": "proved for every network on its own sample",
    },
    "telgarsky22-figure-2": {
        "No run exceeds gamma_gl/2": "proved for every network; other angles have no larger",
    },
    "wei19-figure-5": {
        "No run exceeds half the l1-SVM's margin": "proved for every network",
    },
}
