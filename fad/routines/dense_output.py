"""solve_ivp's continuous solution: the polynomials of all steps, one after another (scipy.integrate.OdeSolution)."""
from typing import Any

import numpy as np


class Solution:
    """The solution at any time between ts[0] and ts[-1].

    side: of the two steps that meet at a time, which one counts: "left" is the earlier one.
    """

    def __init__(self, ts: Any, pieces: list, direction: float, side: Any):
        self.ts, self.direction, self.side = ts, direction, side
        self.t_min, self.t_max = min(ts[0], ts[-1]), max(ts[0], ts[-1])
        self.origins = np.array([piece[0] for piece in pieces])
        self.widths = np.array([piece[1] for piece in pieces])
        self.powers = np.array([piece[2] for piece in pieces])

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t) * 1.0
        times = np.reshape(t, (-1,))
        last = self.widths.size - 1
        step = np.searchsorted(self.direction * self.ts, self.direction * times, side=self.side) - 1
        step = np.minimum(np.maximum(step, 0), last)
        x = ((times - self.origins[step]) / self.widths[step])[:, None]
        y = self.powers[step, -1]
        for k in range(2, self.powers.shape[1] + 1):
            y = y * x + self.powers[step, -k]
        return y.T if t.ndim else y[0]
