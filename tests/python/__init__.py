"""Tests of the public module, on which other programs rely."""
