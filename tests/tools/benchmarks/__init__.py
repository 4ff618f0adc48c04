"""Measurements of speed; run with `make bench`, never by pytest."""

from app.process import import_plainly

import_plainly()  # as the program does: before the modules that use Qt
