"""Hunts: the run of a study that is worst for a bound, or most extreme in a quantity.

`question` and `objective` define a hunt, `search` and `perturbations` propose its runs, `hunt`
trains them, and `hunt_building` makes a hunt of a question, and a table of its runs.
"""
