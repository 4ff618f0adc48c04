"""The two-layer network and its parametrisations.

Kinds are in files by theme, and `registry` lists them. `section` is what a study file says of one,
`parametrisation` what the program asks of one, and `kernel` f and its derivatives.
"""
