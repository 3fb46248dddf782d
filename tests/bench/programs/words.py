"""One text in several libraries: a function with `np` meaning another library's namespace."""
import types


def retold(f, namespace, wrap=lambda f: f):
    """The function, and those of its module that it calls, with `np` meaning another namespace; those that it calls are
    wrapped."""
    scope = dict(f.__globals__, np=namespace)
    for name in f.__code__.co_names:
        value = scope.get(name)
        if isinstance(value, types.FunctionType) and value.__module__ == f.__module__:
            scope[name] = wrap(retold(value, namespace, wrap))
    return types.FunctionType(f.__code__, scope, f.__name__, f.__defaults__, f.__closure__)


class TorchNamespace:
    """PyTorch's module, with NumPy's words where they differ."""

    def __init__(self, torch):
        self.torch = torch

    def __getattr__(self, name):
        return getattr(self.torch, name)

    def max(self, x, axis=None, keepdims=False):
        return self.torch.max(x) if axis is None else self.torch.amax(x, dim=axis, keepdim=keepdims)

    def min(self, x, axis):
        return self.torch.amin(x, dim=axis)

    def maximum(self, x, least):
        return self.torch.clamp(x, min=least)

    def cross(self, a, b):
        return self.torch.linalg.cross(a, b)


def namespace(library):
    """A library's names of NumPy, from its module."""
    return TorchNamespace(library) if library.__name__ == "torch" else library.numpy
