"""The shared window: nothing done leaves it as new, twice."""

import pytest


@pytest.mark.parametrize("k", range(4))
def test_nothing(program, k):
    pass
