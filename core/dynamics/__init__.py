"""Dynamics of the parameters: each is an Integrator that emits frames in short chunks."""
