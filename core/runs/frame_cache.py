"""The frames of a run that were used last."""

from __future__ import annotations

from collections import OrderedDict
from typing import final

from core.data.dataset import Array


@final
class FrameCache:
    """The frames used last, at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._frames: OrderedDict[int, tuple[Array, Array | None]] = OrderedDict()

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, index: int) -> tuple[Array, Array | None] | None:
        """A frame that is kept, which thereby becomes the one used last."""
        frame = self._frames.get(index)
        if frame is not None:
            self._frames.move_to_end(index)
        return frame

    def put(self, index: int, frame: tuple[Array, Array | None]) -> None:
        """Keep a frame; those used longest ago go, and one larger than the limit is not kept."""
        size = _bytes_of(frame)
        if size > self._limit or index in self._frames:
            return
        self._frames[index] = frame
        self._bytes += size
        # By bytes and not by number: a frame has a few kilobytes or many megabytes.
        while self._bytes > self._limit:
            _, old = self._frames.popitem(last=False)
            self._bytes -= _bytes_of(old)


def _bytes_of(frame: tuple[Array, Array | None]) -> int:
    return frame[0].nbytes + (0 if frame[1] is None else frame[1].nbytes)
