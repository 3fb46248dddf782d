"""Modules called with other parameters than their own: functional_call."""
from collections.abc import Iterator
from contextlib import contextmanager

from ...util.array import AnyArray
from .module import Module


@contextmanager
def swapped_parameters(module: Module, values: dict) -> Iterator[None]:
    """Within, parameters and buffers of these names are other values."""
    before = []
    try:
        for path, value in values.items():
            owner, _, name = path.rpartition(".")
            target = module.get_submodule(owner)
            table = target._parameters if name in target._parameters else target._buffers
            before.append((table, name, table[name]))
            table[name] = value
        yield
    finally:
        for table, name, value in reversed(before):
            table[name] = value


def functional_call(module: Module, parameters_and_buffers: object, args: object = (),
                    kwargs: "dict | None" = None) -> AnyArray:
    """module(*args, **kwargs) with other values for the parameters and buffers named: tensors, arrays or traced values.

    So a whole training step can be compiled:

    >>> import numpy as np, fad
    >>> layer = fad.nn.Linear(2, 1, bias=False)
    >>> f = fad.jit(lambda p, x: fad.nn.functional_call(layer, p, (x,)))
    >>> f({"weight": np.ones((1, 2))}, np.ones((3, 2))).shape
    (3, 1)
    """
    given: dict = {}
    for part in (
        parameters_and_buffers if isinstance(parameters_and_buffers, (tuple, list)) else (parameters_and_buffers,)
    ):
        given.update(part)
    with swapped_parameters(module, given):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
