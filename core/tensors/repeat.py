"""Doing a step many times: in a loop, or as a CUDA graph, which costs one launch for many steps."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import final

import torch
from torch import Tensor

SIZES = (64, 8, 1)  # steps in a graph; any count is made of these
WARM_UP = 3  # PyTorch's own advice: libraries allocate in the first calls


@final
class Graph:
    """The step recorded as CUDA graphs of 1, 8 and 64 repetitions, each when it is first needed.

    `state` are the tensors that the step changes: recording changes them too, and puts them back.
    """

    def __init__(self, step: Callable[[], None], state: Sequence[Tensor]) -> None:
        self._step, self._state = step, tuple(state)
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def repeat(self, count: int) -> None:
        """So many steps; returns once the work is handed to the device."""
        for size, times in parts_of(count):
            if size not in self._graphs:
                self._graphs[size] = self._recorded(size)
            for _ in range(times):
                self._graphs[size].replay()

    def _recorded(self, size: int) -> torch.cuda.CUDAGraph:
        kept = [tensor.clone() for tensor in self._state]
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                self._step()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        # "thread_local": the window's thread may collect garbage during the recording.
        recording = torch.cuda.graph(graph, capture_error_mode="thread_local")
        with _without_garbage_collection(), recording:
            for _ in range(size):
                self._step()
        for tensor, old in zip(self._state, kept, strict=True):
            tensor.copy_(old)
        return graph


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Suspend the collector: freeing the graphs of an earlier run would abort this recording."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def parts_of(count: int) -> list[tuple[int, int]]:
    """(size, times) for each size of graph, which together make `count` steps.

    >>> parts_of(137)
    [(64, 2), (8, 1), (1, 1)]
    """
    parts = []
    for size in SIZES:
        times, count = divmod(count, size)
        if times:
            parts.append((size, times))
    return parts


def repeated(
    step: Callable[[], None], state: Sequence[Tensor], graph: bool
) -> Callable[[int], None]:
    """What does a step so many times: by a graph, or by a plain loop without a CUDA device.

    The step works on tensors that stay in place.
    """
    if graph:
        return Graph(step, state).repeat

    def loop(count: int) -> None:
        for _ in range(count):
            step()

    return loop
