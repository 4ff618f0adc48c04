"""Proximal step of a two-layer network: W' = argmin R(W') + |W' - W|^2/(2 dt).

It is the implicit Euler step of dW/dt = -grad R(W), and where R has kinks that of Filippov's field:
dt may be as long as the motion is smooth, however fast the flow would chatter across them. Newton's
method on the true risk: each round minimises the quadratic model plus the model's convex kinks
exactly, through the dual, whose variables are the forces that hold the neurons on their kinks.

For f(x) = sum_j a_j phi(<u_j, x>), a and U both trained (ReLU or leaky). The quadratic
model's matrix is 1/dt + the coupling of a_j and u_j, a block per neuron with an inverse in closed
form, + J^T diag(l''/n) J: everything is solved in the space of the n examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from core.dynamics.kinks import Hyperplanes, forces_at_kinks
from core.losses import MarginLoss
from core.network.activation import Activation

Array = NDArray[np.float64]
Signs = NDArray[np.int64]
ROUNDS = 60
# The program of the kinks is dense: each round forms a matrix with one row per kink.
MOST_KINKS = 600
MOST_BASES = 2000
ON_KINK = 1e-10  # relative to |u_j|: a neuron within this distance is on a kink
# Relative to |W|: Newton's method is quadratic, and the remaining error is below its square.
SMALL = 1e-8
ROUNDING = 1e-13


@final
@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights a (m,) and U (m, D)."""

    a: Array
    U: Array

    def plus(self, by: Weights, part: float = 1.0) -> Weights:
        return Weights(self.a + part * by.a, self.U + part * by.U)

    def minus(self, other: Weights) -> Weights:
        return Weights(self.a - other.a, self.U - other.U)

    def squares(self) -> Array:
        """Return the squared length of each neuron.

        Returns
        -------
        array (m,)
            a_j^2 + |u_j|^2.
        """
        return np.asarray(self.a**2 + np.einsum("jd,jd->j", self.U, self.U))

    def norm(self) -> float:
        return float(np.sqrt(self.squares().sum()))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Risk at a point as the examples see it, with the slopes of one side of each kink.

    gradient of R; J = (alpha, beta x): dp_i = sum_j alpha_ij da_j + beta_ij <x_i, du_j>; curvature
    l''/n (n,); r (m, D): the coupling -d^2 R/da_j du_j; jump (m, h) of the slope at each kink.
    """

    gradient: Weights
    alpha: Array
    beta: Array
    curvature: Array
    r: Array
    jump: Array


@final
class Blocks:
    """Inverse of 1/dt + coupling: dt [[g, g rho^T], [g rho, 1 + g rho rho^T]] for each neuron.

    rho_j = dt r_j and g = 1/(1 - |rho_j|^2). Far from the solution |rho_j| may be 1 or more, where
    the model is not convex; then it is cut to .9, which changes the path and not its end.
    """

    def __init__(self, dt: float, r: Array) -> None:
        self.dt, self.rho = dt, dt * r
        size = np.linalg.norm(self.rho, axis=1)
        self.rho *= np.minimum(1.0, 0.9 / np.maximum(size, 0.9))[:, None]
        self.g = 1.0 / (1.0 - np.minimum(size, 0.9) ** 2)

    def solve(self, w: Weights) -> Weights:
        """Return the inverse of the blocks times w."""
        parallel = self.g * (w.a + np.einsum("jd,jd->j", self.rho, w.U))
        return Weights(self.dt * parallel, self.dt * (w.U + parallel[:, None] * self.rho))


@final
class Proximal:
    """Proximal steps on one set of examples x (n, D), y = +-1."""

    def __init__(self, x: Array, y: Array, loss: MarginLoss, activation: Activation) -> None:
        self.x, self.y, self.loss = x, y, loss
        self.planes = Hyperplanes.from_inputs(x)
        self.left = activation.slope  # slope of phi on the left
        self._bases: dict[bytes, Array] = {}
        self.gram = x @ x.T
        self.onto = self.planes.normals @ x.T  # (h, n)
        self.between = self.planes.normals @ self.planes.normals.T

    # ------------------------------------------------------------------------------- the risk

    def margins(self, w: Weights) -> Array:
        """Return the margins of weights.

        Parameters
        ----------
        w : Weights
            a (m,) and U (m, D).

        Returns
        -------
        array (n,)
            p_i = y_i f(x_i).
        """
        z = self.x @ w.U.T
        return np.asarray(self.y * (np.where(z > 0.0, z, self.left * z) @ w.a))

    def _objective(self, w: Weights, start: Weights, dt: float) -> float:
        risk = float(self.loss.value(self.margins(w)).mean())
        return risk + float(w.minus(start).squares().sum()) / (2.0 * dt)

    def sides(self, w: Weights) -> Signs:
        """Return each neuron's side of its hyperplanes, -1, 1, or 0 on a kink, (m, h)."""
        z = w.U @ self.planes.normals.T
        is_near = np.abs(z) < ON_KINK * np.linalg.norm(w.U, axis=1)[:, None]
        return np.where(is_near, 0, np.where(z > 0.0, 1, -1))

    def _model(self, w: Weights, sides: Signs) -> Model:
        """Return the model at w; where sides (m, h) is 0, with the slopes left of the kink."""
        y, n = self.y, self.y.size
        signs = self.planes.of_examples(np.where(sides == 0, -1, sides))
        slopes = np.where(signs > 0.0, 1.0, self.left)
        z = self.x @ w.U.T
        p = y * ((slopes * z) @ w.a)
        weight = -self.loss.slope(p) / n
        r = (slopes * (weight * y)[:, None]).T @ self.x
        gradient = Weights(-np.einsum("jd,jd->j", r, w.U), -w.a[:, None] * r)
        at_plane = self.planes.sum_examples(
            (1.0 - self.left) * np.abs(self.planes.size) * weight * y
        )
        jump = -w.a[:, None] * at_plane[None, :]
        alpha, beta = y[:, None] * slopes * z, y[:, None] * slopes * w.a[None, :]
        return Model(gradient, alpha, beta, self.loss.curvature(p) / n, r, jump)

    def _remove_normals(self, r: Array, sides: Signs) -> Array:
        """Return r (m, D) without the part of r_j in the span of neuron j's kinks."""
        tangential, kinks = r.copy(), sides == 0
        for j in np.flatnonzero(kinks.any(axis=1)):
            basis = self._basis(kinks[j])
            tangential[j] -= basis @ (basis.T @ tangential[j])
        return tangential

    def _basis(self, kinks: NDArray[np.bool_]) -> Array:
        """Return an orthonormal basis (D, k) of the span of some normals; cached."""
        key = kinks.tobytes()
        if key not in self._bases:
            if len(self._bases) >= MOST_BASES:
                self._bases.clear()
            self._bases[key] = np.linalg.qr(self.planes.normals[kinks].T)[0]
        return self._bases[key]

    # ------------------------------------------------------------------------------- the step

    def step(self, start: Weights, dt: float) -> tuple[Weights, Signs] | None:
        """Return the proximal point of `start` and its sides (m, h); None if it was not found.

        dt is then too long: the objective is not convex along the motion, or the rounds cycle.
        """
        w, sides, scale = start, self.sides(start), start.norm()
        forces = np.zeros(sides.shape)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            before = self._objective(w, start, dt)
            # Full steps without a line search: stiff directions are curved, and converging steps
            # look worse on the way (docs/decisions/0003).
            for _ in range(ROUNDS):
                try:
                    result = self._round(w, sides, forces, start, dt)
                except np.linalg.LinAlgError:  # far outside the range of the model
                    return None
                if result is None:
                    return None
                move, new_sides, forces = result
                w, size = w.plus(move), move.norm()
                w = Weights(w.a, self._remove_normals(w.U, new_sides))
                has_converged = size <= SMALL * scale and np.array_equal(new_sides, sides)
                if has_converged and self._objective(w, start, dt) <= before * (1.0 + ROUNDING):
                    return w, sides
                sides = new_sides
        return None

    def _round(
        self, w: Weights, sides: Signs, forces: Array, start: Weights, dt: float
    ) -> tuple[Weights, Signs, Array] | None:
        """Do one round; return the move, the sides after it, and the forces at the kinks, (m, h).

        None if it fails: more than `MOST_KINKS` kinks, numbers that are not finite, or kinks that
        do not settle.
        """
        kinks, z = sides == 0, w.U @ self.planes.normals.T
        for _ in range(ROUNDS):
            model = self._model(w, np.where(kinks, 0, sides))
            # A neuron stays on a kink only where the slope increases to the right; elsewhere it is
            # pushed off at once.
            kinks = kinks & (model.jump > 0.0)
            blocks = Blocks(dt, self._remove_normals(model.r, np.where(kinks, sides, 1)))
            if kinks.sum() > MOST_KINKS or not np.isfinite(model.jump).all():
                return None
            step_back = w.minus(start)
            pull = model.gradient.plus(step_back, 1.0 / dt)
            solved = self._solve(ReducedInverse(self, model, blocks), pull, kinks, forces, z)
            if solved is None:
                return None
            move, forces = solved
            newer = z + move.U @ self.planes.normals.T
            noise = ROUNDING * np.linalg.norm(w.U, axis=1)[:, None]
            # Including rounding of what the forces move, most of which cancels.
            noise = noise + 1e-15 * dt * np.abs(model.jump).max()
            crossed = ~kinks & (model.jump > 0.0) & (sides * newer < -noise)
            if not crossed.any():
                break
            kinks = kinks | crossed
            forces = np.where(crossed & (sides > 0), model.jump, forces)
        else:  # kinks of several points appear and vanish with their weights
            return None
        new_sides = np.where(newer > 0.0, 1, -1)
        # A force solved to its bound equals the bound up to the rounding of held + change.
        edge = 1e-15 * model.jump[kinks]
        kink_forces = forces[kinks]
        new_sides[kinks] = np.where(
            kink_forces <= edge, -1, np.where(kink_forces >= model.jump[kinks] - edge, 1, 0)
        )
        return move, new_sides, forces

    def _solve(
        self,
        reduced: ReducedInverse,
        pull: Weights,
        kinks: NDArray[np.bool_],
        forces: Array,
        z: Array,
    ) -> tuple[Weights, Array] | None:
        """Return the move to the minimiser of the model with its kinks, and the forces, (m, h).

        The unknown is the change of the previous round's `forces`, so that nothing large cancels.
        None where the program of the forces has no solution. The arguments are left unchanged.
        """
        js, ks = np.nonzero(kinks)
        jump = reduced.model.jump[js, ks]
        clipped = np.clip(forces[js, ks], 0.0, jump)
        lasting = np.zeros_like(forces)
        lasting[js, ks] = clipped
        pull = Weights(pull.a, pull.U + lasting @ self.planes.normals)
        free = reduced.inverse(pull)
        if js.size == 0:
            return Weights(-free.a, -free.U), lasting
        b = z[js, ks] - np.einsum("kd,kd->k", self.planes.normals[ks], free.U[js])
        change = forces_at_kinks(reduced.kink_displacements(js, ks), b, -clipped, jump - clipped)
        if change is None:
            return None
        lasting[js, ks] = clipped + change
        pull.U[:] += self._spread(js, ks, change, pull.U.shape[0])
        solution = reduced.inverse(pull)
        return Weights(-solution.a, -solution.U), lasting

    def _spread(self, js: Signs, ks: Signs, change: Array, m: int) -> Array:
        """Return the sum of change_k e_k over the kinks of each neuron, (m, D)."""
        total = np.zeros((m, self.x.shape[1]))
        np.add.at(total, js, change[:, None] * self.planes.normals[ks])
        return total


@final
class ReducedInverse:
    """Inverse of the model's matrix, B^-1 - B^-1 J^T c (1 + c J B^-1 J^T c)^-1 c J B^-1."""

    def __init__(self, proximal: Proximal, model: Model, blocks: Blocks) -> None:
        self._of, self.model, self.blocks = proximal, model, blocks
        self._root = np.sqrt(model.curvature)
        dt, g = blocks.dt, blocks.g
        self._turned = model.alpha + model.beta * (proximal.x @ blocks.rho.T)  # (n, m)
        gram = (model.beta @ model.beta.T) * proximal.gram + (self._turned * g) @ self._turned.T
        self._matrix = (
            np.eye(proximal.y.size) + dt * self._root[:, None] * gram * self._root[None, :]
        )

    def _apply_jacobian(self, w: Weights) -> Array:
        """Return J w, (n,)."""
        model = self.model
        return np.asarray(model.alpha @ w.a + (model.beta * (self._of.x @ w.U.T)).sum(axis=1))

    def inverse(self, w: Weights) -> Weights:
        """Return the inverse of the model's matrix times w."""
        model, root = self.model, self._root
        first = self.blocks.solve(w)
        u = root * np.linalg.solve(self._matrix, root * self._apply_jacobian(first))
        pulled_back = Weights(model.alpha.T @ u, (model.beta * u[:, None]).T @ self._of.x)
        return first.plus(self.blocks.solve(pulled_back), -1.0)

    def kink_displacements(self, js: Signs, ks: Signs) -> Array:
        """Return the matrix that maps forces to the displacements of kinks.

        Parameters
        ----------
        js, ks : array of int (k,)
            Neuron and hyperplane of each kink.

        Returns
        -------
        array (k, k)
            C H^-1 C^T.
        """
        proximal, model, blocks = self._of, self.model, self.blocks
        parallel = np.einsum("kd,kd->k", proximal.planes.normals[ks], blocks.rho[js])
        is_same_node = js[:, None] == js[None, :]
        own = (
            proximal.between[np.ix_(ks, ks)]
            + (blocks.g[js] * parallel)[:, None] * parallel[None, :]
        )
        response = (
            model.beta.T[js] * proximal.onto[ks]
            + (blocks.g[js] * parallel)[:, None] * self._turned.T[js]
        )
        response = blocks.dt * response * self._root[None, :]
        correction = response @ np.linalg.solve(self._matrix, response.T)
        return np.asarray(np.where(is_same_node, blocks.dt * own, 0.0) - correction)
