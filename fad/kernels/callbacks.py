"""Calls of Python functions from compiled code: a solver of SciPy's in the middle of a kernel.

A kernel is given a number, which stands for the functions of its program in this process. So its code holds no address,
equal programs share it, and it may be kept on disk.

    >>> double = Callbacks([Callback(lambda x: 2.0 * x, ((np.dtype(float), 1, False),))])
    >>> call_python(0, double.number, np.ones(2))
    array([2., 2.])

Compiled code takes Python's lock for the call (gil.py). An error of the function goes on to the kernel's caller. A
thread that Python does not know (of Numba's prange) gets an error: it must not wait for the lock.
"""
import itertools
import traceback
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from fad.kernels.error_paths import let_go
from fad.kernels.gil import held, is_pythons_thread
from fad.kernels.memory import made
from fad.kernels.printing import copied, python_call
from fad.kernels.promotion import compiled_as

__all__ = ["call_python", "tell_python"]

DONE, FAILED, FOREIGN = 0, 1, 2
CODE, WORD = ir.IntType(32), ir.IntType(64)
TELLS = "compiled code calls a Python function in a thread that is none of Python's (prange): call it in another one"
_numbers = itertools.count(1)
_known: "weakref.WeakValueDictionary[int, Callbacks]" = weakref.WeakValueDictionary()


class Callback(NamedTuple):
    """A Python function, and (dtype, rank, whether it is Python's own number) of each of its arguments.

    The result has the dtype and the shape of the first argument.
    """

    function: Callable
    kinds: tuple


class Callbacks:
    """The functions that a program calls, in order. Compiled code knows them by their number, as long as they live."""

    def __init__(self, functions: Any):
        self.functions, self.number = tuple(functions), np.int64(next(_numbers))
        _known[int(self.number)] = self

    @staticmethod
    def raised(error):
        """Whether an error that a kernel has handed on comes from a function that it called."""
        frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
        return answered.__code__ in frames or told.__code__ in frames


def call_python(place, number, *values):
    """Call the function at this place of those that the number stands for."""
    return _function(place, number).function(*values)


def tell_python(place, number, *values):
    """The same of a function that says something and has no result."""
    _function(place, number).function(*values)


def _function(place, number):
    known = _known.get(int(number))
    if known is None:
        raise RuntimeError("compiled code calls a Python function of a program that is no more: keep the function that "
                           "fad returned")
    return known.functions[place]


def answered(place, number, *words):
    """The result of a call by compiled code, as an array in C order or as Python's number.

    A number is one of the words, an array is several: its address, extents and strides.
    """
    function, kinds = _function(place, number)
    result = function(*_values(kinds, words))
    if type(result) is float:
        return result
    return np.ascontiguousarray(result) if kinds[0][1] else result.item()


def told(place, number, *words):
    """A call by compiled code that has no result."""
    function, kinds = _function(place, number)
    function(*_values(kinds, words))


def _values(kinds, words):
    """The arguments that words of compiled code tell."""
    values, k = [], 0
    for dtype, rank, is_pythons in kinds:
        if rank:
            extents, strides = words[k + 1:k + 1 + rank], words[k + 1 + rank:k + 1 + 2 * rank]
            values.append(copied(dtype, words[k], extents, strides))
        else:
            values.append(words[k] if is_pythons else dtype.type(words[k]))
        k += 1 + 2 * rank
    return values


def _rule(place, number, *values):
    given = [types.unliteral(t) for t in values]
    if not given or not all(isinstance(t, (types.Number, types.Boolean, types.Array)) for t in given):
        return None
    model = given[0]
    result = types.Array(model.dtype, model.ndim, "C") if isinstance(model, types.Array) else model
    return result, types.int64, types.int64, *given


def _telling_rule(place, number, *values):
    given = [types.unliteral(t) for t in values]
    if not all(isinstance(t, (types.Number, types.Boolean, types.Array)) for t in given):
        return None
    return types.none, types.int64, types.int64, *given


def _emit(context, builder, sig, args):
    kind, outcome = sig.return_type, cgutils.alloca_once(builder, CODE)
    is_array = isinstance(kind, types.Array)
    if is_array:
        model = context.make_array(sig.args[2])(context, builder, args[2])
        result = made(context, builder, kind, cgutils.unpack_tuple(builder, model.shape))
    else:
        result = cgutils.alloca_once(builder, context.get_value_type(kind))
    builder.store(CODE(FOREIGN), outcome)
    with builder.if_then(is_pythons_thread(builder)):
        held(builder, lambda: _call(context, builder, sig, args, result, outcome))

    def let_go_of_result():
        if is_array:
            context.nrt.decref(builder, kind, result)
    _raise_unless_done(context, builder, outcome, let_go_of_result)
    return result if is_array else builder.load(result)


def _emit_telling(context, builder, sig, args):
    outcome = cgutils.alloca_once(builder, CODE)
    builder.store(CODE(FOREIGN), outcome)
    with builder.if_then(is_pythons_thread(builder)):
        held(builder, lambda: _call(context, builder, sig, args, None, outcome))
    _raise_unless_done(context, builder, outcome, lambda: None)
    return context.get_dummy_value()


def _raise_unless_done(context, builder, outcome, let_go_of_result):
    """Emit the kernel's error where the call has failed."""
    found = builder.load(outcome)
    with builder.if_then(builder.icmp_signed("!=", found, CODE(DONE)), likely=False):
        let_go_of_result()
        let_go(context, builder)
        with builder.if_then(builder.icmp_signed("==", found, CODE(FAILED))):
            context.call_conv.return_exc(builder)
        context.call_conv.return_user_exc(builder, RuntimeError, (TELLS,))


def _call(context, builder, sig, args, result, outcome):
    """Emit the call of `answered`, whose result is stored, or of `told`; an error is the outcome."""
    def objects(python):
        return [each for t, value in zip(sig.args, args) for each in _objects(context, builder, python, t, value)]

    def store(python, answer):
        _store(context, builder, python, sig.return_type, answer, result)
    if result is None:
        python_call(context, builder, (__name__, "told"), objects, outcome)
    else:
        python_call(context, builder, (__name__, "answered"), objects, outcome, store)


def _objects(context, builder, python, t, value):
    """The Python objects that tell a value: a number, or an array's address, extents and strides."""
    if not isinstance(t, types.Array):
        return [python.from_native_value(t, value)]
    array = context.make_array(t)(context, builder, value)
    words = [builder.ptrtoint(array.data, WORD), *cgutils.unpack_tuple(builder, array.shape, t.ndim),
             *cgutils.unpack_tuple(builder, array.strides, t.ndim)]
    return [python.long_from_longlong(word) for word in words]


def _store(context, builder, python, kind, answer, result):
    """Emit the copy of what Python answered."""
    if not isinstance(kind, types.Array):
        builder.store(python.to_native_value(kind, answer).value, result)
        return
    place = context.data_model_manager[kind].get_field_position
    data, count, size = (builder.extract_value(result, place(name)) for name in ("data", "nitems", "itemsize"))
    field = builder.gep(builder.bitcast(answer, cgutils.voidptr_t), [WORD(object.__basicsize__)])
    # PyArrayObject_fields in numpy/ndarraytypes.h
    source = builder.load(builder.bitcast(field, data.type.as_pointer()))
    cgutils.raw_memcpy(builder, data, source, count, size)


compiled_as(call_python, _rule, _emit)
compiled_as(tell_python, _telling_rule, _emit_telling)
