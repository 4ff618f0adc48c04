"""Work on one thing after another by several threads, which is told in order as it is done."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future

AHEAD = 8  # that the threads are given at a time: time that is up is overdrawn by no more


def done_in_order(
    work: Callable[[int], None], first: int, end: int, deadline: float, hands: Executor
) -> Iterator[int]:
    """Call work(i) for i from `first` to `end`, which is left out, and tell each i in order once
    it and all before it are done.

    Nothing is begun after `deadline`, a moment of time.perf_counter, but the first one; whoever
    goes through to the end knows that no thread is still at work. Raises what `work` raises.
    """
    waiting: deque[tuple[int, Future[None]]] = deque()
    asked = first
    while True:
        while asked < end and len(waiting) < AHEAD:
            if asked > first and time.perf_counter() >= deadline:
                break
            waiting.append((asked, hands.submit(work, asked)))
            asked += 1
        if not waiting:
            return
        index, done = waiting.popleft()
        done.result()
        yield index
