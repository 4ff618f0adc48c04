"""One run from its first frame to its last: trained, monitored, continued, shipped.

`trajectory` is the loop, `control` its state and requests, `continuation` and `branching` runs that
start from a frame of another one, and `shipped_recording` the recordings that are shipped.
"""
