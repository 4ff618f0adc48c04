"""A JAX loop, recorded: arrays are handed over as they are, from whatever device."""

import jax
import jax.numpy as jnp

import marginscope as ms

keys = jax.random.split(jax.random.PRNGKey(0), 3)
n, d, m, eta, steps = 32, 4, 16, 0.5, 300
x = 2.0 * jax.random.bernoulli(keys[0], 0.5, (n, d)) - 1.0
y = x[:, 0] * x[:, 1]
weights = {
    "V": jax.random.normal(keys[1], (m, d)) / d**0.5,  # a row for each neuron: Flax kernel.T
    "a": jax.random.normal(keys[2], (m,)) / m**0.5,
}


def risk(w):
    """Return the mean of ln(1 + exp(-y f)), f(x) = sum_j a_j relu(<v_j, x>)."""
    f = jnp.maximum(x @ w["V"].T, 0.0) @ w["a"]
    return jnp.mean(jnp.logaddexp(0.0, -y * f))


gradient = jax.jit(jax.grad(risk))
told = {"loss": "logistic", "dynamics": "gd", "eta": eta, "until": steps, "overwrite": True}
with ms.record("jax.msrun", x, y, V0=weights["V"], a0=weights["a"], **told) as r:
    for t in range(1, steps + 1):
        slopes = gradient(weights)
        weights = {name: weights[name] - eta * slopes[name] for name in weights}
        if r.due(t):  # only then the weights are fetched from the device
            r.frame(t, V=weights["V"], a=weights["a"])

with ms.open("jax.msrun") as run:
    print(run)
    print(f"risk: {run['risk'][0]:.3g}, {run['risk'][-1]:.3g} in the end")
