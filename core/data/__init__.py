"""Distributions and data files: each gives a Dataset."""
