"""Two-layer networks and their parametrisations.

Each file holds the kinds of one theme, and `registry` lists them. `section` defines the keys of a
study file, `interface` what a network is, and `parametrisation` the networks with effective
weights. `kernel` computes f and its derivatives.
"""
