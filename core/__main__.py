"""`python -m core`, or `marginscope-core` where it is installed: the headless program."""

import sys


def main() -> int:
    """Answer signals, before anything else is imported, which takes most of a second; then do what
    the command line says."""
    from core.cli.bundled import HEADLESS, is_bundled, stand_in
    from core.stopping import answer_signals

    stand_in()
    if is_bundled() and sys.argv[1:2] == [HEADLESS]:  # as core.compiled.beside starts it
        del sys.argv[1]
    answer_signals()
    from core.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
