"""Reader of the program's log."""

from __future__ import annotations

import re

LEVEL = re.compile(r"\d.* (DEBUG|INFO|WARNING|ERROR|CRITICAL) ")  # of an entry's first line


def errors_in(log: str) -> list[str]:
    """Return the lines of a log about errors, with their tracebacks.

    >>> errors_in("1 INFO a\\n2 ERROR b\\nTraceback\\n3 INFO c")
    ['2 ERROR b', 'Traceback']
    """
    found, within = [], False
    for line in log.splitlines():
        if LEVEL.match(line):
            within = " ERROR " in line
        if within:
            found.append(line)
    return found
