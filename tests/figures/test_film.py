"""Films: their frames, length and loop, and that a cancelled one leaves nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageSequence

from core.errors import DiskError, InputError
from core.figures.camera import sample_frames, smooth_reach
from core.figures.film import film_frames, frames_shown, save_film
from core.figures.film_scene import film_size
from core.figures.options import FigureOptions
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.time_axis import TimeAxis, time_axis
from core.figures.tracks import follow_nodes, track
from core.figures.writers import GifWriter, WebpWriter
from core.observables.node_coordinates import positions
from core.observables.planes import NodePlane
from core.observables.projection import checked_projection
from tests.support.made_up_figures import DEGENERATE, far_run, two_runs

SIZE = (200, 160)


def saved(path, **arguments):
    """Return a short, small film of one run, whose axes are drawn once."""
    settings: dict[str, Any] = {"seconds": 0.6, "frames_per_second": 10, "size": SIZE}
    settings["panel"] = "norms"
    settings |= arguments
    return save_film(two_runs()[:1], path, **settings)


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_a_film_has_its_frames_size_length_and_loops(tmp_path, suffix) -> None:
    path, calls = tmp_path / f"film{suffix}", []
    assert saved(path, progress=lambda *done: calls.append(done))
    assert calls == [(k, 6) for k in range(1, 7)]
    with Image.open(path) as image:
        assert sum(1 for _ in ImageSequence.Iterator(image)) == 6
        assert image.size == SIZE
        assert image.info["loop"] == 0
        length = 0
        for position in range(6):
            image.seek(position)
            image.load()
            length += image.info["duration"]
        assert length == 600
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("palette", "suffixes"),
    [(LIGHT, {".webp": 0.0, ".gif": 6.0}), (DARK, {".gif": 6.0})],
    ids=["light", "dark"],
)
def test_films_show_the_drawn_pictures(tmp_path, palette, suffixes) -> None:
    """Exactly, and in a GIF, which has few colours, about so."""
    pictures = list(film_frames(two_runs()[:1], "neurons", 3, SIZE, FigureOptions(palette)))
    for suffix, tolerance in suffixes.items():
        path, options = tmp_path / f"film{suffix}", FigureOptions(palette)
        saved(path, panel="neurons", options=options, seconds=0.3)
        with Image.open(path) as image:
            for position, picture in enumerate(pictures):
                image.seek(position)
                shown = np.asarray(image.convert("RGB")).astype(float)
                assert np.abs(shown - picture).mean() <= tolerance / 6.0
                assert shown[0, 0].tolist() == rgb(palette.background).tolist()
    assert not (pictures[0] == pictures[2]).all()
    assert (pictures[-1] == pictures[-2]).all() or len(pictures) < 8


@pytest.mark.parametrize(
    "panel", ["rotations", "norms", "margins", "all", "curves,predictor,spectrum"]
)
def test_every_panel_makes_a_film_of_two_runs(panel) -> None:
    pictures = list(film_frames(two_runs(), panel, 2, SIZE, FigureOptions(LIGHT)))
    assert [picture.shape for picture in pictures] == [(160, 200, 3)] * 2


def test_axes_do_not_move() -> None:
    pictures = np.array(list(film_frames([two_runs()[0]], "norms", 4, SIZE, FigureOptions(LIGHT))))
    left_and_below = pictures[:, 40:, :20], pictures[:, -18:, :]
    for strip in left_and_below:
        assert (strip == strip[0]).all()


def test_time_passes_evenly_and_stops_at_the_end() -> None:
    run = two_runs()[0]
    shown = frames_shown(run, time_axis([run], [run.frames - 1]), 50)
    assert shown[0] == 0
    assert (shown[-6:] == run.frames - 1).all()
    assert (np.diff(shown) >= 0).all()
    assert len(set(shown.tolist())) == run.frames
    assert frames_shown(run, TimeAxis(-1.0, 4.0), 1).tolist() == [run.frames - 1]


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_a_cancelled_film_leaves_nothing(tmp_path, suffix) -> None:
    done = []
    path = tmp_path / f"film{suffix}"
    assert not saved(path, progress=lambda *k: done.append(k), cancelled=lambda: len(done) >= 2)
    assert len(done) == 2
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"an older film")
    assert not saved(path, cancelled=lambda: True)
    assert path.read_bytes() == b"an older film"


def test_a_film_that_fails_leaves_nothing(tmp_path) -> None:
    def fail(*done):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        saved(tmp_path / "film.gif", progress=fail)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said(tmp_path, monkeypatch) -> None:
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GifWriter, "add", full)
    with pytest.raises(DiskError, match="disk is full"):
        saved(tmp_path / "film.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "arguments", "match"),
    [
        ("film.avi", {}, r"must end in \.gif, \.webp or \.mp4"),
        ("film", {}, "must end in"),
        ("film.gif", {"panel": "weights"}, "choose neurons"),
        ("film.gif", {"panel": "norms,"}, "choose neurons"),
        ("film.gif", {"panel": "norms,norms"}, "choose neurons"),
        ("film.gif", {"panel": "neurons,rotations,norms,margins,curves"}, "but 5 are given"),
        ("film.gif", {"seconds": 0.0}, "cannot last"),
        ("film.gif", {"seconds": float("nan")}, "cannot last"),
        ("film.gif", {"seconds": 601.0}, "up to 600 seconds"),
        ("film.gif", {"frames_per_second": 60}, "1 to 50"),
        ("film.webp", {"frames_per_second": 0}, "1 to 60"),
        ("film.webp", {"seconds": 600.0, "frames_per_second": 30}, "at most 6000"),
        ("film.gif", {"size": (100, 100)}, "160 to 3840"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(tmp_path, name, arguments, match) -> None:
    with pytest.raises(InputError, match=match) as caught:
        saved(tmp_path / name, **arguments)
    assert str(caught.value).endswith(".")
    assert not list(tmp_path.iterdir())


def test_an_mp4_without_its_encoder_names_the_extra(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="MP4 needs ffmpeg"):
        saved(tmp_path / "film.mp4")


def test_a_folder_that_cannot_be_written_is_said(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        saved(tmp_path / "file" / "film.gif")


def test_films_are_the_same_again(tmp_path) -> None:
    for name in ("one.gif", "two.gif"):
        saved(tmp_path / name, seconds=0.2)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()


@pytest.mark.parametrize("name", ["one frame", "d = 1", "dead", "huge", "m = 1"])
def test_degenerate_runs_make_films(name) -> None:
    assert len(list(film_frames([DEGENERATE[name]()], "all", 2, SIZE, FigureOptions(LIGHT)))) == 2


def test_a_far_run_makes_a_film() -> None:
    pictures = list(film_frames([far_run()], "margins", 3, SIZE, FigureOptions(LIGHT)))
    assert all(not np.array_equal(one, two) for one, two in pairwise(pictures))


def test_odd_sizes_become_even(tmp_path) -> None:
    saved(tmp_path / "film.gif", seconds=0.1, size=(201, 161))
    with Image.open(tmp_path / "film.gif") as image:
        assert image.size == (200, 160)
    assert film_size(1, 1) == (800, 600)


def test_writers_store_what_changes_only(tmp_path) -> None:
    picture = np.zeros((60, 80, 3), dtype=np.uint8)
    other = picture.copy()
    other[31:35, 41:47] = 255
    colours = np.array([[0, 0, 0], [255, 255, 255]], dtype=np.uint8)
    for suffix in ("gif", "webp"):
        path = tmp_path / f"film.{suffix}"
        with path.open("wb") as file:
            writer = (
                GifWriter(file, (80, 60), colours)
                if suffix == "gif"
                else WebpWriter(file, (80, 60))
            )
            for frame in (picture, other, other, picture):
                writer.add(frame, 100)
            writer.close()
        with Image.open(path) as image:
            for position, frame in enumerate((picture, other, other, picture)):
                image.seek(position)
                np.testing.assert_array_equal(np.asarray(image.convert("RGB")), frame)
        assert path.stat().st_size < 2000


# An encoder that checks what it is given: so many whole pictures, of a size, at a rate.
ENCODER = """#!{python}
import os, signal, sys
words = sys.argv[1:]
given = dict(zip(words, words[1:]))
assert given["-f"] == "mp4" and given["-i"] == "-" and given["-r"] == "10", words
assert words[words.index("-f") + 1] == "rawvideo"
width, height = (int(side) for side in given["-s"].split("x"))
out = words[-1].removeprefix("file:")
taken = 0
while picture := sys.stdin.buffer.read(3 * width * height):
    assert len(picture) == 3 * width * height, len(picture)
    taken += 1
    open(out, "wb").write(b"half")
    {each}
{end}
open(out, "w").write(f"{{width}}x{{height}} {{taken}}")
"""


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that puts a fake ffmpeg on the path."""

    def made(each: str = "pass", end: str = "") -> Path:
        place = tmp_path / "bin" / "ffmpeg"
        place.parent.mkdir()
        place.write_text(ENCODER.format(python=sys.executable, each=each, end=end))
        place.chmod(0o755)
        (tmp_path / "films").mkdir()
        return tmp_path / "films" / "film.mp4"

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return made


posix = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


@posix
def test_an_mp4_goes_through_the_encoder(encoder) -> None:
    path = encoder()
    assert saved(path)
    assert path.read_text() == "200x160 6"
    assert list(path.parent.iterdir()) == [path]


@posix
def test_a_cancelled_mp4_leaves_nothing(encoder) -> None:
    path, done = encoder(), []
    assert not saved(path, progress=lambda *k: done.append(k), cancelled=lambda: len(done) > 2)
    assert not list(path.parent.iterdir())


@posix
@pytest.mark.parametrize(
    ("each", "end", "said"),
    [
        ("sys.exit(1)", "", "MP4 encoder ended with 1;"),
        ("", 'sys.exit("Unknown encoder libx264")', "ended with 1 (Unknown encoder libx264);"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "", "was ended by signal 9;"),
        ("", "os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9;"),
        ("", 'open(out, "w").close(); sys.exit(0)', "wrote nothing;"),
        ("", 'sys.exit("film.mp4: No space left on device")', "The disk is full: "),
    ],
)
def test_an_encoder_that_fails_is_one_sentence_and_no_file(encoder, each, end, said) -> None:
    """The film of before stays."""
    path = encoder(each or "pass", end)
    path.write_text("the one before")
    with pytest.raises((InputError, DiskError)) as caught:
        saved(path, seconds=0.2)
    assert said in str(caught.value)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    assert path.read_text() == "the one before"
    assert list(path.parent.iterdir()) == [path]


def test_an_encoder_that_cannot_be_started_is_a_sentence(tmp_path, monkeypatch) -> None:
    for program in (tmp_path / "nowhere", tmp_path):
        monkeypatch.setattr("core.figures.writers.mp4_problem", str)
        monkeypatch.setattr("core.figures.writers.encoder", lambda here=program: str(here))
        with pytest.raises(InputError, match=r"cannot be started \(.+\); write a \.gif"):
            saved(tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_the_range_of_the_neurons_follows_them() -> None:
    """Figure 1's nodes are a dot in the middle at first, in the range of the whole run."""
    run = two_runs()[0]
    inks = []
    for follow in (False, True):
        (first, *_, last) = film_frames(
            [run], "neurons", 4, SIZE, FigureOptions(LIGHT), follow=follow
        )
        inks.append((first, last))
    (fixed, end), (moving, moved_end) = inks
    # Both end in the range of the last frame, which the camera may look a little beyond.
    assert np.abs(end.astype(int) - moved_end).mean() < np.abs(fixed.astype(int) - moving).mean()
    assert not np.array_equal(fixed, moving)


def test_the_camera_of_films_is_that_of_the_window() -> None:
    """Extents at the frames of a track, eased; points and units say the same place."""
    run = two_runs()[0]
    nodes = track(checked_projection(run, NodePlane()), np.arange(run.frames))
    for position in (0, run.frames // 2, run.frames - 1):
        seen = follow_nodes(nodes, position)
        around = nodes.extents[sample_frames(position, run.frames, run.frames)]
        reach = seen.extent * 10.0**seen.power
        assert np.log10(reach) == pytest.approx(smooth_reach(around, nodes.extents[position]))
        np.testing.assert_allclose(
            seen.points * 10.0**seen.power, nodes.points * 10.0**nodes.power, rtol=1e-12
        )
        largest = np.abs(positions(run, position, (0, 1))).max()
        assert nodes.extents[position] == pytest.approx(np.log10(largest))


def test_axes_that_follow_leave_nothing_behind() -> None:
    """The same frame after others is the same picture, and the figure holds no more axes."""
    run = two_runs()[0]
    pictures = list(film_frames([run], "neurons", 4, SIZE, FigureOptions(LIGHT)))
    again = list(film_frames([run], "neurons", 4, SIZE, FigureOptions(LIGHT)))
    for one, other in zip(pictures, again, strict=True):
        np.testing.assert_array_equal(one, other)
    # Corners are background in every frame: no ticks of earlier ones stay.
    assert {tuple(picture[2, 2]) for picture in pictures} == {(255, 255, 255)}
