"""Reference margins and verdicts of the runs that are shown: computed beside the window."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMenu

from app.playback.display import DisplayController
from app.state.session import OpenRun
from app.theory.final_line import FINAL
from app.theory.judge import Case, Judge, Judgement
from app.theory.knowledge import Knowledge
from app.theory.line_menu import LineMenu
from app.theory.margin_worker import MarginWorker
from app.theory.panel import TheoryPanel
from app.theory.theorem_times import TheoremTimes
from app.widgets.symbols import greek, short_name

if TYPE_CHECKING:
    from app.theory.final_margin import Ahead
    from app.views.view import Bound
    from core.figures.options import BoundCurve
    from core.reference.margin import Reference, ReferenceMargin
    from core.reference.share import Promise

JUDGE_MS = 400  # after a margin has arrived or the run has ended
GROWING_MS = 2000  # while it grows
SHOW_MS = 16  # from an answer to the update of the panel, which shows all answers until then
WHILE_TRAINING = 0.1  # of a core, for each thread: together they cost the training a few per cent
FAILED = "The statements could not be judged because of an error; the log says more."


@final
class TheoryController(QObject):
    """Asks the workers, and shows what they say. `status(words)`: what is being computed.

    Which lines of margins and which bounds of statements are drawn is part of the view.
    """

    status = Signal(str)
    alarmed = Signal(object)  # tuple of core.observables.alarms.Alarm, of all runs shown

    def __init__(
        self,
        panel: TheoryPanel,
        times: TheoremTimes,
        menu: QMenu,
        display: DisplayController,
        margins: MarginWorker,
        judge: Judge,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._panel, self._times = panel, times
        self._display = display
        self.margins, self.judge = margins, judge
        for worker in (margins, judge):
            worker.sharing(self.share)
        self._known: dict[int, Knowledge] = {}
        self._key = self._chosen = -1
        self._current: dict[int, str] = {}
        self._stopped = self._ended = False
        # The wishes that the lines follow.
        self._drawn = (frozenset[str](), frozenset[str](), "plain")
        self._delta = panel.delta.value()
        self._others: Callable[[], bool] = bool  # nobody: bool() is False
        self._pause = QTimer(self, singleShot=True)
        self._pause.setObjectName("judge")
        self._pause.timeout.connect(self._judge)
        self._soon = QTimer(self, singleShot=True, interval=SHOW_MS)
        self._soon.timeout.connect(self._show)
        self._lines = LineMenu(menu, display, self._all_known)
        self._connect()

    def _connect(self) -> None:
        panel = self._panel
        panel.run_chosen.connect(self._choose)
        panel.delta_requested.connect(self._set_delta)
        panel.bound_requested.connect(self._show_bound)
        panel.final.requested.connect(self._show_bound)
        self._display.runs_changed.connect(self._follow)
        self._display.intent_changed.connect(self._on_intent)
        self._display.frames_read.connect(self._show_reach)
        self._display.frames_read.connect(self._look)
        self.margins.planned.connect(self._on_planned)
        self.margins.started.connect(self._on_began)
        self.margins.result.connect(self._on_margin)
        self.judge.result.connect(self._on_judged)

    def share(self) -> float:
        """How much of a core theory may take: little while something is trained, or somebody waits
        for a picture or a file. For any thread."""
        display = self._display
        given = display.session.training or display.awaited or self._others()
        return WHILE_TRAINING if given else 1.0

    def give_way(self, others: Callable[[], bool]) -> None:
        """Take little of a core also while `others` are at work, which any thread may ask."""
        self._others = others

    @property
    def busy(self) -> bool:
        """True while a worker computes or judges, or until its last answer is shown."""
        return self.margins.busy or self.judge.busy or self._soon.isActive()

    def known(self, key: int) -> Knowledge:
        """What is known of a run."""
        return self._known.get(key, Knowledge())

    def _all_known(self) -> Iterable[Knowledge]:
        return self._known.values()

    def set_final(self, ahead: Ahead) -> None:
        """What is known of a run's final margin."""
        if ahead.key in self._known:
            self._known[ahead.key].final = ahead.found
            self._schedule_show()

    def reach_of(self, run: OpenRun) -> tuple[str, str]:
        """When a run's hard margin came to 90 % of what is promised, in words."""
        return self.known(run.key).reach_of(run)

    # ---------------------------------------------------------------------------- the actions

    def cancel(self) -> None:
        """Compute no more margins."""
        self._stopped = True
        self.margins.cancel()
        self._show()

    def again(self) -> None:
        """Compute the margins that are missing, after all."""
        self._stopped = False
        self.margins.again()
        self._show()

    def stop(self) -> None:
        """Cancel everything, and wait for it."""
        self._ended = True
        self._pause.stop()
        self._soon.stop()
        self.margins.close()
        self.judge.close()

    # ----------------------------------------------------------------------------- what is open

    def _readable(self) -> dict[int, OpenRun]:
        return {run.key: run for run in self._display.session if run.data is not None}

    def _follow(self) -> None:
        """Other runs are open, or one can be read now."""
        if self._ended:
            return
        runs = self._readable()
        before = self._known
        self._known = {key: before.get(key, Knowledge()) for key in runs}
        if set(runs) - set(before):  # what was cancelled were the margins of others
            self._stopped = False
        # The one at the right, which came last, unless somebody has chosen.
        self._key = self._chosen if self._chosen in runs else next(reversed(runs), -1)
        self.judge.keep(frozenset(runs))
        self.margins.ask(
            {key: run.data.run.problem for key, run in runs.items() if run.data is not None}
        )
        self._look()
        self._show()
        self._tell_alarms()

    def _look(self) -> None:
        """Judge again before long, if a run has grown since it was judged."""
        if self._ended or self._pause.isActive():
            return
        runs = self._readable().items()
        waiting = [key for key, run in runs if self._mark(run) != self.known(key).judged]
        if waiting:
            live = any(run.grows for run in self._display.session)
            # The first verdict comes soon; of a growing run each further one is of more frames, and
            # dearer.
            self._pause.start(GROWING_MS if live and self.known(waiting[0]).judgement else JUDGE_MS)

    def _mark(self, run: OpenRun) -> tuple[int, int, float]:
        if run.stands_in:  # a recording is looked at, and its run judged when it is there
            return self.known(run.key).judged
        frames = run.data.frames if run.data is not None else 0
        return frames, len(self.known(run.key).margins), self._delta

    def _judge(self) -> None:
        # A verdict is told while its judge is still at it, and a picture is wanted before one.
        if self.judge.busy or self._display.awaited:  # look again later
            self._pause.start(JUDGE_MS)
            return
        for key, run in self._readable().items():
            known = self._known.get(key)
            if known is not None and run.data is not None and self._mark(run) != known.judged:
                # Noted when it is asked: until the answer is there, the same is not asked again.
                known.judged = self._mark(run)
                self.judge.ask(Case(key, run.path, dict(known.margins), self._delta))

    # ------------------------------------------------------------------------------- answers

    def _on_planned(self, key: int, references: Any) -> None:
        if key in self._known:
            self._known[key].references = tuple(references)
            self._known[key].planned = True
            self._schedule_show()

    def _on_began(self, lane: int, reference: Reference | None) -> None:
        self._current[lane] = "" if reference is None else reference.name
        names = ", ".join(greek(name) for name in self._current.values() if name)
        self.status.emit(f"computing {names} ..." if names else "")
        self._schedule_show()

    def _on_margin(self, key: int, margin: ReferenceMargin) -> None:
        if key in self._known:
            self._known[key].margins[margin.reference.name] = margin
            self._look()
            self._schedule_show()

    def _on_judged(self, judgement: Judgement) -> None:
        if judgement.key in self._known:
            self._known[judgement.key].judgement = judgement
            self._look()
            self._schedule_show()
            self._tell_alarms()

    def _tell_alarms(self) -> None:
        alarms = [
            alarm
            for known in self._known.values()
            for alarm in (known.judgement.alarms if known.judgement else ())
        ]
        self.alarmed.emit(tuple(alarms))

    # ------------------------------------------------------------------------------- wishes

    def _choose(self, key: int) -> None:
        self._key = self._chosen = key
        self._show_panel()

    def _set_delta(self, delta: float) -> None:
        self._delta = delta
        self._look()

    def _show_bound(self, key: str, shown: bool) -> None:
        if shown:
            self._bring_up(key)
        bounds = self._display.intent.shown_bounds
        self._display.ask(shown_bounds=bounds | {key} if shown else bounds - {key})

    def _bring_up(self, key: str) -> None:
        """Show the view where a bound belongs, and its observable."""
        intent = self._display.intent
        if key == FINAL:
            self._bring_up_view("margins")
        for known in self._known.values():
            for one in known.judgement.assessments if known.judgement else ():
                view = one.comparison.view
                if one.statement.key != key or not view:
                    continue
                curves = intent.shown_curves
                if view != "margins" and view not in curves:
                    curves = (*curves, view)
                self._display.ask(curves=curves)
                self._bring_up_view("margins" if view == "margins" else "curves")
                return

    def _bring_up_view(self, name: str) -> None:
        if name not in self._display.view.wishes.views:
            self._display.ask(views=(*self._display.view.wishes.views, name))

    # ------------------------------------------------------------------------------- showing

    def _schedule_show(self) -> None:
        if not (self._ended or self._soon.isActive()):
            self._soon.start()

    def _show(self) -> None:
        self._soon.stop()
        self._show_panel()
        self._show_lines()

    def _show_panel(self) -> None:
        if self._ended:
            return
        panel, runs = self._panel, self._readable()
        bounds = self._display.view.wishes.shown_bounds
        panel.show_runs([(key, run.heading) for key, run in runs.items()], self._key)
        known = self._known.get(self._key) if self._key in runs else None
        self._show_times(known, runs)
        self._show_reach()
        self._show_final()
        if known is None:
            panel.show_margins(None, ())
            panel.show_assessments(None, bounds, live=False)
            return
        if not known.planned:
            panel.show_margins((), (), planned=False)
        else:
            current = frozenset(name for name in self._current.values() if name)
            panel.show_margins(known.references, known.in_order, current, self._stopped)
        judgement = known.judgement
        assessments = judgement.assessments if judgement is not None else None
        panel.show_assessments(assessments, bounds, live=not runs[self._key].stands_in)
        if judgement is not None and judgement.failed:
            panel.note.setText(FAILED)

    def _show_times(self, known: Knowledge | None, runs: dict[int, OpenRun]) -> None:
        """The theorem time line of the run that the panel shows; named where there are several."""
        judgement = None if known is None else known.judgement
        heading = runs[self._key].heading if len(runs) > 1 and self._key in runs else ""
        lines = None if judgement is None else judgement.lines
        self._times.show_lines(heading, lines, known is not None)

    def _on_intent(self) -> None:
        """Show other lines and bounds where others are wanted."""
        wishes = self._display.view.wishes
        drawn = wishes.hidden_margins, wishes.shown_bounds, wishes.margin_unit
        if drawn != self._drawn:
            self._drawn = drawn
            self._show_lines()
            self._show_final()
            self._show_reach()

    def _show_reach(self) -> None:
        """When the run that the panel shows came to 90 % of what is promised."""
        run = self._display.session.get(self._key)
        self._panel.show_reach(self.known(self._key).reach_of(run) if run else ("", ""))

    def _show_final(self) -> None:
        """Where the margin of the run that the panel shows is going."""
        words = self.known(self._key).final_words(self._display.session.get(self._key))
        self._panel.final.show_words(words, self._display.view.wishes.shown_bounds)

    def _show_lines(self) -> None:
        """The lines and bounds of every run that is shown."""
        if self._ended:
            return
        for panel in self._display.panels:
            if panel.run is not None and (known := self._known.get(panel.run.key)) is not None:
                promise = self.promise_of(panel.run.key)
                panel.set_theory(self._lines_of(known), self._bounds_of(known), promise)

    def promise_of(self, key: int) -> Promise | None:
        """What a run's margins are shown as shares of; None where they are shown as they are."""
        if self._display.view.wishes.margin_unit != "share":
            return None
        return self.known(key).promise

    def lines_of(self, key: int) -> tuple[ReferenceMargin, ...]:
        """The margins whose lines are drawn for a run, for figures of it."""
        return tuple(one for one in self._lines_of(self.known(key)) if one.drawable)

    def bounds_of(self, key: int) -> tuple[BoundCurve, ...]:
        """The bounds that are drawn for a run, for figures of it."""
        from core.figures.options import BoundCurve

        wanted = self._display.view.wishes.shown_bounds
        return tuple(BoundCurve(*one[:4]) for one in self.known(key).find_bounds(wanted))

    def sources_of(self, key: int) -> tuple[str, ...]:
        """Where the margins that are drawn and the statements that are judged come from."""
        judgement = self.known(key).judgement
        judged = judgement.assessments if judgement is not None else ()
        margins = [one.reference.source for one in self.lines_of(key)]
        return (*margins, *(one.statement.source for one in judged))

    @property
    def delta(self) -> float:
        """The failure probability of the statements."""
        return self._delta

    def _lines_of(self, known: Knowledge) -> list[ReferenceMargin]:
        hidden = self._display.view.wishes.hidden_margins
        return [one for one in known.in_order if one.reference.name not in hidden]

    def _bounds_of(self, known: Knowledge) -> list[Bound]:
        from app.views.view import Bound

        drawn = known.find_bounds(self._display.view.wishes.shown_bounds)
        return [Bound(short_name(name), *rest) for _, name, *rest in drawn]
