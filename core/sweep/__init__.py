"""Sweeps: the cells of a study trained on this machine or on a cluster, with their ledger."""
