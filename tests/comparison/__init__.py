"""Comparison of several runs: alignment, differences, bands, settings, figure, command."""
