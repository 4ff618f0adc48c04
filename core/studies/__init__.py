"""Studies: their files, grids and claims, and all that is computed from many runs."""
