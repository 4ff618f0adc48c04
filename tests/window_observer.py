"""Observer of a window in a separate process: its first paint, and then every few ms."""

from __future__ import annotations

# Comes after a script that defines `painted(window)` and `look(program)`; starts the program.
STARTED = """
import sys
from PySide6.QtCore import QTimer
import app.shell.application as application
import app.start as beginning
from app.shell.main_window import MainWindow

paint = MainWindow.paintEvent
def paint_event(self, event):
    paint(self, event)
    if not hasattr(self, "seen"):
        self.seen = True
        painted(self)
MainWindow.paintEvent = paint_event

begin = application.Marginscope.start
def start(self):
    begin(self)
    self.watch = QTimer(self)
    self.watch.timeout.connect(lambda: look(self))
    self.watch.start(20)
application.Marginscope.start = start
sys.exit(beginning.main([]))
"""
