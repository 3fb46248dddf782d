"""debug_print in compiled code: text with numbers and arrays in it, written to Python's standard output in order.

    >>> debug_print("x = {}, k = {:03d}", np.ones(2), 7)
    x = [1. 1.], k = 007

Compiled code hands the places of its values to `shown`, in Python, which copies and formats them. A thread that Python
does not know (of Numba's prange) prints nothing: it must not wait for Python's lock.
"""
import ctypes

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np.numpy_support import as_dtype

from fad.kernels.gil import held_for_a_while, is_pythons_thread
from fad.kernels.promotion import compiled_as

__all__ = ["debug_print"]

DONE, FAILED = 0, 1


def debug_print(text, *values):
    """Print the text with the values in the place of its fields, as str.format puts them."""
    print(text.format(*[np.asarray(value)[()] for value in values]))


def shown(text, *words):
    """Print a text with values that compiled code holds: for each its dtype, its address, its extents and its strides,
    with their number before them.
    """
    values, k = [], 0
    while k < len(words):
        dtype, address, rank = np.dtype(words[k]), words[k + 1], words[k + 2]
        extents, strides = words[k + 3:k + 3 + rank], words[k + 3 + rank:k + 3 + 2 * rank]
        k += 3 + 2 * rank
        values.append(copied(dtype, address, extents, strides))
    debug_print(text, *values)


def copied(dtype, address, extents, strides):
    """A copy of an array at an address.

    >>> x = np.arange(6.0).reshape(2, 3)
    >>> copied(x.dtype, x.ctypes.data, (3, 2), (8, 24))
    array([[0., 3.],
           [1., 4.],
           [2., 5.]])
    """
    if 0 in extents:
        return np.empty(extents, dtype)
    size = dtype.itemsize
    for n, stride in zip(reversed(extents), reversed(strides)):
        if stride != size:
            break
        size *= n
    else:                                                     # in C order
        return np.frombuffer(bytearray(ctypes.string_at(address, size)), dtype).reshape(extents)
    first = address + sum((n - 1) * s for n, s in zip(extents, strides) if s < 0)
    size = sum((n - 1) * abs(s) for n, s in zip(extents, strides)) + dtype.itemsize
    memory = (ctypes.c_char * size).from_address(first)
    return np.ndarray(extents, dtype, memory, address - first, strides).copy()


def _rule(text, *values):
    if not isinstance(text, types.StringLiteral):
        return None
    given = [types.unliteral(t) for t in values]
    if not all(isinstance(t, (types.Number, types.Boolean, types.Array)) for t in given):
        return None
    return types.none, text, *given


def _emit(context, builder, sig, args):
    outcome = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(32), DONE))
    with builder.if_then(is_pythons_thread(builder)):
        places = [word for t, value in zip(sig.args[1:], args[1:]) for word in _place(context, builder, t, value)]
        held_for_a_while(builder, lambda: _call(context, builder, sig.args[0].literal_value, places, outcome))
    with builder.if_then(
        builder.icmp_signed("==", builder.load(outcome), ir.Constant(ir.IntType(32), FAILED)), likely=False
    ):
        context.call_conv.return_exc(builder)                # Ctrl-C, or standard output is closed
    return context.get_dummy_value()


def _place(context, builder, t, value):
    """The words that tell where a value is: text, or integers of the machine."""
    word = ir.IntType(64)
    if not isinstance(t, types.Array):
        place = cgutils.alloca_once_value(builder, context.get_value_as_data(builder, t, value)
                                          if isinstance(t, types.Boolean) else value)
        return [as_dtype(t).str, builder.ptrtoint(place, word), word(0)]
    array = context.make_array(t)(context, builder, value)
    return [as_dtype(t.dtype).str, builder.ptrtoint(array.data, word), word(t.ndim),
            *cgutils.unpack_tuple(builder, array.shape, t.ndim), *cgutils.unpack_tuple(builder, array.strides, t.ndim)]


def _call(context, builder, text, places, outcome):
    """Emit the call of `shown`; an error of it, or of its making, is the outcome."""
    def objects(python):
        return [_text(context, builder, python, part) if isinstance(part, str) else python.long_from_longlong(part)
                for part in (text, *places)]
    python_call(context, builder, (__name__, "shown"), objects, outcome)


def python_call(context, builder, named, objects, outcome, store=None):
    """Emit the call of a function of a module with Python objects, which objects(python) makes; store(python, answer)
    takes its answer. An error of the call is the outcome.
    """
    module_name, function = named
    python = context.get_python_api(builder)
    builder.store(ir.Constant(ir.IntType(32), FAILED), outcome)
    module = python.import_module(context.insert_const_string(builder.module, module_name))
    with builder.if_then(cgutils.is_not_null(builder, module)):
        made = objects(python)
        answer = python.call_method(module, function, made)
        with builder.if_then(cgutils.is_not_null(builder, answer)):
            if store is not None:
                store(python, answer)
            builder.store(ir.Constant(ir.IntType(32), DONE), outcome)
            python.decref(answer)
        for each in made:
            python.decref(each)
        python.decref(module)


def _text(context, builder, python, text):
    """A Python string."""
    kind = ir.FunctionType(python.pyobj, [python.cstring, python.py_ssize_t])
    make = cgutils.get_or_insert_function(builder.module, kind, "PyUnicode_FromStringAndSize")
    return builder.call(
        make, [context.insert_const_string(builder.module, text), python.py_ssize_t(len(text.encode()))]
    )


compiled_as(debug_print, _rule, _emit)
