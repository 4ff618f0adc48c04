"""`python -m core`, or `marginscope-core` where it is installed: the headless program."""

import sys


def main() -> int:
    """Answer signals, and then run the command: importing it takes most of a second."""
    from core.program.stopping import answer_signals

    # Only a bundled program may be started as a worker or tracker of a library.
    if getattr(sys, "frozen", False):
        from core.cli.bundle import HEADLESS, run_as_library_process

        run_as_library_process()
        if sys.argv[1:2] == [HEADLESS]:  # how core.compiled.headless_process starts the bundle
            del sys.argv[1]
    answer_signals()
    from core.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
