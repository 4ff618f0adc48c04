"""Choices shared by the `[hunt]` table and the `hunt` command, without NumPy and pydantic."""

from __future__ import annotations

from typing import Literal, get_args

Over = Literal["seeds", "data", "start"]
Take = Literal["last", "least", "largest"]
OVERS: tuple[Over, ...] = get_args(Over)
TAKES: tuple[Take, ...] = get_args(Take)
