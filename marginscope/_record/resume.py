"""`marginscope.record(..., resume=True)`: continue a recording that a job left."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from core.errors import InputError
from core.run_files.meta import Description, dump_json
from core.run_files.networks import split_vector
from core.run_files.new_file import new_beside
from core.run_files.reopening import RunFacts, read_facts, reopen
from core.run_files.schema import FIXED
from core.run_files.writer import RunWriter
from marginscope._record.arrays import NetworkOptions, Weights
from marginscope._record.options import Options

# Arguments of `record` by the keys of the experiment; other keys are their own names.
ARGUMENTS = {
    "data.targets": "targets",
    "loss.kind": "loss",
    "dynamics.kind": "dynamics",
    "dynamics.step": "eta",
    "dynamics.batch": "batch",
    "network.activation": "activation",
    "network.slope": "slope",
    "run.precision": "precision of V0",
}
# Settings that may differ: the end of the loop, and those compared through arrays.
FREE = {"dynamics.until_log10_time", "data.content", "network.content", "network.kind"}
SECTIONS = ("data", "network", "loss", "dynamics", "run")


@final
@dataclass(frozen=True, slots=True, eq=False)
class FoundRecording:
    """A recording that was left, finished or not, with one frame at least."""

    path: Path
    facts: RunFacts

    def weights(self, network: NetworkOptions) -> Weights:
        """Return weights as a loop that does not give V0 would hand them over at first."""
        meta, origin = self.facts.meta, self.facts.arrays["origin"]
        parts = split_vector(origin.astype(meta["dtype"]), meta["layout"])
        inner, outer = network.shares("a" in parts or "A" in parts)
        a = parts["A"].T if "A" in parts else parts.get("a")
        shares = {"V": inner, "b": inner, "c": network.scale if network.scales_c else 1.0}
        weights = {
            name: None if name not in parts else parts[name] / shares[name] for name in shares
        }
        return {**weights, "a": None if a is None else a / outer}

    def last_t(self, options: Options) -> float:
        """Return t of the latest frame, as `due` counts it."""
        if options.time == "step":
            return float(self.facts.step)
        time = 10.0**self.facts.log10_time if math.isfinite(self.facts.log10_time) else 0.0
        return time / options.time_per_t

    def check(
        self, now: Description, stored: Mapping[str, NDArray[np.float64]], options: Options
    ) -> None:
        """Raise InputError, naming what differs, unless the loop records what it did before.

        Parameters
        ----------
        now : Description
            What the loop would record, with the first state of the file.
        stored : Mapping[str, NDArray[np.float64]]
            Arrays that the loop would record.
        options : Options
            Arguments of `record`.
        """
        if self.facts.meta.get("recorded") is not True:
            raise InputError(
                f"{self.path} was trained by Marginscope, not recorded from a loop; choose "
                "another file."
            )
        differences = [*self._differing_arrays(stored), *self._differing(now, options)]
        if differences:
            raise self._refusal("; ".join(differences[:3]))

    def _refusal(self, problem: str) -> InputError:
        """Return the error that the recording cannot continue."""
        return InputError(
            f"The recording {self.path} cannot continue, as its data or settings have changed: "
            f"{problem}. Use those of its start, or record into another file."
        )

    def _differing_arrays(self, stored: Mapping[str, NDArray[np.float64]]) -> Iterator[str]:
        """Yield sentences about arrays of data that differ from those of the file."""
        earlier = self.facts.arrays
        for name in ("x", "y", "x_test", "y_test"):
            if (name in earlier) != (name in stored):
                yield f"{name} is {'missing now' if name in earlier else 'new'}"
            elif name in earlier and not np.array_equal(earlier[name], stored[name]):
                shapes = f"{earlier[name].shape} in the file, {stored[name].shape} now"
                differs = (
                    "has other values" if earlier[name].shape == stored[name].shape else shapes
                )
                yield f"{name} {differs}"
        names = {name for name in (*earlier, *stored) if name.startswith(FIXED)}
        for name in sorted(names):
            if name not in stored or name not in earlier:
                yield f"the outer weights are {'trained now' if name in earlier else 'fixed now'}"
            elif not np.array_equal(earlier[name], stored[name]):
                yield "a_fixed has other values"

    def _differing(self, now: Description, options: Options) -> Iterator[str]:
        """Yield sentences about weights and settings that differ from those of the file."""
        meta = self.facts.meta
        earlier, later = meta["layout"], json.loads(dump_json(now.layout))
        if earlier != later:
            yield f"the weights are {_shapes(earlier)} in the file, {_shapes(later)} now"
            return
        experiment = json.loads(dump_json(now.experiment))
        differences = [*_differences(meta["experiment"], experiment)]
        if meta["network"] != now.network:  # with equal arrays, phi decides the network's kind
            phi = options.network.activation
            yield f"activation = {phi!r} now, of a network of kind {meta['network']!r} in the file"
        yield from differences
        yield from self._differing_loop(now, options)
        if options.time == "step" and not differences:
            step, log10_time = self.facts.step, self.facts.log10_time
            if options.moment(float(step), None)[1] != log10_time:
                yield 'time = "step" now, but the recorded frames are not at steps'

    def _differing_loop(self, now: Description, options: Options) -> Iterator[str]:
        """Yield differences in the optimizer, and in the factors of outputs and loss."""
        meta = self.facts.meta
        earlier, later = meta.get("optimizer") or {}, json.loads(dump_json(now.optimizer or {}))
        for name in sorted(earlier.keys() | later.keys()):
            if earlier.get(name) != later.get(name):
                yield f"optimizer: {name} = {earlier.get(name)} in the file, {later.get(name)} now"
        factors = meta.get("loop") or {}
        for name, words in (("scale", "scale"), ("loss_factor", "reduction, the loss over R")):
            saved, present = factors.get(name, 1.0), options.factors.get(name, 1.0)
            if not math.isclose(saved, present, rel_tol=1e-6):
                yield f"{words}: {saved:.6g} in the file, {present:.6g} now"

    def with_factors(self, network: NetworkOptions) -> NetworkOptions:
        """Return the network with the file's scale and slope, which a model is to confirm."""
        section = self.facts.meta["experiment"].get("network", {})
        scale = (self.facts.meta.get("loop") or {}).get("scale", network.scale)
        return replace(network, scale=scale, slope=section.get("slope", network.slope))

    def reopen(self, now: Description, place: Path) -> RunWriter:
        """Open the file to record on in it.

        Raises InputError where another recording is writing it, DiskError where it cannot be
        written. `place` is the name of the file when it is finished.
        """
        rows = now.rows()
        changes = {key: rows[key] for key in ("experiment", "planned", "title", "source")}
        earlier = reopen(self.path, self.facts, changes)
        return RunWriter(place, now, {}, force=False, earlier=earlier, rescuable=True)


def find_left(path: Path) -> FoundRecording | None:
    """Find the recording that a job left at a path; None where there is none with a frame.

    A recording that was to replace an old file is beside that file until it is finished, and is the
    one continued. Raises InputError for other files, and for one being recorded.
    """
    path = path.absolute()
    for place in (new_beside(path), path):
        if place.is_file() and place.stat().st_size:
            facts = read_facts(place)
            return FoundRecording(place, facts) if facts.frames else None
    return None


def with_titles(options: Options, recording: FoundRecording) -> Options:
    """Return options with title and source of the file where none are given."""
    meta = recording.facts.meta
    return replace(
        options,
        title=options.title or str(meta.get("title", "")),
        source=options.source or str(meta.get("source", "")),
    )


def _differences(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text for each setting that differs and is not in `FREE`.

    Nothing of networks of two kinds, whose settings are not comparable.
    """
    for section in SECTIONS:
        before, now = earlier.get(section, {}), later.get(section, {})
        if before.get("kind") != now.get("kind") and section == "network":
            continue
        for key in sorted({*before, *now}):
            name = f"{section}.{key}"
            if name not in FREE and before.get(key) != now.get(key):
                name = ARGUMENTS.get(name, name)
                yield f"{name} = {_word(before.get(key))} in the file, {_word(now.get(key))} now"


def _word(value: object) -> str:
    return "None" if value in ("recorded", "unknown") else repr(value)


def _shapes(layout: list[Any]) -> str:
    return ", ".join(f"{name} {tuple(shape)}" for name, shape in layout)
