"""What is taken to stay as it is while a margin goes on (core.reference.gated)."""

from __future__ import annotations

from enum import Enum
from typing import final


@final
class Kept(Enum):
    """What stays as it is beside the signs of the nodes."""

    GATES = "what each node is active on; the inner weights may be anything"
    CELLS = "what each node is active on, by its inner weights"
    OWN = "which examples of its own label each node is active on, by its inner weights"
