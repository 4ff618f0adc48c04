"""Ways to damage a file: bytes, or texts with numbers, words and brackets."""

from __future__ import annotations

import random
import re
import struct

NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9.]*")
ABSURD = (
    b"0",
    b"-1",
    b"1e308",
    b"-1e308",
    b"1e999",
    b"nan",
    b"inf",
    b"9223372036854775808",
    b"1" + b"0" * 400,
    b"9" * 5000,
    b"0x" + b"f" * 6000,
    b"1_000",
    "\uff11".encode(),
    b"true",
    b"''",
    b"[]",
    b"{}",
    b"null",
    b"1.5",
    b"4294967295",
    b"99999999999",
    b"1e-320",
)
STRANGE = (
    b"[" * 3000,
    b"{" * 3000,
    b"(" * 300,
    b'{"a":' * 2000,
    b".".join([b"a"] * 3000),
    b"\0",
    b"\r",
    b"\x0c",
    b"\x1b[2J",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    "\u202e".encode(),
    b'"',
    b"'",
    b"\\",
    b"\n\n[x]\n",
    b"= = =",
    b"../../../etc/passwd",
    b"/dev/zero",
    b"\\u0000",
    b"__import__('os')",
    b"9" * 30,
    b",",
    b"#",
    b'"""',
    b"x" * 4000,
)
LENGTHS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)


def damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return a file with some bits, sections, lengths or its end changed."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if not changed:
            break
        kind, place = chance.randrange(9), chance.randrange(len(changed))
        if chance.random() < 0.4:  # where headers are
            place = chance.randrange(min(len(changed), 512))
        size = chance.choice((1, 2, 4, 8, 64, 512, 4096))
        other = chance.randrange(len(changed))
        if kind <= 1:
            changed[place] ^= 1 << chance.randrange(8)
        elif kind == 2:
            changed[place : place + size] = chance.randbytes(size)
        elif kind == 3:
            changed[place : place + size] = bytes([chance.choice((0, 255))]) * size
        elif kind == 4:
            changed[place : place + size] = changed[other : other + size]
        elif kind == 5:
            del changed[place : place + chance.choice((1, 8, 4096, len(changed)))]
        elif kind == 6:
            changed[place:place] = changed[other : other + size]
        elif kind == 7:
            form = chance.choice(("<I", ">I", "<Q", ">Q", "<H", ">H"))
            whole = chance.choice(LENGTHS) % (1 << 8 * struct.calcsize(form))
            changed[place : place + struct.calcsize(form)] = struct.pack(form, whole)
        else:
            changed += chance.randbytes(size)
    return bytes(changed)


def damaged_text(data: bytes, chance: random.Random) -> bytes:
    """Return a text with numbers, words, lines or brackets changed, or turned into non-text."""
    if chance.random() < 0.15:
        return damaged_bytes(data, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        kind = chance.randrange(7)
        lines = data.split(b"\n")
        line = chance.randrange(len(lines))
        if kind <= 1:
            data = _exchanged(data, NUMBER, chance.choice(ABSURD), chance)
        elif kind == 2:
            words = WORD.findall(data) or [b"x"]
            data = _exchanged(data, WORD, chance.choice((*ABSURD, *words[:50])), chance)
        elif kind == 3:
            place = chance.randrange(len(data) + 1)
            data = data[:place] + chance.choice(STRANGE) + data[place:]
        elif kind == 4:
            del lines[line]
            data = b"\n".join(lines)
        elif kind == 5:
            lines[line:line] = [lines[chance.randrange(len(lines))]] * chance.choice((1, 2, 200))
            data = b"\n".join(lines)
        else:
            data = data[: chance.randrange(len(data) + 1)]
    return data


def _exchanged(
    data: bytes, pattern: re.Pattern[bytes], value: bytes, chance: random.Random
) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    one = chance.choice(found)
    return data[: one.start()] + value + data[one.end() :]
