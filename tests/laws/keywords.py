"""Every keyword of every function that has an override: calls, by the table's samples and the original's signature."""
import ast
import inspect
import pkgutil
from typing import Any

import numpy as np

from fad.ops import override as overrides
from fad.ops import table

assert table
overrides.load_all()
_rng = np.random.default_rng(3)
VALUES = {"x": _rng.uniform(0.2, 0.9, (3, 4)), "v": _rng.uniform(0.25, 0.85, 4),
          "S": _rng.standard_normal((4, 4)) * 0.3 + 2 * np.eye(4)}
SHORT = {"numpy": "np", "scipy.special": "sp", "scipy.linalg": "la", "scipy.stats": "stats", "scipy.signal": "signal",
         "scipy.ndimage": "ndimage", "scipy.spatial.distance": "distance", "scipy.integrate": "integrate",
         "scipy.interpolate": "interpolate", "scipy.fft": "sfft", "scipy.fftpack": "fftpack"}
# they take functions, numbers, matrices or rotations: tests/routines and tests/api try their keywords
LATER = ("scipy.optimize.", "scipy.integrate.", "scipy.sparse.", "scipy.spatial.transform.", "numpy.vectorize", "math.",
         "cmath.", "numpy.ma.", "statistics.", "scipy.signal.dlsim", "scipy.signal.dimpulse", "scipy.signal.dstep")

# the keyword's values to try, as text, by the parameter's name; those that NumPy itself does not take are passed over
POOL: dict[str, tuple] = {
    "a": ("[2.0, 0.5]",),
    "axis": ("0", "1", "-1", "None", "(0, 1)"), "axes": ("(0,)", "(1, 0)", "0", "(0, 1)"), "keepdims": ("True",),
    "ddof": ("1",), "correction": ("1",), "dtype": ("np.float32", "complex", "int", "bool"),
    "order": ("'C'", "'F'", "'A'", "'K'", "2", "1"), "copy": ("True", "False", "None"), "out": ("of the result",),
    "where": ("np.array([True, False, True, False])", "np.array([[True], [False], [True]])", "False"),
    "initial": ("2.0", "0.5"), "mean": ("0.5",),
    "mode": ("'wrap'", "'clip'", "'raise'", "'same'", "'valid'", "'full'", "'reduced'", "'complete'", "'r'", "'raw'",
             "'reflect'", "'nearest'", "'constant'"),
    "method": ("'lower'", "'median_unbiased'", "'nearest'", "'fft'", "'direct'", "'cubic'", "'gust'", "'ordinal'"),
    "rcond": ("0.5",), "rtol": ("0.5",), "hermitian": ("True",), "UPLO": ("'U'", "'u'"), "assume_unique": ("True",),
    "lower": ("True",), "trans": ("1", "'T'", "2"), "unit_diagonal": ("True",), "nan": ("2.5",), "posinf": ("9.0",),
    "neginf": ("-9.0",), "equal_nan": ("True", "False"), "side": ("'right'",), "sorter": ("np.array([1, 0, 3, 2])",),
    "decreasing": ("True",), "increasing": ("True",), "n": ("3", "6", "1", "2"), "norm": ("'ortho'", "'forward'"),
    "s": ("(2, 3)",), "workers": ("1",), "orthogonalize": ("True",), "type": ("1", "2", "3", "4"),
    "kind": ("'stable'", "'mergesort'", "'slinear'"), "k": ("1", "-1"), "stable": ("True",),
    "descending": ("True",),
    "casting": ("'unsafe'", "'no'", "'safe'"), "subok": ("True", "False"), "like": ("np.zeros(2)",),
    "device": ("'cpu'",), "ndmin": ("3",), "ndmax": ("1",), "requirements": ("'F'", "['C', 'O']"),
    "return_index": ("True",), "return_inverse": ("True",), "return_counts": ("True",), "sorted": ("False",),
    "bias": ("True", "False"), "rowvar": ("False",), "fweights": ("np.array([1, 2, 1, 2])",),
    "aweights": ("np.array([1., 2, 1, 2])",),
    "weights": ("np.array([1., 2, 1, 2])", "np.arange(12.0)", "np.arange(12.0).reshape(3, 4)"), "returned": ("True",),
    "overwrite_input": ("True",), "interpolation": ("'lower'",), "density": ("True",), "bins": ("3",),
    "range": ("(0.3, 0.6)",), "endpoint": ("False",), "retstep": ("True",), "base": ("3.0",), "num": ("7",),
    "sparse": ("True",), "indexing": ("'ij'",), "edge_order": ("2",), "prepend": ("0.5",), "append": ("0.5",),
    "period": ("0.7",), "left": ("-1.0",), "right": ("5.0",), "discont": ("0.1",), "offset": ("1",),
    "axis1": ("1", "0"), "axis2": ("0",), "optimize": ("True", "False"), "full_matrices": ("False",),
    "compute_uv": ("False",), "ord": ("1", "np.inf", "2", "'fro'", "0"), "p": ("1", "2", "3.0"),
    "b": ("v", "np.eye(4) + 0.1 * S @ S.T"), "scale": ("2.0", "'std'"), "beta": ("2.0",), "x": ("v",),
    "dx": ("0.5", "1"),
    "axisa": ("0",), "axisb": ("0",), "axisc": ("0",), "bc_type": ("'natural'", "'clamped'"),
    "check_finite": ("False",), "overwrite_a": ("True",), "overwrite_b": ("True",), "overwrite_x": ("True",),
    "overwrite_ab": ("True",), "overwrite_data": ("True",), "lapack_driver": ("'gesvd'", "'gelsy'", "'gelss'"),
    "driver": ("'ev'", "'evd'"), "homogeneous_eigvals": ("True",), "eigvals_only": ("True",),
    "subset_by_index": ("[0, 1]",), "subset_by_value": ("[0.0, 5.0]",), "select": ("'i'",), "select_range": ("(0, 1)",),
    "pivoting": ("True",), "permute_l": ("True",), "p_indices": ("True",), "return_rank": ("True",), "rank": ("2",),
    "cond": ("0.5",), "atol": ("0.3",), "transposed": ("True",),
    "assume_a": ("'pos'", "'sym'", "'gen'", "'upper triangular'"), "nan_policy": ("'omit'", "'raise'"),
    "fisher": ("False",), "center": ("np.mean",), "alternative": ("'less'",), "lag": ("1",), "fillvalue": ("2.0",),
    "boundary": ("'symm'", "'wrap'"), "cval": ("2.0",), "output": ("of the result",), "origin": ("1",),
    "truncate": ("2.0",), "radius": ("2",), "prefilter": ("False",), "footprint": ("np.ones((2, 2), bool)",),
    "structure": ("np.ones((2, 2))",), "labels": ("np.array([1, 1, 2, 2])",), "index": ("[1, 2]",),
    "zi": ("np.array([0.5])",), "padtype": ("'even'",), "padlen": ("1",), "irlen": ("3",), "fs": ("2.0",),
    "window": ("'boxcar'",), "nperseg": ("2",), "detrend": ("'linear'", "False"), "return_onesided": ("False",),
    "scaling": ("'spectrum'",), "deriv": ("1",), "delta": ("2.0",), "polyorder": ("1",), "domain": ("'freq'",),
    "sym": ("False",), "ext": ("1",), "deg": ("True", "1"), "full": ("True",), "cov": ("True",),
    "w": ("np.array([1., 2, 1, 2])",), "tensor": ("False",), "m": ("2", "1"), "lbnd": ("0.5",), "scl": ("2.0",),
    "trim": ("'f'", "'b'"), "reps": ("2",), "invert": ("True",), "assume_sorted": ("True",),
    "fill_value": ("'extrapolate'", "2.0"), "bounds_error": ("False",), "extrapolate": ("False", "True"), "nu": ("1",),
    "N": ("5",), "show": ("True",), "diag": ("True",), "signature": ("'dd->d'", "'d->d'"), "tol": ("1e-3",),
    "caxis": ("1",), "baxis": ("1",), "outaxis": ("1",), "blocksize": ("2",), "lwork": ("64",),
    "constant_values": ("2.0",), "reflect_type": ("'odd'",), "stat_length": ("1",), "end_values": ("1.0",),
    "writeable": ("True",), "balanced": ("True",), "seed": ("1",), "allow_singular": ("True",), "loc": ("0.5",),
    "lambda_": ("'log-likelihood'",), "f_exp": ("np.full(4, 0.55)",), "zero_phase": ("False",), "rescale": ("True",),
    "zero_method": ("'zsplit'",), "min_only": ("True",), "xp": ("np",), "plan": ("None",), "separate": ("True",),
    "max_work": (), "stop": (), "step": ("2",), "decimals": ("1",), "minlength": ("9",), "a_min": (), "a_max": (),
    "min": ("0.4",), "max": ("0.6",), "y": ("v * v",), "include_initial": ("True",), "ndim": ("3",), "to_end": ("1.0",),
    "to_begin": ("1.0",), "einsum_call": ("True",), "shape": ("(2, 3)",), "M": ("5",), "d": ("0.5",), "wrap": ("True",),
    "count": ("2",), "return_indices": ("True",), "upper": ("True",), "ind": ("1",), "r": ("v",), "variable": ("'z'",),
    "symbol": ("'z'",), "start": ("2",), "default": ("1.0",), "solver": (), "solver_args": (), "t": (), "der": ("1",),
    "compute_expm": ("False",), "disp": ("False",), "singular": ("'lstsq'",), "output_shape": ("(2, 2)",),
    "size": ("2",), "reshape": ("False",), "grid_mode": ("True",), "noverlap": ("1",), "nfft": ("8",),
    "average": ("'median'",), "bp": ("2",), "worN": ("5",), "whole": ("True",), "plot": (),
    "include_nyquist": ("True",), "input_onesided": ("False",), "time_axis": ("0",), "freq_axis": ("-1",),
    "dy": ("1",), "kx": ("2",), "ky": ("1",), "bbox": ("[-1.0, 5.0, -1.0, 6.0]",), "maxit": ("5",), "grid": ("False",),
    "padded": ("False",), "metric": ("'cityblock'",), "centered": ("False",), "force": ("'tomatrix'",),
    "checks": ("False",), "exact": ("True",), "repetition": ("True",), "extend": ("'complex'",),
    "return_sign": ("True",), "derivative": ("True",), "q": ("2.0",), "lmbda": ("0.5",), "alpha": ("0.1",),
    "optimizer": (), "high": ("3.0",), "low": ("0.1",), "normalize": ("True",), "qk": ("v[::-1]",),
    "rng": ("(10, 90)",), "flags": (), "op_flags": (), "op_dtypes": (), "op_axes": (), "itershape": (),
    "buffersize": (), "maxpower": ("4", "2"), "phi": ("30.0",), "vertex_zero": ("False",), "complex": ("True",),
    "ftype": ("'fir'",), "kernel_size": ("3", "1"), "width": ("0.4", "0.0"), "duty": ("0.3", "v"), "up": ("2",),
    "down": ("3",), "mysize": ("3",), "noise": ("0.02",), "confidence": ("0.9",), "moments": ("'s'",),
    "sum_check": ("False",), "u_weights": ("np.array([1., 2, 1, 2])",), "v_weights": ("np.array([1., 2, 1, 2])",),
    "equal_var": ("False",), "proportiontocut": ("0.1",), "upperlimit": ("0.6",), "lowerlimit": ("0.4",),
    "limits": ("(0.3, 0.7)", "(None, 0.7)"), "inclusive": ("(True, False)", "False"), "rowcov": (), "colcov": (),
    "mu": (), "kappa": (), "neighbors": ("3",), "smoothing": ("0.1",), "kernel": ("'linear'", "'cubic'"),
    "epsilon": ("0.7",), "degree": ("-1",), "full_output": ("1",), "xb": ("0.0",), "xe": ("3.5",), "task": ("1",),
    "per": ("1",), "quiet": ("0",), "calc_q": ("True",), "sort": ("'lhp'",), "max_ev": ("2",),
    "overwrite_a_band": ("True",), "e": (), "df": (), "bw_method": ("0.4", "'silverman'"),
}
UFUNC = {**{k: POOL[k] for k in ("out", "where", "dtype", "casting")}, "order": ("'F'", "'K'"), "subok": ("False",),
         "axis": ("0",), "keepdims": ("True",), "axes": ("[(0,), (0,), ()]",), "signature": POOL["signature"]}
# keywords that a signature hides behind **kwargs
FURTHER = {"clip": UFUNC, "pad": {k: POOL[k] for k in ("constant_values", "reflect_type", "stat_length", "end_values")}}
PLAIN = (
    "x", "v", "S", "P", "v, v", "x, x", "x, v", "S, v", "P, v", "S, S", "P, P", "x, 1", "x, 0", "v, 2", "x > 0.5, x",
    "[v, v]", "[x, x]", "x, [0, 2]", "v, 2, 2", "v, v[:2]", "v, v, v", "v, v[:3]", "(4,)", "3", "x, (1, 2)",
    "x, 0, 1", "v, np.array([0.3, 0.5])", "x, np.array([[0, 1, 0, 2]]), 0", "x, 0.3", "v, 0.3", "'ij->i', x",
    "'ij,j->i', x, v", "v, [1, 2]", "2, v", "v, 0, v", "v, v, 1", "v, v, 0.5", "x, [1, 2], axis=1", "(v, v), v",
    "0, 0, 1, v", "v[0], v[1], 5", "lambda r: r * 2.0, 0, x", "x.astype(int)", "x.astype(int), 2", "x, (4, 3)",
    "v, (3, 4)", "v, v, v, 2", "v, v > 0.5, v", "x.copy(), x > 0.5, v", "v.copy(), [0, 2], v", "x.copy(), v",
    "x.copy(), 1.0", "x[:2, :2]", "np.sort(v), v", "np.sort(v), v, v",
)


def original(name: str) -> Any:
    return pkgutil.resolve_name(name)


def parameters(function: Any) -> dict:
    """Names of the keywords of a function -> values to try, as text."""
    if isinstance(function, np.ufunc):
        return UFUNC
    found = inspect.signature(function).parameters.values()
    named = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    more = FURTHER.get(function.__name__, {}) if any(p.kind == p.VAR_KEYWORD for p in found) else {}
    return {**{name: POOL[name] for name in named if name in POOL}, **more}


def unknown_parameters() -> set:
    """Keywords with a default for which there are no values to try."""
    found = {}
    for name in sorted(overrides.BY_NAME):
        if not name.startswith(LATER) and not isinstance(original(name), np.ufunc):
            for p in inspect.signature(original(name)).parameters.values():
                if p.default is not p.empty and p.name not in POOL:
                    found.setdefault(p.name, []).append(name)
    return found


class Call:
    """A call, as text, to which keywords can be added."""

    def __init__(self, text: str, node: ast.Call, tree: ast.Expression):
        self.text, self.node, self.tree = text, node, tree

    def with_keyword(self, name: str, value: str) -> str:
        if any(k.arg == name for k in self.node.keywords):
            return ""
        self.node.keywords.append(ast.keyword(name, ast.parse(value, mode="eval").body))
        try:
            return ast.unparse(ast.fix_missing_locations(self.tree))
        finally:
            self.node.keywords.pop()


    def by_place(self, function: Any, name: str, value: str) -> str:
        """The call with this parameter, and the defaults before it, given by their places; "" where it has none."""
        found = list(inspect.signature(function).parameters.values()) if not isinstance(function, np.ufunc) else []
        names = [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        names = names[1:] if names[:1] == ["self"] else names
        if name not in names or any(p.kind == p.VAR_POSITIONAL for p in found) or self.node.keywords:
            return ""
        between = [p.default for p in found if p.name in names[len(self.node.args):names.index(name)]]
        are_simple = all(x is None or isinstance(x, (bool, int, float, str)) for x in between)
        if names.index(name) < len(self.node.args) or not are_simple:
            return ""
        own = list(self.node.args)
        self.node.args += [ast.parse(text, mode="eval").body for text in (*map(repr, between), value)]
        try:
            return ast.unparse(ast.fix_missing_locations(self.tree))
        finally:
            self.node.args[:] = own


def call_in(text: str, is_it: Any) -> "Call | None":
    """The first call of a function in an expression."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_it(ast.unparse(node.func)):
            return Call(text, node, tree)
    return None


def short(name: str) -> str:
    """A function's name as the samples write it."""
    for module in sorted(SHORT, key=len, reverse=True):
        if name.startswith(module + "."):
            return SHORT[module] + name[len(module):]
    return name
