"""Files cut off or changed at random: a run whose checksums match, or one RunFileError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.errors import RunFileError
from core.runs import open_run
from tests.support.run_files import crash, frame_of, read_all, small_problem

ROUNDS = 150
SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3)))


def outcome(path: Path) -> str:
    """Return "read" or the error's sentence; fail for any other exception or a wrong value."""
    try:
        with open_run(path) as run:
            for index in range(run.frames):
                assert run.parameters(index).tobytes() == reference(index)
            read_all(path)
        return "read"
    except RunFileError as error:
        assert path.name in str(error)
        assert str(error).isprintable()
        return str(error)


def reference(index: int) -> bytes:
    return frame_of(small_problem(), index).parameters.tobytes()


def test_every_length(run_path: Path) -> None:
    data = run_path.read_bytes()
    chance = random.Random(0)
    lengths = {0, 1, 15, 16, 99, 100, 4096, 8191, 8192, 8193, len(data) - 1}
    lengths |= {chance.randrange(len(data)) for _ in range(60)}
    for length in sorted(lengths):
        run_path.write_bytes(data[:length])
        assert outcome(run_path) != "read", length


@pytest.mark.parametrize("seed", SEEDS)
def test_single_bits(run_path: Path, seed: int) -> None:
    data = run_path.read_bytes()
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        changed = bytearray(data)
        # half of them in the first page, where the header and the schema are
        place = chance.randrange(8192 if chance.random() < 0.5 else len(data))
        changed[place] ^= 1 << chance.randrange(8)
        run_path.write_bytes(changed)
        outcome(run_path)


@pytest.mark.parametrize("seed", SEEDS)
def test_stretches_of_garbage(run_path: Path, seed: int) -> None:
    data = run_path.read_bytes()
    chance = random.Random(seed)
    for _ in range(ROUNDS // 2):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            place, length = chance.randrange(len(data)), chance.choice((1, 2, 4, 8, 64, 8192))
            source = chance.randrange(len(data))
            piece = chance.choice(
                (chance.randbytes(length), b"\xff" * length, data[source : source + length])
            )
            changed[place : place + len(piece)] = piece
        run_path.write_bytes(changed[: len(data)])
        outcome(run_path)


def test_bits_of_a_wal(tmp_path: Path) -> None:
    path = crash(tmp_path / "a.msrun")
    wal = Path(f"{path}-wal")
    data = wal.read_bytes()
    chance = random.Random(0)
    outcomes = set()
    for _ in range(ROUNDS):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        wal.write_bytes(changed)
        outcomes.add(outcome(path))
    assert "read" in outcomes
