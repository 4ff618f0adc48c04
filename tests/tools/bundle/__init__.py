"""`make test-bundle`: size and content of the bundle, and tests of it on bare systems."""
