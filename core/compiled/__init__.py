"""Compiled kernels (numba): cached per user, run without the GIL, imported only by an engine.

Importing a module of this package imports numba, which takes a second; nothing outside
core.dynamics does so. Only `store`, `warming` and `beside` do without.
"""

import os

# numba would colour the messages of errors that nobody sees: one for each overload that it tries.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
