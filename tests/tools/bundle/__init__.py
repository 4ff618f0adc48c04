"""`make test-bundle`: what the bundle weighs and carries, and whether it works where nothing is."""
