"""`python -m core`: the headless program."""

import sys

if __name__ == "__main__":
    from core.stopping import answer_signals

    answer_signals()  # before anything else is imported, which takes most of a second
    from core.cli.main import main

    sys.exit(main())
