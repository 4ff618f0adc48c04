"""`marginscope.record`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.errors import InputError, MarginscopeError
from core.run_files.networks import DEFAULT_SLOPE, UNKNOWN
from core.run_files.new_file import check_free
from marginscope._record import arrays
from marginscope._record.arrays import Examples, NetworkOptions, Weights
from marginscope._record.layers import Layers, find_layers
from marginscope._record.losses import SQUARES, read_loss
from marginscope._record.network_reader import Source, choose_layers
from marginscope._record.optimizer import steps_of
from marginscope._record.options import Options
from marginscope._record.recording import Recording
from marginscope._record.resume import FoundRecording, find_left

AUTO = "auto"  # the activation of `model`, or relu


def record(
    path: str | os.PathLike[str],
    x: Any,
    y: Any,
    *,
    loss: Any,
    reduction: str | None = None,
    targets: str = "labels",
    layers: Any = None,
    model: Any = None,
    V0: Any = None,
    a0: Any = None,
    b0: Any = None,
    c0: Any = None,
    activation: str | None = AUTO,
    slope: float = DEFAULT_SLOPE,
    scale: float | None = None,
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
    resume: bool = False,
    strict: bool = False,
) -> Recording:
    """Record your own training loop of f(x) = s (sum_j a_j phi(<v_j, x> + b_j) + c) as a run file.

    Arrays are those of NumPy, PyTorch or JAX, on any device. They are copied: as float32 if they
    have single precision or less, else as float64. A thread beside the loop writes the file; frames
    older than 50 ms are safe from a crash.

    Parameters
    ----------
    path : str or path
        Run file to make, `mine.msrun`.
    x : array (n, d)
        Examples that the loop learns from.
    y : array (n,)
        Labels -1 and +1 or 0 and 1, class numbers 0, ..., k - 1 for k >= 3 outputs, or any numbers
        with `targets="real"`.
    loss : str, a loss of PyTorch, or None
        Risk R = (1/n) sum_i l of the loop: "logistic", "exponential", "squared" (1 - y f)^2, "mse"
        (f - y)^2, "least_squares" half of that, "cross_entropy" for k >= 3 (docs/theory.md, 2.2);
        `torch.nn.BCEWithLogitsLoss()` and others of PyTorch. None for any other loss: margins are
        known then, and no risk is.
    reduction : str
        "mean" (the usual one), or "sum" if the loop minimises n R. A step of eta is one of n eta
        on R then.
    targets : str
        "labels", or "real" for y that are fitted as they are; there are no margins then.
    layers : pair
        Inner and outer layer: modules with `weight` and `bias` (PyTorch, Equinox), mappings with
        `kernel` and `bias` (Flax), arrays, or pairs of arrays. Weights and biases of PyTorch and
        NumPy are read from them at each frame. Their state now is frame 0.
    model : callable
        Network of the loop, x to f(x). One forward pass finds `activation` and `scale`; a
        RecordingWarning says if no network of these weights has its outputs. The layers of a
        PyTorch module are found in it.
    V0, a0, b0, c0 : arrays (m, d), (m,) or (1, m) or (k, m), (m,), (k,)
        Weights before the first step, in place of `layers`: frame 0, at t = 0. Without weights the
        run starts with its first frame.
    activation : str or None
        phi: relu, leaky_relu (`slope` on the left), smooth_leaky_relu, linear, quadratic, tanh,
        sigmoid, softplus, gelu, gelu_tanh, silu, elu, erf, hardtanh; None for any other, of which
        f is not known. Without it phi is that of `model`, or relu.
    slope : float
        Slope of leaky ReLUs on the left.
    scale : float
        Factor s of the outputs, 1/m in mean field networks. It is shared among the layers, so that
        the file's network is f. Without it s is that of `model`, or 1.
    a_fixed : array (m,) or (k, m)
        Outer weights that are not trained.
    time : str
        "step" if the t of `due` and `frame` counts steps, "t" if it is the time.
    dynamics : str
        How the loop trains: "gd", "sgd" or "adam" with the step size `eta`, so that t = eta steps,
        or "flow". Frames cannot show it: what rests on it is decided as far as you name it.
    eta : float
        Step size of the loop, the learning rate of its optimizer.
    optimizer : torch.optim.Optimizer or mapping
        Says `dynamics` and `eta` in their place, or {"kind": "Adam", "lr": 1e-3, "betas": (.9,
        .999)}. All that it says is kept. Plain SGD is "gd", or "sgd" with a smaller `batch`; Adam
        and AdamW are "adam"; any other, as SGD with momentum or a scheduler, is none of these.
    batch : int
        Examples in a batch of "sgd".
    until : float
        Last t that is planned, in the unit of `due`. Without it 60 frames to a decade are due.
    frames : int
        Most frames until then, equally spaced in log t.
    marks : iterable of float
        Times that get frames of their own.
    x_test, y_test : arrays (N, d), (N,)
        Points of the test error.
    title, source : str
        What the run is called, and where it is from.
    overwrite : bool
        Replace an old file in the end.
    resume : bool
        Go on with the recording at `path` after its latest frame, whether it was finished or its
        process has ended; start one if there is none. Frames before stay bit for bit. The loop may
        go back to a checkpoint: no frame is due, and none is taken, until t is after the latest.
        Data, network and settings must be those of the recording; weights given here only say
        which network it is.
    strict : bool
        Raise what is a RecordingWarning otherwise. A file that another program removes or cuts
        short is a warning in both cases: the recording goes on in a file beside it.

    Returns
    -------
    Recording
        Has `due(t)`, `frame(t)`, `show()` and `close()`; best used by `with`.

    Raises
    ------
    InputError
        Arguments that do not fit, or a file that exists or cannot be made.
    DiskError
        The disk is full.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> x, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    >>> V, a, path = np.eye(2), np.array([1.0, -1.0]), pathlib.Path(folder.name) / "mine.msrun"
    >>> with record(path, x, y, loss="logistic", layers=(V, a), until=100) as r:
    ...     for t in range(1, 101):
    ...         V *= 1.01
    ...         if r.due(t):
    ...             r.frame(t)
    >>> r.frames
    101
    >>> folder.cleanup()
    """
    examples = arrays.examples(x, y, (x_test, y_test), targets == "real")
    earlier, overwrite = _find_left(Path(path), resume, overwrite)
    loss_reader = read_loss(loss, reduction)
    batch = _read_batch(batch, len(examples.y))
    start = {"V": V0, "a": a0, "b": b0, "c": c0}
    options = Options(
        loss=_loss_of_file(loss_reader.name, examples),
        classes=examples.k,
        targets=targets,
        network=_read_network(activation, slope, scale),
        a_fixed=a_fixed,
        time=time,
        **steps_of(optimizer, dynamics, _as_number("eta", eta), batch, n=len(examples.y)),
        **_read_plan(batch, until, frames, marks),
        title=str(title)[:500],
        source=str(source)[:500],
        overwrite=overwrite,
        strict=strict,
        loss_factor=_loss_factor(loss_reader.reduction, batch, len(examples.y)),
    )
    layers_ = _find_layers(layers, model, start, examples, options, loss_reader.outputs)
    read = Source(layers_, model, activation == AUTO, scale, loss_reader.outputs, optimizer)
    recording = Recording(path, examples, options, read)
    _warn_of_labels(recording, loss_reader.name, examples, y)
    return _start(recording, earlier, start)


def _start(recording: Recording, earlier: FoundRecording | None, start: Weights) -> Recording:
    """Make the file of a recording, or leave nothing behind after an error."""
    try:
        if earlier is None:
            recording.start(start)
        else:
            recording.resume(earlier, start)
    except BaseException:
        recording.close("failed")  # releases the modules of the loop
        raise
    return recording


def _as_number(name: str, value: Any) -> float | None:
    """Return a number or None. Raises InputError for anything else."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} = {value!r:.40} is not a number.") from error


def _as_whole(name: str, value: Any) -> int:
    number = _as_number(name, value)
    if number is None or number != int(number):
        raise InputError(f"{name} = {value!r:.40} is not a whole number.")
    return int(number)


def _find_left(path: Path, resume: bool, overwrite: bool) -> tuple[FoundRecording | None, bool]:
    """Return the recording to resume, if any, and True if an old file is replaced."""
    if not resume:
        check_free(path, overwrite, "continue it with resume=True, ")
        return None, overwrite
    if overwrite:
        raise InputError(
            "resume=True continues a recording and overwrite=True replaces it; give one of them."
        )
    earlier = find_left(path)
    return earlier, earlier is None and path.is_file()  # a file left without a frame


def _read_batch(batch: Any, n: int) -> int | None:
    """Return the number of examples in a batch, at most n; data loaders may name more."""
    return None if batch is None else min(_as_whole("batch", batch), n)


def _read_plan(
    batch: int | None,
    until: float | None,
    frames: int,
    marks: Iterable[float],
) -> dict[str, Any]:
    """Return the options on batches, and on the times of frames."""
    try:
        times = list(marks)
    except TypeError as error:
        raise InputError(f"marks = {marks!r:.40} are not times; give a list of them.") from error
    return {
        "batch": batch,
        "until": _as_number("until", until),
        "frames": _as_whole("frames", frames),
        "marks": tuple(_as_number("marks", mark) for mark in times),
    }


def _read_network(activation: str | None, slope: float, scale: float | None) -> NetworkOptions:
    activation_name = {AUTO: "relu", None: UNKNOWN}.get(activation, activation or UNKNOWN)
    factor = _as_number("scale", scale)
    return NetworkOptions(
        activation_name, _as_number("slope", slope) or 0.0, 1.0 if factor is None else factor
    )


def _find_layers(
    layers: Any, model: Any, start: Weights, examples: Examples, options: Options, outputs: str
) -> Layers | None:
    """Return the layers that are named, or those of a module (`choose_layers`).

    None without `layers` and without a module whose layers are found, as with V0 and a0. Raises
    InputError for anything but two layers, and for layers that cannot be read.
    """
    has_weights = any(array is not None for array in start.values())
    if layers is not None and has_weights:
        raise InputError("layers contain their weights; leave out V0, a0, b0 and c0.")
    try:
        if layers is not None:
            return Layers.from_user(layers, examples.d)
        candidates = () if model is None or has_weights else find_layers(model, examples.d)
        return choose_layers(candidates, model, examples, options, outputs)
    except MarginscopeError:
        raise
    except Exception as error:  # modules without weights yet, such as LazyLinear
        problem = " ".join(str(error).split())[:200]
        raise InputError(
            f"the layers cannot be read ({problem}); call the model once before recording it."
        ) from error


def _loss_of_file(name: str | None, examples: Examples) -> str:
    """Return the loss of the run file: of labels -1 and +1, mse is (1 - y f)^2."""
    if name is None:
        return UNKNOWN
    return "squared" if name == "mse" and not examples.real and examples.k == 1 else name


def _loss_factor(reduction: str, batch: int | None, n: int) -> float:
    """Return the loop's loss over R: the number of summed examples for a sum, else 1."""
    return 1.0 if reduction == "mean" else float(batch or n)


def _warn_of_labels(recording: Recording, loss: str | None, examples: Examples, y: Any) -> None:
    """Warn of squares of labels 0 and 1, which are -1 and +1 in the file."""
    if loss in SQUARES and not examples.real and (arrays.as_numpy(y, "y") == 0.0).any():
        recording.warn(
            "targets",
            f'y holds 0 and 1, which are labels -1 and +1 of loss="{loss}" here; if the loop fits '
            'outputs to 0 and 1, give targets="real"',
        )
