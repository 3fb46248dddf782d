"""solve_ivp's continuous solution: the polynomials of all steps, one after another (scipy.integrate.OdeSolution)."""
from typing import Any

import numpy as np

from ..util.array import AnyArray
from ..util.library_object import LibraryObject


class Solution(LibraryObject):
    """The solution at any time between ts[0] and ts[-1].

    side: of the two steps that meet at a time, which one counts: "left" is the earlier one.
    """

    of = "scipy.integrate.OdeSolution"

    def __init__(self, ts: AnyArray, pieces: list, direction: float, side: Any):
        self.ts, self._direction, self.side = ts, direction, side
        self.t_min, self.t_max = min(ts[0], ts[-1]), max(ts[0], ts[-1])
        self._origins = np.array([piece[0] for piece in pieces])
        self._widths = np.array([piece[1] for piece in pieces])
        self._powers = np.array([piece[2] for piece in pieces])

    def __call__(self, t: AnyArray) -> AnyArray:
        t = np.asarray(t) * 1.0
        times = np.reshape(t, (-1,))
        last = self._widths.size - 1
        step = np.searchsorted(self._direction * self.ts, self._direction * times, side=self.side) - 1
        step = np.minimum(np.maximum(step, 0), last)
        x = ((times - self._origins[step]) / self._widths[step])[:, None]
        y = self._powers[step, -1]
        for k in range(2, self._powers.shape[1] + 1):
            y = y * x + self._powers[step, -k]
        return y.T if t.ndim else y[0]
