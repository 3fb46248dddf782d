"""SciPy's scalar special functions, callable in compiled code: every ufunc of scipy.special, and a few functions
beside.

Types are those of SciPy's ufunc: float64, float32 (computed in float64 and rounded), complex where SciPy has
it, integer orders; functions of several results return a tuple, as in SciPy. Real functions call SciPy's C function,
the others the inner loop of the ufunc, which costs some 15 ns more.

    >>> import numba
    >>> float(gammaln(5.0)) == numba.njit(lambda x: gammaln(x))(5.0)
    True
    >>> numba.njit(lambda x: polygamma(1, x))(1.0).__round__(6)
    1.644934

Where `vecmath` has a function of the same name (erf, expm1, xlogy, ...), use `vecmath`'s for vectors of real numbers.
"""
import numpy as np
import scipy.special as sp
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import signature
from numba.np.numpy_support import as_dtype
from scipy.special import _ufuncs, cython_special

from fad.kernels.c_symbols import UfuncLoops, bind, capsule_address, capsule_name
from fad.kernels.promotion import compiled_as, formula, like_ufunc, quiet
from fad.kernels.widen import NO_MEMORY

#: Functions of scipy.special that are ufuncs under another name, by the number of their arguments.
BEHIND = {
    "zeta": {1: "_riemann_zeta", 2: "_zeta"},
    "lambertw": {3: "_lambertw"},
    **{f"spherical_{kind}": {2: f"_spherical_{kind}"} for kind in ("jn", "yn", "in", "kn")},
}
HIDDEN = {"round"}  # Python's own, for `import *`
UFUNCS = [name for name, value in vars(sp).items() if isinstance(value, np.ufunc) and name not in HIDDEN]
__all__ = sorted([*UFUNCS, *BEHIND, "multigammaln", "polygamma"])
DOUBLE = ir.DoubleType()


def _bind(name):
    """The kernel of one name: SciPy's function, given a compiled form."""
    if name in BEHIND:
        cores = {arity: getattr(_ufuncs, core) for arity, core in BEHIND[name].items()}
    else:
        cores = {getattr(sp, name).nin: getattr(sp, name)}
    function = quiet(getattr(sp, name), f"SciPy's {name}, in compiled code too.", name)
    forms = {arity: _Form(f"{name}{arity}", core, _direct(name, arity)) for arity, core in cores.items()}
    if name == "lambertw":
        forms[1], forms[2] = _Shortened(forms[3], (0, 1e-8)), _Shortened(forms[3], (1e-8,))
    return compiled_as(function, _by_arity(forms), _emit_by_arity(forms))


def _by_arity(forms):
    return lambda *args: forms[len(args)].rule(*args) if len(args) in forms else None


def _emit_by_arity(forms):
    return lambda context, builder, sig, args: forms[len(args)].emit(context, builder, sig, args)


class _Form:
    """One compiled form: its type rule, and the code that calls the C function or else the ufunc's loop."""

    def __init__(self, name, ufunc, direct):
        self.rule, self.loops, self.direct = like_ufunc(ufunc), UfuncLoops(name, ufunc), direct

    def emit(self, context, builder, sig, args):
        if self.direct and all(isinstance(t, (types.Float, types.Integer)) for t in sig.args):
            return self._call(context, builder, sig, args)
        result = sig.return_type
        results = result.types if isinstance(result, types.BaseTuple) else [result]
        chars = ["".join(as_dtype(t).char for t in part) for part in (sig.args, results)]
        outputs = [context.get_value_type(t) for t in results]
        values = self.loops.emit(builder, "->".join(chars), args, outputs)
        return context.make_tuple(builder, result, values) if len(values) > 1 else values[0]

    def _call(self, context, builder, sig, args):
        """Call the C function of doubles; without side effects, so that LLVM may merge equal calls."""
        shape = ir.FunctionType(DOUBLE, [DOUBLE] * len(args) + [ir.IntType(32)])
        function = builder.module.globals.get(self.direct) or ir.Function(builder.module, shape, self.direct)
        for attribute in ("nounwind", "willreturn", NO_MEMORY):
            set.add(function.attributes, attribute)
        args = [context.cast(builder, a, t, types.float64) for a, t in zip(args, sig.args)]
        value = builder.call(function, [*args, ir.IntType(32)(0)])
        return context.cast(builder, value, types.float64, sig.return_type)


class _Shortened:
    """A form with its last arguments at their defaults."""

    def __init__(self, form, defaults):
        self.form, self.defaults = form, defaults
        self.types = tuple(types.int64 if isinstance(d, int) else types.float64 for d in defaults)

    def rule(self, *args):
        found = self.form.rule(*args, *self.types)
        return found and found[: len(args) + 1]

    def emit(self, context, builder, sig, args):
        full = self.form.rule(*sig.args, *self.types)
        constants = [context.get_constant(t, d) for t, d in zip(full[len(args) + 1 :], self.defaults)]
        return self.form.emit(context, builder, signature(*full), [*args, *constants])


def _direct(name, arity):
    """The symbol of SciPy's C function double name(double, ..., int), where it exports one; else None."""
    declared = f"double ({'double, ' * arity}int __pyx_skip_dispatch)"
    for key in (name, f"__pyx_fuse_0{name}", f"__pyx_fuse_1{name}", f"__pyx_fuse_0_1{name}"):
        capsule = cython_special.__pyx_capi__.get(key)
        if capsule is not None and capsule_name(capsule) == declared:
            return bind(f"fad.special.{name}", capsule_address(capsule))
    return None


def _of_reals(*args):
    """Two real numbers in, a float64 out."""
    real = len(args) == 2 and all(isinstance(t, (types.Float, types.Integer)) for t in args)
    return (types.float64,) * 3 if real else None


globals().update({name: _bind(name) for name in (*UFUNCS, *BEHIND)})
psi, gamma, zeta, gammaln = (globals()[name] for name in ("psi", "gamma", "zeta", "gammaln"))


@formula(_of_reals, sp.polygamma)
def polygamma(n, x):
    """SciPy's polygamma, the n-th derivative of psi; by the Hurwitz zeta function, as in scipy.special.polygamma.

    >>> round(float(polygamma(1, 1.0)), 6)
    1.644934
    """
    if n == 0:
        return psi(x)
    sign = -1.0 if n % 2 == 0 else 1.0
    return sign * gamma(n + 1.0) * zeta(n + 1.0, x)


@formula(_of_reals, sp.multigammaln)
def multigammaln(x, d):
    """SciPy's multigammaln, the logarithm of the multivariate gamma function of dimension d.

    >>> round(float(multigammaln(3.0, 1)), 6)
    0.693147
    """
    total = 0.25 * d * (d - 1) * np.log(np.pi)
    for j in range(int(d)):
        total += gammaln(x - 0.5 * j)
    return total
