"""The part of Numba that kernels need: implementations of numbers, arrays, tuples and functions of them.

Before it compiles anything, Numba imports all that it can compile: lists and dicts of one type, classes, random draws.
That takes longer than a small kernel, which has none of it. So kernels are compiled without. A function that does need
more is compiled a second time, with all of it. Functions that others compile find Numba as it is.
"""
import contextlib
import functools
import importlib
import sys

from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

__all__ = ["for_kernels", "has_all", "load_all"]

IMPORTED = (
    "core.inline_closurecall", "core.optional", "cpython.builtins", "cpython.charseq", "cpython.enumimpl",
    "cpython.hashing", "cpython.heapq", "cpython.iterators", "cpython.listobj", "cpython.numbers", "cpython.rangeobj",
    "cpython.slicing", "cpython.tupleobj", "cpython.unicode", "misc.literal", "np.arrayobj", "np.unsafe.ndarray",
)
WITH_REGISTRY = "cpython.cmathimpl", "cpython.mathimpl", "cpython.printimpl", "np.npyimpl"
LAST = "numba.experimental.jitclass.base"                    # its registry is the last one that Numba installs
_blocks: list = []                                           # those of for_kernels; Numba's lock is held in each


@contextlib.contextmanager
def for_kernels():
    """Within the block, Numba's target loads what kernels need. Yields whether no other such block is around."""
    target = cpu_target.target_context
    _blocks.append(target)
    vars(target).setdefault("load_additional_registries", _load)
    try:
        _set_up()
        yield len(_blocks) == 1
    finally:
        _blocks.pop()
        if not _blocks:
            vars(target).pop("load_additional_registries", None)


def has_all():
    """Whether Numba has loaded all that it can compile."""
    last = sys.modules.get(LAST)
    return last is not None and last.ClassBuilder.class_impl_registry in cpu_target.target_context._registries


def load_all():
    """Have Numba load all that it can compile."""
    _fill()


def _load():
    """Load what kernels need; all, where Numba has it already, or the target was copied and kept from such a block."""
    target = cpu_target.target_context
    if not _blocks or has_all():
        type(target).load_additional_registries(target)
        return
    rtsys.initialize(target)
    for name in IMPORTED:
        importlib.import_module(f"numba.{name}")
    for name in WITH_REGISTRY:
        target.install_registry(importlib.import_module(f"numba.{name}").registry)


@functools.cache
def _set_up():
    _import_arrays()
    _fill()


def _fill():
    """Fill Numba's contexts. Its templates of methods and attributes, as they are made, each have the target filled
    again: two hundred times.
    """
    target = cpu_target.target_context
    target.load_additional_registries()
    target.install_registry(builtin_registry)
    vars(target)["refresh"] = lambda: None
    try:
        cpu_target.typing_context.refresh()
    finally:
        del vars(target)["refresh"]


def _import_arrays():
    """Import Numba's functions of arrays, without scipy.linalg (0.1 s): they bring it only to see that it is there."""
    linalg = importlib.import_module("numba.np.linalg")
    ensured, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensured
