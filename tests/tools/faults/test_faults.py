"""A fixed part of the faults: nothing that was told is lost, and everything said is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.faults.fault import Fault, Tally
from tests.tools.faults.mounting import CAN_MOUNT
from tests.tools.faults.table import FAULTS

CASES = [
    pytest.param(
        fault,
        number,
        id=f"{fault.name} {number}",
        marks=[
            pytest.mark.skipif(fault.mounts and not CAN_MOUNT, reason="only root mounts a disk"),
            *([] if number in fault.quick else [pytest.mark.slow]),
        ],
    )
    for fault in FAULTS
    for number in sorted({*range(fault.part), *fault.quick})
]


@pytest.mark.parametrize(("fault", "number"), CASES)
def test_nothing_is_lost(fault: Fault, number: int, tmp_path: Path) -> None:
    tally = fault.attempt(tmp_path, number)
    assert tally.clean, tally


def test_faults_have_names_of_their_own_and_say_what_holds() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert all(fault.holds and fault.part <= fault.times for fault in FAULTS)
    assert all(number < fault.times for fault in FAULTS for number in fault.quick)
    assert {fault.name for fault in FAULTS if fault.quick} >= {
        f"kill -9: {what}" for what in ("recording", "a loop recorded", "sweep", "library")
    }


def test_tallies_add_up() -> None:
    one = Tally(1, 0, 1, 0, 0) + Tally(2, 0, 0, 0, 3)
    assert (one.told, one.crashes, one.left, one.clean) == (3, 1, 3, False)
    assert (Tally(5) + Tally(2)).clean
