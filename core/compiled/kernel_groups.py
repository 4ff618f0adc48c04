"""Compiled groups of kernels; interface for a program that starts the compilation (the window).

    ready_groups()    the groups whose machine code is in the cache. Cheap (0.1 s the first time,
                      then a poll of one folder) and without numba, so for any thread; it changes as
                      groups are compiled by any program of this user.
    missing_groups()  the others, in the order in which they are compiled: GROUPS.

    python -m core warm --progress [--only GROUP ...]

compiles what is missing (of the groups named, in that order, else of all in the order of GROUPS),
and prints a line of JSON on standard output, flushed, for each group once it can be used:

    {"done": i, "of": n, "group": name, "seconds": s}

with i = 1 .. n of the n requested groups; those already in the cache come first, with 0.0 seconds.
Exit status 0. If nothing can be saved, a sentence on standard error says so and the status is 2
before anything is compiled; it is 1 if a group could not be saved. SIGTERM ends it at once (143),
Ctrl-C too (130); what is compiled stays, and no half-written file is left that would be read. It
starts no process. With --progress it also ends by itself when its standard input is closed, as
happens when the program that started it dies, however it dies: give it a pipe that is never written
to (stdin=subprocess.PIPE), and keep the other end. A bundled window starts itself, with --headless
instead of `-m core` (core.compiled.headless_process).

The flow of Figure 1 needs FLOW alone. Each group has a file of its own, which names the files of
its kernels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from core.compiled import store

FLOW, MARGINS, DESCENT, GRAM, STOCHASTIC = "flow", "margins", "descent", "gram", "stochastic"
TWO_PHASE, MIRROR, HEADS, BALANCED = "two_phase", "mirror", "heads", "balanced"
DESCENT_32, GRAM_32, STOCHASTIC_32 = "descent-float32", "gram-float32", "stochastic-float32"
# The float32 group of each group whose kernels depend on the precision.
SINGLE = {DESCENT: DESCENT_32, GRAM: GRAM_32, STOCHASTIC: STOCHASTIC_32}
# In order of compilation: the flow of Figure 1 first.
GROUPS = (
    *(FLOW, MARGINS, DESCENT, GRAM, STOCHASTIC, TWO_PHASE, MIRROR, BALANCED, HEADS),
    *SINGLE.values(),
)
MARK = ".group"

listeners: list[Callable[[str], None]] = []
_reported: list[str] = []


def add_listener(listener: Callable[[str], None]) -> None:
    """Have a function called with the name of each kernel whose compilation starts."""
    if listener not in listeners:
        listeners.append(listener)


def report_compiling(kernel: str) -> None:
    """Report to all listeners that the compilation of a kernel starts."""
    for listener in listeners:
        listener(kernel)


def ready_groups() -> frozenset[str]:
    """Return the groups whose kernels are all in the cache."""
    names = store.names()
    return frozenset(
        group for group in GROUPS if group + MARK in names and _is_complete(group, names)
    )


def _is_complete(group: str, names: frozenset[str]) -> bool:
    content = store.load(group + MARK)
    return content is not None and names.issuperset(json.loads(content))


def missing_groups(requested: Iterable[str] = GROUPS) -> tuple[str, ...]:
    """Return the requested groups that are not ready, in the same order."""
    ready = ready_groups()
    return tuple(group for group in requested if group not in ready)


def save_group(group: str, files: Iterable[str]) -> bool:
    """Save that a group is compiled, into these files; return False if nothing can be saved."""
    return store.save(group + MARK, json.dumps(sorted(files)).encode())


def unreported_problem() -> str:
    """Return why no kernels can be saved (`store.problem`), once; "" afterwards and if they can."""
    sentence = "" if _reported else store.problem()
    if sentence:
        _reported.append(sentence)
    return sentence


def has_reported_problem() -> bool:
    """Return True after `unreported_problem` has given a sentence."""
    return bool(_reported)


def compiling_words(groups: Sequence[str]) -> str:
    """Return the sentence before kernels are compiled, with why they cannot be saved, if so."""
    problem = unreported_problem()
    clause = f"Compiling kernels ({', '.join(groups)})"
    if has_reported_problem():
        return f"{problem} {clause}.".lstrip()
    return f"{clause}, once for this machine."
