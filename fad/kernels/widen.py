"""Calls of libm functions that LLVM's loop vectoriser can widen through glibc's libmvec.

The scalar function is declared with the attribute `vector-function-abi-variant`, which names its vector forms; LLVM
then replaces a call in a vectorised loop by a call of the vector form (four doubles at a time with AVX2).
Source: the x86_64 vector function ABI, VectorABI.txt on https://sourceware.org/glibc/wiki/libmvec

No fast-math flag is asked for, so infinities and nans keep their meaning. `speculatable` lets the vectoriser evaluate a
call in a branch for all lanes, without which a loop with an `if` stays scalar.

    >>> have_libmvec() in (True, False)
    True
"""
import platform
from typing import NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir

__all__ = ["FLAVOUR", "call_wide", "have_libmvec"]

#: Neither reads nor writes memory, as LLVM 16 has it, or LLVM 15 (of Numba 0.61).
NO_MEMORY = "memory(none)" if llvm.llvm_version_info >= (16, 0, 0) else "readnone"
PURE = "nounwind", "willreturn", NO_MEMORY, "speculatable"


class Isa(NamedTuple):
    """One instruction set of the vector ABI: its letter, the CPU feature it asks for, its width in bits."""

    letter: str
    feature: str
    bits: int


# A wider form must not be offered to a CPU without it: LLVM would split the arguments and call it all the same.
ISAS = {
    "x86_64": (Isa("b", "+sse2", 128), Isa("d", "+avx2", 256), Isa("e", "+avx512f", 512)),
    "aarch64": (Isa("n", "+neon", 128),),
}


def _load() -> bool:
    """Load libmvec, so that its symbols resolve in compiled code, cached code included."""
    if platform.machine() not in ISAS:
        return False
    try:
        llvm.load_library_permanently("libmvec.so.1")
    except RuntimeError:
        return False
    return True


LOADED = _load()
#: What the compiled code may refer to; part of the key of whoever caches it on disk.
FLAVOUR = f"libmvec-{'.'.join(platform.libc_ver())}" if LOADED else "libm"


def have_libmvec() -> bool:
    """Whether calls can be widened on this machine.

    >>> have_libmvec() == FLAVOUR.startswith("libmvec")
    True
    """
    return LOADED


def call_wide(context, builder, name: str, args):
    """Emit a call of the libm function `name`, or return None where libmvec has no form of it.

    `name` is for float64; for float32 arguments the function is `name` + "f".
    """
    real = args[0].type
    symbol = name + "f" if isinstance(real, ir.FloatType) else name
    variants = _variants(context, symbol, real, len(args))
    if not variants:
        return None
    function = builder.module.globals.get(symbol)
    if function is None:
        function = _declare(builder.module, symbol, real, len(args), variants)
    elif not any("vector-function-abi-variant" in a for a in function.attributes):
        _mark(builder.module, function, real, variants)
    return builder.call(function, args)


def _variants(context, symbol, real, arity):
    """The vector forms of `symbol` on the CPU compiled for: (name, lanes) each."""
    if not LOADED:
        return []
    features = context.codegen().magic_tuple()[2].split(",")
    size = 32 if isinstance(real, ir.FloatType) else 64
    forms = []
    for isa in ISAS[platform.machine()]:
        lanes = isa.bits // size
        name = f"_ZGV{isa.letter}N{lanes}{'v' * arity}_{symbol}"
        if _offered(isa, features) and llvm.address_of_symbol(name):
            forms.append((name, lanes))
    return forms


def _offered(isa, features):
    """Whether the CPU has `isa`; the baseline of each machine needs no feature flag."""
    return isa.bits == 128 or isa.feature in features


def _declare(module, symbol, real, arity, variants):
    function = ir.Function(module, ir.FunctionType(real, [real] * arity), symbol)
    _mark(module, function, real, variants)
    return function


def _mark(module, function, real, variants):
    """Attach the vector forms to a declared scalar function."""
    arity = len(function.args)
    forms = [_vector_form(module, name, real, lanes, arity) for name, lanes in variants]
    for form in (function, *forms):
        for attribute in PURE:
            set.add(form.attributes, attribute)  # llvmlite's own `add` knows fewer attributes than LLVM
    names = ",".join(name for name, _ in variants)
    set.add(function.attributes, f'"vector-function-abi-variant"="{names}"')
    _keep(module, function.name, forms)


def _vector_form(module, name, real, lanes, arity):
    vector = ir.VectorType(real, lanes)
    return ir.Function(module, ir.FunctionType(vector, [vector] * arity), name)


def _keep(module, symbol, forms):
    """Refer to the vector forms from a global, or LLVM drops the unused declarations before it vectorises."""
    byte = ir.IntType(8).as_pointer()
    table = ir.ArrayType(byte, len(forms))
    kept = ir.GlobalVariable(module, table, f"fad.kept.{symbol}")
    kept.linkage, kept.global_constant = "weak_odr", True
    kept.initializer = ir.Constant(table, [form.bitcast(byte) for form in forms])
