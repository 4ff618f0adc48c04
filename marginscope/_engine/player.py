"""`marginscope.Player`: a page that plays runs, in a notebook or a file.

With anywidget a notebook shows the same page in the same frame, and a message between both carries
the number of a moment, and nothing else.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

from core.errors import InputError
from core.figures.page import check_page_path
from core.files import write_whole
from marginscope._engine.boundary import public

# Scripts of the page run, but cannot access the notebook's cells, cookies or kernel.
SANDBOX = "allow-scripts allow-downloads"
LARGEST = 308.0  # log10 of times that floats hold
# The frame reports its first moment when it is ready, and gets the one that Python has set.
SCRIPT = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", model.get("sandbox"));
  frame.title = model.get("title");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0; display: block`;
  let own = null;
  const seek = () => {
    const moment = model.get("moment");
    if (moment === own) return;
    own = moment;
    frame.contentWindow?.postMessage({ marginscope: { moment } }, "*");
  };
  const hear = ({ source, data }) => {
    const moment = data?.marginscope?.moment;
    if (source !== frame.contentWindow || !Number.isInteger(moment)) return;
    if (data.marginscope.ready) {
      own = moment;
      seek();
      return;
    }
    own = moment;
    model.set("moment", moment);
    model.save_changes();
  };
  window.addEventListener("message", hear);
  model.on("change:moment", seek);
  frame.srcdoc = model.get("html");
  el.append(frame);
  return () => {
    window.removeEventListener("message", hear);
    model.off("change:moment", seek);
  };
}
export default { render };
"""


def nearest_moment(log10_times: Sequence[float], time: Any) -> int:
    """Return the position of the moment that is nearest to t on a logarithmic axis.

    Raises InputError for a time that is no number of at least 0.

    >>> nearest_moment((-math.inf, 0.0, 1.0, 2.0), 20.0), nearest_moment((-math.inf, 0.0), 0.0)
    (2, 0)
    """
    if isinstance(time, bool) or not isinstance(time, int | float) or not time >= 0.0:
        raise InputError(f"time = {time!r:.60}; give a number of at least 0.")
    log10_time = math.log10(time) if time > 0.0 else -math.inf
    if log10_time in log10_times:
        return log10_times.index(log10_time)
    places = [k for k, one in enumerate(log10_times) if math.isfinite(one)]
    if not places or log10_time == -math.inf:
        return 0
    if log10_time == math.inf:
        return len(log10_times) - 1
    return min(places, key=lambda k: abs(log10_times[k] - log10_time))


@cache
def _widget_class() -> Any:
    """Return the class of widgets; None where anywidget is not installed."""
    if find_spec("anywidget") is None:
        return None
    anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    texts = {name: traitlets.Unicode("").tag(sync=True) for name in ("html", "title", "sandbox")}
    numbers = {name: traitlets.Int(0).tag(sync=True) for name in ("height", "moment")}
    return type("PlayerWidget", (anywidget.AnyWidget,), {"_esm": SCRIPT, **texts, **numbers})


def make_widget(player: Player) -> Any:
    """Return the widget of a player at its last moment; None where anywidget is not installed."""
    widget = _widget_class()
    if widget is None:
        return None
    return widget(
        html=player.html,
        title=f"A figure that plays: {player.title}",
        sandbox=SANDBOX,
        height=player.height,
        moment=len(player.log10_times) - 1,
    )


@final
@dataclass(slots=True, repr=False, eq=False)
class Player:
    """Runs as one page that plays them; made by `marginscope.player`.

    A notebook shows the page in a frame, which the page cannot leave. Where anywidget is installed,
    Python sets and observes the time that the notebook shows.

    Attributes
    ----------
    title : str
        Title of the page.
    html : str
        The whole page, as `save` writes it.
    height : int
        Height of the frame in a notebook, in pixels.
    log10_times : tuple of float
        log10 t of each moment, -inf at t = 0.
    time : float
        Time t that a notebook shows; that of the last moment before a notebook shows it.
        Set it to go to the nearest moment, which needs anywidget.
    """

    title: str
    html: str
    height: int
    log10_times: tuple[float, ...] = ()
    _widget: Any = field(default=None, init=False)

    @property
    def time(self) -> float:
        """Time t that a notebook shows; that of the last moment before a notebook shows it.

        Set it to go to the nearest moment, which needs anywidget.
        """
        place = -1 if self._widget is None else int(self._widget.moment)
        log10_time = self.log10_times[place]
        return 10.0**log10_time if log10_time < LARGEST else math.inf

    @time.setter
    def time(self, value: float) -> None:
        self._require_widget().moment = nearest_moment(self.log10_times, value)

    @public
    def observe(self, function: Callable[[float], object], /) -> None:
        """Call a function with the time at each change; needs anywidget.

        Parameters
        ----------
        function : callable
            Gets the time t.

        Raises
        ------
        InputError
            anywidget is not installed.
        """
        self._require_widget().observe(lambda _: function(self.time), names="moment")

    def _require_widget(self) -> Any:
        if self._widget is None:
            self._widget = make_widget(self)
        if self._widget is None:
            raise InputError(
                "The time of a player is set and observed by anywidget, which is not installed; "
                "install it by `pip install anywidget`, and make the player again."
            )
        return self._widget

    @public
    def save(self, path: str | os.PathLike[str], /) -> Path:
        """Write the page, completely or not at all.

        The bytes are those of `python -m core page`.

        Parameters
        ----------
        path : path
            File to write (.html).

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            Another suffix, or a path that cannot be written.
        DiskError
            The disk is full.
        """
        place = Path(path)
        check_page_path(place)
        write_whole(place, self.html.encode())
        return place

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget where there is anywidget, and the page for all that shows none."""
        if self._widget is None:
            self._widget = make_widget(self)
        page = {"text/html": self._repr_html_(), "text/plain": repr(self)}
        if self._widget is None:
            return page
        bundle = self._widget._repr_mimebundle_(**options)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**page, **(data or {})}, metadata

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {self.height}px; border: 0; display: block"
        words = escape(f"A figure that plays: {self.title}")
        return (
            f'<iframe class="marginscope" title="{words}" sandbox="{SANDBOX}" style="{style}" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Player {self.title!r}: {len(self.html) / 1e6:.2f} MB; save writes it to a file>"
