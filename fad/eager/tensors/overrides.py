"""The protocol `__torch_function__`: classes, subclasses of Tensor above all, that have a say in what functions of
their instances do.

Without one, results of functions of a subclass' instances are instances of it too. Nothing is looked at before the
first such class exists.
"""
import functools
from collections.abc import Callable
from typing import Any

from .state import changed, now
from .tensor import Tensor, alias, subclassed, way_of

overriding: "list[type]" = []                        # the subclasses of Tensor that take part
MISSING = object()


def handled(function: Callable, args: tuple, kwargs: dict) -> Any:
    """The answer of these arguments' classes to a function of them; MISSING if none has a say."""
    if not now().overridden:
        return MISSING
    given: list = []
    for x in (*args, *kwargs.values()):
        for one in x if type(x) in (list, tuple) else (x,):
            _refuse_pytorchs(one, function)
            if _has_say(type(one)) and type(one) not in map(type, given):
                # subclasses first
                at = next((k for k, other in enumerate(given) if isinstance(one, type(other))), len(given))
                given.insert(at, one)
    if not given:
        return MISSING
    types = [type(x) for x in given]
    for x in given:
        y = x.__torch_function__(function, types, args, kwargs)
        if y is not NotImplemented:
            return y
    raise TypeError(f"Multiple dispatch failed for 'torch.{function.__name__}'; all __torch_function__ handlers "
                    "returned NotImplemented:\n\n" + "\n".join(f"  - tensor subclass {cls}" for cls in types))


def _refuse_pytorchs(x: object, function: Callable) -> None:
    """Raise for a tensor of PyTorch's own, which knows nothing of those here."""
    cls = type(x)
    if hasattr(cls, "__torch_function__") and any(c.__module__ == "torch" for c in cls.__mro__):
        raise TypeError(f"{function.__name__}(): a tensor of PyTorch's and one of fad's do not go together: pass "
                        "fad.tensor(x.detach().numpy())")


def _has_say(cls: type) -> bool:
    return cls is not Tensor and getattr(cls, "__torch_function__", None) is not None


def overridable(f: Callable) -> Callable:
    """f, with a say for the classes of its arguments."""
    @functools.wraps(f)
    def call(*args: object, **kwargs: object) -> Any:
        if overriding or args and not isinstance(args[0], Tensor):
            y = handled(call, args, kwargs)
            if y is not MISSING:
                return y
        return f(*args, **kwargs)
    call.overridable = True
    return call


def torch_function(cls: type, func: Callable, types: object, args: tuple = (), kwargs: "dict | None" = None) -> Any:
    """func of these arguments, its results as instances of this class: what a subclass' own __torch_function__ calls
    by super().

    >>> class Named(Tensor):
    ...     pass
    >>> Named([1.0, 2.0]) * 3
    Named([3., 6.])
    """
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    kwargs = kwargs or {}
    for x in (*args, *kwargs.values()):
        _refuse_pytorchs(x, func)
    with changed(overridden=False):
        y = func(*args, **kwargs)
    return _converted(y, cls, (*args, *kwargs.values()))


def _converted(y: object, cls: type, given: tuple) -> Any:
    if isinstance(y, Tensor) and not isinstance(y, cls):
        if any(y is x for x in given):
            return as_subclass(y, cls)
        y = _read(y)
        y.__class__ = cls
    elif isinstance(y, (tuple, list)):
        parts = [_converted(part, cls, given) for part in y]
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    return y


def _read(y: Tensor) -> Tensor:
    """A tensor whose elements are those it stores: a lazy view, which has a class of its own, copied."""
    if way_of(y) is None:
        return y
    with changed(overridden=False):
        return y.resolve_conj().resolve_neg()


def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The tensor, sharing its memory and history, as an instance of a subclass."""
    with changed(overridden=False):
        y = _read(self.view_as(self))
    if y._fn is not None:
        y._fn.label = "AliasBackward0"
    y.__class__ = cls
    return y


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """An instance of a subclass with the memory of a tensor, outside the graph."""
    y = alias(data, cls)
    y._rg = bool(require_grad)
    return y


# -- subclasses --------------------------------------------------------------------------------------------------------

_OPERATORS = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and",
              "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
              "invert": "bitwise_not", "pos": "positive"}
_NAMES = "add sub mul truediv pow matmul floordiv mod and or xor lshift rshift lt le gt ge eq ne".split()
_SPECIAL = {f"__{name}__": _OPERATORS.get(name, name) for name in (*_NAMES, "neg", "abs", "invert", "pos")}
_SPECIAL.update({f"__r{name}__": _OPERATORS.get(name, name) for name in ("add", "mul", "and", "or", "xor")})
_SPECIAL.update({f"__i{name}__": f"{_OPERATORS.get(name, name)}_" for name in ("add", "sub", "mul", "truediv", "pow")})
_SPECIAL.update(dict.fromkeys(
    "__rsub__ __rtruediv__ __rpow__ __rmatmul__ __rfloordiv__ __rmod__ __getitem__ __setitem__ __array_ufunc__ "
    "__array_function__".split(), ""))
_PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data")
_PLAIN = frozenset(("extra", "as_subclass"))


@functools.cache
def _overriding_tensor() -> type:
    """The class between Tensor and those subclasses: its methods ask first."""
    members: dict = {"__slots__": (), "__doc__": Tensor.__doc__}
    for name, f in vars(Tensor).items():
        if name in _SPECIAL:
            members[name] = _asking(getattr(Tensor, _SPECIAL[name] or name), f, special=True)
        elif name in _PROPERTIES and isinstance(f, property):
            members[name] = property(_asking(f.__get__, f.fget), f.fset)
        elif not name.startswith("__") and callable(f) and name not in _PLAIN and not isinstance(f, type):
            members[name] = _asking(f, f)
    members["__hash__"] = Tensor.__hash__
    return type("OverridingTensor", (Tensor,), members)


def _asking(public: Callable, f: Callable, special: bool = False) -> Callable:
    def method(self: Tensor, *args: object, **kwargs: object) -> Any:
        try:
            y = handled(public, (self, *args), kwargs)
        except TypeError as error:
            if special and str(error).startswith("Multiple dispatch failed"):
                return NotImplemented
            raise
        return f(self, *args, **kwargs) if y is MISSING else y
    method.__name__, method.__doc__ = getattr(f, "__name__", ""), f.__doc__
    return method


def _enter(cls: type) -> None:
    if not _has_say(cls) or cls.__name__ == "OverridingTensor":
        return
    if Tensor in cls.__bases__:
        cls.__bases__ = tuple([_overriding_tensor() if base is Tensor else base for base in cls.__bases__])
    overriding.append(cls)


subclassed.append(_enter)
Tensor.__torch_function__ = classmethod(torch_function)
Tensor.as_subclass = as_subclass
Tensor._make_subclass = staticmethod(make_subclass)
