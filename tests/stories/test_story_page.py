"""Pages of stories: their content, and in a browser their steps, keys, texts and sizes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.cli.main import main
from core.errors import InputError
from core.figures.page import PageOptions, page_html
from core.figures.scene import last_frame
from core.runs import Run
from core.stories.story import Story, StoryMoment, StoryRun
from core.stories.story_file import save_story
from tests.support.browser import Browser, browser, browser_path
from tests.support.made_up_figures import two_runs
from tests.support.pages import HOSTILE, data_of, flat
from tests.support.run_files import record

PROGRAM = browser_path()
in_browser = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium here, in which pages are tested; install chromium"
)
READY = "document.querySelector('main')?.dataset.ready === 'true'"
TEXT = HOSTILE.replace("\u2028", " ").replace("{{script}}", "10^1.5")
PHONE, DESK = (390, 844), (1280, 800)
MOST = 5  # moments of the pages here


def story_of(runs: tuple[Run, ...]) -> Story:
    """Return a story whose moments lie between thinned frames, also backwards in time."""
    end = max(float(run.log10_time[-1]) for run in runs)
    times = (-math.inf, end - 0.3, end, end - 0.9)
    views = ((), ("neurons", "margins"), ("margins",), ("neurons", "norms"))
    texts = ("It starts.", TEXT, "It ends. " * 20, "Back again.")
    moments = [StoryMoment(*parts) for parts in zip(times, texts, views, strict=True)]
    moments[3] = StoryMoment(times[3], texts[3], views[3], "norms")
    return Story("A story", tuple(moments), (StoryRun("a.msrun"), StoryRun("b.msrun")))


def page_of_story(**more: object) -> str:
    runs = two_runs()
    options = PageOptions(frames=MOST, story=story_of(runs), **more)
    return page_html(runs, None, None, options)


def test_each_moment_is_a_moment_of_the_page() -> None:
    runs = two_runs()
    story = story_of(runs)
    data = data_of(page_of_story())
    assert flat(data["title"]) == "A story"
    frames = [row["stops"][row["at"]].astype(int) for row in data["rows"]]
    assert all((np.diff(some) >= 0).all() for some in frames)
    assert len(data["moments"]) <= MOST + len(story.moments)
    for moment, shown in zip(story.moments, data["story"], strict=True):
        here = [int(some[shown["at"]]) for some in frames]
        assert here == [last_frame(run, float(moment.log10_time)) for run in runs]
    assert [one["kinds"] for one in data["story"]] == [
        ["neurons", "rotations", "norms", "margins"],
        ["neurons", "margins"],
        ["margins"],
        ["norms"],
    ]
    assert flat(data["story"][1]["text"]) == TEXT.replace("^1.5", "1.5")


def test_a_page_has_only_the_views_of_its_story() -> None:
    runs = two_runs()
    end = float(runs[0].log10_time[-1])
    story = Story("", (StoryMoment(end, "a", ("norms",)),), (StoryRun("a"), StoryRun("b")))
    data = data_of(page_html(runs, None, None, PageOptions(frames=MOST, story=story)))
    assert data["kinds"] == ["norms"]
    assert "story" not in data_of(page_html(runs, None, None, PageOptions(frames=MOST)))


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ((), "no moments"),
        ((StoryMoment(12.0, "late"),), "after the end"),
        ((StoryMoment(0.0, "a", ("predictor",)),), "cannot show the predictor"),
        ((StoryMoment(0.0, "a", ("nothing",)),), "choose one or more"),
    ],
)
def test_stories_without_a_page_are_refused(moments: tuple[StoryMoment, ...], words: str) -> None:
    story = Story("", moments, (StoryRun("a"), StoryRun("b")))
    with pytest.raises(InputError, match=words):
        page_html(two_runs(), None, None, PageOptions(frames=MOST, story=story))


# ---------------------------------------------------------------------------------- command


def test_the_command_writes_the_page_of_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "a.msrun")
    story = Story("Told", (StoryMoment(-math.inf, "One."), StoryMoment(0.2, "Two.")))
    path, out = tmp_path / "a.story.json", tmp_path / "a.html"
    save_story(Story(story.title, story.moments, (StoryRun("a.msrun"),)), path)
    options = ["--margins", "none", "--frames", "4", "--quiet"]
    assert main(["story", str(path), "--out", str(out), *options]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    data = data_of(out.read_text())
    assert [flat(one["text"]) for one in data["story"]] == ["One.", "Two."]
    assert main(["story", str(path), "--out", str(tmp_path / "a.pdf"), *options]) == 2
    assert main(["story", str(path)]) == 2
    assert "--out" in capsys.readouterr().err
    assert main(["story"]) == 0
    listed = capsys.readouterr().out
    assert "saxe14-modes: " in listed


# ---------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        yield one


@pytest.fixture
def shown(chromium: Browser, tmp_path: Path):
    """Show the page of a story; afterwards the console is empty and nothing was requested."""

    def show(size: tuple[int, int] = DESK, scheme: str = "light", still: bool = False) -> Browser:
        path = tmp_path / "story.html"
        path.write_text(page_of_story(), encoding="utf-8")
        chromium.resize(*size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        motion = "reduce" if still else "no-preference"
        features.append({"name": "prefers-reduced-motion", "value": motion})
        chromium.call("Emulation.setEmulatedMedia", features=features)
        chromium.open(path, READY)
        return chromium

    yield show
    assert chromium.log == []
    assert [address for address in chromium.requests if not address.startswith("file:")] == []


def sentence(page: Browser) -> str:
    return str(page.value("document.querySelector('.sentence').textContent"))


def moment(page: Browser) -> int:
    return int(page.value("document.querySelector('input[type=range]').value"))


def places() -> list[int]:
    return [int(one["at"]) for one in data_of(page_of_story())["story"]]


def wait_for_moment(page: Browser, place: int) -> None:
    page.wait(f"document.querySelector('input[type=range]').value === '{place}'")


@in_browser
def test_space_and_arrows_step_and_time_passes_between(shown) -> None:
    page, at = shown(), places()
    assert sentence(page) == "It starts."
    assert moment(page) == at[0] == 0
    page.value("window.seen = new Set(); document.querySelector('.clock').textContent")
    page.value(
        "new MutationObserver(() => window.seen.add(document.querySelector('.clock').textContent))"
        ".observe(document.querySelector('.clock'), { childList: true })"
    )
    page.press(" ", "Space", " ", 32)
    wait_for_moment(page, at[1])
    assert page.value("window.seen.size") >= 2  # moments on the way
    page.press("ArrowRight", number=39)
    wait_for_moment(page, at[2])
    assert sentence(page).startswith("It ends.")
    page.press("ArrowLeft", number=37)
    wait_for_moment(page, at[1])
    given = {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "modifiers": 8}
    page.call("Input.dispatchKeyEvent", type="keyDown", text=" ", **given)
    page.call("Input.dispatchKeyEvent", type="keyUp", **given)
    wait_for_moment(page, at[0])
    page.press("End", number=35)
    wait_for_moment(page, at[3])
    page.press(" ", "Space", " ", 32)  # the last moment stays
    assert sentence(page) == "Back again."


@in_browser
def test_without_motion_a_step_is_a_jump(shown) -> None:
    page, at = shown(still=True), places()
    page.press(" ", "Space", " ", 32)
    assert moment(page) == at[1]


@in_browser
def test_texts_of_a_story_are_never_markup(shown) -> None:
    page = shown(still=True)
    page.press(" ", "Space", " ", 32)
    assert sentence(page) == TEXT.replace("^1.5", "1.5")
    assert page.value("document.querySelector('.sentence sup').textContent") == "1.5"
    assert page.value("document.querySelectorAll('img, .sentence b').length") == 0
    assert page.value("document.title") == "A story"


@in_browser
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (PHONE, "light"), (DESK, "dark")])
def test_the_caption_covers_no_plot_and_keeps_its_height(
    shown, size: tuple[int, int], scheme: str
) -> None:
    page = shown(size, scheme, still=True)
    heights, tops = set(), set()
    for k in range(4):
        assert page.value("document.documentElement.scrollWidth") <= size[0]
        box = "document.querySelector('.story').getBoundingClientRect()"
        heights.add(page.value("document.querySelector('.controls').offsetHeight"))
        tops.add(round(page.value(f"{box}.height")))
        # Scrolled to the end, no plot reaches below the top of the controls.
        page.value("window.scrollTo(0, document.documentElement.scrollHeight)")
        lowest = page.value(
            "Math.max(...[...document.querySelectorAll('.panel:not([hidden])')]"
            ".map((one) => one.getBoundingClientRect().bottom))"
        )
        assert (
            lowest
            <= page.value("document.querySelector('.controls').getBoundingClientRect().top") + 1
        )
        visible = page.value("[...document.querySelectorAll('.panel:not([hidden])')].length")
        assert visible == 2 * (4, 2, 1, 1)[k]
        # Large enough for a finger.
        assert page.value("document.querySelector('.turn button').offsetHeight") >= 36
        page.value("document.querySelector('.turn button').click()")
    assert len(heights) == len(tops) == 1
    shade = page.value("getComputedStyle(document.documentElement).backgroundColor")
    assert (sum(json.loads(f"[{shade[4:-1]}]")) < 300) == (scheme == "dark")


@in_browser
def test_a_swipe_steps(shown) -> None:
    page = shown(PHONE, still=True)
    swipe = """(() => { const story = document.querySelector('.story');
      for (const [kind, clientX] of [['pointerdown', 300], ['pointerup', %d]])
        story.dispatchEvent(new PointerEvent(kind, { clientX, bubbles: true })); })()"""
    page.value(swipe % 200)
    assert moment(page) == places()[1]
    page.value(swipe % 290)  # too short
    assert moment(page) == places()[1]
    page.value(swipe % 390)
    assert moment(page) == 0
