"""The names of the panels, importable without matplotlib."""

PANELS = ("neurons", "rotations", "norms", "margins")
