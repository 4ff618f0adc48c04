"""Settings of one experiment in a study file: its sections, their values, and what is allowed.

`experiment` with its losses and `dynamics` (`descent`, `dynamics_section`) are the sections,
`validation` reads them, and `weight` is the resources that training takes.
"""
