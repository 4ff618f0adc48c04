"""A NumPy loop with leaky ReLUs and outer weights that are not trained, recorded and looked at."""

import numpy as np

import marginscope as ms

rng = np.random.default_rng(0)
n, d, m, slope, eta, steps = 30, 200, 40, 0.1, 0.01, 500
x = rng.standard_normal((n, d))  # nearly orthogonal, since d is large
y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
V = 1e-3 * rng.standard_normal((m, d))
a = np.where(np.arange(m) < m // 2, 1.0, -1.0) / np.sqrt(m)


def gradient(V: np.ndarray) -> np.ndarray:
    """Of the logistic risk of f(x) = sum_j a_j phi(<v_j, x>), phi(z) = max(slope z, z)."""
    z = V @ x.T
    f = a @ np.where(z > 0.0, z, slope * z)
    q = y / (1.0 + np.exp(y * f)) / n
    return -(np.where(z > 0.0, 1.0, slope) * a[:, None] * q) @ x


# Outer weights that stay as they are are given once, and not with each frame.
told = {"activation": "leaky_relu", "slope": slope, "a_fixed": a, "overwrite": True}
with ms.record("numpy.msrun", x, y, loss="logistic", V0=V, until=steps, **told) as r:
    for t in range(1, steps + 1):
        V = V - eta * gradient(V)
        if r.due(t):
            r.frame(t, V=V)

with ms.open("numpy.msrun") as run:
    print(run)
    rank = run["stable_rank"]  # |V|_F^2 / |V|_2^2 of every frame
    print(f"stable rank of V: {rank[0]:.1f} at the start, {rank[-1]:.1f} at t = {run.t[-1]:g}")
    print(run.frame(-1).V.shape, run.observables[:4])
