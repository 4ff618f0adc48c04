"""A film that another process draws (core.figures.conversation): `python -m core draw-film`.

It is asked by a line of JSON (core.figures.film_request), and draws one film.
"""

from __future__ import annotations

from collections.abc import Callable

from core.figures.conversation import Conversation, Progress
from core.figures.film_request import FilmRequest
from core.files import remove_left

COMMAND = "draw-film"


def draw_beside(request: FilmRequest, progress: Progress, cancelled: Callable[[], bool]) -> bool:
    """Have a film made in a process of its own. Returns False, and leaves no file, where it was
    cancelled.

    Raises what making it raises: errors with the same sentence, MemoryError, and RuntimeError with
    its traceback for an error of the program. MarginscopeError where the process was ended.
    """
    conversation = Conversation(COMMAND, "film")
    finished = False
    try:
        answer = conversation.ask(f"{request.text()}\n".encode(), cancelled, progress)
        finished = bool(answer and answer.get("finished"))
    finally:
        problem = conversation.end(goodbye=not finished)
        remove_left(request.path.parent)  # what a process that was killed has begun
    if not (finished or cancelled()):
        raise problem
    return finished
