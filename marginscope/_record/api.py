"""`marginscope.record`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from marginscope._errors import InputError
from marginscope._files.forms import DEFAULT_SLOPE, UNKNOWN
from marginscope._files.new_file import check_free
from marginscope._record import arrays
from marginscope._record.optimizer import steps_of
from marginscope._record.options import Options
from marginscope._record.recording import Recording


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
    optimizer: Any = None,
    until: float | None = None,
    frames: int = 400,
    marks: Iterable[float] = (),
    x_test: Any = None,
    y_test: Any = None,
    title: str = "",
    source: str = "",
    overwrite: bool = False,
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
    the steps were taken so cannot be seen from frames, and is never taken for granted. `optimizer`
    says it instead: an optimizer of PyTorch, or a dictionary such as {"kind": "Adam", "lr": 1e-3,
    "betas": (0.9, 0.999)}. All that it says is kept; plain SGD is "gd" ("sgd" of a smaller
    `batch`), Adam and AdamW are "adam", and any other, as SGD with momentum or a scheduler, is none
    of these. What nobody said, such as a weight decay, is "not recorded".

    `until` is the last t that is planned, with which at most `frames` frames are spaced equally in
    log t, as in the program's own runs, and `marks` (times) get frames of their own; without it 60
    to a decade are.

    The file is written by a thread beside the loop, and what is 50 ms old is safe from a crash. An
    old file is replaced only with `overwrite`. With `strict` what is wrong in `frame` is raised and
    ends the loop; without it, it is a RecordingWarning, once.

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
        batch=batch,
        **steps_of(optimizer, dynamics, eta, batch, n=examples.x.shape[0]),
        until=None if until is None else float(until),
        frames=int(frames),
        marks=tuple(float(mark) for mark in marks),
        title=str(title)[:500],
        source=str(source)[:500],
        overwrite=overwrite,
        strict=strict,
    )
    check_free(Path(path), overwrite)
    made = Recording(path, examples, options)
    if V0 is not None:
        for name, value in (("V0", V0), ("a0", a0), ("b0", b0), ("c0", c0)):
            if value is not None:
                arrays.check_finite(arrays.as_numpy(value, name), name)
        made.begin({"V": V0, "a": a0, "b": b0, "c": c0})
        made.due(0)
    elif a0 is not None or b0 is not None or c0 is not None:
        raise InputError("V0, the inner weights before the first step, is missing beside a0.")
    return made
