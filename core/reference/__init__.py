"""Margins that theory promises for a data set, each with a bracket that is known to hold it."""
