"""The names of the panels, and what a figure may be asked for; importable without matplotlib."""

# Those of the papers' figure, which are drawn where none is named.
PANELS = ("neurons", "rotations", "norms", "margins")
EVERY_PANEL = (*PANELS, "curves", "spectrum", "predictor")
# What curves may stand against, and the families of letters.
ACROSS = ("log10_time", "step", "norm_squared")
FAMILIES = ("sans", "serif")
