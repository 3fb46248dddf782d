"""Results of many arrays: each is stored where it is returned, and made an object of Python from there.

As one value of LLVM, a tuple of n arrays costs O(n^2): every array that enters or leaves it is a step on all of it.
"""
import copy

from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, types
from numba.core.callwrapper import PyCallWrapper
from numba.core.datamodel import models
from numba.core.pythonapi import box
from numba.extending import register_model

from fad.kernels import running
from fad.kernels.variables import names_in

__all__ = ["add_wrapper", "is_large", "returned_tuples", "store"]

MANY = 8  # results that are a value of LLVM together


def is_large(kind):
    """Whether a function's result is stored item by item."""
    return isinstance(kind, (types.Tuple, types.UniTuple)) and len(kind) > MANY


def returned_tuples(blocks, defined, typeof, kind):
    """The names of variables that are only the function's result: a new tuple of this kind, which is returned."""
    readers = {}
    for block in blocks.values():
        for statement in block.body:
            if not isinstance(statement, ir.Del):
                for name in names_in(statement):
                    readers.setdefault(name, []).append(statement)
    found = set()
    for name, values in defined.items():
        if (
            len(values) == 1
            and isinstance(values[0], ir.Expr)
            and values[0].op == "build_tuple"
            and typeof(name) == kind
        ):
            found |= _until_returned(name, readers, defined, typeof, kind)
    return found


def _until_returned(name, readers, defined, typeof, kind):
    """The variables that a tuple goes through until it is returned; none if anything else happens to it."""
    names = {name}
    while len(readers.get(name, ())) == 1:
        reader = readers[name][0]
        if isinstance(reader, ir.Return):
            return names
        name = reader.target.name if isinstance(reader, ir.Assign) and getattr(reader.value, "op", "") == "cast" else ""
        if len(defined.get(name, ())) != 1 or typeof(name) != kind:
            break
        names.add(name)
    return set()


def store(context, builder, kind, k, item):
    """Store an item of the result."""
    place = cgutils.gep_inbounds(builder, context.call_conv._get_return_argument(builder.function), 0, k)
    is_data = isinstance(kind, types.Tuple)  # a tuple of one type keeps values, any other their form in memory
    builder.store(context.data_model_manager[kind[k]].as_data(builder, item) if is_data else item, place)


def add_wrapper(context, library, fndesc, env, call_helper, depth):
    """Add the function that Python calls, for a function with loops within loops up to this depth."""
    module = context.create_module("wrapper")
    callee = llvm_ir.Function(
        module, context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes), fndesc.llvm_func_name
    )
    if running.is_served(fndesc):
        running.emit_wrapper(context, module, callee, fndesc, depth)
    else:
        if is_large(fndesc.restype):
            fndesc = copy.copy(fndesc)
            fndesc.restype = _InMemory(fndesc.restype)
        PyCallWrapper(context, module, callee, fndesc, env, call_helper=call_helper, release_gil=True).build()
    library.add_ir_module(module)


class _InMemory(types.Type):
    """The type of a tuple that is known by where it lies."""

    def __init__(self, kind):
        self.kind = kind
        super().__init__(f"in memory: {kind}")


@register_model(_InMemory)
class _InMemoryModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        self.returned = manager[kind.kind].get_return_type()
        super().__init__(manager, kind, llvm_ir.PointerType(self.returned))

    def get_return_type(self):
        return self.returned

    def from_return(self, builder, value):
        builder.remove(value)                                # a load, by which it would be a value after all
        return value.operands[0]


@box(_InMemory)
def _boxed(kind, place, c):
    boxed = c.pyapi.tuple_new(len(kind.kind))
    for k, t in enumerate(kind.kind):
        item = c.builder.load(cgutils.gep_inbounds(c.builder, place, 0, k))
        if isinstance(kind.kind, types.Tuple):
            item = c.context.data_model_manager[t].from_data(c.builder, item)
        c.pyapi.tuple_setitem(boxed, k, c.box(t, item))
    return boxed
