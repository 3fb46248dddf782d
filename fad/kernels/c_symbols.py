"""C symbols: SciPy's compiled functions in code that Numba compiles, by symbol name.

Compiled code that is kept on disk must hold no addresses, since these change from process to process. So each C
function gets a symbol name, and the name is bound to the address when the module that uses it is imported, before any
cached code.

Two kinds are served:

* a ufunc, through its inner loop run on one element: `UfuncLoops`
* a function of a Cython module, found in its `__pyx_capi__`: `capsule_address`; those of BLAS and LAPACK: `routine`
"""
import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import sys

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils

__all__ = ["UfuncLoops", "bind", "capsule_address", "capsule_name", "is_bound", "routine", "table_entry"]

ROUTINE = "fad.lapack."                                       # and the name of a routine of BLAS or LAPACK

WORD = ir.IntType(64 if ctypes.sizeof(ctypes.c_void_p) == 8 else 32)
BYTE = ir.IntType(8).as_pointer()

_GET_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_GET_POINTER = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Ufunc(ctypes.Structure):
    """The head of PyUFuncObject, https://numpy.org/doc/stable/reference/c-api/types-and-structures.html."""

    _fields_ = [
        ("head", ctypes.c_byte * object.__basicsize__),
        *((name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    ]


def bind(symbol: str, address: int) -> str:
    """Bind a symbol name of compiled code to an address of this process."""
    llvm.add_symbol(symbol, address)
    return symbol


def capsule_address(capsule) -> int:
    """The address that a PyCapsule holds, whatever its name.

    >>> import scipy.linalg.cython_blas as blas
    >>> capsule_address(blas.__pyx_capi__["ddot"]) != 0
    True
    """
    return _GET_POINTER(capsule, _GET_NAME(capsule))


def capsule_name(capsule) -> str:
    """The name of a PyCapsule: Cython writes the C signature there.

    >>> import scipy.linalg.cython_blas as blas
    >>> capsule_name(blas.__pyx_capi__["dasum"]).split(" (")[1][:5]
    'int *'
    """
    return _GET_NAME(capsule).decode()


def is_bound(symbol: str) -> bool:
    """Whether compiled code may refer to this symbol. Routines of BLAS and LAPACK are bound now."""
    if symbol.startswith(ROUTINE):
        routine(symbol[len(ROUTINE):])
    return bool(llvm.address_of_symbol(symbol))


@functools.cache
def routine(name: str) -> tuple:
    """The symbol of a routine of BLAS or LAPACK, and the C types of its parameters.

    >>> symbol, parameters = routine("ddot")
    >>> symbol, parameters[::2]
    ('fad.lapack.ddot', ['int *', 'int *', 'int *'])
    """
    modules = (_of_scipys_linalg(module) for module in ("cython_blas", "cython_lapack"))
    capsule = next(module.__pyx_capi__[name] for module in modules if name in module.__pyx_capi__)
    parameters = capsule_name(capsule).split("(")[1].rstrip(")").split(", ")
    return bind(ROUTINE + name, capsule_address(capsule)), parameters


@functools.cache
def _of_scipys_linalg(name):
    """A Cython module of scipy.linalg, without the import of that package, which takes 0.1 s."""
    whole = f"scipy.linalg.{name}"
    places = [os.path.join(place, "linalg") for place in importlib.import_module("scipy").__path__]
    spec = None if "scipy.linalg" in sys.modules else importlib.machinery.PathFinder.find_spec(whole, places)
    if spec is None or spec.loader is None:
        return importlib.import_module(whole)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(whole, None)  # Cython has put it there; imported in earnest, it is the same module
    return module


def table_entry(capsule, place: int) -> int:
    """The address at a place of the table of functions that a PyCapsule holds: a library's C interface."""
    return ctypes.cast(capsule_address(capsule), ctypes.POINTER(ctypes.c_void_p))[place]


class UfuncLoops:
    """The inner loops of a ufunc, each bound to a symbol and callable for one element.

    >>> import scipy.special
    >>> UfuncLoops("gammaln", scipy.special.gammaln).types[0]
    'd->d'
    """

    def __init__(self, name, ufunc):
        inside = _Ufunc.from_address(id(ufunc))
        self.name, self.nin, self.nout, self.types = name, ufunc.nin, ufunc.nout, ufunc.types
        for i, types in enumerate(ufunc.types):
            bind(self._symbol(types), inside.functions[i])
            bind(self._symbol(types) + ".data", inside.data[i] or 0)

    def _symbol(self, types):
        return f"fad.ufunc.{self.name}.{types}"

    def emit(self, builder, types, args, results):
        """Call the loop of `types` (as in "dd->d") on LLVM values; `results` are the LLVM types of what it returns."""
        places = [cgutils.alloca_once_value(builder, a) for a in args]
        outputs = [cgutils.alloca_once(builder, t) for t in results]
        table = cgutils.alloca_once(builder, ir.ArrayType(BYTE, len(places) + len(outputs)))
        for i, place in enumerate(places + outputs):
            builder.store(builder.bitcast(place, BYTE), cgutils.gep_inbounds(builder, table, 0, i))
        for place, a in zip(places, args):
            builder.store(a, place)
        count = cgutils.alloca_once_value(builder, WORD(1))
        steps = cgutils.alloca_once_value(builder, ir.ArrayType(WORD, len(places) + len(outputs))(None))
        table, steps = (builder.bitcast(p, t.as_pointer()) for p, t in ((table, BYTE), (steps, WORD)))
        builder.call(self._function(builder.module, types), [table, count, steps, self._data(builder, types)])
        return [builder.load(p) for p in outputs]

    def _function(self, module, types):
        word = WORD.as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), word, word, BYTE])
        return cgutils.get_or_insert_function(module, shape, self._symbol(types))

    def _data(self, builder, types):
        name = self._symbol(types) + ".data"
        data = builder.module.globals.get(name)
        if data is None:
            data = ir.GlobalVariable(builder.module, ir.IntType(8), name)
            data.linkage = "external"
        return data
