"""What is done around the recording of a CUDA graph, with graphs that only count."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from core.tensors import repeat


class Pretended:
    """torch.cuda without a device: what is done while recording is undone, and done on replay."""

    def __init__(self, state: torch.Tensor) -> None:
        self.state = state
        self.recorded: list[int] = []
        self.waits = 0

    def wait_stream(self, other: object) -> None:
        self.waits += 1

    def Stream(self) -> Pretended:
        return self

    def current_stream(self) -> Pretended:
        return self

    @contextmanager
    def stream(self, other: object) -> Iterator[None]:
        yield

    def CUDAGraph(self) -> Any:
        return PretendedGraph(self)

    @contextmanager
    def graph(self, graph: Any, capture_error_mode: str) -> Iterator[None]:
        # A collector that frees older graphs meanwhile would end the recording.
        assert (gc.isenabled(), capture_error_mode) == (False, "thread_local")
        before = self.state.clone()
        yield
        graph.adds = float(self.state - before)  # a device only notes the work
        self.state.copy_(before)
        self.recorded.append(int(graph.adds))


class PretendedGraph:
    """Adds what was added while it was recorded."""

    def __init__(self, owner: Pretended) -> None:
        self.owner, self.adds, self.replays = owner, 0.0, 0

    def replay(self) -> None:
        self.owner.state.add_(self.adds)


def test_recording_leaves_no_trace_and_replaying_makes_every_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = torch.zeros((), dtype=torch.float64)
    cuda = Pretended(state)
    monkeypatch.setattr(torch, "cuda", cuda)

    def step() -> None:
        state.add_(1.0)

    steps = repeat.repeated(step, (state,), graph=True)
    gc.enable()
    try:
        steps(9)
        assert gc.isenabled()
    finally:
        gc.disable()  # as all tests have it
    assert float(state) == 9.0
    steps(137)
    assert float(state) == 146.0
    assert cuda.recorded == [8, 1, 64]  # each size once, when it is first needed
    assert cuda.waits == 6
