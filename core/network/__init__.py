"""The two-layer network and its parametrisations."""
