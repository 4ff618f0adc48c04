"""Hunts: the run of a study that is worst for a bound, or most extreme in a quantity."""
