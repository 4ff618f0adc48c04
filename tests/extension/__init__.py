"""One new kind of everything, each in a file of its own: what docs/extend.md shows."""
