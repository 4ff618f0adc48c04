"""One run from its first frame to its last: trained, watched, continued, shipped."""
