"""The panels that only show: inspector, status line, welcome page and the list of studies."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.playback.inspector import NODE_HINT, Fact, Inspector
from app.playback.status import StatusLine
from app.shell.welcome_page import WelcomePage
from app.state.node_values import NodeFacts
from app.study.chooser import LEAST_WIDTH, OPEN_TEXT, StudyChooser
from app.style import style_sheet
from app.theory.panel import FinalLine
from app.widgets.inputs import text_width
from app.widgets.labels import ElidedLabel
from app.widgets.layouts import fill_scrolled
from app.widgets.levels import label_width
from app.widgets.screen_text import greek, rich
from core.figures.palette import LIGHT, PALETTES
from core.observables.registry import OBSERVABLES
from core.studies.study import load_study, parse_study, shipped_ids
from tests.problems import FIGURE_1

ROOT = Path(__file__).resolve().parents[3]
MINUS = "\u2212"
FACTS = NodeFacts(
    index=37,
    outer_weight=-0.0345117,
    inner_norm=1.7312,
    angle=93.31,
    rotation=-0.05752,
    relative_norm=0.4123,
    position=(-0.01234, 1.25),
    sign_flips=3,
)


@pytest.fixture
def inspector(qtbot) -> Inspector:
    inspector = Inspector()
    qtbot.addWidget(inspector)
    inspector.resize(264, 800)
    inspector.show()
    return inspector


def values(inspector: Inspector, part: str) -> dict[str, str]:
    return {fact.name: fact.value for fact in getattr(inspector, part).facts()}


def test_a_long_name_of_a_run_leaves_the_width_alone(inspector: Inspector) -> None:
    inspector.setStyleSheet(style_sheet(PALETTES["light"]))
    width = inspector.minimumSizeHint().width()
    name = "Node 31 of m = 64, logistic loss, d = 24 \u00b7 after Telgarsky 2022, Figure 1"
    for show in (inspector.show_node, inspector.show_group):
        show(name, None)
    inspector.show_node(name, FACTS)
    assert inspector.node.heading() == inspector.group.heading() == name
    assert inspector.minimumSizeHint().width() == width
    assert inspector.node.minimumSizeHint().width() < 264
    label = next(one for one in inspector.node.findChildren(ElidedLabel) if one.text() == name)
    assert label.shown_text().endswith("\u2026") and label.toolTip() == name
    assert label.font().weight() == 600


def test_rows_that_come_are_never_painted_squeezed(qtbot: QtBot) -> None:
    panel = QWidget()
    qtbot.addWidget(panel)
    content = QWidget(panel)
    column = QVBoxLayout(content)
    fill_scrolled(panel, content)
    panel.resize(200, 120)
    panel.show()
    QApplication.processEvents()
    assert content.height() <= 120
    for number in range(20):
        label = QLabel(f"row {number}", content)
        column.addWidget(label)
        label.show()
    # Content is laid out, and the events that Qt posts by that have not come yet.
    QCoreApplication.sendPostedEvents(content, QEvent.Type.LayoutRequest.value)
    assert content.height() >= 20 * label.sizeHint().height()


def test_names_of_numbers_have_subscripts(inspector: Inspector) -> None:
    """The name was "90 % of \u03b3_gl / 2", with the underscore."""
    name = "90 % of \u03b3_gl / 2"
    inspector.run.show_facts([Fact(name, "not reached", "")])
    label = next(one for one in inspector.run.findChildren(ElidedLabel) if one.text() == name)
    plain = ElidedLabel(inspector)
    plain.set_text(name)
    assert label.sizeHint().width() < plain.sizeHint().width()
    plain.resize(label.size())
    plain.set_text(name.replace("_", ""))
    assert label.grab().toImage() != plain.grab().toImage()  # the index is lowered
    label.resize(60, label.height())
    shown = label.shown_text()
    assert shown.endswith("\u2026") and label_width(shown, label.font()) <= 60


def test_a_nodes_numbers_have_the_digits_they_deserve(inspector: Inspector) -> None:
    inspector.show_node("Node 37, m = 256", FACTS)
    assert inspector.node.heading() == "Node 37, m = 256"
    assert values(inspector, "node") == {
        "a": f"{MINUS}.03451",
        "|v|": "1.731",
        "angle": "93.3\u00b0",
        "rotation": f"{MINUS}.0575",
        "relative norm": ".412",
        "|a| v": f"({MINUS}.0123, 1.25)",
        "sign flips": "3",
    }
    for label, fact in zip(inspector.node.value_labels(), inspector.node.facts(), strict=True):
        assert label.isVisible() and label.toolTip() == fact.explanation != ""
    inspector.show_node("", None)
    assert values(inspector, "node") == {}
    assert inspector.node.heading() == "Neuron"
    assert NODE_HINT in [label.text() for label in inspector.node.findChildren(type(_quiet()))]
    # The lines are deleted; the heading is left.
    assert [label.text() for label in inspector.node.findChildren(ElidedLabel)] == ["Neuron"]
    inspector.show_node("Node 37, m = 256", FACTS)
    assert len(inspector.node.value_labels()) == len(inspector.node.facts()) > 0
    assert all(label.isVisible() for label in inspector.node.value_labels())


def _quiet():
    from app.widgets.labels import quiet_label

    return quiet_label("")


def test_scalars_are_named_and_defined_by_their_observables(inspector: Inspector) -> None:
    numbers = {name: 0.0123456 for name in OBSERVABLES if name != "log10_risk"}
    inspector.show_scalars(numbers)
    facts = inspector.scalars.facts()
    assert [fact.name for fact in facts] == [greek(OBSERVABLES[name].title) for name in numbers]
    for fact, name in zip(facts, numbers, strict=True):
        assert greek(OBSERVABLES[name].source) in fact.explanation
        assert fact.value.startswith(".012")
    assert "|W|\u00b2" in facts[list(numbers).index("norm_squared")].explanation


def test_extreme_scalars_stay_readable(inspector: Inspector) -> None:
    inspector.show_scalars(
        {
            "risk": 0.0,
            "log10_risk": -2034.2,
            "hard_margin": 0.081268,
            "smoothed_margin": math.nan,
            "norm_squared": 6.12e7,
            "balance_drift": 1.234e-7,
            "distance": math.inf,
            "something_else": 2.0,
        }
    )
    assert values(inspector, "scalars") == {
        "risk": "6.31 \u00d7 10\u207b\u00b2\u2070\u00b3\u2075",
        "hard margin": ".08127",
        "smoothed margin": "\u2013",
        "squared norm": "6.12 \u00d7 10\u2077",
        "balance drift": "1.2 \u00d7 10\u207b\u2077",
        "distance from the start": "infinite",
        "something else": "2",
    }
    inspector.show_scalars({"log10_risk": -3.25})
    assert values(inspector, "scalars") == {"log\u2081\u2080 of the risk": f"{MINUS}3.25"}
    inspector.show_scalars({})
    assert values(inspector, "scalars") == {}


def test_a_run_is_told_line_by_line_and_long_lines_are_whole_in_the_tooltip(
    inspector: Inspector,
) -> None:
    text = "parity, d = 20, n = 64, k = 2, and a long remark that finds no room"
    inspector.show_run({"data": text, "status": "recording"})
    data, status = inspector.run.value_labels()
    assert data.shown_text() != text and text in data.toolTip()
    assert status.shown_text() == "recording"
    inspector.show_run({"status": "finished"})
    assert values(inspector, "run") == {"status": "finished"}
    assert not status.isVisible()


def test_rows_are_kept_while_their_values_change(inspector: Inspector) -> None:
    inspector.show_scalars({"risk": 1.0, "hard_margin": 0.1})
    labels = inspector.scalars.value_labels()
    inspector.show_scalars({"risk": 0.5, "hard_margin": 0.2})
    assert inspector.scalars.value_labels() == labels


# ------------------------------------------------------------------------------- status line


@pytest.fixture
def status(qtbot) -> StatusLine:
    status = StatusLine()
    qtbot.addWidget(status)
    status.resize(1280, 24)
    return status


def test_the_status_has_room_for_its_letters_and_nothing_jumps(status: StatusLine, qtbot) -> None:
    """gamma_ntk has an underscore below its line."""
    status.setStyleSheet(style_sheet(LIGHT))
    status.show()
    qtbot.waitExposed(status)
    size = status.sizeHint()
    status.show_work("computing \u03b3_ntk ...")
    assert status.cancel.sizeHint().height() <= status.height()
    status.show_texts(step=3, rate=1e5, eta=700.0, live=True, message="A message. " * 9)
    assert status.sizeHint() == size


def test_the_status_shows_the_progress_and_its_tip_all_of_it(status: StatusLine) -> None:
    path = Path("/somewhere") / ("a-long-folder/" * 12) / "run.msrun"
    status.show_summary("8 hold")
    known = {"log10_time": 2.31, "engine": "compiled engine, float64", "saved": path}
    status.show_texts(step=1_234_567, rate=212_400.0, eta=754.0, live=True, **known)
    step, tip = "step 1\u202f234\u202f567", status.line.toolTip()
    assert status.text == f"{step} \u00b7 212 k steps/s \u00b7 13 min left"
    for part in (f"Trained to {step}, t = 204", "Computed by compiled engine", str(path), "8 hold"):
        assert part in tip
    status.show_texts(step=1_234_567, **known)  # it has ended
    assert status.text == "8 hold"
    status.show_texts(step=1_234_567, message="m = 8: stopped at frame 7 of 9", **known)
    assert status.text == "m = 8: stopped at frame 7 of 9"


def test_what_is_not_known_is_blank(status: StatusLine) -> None:
    status.show_texts(step=10, log10_time=-math.inf, rate=math.nan, eta=math.inf, live=True)
    assert status.text == "step 10"
    assert status.line.toolTip() == "Trained to step 10, t = 0"
    status.show_texts(message="")
    assert status.text == "" == status.line.toolTip()


# ------------------------------------------------------------------------------ welcome page


def test_the_welcome_page_says_what_to_do(qtbot) -> None:
    page = WelcomePage()
    qtbot.addWidget(page)
    page.set_study("Telgarsky 2022, Figure 1")
    page.resize(716, 600)
    page.show()
    assert "Telgarsky 2022, Figure 1" in page.explanation.text()
    needed = page.explanation.heightForWidth(page.explanation.width())
    assert page.explanation.height() >= needed
    with qtbot.waitSignal(page.run_requested):
        qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(page.open_requested):
        qtbot.mouseClick(page.open_button, Qt.MouseButton.LeftButton)
    page.set_runnable(False)
    with qtbot.assertNotEmitted(page.run_requested):
        qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)


# ------------------------------------------------------------------------------- the studies


@pytest.fixture
def chooser(qtbot) -> StudyChooser:
    chooser = StudyChooser()
    qtbot.addWidget(chooser)
    chooser.show()
    return chooser


def test_the_shipped_studies_are_listed_by_title(chooser: StudyChooser, qtbot) -> None:
    assert chooser.ids() == shipped_ids()
    title = load_study(FIGURE_1).title
    chooser.set_study(parse_study("title = 'Mine'\n[network]\nm = 4", "mine"))
    assert chooser.box.currentText() == "Mine"
    chooser.box.setFocus()
    with qtbot.waitSignal(chooser.chosen) as signal:
        QTest.keyClicks(chooser.box, title[:4])
    assert signal.args == [FIGURE_1]
    chooser.set_study(load_study(FIGURE_1))
    assert chooser.box.currentText() == title
    assert chooser.box.findText("Mine") < 0
    assert "source" in chooser.box.toolTip().lower()


def test_the_chooser_is_as_wide_as_its_title_but_not_beyond_half_of_the_window(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    chooser = StudyChooser(window)
    title = "A study whose title says at length what its networks learn"
    chooser.set_study(parse_study(f"title = '{title}'\n[network]\nm = 4", "mine"))
    window.resize(2000, 100)
    assert text_width(chooser.box) > LEAST_WIDTH
    assert chooser.sizeHint().width() == text_width(chooser.box)
    chooser.box.choices_needed.emit()
    assert chooser.box.view().minimumWidth() > chooser.box.view().sizeHintForColumn(0)
    window.resize(600, 100)
    assert chooser.sizeHint().width() == 300
    window.resize(300, 100)
    assert chooser.sizeHint().width() == LEAST_WIDTH


def test_opening_a_study_file_leaves_the_present_one_chosen(chooser: StudyChooser, qtbot) -> None:
    chooser.set_study(load_study(FIGURE_1))
    chooser.box.setFocus()
    with qtbot.waitSignal(chooser.open_requested):
        QTest.keyClicks(chooser.box, OPEN_TEXT[:6])
    assert chooser.box.currentText() == load_study(FIGURE_1).title


# ----------------------------------------------------------------------------------- startup


def test_panels_load_no_numerical_package() -> None:
    code = (
        "from PySide6.QtWidgets import QApplication\n"
        "application = QApplication([])\n"
        "from app.playback.inspector import Inspector\n"
        "from app.training.experiment_form import ExperimentForm\n"
        "from app.study.chooser import StudyChooser\n"
        "from app.playback.status import StatusLine\n"
        "from app.shell.welcome_page import WelcomePage\n"
        "from app.export.controller import ExportController\n"
        "from app.style import apply\n"
        "from core.figures.palette import DARK\n"
        "from core.studies.study import load_study\n"
        "apply(application, DARK)\n"
        "form = ExperimentForm()\n"
        f"form.set_study(load_study('{FIGURE_1}'))\n"
        "kept = [Inspector(), StudyChooser(), StatusLine(), WelcomePage(), ExportController()]\n"
        "import sys\n"
        "heavy = ('torch', 'scipy', 'matplotlib', 'numba', 'sklearn')\n"
        "print(*[name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_powers_of_ten_with_decimals_are_raised_where_texts_are_rich(qtbot: QtBot) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    line = FinalLine(holder)
    condition = "while the signs stay; held since t = 10^\u22121.74"
    line.show_words(("\u2264 .0406", condition, ""), frozenset())
    assert line.words.text().endswith("held since t = 10<sup>\u22121.74</sup>")
    assert rich("10^2.31 of 10^3 < 10^4.5") == (
        "10<sup>2.31</sup> of 10\u00b3 &lt; 10<sup>4.5</sup>"
    )
