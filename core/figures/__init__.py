"""Figures and films of runs: frozen scenes, drawn by matplotlib; one palette for all."""
