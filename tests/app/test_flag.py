"""Flags that are set inside a block."""

from __future__ import annotations

import pytest

from app.flag import Flag


def test_an_exception_leaves_a_flag_as_it_was() -> None:
    flag = Flag()
    with flag:
        with pytest.raises(ValueError, match="inside"), flag:
            raise ValueError("inside")
        assert flag
    assert not flag
