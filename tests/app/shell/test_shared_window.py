"""The shared window: a reset makes it equal to a new one, and what cannot be reset is noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.shell.application import Marginscope
from app.state.intent import START
from app.state.views import VIEWS
from tests.app.mouse import wheel
from tests.app.shell.conftest import WindowPool
from tests.app.shell.shared_window import compare, settle, state_of


@pytest.fixture
def pool(tmp_path_factory: pytest.TempPathFactory, qtbot: QtBot) -> Iterator[WindowPool]:
    pool = WindowPool(tmp_path_factory)
    yield pool
    pool.close()


def use(program: Marginscope, qtbot: QtBot) -> None:
    """Do to a window what tests do: views, colours, size, nodes, zoom, panels, keys, sentences."""
    first = next(iter(program.session))
    program.display.update_intent(
        views=tuple(VIEWS)[-3:], curves=("risk",), pinned=frozenset({(first.key, 3)})
    )
    program.playback.seek_end()
    program.actions["dark"].trigger()
    program.actions["inspector"].setChecked(False)
    program.window.resize(1024, 640)
    program.window.bar.show_message("A sentence.")
    plot = program.display.panels[0].view(program.display.view.wishes.views[0]).plot
    wheel(plot, plot.plot_area().center().toPoint(), 3)
    row = program.window.form.sections["data"].rows[0]
    row.control.setFocus()
    qtbot.keyClicks(row.control, "7")
    program.shortcuts.show()
    qtbot.keyClicks(program.shortcuts.dialog.search, "film")
    settle(program)


def names(state: dict[str, str]) -> set[str]:
    """Return the names of a state but those of files, which the seconds of a clock name."""
    return {name for name in state if not name.startswith("file ")}


def test_a_window_that_was_reset_equals_a_new_one(pool: WindowPool, qtbot: QtBot) -> None:
    program = pool.get()
    new = state_of(program)
    assert program.display.intent.cursor == START and len(new) > 1000
    use(program, qtbot)
    assert len(compare(new, state_of(program))) > 50  # all of which the reset has to take back
    pool.put_back()
    assert pool.get() is program
    assert compare(new, state_of(program)) == []
    program.files.replace(())  # the runs are opened again, under other keys
    pool.put_back()
    assert pool.get() is program
    program.actions["run"].setToolTip("changed by a test")  # which no reset takes back
    pool.put_back()
    other = pool.get()
    assert other is not program
    # Two new windows have the same: otherwise the comparison would say nothing.
    assert names(state_of(other)) == names(new)


def test_the_state_names_what_differs() -> None:
    assert compare({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) == [
        "b: 2 -> 3",
        "c: None -> 4",
    ]
