"""Weights divided by a norm: weight normalisation (Salimans & Kingma, 2016) and spectral normalisation (Miyato et al., 2018)."""
from typing import Any

from ..generators import source
from ..state import changed
from ..tensor import Tensor, wrap
from .layers import _ConvTranspose
from .module import Module, Parameter
from .normalising import normalize
from .parametrize import register_parametrization


def norm_except_dim(v: Any, pow: float = 2, dim: "int | None" = 0) -> Any:
    """The norms of the parts of v along a dimension (None or -1: of all of v), in a shape that broadcasts against v."""
    if dim is None or dim == -1:
        return v.norm(pow)
    return v.norm(pow, [k for k in range(len(v.shape)) if k != dim], True)


class _WeightNorm(Module):
    """g v / |v|."""

    def __init__(self, dim: "int | None" = 0):
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Any) -> tuple:
        """(|weight|, weight)."""
        return norm_except_dim(weight, 2, self.dim), weight


def parametrized_weight_norm(module: Module, name: str = "weight", dim: "int | None" = 0) -> Module:
    """The weight becomes a learned size times a learned direction: parametrizations.<name>.original0 and original1."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def as_of_old(module: Module, state: dict, prefix: str, *_: Any) -> None:
        for k, way in enumerate("gv"):
            if f"{prefix}{name}_{way}" in state:
                state[f"{prefix}parametrizations.{name}.original{k}"] = state.pop(f"{prefix}{name}_{way}")
    module.register_load_state_dict_pre_hook(as_of_old)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iterations follow while training."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        n = weight._a.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps, self.n_power_iterations = dim % n, eps, n_power_iterations
        if n > 1:
            rows, columns = self._matrix(weight)._a.shape
            for name, size in (("_u", rows), ("_v", columns)):
                drawn = wrap(source(None).standard_normal(size).astype(weight._a.dtype))
                self.register_buffer(name, normalize(drawn, dim=0, eps=eps))
            self._follow(self._matrix(weight), 15)

    def _matrix(self, weight: Any) -> Any:
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def _follow(self, matrix: Any, times: int) -> None:
        """Power iterations, in place."""
        with changed(grad=False):
            for _ in range(times):
                self._u.copy_(normalize(matrix @ self._v, dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.mT @ self._u, dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if len(weight.shape) == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._follow(matrix, self.n_power_iterations)
        return weight / (self._u.clone() @ (matrix @ self._v.clone()))

    def right_inverse(self, value: Any) -> Any:
        """The value itself, as if its norm were 1."""
        return value


def parametrized_spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: "int | None" = None) -> Module:
    """The weight becomes a learned one, divided by its largest singular value."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, _of_outputs(module, dim), eps))


def _of_outputs(module: Module, dim: "int | None") -> int:
    """The dimension of a weight that is that of the outputs."""
    return dim if dim is not None else 1 if isinstance(module, _ConvTranspose) else 0


# -- as they were of old: by a hook before forward ------------------------------------------------------------------------------------------


_KINDS = {_WeightNorm: "weight_norm", _SpectralNorm: "spectral_norm"}


class _Computed:
    """A hook that sets a module's tensor before each forward; the parameters that it is computed of stand beside it."""

    def __init__(self, name: str, parts: Module, names: tuple):
        self.name, self.parts, self.names = name, parts, names

    def value(self, module: Any) -> Any:
        """The tensor."""
        self.parts.train(module.training)
        return self.parts(*[getattr(module, n) for n in self.names])

    def __call__(self, module: Any, args: Any) -> None:
        setattr(module, self.name, self.value(module))


def _compute(module: Any, hook: _Computed, values: tuple) -> Module:
    if any(isinstance(other, _Computed) and other.name == hook.name for other in module._forward_pre_hooks.values()):
        raise RuntimeError(f"Cannot register two {_KINDS[type(hook.parts)]} hooks on the same parameter {hook.name}")
    delattr(module, hook.name)
    for name, value in zip(hook.names, values):
        module.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value.detach()))
    with changed(grad=False):
        setattr(module, hook.name, wrap(hook.value(module)._a))
    module.register_forward_pre_hook(hook)
    return module


def weight_norm(module: Any, name: str = "weight", dim: "int | None" = 0) -> Module:
    """The weight is computed before each forward as <name>_g <name>_v / |<name>_v|, both learned; see also parametrizations.weight_norm."""
    weight, parts = getattr(module, name), _WeightNorm(dim)
    with changed(grad=False):
        values = parts.right_inverse(weight)
    return _compute(module, _Computed(name, parts, (f"{name}_g", f"{name}_v")), values)


def spectral_norm(module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: "int | None" = None) -> Module:
    """The weight is computed before each forward as <name>_orig, divided by its largest singular value; see also parametrizations.spectral_norm."""
    weight = getattr(module, name)
    parts = _SpectralNorm(weight, n_power_iterations, _of_outputs(module, dim), eps)
    _compute(module, _Computed(name, parts, (f"{name}_orig",)), (weight,))
    for way in ("u", "v"):
        module.register_buffer(f"{name}_{way}", getattr(parts, f"_{way}"))
    return module


def _remove(module: Any, name: str, kind: type) -> Module:
    for k, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, _Computed) and hook.name == name and isinstance(hook.parts, kind):
            with changed(grad=False):
                value = hook.value(module)
            delattr(module, name)
            for part in (*hook.names, *([f"{name}_u", f"{name}_v"] if kind is _SpectralNorm else [])):
                delattr(module, part)
            module.register_parameter(name, Parameter(value.detach()))
            del module._forward_pre_hooks[k]
            return module
    raise ValueError(f"{_KINDS[kind]} of '{name}' not found in {module}")


def remove_weight_norm(module: Any, name: str = "weight") -> Module:
    """The weight a parameter again, with the values that it has."""
    return _remove(module, name, _WeightNorm)


def remove_spectral_norm(module: Any, name: str = "weight") -> Module:
    """The weight a parameter again, with the values that it has."""
    return _remove(module, name, _SpectralNorm)

