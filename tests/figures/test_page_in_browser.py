"""Pages in a real browser: they draw, play and read as they should, and let nothing else in."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from core.figures import page as pages
from core.figures.margin_curves import CURVES
from core.figures.numbers import linear_ticks
from core.figures.options import FigureOptions, Region, ViewOptions
from core.figures.page import PageOptions, page_html
from core.figures.page_data import frames_of
from core.figures.palette import DARK, LIGHT, rgb
from core.figures.primitives import Box
from core.figures.sorted_panel import sorted_values
from core.figures.ticks import root_ticks
from core.numbers import number_text, time_text
from core.observables.node_sets import NodeSet
from core.observables.registry import OBSERVABLES
from core.reference.margin import ReferenceMargin
from tests.figures.test_page import LOOKS, material_of
from tests.support.browser import Browser, browser, browser_path
from tests.support.made_up_figures import DEGENERATE, far_run, problem_of, two_runs, write_run
from tests.support.pages import HOSTILE, data_of, flat
from tests.support.theory_stand_ins import GLOBAL, NARROW

PROGRAM = browser_path()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no Chromium here, in which pages are tested; install chromium"
)
ELSEWHERE = "http:" + "//127.0.0.1:9/x.png"
READY = "document.querySelector('main')?.dataset.ready === 'true'"
LINES = [tuple(ReferenceMargin(one, one.bracket, 0.1) for one in (GLOBAL, NARROW))] * 2
SHAPES = {
    "two": two_runs,
    "far": lambda: (far_run(),),
    **{name: (lambda make=make: (make(),)) for name, make in DEGENERATE.items()},
}
ALWAYS = ("two", "far", "d = 1", "dead", "huge")  # the other shapes are marked slow
INK = "document.querySelectorAll('.plot canvas + canvas')[%d].getBoundingClientRect()"
SWEEP = """(() => {
  const canvas = document.querySelectorAll('.plot canvas + canvas')[%d];
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const note = document.querySelector('.note');
  const found = [];
  for (let x = 0.25 * width; x < 0.97 * width; x += 9) {
    for (let y = 4; y < 0.8 * height; y += 8) {
      const place = { clientX: left + x, clientY: top + y, bubbles: true };
      canvas.dispatchEvent(new PointerEvent('pointermove', place));
      if (!note.hidden) found.push(note.innerText);
    }
  }
  return found;
})()"""
MOVE = """(() => {
  const slider = document.querySelector('input[type=range]');
  slider.value = %d;
  slider.dispatchEvent(new Event('input'));
})()"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        yield one


@pytest.fixture
def shown(chromium: Browser, tmp_path: Path):
    """Show a page, and say afterwards that the console stayed empty and nothing was asked for."""

    def show(text: str, size: tuple[int, int] = (1280, 800), fragment: str = "") -> Browser:
        path = tmp_path / "figure.html"
        path.write_text(text, encoding="utf-8")
        chromium.resize(*size)
        chromium.prefer("light")
        chromium.open(path, READY, fragment)
        return chromium

    yield show
    assert chromium.log == []
    assert [address for address in chromium.requests if not address.startswith("file:")] == []


def figure(**more) -> str:
    return page_html(two_runs(), None, FigureOptions(LIGHT, references=LINES), **more)


def text_of(page: Browser, selector: str) -> str:
    return str(page.value(f"document.querySelector('{selector}').textContent"))


def inked(page: Browser) -> list[int]:
    """Return how many pixels of each upper canvas have been drawn on."""
    counts: list[int] = page.value(
        """[...document.querySelectorAll('.plot canvas + canvas')].map((canvas) => {
          const { width, height } = canvas;
          const copy = new OffscreenCanvas(width, height); // what is read often is not drawn fast
          const seen = copy.getContext('2d', { willReadFrequently: true });
          seen.drawImage(canvas, 0, 0);
          const { data } = seen.getImageData(0, 0, width, height);
          return data.filter((value, k) => k % 4 === 3 && value > 0).length;
        })"""
    )
    return counts


# ---------------------------------------------------------------------------------- the texts


def test_numbers_and_ticks_are_those_of_the_program(shown) -> None:
    generator = np.random.default_rng(8)
    values = [*(10.0 ** generator.uniform(-9, 9, 200)), 9.996, 1e4, 1e-4, 0.0, 1e300, 1e-300]
    values += [-value for value in values]
    times = [*generator.uniform(-3, 6, 60), -math.inf, 999.96, 1000.0, 12345.6, 1e200, 2.305]
    ranges = [(-a * 10.0**k, b * 10.0**k) for a, b, k in generator.uniform(-7, 7, (60, 3))]
    ranges = [(min(pair), max(pair)) for pair in ranges]
    page = shown(figure())
    module = "\n".join(pages.EXPORT.sub("", pages._part("numbers.js")).splitlines())
    ends = [0.0, 1.0, 1e16, 1e16 + 2.0, 1e100, 1e300, 1.79e308, 5e-324, 1e-300, -1e300, -1.79e308]
    absurd = [(low, high) for low in ends for high in ends]
    given = json.dumps([values, [t for t in times if math.isfinite(t)], ranges, absurd])
    found = page.value(
        f"""(() => {{ {module}
          const [values, times, ranges, absurd] = {given};
          return [
            values.map((value) => numberText(value)), values.map((value) => numberText(value, 4)),
            times.map((time) => timeText(time)),
            ranges.map(([low, high]) => linearTicks(low, high, 6)),
            ranges.map(([low, high]) => rootedTicks(low, high, 5)),
            [timeText(-Infinity), numberText(NaN), numberText(-Infinity)],
            absurd.map(([low, high]) => linearTicks(low, high, 6).map(([place]) => place)),
          ]; }})()"""
    )
    assert found[0] == [number_text(value) for value in values]
    assert found[1] == [number_text(value, 4) for value in values]
    finite = [time for time in times if math.isfinite(time)]
    assert found[2] == [time_text(time) for time in finite]
    for mine, own in ((found[3], (linear_ticks, 6)), (found[4], (root_ticks, 5))):
        for ticks, (low, high) in zip(mine, ranges, strict=True):
            expected = own[0](low, high, own[1])
            assert [text for _, text in ticks] == [text for _, text in expected]
            places = [place for place, _ in expected]
            assert [place for place, _ in ticks] == pytest.approx(places)
    assert found[5] == ["t = 0", "none", "\u2212infinite"]
    # No number of ticks, nor of steps between them, is beyond all bounds: equal ends froze a page.
    for places, (low, high) in zip(found[6], absurd, strict=True):
        assert places == pytest.approx([place for place, _ in linear_ticks(low, high, 6)])


# --------------------------------------------------------------------------------- the picture


def test_frames_are_drawn_and_the_readout_is_that_of_the_frame(shown) -> None:
    runs = two_runs()
    page = shown(figure())
    frames = frames_of(runs, 400)
    data = data_of(figure())
    last = len(data["moments"]) - 1
    pictures = set()
    for moment in (0, last // 2, last):
        page.value(MOVE % moment)
        assert text_of(page, ".clock") == flat(data["moments"][moment])
        assert text_of(page, ".number") == f"{moment + 1} / {last + 1}"
        for number, run in enumerate(runs):
            heads = page.value("[...document.querySelectorAll('.values')].map(x => x.textContent)")
            for name, _, factor, _ in CURVES:
                value = factor * OBSERVABLES[name].value_at(run, int(frames[number][moment]))
                assert number_text(value) in heads[number]
        assert min(inked(page)) > 100
        pictures.add(page.picture())
    assert len(pictures) == 3


@pytest.mark.slow
def test_the_palette_is_that_of_the_reader_until_another_is_chosen(shown) -> None:
    page = shown(figure())
    page.prefer("dark")
    page.wait("document.documentElement.style.colorScheme === 'dark'")
    with Image.open(io.BytesIO(page.picture())) as picture:
        assert picture.convert("RGB").getpixel((1, 1)) == tuple(rgb(DARK.background))
    page.press("d", text="d")
    page.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    with Image.open(io.BytesIO(page.picture())) as picture:
        assert picture.convert("RGB").getpixel((1, 1)) == tuple(rgb(LIGHT.background))
    page.value("document.querySelector('.controls').dataset.seen = 1")
    dark = shown(figure(options=PageOptions(colours="dark")))
    assert dark.value("document.documentElement.style.colorScheme") == "dark"


@pytest.mark.parametrize(
    "name",
    [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.slow) for name in SHAPES],
)
def test_every_run_is_drawn_at_its_start_and_its_end(shown, name) -> None:
    looks = (
        FigureOptions(LIGHT),
        FigureOptions(LIGHT, view=ViewOptions(roots=True, against="step", pinned=({0},))),
    )
    for look in looks:
        page = shown(page_html(SHAPES[name](), pages.PAGE_PANELS, look))
        assert max(inked(page)) > 20
        page.press("Home")
        assert max(inked(page)) > 20


@pytest.mark.slow
def test_the_whole_figure_is_seen_in_a_full_window_and_in_a_narrow_frame(shown) -> None:
    for size in ((1280, 800), (700, 500), (1920, 1080), (360, 640), (700, 260)):
        page = shown(figure(), size)
        width, height, foot, last = page.value(
            """[document.documentElement.scrollWidth, window.innerHeight,
              document.querySelector('.controls').getBoundingClientRect().bottom,
              [...document.querySelectorAll('.plot')].at(-1).getBoundingClientRect().bottom]"""
        )
        assert width <= size[0]  # nothing is cut at the side
        assert foot <= height + 1  # and the controls are always there
        if size[0] >= 700 and size[1] >= 500:
            assert last <= foot
        boxes = page.value(
            "[...document.querySelectorAll('.plot')].map(x => [x.clientWidth, x.clientHeight])"
        )
        assert min(min(box) for box in boxes) >= 80
    page = shown(figure(), (1280, 800))
    assert page.value("document.querySelector('footer').getBoundingClientRect().bottom") <= 800
    page.resize(700, 500, 2.0)
    page.wait("document.querySelector('canvas').width > 200")
    ratio = "document.querySelector('canvas').width / document.querySelector('canvas').clientWidth"
    page.wait(f"Math.abs({ratio} - 2) < 0.05")


def test_another_screen_has_sharp_letters(shown) -> None:
    """The size of the page stays, and there are more pixels: the next moment has them."""
    page = shown(figure(), (1280, 800))
    page.resize(1280, 800, 2.0)
    page.press("ArrowLeft", number=37)
    ratio = "document.querySelector('canvas').width / document.querySelector('canvas').clientWidth"
    page.wait(f"Math.abs({ratio} - 2) < 0.05")


@pytest.mark.parametrize(
    ("size", "lines"), [((1280, 900), [3, 2]), ((900, 1200), [2, 2, 1]), ((2400, 500), [5])]
)
def test_a_last_line_of_fewer_panels_leaves_no_gap(shown, size, lines) -> None:
    """Panels are at most 1.5 times as wide for it, and all are as high."""
    kinds = ("neurons", "rotations", "norms", "margins", "curves")
    page = shown(page_html(two_runs()[:1], kinds, FigureOptions(LIGHT)), size)
    boxes = page.value(
        """[...document.querySelectorAll('.plot')].map((plot) => {
          const { left, right, top, height } = plot.getBoundingClientRect();
          return [left, right, top, height];
        })"""
    )
    tops = sorted({round(box[2]) for box in boxes})
    rows = [[box for box in boxes if round(box[2]) == top] for top in tops]
    assert [len(row) for row in rows] == lines
    ends = {round(row[-1][1]) for row in rows}
    assert (max(ends) - min(ends) <= 3) == (lines[-1] != 1 or len(lines) == 1)
    assert len({round(box[3]) for box in boxes}) == 1
    widths = [box[1] - box[0] for box in boxes]
    assert max(widths) <= 1.51 * min(widths)


PLACES = """(async () => {
  SCRIPT
  const data = await unpacked(JSON.parse(document.getElementById('material').textContent));
  const frame = { left: 0, top: 0, width: 300, height: 200 };
  return data.rows.map((row) => {
    const { neurons, rotations } = row.panels;
    const nodes = prepareNeurons(neurons, row);
    const curves = prepareSorted(rotations, row, 'rotations');
    return Array.from(row.stops, (_, stop) => {
      const { x, y } = neuronAxes(neurons, stop, frame);
      const at = placer(frame, x, y);
      const places = Array.from({ length: row.m }, (_, node) => {
        const [across, up] = nodePlace(neurons, nodes, row, stop, node);
        return [at.x(across), at.y(up)];
      });
      const ticks = [x, y].map((axis) => axis.ticks.map(([place]) => place));
      const turned = sortedPlaces(curves, row, stop).map(([, value]) => value);
      return { ends: [x.low, x.high, y.low, y.high], places, ticks, turned };
    });
  });
})()"""


@pytest.mark.parametrize("name", LOOKS)
def test_nodes_are_drawn_to_a_tenth_of_a_pixel_where_a_film_has_them(shown, name) -> None:
    runs, box = two_runs(), Box(0.0, 0.0, 300.0, 200.0)
    material = material_of(runs, LOOKS[name])
    page = shown(page_html(runs, None, LOOKS[name]))
    rows = page.value(PLACES.replace("SCRIPT", pages.bundle().removesuffix("begin();")))
    for number, (row, track) in enumerate(zip(rows, material.tracks, strict=True)):
        zoomed = LOOKS[name].view.region(number, "neurons") is not None
        for found, frame in zip(row, track.frames.tolist(), strict=True):
            if zoomed:
                drawn, dots = material.panel(number, "neurons", "", box)
                ink = material.ink(drawn, frame, dots)
            else:
                drawn = material.follow_nodes(number, frame, box)
                ink = drawn.ink
            x, y = drawn.x, drawn.y
            assert found["ends"] == pytest.approx([x.low, x.high, y.low, y.high], rel=1e-6)
            for mine, axis in zip(found["ticks"], (x, y), strict=True):
                if not zoomed:
                    assert mine == pytest.approx([place for place, _ in axis.ticks])
            nodes = next(dots for dots in ink.dots if dots.name == "nodes")
            across = 300.0 * (nodes.x - x.low) / (x.high - x.low)
            down = 200.0 - 200.0 * (nodes.y - y.low) / (y.high - y.low)
            expected = sorted(zip(across.tolist(), down.tolist(), strict=True))
            assert np.abs(np.array(sorted(found["places"])) - expected).max() < 0.1
            sorted_own = sorted_values(runs[number], "rotations", frame)
            assert found["turned"] == pytest.approx(sorted_own, abs=2e-5, nan_ok=True)


# ------------------------------------------------------------------------- keys and the pointer


@pytest.mark.slow
def test_keys_play_step_and_change_the_speed(shown) -> None:
    page = shown(figure())
    last = int(page.value("Number(document.querySelector('input').max)"))

    def at() -> int:
        return int(page.value("Number(document.querySelector('input').value)"))

    assert at() == last
    page.press("Home")
    assert at() == 0
    page.press("ArrowRight")
    page.press("ArrowRight")
    page.press("ArrowLeft")
    assert at() == 1
    for key, rate in (("+", "2\u00d7"), ("-", "1\u00d7"), ("-", "\u00bd\u00d7"), ("9", "9\u00d7")):
        page.press(key, text=key)
        assert text_of(page, ".rate") == rate
    page.press(" ", "Space", " ")
    page.wait(f"document.querySelector('input').value == {last}")
    page.wait("document.querySelector('button[aria-label^=play]')")  # it rests at the end
    page.press("l", text="l")
    page.press(" ", "Space", " ")
    page.wait(f"document.querySelector('input').value == {last}")
    page.wait(f"document.querySelector('input').value < {last}")  # round and round
    page.press(" ", "Space", " ")
    page.value("document.querySelector('input').focus()")
    page.press("End", number=35)
    assert at() == last
    page.press("ArrowLeft", number=37)
    assert at() == last - 1  # not twice, where the slider has keys of its own
    assert page.value("document.querySelector('input').matches(':focus-visible')")


@pytest.mark.slow
def test_all_controls_and_pictures_have_names(shown) -> None:
    page = shown(figure())
    names = page.value(
        """[...document.querySelectorAll('button, input, canvas[role=img]')].map(
          (element) => element.getAttribute('aria-label'))"""
    )
    assert all(names)
    assert len(set(names)) == len(names)
    text = page.value("document.querySelector('input').getAttribute('aria-valuetext')")
    assert "frame 12 of 12" in text
    assert text_of(page, "[role=status]").startswith("t = 1.00 \u00d7 10^4; m = 6: hard")


@pytest.mark.slow
def test_the_pointer_reads_nodes_curves_and_reference_margins(shown) -> None:
    run = two_runs()[0]
    page = shown(figure())

    def swept(number: int) -> set[str]:
        return set(page.value(SWEEP % number))

    left, top = page.value("(({ left, top }) => [left, top])(" + INK % 0 + ")")
    page.mouse("mouseMoved", left + 2, top + 2)
    assert page.value("document.querySelector('.note').hidden")
    last = run.frames - 1
    rotation, norm = (
        OBSERVABLES[name].value_at(run, last) for name in ("rotation", "relative_norm")
    )
    known = {
        f"neuron {j}": (f"rotation: {number_text(rotation[j], 4)}", number_text(norm[j]))
        for j in range(6)
    }
    track = material_of([run], FigureOptions(LIGHT)).tracks[0]
    places = track.points[-1] * 10.0**track.power
    read = [text.splitlines() for text in swept(0)]
    assert {lines[1] for lines in read} == set(known)
    for lines in read:
        words, share = known[lines[1]]
        node = int(lines[1].removeprefix("neuron "))
        for place, line in zip(places[node].tolist(), lines[2:4], strict=True):
            assert line.endswith(f": {number_text(place)}")
        assert float(lines[-2].split(": ")[1].replace("\u2212", "-")) == pytest.approx(
            float(words.split(": ")[1].replace("\u2212", "-")), abs=1.5e-4
        )
        assert lines[-1] == f"relative norm: {share}"
    curves = {line.split(" ")[0] for text in swept(3) for line in text.splitlines()[1:2]}
    assert {"hard", "smoothed"} <= curves
    assert any("\u03b3gl / 2\n.0406" in text for text in swept(3))
    # What is read of a node goes along with time.
    page.value((SWEEP % 2).replace("found.push(note.innerText);", "return;"))
    before = page.value("document.querySelector('.note').innerText")
    page.press("Home")
    assert page.value("document.querySelector('.note').innerText") != before


@pytest.mark.slow
def test_a_click_pins_a_node_and_a_pull_along_curves_goes_through_time(shown) -> None:
    page = shown(figure(), (1280, 800), "#frame=6")
    assert text_of(page, ".number") == "6 / 12"
    before = page.picture()
    box = page.value(f"{INK % 3}.toJSON()")
    left, top, width, height = (box[name] for name in ("left", "top", "width", "height"))
    middle = {"button": "left", "clickCount": 1}
    page.mouse("mousePressed", left + 0.3 * width, top + 0.7 * height, buttons=1, **middle)
    early = int(page.value("Number(document.querySelector('input').value)"))
    page.mouse("mouseMoved", left + 0.97 * width, top + 0.7 * height, buttons=1, button="left")
    page.mouse("mouseReleased", left + 0.97 * width, top + 0.7 * height, **middle)
    late = int(page.value("Number(document.querySelector('input').value)"))
    assert early < 5
    assert late == 11
    assert page.picture() != before


COLOURS = """((number, upper, left) => {
  const canvas = document.querySelectorAll('.plot')[number].children[upper];
  const { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  copy.fillStyle = '#fff';
  if (!upper) copy.fillRect(0, 0, width, height);
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, Math.round(left * width), height);
  const found = {};
  for (let k = 0; k < data.length; k += 4) {
    if (data[k + 3] < 250 && upper) continue;
    const name = data.slice(k, k + 3).join();
    found[name] = (found[name] ?? 0) + 1;
  }
  return found;
})(%d, %d, %g)"""


def painted(page: Browser, panel: int, upper: bool, left: float = 1.0) -> dict[str, int]:
    """How many pixels of each colour a canvas of a panel has, from its left up to a share of it:
    the upper one where it is drawn on, the lower one on white."""
    found: dict[str, int] = page.value(COLOURS % (panel, upper, left))
    return found


def rgb_text(colour: str, background: str = "#ffffff", opacity: float = 1.0) -> str:
    ends = [np.array(rgb(one), dtype=float) for one in (background, colour)]
    return ",".join(str(round(x)) for x in (1.0 - opacity) * ends[0] + opacity * ends[1])


def near(found: dict[str, int], wanted: str) -> int:
    """Return pixels of a colour, up to rounding."""
    aim = np.array([int(x) for x in wanted.split(",")])
    each = ((np.array([int(x) for x in name.split(",")]), count) for name, count in found.items())
    return sum(count for colour, count in each if np.abs(colour - aim).max() <= 2)


@pytest.mark.slow
def test_what_is_to_come_is_faint_and_the_start_stands_at_the_left(shown) -> None:
    """At t = 0, which a logarithmic axis does not have, as at any other moment."""
    page = shown(page_html([two_runs()[1]], ["margins", "norms"]))
    strong = rgb_text(LIGHT.foreground)
    faint = rgb_text(LIGHT.foreground, LIGHT.background, 0.3)
    assert near(painted(page, 0, upper=True), strong) > 200
    page.value(MOVE % 0)
    assert near(painted(page, 0, upper=False), faint) > 100
    now = near(painted(page, 0, upper=True), strong)
    assert 20 < now < 200  # a disc, and no sentence
    assert near(painted(page, 0, upper=True, left=0.2), strong) == now
    read = {line.split(" ")[0] for text in page.value(SWEEP % 0) for line in text.splitlines()[1:2]}
    assert {"hard", "smoothed"} <= read  # of what is faint too


@pytest.mark.slow
def test_nothing_jumps_on_a_phone(shown) -> None:
    """Numbers become longer and shorter while it plays."""
    page = shown(figure(), (400, 800))
    heights = []
    for moment in range(12):
        page.value(MOVE % moment)
        heights.append(page.value("document.documentElement.scrollHeight"))
    assert len(set(heights)) == 1
    # However long they are: they have a line of their own.
    gaps = page.value(
        "[...document.querySelectorAll('.values')]"
        ".map((one) => one.offsetTop - one.previousSibling.offsetTop)"
    )
    assert min(gaps) > 12
    assert page.value("document.querySelector('.controls input').offsetWidth") > 350
    assert page.value("document.documentElement.scrollWidth") == 400
    tops = page.value(
        "[...document.querySelectorAll('.controls button')].map((one) => one.offsetTop)"
    )
    assert len(tops) == 6 and max(tops) - min(tops) < 10  # in one line


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 800), (400, 800)])
def test_what_is_lowered_and_raised_is_not_cut(size: tuple[int, int], shown) -> None:
    page = shown(figure(), size)
    rooms = page.value(
        """[...document.querySelectorAll('.title sub, .key sup')].map((part) => {
          const over = document.createRange(); over.selectNodeContents(part);
          const text = over.getBoundingClientRect();
          const box = part.closest('.title, .key').getBoundingClientRect();
          return Math.min(box.bottom - text.bottom, text.top - box.top);
        })"""
    )
    assert len(rooms) >= 8
    assert min(rooms) >= -2  # letters do not reach the ends of their line


# -------------------------------------------------------------------------------------- safety


def test_hostile_texts_do_not_run(shown) -> None:
    run = write_run(problem_of(title=HOSTILE))
    look = FigureOptions(LIGHT, selected=[NodeSet(HOSTILE, frozenset({1}))])
    page = shown(page_html([run], None, look, PageOptions(title=HOSTILE)))
    assert page.value("document.images.length") == 0
    assert page.value("document.scripts.length") == 2
    assert page.value("document.title").startswith("</script><img src=x onerror=")
    assert text_of(page, "h1").startswith("</script><img src=x onerror=")
    assert page.value("document.querySelector('footer b') === null")


def test_nothing_else_is_let_in(chromium, tmp_path) -> None:
    path = tmp_path / "figure.html"
    path.write_text(figure(), encoding="utf-8")
    chromium.open(path, READY)
    chromium.value(
        """(() => { const script = document.createElement('script');
          script.textContent = 'document.body.dataset.ran = 1'; document.body.append(script);
          document.body.append(Object.assign(new Image(), { src: 'ADDRESS' })); })()""".replace(
            "ADDRESS", ELSEWHERE
        )
    )
    refused = chromium.value(f"fetch('{ELSEWHERE}').then(() => false, () => true)")
    assert refused
    assert chromium.value("document.body.dataset.ran === undefined")
    assert sum("Content Security Policy" in words for words in chromium.log) >= 3


@pytest.mark.slow
def test_two_pages_in_one_do_not_clash(chromium, tmp_path) -> None:
    first, second = (page_html([run]) for run in two_runs())
    holder = tmp_path / "notebook.html"
    holder.write_text(
        "<!doctype html><body><script>for (const text of "
        + pages.script_json([first, second])
        + ") { const frame = document.createElement('iframe'); frame.srcdoc = text;"
        "frame.style.width = '700px';"
        "frame.style.height = '500px'; document.body.append(frame); }</script>",
        encoding="utf-8",
    )
    frames = "[...document.querySelectorAll('iframe')].map((one) => one.contentDocument)"
    ready = f"{frames}.length === 2 && {frames}.every((one) => one?.querySelector('[data-ready]'))"
    chromium.resize(900, 1100)
    chromium.open(holder, ready)
    heads = chromium.value(f"{frames}.map((one) => one.querySelector('h2').textContent)")
    assert [text.split("hard")[0] for text in heads] == ["m = 6", "m = 9"]
    event = "new KeyboardEvent('keydown', { key: 'Home' })"
    chromium.value(f"{frames}[0].dispatchEvent({event})")
    places = chromium.value(f"{frames}.map((one) => Number(one.querySelector('input').value))")
    assert places == [0, 11]
    assert chromium.log == []


@pytest.mark.slow
def test_a_browser_without_unpacking_says_so(chromium, tmp_path) -> None:
    path = tmp_path / "figure.html"
    path.write_text(figure(), encoding="utf-8")
    added = chromium.call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream"
    )
    try:
        chromium.open(path, "document.querySelector('main p')")
        assert "a current version of any browser can" in text_of(chromium, "main")
    finally:
        chromium.call("Page.removeScriptToEvaluateOnNewDocument", **added)


@pytest.mark.slow
def test_a_zoomed_page_shows_the_chosen_range(shown) -> None:
    run = two_runs()[0]
    region = Region(0, "margins", 0.0, 2.0, -1.0, 1.0)
    page = shown(
        page_html([run], ["margins"], FigureOptions(LIGHT, view=ViewOptions(regions=(region,))))
    )
    assert inked(page)[0] > 20
