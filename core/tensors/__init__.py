"""Descent on PyTorch tensors, for CUDA.

Importing a module of this package imports torch, which takes seconds: engines do so when a run
that needs them starts.
"""
