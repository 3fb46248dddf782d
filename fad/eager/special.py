"""special for tensors: functions of scipy.special under PyTorch's names."""
from collections.abc import Callable

import numpy as np

from ..ops.face import BY_NAME
from ..util.array import ArrayOrNumber
from .formulas import where
from .registry import FUNCTIONS
from .tensor import Tensor, raw, wrap

_RENAMED = {"bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0",
            "modified_bessel_i1": "i1",
            "modified_bessel_k0": "k0", "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e",
            "scaled_modified_bessel_k1": "k1e"}

SPECIAL: dict[str, Callable] = {name: BY_NAME[f"scipy.special.{target}"].call for name, target in _RENAMED.items()}

SPECIAL.update(softmax=FUNCTIONS["softmax"], log_softmax=FUNCTIONS["log_softmax"], logsumexp=FUNCTIONS["logsumexp"],
               multigammaln=FUNCTIONS["mvlgamma"], logit=FUNCTIONS["logit"])

SPECIAL["airy_ai"] = lambda x: BY_NAME["scipy.special.airy"].call(x)[0]

SPECIAL["spherical_bessel_j0"] = lambda x: BY_NAME["scipy.special.spherical_jn"].call(0, x)


def _polynomial(target: str) -> Callable:
    def call(x: Tensor, n: ArrayOrNumber) -> Tensor:
        """Of degree n, without its fraction; zero where n is negative."""
        degree = np.trunc(raw(n)).astype(np.int64)
        y = BY_NAME[f"scipy.special.{target}"].call(np.maximum(degree, 0), x)
        return y if (degree >= 0).all() else where(wrap(degree >= 0), y, 0.0)
    return call


for _family, _target in {"chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu",
                         "hermite_polynomial_h": "eval_hermite",
                         "hermite_polynomial_he": "eval_hermitenorm", "laguerre_polynomial_l": "eval_laguerre",
                         "legendre_polynomial_p": "eval_legendre",
                         "shifted_chebyshev_polynomial_t": "eval_sh_chebyt",
                         "shifted_chebyshev_polynomial_u": "eval_sh_chebyu"}.items():
    SPECIAL[_family] = _polynomial(_target)
