"""The headless program: `python -m core COMMAND`."""
