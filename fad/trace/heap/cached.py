"""Calls of functions with a cache (functools.lru_cache, functools.cache), which remember their results from call to
call.
"""
import functools
import operator
from typing import Any

from ...ir import stack
from ...ir.build import current
from ...util.errors import ConcreteValueError, UnstageableError
from ..guards.guard import ReadGuard
from ..objects.draws import common_generators
from ..objects.originals import original_of
from ..values.tracer import Tracer
from .journal import journal, note
from .opaque import note_reach
from .operands import holds_traced


def cached(runtime: Any, f: functools._lru_cache_wrapper, *args: Any, **kwargs: Any) -> Any:
    """f(*args): its cache is for plain values, sizes among them; of what is traced, the function itself is called.

    A traced value must not get into a cache that outlives the trace.
    """
    if not stack.builders() or (stack.is_live() and not holds_traced((args, kwargs))):
        return f(*map(original_of, args), **{k: original_of(x) for k, x in kwargs.items()})
    if stack.is_live():
        return runtime.call(f.__wrapped__)(*args, **kwargs)
    plain, by_name = list(map(_number, args)), {k: _number(x) for k, x in kwargs.items()}
    if any(isinstance(x, Tracer) for x in (*plain, *by_name.values())):
        return runtime.call(f.__wrapped__)(*args, **kwargs)
    if runtime.is_captured(f.__wrapped__):                    # made by the traced code, as its cache is
        return f(*plain, **by_name)
    if f.cache_parameters()["maxsize"] == 0:                  # it keeps nothing
        return runtime.call(f.__wrapped__)(*args, **kwargs)
    result = _known(f, plain, by_name)
    # who clears the cache has it computed anew
    current().trace.sources.append(ReadGuard(lambda: f(*plain, **by_name), result))
    return runtime.capture.swap(result)


def _known(f: functools._lru_cache_wrapper, args: list, kwargs: dict) -> Any:
    """f(*args, **kwargs). An error if that is not in the cache yet and draws random numbers: it is then as if it had
    not been called.
    """
    before, book = f.cache_info(), journal()
    mark = book.begin()
    try:
        note(*common_generators())
        note_reach([f.__wrapped__])
        with stack.concrete():
            result = f(*args, **kwargs)
        is_drawn = f.cache_info().misses > before.misses and mark.has_drawn
        if is_drawn:
            mark.undo()
    finally:
        book.end(mark)
    if is_drawn:
        if not before.currsize:                               # one entry alone cannot be taken out
            f.cache_clear()
        raise UnstageableError(f"{f.__name__}, whose results are kept, draws random numbers",
                               why="it does so at the first call only", do="call it before, outside the function")
    return result


def _number(x: object) -> Any:
    """A traced int that is a size as the number it is, for which the program then is; anything else as it is, and a
    class that captured code sees as the class itself.
    """
    if not isinstance(x, Tracer) or x.ndim or x.dtype.kind != "i":
        return original_of(x)
    try:
        return operator.index(x)
    except ConcreteValueError:
        return x
