"""Python's special methods by what asks for them: operators, comparisons, conversions, builtin functions."""
import builtins
import copy
import functools
import importlib
import itertools
import math
import operator
from collections import OrderedDict, defaultdict, deque
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ops.literals import python_complex, python_float, python_int
from ..lists.items import Items
from ..lists.rows import RowList
from ..values.text import OVERRIDES
from ..values.tracer import Tracer
from .builtin import BUILTIN_OVERRIDES

# classes whose operations are Python's own or fad's: nothing is looked up for their instances
PLAIN = frozenset((
    bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, deque, defaultdict,
    OrderedDict, range, slice, type(None), type(Ellipsis), type(NotImplemented), FunctionType, BuiltinFunctionType,
    MethodType, ModuleType, np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128, Tracer,
    Items, RowList))
ARRAYS = frozenset((np.ndarray, Tracer, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128))
COMPARED = frozenset((list, tuple, dict, set, frozenset, deque, defaultdict, OrderedDict))  # what compares its elements
NEW = COMPARED - {tuple, frozenset} | {bytearray, GeneratorType}
# these are no cells
UNCHANGING = frozenset((bool, int, float, complex, str, bytes, tuple, np.float64, np.int64, Tracer))
SEQUENCES = (list, tuple, str, bytes, bytearray)  # their + and * come after the reflected method of the other operand
BINARY: dict[str, tuple] = {  # class of the syntax tree -> operation, operation in place, name, sign
    "Add": (operator.add, operator.iadd, "add", "+"),
    "Sub": (operator.sub, operator.isub, "sub", "-"),
    "Mult": (operator.mul, operator.imul, "mul", "*"),
    "Div": (operator.truediv, operator.itruediv, "truediv", "/"),
    "FloorDiv": (operator.floordiv, operator.ifloordiv, "floordiv", "//"),
    "Mod": (operator.mod, operator.imod, "mod", "%"),
    "Pow": (operator.pow, operator.ipow, "pow", "** or pow()"),
    "MatMult": (operator.matmul, operator.imatmul, "matmul", "@"),
    "LShift": (operator.lshift, operator.ilshift, "lshift", "<<"),
    "RShift": (operator.rshift, operator.irshift, "rshift", ">>"),
    "BitAnd": (operator.and_, operator.iand, "and", "&"),
    "BitOr": (operator.or_, operator.ior, "or", "|"),
    "BitXor": (operator.xor, operator.ixor, "xor", "^"),
    # no operator has it, its methods are found alike
    "DivMod": (BUILTIN_OVERRIDES["divmod"], None, "divmod", "divmod()"),
}
UNARY: dict[str, tuple] = {
    "UAdd": (operator.pos, "__pos__"),
    "USub": (operator.neg, "__neg__"),
    "Invert": (operator.invert, "__invert__"),
}
COMPARE: dict[str, tuple] = {  # operation, method, the other operand's method, sign
    "Lt": (operator.lt, "__lt__", "__gt__", "<"),
    "LtE": (operator.le, "__le__", "__ge__", "<="),
    "Gt": (operator.gt, "__gt__", "__lt__", ">"),
    "GtE": (operator.ge, "__ge__", "__le__", ">="),
    "Eq": (operator.eq, "__eq__", "__eq__", "=="),
    "NotEq": (operator.ne, "__ne__", "__ne__", "!="),
}
CONVERSIONS: dict[Any, tuple] = {
    float: ("__float__", python_float),
    int: ("__int__", python_int),
    complex: ("__complex__", python_complex),
}
BUILTINS: dict[Any, str] = {
    abs: "__abs__",
    round: "__round__",
    iter: "__iter__",
    next: "__next__",
    reversed: "__reversed__",
    math.floor: "__floor__",
    math.ceil: "__ceil__",
    math.trunc: "__trunc__",
    copy.copy: "__copy__",
    operator.index: "__index__",
}
ITERATING = frozenset((list, tuple, set, frozenset, sorted, zip, enumerate, map, filter, min, max, any, all))
# C functions of Python's own library -> those of their arguments that they do nothing with but to go through them
GOING_THROUGH: dict[Any, slice] = {
    functools.reduce: slice(1, 2),
    **dict.fromkeys((math.prod, math.fsum), slice(0, 1)),
    **dict.fromkeys((math.dist, *([math.sumprod] if hasattr(math, "sumprod") else [])), slice(0, 2)),
    **{f: slice(0, 1) for name in ("accumulate", "batched", "combinations", "combinations_with_replacement", "cycle",
                                   "groupby", "islice", "pairwise", "permutations", "tee")
       if (f := getattr(itertools, name, None)) is not None},
    **dict.fromkeys((itertools.chain, itertools.product, itertools.zip_longest), slice(None)),
    **dict.fromkeys((itertools.dropwhile, itertools.filterfalse, itertools.starmap, itertools.takewhile), slice(1, 2)),
    itertools.compress: slice(0, 2),
}
SORTING = frozenset((sorted, min, max))
SEARCHING = frozenset(("index", "count", "remove"))  # methods of a list that compare its items
# functions of Python's own -> a method of the runtime in their place, and what that is given first
IN_PLACE: dict[Any, tuple] = {
    len: ("_length",), sum: ("sum_of",), setattr: ("put_attribute",), delattr: ("delete_attribute",), vars: ("_vars",),
    getattr: ("_getattr",), hasattr: ("_hasattr",), range: ("_range",), print: ("printed",),
    itertools.chain.from_iterable: ("chained",), copy.deepcopy: ("_deepcopied",),
    importlib.import_module: ("_import_module",),
    operator.length_hint: ("_length_hint",), operator.iconcat: ("extended",),
    operator.setitem: ("put_item",), operator.delitem: ("delete_item",),
    operator.getitem: ("item",), operator.contains: ("holds",), operator.not_: ("not_",), operator.truth: ("truth",),
    isinstance: ("of_class", isinstance, "__instancecheck__"),      # of metaclasses
    issubclass: ("of_class", issubclass, "__subclasscheck__"),
    divmod: ("binary", "DivMod"),
    **{f: ("binary", name) for name, (f, *_) in BINARY.items()},
    **{f: ("inplace", name) for name, (_, f, *_) in BINARY.items() if f is not None},
    **{f: ("unary", name) for name, (f, _) in UNARY.items()},
    **{f: ("compare", name) for name, (f, *_) in COMPARE.items()},
    **{f: ("_by_identity", f) for f in (id, hash)},
    **{f: ("text", f) for f in (str, repr, ascii, format)},
    **{f: ("iterating", f) for f in ITERATING},
    **{f: ("_asking", f) for f in (bool, *CONVERSIONS, *BUILTINS)},
}
# what captured code sees by these names
ORIGINALS = {override: getattr(builtins, name) for name, override in BUILTIN_OVERRIDES.items()} | {
    override: f for f, override in OVERRIDES.items()}
