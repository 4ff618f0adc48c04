"""What the public module asks of the program itself; each module imports `core` when it is used."""

from marginscope._engine.names import check_ours
from marginscope._program import INSTALLED

if not INSTALLED:  # from a wheel, they lie within this package
    check_ours()
