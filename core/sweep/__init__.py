"""Sweeps: the cells of a study on this machine or on a cluster, their table and their claims."""
