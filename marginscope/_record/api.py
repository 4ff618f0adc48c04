"""`marginscope.record`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from marginscope._errors import InputError
from marginscope._files.forms import DEFAULT_SLOPE, UNKNOWN
from marginscope._files.new_file import check_free
from marginscope._record import arrays
from marginscope._record.options import Options
from marginscope._record.recording import Recording
from marginscope._record.resume import find_left


def record(
    path: str | os.PathLike[str],
    x: Any,
    y: Any,
    *,
    loss: str | None,
    targets: str = "labels",
    V0: Any = None,
    a0: Any = None,
    b0: Any = None,
    c0: Any = None,
    activation: str | None = "relu",
    slope: float = DEFAULT_SLOPE,
    a_fixed: Any = None,
    time: str = "step",
    dynamics: str | None = None,
    eta: float | None = None,
    batch: int | None = None,
    until: float | None = None,
    frames: int = 400,
    marks: Iterable[float] = (),
    x_test: Any = None,
    y_test: Any = None,
    title: str = "",
    source: str = "",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
) -> Recording:
    """A recording of your own training loop of f(x) = sum_j a_j phi(<v_j, x> + b_j) + c.

    x (n, d) and y (n,) are what the loop learns from: labels -1 and +1 or 0 and 1, or class numbers
    0, ..., k - 1 for k >= 3 outputs. `loss` is the risk's, (1/n) sum_i l(p_i): "logistic",
    "exponential", "squared" (1 - p)^2, "least_squares" half of that, or "cross_entropy" for k >= 3
    (docs/theory.md, 2.2); None for any other, of which no risk is known, and margins are. With
    `targets` "real" y are any numbers, as they are: "least_squares" is (f - y)^2 / 2 there, and
    there are no margins.

    V0 (m, d), a0 (m,) or (1, m) (for k classes (k, m)), and the biases b0 (m,) and c0 (k,) where
    there are any, are the weights before the first step: they are frame 0, at t = 0. Without them
    the first frame is where the run begins. `a_fixed` are outer weights that are not trained, given
    once instead of with each frame. Arrays are those of NumPy, PyTorch or JAX, on any device; they
    are copied, as float32 where they are no more, else as float64.

    `activation` is phi by name: relu, leaky_relu (`slope` on the left), linear, quadratic, tanh,
    sigmoid, softplus, gelu, gelu_tanh, silu, elu; None where it is none of these: what needs f is
    then not known.

    `time`: with "step" the t of `due` and `frame` counts steps, with "t" it is the time. `dynamics`
    is how the loop trains, as far as you say it: "gd", "sgd" (of `batch` examples) or "adam", with
    the step size `eta`, t = eta * steps, or "flow". It says which statements are of interest; that
    the steps were taken so cannot be seen from frames, and is never taken for granted.

    `until` is the last t that is planned, with which at most `frames` frames are spaced equally in
    log t, as in the program's own runs, and `marks` (times) get frames of their own; without it 60
    to a decade are.

    The file is written by a thread beside the loop, and what is 50 ms old is safe from a crash. An
    old file is replaced only with `overwrite`.

    With `resume` the recording at `path` goes on after its latest frame, whether it was finished or
    its process has ended; frames before stay as they are, and the loop may go back to a checkpoint
    before them: no frame is due, and none is taken, until t is after the latest. Data, network and
    settings must be those of the recording; V0 and a0, if given, only say which network it is.
    Where there is no file yet, a new one begins.

    With `strict` what is wrong in `due` and `frame` is raised and ends the loop; without it, it is
    a RecordingWarning, once. A file that another program removes or cuts short meanwhile is a
    warning in both cases: the recording goes on in a file beside it.

    Raises InputError for arguments that do not fit, or a file that exists or cannot be made, and
    DiskError where the disk is full: before the loop begins.

    >>> import numpy as np, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    >>> V, a, path = np.eye(2), np.array([1.0, -1.0]), pathlib.Path(folder.name) / "mine.msrun"
    >>> with record(path, x, y, loss="logistic", V0=V, a0=a, until=100) as r:
    ...     for t in range(1, 101):
    ...         V = 1.01 * V
    ...         if r.due(t):
    ...             r.frame(t, V=V, a=a)
    >>> r.frames
    101
    >>> folder.cleanup()
    """
    examples = arrays.examples(x, y, (x_test, y_test), targets == "real")
    options = Options(
        loss=UNKNOWN if loss is None else loss,
        classes=examples.k,
        targets=targets,
        activation=UNKNOWN if activation is None else activation,
        slope=float(slope),
        a_fixed=a_fixed,
        time=time,
        dynamics=dynamics or "",
        eta=None if eta is None else float(eta),
        batch=batch,
        until=None if until is None else float(until),
        frames=int(frames),
        marks=tuple(float(mark) for mark in marks),
        title=str(title)[:500],
        source=str(source)[:500],
        overwrite=overwrite,
        strict=strict,
    )
    found = find_left(Path(path)) if resume else None
    if resume and overwrite:
        raise InputError(
            "resume=True goes on with a recording and overwrite=True replaces it; give one of them."
        )
    if resume and found is None and Path(path).is_file():  # which was left without a frame
        options = replace(options, overwrite=True)
    elif not resume:
        check_free(Path(path), overwrite, "with resume=True its recording goes on, ")
    made = Recording(path, examples, options)
    if found is not None:
        made.resume(found, {"V": V0, "a": a0, "b": b0, "c": c0})
    elif V0 is not None:
        for name, value in (("V0", V0), ("a0", a0), ("b0", b0), ("c0", c0)):
            if value is not None:
                arrays.check_finite(arrays.as_numpy(value, name), name)
        made.begin({"V": V0, "a": a0, "b": b0, "c": c0})
        made.due(0)
    elif a0 is not None or b0 is not None or c0 is not None:
        raise InputError("V0, the inner weights before the first step, is missing beside a0.")
    return made
