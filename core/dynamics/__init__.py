"""How parameters move: each dynamics is an Integrator that hands on frames in short chunks."""
