"""Random use of the window for hours, and its growth: memory, threads, handles.

`python -m tests.tools.soak --minutes 120` (`make soak`); `make test-long` has ten minutes of it.
"""

from app.qt_workarounds import restore_import

restore_import()  # as the program does: before the modules that use Qt
