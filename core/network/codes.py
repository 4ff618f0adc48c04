"""The numbers by which compiled kernels tell parametrisations apart (core.compiled.network)."""

PLAIN, SCALAR, NORMALISED, FIXED_OUTER, BATCH_NORM, WITH_BIAS = range(6)
