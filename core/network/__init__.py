"""Two-layer networks and their parametrisations.

Each file holds the kinds of one theme, and `registry` lists them. `section` defines the keys of a
study file, `parametrisation` the interface of a network, and `kernel` computes f and its
derivatives.
"""
