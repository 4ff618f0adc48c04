"""The words of a hunt that its table and its command share; the command line is read with them."""

from __future__ import annotations

from typing import Literal, get_args

Over = Literal["seeds", "data", "start"]
Take = Literal["last", "least", "largest"]
OVERS: tuple[Over, ...] = get_args(Over)
TAKES: tuple[Take, ...] = get_args(Take)
