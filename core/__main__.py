"""`python -m core`, or `marginscope-core` where it is installed: the headless program."""

import sys


def main() -> int:
    """Answer signals, before anything else is imported, which takes most of a second; then do what
    the command line says."""
    from core.cli.bundled import stand_in
    from core.stopping import answer_signals

    stand_in()
    answer_signals()
    from core.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
