"""Several runs in one picture: lines, differences and bands over a quantity that all have."""
