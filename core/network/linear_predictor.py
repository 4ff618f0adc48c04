"""Base of networks without activation, f(x) = <beta(W), x>: diagonal and deep linear networks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from core.network.parametrisation import Array, Network


class LinearPredictor(Network):
    """Network f(x) = <beta(W), x> with beta homogeneous of degree L in all parameters.

    A subclass adds beta, its derivative along a direction and the transpose of that, and what the
    gradient flow of any loss conserves.
    """

    @abstractmethod
    def coefficients(self, flat: Any) -> Any:
        """Return beta (d,) at flat parameters, an array or a tensor."""

    @abstractmethod
    def push_coefficients(self, flat: Array, direction: Array) -> Array:
        """Return the derivative of beta along a flat direction.

        Parameters
        ----------
        flat : array (size,)
            Parameters.
        direction : array (size,)
            Direction in the parameters, of any length.

        Returns
        -------
        array (d,)
            d beta.
        """

    @abstractmethod
    def pull_coefficients(self, flat: Array, d_beta: Array) -> Array:
        """Return the gradient of <d_beta, beta(W)>: the transpose of `push_coefficients`.

        Parameters
        ----------
        flat : array (size,)
            Parameters.
        d_beta : array (d,)
            Gradient in beta, taken as constant.

        Returns
        -------
        array (size,)
            Flat gradient.
        """

    @abstractmethod
    def invariants(self, flat: Array) -> Array:
        """Return all numbers that the gradient flow of any loss conserves.

        Parameters
        ----------
        flat : array (size,)
            Parameters.

        Returns
        -------
        array (r,)
            Each quadratic in W; their number depends on the network.
        """

    def outputs(self, flat: Any, inputs: Any, offset: Any = None) -> Any:
        return inputs @ self.coefficients(flat)

    def gradient(self, flat: Any, inputs: Any, g: Any) -> Any:
        return self.pull_coefficients(flat, g @ inputs)

    def derivative(self, flat: Array, inputs: Array, direction: Array) -> Array:
        return np.asarray(inputs @ self.push_coefficients(flat, direction))
