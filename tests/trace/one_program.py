"""What holds of a function that is one program, whichever path a call takes."""
import numpy as np

import fad

from ..transforms.support import differences


def check_one_program(f, points, policy):
    """Values and gradients are right at all points, in either order: whichever path the first call takes."""
    with fad.config.using(compile=policy):
        for xs in (points, points[::-1]):
            compiled, gradient = fad.jit(f, fallback=False), fad.grad(f, fallback=False)
            for x in xs:
                np.testing.assert_allclose(compiled(x), f(x), rtol=1e-12)
                np.testing.assert_allclose(gradient(x), differences(f, x), rtol=1e-6, atol=1e-6)


def check_examples(f, points):
    """Under vmap each example takes its own path; second derivatives are those of the path of the first point."""
    gradient = fad.grad(f, fallback=False)
    np.testing.assert_allclose(fad.vmap(f)(np.stack(points)), [f(x) for x in points], rtol=1e-12)
    np.testing.assert_allclose(fad.vmap(gradient)(np.stack(points)), [gradient(x) for x in points], rtol=1e-12)
    first = points[0]
    slopes = [(gradient(first + h) - gradient(first - h)) / 2e-6 for h in 1e-6 * np.eye(len(first))]
    np.testing.assert_allclose(fad.hessian(f)(first), slopes, atol=1e-6)
