"""Names of runs by what tells them apart, and their colours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.comparison.names import RunDescription, run_names
from core.comparison.setting_differences import find_differences
from core.figures.palette import PALETTES, Palette, rgb, run_colour, run_colours
from core.studies.tables import flatten_sections
from core.study_file.experiment import Experiment

MOST = 10


def described(stem: str, **values: Any) -> RunDescription:
    """Return a run of default settings, but for some (network_m=16 is network.m = 16)."""
    settings = flatten_sections(Experiment().model_dump(mode="json"))
    changes = {key.replace("_", ".", 1): value for key, value in values.items()}
    return RunDescription(settings | changes, "A study", stem)


def seed(k: int, m: int = 16, study: str = "a") -> RunDescription:
    return described(f"{study}__network.m={m}__run.seed={k}", network_m=m, run_seed=k)


def width(m: int) -> RunDescription:
    return described(f"a__network.m={m}", network_m=m)


def test_a_name_of_the_user_replaces_that_of_its_run_alone() -> None:
    wide = replace(width(256), own_name="The wide one")
    assert run_names([width(16), wide]) == ["m = 16", "The wide one"]
    assert run_names([wide]) == ["The wide one"]
    assert run_names([wide, wide]) == ["The wide one", "The wide one (2)"]
    assert run_names([width(16), replace(wide, own_name="m = 16")]) == ["m = 16", "m = 16 (2)"]
    branch = replace(width(16), branch="step .1 from t = 3")
    named = replace(branch, own_name="Branch A")
    assert run_names([width(16), branch]) == ["original", "step .1 from t = 3"]
    assert run_names([width(16), named]) == ["original", "Branch A"]


def test_bands_over_seeds_are_named_by_settings_and_single_runs_by_the_user() -> None:
    runs = [seed(0), seed(1), seed(0, m=64)]
    runs = [replace(run, own_name=f"mine {k}") for k, run in enumerate(runs)]
    assert find_differences(runs).families == ("m = 16", "m = 16", "mine 2")
    assert find_differences(runs).labels == ("mine 0", "mine 1", "mine 2")


def test_a_name_is_what_differs() -> None:
    assert run_names([width(16), width(256)]) == ["m = 16", "m = 256"]
    assert run_names([seed(0), seed(1)]) == ["seed 0", "seed 1"]
    assert run_names([seed(0)]) == ["m = 16, seed 0"]
    assert run_names([]) == []
    variants = [
        described(f"a__run.seed={k}__variant={name}", run_seed=k)
        for k, name in enumerate(("with", "without"))
    ]
    assert run_names(variants) == ["seed 0, with", "seed 1, without"]


def test_runs_of_equal_settings_are_numbered_and_never_called_by_a_file() -> None:
    stem = "a-modified__loss.kind=logistic__network.m=64__2026-11-25T19-47-57"
    one = described(stem, network_m=64, loss_kind="logistic")
    assert run_names([one, one]) == ["logistic loss, m = 64", "logistic loss, m = 64 (2)"]
    assert run_names([width(64), width(64), width(8)]) == ["m = 64", "m = 64 (2)", "m = 8"]
    assert run_names([described("mine"), described("mine")]) == ["A study", "A study (2)"]
    untitled = RunDescription({"network.m": 8}, "", "mine")
    assert run_names([untitled]) == ["m = 8"]
    assert run_names([RunDescription({}, "", "mine")]) == ["run"]


def test_what_follows_from_what_is_varied_is_left_out() -> None:
    runs = [described(f"a__data.d={d}", data_d=d, data_n=d * d) for d in (4, 8)]
    assert run_names(runs) == ["d = 4", "d = 8"]
    assert find_differences(runs).keys == ("data.d", "data.n")
    cadence = [described("b", network_m=m, recording_frames=m) for m in (4, 8)]
    assert run_names(cadence) == ["m = 4", "m = 8"]


def scaled(scale: str, k: int = 0) -> RunDescription:
    step = 0.5 / (1.0 + float(scale) ** 2)
    stem = f"lazy__factor.scale={scale}__run.seed={k}"
    return described(stem, network_scale=float(scale), dynamics_step=step, run_seed=k)


def test_a_run_alone_is_named_by_its_cell_also_where_that_is_a_factor() -> None:
    assert run_names([scaled("10")]) == ["scale = 10, seed 0"]
    # Together the step follows from the scale.
    assert run_names([scaled("10"), scaled("0.1")]) == ["scale = 10", "scale = .1"]
    assert find_differences([scaled("10"), scaled("0.1")]).shades == (1.0, 0.0)
    assert run_names([scaled("10", 1), scaled("10", 2)]) == ["seed 1", "seed 2"]
    assert run_names([scaled("10")] * 2) == ["scale = 10, seed 0", "scale = 10, seed 0 (2)"]


def test_a_factor_that_is_no_setting_names_a_run_alone() -> None:
    few, many = (
        described(f"a__factor.c={c}__network.m=16", data_n=n, network_m=16)
        for c, n in ((0.5, 8), (2, 32))
    )
    assert run_names([few]) == ["c = .5, m = 16"]
    assert run_names([few, many]) == ["n = 8", "n = 32"]
    decades = described("a__factor.decades=6__run.seed=0", network_scale=1e-6)
    assert run_names([decades]) == ["scale = 10^-6, seed 0"]
    # A setting of this name with another value is another quantity.
    other = described("a__factor.scale=3", network_scale=0.5)
    assert run_names([other]) == ["scale = 3"]
    assert other.keys == ("factor.scale",) and scaled("10").keys[0] == "network.scale"


def test_an_original_beside_its_branch_may_have_a_factor() -> None:
    stem = "a__factor.c=2__network.m=16"
    parent = described(stem, network_m=16)
    branch = RunDescription(parent.settings, "", "b", "step = .5 from t = 1")
    assert run_names([parent, branch]) == ["original", "step = .5 from t = 1"]


def test_runs_of_two_studies_keep_all_of_their_settings() -> None:
    runs = [seed(0), seed(1, study="b")]
    assert run_names(runs) == ["m = 16, seed 0", "m = 16, seed 1"]
    # Names that are alike do not tell them apart: all settings do.
    runs = [width(16), described("b__network.m=16", network_m=16, loss_kind="exponential")]
    other = described("a__network.m=16", network_m=16, loss_kind="logistic")
    assert run_names([other, runs[1]]) == ["logistic loss", "exponential loss"]


def test_drawn_points_are_named_by_how_many_they_are() -> None:
    points = [[0.5, 1.0]] * 14
    stem = "a-modified__data.kind=points__data.points=14-rows-b5d48643__network.m=8"
    run = described(stem, data_kind="points", data_points=points, network_m=8)
    assert run_names([run]) == ["14 drawn points, m = 8"]


def test_a_branch_is_named_by_what_it_changed() -> None:
    branch = RunDescription(width(16).settings, "", "a__network.m=16", "step = .5 from t = 1")
    assert run_names([width(16), branch]) == ["original", "step = .5 from t = 1"]
    # Where the width tells the runs apart, it names them.
    assert run_names([width(256), branch]) == ["m = 256", "step = .5 from t = 1"]
    assert run_names([branch, branch]) == ["m = 16", "m = 16 (2)"]


def test_a_continued_run_is_named_so_where_its_settings_name_another_one() -> None:
    again = RunDescription(width(16).settings, "", "a__network.m=16", continued="t = 316")
    branch = RunDescription(width(16).settings, "", "a__network.m=16", "step = .5 from t = 1")
    both = ["m = 16", "m = 16, continued from t = 316"]
    assert run_names([width(16), again]) == both
    assert run_names([width(16), again, branch]) == [*both, branch.branch]
    assert run_names([again, branch]) == ["continued from t = 316", branch.branch]
    assert run_names([again]) == ["m = 16"]
    assert run_names([again, width(256)]) == ["m = 16", "m = 256"]


# ---------------------------------------------------------------------------------------- colours


def test_runs_that_differ_in_one_number_have_colours_in_its_order() -> None:
    runs = [width(m) for m in (64, 8, 16)]
    assert find_differences(runs).shades == (1.0, 0.0, 0.5)
    assert find_differences(runs, (4, 5, 6)).shades == (1.0, 0.0, 0.5)
    pair = [width(16), width(16)]
    losses = [described("c", network_m=m, loss_kind=kind) for m, kind in ((1, "a"), (2, "b"))]
    for others in ([seed(k) for k in range(3)], pair, losses):
        assert find_differences(others).shades == tuple(range(len(others)))
    assert find_differences(pair, (3, 1)).shades == (3, 1)


def test_some_of_the_runs_keep_their_names_and_colours() -> None:
    found = find_differences([width(m) for m in (8, 16, 64)])
    assert found.select_runs((0, 2)).labels == ("m = 8", "m = 64")
    assert found.select_runs((0, 2)).shades == (0.0, 1.0)


def luminance(colour: str) -> float:
    channels = rgb(colour) / 255.0
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(colour: str, other: str) -> float:
    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", PALETTES.values())
def test_lines_in_an_order_are_legible_and_evenly_apart(palette: Palette) -> None:
    colours = [run_colour(k / (MOST - 1), palette) for k in range(MOST)]
    contrasts = [contrast(colour, palette.background) for colour in colours]
    assert min(contrasts) > 3.0
    assert contrasts == sorted(contrasts)  # in grey, too: for every form of colour blindness
    steps = np.diff(np.log(contrasts))
    assert steps.max() < 1.6 * steps.min()
    every = run_colours(palette)
    assert len(set(every)) == len(every) >= MOST
    assert min(contrast(colour, palette.background) for colour in every) > 3.0
