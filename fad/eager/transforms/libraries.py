"""NumPy's functions on tensors, and namespaces of a library's functions that take tensors too, in PyTorch's terms (dim,
keepdim) where an argument is a tensor."""
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...ir.op import registry
from ...ops.override import BY_NAME, METHODS, find
from ...trace.runtime.namespaces import attribute_of
from ...trace.values.of_tensors import standing_for
from ...trace.values.protocol import qualified_name
from ...util import tree
from ...util.array import AnyArray, ArrayOrNumber, Axes
from ...util.errors import UnsupportedFunctionError
from ..functions.formulas import logit
from ..functions.linalg import of_matrices
from ..functions.reductions import log_softmax, logsumexp, softmax
from ..functions.registry import delivered, in_precision
from ..graph.inplace import in_place
from ..graph.single_node import own_copy, together
from ..tensors.errors import override
from ..tensors.tensor import Tensor, raw, wrap


def _any_gradient(args: tuple) -> bool:
    return any(isinstance(a, Tensor) and a.requires_grad for a in args)


def array_ufunc(self: Tensor, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> Any:
    found = find(ufunc)
    if found is None:
        return _constant(lambda *arrays, **options: getattr(ufunc, method)(*arrays, **options), inputs, kwargs, ufunc)
    if method != "__call__":
        return METHODS[f"ufunc.{method}"](ufunc, *inputs, **kwargs)
    out, where = kwargs.pop("out", None), kwargs.pop("where", True)
    result = found.call(*inputs) if not kwargs else METHODS["ufunc.call"](ufunc, found.call, inputs, **kwargs)
    outs = out if isinstance(out, tuple) else (out,) * ufunc.nout
    results = result if isinstance(result, tuple) else (result,)
    given = tuple([_masked(y, where, 0) if o is None else _into(o, y, where) for o, y in zip(outs, results)])
    return given if isinstance(result, tuple) else given[0]


def _masked(y: Tensor, where: object, old: ArrayOrNumber) -> Tensor:
    """y where the mask holds, what there was elsewhere."""
    return y if where is True else registry["where"](np.asarray(raw(where)), y, old)


def _into(out: Any, result: AnyArray, where: object) -> Tensor:
    """The call ufunc(..., out=out, where=where) of a tensor: it is changed in place; an ndarray takes the values."""
    if isinstance(out, Tensor):
        return in_place(out, lambda old, new: _masked(new, where, old), result)
    np.copyto(out, raw(result.detach() if isinstance(result, Tensor) else result), where=np.asarray(raw(where)))
    return out


def array_function(self: Tensor, function: object, types: tuple, args: tuple, kwargs: dict) -> Tensor:
    found = find(function)
    if found is not None:
        return found.call(*args, **kwargs)
    return _constant(function, args, kwargs, function)


def _constant(call: object, args: tuple, kwargs: dict, function: object) -> Any:
    """A function without an override: on tensors without a history it is NumPy's; on others it is an error."""
    if _any_gradient(args) or _any_gradient(tuple(kwargs.values())):
        raise UnsupportedFunctionError(f"{qualified_name(function)} is not supported on tensors that require gradients",
                                       why="fad has no record of it",
                                       do="see the table of functions in the documentation, or give it a rule with "
                                          "autograd.Function")
    result = call(*[_bare(a) for a in args], **{key: _bare(a) for key, a in kwargs.items()})
    return _wrapped(result)


def _bare(a: object) -> Any:
    if isinstance(a, (list, tuple)):
        return type(a)([_bare(x) for x in a])
    return raw(a)


def _wrapped(result: object) -> Any:
    if isinstance(result, (np.ndarray, np.generic)):
        return wrap(np.asarray(result))
    return tuple([_wrapped(r) for r in result]) if isinstance(result, (tuple, list)) else result


Tensor.__array_ufunc__ = array_ufunc
Tensor.__array_function__ = array_function


_DIMS = {"dim": "axis", "keepdim": "keepdims"}


def for_tensors(library: str, own: Mapping[str, Callable]) -> "tuple[Callable, Callable]":
    """__getattr__ and __dir__ of a namespace: the library's functions, which take tensors with PyTorch's names of
    options too; own: what differs in more."""
    get, names = attribute_of(library)
    made: dict[str, Any] = {}

    def attribute(name: str) -> Any:
        if name not in made:
            made[name] = _both(own.get(name), get, f"{library}.{name}")
        return made[name]
    return attribute, lambda: sorted({*names(), *own})


def _both(own: "Callable | None", get: Callable, path: str) -> Any:
    """The library's function, which of tensors is `own` if there is one; what the library lacks is `own` of all."""
    name = path.rpartition(".")[2]
    try:
        library: Any = get(name)
    except AttributeError:
        if own is None:
            raise
        library = None
    if isinstance(own, type) or own is None and (isinstance(library, type) or not callable(library)):
        return own or library

    def call(*args: object, **kwargs: object) -> Any:
        if library is not None and not _means_tensors(own is not None, args, kwargs):
            return library(*args, **kwargs)
        out = kwargs.pop("out", None)
        record = BY_NAME.get(path)
        f = own or (library if record is None else record.call)
        y = _as_step(path, f, args, kwargs if own else {_DIMS.get(key, key): value for key, value in kwargs.items()})
        # what does not hang on the tensors' values, as a matrix' power 0
        return delivered(wrap(y) if isinstance(y, np.ndarray) and not own else y, out, name)
    call.__name__, call.__qualname__, call.__doc__ = name, name, (library or own).__doc__
    return of_matrices(name, call) if path.startswith("numpy.linalg.") else call


def _means_tensors(is_own: bool, args: tuple, kwargs: dict) -> bool:
    """Whether a call is of tensors; in a function that is called on tensors, a traced value stands for one."""
    traced = any(getattr(a, "__fad_level__", 0) > 1 for a in args)
    first = args[0] if args and isinstance(args[0], (tuple, list)) else ()
    return (is_own and traced and standing_for.get() is not None
            or any(isinstance(a, Tensor) for a in (*first, *args, *kwargs.values())))


class _Step(NamedTuple):
    """A function that is one step of the graph: what its nodes are called, under which names they show the arguments
    and the results that they save, and whether the rules get copies of the arguments, which PyTorch does not save."""

    label: str
    arguments: str = ""
    results: str = ""
    copies: bool = False


_SOLVED = _Step("LinalgSolveExBackward0", "A", "result")
_INVERSE = _Step("LinalgInvExBackward0", results="inverse")
_CHOLESKY = _Step("LinalgCholeskyExBackward0", results="L")
_STEPS = {"svdvals": _Step("LinalgSvdBackward0", results="S", copies=True),
          "eigvals": _Step("LinalgEigBackward0", results="eigenvalues", copies=True),
          "eigvalsh": _Step("LinalgEighBackward0", results="eigenvalues", copies=True),
          "ndtr": _Step("NdtrBackward0", copies=True),
          "solve": _SOLVED, "solve_ex": _SOLVED,
          "solve_triangular": _Step("LinalgSolveTriangularBackward0", "self", "result"),
          "cholesky": _CHOLESKY, "cholesky_ex": _CHOLESKY, "inv": _INVERSE, "inv_ex": _INVERSE,
          "eig": _Step("LinalgEigBackward0", results="eigenvalues eigenvectors"),
          "lstsq": _Step("LinalgLstsqBackward0", "self b", "solution"),
          "fftshift": _Step("RollBackward0"), "ifftshift": _Step("RollBackward0")}
_REAL = "rfft rfft2 rfftn ihfft ihfft2 ihfftn".split()
_TO_REAL = "irfft irfft2 irfftn hfft hfft2 hfftn".split()


def _step_of(path: str, args: tuple, kwargs: dict) -> "_Step | None":
    sized = len(args) > 1 or not {"n", "s"}.isdisjoint(kwargs)
    library, _, name = path.rpartition(".")
    if name in _STEPS or library not in ("numpy.fft", "scipy.fft") or not args or not isinstance(args[0], Tensor):
        return _STEPS.get(name)
    if name in _REAL or name in ("fft", "ifft") and args[0]._a.dtype.kind != "c":
        return _Step("FftR2CBackward0", "" if sized else "self")          # of another size, a copy is transformed
    return _Step("FftC2RBackward0" if name in _TO_REAL else "FftC2CBackward0")


def _as_step(path: str, f: Callable, args: tuple, kwargs: dict) -> Any:
    """The call of a function, as the one step that it is for PyTorch."""
    step = _step_of(path, args, kwargs)
    tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
    if step is not None and step.copies:
        args, kwargs = tuple(map(own_copy, args)), {name: own_copy(a) for name, a in kwargs.items()}
    given = tree.flatten((args, kwargs))[0]
    y = tree.map_leaves(lambda one: in_precision(one, given) if isinstance(one, Tensor) else one, f(*args, **kwargs))
    if step is not None:
        ys = y if isinstance(y, tuple) else (y,)
        together(ys, step.label, tensors, dict([*zip(step.arguments.split(), tensors), *zip(step.results.split(), ys)]))
    return y


# -- what differs in more than the names of options, of fft and special ------------------------------------------------


def _several(name: str, library: str) -> Callable:
    def call(input: AnyArray, s: object = None, dim: Axes = None, norm: "str | None" = None) -> AnyArray:
        axes = {} if dim is None else {"axes": tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)}
        return override(f"{library}.fft.{name}", input, (s,) if isinstance(s, int) else s, norm=norm, **axes)
    return call


FFT: dict[str, Callable] = {
    **{name: _several(name, "numpy")
       for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")},
    **{name: _several(name, "scipy") for name in ("hfft2", "hfftn", "ihfft2", "ihfftn")},
    "fftshift": lambda input, dim=None: override("numpy.fft.fftshift", input, dim),
    "ifftshift": lambda input, dim=None: override("numpy.fft.ifftshift", input, dim)}
SPECIAL: dict[str, Callable] = {"softmax": softmax, "log_softmax": log_softmax, "logsumexp": logsumexp, "logit": logit}
