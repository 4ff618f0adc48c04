"""Pages: their numbers are those of figures, their texts stay texts, and nothing else is let in."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.figures import page as pages
from core.figures.material import compute_panel_data
from core.figures.names import PAGE_PANELS, PANELS
from core.figures.options import FigureOptions, Region, ViewOptions
from core.figures.page import PageOptions, page_html, save_page, views_of
from core.figures.page_data import frames_of
from core.figures.page_encoding import (
    encode,
    encode_floats,
    encode_integers,
    encode_places,
    encode_trimmed,
    pieces,
    plain_words,
)
from core.figures.palette import DARK, LIGHT, css, rgb
from core.figures.primitives import Box
from core.figures.reference_colours import reference_colour
from core.observables.node_sets import NodeSet
from core.observables.planes import parse_plane
from core.problem.problem import Problem, resolve_problem
from core.reference.margin import ReferenceMargin
from core.studies.study import Study
from tests.support.made_up_figures import DEGENERATE, far_run, problem_of, two_runs, write_run
from tests.support.pages import HOSTILE, data_of, decode_array, flat, page_of, points_at
from tests.support.theory_stand_ins import FAR, GLOBAL, LINEAR, NARROW, TANGENT

LINES = tuple(
    ReferenceMargin(one, one.bracket, 0.1) for one in (LINEAR, GLOBAL, TANGENT, NARROW, FAR)
)
SQUARE = Box(0.0, 0.0, 40.0, 40.0)
CLOSE = 1e-3  # of the range of an axis
LOOKS = {
    "as it is": FigureOptions(LIGHT),
    "roots": FigureOptions(LIGHT, view=ViewOptions(roots=True)),
    "directions": FigureOptions(LIGHT, view=ViewOptions(nodes="directions")),
    "a plane": FigureOptions(LIGHT, parse_plane("motion")),
    "steps": FigureOptions(LIGHT, view=ViewOptions(against="step")),
    "zoomed": FigureOptions(
        LIGHT,
        view=ViewOptions(
            regions=(
                Region(0, "neurons", 0.1, 0.3, 0.05, 0.1),
                Region(0, "rotations", 0.0, 1.0, 0.98, 1.0),
                Region(0, "norms", 0.5, 1.0, 0.9, 1.0),
            )
        ),
    ),
}
RUNS = {"two": two_runs, "far": lambda: (far_run(),)} | {
    name: (lambda make=make: (make(),)) for name, make in DEGENERATE.items()
}


def stops_of(runs, most=400):
    return [np.unique(some) for some in frames_of(runs, most)]


def material_of(runs, shown, kinds=PANELS):
    """Return what films draw, at the frames of a page."""
    return compute_panel_data(runs, kinds, [run.frames - 1 for run in runs], shown, stops_of(runs))


# ------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("name", LOOKS)
def test_nodes_stand_where_a_film_draws_them(name) -> None:
    runs, shown = two_runs(), LOOKS[name]
    data, material = page_of(runs, shown=shown), material_of(runs, shown)
    fixed = shown.view.region(0, "neurons")
    for number, row in enumerate(data["rows"]):
        panel = row["panels"]["neurons"]
        for stop, frame in enumerate(material.tracks[number].frames.tolist()):
            if fixed is not None and number == 0:
                drawn, dots = material.panel(number, "neurons", "", Box(0, 0, 40.0, 10.0))
                ink = material.ink(drawn, frame, dots)
            else:
                drawn = material.follow_nodes(number, frame, SQUARE)
                ink = drawn.ink
            view = panel["view"][stop]
            assert view == pytest.approx([drawn.x.low, drawn.x.high, drawn.y.low, drawn.y.high])
            found = points_at(row, panel, stop)
            nodes = next(dots for dots in ink.dots if dots.name == "nodes")
            order = np.lexsort((found[:, 1], found[:, 0]))
            expected = np.stack([nodes.x, nodes.y], axis=1)
            expected = expected[np.lexsort((expected[:, 1], expected[:, 0]))]
            reach = np.array([view[1] - view[0], view[3] - view[2]])
            assert np.abs(found[order] - expected).max() / reach.min() < CLOSE
            # To four digits, also near 0.
            assert found[order] == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("name", LOOKS)
def test_sorted_values_and_curves_are_those_of_a_film(name) -> None:
    runs, shown = two_runs(), LOOKS[name]
    data, material = page_of(runs, shown=shown), material_of(runs, shown)
    for number, row in enumerate(data["rows"]):
        for kind in ("rotations", "norms", "margins"):
            drawn = material.panel(number, kind, "", SQUARE)[0]
            reach = drawn.y.high - drawn.y.low
            panel = row["panels"][kind]
            assert (panel["y"]["low"], panel["y"]["high"]) == (drawn.y.low, drawn.y.high)
            for stop, frame in enumerate(row["stops"].astype(int).tolist()):
                ink = material.ink(drawn, frame, ())
                if kind == "margins":
                    count = panel["counts"][stop]
                    if ink.note:  # as at t = 0
                        assert panel["notes"][panel["state"][stop]] == ink.note
                        continue
                    for mine, own in zip(panel["curves"], ink.curves, strict=True):
                        assert own.y.shape[1] == count
                        assert mine["y"][:count] == pytest.approx(own.y[0], nan_ok=True)
                        assert panel["along"][:count] == pytest.approx(own.x[0], nan_ok=True)
                    continue
                own = ink.curves[0].y
                values = row["nodes"][kind][stop]
                assert np.abs(np.sort(values) - own[-1]).max() / reach < CLOSE
                past = [k for k, index in enumerate(panel["frames"]) if index < frame]
                assert panel["values"][past] == pytest.approx(own[:-1])


def test_curves_are_named_in_words() -> None:
    shown = FigureOptions(view=ViewOptions(curves=("log10_risk", "distance")))
    panel = page_of(two_runs()[:1], ("curves",), shown)["rows"][0]["panels"]["curves"]
    assert [flat(curve["name"]) for curve in panel["curves"]] == ["distance", "log10 risk"]


def test_colours_and_data_are_those_of_a_film() -> None:
    run = two_runs()[0]
    (row,) = page_of([run])["rows"]
    panel, nodes = row["panels"]["neurons"], row["nodes"]
    for dark, palette in enumerate((LIGHT, DARK)):
        material = material_of([run], FigureOptions(palette))
        for stop, frame in enumerate(material.tracks[0].frames.tolist()):
            ink = material.follow_nodes(0, frame, SQUARE).ink
            drawn = next(dots for dots in ink.dots if dots.name == "nodes")
            strength = np.sort(nodes["norms"][stop].astype(float))
            order = np.argsort(nodes["norms"][stop], kind="stable")
            for place, node in enumerate(order.tolist()):
                table = nodes["shades"][dark][nodes["kinds"][stop][node]]
                colour = rgb(table[round(64 * np.sqrt(strength[place]))])
                assert np.abs(colour - drawn.colours[place, :3]).max() <= 4
            for mine, own in zip(panel["data"], ink.dots, strict=False):
                assert panel["scale"][stop] * mine["x"] == pytest.approx(own.x, rel=0.01)
                assert mine["colours"][dark] == css(own.colours)[0]
                assert mine["areas"] == pytest.approx(own.areas)


def test_reference_margins_have_their_names_colours_and_dashes() -> None:
    run = two_runs()[0]
    data = page_of([run], shown=FigureOptions(LIGHT, references=[LINES]))
    material = material_of([run], FigureOptions(LIGHT, references=[LINES]))
    levels = data["rows"][0]["panels"]["margins"]["levels"]
    own = material.panel(0, "margins", "", SQUARE)[0].levels
    assert [one["value"] for one in levels] == [one.value for one in own]
    assert [one["label"] for one in levels] == [[list(p) for p in pieces(one.label)] for one in own]
    assert [one["dash"] for one in levels] == ["solid", "dashed", "dashed", "dashed"]
    named = {flat(one["label"]).split(" (")[0]: one for one in levels}
    both = [reference_colour(GLOBAL.name, palette) for palette in (LIGHT, DARK)]
    gamma = named["\u03b3gl / 2"]
    assert gamma["colours"] == both
    assert gamma["reading"] == ".0406 [.04, .04065]"


def test_moments_of_several_runs_pass_evenly_and_of_one_are_its_own() -> None:
    short, long = write_run(problem_of(), (-np.inf, 0.0, 1.0)), two_runs()[0]
    assert frames_of([long], 5)[0].tolist() == [0, 3, 6, 8, 11]
    assert frames_of([long], 400)[0].tolist() == list(range(long.frames))
    first, second = frames_of([short, long], 400)
    assert (first[0], second[0]) == (0, 0)
    assert (first[-1], second[-1]) == (2, long.frames - 1)
    assert (np.diff(first) >= 0).all()
    data = page_of([short, long])
    assert [flat(one) for one in data["moments"]][:: len(data["moments"]) - 1] == [
        "t = 0",
        "t = 1.00 \u00d7 104",
    ]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("panels", [None, PAGE_PANELS])
def test_every_run_that_a_figure_can_show_has_a_page(name, panels) -> None:
    runs = RUNS[name]()
    data = page_of(runs, panels)
    for row in data["rows"]:
        assert len(row["at"]) == len(data["moments"])
        assert row["at"].max() == len(row["stops"]) - 1
    texts = [flat(part) for part in (data["title"], *data["caption"][0], *data["caption"][1])]
    assert not [text for text in texts if "\\" in text and name != "signs"]


def test_a_head_has_the_views_that_exist() -> None:
    head = write_run(problem_of("network.kind=head", "dynamics.kind=gd", "dynamics.step=.1"))
    assert views_of([head]) == ("norms", "margins")
    assert page_of([head])["kinds"] == ["norms", "margins"]
    both = page_of([head, two_runs()[0]])
    assert both["kinds"] == list(PANELS)
    assert both["rows"][0]["panels"]["neurons"]["note"] == "this network has no inner weights"


def test_selected_and_pinned_nodes_are_told_apart() -> None:
    run = two_runs()[0]
    nodes = NodeSet("late </script>", frozenset({1, 4}))
    shown = FigureOptions(LIGHT, selected=[nodes], view=ViewOptions(pinned=(frozenset({2}),)))
    data = page_of([run], shown=shown)
    (row,) = data["rows"]
    assert row["nodes"]["chosen"] == [1, 4]
    assert row["pins"] == [2]
    assert len(row["nodes"]["dim"][0]) == len(row["nodes"]["shades"][0]) == 3
    assert "late </script>" in flat(data["caption"][0][1])


# ------------------------------------------------------------------------------------- packing


@pytest.mark.parametrize("kind", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4), (5, 2, 3)])
def test_arrays_come_back_to_the_last_bit(kind, shape) -> None:
    values = (200 * np.random.default_rng(3).random(shape)).astype(kind)
    found = decode_array(encode(values))
    assert found.dtype == values.dtype
    assert (found == values).all()
    assert found.shape == shape


def test_numbers_beyond_single_precision_are_kept_in_double() -> None:
    assert encode_floats([1e300, 0.0])["type"] == "f8"
    assert encode_floats([1e-300])["type"] == "f8"
    assert encode_floats([np.nan, np.inf, 1.0])["type"] == "f4"


def test_precision_is_what_is_promised() -> None:
    generator = np.random.default_rng(4)
    points = generator.standard_normal((4, 50, 2)) * 10.0 ** generator.uniform(-3, 2, (4, 50, 2))
    packed, reach = (decode_array(part) for part in encode_places(points))
    found = packed.astype(float) * reach[:, None, None]
    assert np.abs(points).min() < 1e-5 * reach.max()
    assert np.abs(found / points - 1.0).max() < 2.0**-16
    share = np.append(generator.random((3, 40)), [np.full(40, np.nan)], axis=0)
    assert decode_array(encode_trimmed(share)) == pytest.approx(share, rel=2.0**-16, nan_ok=True)
    assert decode_array(encode_trimmed(share, True)) == pytest.approx(share, rel=1e-7, nan_ok=True)


def test_whole_numbers_have_room_for_the_largest(tmp_path: Path) -> None:
    for most in (0, 255, 256, 65_535, 70_000):  # in two bytes node 70,000 was 4,464
        values = np.array([[most, 0], [1, most]])
        assert np.array_equal(decode_array(encode_integers(values)), values)
    classes = np.arange(300)
    np.savez(tmp_path / "data.npz", x=np.stack([np.cos(classes), np.sin(classes)], 1), y=classes)
    tables = {
        "data": {"kind": "file", "path": str(tmp_path / "data.npz")},
        "network": {"kind": "multiclass", "m": 300},
        "loss": {"kind": "cross_entropy"},
    }
    problem = resolve_problem(Study("a", "", "", tables, {}, {}).cells()[0].experiment)

    def diagonal(problem: Problem, position: int) -> tuple[np.ndarray, float]:
        """Return node j is of class j."""
        return problem.network.pack({"A": np.eye(300), "V": np.ones((300, 2))}), 0.0

    run = write_run(problem, (-np.inf, 0.0), diagonal)
    (row,) = page_of([run], ("neurons",))["rows"]
    assert np.array_equal(row["nodes"]["kinds"], [classes, classes])  # 299 was 43


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("$\\langle v_j(0),v_j(t)\\rangle\\,/\\,\\Vert v_j(0)\\Vert$", "\u27e8v_j(0),v_j(t)\u27e9"),
        ("$\\mathrm{min}_i\\,p_i\\,/\\,\\Vert W\\Vert^2$", "min_i\u2009p_i"),
        ("half the $\\ell_1$ margin", "half the \u2113_1 margin"),
        ("6.6$\\times10^{5}$", "6.6\u00d710^5"),
        ("$10^{2.5\\times10^{6}}$", "10^2.5\u00d710^6"),
        ("$\\log_{10}\\,t$ = 2000", "log_10\u2009t = 2000"),
        ("5 \\$ a day", "5 $ a day"),
        ("$\\Pr,\\,\\deg,\\,\\lg,\\,\\sup$", "Pr,\u2009deg,\u2009lg,\u2009sup"),
        ("$y=-1$", "y\u2009=\u2009\u22121"),
    ],
)
def test_formulas_become_pieces(text, plain) -> None:
    assert plain_words(text).startswith(plain)


# -------------------------------------------------------------------------------------- safety


class Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""

    def handle_starttag(self, tag, attrs):
        self.elements[tag] += 1
        self.attributes += attrs
        self._open = tag

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        self.texts.setdefault(self._open, []).append(data)


def seen_in(text: str) -> Seen:
    parser = Seen()
    parser.feed(text)
    return parser


def hostile_run():
    return write_run(problem_of(title=HOSTILE))


def test_texts_of_runs_stay_texts() -> None:
    run = hostile_run()
    selected = [NodeSet(HOSTILE, frozenset({1}))]
    text = page_html(
        [run], None, FigureOptions(LIGHT, selected=selected), PageOptions(title=HOSTILE)
    )
    clean = seen_in(page_html(two_runs()[:1]))
    seen = seen_in(text)
    assert seen.elements == clean.elements
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert html.unescape("".join(seen.texts["title"])).startswith("</script><img src=x")
    assert text.count("</script>") == 2
    assert "\u2028" not in text
    data = data_of(text)
    assert flat(data["title"]).startswith("</script><img src=x onerror=")
    assert HOSTILE.split()[0] in flat(data["caption"][0][1])


def test_the_policy_allows_this_script_and_this_style_only() -> None:
    text = page_html(two_runs())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(part.strip().split(" ", 1) for part in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    for rule, pattern in (
        ("script-src", r'<script type="module">(.*?)</script>'),
        ("style-src", r"<style>(.*?)</style>"),
    ):
        (part,) = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "unsafe" not in policy[1]
    # No address is anywhere but the name of SVG's elements, which is no place.
    addresses = set(re.findall(r"https?://[\w./-]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}


def test_modules_have_no_name_twice_and_use_only_earlier_ones() -> None:
    script = pages.bundle()
    assert "import " not in re.sub(r"//.*", "", script)
    assert not re.search(r"^export\b", script, re.MULTILINE)
    found = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script, re.MULTILINE)
    assert not [name for name, count in Counter(found).items() if count > 1]
    folder = Path(pages.__file__).parents[2] / "resources" / "page"
    assert {path.name for path in folder.glob("*.js")} == set(pages.MODULES)
    known: set[str] = set()
    for name in pages.MODULES:
        source = (folder / name).read_text(encoding="utf-8")
        assert len(source.splitlines()) < 400
        for used in re.findall(r'^import \{[^}]*\} from "\./(.*?)";', source, re.MULTILINE):
            assert used in known
        known.add(name)


# ------------------------------------------------------------------------------------- writing


def test_equal_runs_give_equal_pages() -> None:
    assert page_html(two_runs()) == page_html(two_runs())


def test_a_page_is_written_completely_or_not_at_all(tmp_path) -> None:
    path = tmp_path / "deep" / "figure.html"
    told = []
    assert save_page(two_runs(), path, progress=lambda done, total: told.append(done / total))
    assert path.read_text(encoding="utf-8") == page_html(two_runs())
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert not save_page(two_runs(), tmp_path / "other.html", cancelled=lambda: True)
    with pytest.raises(InputError, match="cannot be written"):
        save_page(two_runs(), path / "below.html")
    assert [one.name for one in tmp_path.rglob("*.html")] == ["figure.html"]


@pytest.mark.parametrize(
    ("panels", "options", "words_"),
    [
        (["predictor"], PageOptions(), "cannot show the predictor"),
        (["nodes"], PageOptions(), "choose one or more of neurons"),
        ([], PageOptions(), "The views none"),
        (["norms", "norms"], PageOptions(), "each once"),
        (PANELS, PageOptions(frames=1), "choose 2 to 2000"),
        (PANELS, PageOptions(frames=9999), "choose 2 to 2000"),
        (PANELS, PageOptions(colours="pink"), "allowed are system, light, dark"),
    ],
)
def test_what_cannot_be_a_page_is_a_sentence(panels, options, words_) -> None:
    with pytest.raises(InputError, match=words_) as caught:
        page_html(two_runs(), panels, None, options)
    assert str(caught.value).endswith(".")


def test_too_many_runs_frames_or_nodes_are_refused(monkeypatch, tmp_path) -> None:
    with pytest.raises(InputError, match="No run is given"):
        page_html([])
    with pytest.raises(InputError, match="at most 10 runs"):
        page_html(two_runs() * 6)
    with pytest.raises(InputError, match=r"must end in \.html"):
        save_page(two_runs(), tmp_path / "figure.htm")
    monkeypatch.setattr(pages, "MOST_NUMBERS", 300)
    with pytest.raises(InputError, match="--frames 4") as caught:
        page_html(two_runs(), None, None, PageOptions(frames=12))
    assert "choose at most 4 frames" in caught.value.sentence
    page_html(two_runs(), None, None, PageOptions(frames=4))


def test_frames_are_thinned(monkeypatch) -> None:
    data = page_of(two_runs(), frames=4)
    assert len(data["moments"]) == 4
    assert [len(row["stops"]) <= 4 for row in data["rows"]] == [True, True]
