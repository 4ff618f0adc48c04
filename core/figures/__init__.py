"""Figures and films of runs: frozen scenes, drawn by matplotlib; one palette for all."""

import logging

# Where its folder of settings cannot be written matplotlib takes another one, and says so.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
