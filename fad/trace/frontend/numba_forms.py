"""The plain Python that things of Numba's stand for: fad captures it, and compiles it by itself."""
import functools
import re
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from ...routines.numba_forms import (
    Layout,
    empty_dict,
    empty_list,
    field,
    over_elements,
    over_loop_axes,
    over_points,
)
from ...util.where import module_name, package_name

OfNumba = Any                                                # an object of Numba's, which has no types

NUMBERS = {np.dtype(code).name: np.dtype(code).type for code in "?bhilBHILfdFD"} | {"boolean": np.bool_}
TYPED: dict = {"numba.typed.typedlist": (list, {"empty_list": empty_list}),
               "numba.typed.typeddict": (dict, {"empty": empty_dict})}


def is_compiled(f: object) -> bool:
    """Whether f is a function that Numba compiled."""
    return package_name(type(f)) == "numba" and hasattr(f, "py_func")


def function_of_numba(f: OfNumba) -> OfNumba:
    """The plain Python for a function by numba.vectorize, guvectorize or stencil; None for everything else."""
    make = _maker(f)
    return None if make is None else make(f)


def _maker(f: object) -> "Callable | None":
    return _MAKERS.get(type(f).__name__) if package_name(type(f)) == "numba" else None


def is_of_numba(f: object) -> bool:
    """Whether f is a function that Numba compiled, or one by a decorator of Numba's."""
    return is_compiled(f) or _maker(f) is not None


def plain_form(f: OfNumba) -> OfNumba:
    """The thing that captured code calls in place of f: Python's list and dict for Numba's typed ones, a plain class
    for a jitclass, and the function of a method of a jitclass's object. f itself, if it is nothing of that kind.
    """
    owner = f.__self__ if type(f) is MethodType else f
    if isinstance(owner, type):
        is_jitclass = isinstance(f, type) and package_name(type(f)) == "numba" and hasattr(f, "class_type")
        return _plain_class(f) if is_jitclass else _container(f, owner)
    if type(f) is not MethodType or not is_of_jitclass(owner):
        return f
    cls: OfNumba = type(owner)
    kind, name = cls._numba_type_, f.__name__
    return kind.static_methods[name] if name in kind.static_methods else MethodType(kind.methods[name], owner)


def number_of_numba(x: object) -> "type | None":
    """The class of NumPy's for a type of Numba's that is one of numbers (numba.float64), else None."""
    return NUMBERS.get(str(x)) if hasattr(type(x), "cast_python_value") else None


def is_of_jitclass(x: object) -> bool:
    """Whether x is an object of a jitclass, whose fields C code holds."""
    return module_name(type(x)) == "numba.experimental.jitclass.boxing"


def _container(f: OfNumba, owner: type) -> OfNumba:
    plain, methods = TYPED.get(module_name(owner), (None, {}))
    if plain is None or owner.__name__ not in ("List", "Dict"):
        return f
    return methods.get(f.__name__, f) if f is not owner else plain


def _plain_class(f: OfNumba) -> type:
    """A class of Python's with the methods and the properties of a jitclass, always the same one."""
    made = _plain_classes.get(f)
    if made is None:
        kind = f.class_type
        members = {name: field(name, NUMBERS[str(t)]) for name, t in kind.struct.items() if str(t) in NUMBERS}
        members |= {**kind.methods, **{name: staticmethod(m) for name, m in kind.static_methods.items()}}
        for name, parts in kind.jit_props.items():
            members[name] = property(*[parts[way].py_func if way in parts else None for way in ("get", "set")])
        members.update(__module__=f.__module__, __qualname__=f.__qualname__)
        made = _plain_classes[f] = type(f.__name__, (), members)
    return made


_plain_classes: "weakref.WeakKeyDictionary[type, type]" = weakref.WeakKeyDictionary()


class Promoted(np.vectorize):
    """A function of scalars for each element. Its results have one dtype that fits them all, as in Numba; NumPy takes
    that of the first."""


def _of_vectorize(f: OfNumba) -> functools.partial:
    loops = [loop.split("->") for loop in f.types] if f._frozen else []
    known = tuple([(list(map(np.dtype, given)), [np.dtype(made)], [True] * f.nin) for given, made in loops])
    return functools.partial(over_elements, Promoted(f._dispatcher.py_func), Layout(((),) * f.nin, ((),), known))


def _of_guvectorize(f: OfNumba) -> functools.partial:
    return functools.partial(over_loop_axes, f.gufunc_builder.py_func, _layout(f))


def _layout(f: OfNumba) -> Layout:
    """The axes and the signatures of a function by guvectorize."""
    inputs, outputs = [tuple([tuple(filter(None, part.split(","))) for part in re.findall(r"\(([^)]*)\)", side)])
                       for side in f.gufunc_builder.signature.replace(" ", "").split("->")]
    known = () if f.is_dynamic else [types.args for types in f.gufunc_builder._sigs]
    count = len(inputs)
    return Layout(inputs, outputs, tuple([
        (_dtypes(args[:count]), _dtypes(args[count:]), [not hasattr(t, "ndim") for t in args[:count]]) for args in known
    ]), f.gufunc_builder.writable_args)


def _dtypes(types: tuple) -> list:
    return [np.dtype(str(getattr(t, "dtype", t))) for t in types]


def _of_stencil(f: OfNumba) -> functools.partial:
    names = f.kernel_ir.arg_names
    standard = f.options.get("standard_indexing", ())
    offsets, relative = _offsets(f.kernel_ir, standard)
    spans = f.neighborhood or tuple([(min(0, *axis), max(0, *axis)) for axis in zip(*offsets)])
    are_relative = tuple([name in relative for name in names])
    return functools.partial(over_points, f.kernel_ir.func_id.func, are_relative, spans, f.options.get("cval"))


def _offsets(kernel: OfNumba, standard: tuple) -> tuple:
    """The offsets at which a kernel reads its arrays, and the names of these arrays."""
    known: dict = {}
    offsets, relative = [], set()
    for statement in [s for block in kernel.blocks.values() for s in block.body if hasattr(s, "value")]:
        value = statement.value
        if type(value).__name__ == "Const":
            known[statement.target.name] = value.value
        elif getattr(value, "op", "") == "build_tuple":
            known[statement.target.name] = tuple([known.get(item.name) for item in value.items])
        elif getattr(value, "op", "") in ("getitem", "static_getitem"):
            name = value.value.name
            if name in kernel.arg_names and name not in standard:
                relative.add(name)
                index = known.get((value.index if value.op == "getitem" else value.index_var).name)
                offsets.append(index if isinstance(index, tuple) else (index,))
    return offsets, relative


_MAKERS = {"DUFunc": _of_vectorize, "GUFunc": _of_guvectorize, "StencilFunc": _of_stencil}
