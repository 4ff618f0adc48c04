"""Parametrisations in a user's Python file, differentiated by PyTorch.

The file defines

    def initial(generator, m, d, k): ...   # name -> array: the start, in the order of the layout
    def outputs(parameters, x): ...        # name -> tensor and x (n, d) -> (n,), or (n, k)

and may define

    degree         L; with it, gradient flow and normalised margins are available
    homogeneous    names of the parameters in which the outputs are L-homogeneous
    directions     name of an (m, d) parameter whose rows are the neurons' inner weights
    outer          name of the (m,) outer weights

The program runs this code only after its user has trusted it (core.trust).
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.random import Generator
from pydantic import model_validator

from core import trust
from core.errors import InputError, RuleError
from core.files import read_text
from core.network.parametrisation import Array, Arrays, Block, Network, Shape
from core.network.section import FILE_MEANING, MAX_CODE, NetworkSection
from core.program import CLONE
from core.settings import setting

# --------------------------------------------------------------------------------------- PyTorch
#
# An extra of the distribution: PyTorch is larger than everything else together, and its usual build
# for Linux includes gigabytes of CUDA.

SIZE = ".8 GB; 5 to 7 GB with CUDA, as in pip's usual build for Linux"
INSTALL = f"install it with: pip install 'marginscope[torch]' ({SIZE})"
IN_CLONE = "install it with: make torch (.8 GB without CUDA)"
# Packages cannot be installed into a bundle.
OTHERWISE = f"use a bundle that includes it, or {INSTALL}"


@cache
def has_pytorch() -> bool:
    """Return True if torch can be imported. Does not import it, which takes seconds."""
    try:
        return find_spec("torch") is not None
    except (ImportError, ValueError):  # an importer rejects the name; a module without a spec
        return False


def require_pytorch(subject: str) -> None:
    """Raise InputError if torch is not installed. `subject` starts the sentence: "A batch"."""
    if not has_pytorch():
        remedy = IN_CLONE if CLONE else INSTALL
        if getattr(sys, "frozen", False):
            remedy = OTHERWISE
        raise InputError(f"{subject} needs PyTorch, which is not installed here; {remedy}.")


# ----------------------------------------------------------------------------------- the network

NEEDED = ("initial", "outputs")


def read_code(path: Path) -> str:
    """Return the text of a network's Python file, exactly as it would run.

    Raises InputError for a file that is missing, too long, or holds control characters.
    """
    # UTF-8 takes up to four bytes per character. Normalise line ends, since trust is by hash.
    code = read_text(path, 4 * MAX_CODE, "network.path").replace("\r\n", "\n")
    if len(code) > MAX_CODE:
        raise InputError(f"network.path: {path} is longer than {MAX_CODE} characters.")
    trust.check_characters(code, f"network.path: {path}")
    return code


def with_code(section: CustomNetwork, folder: Path | None = None, asker: str = "") -> CustomNetwork:
    """Return a section that holds the text of its Python file instead of the file's path.

    Parameters
    ----------
    section : CustomNetwork
        Section with a path or a code.
    folder : Path, optional
        Folder of the study file, to which a relative path refers.
    asker : str
        Name of the study in a question about the code.

    Returns
    -------
    CustomNetwork
        Section without a path; the same section if it had none.

    Raises
    ------
    UntrustedCodeError
        This user has not trusted the code, in the study or in the file.
    InputError
        The file is missing, too long, or holds control characters.
    """
    if section.path is None:
        code = section.code or ""
        trust.check_trusted(code, "network.code: the study", "FILE.toml", file=asker)
        return section
    path = Path(section.path) if folder is None else folder / section.path
    code = read_code(path)
    trust.check_trusted(code, f"network.path: {path}", str(path), file=path, asker=asker)
    return section.model_copy(update={"code": code, "path": None})


def _namespace(code: str) -> dict[str, Any]:
    """Run a network's file and return its names.

    Raises
    ------
    InputError
        The code fails, or does not define a needed function.
    """
    require_pytorch('network.kind = "custom"')
    # The only place that runs foreign code, from any source (docs/decisions/0006).
    trust.check_trusted(code, "network.code", "FILE")
    # __name__ is "network", so that a block for `__name__ == "__main__"` does not run.
    names: dict[str, Any] = {"__name__": "network"}
    try:
        exec(compile(code, "the network's file", "exec"), names)
    except Exception as error:
        raise InputError(
            f"network.path: the file cannot be run: {_describe_error(error)}."
        ) from error
    for name in NEEDED:
        if not callable(names.get(name)):
            raise InputError(f"network.path: the file does not define the function {name}().")
    return names


def _describe_error(error: Exception) -> str:
    """Return an error's type and message, with its line in the network's file."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == "the network's file"
    ]
    line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
    place = f" in line {line}" if line else ""
    return f"{type(error).__name__}{place}: {error}".rstrip(".")


@final
class CustomNetwork(NetworkSection):
    title: ClassVar[str] = "a parametrisation of your own: a Python file, trained by autograd"
    source: ClassVar[str] = "the user's own"
    embedded: ClassVar[bool] = True
    several: ClassVar[bool] = True

    words: ClassVar[str] = "own network"
    kind: Literal["custom"] = "custom"
    path: str | None = setting(
        None, meaning="Python file with initial() and outputs(), relative to the study file"
    )
    code: str | None = setting(
        None, meaning="the file's text; set by Marginscope", advanced=True, max_length=MAX_CODE
    )
    init: Literal["paper", "file"] = setting(
        "paper", meaning=f"paper: the arrays of initial(); {FILE_MEANING}"
    )

    @model_validator(mode="after")
    def _check_file(self) -> CustomNetwork:
        """Raise RuleError if neither a file nor its text is given."""
        if self.path is None and self.code is None:
            raise RuleError(
                'network.path is missing; with kind = "custom" name a Python file', keys=("path",)
            )
        return self


@final
class Custom(Network):
    """Network of a user's file: outputs by its code, gradients by autograd.

    Raises InputError, with the line, where the code fails or returns another shape.
    """

    kind = "custom"
    section = CustomNetwork
    classes = "any"
    engine = "PyTorch autograd"

    def __init__(self, section: CustomNetwork, shape: Shape, fixed: Arrays) -> None:
        names = _namespace(section.code or "")
        self.m, self.d, self.k = shape.m, shape.d, shape.k
        self._outputs: Callable[[Mapping[str, Any], Any], Any] = names["outputs"]
        # Only its names and shapes are used: the run's own generator draws the start.
        example = _draw_start(names, shape, np.random.default_rng(0))
        chosen = [str(name) for name in names.get("homogeneous", ())]
        unknown = sorted(set(chosen) - set(example))
        if unknown:
            raise InputError(
                f"network.path: homogeneous names {unknown[0]}, which is not a parameter."
            )
        self.homogeneous = "degree" in names
        self.degree = int(names.get("degree", 1))
        first = chosen or list(example)
        order = [*first, *(name for name in example if name not in first)]
        self.layout = tuple(Block(name, example[name].shape) for name in order)
        self.scaled = sum(block.size for block in self.layout if block.name in first)
        self._inner, self._outer = names.get("directions"), names.get("outer")
        self._check(example, shape)

    @staticmethod
    def initial(section: CustomNetwork, shape: Shape, generator: Generator) -> dict[str, Array]:
        return _draw_start(_namespace(section.code or ""), shape, generator)

    def _check(self, example: dict[str, Array], shape: Shape) -> None:
        """Raise InputError for outputs, or named parameters, of a wrong shape."""
        # Two examples give the shape, and find errors before a long pass over all.
        f = np.asarray(self.outputs(self.pack(example), shape.x[:2]))
        rows = min(2, shape.x.shape[0])
        expected = (rows,) if self.k == 1 else (rows, self.k)
        if f.shape != expected or not np.isfinite(f).all():
            raise InputError(
                f"network.path: outputs() returned shape {f.shape} for {rows} inputs; it must "
                f"return finite numbers of shape {expected}."
            )
        for name, size in ((self._inner, (self.m, self.d)), (self._outer, (self.m,))):
            if name is not None and (name not in example or example[name].shape != size):
                raise InputError(f"network.path: {name} is not a parameter of shape {size}.")

    def _evaluate(self, flat: Any, inputs: Any) -> Any:
        """Return outputs() of the file at tensors; raise InputError if it fails."""
        try:
            return self._outputs(self.unpack(flat), inputs)
        except Exception as error:
            raise InputError(f"network.path: outputs() fails: {_describe_error(error)}.") from error

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        if not isinstance(flat, np.ndarray):
            return self._evaluate(flat, inputs)
        import torch

        weights = torch.tensor(flat)
        with torch.no_grad():
            return self._evaluate(weights, torch.tensor(inputs, dtype=weights.dtype)).numpy()

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        import torch

        is_numpy = isinstance(flat, np.ndarray)
        leaf = torch.tensor(flat) if is_numpy else flat.detach().clone()
        leaf.requires_grad_(True)
        # Copied: torch warns about read-only arrays, such as those of run files.
        x = torch.as_tensor(np.array(inputs) if is_numpy else inputs, dtype=leaf.dtype)
        weights = torch.as_tensor(np.array(g) if is_numpy else g, dtype=leaf.dtype)
        (slope,) = torch.autograd.grad((self._evaluate(leaf, x) * weights).sum(), leaf)
        return slope.numpy() if is_numpy else slope

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        """Return J direction as the derivative of g -> J' g along it: two backward passes.

        Parameters
        ----------
        flat, inputs : array (size,), array (n, d)
            Trained parameters and inputs; copied to tensors.
        direction : array (size,)
            Direction in the trained parameters, of any length.

        Returns
        -------
        array (n,) or (n, k)
            Derivative of each output.

        Raises
        ------
        InputError
            The file's outputs() fails.
        """
        import torch

        leaf = torch.tensor(flat, requires_grad=True)
        f = self._evaluate(leaf, torch.tensor(inputs))
        g = torch.zeros_like(f, requires_grad=True)
        (slope,) = torch.autograd.grad((f * g).sum(), leaf, create_graph=True)
        (product,) = torch.autograd.grad((slope * torch.tensor(direction)).sum(), g)
        return np.asarray(product.numpy())

    def nodes(self, flat: Array) -> tuple[Array, Array]:
        """Return the neurons that the file names with `outer` and `directions`.

        Parameters
        ----------
        flat : array (size,)
            Trained parameters.

        Returns
        -------
        s : array (m,)
            Parameter `outer`; NaN if the file names none.
        U : array (m, d)
            Parameter `directions`; NaN if the file names none.
        """
        s = np.full(self.m, np.nan) if self._outer is None else self.unpack(flat)[self._outer]
        return np.asarray(s), self.directions(flat)

    def directions(self, flat: Array) -> Array:
        if self._inner is None:
            return np.full((self.m, self.d), np.nan)
        return np.asarray(self.unpack(flat)[self._inner])


def _draw_start(names: dict[str, Any], shape: Shape, generator: Generator) -> dict[str, Array]:
    """Return the float64 arrays that initial() of the file draws.

    Raises InputError if it fails, or returns no arrays, or numbers that are not finite.
    """
    try:
        arrays = {
            str(name): np.array(value, dtype=np.float64)
            for name, value in names["initial"](generator, shape.m, shape.d, shape.k).items()
        }
    except Exception as error:
        raise InputError(f"network.path: initial() fails: {_describe_error(error)}.") from error
    if not arrays or not all(np.isfinite(array).all() and array.size for array in arrays.values()):
        raise InputError("network.path: initial() must return at least one finite array by name.")
    return arrays
