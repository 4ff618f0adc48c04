"""Links, view files and sessions bring the same picture back; what is damaged is a sentence."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QInputDialog,
    QLineEdit,
    QMessageBox,
)
from pytestqt.qtbot import QtBot

from app.desktop import is_link
from app.places import Places
from app.scenes.links import OFFERED
from app.scenes.scene import Scene, Zoom
from app.scenes.scene_texts import (
    OF_LAYOUT,
    OF_PICTURE,
    apply_layout,
    layout_of,
    link_of,
    parse_link,
    parse_view,
    study_in,
    study_link,
    view_text,
)
from app.scenes.session_keeper import LastSession, SessionKeeper, parse_session, session_text
from app.settings import load_settings
from app.shell.application import Marginscope
from app.state.comparison import ComparedRuns
from app.state.intent import MARGIN_AXES, NEURON_POINTS, NEURON_RANGES, START, Intent
from app.state.view_options import PACES, moment_of
from app.state.views import VIEWS
from app.theory.controller import WHILE_TRAINING
from app.theory.judge import Case
from app.training.study_edits import Edits
from core.comparison.question import AGAINST, BANDS, KINDS, RANK, SORTED, CompareQuestion
from core.errors import InputError
from core.observables.planes import NodePlane
from core.studies.study import load_study
from tests.app.mouse import keys, wheel
from tests.app.shell.conftest import Opener, trained

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)
WORDS = st.text("abcgamma_12 |^,/&=%?#\u00e9", min_size=1, max_size=12).filter(
    lambda word: word != "none"
)
PLANES = st.one_of(
    st.tuples(st.integers(0, 900), st.integers(0, 900)).map(lambda n: NodePlane("coordinates", n)),
    st.tuples(*[st.integers(0, 900)] * 3).map(lambda n: NodePlane("nodes", n)),
    st.sampled_from(["motion", "means", "components"]).map(lambda kind: NodePlane(kind, ())),
)
INTENTS = st.builds(
    Intent,
    # Moments as they come: coordinates of log10 t.
    cursor=st.one_of(st.just(START), st.floats(-8.0, 5.0)),
    follow=st.booleans(),
    pace=st.sampled_from(PACES),
    loop=st.booleans(),
    pinned=st.frozensets(st.tuples(st.integers(0, 3), st.integers(0, 99)), max_size=5),
    plane=PLANES,
    neuron_range=st.sampled_from(list(NEURON_RANGES)),
    neuron_points=st.sampled_from(list(NEURON_POINTS)),
    margin_axis=st.sampled_from(list(MARGIN_AXES)),
    views=st.sets(st.sampled_from(list(VIEWS)), min_size=1).map(
        lambda names: tuple(name for name in VIEWS if name in names)
    ),
    curves=st.lists(WORDS, max_size=6, unique=True).map(tuple),
    palette=st.sampled_from(["light", "dark"]),
    hidden_margins=st.frozensets(WORDS, max_size=3),
    shown_bounds=st.frozensets(WORDS, max_size=3),
    linked=st.booleans(),
    interval=st.one_of(st.none(), st.just((-0.5, 0.75))),
    compared=st.one_of(
        st.none(),
        st.builds(
            ComparedRuns,
            st.just(("/runs/a.msrun", "/runs/b c.msrun")),
            st.one_of(
                st.builds(
                    CompareQuestion,
                    st.sampled_from(["hard_margin", "distance"]),
                    st.sampled_from([one for one in AGAINST if one != RANK]),
                    st.sampled_from(list(KINDS)),
                    st.sampled_from(list(BANDS)),
                ),
                st.builds(
                    CompareQuestion,
                    st.sampled_from(list(SORTED)),
                    st.just(RANK),
                    st.sampled_from(list(KINDS)),
                    st.sampled_from(list(BANDS)),
                ),
            ),
            st.frozensets(st.sampled_from(["/runs/a.msrun", "/runs/b c.msrun"])),
            st.sampled_from([(), (1, 0), (3, 11)]),
        ),
    ),
    equal=st.booleans(),
)
ZOOMS = st.builds(
    lambda place, view, x, y, w, h: Zoom(place, view, x, x + w, y, y + h),
    st.integers(0, 3),
    st.sampled_from(list(VIEWS)),
    *[st.floats(-1e3, 1e3)] * 2,
    *[st.floats(1e-3, 1e3)] * 2,
)
PATHS = st.lists(WORDS.map(lambda word: Path(f"/runs/{word}.msrun")), max_size=3).map(tuple)
SCENES = st.builds(
    Scene,
    runs=PATHS,
    intent=INTENTS,
    zooms=st.lists(ZOOMS, max_size=3).map(tuple),
    panels=st.frozensets(st.sampled_from(["form", "inspector", "library", "lecture"])),
)


def seen(scene: Scene, whole: bool = True) -> Scene:
    """Return a scene with its moment rounded as far as frames differ (app.state.resolve)."""
    intent = scene.intent
    cursor = START if intent.follow else round(intent.cursor, 9) if intent.cursor > START else START
    intent = replace(intent, cursor=cursor)
    if whole:
        return replace(scene, intent=intent)
    return replace(scene, intent=replace(intent, pace=1.0, loop=False), panels=Scene().panels)


# ----------------------------------------------------------------------------- by themselves


LINK = (
    "marginscope://view?run=/runs/a%20b.msrun&compare=/runs/a.msrun&compare=/runs/b.msrun"
    "&by=distance&by=step&by=lines&by=range&t=10^2.5&interval=10^1.0&interval=10^2.0&views=norms"
    "&views=curves&curves=risk&plane=nodes:1,2,40&range=root&points=directions&against=step"
    "&unit=share&hidden=gamma_1&bounds=t21-2.2&pin=0:3,5-6&zoom=0:norms:0.0,1.0,-2.0,2.0&log=yes"
    "&linked=no&equal=yes&palette=dark"
)
OPTIONS = {
    **{"views": ("norms", "curves"), "curves": ("risk",), "plane": NodePlane("nodes", (1, 2, 40))},
    **{"neuron_range": "root", "neuron_points": "directions", "margin_axis": "step"},
    **{"margin_unit": "share", "hidden_margins": frozenset({"gamma_1"})},
    **{"shown_bounds": frozenset({"t21-2.2"}), "pinned": frozenset({(0, 3), (0, 5), (0, 6)})},
    **{"log_curves": True, "linked": False, "equal": True, "palette": "dark"},
}


def test_what_the_first_version_wrote_is_read(tmp_path: Path) -> None:
    """A link, a view file, a layout, a session and settings, as version 0.1 wrote them."""
    question = CompareQuestion("distance", "step", "lines", "range")
    compared = ComparedRuns(("/runs/a.msrun", "/runs/b.msrun"), question)
    scene = parse_link(LINK, Scene())
    assert scene.runs == (Path("/runs/a b.msrun"),)
    assert scene.zooms == (Zoom(0, "norms", 0.0, 1.0, -2.0, 2.0),)
    intent = replace(Intent(), cursor=moment_of("10^2.5"), compared=compared, **OPTIONS)
    interval = moment_of("10^1.0"), moment_of("10^2.0")
    assert scene.intent == replace(intent, interval=interval)
    view = 'run = "a.msrun"\ncurves = ["risk", "distance"]\nlog = "yes"\npin = "0:1-2"\n'
    shown = parse_view(view, Path("/runs"), Scene(), "file").intent
    assert (shown.curves, shown.log_curves) == (("risk", "distance"), True)
    assert shown.pinned == {(0, 1), (0, 2)}
    texts = {"loop": ["yes"], "pace": ["0.5"], "log": ["yes"], "curves": ["study"]}
    document = {"version": 1, "ended": True, "scene": texts, "form": None}
    intent = parse_session(json.dumps(document)).scene.intent
    assert intent == replace(Intent(), loop=True, pace=0.5, log_curves=True)
    layout = {
        **{"views": ["neurons"], "curves": ["none"], "range": ["run"], "points": ["study"]},
        **{"against": ["norm_squared"], "unit": ["plain"], "linked": ["no"], "equal": ["no"]},
        "panels": ["form"],
    }
    shown = apply_layout(scene, layout).intent
    assert (shown.curves, shown.neuron_points, shown.linked) == ((), "", False)
    assert shown.log_curves and shown.palette == "dark"  # of which layouts say nothing
    assert list(layout_of(scene)) == [name for name in OF_LAYOUT if name in layout]
    settings = tmp_path / "settings.json"
    settings.write_text(
        '{"geometry": "", "palette": "dark", "follows_system": false, "pace": 3.0, "loop": true,'
        ' "linked": false, "equal": true, "neuron_range": "root", "neuron_points": "",'
        ' "views": ["norms"], "curves": null, "recent": ["/runs/a.msrun"]}'
    )
    found, warning = load_settings(settings)
    wanted = {"pace": 3.0, "loop": True, "linked": False, "equal": True, "neuron_range": "root"}
    assert found.options == replace(Intent(), palette="dark", views=("norms",), **wanted)
    assert (found.recent, warning) == (("/runs/a.msrun",), "")


@given(SCENES)
def test_links_and_files_say_all_of_a_picture(scene: Scene) -> None:
    link = link_of(scene)
    assert is_link(link)
    assert link.isascii()
    assert " " not in link
    assert seen(parse_link(link, Scene())) == seen(scene, whole=False)
    text = view_text(scene, Path("/runs"))
    assert seen(parse_view(text, Path("/runs"), Scene(), "file")) == seen(scene, whole=False)
    # The folder was moved: runs beside the file are found there.
    moved = parse_view(text, Path("/moved"), Scene(), "file")
    assert moved.runs == tuple(Path("/moved") / path.name for path in scene.runs) or any(
        "/" in str(path.relative_to("/runs")) for path in scene.runs
    )


@given(SCENES)
def test_sessions_say_all_of_a_scene(scene: Scene) -> None:
    study = load_study("wei19-figure-5")
    edits = Edits(study, (("data", "mixture"),), (("network.m", "x y"),), ("network.m",))
    scene = replace(scene, form=edits)
    session = parse_session(session_text(LastSession(scene, ended=False)))
    assert not session.ended
    assert seen(session.scene) == seen(scene)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("run", "incomplete"),
        ("&&", "incomplete"),
        ("x=1", "unknown part 'x'"),
        ("t=soon", "10^2.5, 300 or 0"),
        ("t=1&t=2", "expected one value"),
        ("pin=0:-1", "whole neuron numbers from 0"),
        ("pin=0:" + "9" * 4000, "whole neuron numbers from 0"),
        ("zoom=0:margins:1,0,0,1", "left must be less than right"),
        ("zoom=0:margins:1,nan,0,1", "finite"),
        ("zoom=0:margins:1,two,0,1", "finite"),
        ("zoom=0:margins:1,1,0,1", "left must be less than right"),
        ("zoom=0:margins:0,1e300,0,1", "between -10^100 and 10^100"),
        ("zoom=0:margins:0,1,0,5e-324", "at least 10^-100"),
        ("zoom=0:nowhere:0,1,0,1", "run:view:left,right,bottom,top"),
        ("views=nothing", "expected views among neurons"),
        ("palette=pink", "light or dark"),
        ("plane=coordinates:1", "needs 2 numbers"),
        ("plane=sideways", "expected coordinates"),
        ("run=%00", "path of a run file"),
        ("&".join(f"run=/{k}" for k in range(11)), "at most 10"),
        ("curves=" + "a" * 6000, "too long"),
        ("&".join(f"curves=c{k}" for k in range(7)), "at most 6"),
        ("compare=/a", "2 to 10 run files"),
        ("by=a&by=log10_time&by=lines&by=range", "against, kind, band"),
        ("compare=/a&compare=/b&by=a&by=b&by=lines&by=range", "allowed are"),
        ("hide=0", "numbers of compared runs"),
        ("compare=/a&compare=/b&hide=2", "numbers of compared runs"),
        ("colours=0", "a colour below 20 for each"),
        ("compare=/a&compare=/b&colours=1", "a colour below 20 for each"),
        ("compare=/a&compare=/b&colours=1&colours=1", "a colour below 20 for each"),
        ("compare=/a&compare=/b&colours=1&colours=20", "a colour below 20 for each"),
        ("interval=1", "two times"),
        ("interval=10&interval=1", "before the second"),
    ],
)
def test_a_wrong_link_is_one_sentence(query: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_link(f"marginscope://view?{query}", Scene())
    assert words in caught.value.sentence
    assert len(caught.value.sentence) < 400


def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    """Linux has such: a link brings them back, and a view file, which cannot, says so."""
    scene = Scene((tmp_path / os.fsdecode(b"a\xff \xc3\xbc.msrun"),))
    link = link_of(scene)
    assert link.isascii() and "a%FF%20%C3%BC.msrun" in link
    assert parse_link(link, Scene()) == scene
    with pytest.raises(InputError, match="not valid text; rename the file, or copy a link"):
        view_text(scene, tmp_path)
    text = Scene((tmp_path / "\u00fc.msrun",))
    assert parse_view(view_text(text, tmp_path), tmp_path, Scene(), "a view") == text


def test_damaged_texts_are_read_or_refused() -> None:
    scene = Scene(
        (Path("/runs/a.msrun"),),
        Edits(load_study("telgarsky22-figure-1")),
        Intent(cursor=1.0, pinned=frozenset({(0, 1)})),
        (Zoom(0, "margins", 0.0, 1.0, 0.0, 1.0),),
    )
    dice = random.Random(7)
    texts = [link_of(scene), view_text(scene, Path("/runs")), session_text(LastSession(scene))]
    for text in texts:
        for _ in range(300):
            letters = list(text)
            for _ in range(dice.randint(1, 4)):
                place = dice.randrange(len(letters))
                letters[place] = dice.choice('\0\n"[]{}=&%:,.x9-\u0663')
            damaged = "".join(letters)[: dice.choice([None, dice.randrange(len(text))])]
            try:
                if text == texts[0]:
                    parse_link(damaged, Scene())
                elif text == texts[1]:
                    parse_view(damaged, Path("/runs"), Scene(), "file")
                else:
                    parse_session(damaged)
            except InputError as error:
                assert len(error.sentence) < 2000


# ----------------------------------------------------------------------- through the window


def accept(text: str) -> None:
    for box in QApplication.topLevelWidgets():
        if isinstance(box, QInputDialog) and box.isVisible():
            line = box.findChild(QLineEdit)
            line.selectAll()
            QTest.keyClicks(line, text)
            QTest.keyClick(line, Qt.Key.Key_Return)


def press(words: str) -> None:
    for box in QApplication.topLevelWidgets():
        if isinstance(box, QMessageBox) and box.isVisible():
            button = next(b for b in box.buttons() if words in b.text())
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def arranged(program: Marginscope, qtbot: QtBot) -> Scene:
    """Return a picture with something of everything; returns it."""
    display = program.display
    display.update_intent(playing=False)
    program.playback.to_typed("10^0.75")
    display.update_intent(views=("neurons", "margins", "curves"), neuron_range="root", linked=False)
    wheel(display.panels[1].view("margins").plot, QPoint(60, 40), 3)
    display.panels[1].node_clicked.emit(3)
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    scene = program.scenes.shareable_scene()
    assert len(scene.zooms) == 1
    assert scene.intent.pinned == {(1, 3)}
    return scene


def frames(program: Marginscope) -> list[int]:
    return [run.frame for run in program.display.view.runs]


def test_a_link_brings_the_picture_back(
    program: Marginscope, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, shown = arranged(program, qtbot), frames(program)
    keys(qtbot, program.window, Qt.Key.Key_C, CTRL | ALT)
    link = QApplication.clipboard().text()
    assert link.startswith("marginscope://view?run=")
    view = tmp_path / "talk.msview"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(view), ""))
    keys(qtbot, program.window, Qt.Key.Key_S, CTRL | ALT)
    assert view.is_file()
    for name in (link, str(view)):
        keys(qtbot, program.window, Qt.Key.Key_W, CTRL)
        assert len(program.session) == 0
        program.files.open_files([name])
        qtbot.waitUntil(lambda: trained(program))
        assert seen(program.scenes.shareable_scene()) == seen(before)
        assert frames(program) == shown
        assert not program.display.intent.playing
    # It is a step like any other.
    keys(qtbot, program.window, Qt.Key.Key_Z, CTRL)
    assert len(program.session) == 0


def at_rest(program: Marginscope) -> bool:
    theory, display = program.theory, program.display
    judged = all(theory.results(run.key).judgement is not None for run in program.session)
    busy = theory.busy or program.open_runs.is_ticking
    return judged and not busy and not any(panel.pending for panel in display.panels)


def test_a_moment_that_is_waited_for_comes_before_all_else(
    program: Marginscope, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read without being drawn, and theory waits; the picture is the same in the end."""
    before, shown = arranged(program, qtbot), frames(program)
    link = link_of(before)
    program.training.close_runs()
    qtbot.waitUntil(lambda: at_rest(program))
    monkeypatch.setattr("app.playback.open_runs.READ_SECONDS", 0.0)
    monkeypatch.setattr("app.playback.open_runs.LONG_READ", 0.0)
    monkeypatch.setattr("app.playback.open_runs.UNDRAWN", 1e9)
    display, judge = program.display, program.theory.judge
    shares: list[float] = []
    judged: list[bool] = []
    request = judge.request

    def look() -> None:
        if display.waits_for_frames:
            shares.append(program.theory.cpu_share())
            program.theory._request_judgements()  # as its timer does

    def note(case: Case) -> None:
        judged.append(display.waits_for_frames)
        request(case)

    program.open_runs._timer.timeout.connect(look)
    monkeypatch.setattr(judge, "request", note)
    program.files.open_files([link])
    qtbot.waitUntil(lambda: trained(program) and frames(program) == shown)
    qtbot.waitUntil(lambda: at_rest(program))
    assert len(shares) > 2
    assert set(shares) == {WHILE_TRAINING}
    assert judged
    assert not any(judged)
    assert not display.waits_for_frames
    assert seen(program.scenes.shareable_scene()) == seen(before)
    assert frames(program) == shown


def test_links_are_typed_and_wrong_ones_lose_nothing(
    program: Marginscope, qtbot: QtBot, tmp_path: Path
) -> None:
    before = arranged(program, qtbot)
    asks = [
        ("marginscope://view?t=soon", "10^2.5, 300 or 0"),
        ("https://arxiv.org/abs/2208.02789", "not a Marginscope link"),
        (f"marginscope://view?run={tmp_path}/gone.msrun", "gone.msrun"),
        ("marginscope://view?t=1", "contains no run"),
    ]
    for link, words in asks:
        program.window.activateWindow()
        qtbot.waitUntil(program.window.isActiveWindow)
        keys(qtbot, program.window, Qt.Key.Key_O, CTRL | ALT)
        qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QInputDialog))
        accept(link)
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
        assert words in program.window.bar.text
        assert program.scenes.shareable_scene() == before
    program.files.open_files([str(tmp_path / "gone.msview")])
    assert "gone.msview" in program.window.bar.text
    (tmp_path / "wrong.msview").write_bytes(b"\xff\xfe[")
    program.files.open_files([str(tmp_path / "wrong.msview")])
    assert "wrong.msview" in program.window.bar.text
    assert program.scenes.shareable_scene() == before


def test_a_link_puts_a_study_into_the_form(program: Marginscope, qtbot: QtBot) -> None:
    open_runs, link = len(program.session), study_link("wei19-figure-5")
    assert study_in(link) == "wei19-figure-5" and study_in("marginscope://view?t=1") is None
    for text, said in ((link, OFFERED), ("marginscope://study?name=../evil", "'../evil'")):
        keys(qtbot, program.window, Qt.Key.Key_O, CTRL | ALT)
        qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QInputDialog))
        accept(text)
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
        assert said in program.window.bar.text
        study = program.window.form.study()
        assert study is not None and study.id == "wei19-figure-5"
    assert len(program.session) == open_runs and not program.session.live  # it trains nothing


def test_a_start_with_a_link_puts_its_study_into_the_form(
    open_program: Opener, qtbot: QtBot
) -> None:
    began = open_program(study_link("wei19-figure-5"))
    qtbot.waitUntil(lambda: getattr(began.window.form.study(), "id", "") == "wei19-figure-5")
    assert len(began.session) == 0


def test_without_a_run_there_is_no_link(program: Marginscope, qtbot: QtBot) -> None:
    keys(qtbot, program.window, Qt.Key.Key_W, CTRL)
    QApplication.clipboard().setText("before")
    keys(qtbot, program.window, Qt.Key.Key_C, CTRL | ALT)
    assert QApplication.clipboard().text() == "before"
    assert "Open a run first" in program.window.bar.text


def test_the_next_start_goes_on(
    program: Marginscope, qtbot: QtBot, open_program: Opener, subtests: pytest.Subtests
) -> None:
    arranged(program, qtbot)
    QTest.keyClicks(program.window.form.sections["network"].rows[0].control, "7")
    qtbot.waitUntil(lambda: not program.scenes.has_pending_change)
    before, shown = program.scenes.shareable_scene(with_names=False), frames(program)
    program.window.close()
    again = open_program()
    qtbot.waitUntil(lambda: trained(again))
    with subtests.test("all is there"):
        assert seen(again.scenes.shareable_scene(with_names=False)) == seen(before)
        assert frames(again) == shown
        assert not again.session.live
        assert not again.actions["undo"].isEnabled()
    first, second = (run.path for run in again.session)
    again.window.close()
    first.unlink()
    with subtests.test("runs that are gone are named"):
        third = open_program()
        qtbot.waitUntil(lambda: trained(third))
        assert [run.path for run in third.session] == [second]
        assert first.name in third.window.bar.text
        assert "missing" in third.window.bar.text


def test_a_start_that_was_asked_for_something_opens_that(
    qtbot: QtBot, open_program: Opener, plain_study: Path
) -> None:
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(program))
    runs = [run.path for run in program.session]
    program.window.close()
    again = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(again))
    assert [run.path for run in again.session] != runs
    again.actions["last"].trigger()
    assert [run.path for run in again.session] == runs


def test_a_session_that_was_killed_is_asked_about(
    program: Marginscope, qtbot: QtBot, open_program: Opener, tmp_path: Path
) -> None:
    before = arranged(program, qtbot)
    place = Places.in_folder(tmp_path / "user").session
    program.keeper.save()
    killed = place.read_text()
    program.window.close()
    assert killed != place.read_text()
    place.write_text(killed)
    asks = open_program()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    asks.window.close()
    assert place.read_text() == killed  # nobody has answered: it is asked again
    again = open_program()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    press("Reopen")
    qtbot.waitUntil(lambda: trained(again))
    assert seen(again.scenes.shareable_scene()) == seen(before)


def test_a_window_that_nobody_has_touched_is_kept(
    open_program: Opener, tmp_path: Path, qtbot: QtBot
) -> None:
    program = open_program()
    soon = program.keeper.findChild(QTimer, "session")
    program.keeper.start()  # as `ready` does, and nothing changes after it
    assert soon.isActive()
    soon.setInterval(0)
    place = Places.in_folder(tmp_path / "user").session
    qtbot.waitUntil(place.exists)
    assert not parse_session(place.read_text()).ended


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"version": 1}', b"[" * 9999])
def test_a_broken_session_is_set_aside(
    program: Marginscope, tmp_path: Path, content: bytes
) -> None:
    place = Places.in_folder(tmp_path / "user").session
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    keeper = SessionKeeper(
        Places.in_folder(tmp_path / "user"), program.window, program.display, program.scenes
    )
    assert keeper.previous is None and "could not be read" in keeper.warning
    assert Path(f"{place}.broken").read_bytes() == content
    keeper.stop()
    keeper.deleteLater()


def test_a_start_with_a_broken_session_says_so(
    open_program: Opener, plain_study: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    place = Places.in_folder(tmp_path / "user").session
    place.parent.mkdir(parents=True)
    place.write_bytes(b"{")
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: len(program.session) > 0)
    assert "could not be read" in program.window.bar.text
    assert Path(f"{place}.broken").read_bytes() == b"{"
    program.training.stop()


def test_two_windows_do_not_write_over_each_other(
    qtbot: QtBot, open_program: Opener, plain_study: Path, tmp_path: Path
) -> None:
    program = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(program))
    runs = [run.path for run in program.session]
    other = open_program(plain_study)
    qtbot.waitUntil(lambda: trained(other))
    assert not other.keeper.owns_lock
    assert other.keeper.previous is None
    other.window.close()
    program.window.close()
    text = Places.in_folder(tmp_path / "user").session.read_text()
    assert list(parse_session(text).scene.runs) == runs
    assert OF_PICTURE  # the parts of links are some of those of sessions
