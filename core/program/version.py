"""Version of the program, and the day of its release."""

__version__ = "1.1.0"
RELEASED = "2026-11-28"
