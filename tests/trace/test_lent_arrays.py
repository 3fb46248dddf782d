"""Arrays that objects of libraries hold, on the tape: a write to one that the object would not see is refused."""
import numpy as np
import pytest
from scipy import sparse, spatial

import fad
from fad.util.errors import SideEffectError

ARR = np.array([1.0, 2.0, 3.0])
HOLDING = {
    "sparse": lambda a: sparse.csr_matrix((a, [0, 1, 2], [0, 1, 2, 3])),
    "tree": lambda a: spatial.cKDTree(a[:, None], copy_data=False).data,
}
COPYING = {
    "sparse": lambda a: sparse.csr_matrix((a.copy(), [0, 1, 2], [0, 1, 2, 3])),
    "tree": lambda a: spatial.cKDTree(a[:, None], copy_data=True).data,
}


def on_tape(make, of, again):
    def f(x):
        a = ARR if of == "outer" else np.zeros(3)
        a[:] = [1.0, 2.0, 3.0]
        held = make(a) if int(x[0] * 3) in {2: 1.0} else None
        if again:
            a[1] = 10.0
        return held.sum() * x[1] + a[1]
    return f


pytestmark = pytest.mark.filterwarnings("ignore::fad.FallbackWarning")
X = np.array([0.7, 1.3])


@pytest.mark.parametrize("of", ["outer", "own"])
@pytest.mark.parametrize("make", HOLDING.values(), ids=HOLDING)
def test_a_write_behind_an_object_is_refused(make, of):
    with pytest.raises(SideEffectError, match="that an object of a library holds"):
        fad.grad(on_tape(make, of, True))(X)
    np.testing.assert_allclose(fad.grad(on_tape(make, of, False))(X), [0.0, 6.0])


@pytest.mark.parametrize("of", ["outer", "own"])
@pytest.mark.parametrize("make", COPYING.values(), ids=COPYING)
def test_an_object_may_have_a_copy(make, of):
    np.testing.assert_allclose(fad.grad(on_tape(make, of, True))(X), [0.0, 6.0])
