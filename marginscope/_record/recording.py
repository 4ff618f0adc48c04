"""`marginscope.record`: a loop of somebody else's becomes a run of this program."""

from __future__ import annotations

import atexit
import hashlib
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from marginscope._errors import InputError, MarginscopeError
from marginscope._files.ending import is_whole
from marginscope._files.forms import Form
from marginscope._files.frame import Frame
from marginscope._files.held_file import FileLostError
from marginscope._files.meta import Description, dump_json
from marginscope._files.schedule import Schedule
from marginscope._files.schema import FIXED, MAX_FRAMES, MAX_METRICS, is_time
from marginscope._files.writer import RunWriter
from marginscope._record import arrays
from marginscope._record.arrays import Examples
from marginscope._record.engine import name_engine
from marginscope._record.options import Options
from marginscope._record.order import OrderError, explain_fall, explain_order
from marginscope._record.rescue import Describe
from marginscope._record.resume import Found, with_titles
from marginscope._record.saver import Saver
from marginscope._show.api import show

GOES_ON = "the loop goes on, and what was recorded is safe"
Weights = Mapping[str, Any]


class RecordingWarning(UserWarning):
    """What a recorder could not do. The loop that it watches goes on."""


@final
@dataclass(frozen=True, slots=True)
class Begun:
    """A recording with its file: made with the first state of the weights."""

    form: Form
    dtype: np.dtype[Any]
    saver: Saver


@final
class Recording:
    """A run file that grows with a loop; made by `marginscope.record`, and best used by `with`.

    `due` says when a frame is due, `frame` keeps one. Neither breaks the loop: what is wrong is a
    RecordingWarning, once, unless the recording is `strict`.
    """

    def __init__(self, path: str | os.PathLike[str], examples: Examples, options: Options) -> None:
        self._place, self._shown = Path(path).absolute(), str(path)
        self._examples, self._options = examples, options
        self._schedule = Schedule(options.until, options.frames, options.marks, options.first)
        self._begun: Begun | None = None
        self._frames, self._resumed = 0, -1
        self._last = -math.inf  # log10 t of the latest frame
        self._lost = 0  # states in a row that were not finite
        self._closed = False
        self._warned: set[str] = set()  # what was said already, each once
        self._seen = -math.inf  # the largest t that `due` was asked about
        self._process = os.getpid()

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self._place if self._begun is None else self._begun.saver.path

    @property
    def frames(self) -> int:
        """How many frames were taken."""
        return self._frames

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Recording {self._shown!r}, {state}: frames = {self._frames}>"

    def due(self, t: float) -> bool:
        """Whether a frame at t is due by the schedule; asked once for each t.

        t counts steps, or is the time, as the recording was made. The start, where it was given as
        V0 and a0, is a frame already, and t = 0 is not due. A t below an earlier one is never due,
        which a RecordingWarning says once.
        """
        try:
            now = float(t)  # cheap at each of millions of steps; a tensor may change in place
        except Exception:  # t is no number
            return False
        if self._seen < now < math.inf:
            self._seen = now
        elif now < self._seen and not self._closed and not self._elsewhere():
            self._complain(InputError(explain_fall(now, self._seen)), "order")
        if not now >= self._schedule.next or not now < math.inf:
            return False
        if self._closed or self._elsewhere():
            return False
        return self._schedule.due(now)

    def frame(
        self,
        t: float,
        *,
        V: Any,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        steps: int | None = None,
        **told: Any,
    ) -> None:
        """Keep the weights at t; `told` are numbers to be kept beside them, such as eta.

        V (m, d): a row for each node. a (m,) or (1, m), or (k, m) for k classes; not given where
        the outer weights are not trained. b (m,) inner and c (k,) outer biases. `steps` is the
        number of steps where t is the time.
        """
        try:
            if self._elsewhere():
                return
            if self._closed:
                raise InputError(f"the recording of {self._shown} is closed; no frame is added.")
            self._take(t, {"V": V, "a": a, "b": b, "c": c}, steps, told)
        except OrderError as error:
            self._complain(error, "order")
        except Exception as error:  # whatever it is, it must not end somebody else's training
            self._complain(error)
        self._give_notices()

    def show(self, views: str | Sequence[str] | None = None) -> None:
        """Open a window that follows the recording; see `marginscope.show`. Harmless in a loop."""
        if self._elsewhere():
            return
        try:
            if self._begun is None:
                raise InputError(
                    f"{self._shown} has no frame yet; give V0 and a0, or call show after a frame."
                )
            show(self, views=views)
        except Exception as error:
            self._complain(error)

    def close(self, reason: str = "completed") -> None:
        """Finish the file; harmless when repeated. `reason` is why the loop ended."""
        if self._closed or self._elsewhere():
            return
        self._closed = True
        atexit.unregister(self._at_exit)
        if self._begun is None:
            return
        try:
            self._begun.saver.end("diverged" if self._lost else reason, self._known_now())
        except Exception as error:
            self._complain(error)
        self._give_notices()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.close("failed" if issubclass(kind, Exception) else "cancelled")

    # ------------------------------------------------------------------------------- frames

    def _elsewhere(self) -> bool:
        """Whether this is a copy in another process, as data loaders make them."""
        return os.getpid() != self._process

    def _complain(self, error: Exception, about: str = "") -> None:
        if self._options.strict:
            raise error
        if about in self._warned:
            return
        self._warned.add(about)
        kind = type(error).__name__
        text = error.sentence if isinstance(error, MarginscopeError) else f"{kind}: {error}"
        goes_on = "the loop goes on" if isinstance(error, FileLostError) else GOES_ON
        text = f"{self._shown}: {text.rstrip('.')}; {goes_on}."
        warnings.warn(text, RecordingWarning, stacklevel=3)

    def _give_notices(self) -> None:
        """Warn of what happened to the file, also in a strict recording, since it goes on."""
        for notice in () if self._begun is None else self._begun.saver.take_notices():
            warnings.warn(notice, RecordingWarning, stacklevel=3)

    def begin(self, weights: Weights, log10_time: float = -math.inf, step: int = 0) -> None:
        """Make the file, with the first state of the weights as its first frame.

        Raises InputError for weights that do not fit, or a file that cannot be made, and DiskError.
        """
        form, parts = self._formed(weights)
        dtype = np.result_type(*(parts[name] for name, _ in form.layout))
        start = Frame(step, log10_time, 0.0, _flat(parts, form, np.dtype(np.float64)))
        fixed = {name: np.asarray(parts[name], dtype=np.float64) for name, _ in form.fixed}
        describe = partial(self._describe, form, dtype.name, fixed)
        make = partial(
            RunWriter,
            self._place,
            *describe(start),
            force=self._options.overwrite,
            is_whole=is_whole,
            rescuable=True,
        )
        self._start_saver(form, dtype, make, describe)
        self._add(Frame(step, log10_time, 0.0, start.parameters.astype(dtype)))

    def _start_saver(
        self, form: Form, dtype: np.dtype[Any], make: Callable[[], RunWriter], describe: Describe
    ) -> None:
        try:
            saver = Saver(self._place, make, describe)
        except MarginscopeError as error:  # in words that know no command line
            raise type(error)(error.sentence) from None
        self._begun = Begun(form, dtype, saver)
        atexit.register(self._at_exit)

    def resume(self, found: Found, weights: Weights) -> None:
        """Go on in a recording that was left, after its latest frame.

        Raises InputError where the file does not agree with this recording, or is being written.
        """
        self._options = options = with_titles(self._options, found)
        form, dtype = found.form(options), str(found.facts.meta["dtype"])
        if weights["V"] is not None:
            form, parts = self._formed(weights)
            dtype = np.result_type(*(parts[name] for name, _ in form.layout)).name
        describe = partial(self._describe, form, dtype, found.fixed(form))
        description, stored = describe(Frame(0, -math.inf, 0.0, found.facts.arrays["origin"]))
        found.check(description, stored, options)
        make = partial(found.reopen, description, self._place)
        self._start_saver(form, np.dtype(dtype), make, describe)
        self._frames = self._resumed = found.facts.frames
        self._last = found.facts.log10_time
        self._schedule.passed(found.last_t(options))

    def _take(self, t: float, weights: Weights, steps: int | None, told: Weights) -> None:
        if not _is_number(t) or t < 0:
            raise InputError(f"t = {t!r} is no time; numbers from 0 on are.")
        step, log10_time = self._options.moment(float(t), steps)
        if self._begun is None:
            self.begin(weights, log10_time, step)
            self._schedule.passed(float(t))
            return
        if self._frames == self._resumed and not log10_time > self._last:
            return  # a loop that went back to its checkpoint comes by frames that are there
        if self._frames >= MAX_FRAMES:
            raise InputError(f"{MAX_FRAMES} frames are the most of a run; later ones are left out.")
        if not log10_time > self._last or not is_time(self._frames, log10_time):
            raise OrderError(explain_order(float(t)))
        form, parts = self._formed(weights)
        if form != self._begun.form:
            raise InputError(
                f"at t = {t:g} the weights have other shapes than at the start "
                f"({_shapes(form)} instead of {_shapes(self._begun.form)}), and are left out."
            )
        numbers = arrays.numbers(told)
        if len(numbers) > MAX_METRICS:
            raise InputError(f"at most {MAX_METRICS} numbers are kept with a frame.")
        flat = _flat(parts, form, self._begun.dtype)
        if not np.isfinite(flat).all():
            self._lost += 1
            bad = next(name for name in parts if not np.isfinite(parts[name]).all())
            raise InputError(f"at t = {t:g} {bad} is not finite, and is left out.")
        self._lost = 0
        self._add(Frame(step, log10_time, 0.0, flat, None, numbers))
        self._schedule.passed(float(t))

    def _add(self, frame: Frame) -> None:
        assert self._begun is not None
        self._begun.saver.add(frame)
        self._frames += 1
        self._last = frame.log10_time

    def _formed(self, weights: Weights) -> tuple[Form, dict[str, NDArray[Any]]]:
        """What network the weights are those of, and the arrays by their names in a run file."""
        examples, options = self._examples, self._options
        k, d = examples.k, int(examples.x.shape[1])
        V = arrays.hidden(weights["V"], d)
        m = int(V.shape[0])
        parts: dict[str, NDArray[Any]] = {"V": V}
        given = weights["a"] is not None
        if not given and options.a_fixed is None:
            raise InputError("a, the outer weights, are missing; give them with V, or as a_fixed.")
        a = arrays.outer(weights["a"] if given else options.a_fixed, m, k)
        parts["A" if k > 1 else "a"] = a
        if weights["b"] is not None:
            parts["b"] = arrays.vector(weights["b"], m, "b")
        if weights["c"] is not None:
            parts["c"] = arrays.vector(weights["c"], k, "c")
        alike = not given and k == 1 and np.allclose(np.abs(a), m**-0.5, rtol=1e-12, atol=0.0)
        form = Form(
            n=int(examples.x.shape[0]),
            d=d,
            m=m,
            k=k,
            activation=options.activation,
            slope=options.slope,
            biases="b" in parts,
            offset="c" in parts,
            outer=given,
            alike=alike,
        )
        return form, parts

    # --------------------------------------------------------------------------------- meta

    def _describe(
        self, form: Form, dtype: str, fixed: Mapping[str, NDArray[Any]], start: Frame
    ) -> tuple[Description, dict[str, NDArray[np.float64]]]:
        """Content of a file that begins with a frame."""
        origin = start.parameters.astype(np.float64)
        description = Description(
            engine=name_engine(),
            dtype=dtype,
            layout=form.layout,
            network=form.kind,
            sizes={"n": form.n, "d": form.d, "m": form.m, "k": form.k},
            experiment=self._experiment(form, origin, fixed, dtype),
            planned=self._options.frames,
            title=self._options.title or self._place.stem,
            source=self._options.source,
            step=start.step,
            log10_time=start.log10_time,
            recorded=True,
        )
        kept = {**self._examples.arrays, "origin": origin}
        kept |= {f"{FIXED}{name}": array for name, array in fixed.items()}
        return description, {name: np.ascontiguousarray(one, "<f8") for name, one in kept.items()}

    def _experiment(
        self, form: Form, start: NDArray[Any], fixed: Mapping[str, NDArray[Any]], precision: str
    ) -> dict[str, Any]:
        made = hashlib.sha256(start.astype("<f8").tobytes())
        for name in sorted(fixed):
            made.update(fixed[name].astype("<f8").tobytes())
        data = {"kind": "file", "n": form.n, "d": form.d, "content": self._examples.content}
        if self._examples.real:
            data["targets"] = "real"
        return {
            "data": data,
            "network": form.section(made.hexdigest()),
            "loss": {"kind": self._options.loss},
            "dynamics": self._options.dynamics_section(),
            "recording": {"frames": self._options.frames},
            "run": {"precision": precision},
        }

    def _known_now(self) -> dict[str, str]:
        """What is only known at the end: how far the loop came."""
        assert self._begun is not None
        if self._options.until is not None or not math.isfinite(self._last):
            return {}
        experiment = dict(self._begun.saver.experiment)
        until = min(max(self._last, -8.0), 15.0)
        experiment["dynamics"] = {**experiment["dynamics"], "until_log10_time": until}
        return {"experiment": dump_json(experiment)}

    def _at_exit(self) -> None:
        """A loop that ends without closing its recording."""
        self.close("cancelled")


def _is_number(t: object) -> bool:
    try:
        return math.isfinite(float(t))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def _flat(parts: Mapping[str, NDArray[Any]], form: Form, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The trained arrays as one vector, which is a copy of them."""
    with np.errstate(over="ignore"):
        return np.concatenate([parts[name].reshape(-1).astype(dtype) for name, _ in form.layout])


def _shapes(form: Form) -> str:
    return ", ".join(f"{name} {size}" for name, size in (*form.layout, *form.fixed))
