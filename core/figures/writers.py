"""Films written frame by frame, so that memory does not grow with their length.

Pillow compresses the single frames of GIF and WebP, and the containers around them are written
here: Pillow's own writers of animations keep all frames until the end. Both loop for ever, and both
store of each frame only the rectangle that changed.
"""

from __future__ import annotations

import errno
import io
import os
import struct
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
from numpy.typing import NDArray
from PIL import GifImagePlugin, Image

from core.errors import InputError
from core.figures.film_palette import film_colours
from core.figures.names import encoder, mp4_problem
from core.figures.palette import Palette

Pixels = NDArray[np.uint8]
SUFFIXES = (".gif", ".webp", ".mp4")
LONGEST_END = 300.0  # seconds for an encoder to finish after the last frame
ANOTHER_FORMAT = "write a .gif or .webp instead, or reinstall the encoder"
UNCHANGED = 255  # the GIF's transparent colour


class FilmWriter(ABC):
    """Writer of frames (height, width, 3), each with its duration in milliseconds."""

    @abstractmethod
    def add(self, frame: Pixels, milliseconds: int) -> None:
        """Write one frame."""

    @abstractmethod
    def close(self) -> None:
        """Complete the film."""

    def drop(self) -> None:  # noqa: B027, most writers have nothing to end
        """Abandon the film: its file is deleted."""


def changed_rectangle(before: NDArray[Any], now: NDArray[Any]) -> tuple[int, int, int, int]:
    """Return left, top, right, bottom of all pixels that differ; a single pixel if none does.

    >>> changed_rectangle(np.zeros((4, 5)), np.eye(4, 5))
    (0, 0, 4, 4)
    """
    differs = before != now
    if differs.ndim == 3:
        differs = differs.any(axis=2)
    rows, columns = (np.flatnonzero(differs.any(axis=axis)) for axis in (1, 0))
    if rows.size == 0:
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


@final
class GifWriter(FilmWriter):
    """GIF with one palette of at most 255 colours for all frames, so that no colour flickers."""

    def __init__(self, file: BinaryIO, size: tuple[int, int], colours: Pixels) -> None:
        self._file = file
        self._nearest_colour = nearest_colour(colours)
        self._before: Pixels | None = None
        table = np.zeros((256, 3), dtype=np.uint8)
        table[: len(colours)] = colours
        # One table for all frames: 2^8 colours of 8 bits per channel.
        header = b"GIF89a" + struct.pack("<HHBBB", *size, 0b1111_0111, 0, 0) + table.tobytes()
        # The extension by which browsers repeat a GIF; 0 is for ever.
        file.write(header + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")

    def add(self, frame: Pixels, milliseconds: int) -> None:
        # Looked up by 6 bits per channel: searching the nearest of 255 colours for each pixel takes
        # .3 s per frame.
        coarse = (frame >> 2).astype(np.int32)
        indices = self._nearest_colour[
            (coarse[..., 0] << 12) | (coarse[..., 1] << 6) | coarse[..., 2]
        ]
        left, top, right, bottom = 0, 0, frame.shape[1], frame.shape[0]
        image_indices = indices
        if self._before is not None:
            left, top, right, bottom = changed_rectangle(self._before, indices)
            image_indices = np.where(indices == self._before, UNCHANGED, indices).astype(np.uint8)
        self._before = indices
        image = Image.fromarray(np.ascontiguousarray(image_indices[top:bottom, left:right]), "L")
        # Disposal 1 keeps the previous frame, visible through transparent pixels.
        blocks = GifImagePlugin.getdata(
            image, (left, top), duration=milliseconds, disposal=1, transparency=UNCHANGED
        )
        for block in blocks:
            self._file.write(block)

    def close(self) -> None:
        self._file.write(b";")


def nearest_colour(colours: Pixels) -> NDArray[np.uint8]:
    """Return the position of the nearest given colour for every colour of 6 bits a channel.

    The given colours themselves are exact where no two of them share their 6 bits.

    Parameters
    ----------
    colours : array (k, 3) of uint8
        Given colours, k <= 255.

    Returns
    -------
    array (2^18,) of uint8
        At the index of red, green and blue, 6 bits each.
    """
    from scipy.spatial import cKDTree

    levels = (np.arange(64) * 4 + 2).astype(np.float64)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    nearest = np.asarray(cKDTree(colours.astype(np.float64)).query(grid)[1], dtype=np.uint8)
    coarse = (colours >> 2).astype(np.int64)
    places = (coarse[:, 0] << 12) | (coarse[:, 1] << 6) | coarse[:, 2]
    # Earlier colours take precedence.
    nearest[places[::-1]] = np.arange(len(colours), dtype=np.uint8)[::-1]
    return nearest


@final
class WebpWriter(FilmWriter):
    """Lossless WebP: a RIFF file of ANMF chunks, its length filled in at the end."""

    def __init__(self, file: BinaryIO, size: tuple[int, int]) -> None:
        self._file = file
        self._before: Pixels | None = None
        extended = struct.pack("<I", 0b10) + _three(size[0] - 1) + _three(size[1] - 1)
        loop = struct.pack("<IH", 0xFFFFFFFF, 0)
        file.write(b"RIFF\x00\x00\x00\x00WEBP" + _chunk(b"VP8X", extended) + _chunk(b"ANIM", loop))

    def add(self, frame: Pixels, milliseconds: int) -> None:
        left, top, right, bottom = 0, 0, frame.shape[1], frame.shape[0]
        if self._before is not None:
            left, top, right, bottom = changed_rectangle(self._before, frame)
            left, top = left & ~1, top & ~1  # the format stores offsets divided by two
        self._before = frame
        image = Image.fromarray(np.ascontiguousarray(frame[top:bottom, left:right]), "RGB")
        buffer = io.BytesIO()
        # For lossless images quality and method set the effort, not the quality.
        image.save(buffer, "WEBP", lossless=True, quality=40, method=1)
        place = _three(left // 2) + _three(top // 2)
        extent = _three(right - left - 1) + _three(bottom - top - 1)
        head = place + extent + _three(milliseconds) + b"\x02"  # replaces the pixels below
        # Without its 12 bytes of RIFF header Pillow's image is the frame's chunk.
        self._file.write(_chunk(b"ANMF", head + buffer.getvalue()[12:]))

    def close(self) -> None:
        # RIFF's size excludes its name and this number.
        length = self._file.tell() - 8
        self._file.seek(4)
        self._file.write(struct.pack("<I", length))


def _three(value: int) -> bytes:
    return struct.pack("<I", value)[:3]


def _chunk(name: bytes, content: bytes) -> bytes:
    # RIFF chunks have even length.
    return name + struct.pack("<I", len(content)) + content + b"\x00" * (len(content) % 2)


@final
class Mp4Writer(FilmWriter):
    """H.264 through ffmpeg, another program; every frame lasts 1 / frames_per_second.

    Raises InputError where it cannot be started or ends before the film does, OSError with ENOSPC
    where it says that the disk is full.
    """

    def __init__(self, path: Path, size: tuple[int, int], frames_per_second: float) -> None:
        self._path = path
        # The encoder's messages go to a file: an unread pipe would block the encoder once full.
        self._encoder_output = tempfile.TemporaryFile()  # noqa: SIM115, closed with the encoder
        try:
            program = encoder()
            self._process = subprocess.Popen(
                [program, *_encoding(path, size, frames_per_second)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._encoder_output,
                # Ctrl-C goes to this program, which then stops the encoder.
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, RuntimeError) as error:
            self._encoder_output.close()
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"the MP4 encoder cannot be started ({reason})", remedy=ANOTHER_FORMAT
            ) from error

    def add(self, frame: Pixels, milliseconds: int) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.ascontiguousarray(frame).data)
        except OSError as error:  # the encoder has stopped
            raise self._failure() from error

    def close(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # the exit status reports lost data
            self._process.stdin.close()
        try:
            self._process.wait(LONGEST_END)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"did not end within {LONGEST_END:.0f} s") from error
        if self._process.returncode != 0:
            raise self._failure()
        if self._path.stat().st_size == 0:
            raise self._failure("wrote nothing")
        self._encoder_output.close()

    def drop(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._encoder_output.close()

    def _failure(self, how: str = "") -> Exception:
        """Return the error for a film that was not written, from the encoder's last words."""
        with suppress(subprocess.TimeoutExpired):  # a pipe breaks shortly before the reader exits
            self._process.wait(1.0)
        self._encoder_output.seek(0)
        log = self._encoder_output.read()[-2000:].decode("utf-8", "replace").strip()
        if os.strerror(errno.ENOSPC).lower() in log.lower():
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        status = self._process.returncode
        if not how:
            how = "accepts no further frames"
            if status is not None:
                how = f"was ended by signal {-status}" if status < 0 else f"ended with {status}"
        last = f" ({log.splitlines()[-1][:200]})" if log else ""
        return InputError(
            f"the film was not written: the MP4 encoder {how}{last}", remedy=ANOTHER_FORMAT
        )


def _encoding(path: Path, size: tuple[int, int], frames_per_second: float) -> list[str]:
    """Return the options of ffmpeg: from raw pictures to H.264 as every player reads it."""
    width, height = size
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
    source += ["-r", f"{frames_per_second:.15g}", "-i", "-"]
    # Nearly lossless, with the index first, so that the film plays while it loads.
    options = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-preset", "fast"]
    options += ["-movflags", "+faststart", "-f", "mp4"]
    # As a file, whatever its name looks like.
    return ["-y", "-loglevel", "error", *source, *options, f"file:{path}"]


def check_film_path(path: Path) -> None:
    """Raise InputError unless a film can be written in the format of the path's suffix."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}; films are written "
            "as one of these."
        )
    if suffix == ".mp4" and (problem := mp4_problem()):
        raise InputError(f"{path}: {problem}, or write a .gif or .webp.")


@contextmanager
def film_writer(
    path: Path, file: BinaryIO, size: tuple[int, int], fps: float, palette: Palette
) -> Iterator[FilmWriter]:
    """Yield the writer of a film; complete the film, or abandon it if the block raises.

    Parameters
    ----------
    path : Path
        File whose suffix decides the format.
    file : BinaryIO
        The same file, open; closed for .mp4, which the encoder opens itself.
    size : (int, int)
        Width and height in pixels.
    fps : float
        Frames a second, of .mp4.
    palette : Palette
        Colours of .gif.

    Yields
    ------
    FilmWriter
    """
    writer: FilmWriter
    if path.suffix == ".gif":
        writer = GifWriter(file, size, film_colours(palette))
    elif path.suffix == ".webp":
        writer = WebpWriter(file, size)
    else:
        file.close()  # the encoder opens the file itself
        writer = Mp4Writer(path, size, fps)
    try:
        yield writer
        writer.close()
    except BaseException:
        writer.drop()
        raise


def frame_durations(count: int, frames_per_second: float, path: Path) -> list[int]:
    """Return the durations of the frames of a film, without drift over its length.

    Parameters
    ----------
    count : int
        Number of frames.
    frames_per_second : float
        Their rate.
    path : Path
        Its suffix is the format: GIF counts in hundredths of a second.

    Returns
    -------
    list of int
        Milliseconds of each frame.
    """
    unit = 10 if path.suffix.lower() == ".gif" else 1  # GIF delays are in hundredths of a second
    ends = [round(1000.0 / unit * k / frames_per_second) for k in range(count + 1)]
    return [unit * (after - before) for before, after in pairwise(ends)]
