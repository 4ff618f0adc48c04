"""The window used for hours by a random walk, and what it holds then: memory, threads, handles.

`python -m tests.tools.soak --minutes 120` (`make soak`); `make test-long` has ten minutes of it.
"""

from app.process import import_plainly

import_plainly()  # as the program does: before the modules that use Qt
