"""The names of the panels, and what a figure may be asked for; importable without matplotlib."""

# Those of the papers' figure, which are drawn where none is named.
PANELS = ("neurons", "rotations", "norms", "margins")
EVERY_PANEL = (*PANELS, "curves", "spectrum", "predictor", "waves", "phases")
# Those of a page: the predictor would be computed anew at each of its moments.
PAGE_PANELS = (*PANELS, "curves", "spectrum", "waves", "phases")
PAGE_FRAMES, FEWEST_FRAMES, MOST_FRAMES = 400, 2, 2000  # moments of a page: usual, and possible
PAGE_COLOURS = ("system", "light", "dark")  # what it begins with; the reader may turn it
# What curves may stand against, and the families of letters.
ACROSS = ("log10_time", "step", "norm_squared")
FAMILIES = ("sans", "serif")
