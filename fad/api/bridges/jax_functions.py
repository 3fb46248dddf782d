"""fad.jax: functions of JAX's arrays that fad differentiates, by pure_callback and custom_vjp."""
from collections.abc import Callable
from typing import Any

import numpy as np

from ...util.cached import cached_attribute
from ...util.errors import StructureError
from ...util.keywords import named_as_here
from ...util.lazy import optional
from .hosted import Hosted, HostFunction, check_arguments, is_moving


@named_as_here
def function(f: Callable) -> "JaxFunction":
    """
    Return `f` as a function of JAX's arrays, with fad's derivatives.

    Parameters
    ----------
    f : callable
        A function of NumPy arrays. It returns an array or a tuple of arrays. The shapes of its results follow from the
        shapes of its arguments.

    Returns
    -------
    JaxFunction
        A function of JAX's arrays of the same shapes, for use within `jax.jit`, `jax.grad` and `jax.vmap`. JAX
        differentiates through it in reverse mode, to every order.

    Raises
    ------
    ModuleNotFoundError
        If JAX is not installed.
    StructureError
        If an argument or the result is a dictionary or another structure. It is a `TypeError` and a `ValueError`.

    See Also
    --------
    fad.vjp : Compute a function and its pullback on NumPy arrays.

    Notes
    -----
    `jax.pure_callback` calls fad's kernels. `jax.vmap` calls them once for each example.

    JAX rounds arguments and results to single precision. Write ``jax.config.update("jax_enable_x64", True)`` at the top
    of the program for double precision.

    `custom_vjp` has no forward mode. Compute Hessians by ``jax.jacrev(jax.grad(f))``.

    Examples
    --------
    >>> import numpy as np
    >>> import jax                                             # doctest: +SKIP
    >>> import fad
    >>> def energy(x):
    ...     return np.sum(x ** 3)
    >>> jax.jit(jax.grad(fad.jax.function(energy)))(np.array([1.0, 2.0]))     # doctest: +SKIP
    Array([ 3., 12.], dtype=float32)
    """
    _jax()
    return JaxFunction(Hosted(f, "jax.function"))


class JaxFunction(HostFunction):
    """A function of JAX's arrays that runs compiled by fad."""

    def __call__(self, *args: object, **kwargs: object) -> Any:
        check_arguments(self.hosted.name, args, kwargs)
        arrays = [_jax("jax.numpy").asarray(x) for x in args]
        results = self._differentiable(*arrays)
        return results[0] if self._results(arrays).is_alone else tuple(results)

    @cached_attribute
    def _differentiable(self) -> Callable:
        """The tuple of results, with its rule."""
        run = _jax().custom_vjp(self._call_back)
        run.defvjp(lambda *args: (run(*args), args), self._pull_back)  # run: derivatives of the rule itself
        return run

    def _results(self, args: object) -> Any:
        return self.hosted.results(_models(args))

    def _call_back(self, *args: object) -> tuple:
        """The results, which JAX gets from NumPy as the program runs."""
        jax, models = _jax(), _models(args)
        own = [dtype for dtype, _ in self.hosted.results(models).types]
        dtypes, shapes = [jax.dtypes.canonicalize_dtype(dtype) for dtype in own], self.hosted.shapes(models)

        def compute(*args: object) -> tuple:
            found = self.hosted([np.asarray(x) for x in args])
            if tuple(y.shape for y in found) != shapes or [y.dtype for y in found] != own:
                raise StructureError("fad.jax.function got results whose shapes depend on the values of arguments, or "
                                     "other dtypes than before",
                                     do="return arrays whose shapes follow from the shapes of the arguments")
            return tuple([y.astype(dtype) for y, dtype in zip(found, dtypes)])
        told = tuple([jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in zip(shapes, dtypes)])
        return jax.pure_callback(compute, told, *args, vmap_method="sequential")

    def _pull_back(self, args: tuple, gs: tuple) -> tuple:
        """The cotangents of the arguments. JAX's are the conjugates of fad's."""
        moving = self._results(args).moving
        wanted = tuple([k for k, x in enumerate(args) if is_moving(x)])
        if not wanted or not moving:
            return (None,) * len(args)
        pulled = JaxFunction(self.hosted.pulled(len(args), wanted, moving))
        found = pulled(*args, *[gs[k].conj() for k in moving])
        by_place = dict(zip(wanted, [g.conj() for g in found]))
        return tuple([by_place.get(k) for k in range(len(args))])


def _models(args: Any) -> list:
    """Arrays like these arguments, which may be traced by JAX."""
    return [np.ones(x.shape, x.dtype) for x in args]


def _jax(module: str = "jax") -> Any:
    return optional(module, "fad.jax", "JAX", "jax")
