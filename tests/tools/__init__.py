"""Tools for developers; none of them is a test."""
