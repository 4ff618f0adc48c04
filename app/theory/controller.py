"""Reference margins and verdicts of the open runs, computed in the background."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMenu

from app.playback.display import DisplayController
from app.playback.transport import PlaybackController
from app.state.session import OpenRun
from app.theory.final_margin import FinalBracket, FinalMargins
from app.theory.judge import Case, Judge, Judgement
from app.theory.margin_menu import MarginMenu
from app.theory.margin_worker import MarginWorker
from app.theory.panel import TheoryPanel
from app.theory.results import FINAL, TheoryResults
from app.theory.theorem_times import TheoremTimes
from app.theory.theory_curves import TheoryCurves
from app.training.kernels import CompilerProcess
from app.widgets.screen_text import greek, with_article
from core.compiled.kernel_groups import MARGINS

if TYPE_CHECKING:
    from core.reference.margin import Reference, ReferenceMargin

JUDGE_MS = 400  # ms from a change of a run, its margins or delta to the request of a verdict
GROWING_MS = 2000  # ms, while a run grows and a verdict is known
SHOW_MS = 16  # ms from a result to the update of the panel, which collects results until then
# Share of a core for each thread; together they slow training by a few per cent.
WHILE_TRAINING = 0.1
FAILED = "The theorems could not be checked. Details are in the log."


@final
class TheoryController(QObject):
    """Requests margins and verdicts of all open runs, and shows the results.

    Panel and timeline show one run; the views of each run draw its margins and bounds. The user's
    choice of drawn margins and bounds is part of the intent.
    """

    status = Signal(str)  # titles of the margins being computed, as "computing the ...", or ""
    margin_work_changed = Signal(bool, bool)
    """Cancelled by the user; computed or waiting. Emitted at each display, unchanged too."""
    alarms_changed = Signal(object)
    """Tuple of core.observables.alarms.Alarm of all open runs judged so far, from left to right."""

    def __init__(
        self,
        panel: TheoryPanel,
        times: TheoremTimes,
        menu: QMenu,
        display: DisplayController,
        playback: PlaybackController,
        margins: MarginWorker,
        judge: Judge,
        compiler: CompilerProcess,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._panel, self._times = panel, times
        self._display = display
        self.margins, self.judge = margins, judge
        for worker in (margins, judge):
            worker.set_cpu_share(self.cpu_share)
        margins.set_hold_condition(partial(compiler.is_missing, (MARGINS,)))
        compiler.progress.connect(margins.wake)
        self._results: dict[int, TheoryResults] = {}
        self.curves = TheoryCurves(display, self.results)
        self._menu = MarginMenu(menu, display, lambda: self._results.values(), self)
        self._key = -1  # run in the panel, -1 for none
        self._current: dict[int, Reference] = {}  # lane -> margin it computes
        self._stopped = False
        self._cancelled: set[int] = set()  # runs whose margins were cancelled, by key
        # Hidden margins, shown bounds and unit by which the lines were drawn last.
        self._drawn = (frozenset[str](), frozenset[str](), "plain")
        self.delta = panel.delta.value()  # failure probability in the statements
        self._others_busy: Callable[[], bool] = bool  # `bool` returns False
        self._pause = QTimer(self, singleShot=True)
        self._pause.setObjectName("judge")
        self._pause.timeout.connect(self._request_judgements)
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self._show_results)
        self._connect()
        times.rows.moment_requested.connect(playback.seek)
        self.final_margins = FinalMargins(display, self.results, self.cpu_share, self)
        self.final_margins.worker.result.connect(self._on_final_margin)
        margins.result.connect(self.final_margins.schedule)

    def _connect(self) -> None:
        """Connect signals of panel, display and workers to the slots of this class."""
        panel = self._panel
        panel.delta.valueChanged.connect(self._on_delta_changed)
        panel.bound_requested.connect(self._on_bound_requested)
        self._display.runs_changed.connect(self._on_runs_changed)
        self._display.current_changed.connect(self._show_panel)
        self._display.intent_changed.connect(self._on_intent_changed)
        self._display.frames_read.connect(self._show_reach)
        self._display.frames_read.connect(self._schedule_judging)
        self.margins.margins_planned.connect(self._on_planned)
        self.margins.margin_started.connect(self._on_started)
        self.margins.result.connect(self._on_margin)
        self.judge.worker.result.connect(self._on_judged)

    def cpu_share(self) -> float:
        """Return the share of a core for each theory thread. Thread-safe.

        WHILE_TRAINING while a run trains, a view waits for frames or the condition of
        `throttle_while` is true; otherwise 1.
        """
        display = self._display
        is_busy = display.session.training or display.waits_for_frames or self._others_busy()
        return WHILE_TRAINING if is_busy else 1.0

    def throttle_while(self, others_busy: Callable[[], bool]) -> None:
        """Throttle all theory threads while `others_busy()`, a thread-safe function, is true.

        A later call replaces the condition.
        """
        self._others_busy = others_busy

    @property
    def busy(self) -> bool:
        """True while a margin or verdict is computed or waits, or a result is not displayed yet.

        A verdict that is only scheduled and the final margins do not count.
        """
        return self.margins.busy or self.judge.busy or self._soon.isActive()

    def results(self, key: int) -> TheoryResults:
        """Return the results of a run; new empty ones if the run is not open or not loaded."""
        return self._results.get(key, TheoryResults())

    def describe_reach(self, run: OpenRun) -> tuple[str, str]:
        """Return label and time to 90 % of a run's promise, as `TheoryResults.describe_reach`."""
        return self.results(run.key).describe_reach(run)

    # ------------------------------------------------------------------------------------- actions

    def cancel(self) -> None:
        """Cancel the margins of all open runs that are computed or wait, until `resume`.

        Computed margins remain, verdicts and final margins continue, and runs that are opened later
        get their own margins. Emit `margin_work_changed`, and update the panel.
        """
        self._cancelled = set(self._loaded_runs())
        self.margins.cancel()
        self._show_results()

    def resume(self) -> None:
        """Compute the missing margins of all open runs; a computation at work starts again."""
        self._cancelled.clear()
        self.margins.resume()
        self._show_results()

    def stop(self) -> None:
        """Cancel all work and wait for all theory threads; later changes of runs do nothing."""
        self._stopped = True
        self._pause.stop()
        self._soon.stop()
        self.margins.close()
        self.judge.close()
        self.final_margins.stop()

    # ----------------------------------------------------------------------------------- open runs

    def _loaded_runs(self) -> dict[int, OpenRun]:
        """Return the open runs with a loaded file, perhaps without frames, by key, in order."""
        return {run.key: run for run in self._display.session if run.data is not None}

    def _on_runs_changed(self) -> None:
        """Request the margins of new runs, drop work and results of closed runs, and update all."""
        if self._stopped:
            return
        runs = self._loaded_runs()
        before = self._results
        self._results = {key: before.get(key, TheoryResults()) for key in runs}
        self._cancelled &= set(runs)
        self.judge.restrict_to(frozenset(runs))
        self.margins.request(
            {key: run.data.run.problem for key, run in runs.items() if run.data is not None}
        )
        self._schedule_judging()
        self._show_results()
        self._emit_alarms()

    def _schedule_judging(self) -> None:
        """Start the judging timer, unless it runs, if a run changed since its last request."""
        if self._stopped or self._pause.isActive():
            return
        runs = self._loaded_runs().items()
        waiting = [key for key, run in runs if self._judging_mark(run) != self.results(key).mark]
        if waiting:
            live = any(run.grows for run in self._display.session)
            # The first verdict comes soon. Later ones of a growing run use more frames and take
            # longer.
            before = self.results(waiting[0]).judgement
            is_repeated = live and before is not None and before.frames > 0
            self._pause.start(GROWING_MS if is_repeated else JUDGE_MS)

    def _judging_mark(self, run: OpenRun) -> tuple[int, int, float]:
        """Return what a verdict depends on: numbers of frames read and of margins, and delta.

        Of a recording that stands in for a run return the last mark, so that it is not judged.
        """
        if run.stands_in:
            return self.results(run.key).mark
        frames = run.data.frames if run.data is not None else 0
        return frames, len(self.results(run.key).margins), self.delta

    def _request_judgements(self) -> None:
        """Request a judgement of each changed run; start the timer again while that must wait."""
        # Verdicts arrive while the judge still works, and pictures have priority over verdicts.
        if self.judge.busy or self._display.waits_for_frames:
            self._pause.start(JUDGE_MS)
            return
        for key, run in self._loaded_runs().items():
            results = self._results.get(key)
            if (
                results is not None
                and run.data is not None
                and self._judging_mark(run) != results.mark
            ):
                # Set with the request, so that it is not repeated before its result arrives.
                results.mark = self._judging_mark(run)
                self.judge.request(Case(key, run.path, dict(results.margins), self.delta))

    # ------------------------------------------------------------------------------- results

    def _on_planned(self, key: int, references: Any) -> None:
        """Store the references of a run; ignore a closed run."""
        if key in self._results:
            self._results[key].references = tuple(references)
            self._results[key].planned = True
            self._schedule_show_results()

    def _on_started(self, lane: int, reference: Reference | None) -> None:
        """Store the margin that a lane computes, None for none; emit `status`, schedule display."""
        if reference is None:
            self._current.pop(lane, None)
        else:
            self._current[lane] = reference
        names = ", ".join(greek(with_article(one.title)) for one in self._current.values())
        self.status.emit(f"computing {names} ..." if names else "")
        self._schedule_show_results()

    def _on_margin(self, key: int, margin: ReferenceMargin) -> None:
        """Store a margin, and schedule a new verdict; ignore a closed run."""
        if key in self._results:
            self._results[key].margins[margin.reference.name] = margin
            self._schedule_judging()
            self._schedule_show_results()

    def _on_final_margin(self, bracket: FinalBracket) -> None:
        """Store a run's final margin, None if unknown; ignore a closed run."""
        if bracket.key in self._results:
            self._results[bracket.key].final = bracket.found
            self._schedule_show_results()

    def _on_judged(self, judgement: Judgement) -> None:
        """Store a verdict, schedule the next if the run changed, and emit all runs' alarms."""
        if judgement.key in self._results:
            self._results[judgement.key].judgement = judgement
            self._schedule_judging()
            self._schedule_show_results()
            self._emit_alarms()

    def _emit_alarms(self) -> None:
        """Emit the alarms of all open runs; a run without a verdict has none."""
        alarms = [
            alarm
            for results in self._results.values()
            for alarm in (results.judgement.alarms if results.judgement else ())
        ]
        self.alarms_changed.emit(tuple(alarms))

    # ------------------------------------------------------------------------------------- options

    def _on_delta_changed(self, delta: float) -> None:
        """Store delta, and schedule new verdicts of all runs."""
        self.delta = delta
        self._schedule_judging()

    def _on_bound_requested(self, key: str, is_shown: bool) -> None:
        """Show or hide a bound in all runs; showing it also opens the view that draws it."""
        if is_shown:
            self._show_view_of(key)
        bounds = self._display.intent.shown_bounds
        self._display.update_intent(shown_bounds=bounds | {key} if is_shown else bounds - {key})

    def _show_view_of(self, key: str) -> None:
        """Open the view of a bound, if it has one, and add its observable to the curves."""
        if key == FINAL:
            self._show_view("margins")
        views = (results.view_of_bound(key) for results in self._results.values())
        view = next(filter(None, views), "")
        if not view:
            return
        curves = self._display.intent.shown_curves
        if view != "margins" and view not in curves:
            curves = (*curves, view)
        self._display.update_intent(curves=curves)
        self._show_view("margins" if view == "margins" else "curves")

    def _show_view(self, name: str) -> None:
        """Add a view after the shown ones, if it is not among them."""
        if name not in self._display.view.wishes.views:
            self._display.update_intent(views=(*self._display.view.wishes.views, name))

    # ------------------------------------------------------------------------------------- display

    def _schedule_show_results(self) -> None:
        """Display the results after SHOW_MS, together with those that arrive until then."""
        if not (self._stopped or self._soon.isActive()):
            self._soon.start()

    def _show_results(self) -> None:
        """Update the panel, the timeline and the lines in the views at once."""
        self._soon.stop()
        self.margin_work_changed.emit(bool(self._cancelled), self.margins.busy)
        self._show_panel()
        self._draw_margin_lines()

    def _show_panel(self) -> None:
        """Show the current run in panel and timeline; if not loaded, the rightmost loaded run."""
        if self._stopped:
            return
        panel, runs = self._panel, self._loaded_runs()
        bounds = self._display.view.wishes.shown_bounds
        current = self._display.current
        self._key = next(reversed(runs), -1)
        if current is not None and current.key in runs:
            self._key = current.key
        heading = runs[self._key].heading if len(runs) > 1 else ""
        panel.show_run(heading)
        results = self._results.get(self._key)
        self._show_times(heading, results)
        self._show_reach()
        self._show_final_margin()
        if results is None:
            panel.show_margins(None, ())
            panel.show_assessments(None, bounds, live=False)
            return
        if not results.planned:
            panel.show_margins((), (), planned=False)
        else:
            computed = frozenset(one.name for one in self._current.values())
            panel.show_margins(
                results.references, results.margins_in_order, computed, self._key in self._cancelled
            )
        judgement = results.judgement  # without frames nothing was judged yet
        assessments = judgement.assessments if judgement is not None and judgement.frames else None
        lines = judgement.lines if judgement is not None else ()
        live = not runs[self._key].stands_in
        panel.show_assessments(assessments, bounds, live, lines)
        if judgement is not None and judgement.failed:
            panel.note.setText(FAILED)

    def _show_times(self, heading: str, results: TheoryResults | None) -> None:
        """Show a run's lines in the timeline, None without a run; `heading` is "" for one run."""
        judgement = None if results is None else results.judgement
        lines = None if judgement is None else judgement.lines
        self._times.show_lines(heading, lines, results is not None)

    def _on_intent_changed(self) -> None:
        """Draw lines, final margin and reach again if the choice of them or the unit changed."""
        wishes = self._display.view.wishes
        choices = wishes.hidden_margins, wishes.shown_bounds, wishes.margin_unit
        if choices != self._drawn:
            self._drawn = choices
            self._draw_margin_lines()
            self._panel.show_bounds(wishes.shown_bounds)
            self._show_final_margin()
            self._show_reach()

    def _show_reach(self) -> None:
        """Show the time to 90 % of the panel's run; hide the line without a run."""
        run = self._display.session.get(self._key)
        self._panel.show_reach(self.results(self._key).describe_reach(run) if run else ("", ""))

    def _show_final_margin(self) -> None:
        """Show the final margin of the panel's run; hide the line while it is unknown."""
        words = self.results(self._key).final_margin_words(self._display.session.get(self._key))
        self._panel.final.show_words(words, self._display.view.wishes.shown_bounds)

    def _draw_margin_lines(self) -> None:
        """Draw the margins and bounds of every open run that has results, in all its views."""
        if self._stopped:
            return
        curves = self.curves
        for panel in self._display.panels:
            run = panel.run
            if run is not None and (results := self._results.get(run.key)) is not None:
                margins, bounds = curves.unhidden_margins(results), curves.shown_bounds(results)
                panel.set_theory(margins, bounds, curves.promise_of(run.key))
