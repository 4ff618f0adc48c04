"""Compiled kernels (numba): cached per user, run without the GIL, imported only by an engine.

Importing a module of this package imports numba, which takes a second; only core.dynamics does so.
`store`, `kernel_groups` and `headless_process` do not need numba.
"""

import os

# numba would otherwise colour the internal error message of every overload that it tries.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")
