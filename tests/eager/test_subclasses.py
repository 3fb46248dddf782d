"""Subclasses of Tensor: what is computed of their instances, and the protocol __torch_function__."""
import copy
import pickle

import numpy as np
import pytest

import fad

from .support import close


class Length(fad.Tensor):
    """Says nothing: results are of its class."""


class Metres(Length):
    def doubled(self):
        return self * 2


class Logged(fad.Tensor):
    log: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append((func.__name__, [t.__name__ for t in types]))
        return super().__torch_function__(func, types, args, kwargs)


class Unit(fad.Tensor):
    """Carries a property of its own through functions."""

    @staticmethod
    def __new__(cls, data, unit):
        self = fad.Tensor._make_subclass(cls, fad.as_tensor(data))
        self.unit = unit
        return self

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        y = super().__torch_function__(func, types, args, kwargs)
        if isinstance(y, cls):
            y.unit = next(x.unit for x in args if isinstance(x, cls))
        return y


class Refusing(fad.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Duck:
    """No tensor at all."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func.__name__, types


PLAIN = fad.ones(3)
OF_CLASS = {"operator": lambda x: x + 1, "swapped": lambda x: 2 - x, "tensor first": lambda x: PLAIN * x,
            "method": lambda x: x.exp(), "function": lambda x: fad.exp(x), "sum": lambda x: x.sum(),
            "index": lambda x: x[0], "view": lambda x: x.view(3, 1), "cat": lambda x: fad.cat([PLAIN, x]),
            "T": lambda x: x.T, "matmul": lambda x: x @ PLAIN, "compare": lambda x: x < 2,
            "in place": lambda x: x.clone().add_(1), "like": fad.zeros_like, "detach": lambda x: x.detach(),
            "relu": lambda x: fad.nn.functional.relu(x), "where": lambda x: fad.where(x > 1, x, PLAIN), "numpy": np.sin,
            "max": lambda x: x.max(0).values, "split": lambda x: x.split(1)[2], "data": lambda x: x.data,
            "iteration": lambda x: next(iter(x))}


@pytest.mark.parametrize("name", OF_CLASS)
def test_results_are_of_the_class(name):
    values = [1.0, 2.0, 3.0]
    for cls in (Length, Metres):
        y = OF_CLASS[name](cls(values))
        assert type(y) is cls
        close(y, OF_CLASS[name](fad.tensor(values)).numpy())


def test_the_more_special_class_wins():
    assert type(Length([1.0]) + Metres([1.0])) is type(Metres([1.0]) + Length([1.0])) is Metres
    assert type(Metres([1.0]).doubled()) is Metres


def test_gradients():
    x = Length([1.0, 2.0]).requires_grad_()
    y = (x * x).sum()
    y.backward()
    assert type(y) is Length and type(x.grad) is fad.Tensor and x.is_leaf
    close(x.grad, [2.0, 4.0])
    z = fad.ones(2, requires_grad=True)
    (z.as_subclass(Length) * 3).sum().backward()
    close(z.grad, [3.0, 3.0])


def test_copies_keep_the_class_and_text_shows_it():
    x = Metres([1.0, 2.0])
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(y) is Metres
    assert repr(x) == "Metres([1., 2.])"


def test_parameters_make_tensors():
    assert type(fad.nn.Parameter(PLAIN) * 2) is fad.Tensor
    assert fad.nn.Parameter.__torch_function__ is None


def test_the_protocol_is_asked():
    x, log = Logged([1.0, 2.0]), Logged.log
    for compute, name in ((lambda: x + 1, "add"), (lambda: fad.add(x, 1), "add"), (lambda: x.add(1), "add"),
                          (lambda: fad.stack([x, x]), "stack"),
                          (lambda: x[0], "__getitem__"),
                          (lambda: fad.nn.functional.relu(x), "relu"), (lambda: fad.sum(x, dim=0), "sum")):
        log.clear()
        assert type(compute()) is Logged
        assert log == [(name, ["Logged"])]
    assert Unit([1.0], "kg").mul(3).unit == "kg"


def test_who_has_nothing_to_say():
    with pytest.raises(TypeError, match="unsupported operand"):
        Refusing([1.0]) + 1
    with pytest.raises(TypeError,
                       match="Multiple dispatch failed for 'torch.exp'; all __torch_function__ handlers returned "
                             "NotImplemented"):
        fad.exp(Refusing([1.0]))
    with pytest.raises(TypeError, match="unsupported operand"):
        Logged([1.0]) + Length([1.0])


def test_objects_that_are_no_tensors():
    assert fad.exp(Duck()) == ("exp", [Duck])
    assert fad.ones(2) + Duck() == ("add", [Duck])
    assert fad.stack([fad.ones(2), Duck()]) == ("stack", [Duck])


def test_overridden_methods_may_ask_their_super():
    class Tenfold(fad.Tensor):
        def __add__(self, other):
            return super().__add__(other * 10)

    y = Tenfold([1.0]) + 1
    assert type(y) is Tenfold
    close(y, [11.0])


def test_lazy_views_are_read():
    z = Length(fad.tensor([1 + 2j, 3j]))
    for y, values in ((z.conj(), [1 - 2j, -3j]), (z.conj().imag, [-2.0, -3.0]),
                      (fad.tensor([1j]).conj().as_subclass(Length), [-1j])):
        assert type(y) is Length
        close(y * 1, values)


def test_pytorchs_own_tensors_are_refused():
    class Theirs:
        __module__ = "torch"

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **kwargs or {})
    x, y = fad.ones(3), Theirs()
    for call in (lambda: x + y, lambda: x.add(y), lambda: fad.maximum(x, y), lambda: fad.exp(y),
                 lambda: fad.cat([x, y]), lambda: fad.Tensor.__torch_function__(fad.add, (), (y, x))):
        with pytest.raises(TypeError, match=r"pass fad.tensor\(x.detach\(\).numpy\(\)\)"):
            call()
