"""Measurements of speed; run with `make bench`, never by pytest."""

from app.qt_workarounds import restore_import

restore_import()  # as the program does: before the modules that use Qt
