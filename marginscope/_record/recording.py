"""Recording of a user's training loop into a run file (`marginscope.record`)."""

from __future__ import annotations

import atexit
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError, MarginscopeError
from core.run_files.frame import Frame, Schedule
from core.run_files.held_file import FileLostError
from core.run_files.meta import dump_json
from core.run_files.networks import Form
from core.run_files.schema import MAX_FRAMES, NOT_FINITE, is_time
from core.run_files.writer import RunWriter
from marginscope._record import arrays
from marginscope._record.arrays import Examples, Weights, describe_shapes
from marginscope._record.frames import (
    LoopNumbers,
    OrderError,
    Thinning,
    explain_fall,
    explain_nothing_new,
    explain_order,
    is_number,
    warn_user,
)
from marginscope._record.network_reader import NetworkReader, Source
from marginscope._record.options import Options, describe_file, with_end
from marginscope._record.resume import FoundRecording, with_titles
from marginscope._record.saver import Describe, Saver, make_writer
from marginscope._show import show

LOOP_CONTINUES = "the loop continues, and the recorded frames are safe"
MOST_LOST_NOTES = 1000  # consecutive non-finite states that get a note


@final
@dataclass(frozen=True, slots=True)
class StartedFile:
    """File of a recording, made with the first state of the weights."""

    form: Form
    dtype: np.dtype[Any]
    saver: Saver


@final
class Recording:
    """Run file that grows with a loop; made by `marginscope.record`, best used by `with`.

    `due` says when a frame is due, `frame` records one. Neither breaks the loop: errors are
    RecordingWarnings, once each, unless the recording is `strict`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        examples: Examples,
        options: Options,
        source: Source,
    ) -> None:
        self._place, self._shown = Path(path).absolute(), str(path)
        self._examples = examples
        self._reader = NetworkReader(examples, options, source, self.warn)
        self._schedule = Schedule(options.until, options.frames, options.marks, options.first)
        self._thinning = Thinning(options.first)
        self._last_t = self._due_time = self._seen = self._planned = -math.inf
        self._first = math.inf  # the t passed to `due`
        self._started: StartedFile | None = None
        self._numbers = LoopNumbers()
        self._frames, self._resumed = 0, -1
        self._last = -math.inf  # log10 t of the latest frame
        self._lost = 0  # consecutive states that were not finite
        self._closed = False
        self._warned: set[str] = set()
        self._process = os.getpid()

    @property
    def path(self) -> Path:
        """Path of the run file."""
        return self._place if self._started is None else self._started.saver.path

    @property
    def _options(self) -> Options:
        return self._reader.options

    @property
    def frames(self) -> int:
        """Number of recorded frames."""
        return self._frames

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Recording {self._shown!r}, {state}: frames = {self._frames}>"

    def due(self, t: float) -> bool:
        """Return True if the schedule wants a frame at t, which is passed once.

        `t` counts steps, or is the time, as the recording was made. The start, if given as V0 and
        a0, is a frame already, and t = 0 is not due. A t below an earlier one is never due.
        """
        try:
            # Cheap, since called millions of times; tensors change in place.
            self._due_time = now = float(t)
        except Exception:  # t is not a number
            return False
        if self._seen < now < math.inf:
            self._first = min(self._first, now)
            self._seen = now
        elif now < self._seen and not self._closed and not self._is_copy():
            self._complain(OrderError(explain_fall(now, self._seen)))
        if not self._schedule.next <= now < math.inf:
            return False
        if self._closed or self._is_copy() or not self._schedule.due(now):
            return False
        self._planned = now
        return True

    def frame(
        self,
        t: float,
        *,
        V: Any = None,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        layers: Any = None,
        outputs: Any = None,
        steps: int | None = None,
        **numbers: Any,
    ) -> None:
        """Record the weights at t, whether a frame was due or not.

        Parameters
        ----------
        t : float
            Number of steps, or the time, as the recording was made; larger than at the last frame.
        V, a, b, c : arrays (m, d); (m,), (1, m) or (k, m); (m,); (k,)
            Inner weights, outer weights (None if not trained), inner and outer biases. Not needed
            if the recording was made with `layers` or `model`, whose weights are read now.
        layers : pair
            Inner and outer layer in place of the arrays, as `marginscope.record` takes them: for
            libraries whose arrays never change in place, such as JAX.
        outputs : array (n,) or (n, k)
            The loop's f(x) of all examples, compared with the recorded network's.
        steps : int
            Number of steps where t is the time.
        **numbers : float
            Numbers beside the frame, such as eta=0.1: columns of the run, `run["eta"]`, or
            `run["loop.NAME"]` where an observable has the name. `risk` and `loss` are compared with
            the recorded network's risk.
        """
        try:
            if self._is_copy():
                return
            if self._closed:
                raise InputError(f"the recording of {self._shown} is closed; no frame is added.")
            weights = {"V": V, "a": a, "b": b, "c": c}
            self._take(t, self._reader.read(weights, layers), steps, outputs, numbers)
        except Exception as error:  # no error may stop the user's training
            self._complain(error)
        self._warn_of_notices()

    def show(self, views: str | Sequence[str] | None = None) -> None:
        """Open a window that follows the recording, with `views` as in `marginscope.show`."""
        if self._is_copy():
            return
        try:
            if self._started is None:
                raise InputError(
                    f"{self._shown} has no frame yet; give V0 and a0, or call show after a frame."
                )
            show(self, views=views)
        except Exception as error:
            self._complain(error)

    def close(self, reason: str = "completed") -> None:
        """Finish the file; harmless when repeated. `reason` is why the loop ended."""
        if self._closed or self._is_copy():
            return
        if reason == "completed":
            self._take_last_state()
            if self._frames == self._resumed and -math.inf < self._seen < self._last_t:
                self._warn("order", explain_nothing_new(self._seen, self._last_t))
        self._closed = True
        self._reader.stop()
        atexit.unregister(self._at_exit)
        if self._started is None:
            return
        try:
            self._started.saver.finish("diverged" if self._lost else reason, self._known_now())
        except Exception as error:
            self._complain(error)
        self._warn_of_notices()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.close("failed" if issubclass(kind, Exception) else "cancelled")

    # ------------------------------------------------------------------------------- frames

    def _is_copy(self) -> bool:
        """Return True in a copy of the process, as data loaders make them."""
        return os.getpid() != self._process

    def _complain(self, error: Exception) -> None:
        """Warn of an error that costs a frame; raise it in a strict recording."""
        if self._options.strict:
            raise error
        kind = type(error).__name__
        text = error.sentence if isinstance(error, MarginscopeError) else f"{kind}: {error}"
        topic = "order" if isinstance(error, OrderError) else "frame"
        goes_on = "the loop continues" if isinstance(error, FileLostError) else LOOP_CONTINUES
        self._warn(topic, f"{text.rstrip('.')}; {goes_on}.")

    def _warn_of_notices(self) -> None:
        """Warn about problems with the file, also in a strict recording, since it continues."""
        for notice in () if self._started is None else self._started.saver.take_notices():
            warn_user(notice)

    def warn(self, topic: str, sentence: str) -> None:
        """Warn once of each topic. Raises InputError in a strict recording."""
        if self._options.strict:
            raise InputError(f"{self._shown}: {sentence}.")
        self._warn(topic, f"{sentence}.")

    def _warn(self, topic: str, text: str) -> None:
        """Warn of a topic, at most once in this recording."""
        if topic in self._warned:
            return
        self._warned.add(topic)
        warn_user(f"{self._shown}: {text}")

    def start(self, start: Weights) -> None:
        """Make the file with the weights before the first step: given ones, or the layers'.

        Raises InputError for weights that do not fit, and what `create_file` raises.
        """
        weights = self._reader.read_start(start)
        if weights is None:
            return
        for name, value in weights.items():
            if value is not None:
                arrays.check_finite(arrays.as_numpy(value, f"{name}0"), f"{name}0")
        self.create_file(weights)

    def create_file(
        self,
        weights: Weights,
        t: float = 0.0,
        steps: int | None = None,
        numbers: Mapping[str, float] | None = None,
    ) -> None:
        """Make the file, with the first state of the weights as its first frame.

        Parameters are those of `frame`. Raises InputError for weights that do not fit, or a file
        that cannot be made, and DiskError.
        """
        network = self._reader.start(weights)
        step, log10_time = self._options.moment(t, steps)
        for name, part in network.parts.items():
            arrays.check_finite(part, name)
        form, fixed = network.form, network.fixed_arrays
        dtype = self._reader.dtype_of(network)
        start = Frame(step, log10_time, 0.0, network.flatten(np.dtype(np.float64)))
        describe = self._describe(form, dtype, fixed)
        make = partial(make_writer, self._place, *describe(start), self._options.overwrite)
        self._start_saver(form, dtype, make, describe)
        flat = start.parameters.astype(dtype)
        self._add(Frame(step, log10_time, 0.0, flat, None, dict(numbers or {})))
        self._pass(t)

    def _start_saver(
        self, form: Form, dtype: np.dtype[Any], make: Callable[[], RunWriter], describe: Describe
    ) -> None:
        try:
            saver = Saver(self._place, make, describe)
        except MarginscopeError as error:  # without hints for the command line
            raise type(error)(error.sentence) from None
        self._started = StartedFile(form, dtype, saver)
        atexit.register(self._at_exit)

    def resume(self, earlier: FoundRecording, start: Weights) -> None:
        """Continue a recording that was left, after its latest frame.

        Raises InputError where the file does not agree with this recording, or is being written.
        """
        self._reader.prefer(earlier.with_factors(self._options.network))
        weights = self._reader.read_start(start)
        network = self._reader.start(weights or earlier.weights(self._options.network))
        self._reader.options = options = with_titles(self._options, earlier)
        form, dtype = network.form, self._reader.dtype_of(network)
        describe = self._describe(form, dtype, network.fixed_arrays)
        now, stored = describe(Frame(0, -math.inf, 0.0, earlier.facts.arrays["origin"]))
        earlier.check(now, stored, options)
        self._start_saver(form, dtype, partial(earlier.reopen, now, self._place), describe)
        self._frames = self._resumed = earlier.facts.frames
        self._last = earlier.facts.log10_time
        self._pass(earlier.last_t(options))

    def _take(
        self, t: float, weights: Weights, steps: int | None, outputs: Any, loop_numbers: Weights
    ) -> None:
        """Add the frame at t, or start the file with it.

        Raises InputError or OrderError for a frame that cannot be added; frames that a resumed or
        thinned recording leaves out are no errors.
        """
        if not is_number(t) or t < 0:
            raise InputError(f"t = {t!r:.60} is not a time; give a number from 0 on.")
        numbers = self._numbers.take(loop_numbers)
        if self._started is None:
            self.create_file(weights, float(t), steps, numbers)
            return
        step, log10_time = self._options.moment(float(t), steps)
        if self._frames == self._resumed and not log10_time > self._last:
            return  # a loop resumed from its checkpoint passes frames that exist already
        if not log10_time > self._last or not is_time(self._frames, log10_time):
            raise OrderError(explain_order(float(t)))
        if t != self._planned and (sentence := self._thinning.explain(self._frames, float(t))):
            self.warn("thinned", sentence)
            return
        if self._frames >= MAX_FRAMES:
            raise InputError(f"a run has at most {MAX_FRAMES} frames; later ones are left out.")
        network = self._reader.arrange(weights)
        form = network.form
        if form != self._started.form:
            raise InputError(
                f"at t = {t:g} the shapes of the weights differ from those at the start "
                f"({describe_shapes(form)} instead of {describe_shapes(self._started.form)}); the "
                "frame is left out."
            )
        flat = network.flatten(self._started.dtype)
        if not np.isfinite(flat).all():
            self._lost += 1
            bad = next(n for n, part in network.parts.items() if not np.isfinite(part).all())
            if self._lost <= MOST_LOST_NOTES:
                self._started.saver.note(NOT_FINITE, {"t": float(t), "array": bad})
            raise InputError(f"at t = {t:g} {bad} is not finite, and is left out.")
        self._lost = 0
        self._add(Frame(step, log10_time, 0.0, flat, None, numbers))
        self._pass(t)
        self._reader.compare(t, weights, network.with_values(flat), numbers, outputs)

    def _pass(self, t: float) -> None:
        """Note in the schedules that a frame was recorded at t."""
        self._schedule.note_frame(float(t))
        self._thinning.note_frame(float(t))
        self._last_t = float(t)

    def _take_last_state(self) -> None:
        """Record the state at the last t passed to `due`, if the layers are available.

        A loop that starts at t = 0 asks before its steps, and has taken one more by now.
        """
        t = self._due_time
        if self._started and self._reader.is_live and t > self._last_t and self._first:
            self.frame(t)

    def _add(self, frame: Frame) -> None:
        assert self._started is not None
        self._started.saver.add(frame)
        self._frames += 1
        self._last = frame.log10_time

    # --------------------------------------------------------------------------------- meta

    def _describe(
        self, form: Form, dtype: np.dtype[Any], fixed: Mapping[str, NDArray[Any]]
    ) -> Describe:
        """Return the function that describes a file starting with a given frame."""
        name = self._options.title or self._place.stem
        return partial(describe_file, self._examples, self._options, name, form, dtype.name, fixed)

    def _known_now(self) -> dict[str, str]:
        """Return rows of `meta` that are known only at the end: the time that the loop reached."""
        assert self._started is not None
        if self._options.until is not None or not math.isfinite(self._last):
            return {}
        return {"experiment": dump_json(with_end(self._started.saver.experiment, self._last))}

    def _at_exit(self) -> None:
        """Close the recording of a loop that ends without closing it."""
        self.close("cancelled")
