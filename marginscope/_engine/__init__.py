"""What the public module asks of the program itself; each module imports `core` when it is used."""

from marginscope._engine.names import check_ours

check_ours()
