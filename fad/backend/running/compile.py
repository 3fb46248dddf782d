"""Compilation: a Func to a kernel, its text to machine code, kept in memory and on disk.

Equal text is one kernel, whatever it was made from, as long as a program has it or it is among the last LAST that were
asked for. So a function that is made anew at each call is not compiled at each. When the last program of another kernel
goes, its machine code is freed.
"""
from collections import OrderedDict
from weakref import WeakValueDictionary

from ...util.config import config
from ..emission.emit import source as source
from ..emission.emit import source_for as source_for
from ..schedule.loop_ir import BackendError as BackendError
from . import cache
from .kernel import Kernel

LAST = 32                                                     # kernels that are kept although no program has them
_kernels: "WeakValueDictionary[str, Kernel]" = WeakValueDictionary()
_last: "OrderedDict[str, Kernel]" = OrderedDict()


def is_cached(text: str, name: str) -> bool:
    """Whether the kernel of a text was compiled before, by this process or another one."""
    return text in _kernels or cache.holds(text, name, config.cache_dir)


def kernel_of(text: str, name: str) -> Kernel:
    """The kernel of a text."""
    found = _kernels.get(text)
    if found is None:
        found = Kernel(text, name, cache.load(text, name, config.cache_dir))
        _kernels[text] = found
    _last[text] = found
    _last.move_to_end(text)
    if len(_last) > LAST:
        _last.popitem(last=False)
    return found
