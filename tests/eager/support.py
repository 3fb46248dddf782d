"""What the tests of tensors share."""
import numpy as np

import fad


def leaf(*values):
    return fad.tensor([float(v) for v in values], requires_grad=True)


def close(x, expected):
    np.testing.assert_allclose(x.detach().numpy() if isinstance(x, fad.Tensor) else x, expected)
