"""A player that Python and a notebook move together, by anywidget where it is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import marginscope as ms
from core.errors import InputError
from marginscope._engine import player as players
from tests.python.small import trained
from tests.support.browser import browser, browser_path

PROGRAM = browser_path()
HOLDER = """<!doctype html><body><div id="el"></div><script type="module">
%s
const values = { html: %s, title: "A", sandbox: "allow-scripts", height: 500, moment: 2 };
const listeners = [];
globalThis.model = {
  sent: [],
  get: (name) => values[name],
  set: (name, value) => {
    if (values[name] === value) return;
    values[name] = value;
    for (const act of listeners) act();
  },
  save_changes() { this.sent.push(values.moment); },
  on: (_, act) => listeners.push(act),
  off: () => {},
};
render({ model, el: document.getElementById("el") });
</script>"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ms.Run]:
    with trained(path=tmp_path_factory.mktemp("run") / "a.msrun") as one:
        yield one


def test_without_anywidget_a_player_is_a_page(run: ms.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "_widget_class", lambda: None)
    page = run.player(margins=(), frames=4)
    assert page.time == pytest.approx(float(run.t[-1]))
    assert set(page._repr_mimebundle_()) == {"text/html", "text/plain"}
    for act in (lambda: page.observe(print), lambda: setattr(page, "time", 1.0)):
        with pytest.raises(InputError, match="pip install anywidget"):
            act()


def test_the_nearest_moment_is_on_a_logarithmic_axis() -> None:
    times = (float("-inf"), -1.0, 0.0, 2.0)
    wanted = {0.0: 0, 1e-9: 1, 0.1: 1, 0.5: 2, 9.0: 2, 11.0: 3, float("inf"): 3}
    assert {time: players.nearest_moment(times, time) for time in wanted} == wanted
    for wrong in (-1.0, float("nan"), "1", True, None):
        with pytest.raises(InputError, match="give a number of at least 0"):
            players.nearest_moment(times, wrong)


@pytest.mark.skipif(find_spec("anywidget") is None, reason="anywidget is not installed")
def test_with_anywidget_the_time_is_set_and_observed(run: ms.Run) -> None:
    page, heard = run.player(margins=(), frames=4), []
    page.observe(heard.append)
    page.time = 0.0
    assert (page.time, heard) == (0.0, [0.0])
    page._widget.moment = 2  # as a notebook does
    assert heard[1] == page.time == pytest.approx(10.0 ** page.log10_times[2])
    data, _ = page._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "<iframe" in data["text/html"]


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
def test_frame_and_notebook_follow_one_another(run: ms.Run, tmp_path: Path) -> None:
    page = run.player(margins=(), frames=4)
    script = players.SCRIPT.replace("export default { render };", "")
    html = json.dumps(page.html).replace("<", "\\u003c")
    (tmp_path / "notebook.html").write_text(HOLDER % (script, html), encoding="utf-8")
    assert PROGRAM is not None
    with browser(PROGRAM) as one:
        one.resize(900, 700)
        one.open(tmp_path / "notebook.html", "document.querySelector('iframe')")
        slider = "document.querySelector('.controls input')"
        with one.within():
            one.wait(f"{slider}?.value === '2'")  # as Python had set it before
            one.value(f"{slider}.value = '1'; {slider}.dispatchEvent(new Event('input'))")
        one.wait("model.sent.at(-1) === 1")
        one.value("model.set('moment', 3)")
        with one.within():
            one.wait(f"{slider}.value === '3'")
        assert one.value("model.get('moment')") == 3
        one.value("model.set('moment', 99)")
        with one.within():
            one.wait(f"{slider}.value === '3'")  # beyond the last one
