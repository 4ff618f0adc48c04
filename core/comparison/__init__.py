"""Several runs in one picture: lines, differences and bands over a quantity that all have.

`question` is what to compare, `alignment` maps frames to one axis, `comparison` is the answer,
and `setting_differences` computes it from run files.
"""
