"""Measurements of speed; run with `make bench`, never by pytest."""
