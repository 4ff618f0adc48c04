"""What a study file says of one experiment: its sections, their values, and what is allowed.

`experiment` with its losses and `dynamics` (`descent`, `dynamics_section`) are the sections,
`tables` and `validation` read them, and `weight` is the resources that training takes.
"""
