"""PyTorch's names for the nodes of ops, and for what they save."""
from ..ir.op import Op
from .op_node import Handle

_NODE = {"expit": "Sigmoid", "log1p": "Log1P", "arcsin": "Asin", "arccos": "Acos", "arctan": "Atan", "arcsinh": "Asinh",
         "arccosh": "Acosh", "arctanh": "Atanh",
         "arctan2": "Atan2", "gammaln": "Lgamma", "concatenate": "Cat", "broadcast_to": "Expand", "full": "Expand",
         "reshape": "View", "transpose": "Permute",
         "rint": "Round", "log_expit": "LogSigmoid",
         "mod": "Remainder", "cast": "ToCopy", "update": "IndexPut", "index_add": "IndexAdd", "clip": "Clamp",
         "pack": "Stack",
         "permute": "Gather", "make_complex": "Complex", "contract": "Mm", "linear_scan": "LinearScan", "max": "Amax",
         "min": "Amin", "multigammaln": "Mvlgamma",
         "linalg.inv": "LinalgInvEx", "solve": "LinalgSolveEx", "det": "LinalgDet", "cholesky": "LinalgCholeskyEx",
         "inv": "LinalgInvEx",
         "svd": "LinalgSvd", "svdvals": "LinalgSvd", "eigvalsh": "LinalgEigh", "eig": "LinalgEig",
         "eigvals": "LinalgEig", "pinv": "LinalgPinv",
         "lstsq": "LinalgLstsq", "expm": "LinalgMatrixExp", "entr": "SpecialEntr", "i0e": "SpecialI0E",
         "i1": "SpecialI1", "i1e": "SpecialI1E",
         "ndtri": "SpecialNdtri", "log_ndtr": "SpecialLogNdtr", "zeta": "SpecialZeta", "erfcx": "SpecialErfcx",
         "xlog1py": "SpecialXlog1Py",
         "gammainc": "Igamma", "gammaincc": "Igammac", "eigh": "LinalgEigh", "qr": "LinalgQr",
         "slogdet": "LinalgSlogdet", "square": "Pow"}
_INPUTS = {"pow": ("self", "exponent"), "contract": ("self", "mat2"), "where": ("condition", "self", "other"),
           "clip": ("self", "min", "max"),
           "make_complex": ("real", "imag"), "xlogy": ("self", "other"), "det": ("A",), "inv": ("A",)}
_OUTPUTS = {"inv": ("inverse",), "svd": ("U", "S", "Vh"), "qr": ("Q", "R"), "eigh": ("eigenvalues", "eigenvectors"),
            "cholesky": ("L",)}
# masks and factors have no edges
_PLACES = {"where": (1, 2), "det": (0,), "inv": (0,), "slogdet": (0,), "solve": (0, 3)}
_TENSORS = frozenset(("pow", "mod", "fmod", "clip", "update", "copysign"))  # nor have numbers, of these
_VARIANTS = {"pow": {(True, True): "PowBackward1", (False, True): "PowBackward2"},
             "mod": {(True, True): "RemainderBackward1"},
             "sub": {(False, True): "RsubBackward1"}, "fmod": {(True, True): "FmodBackward1"},
             "copysign": {(True, False): "CopysignBackward1"}}  # names by which arguments are tensors
# results that PyTorch saves, and fad's rules do without
_RESULTS = frozenset(("prod", "i1", "log_ndtr", "copysign", "det", "slogdet"))
# arguments that PyTorch saves, and fad's rules do without
_ARGUMENTS = {"make_complex": (0, 1), "angle": (0,)}
_LATER = ("self", "other", "input2", "input3", "input4", "input5", "input6", "input7")

_handles: dict = {}


def node_name(op_name: str) -> str:
    """The name of an op's nodes.

    >>> node_name("exp"), node_name("expit")
    ('ExpBackward0', 'SigmoidBackward0')
    """
    words = _NODE.get(op_name) or "".join(word.capitalize() for word in op_name.replace(".", "_").split("_"))
    return f"{words}Backward0"


def enter(op: Op, handle: Handle) -> None:
    """Nodes of this op have a handle made elsewhere."""
    _handles[op] = handle


def handle_of(op: Op) -> Handle:
    """The properties that the nodes of an op share."""
    found = _handles.get(op)
    if found is None:
        outputs = _OUTPUTS.get(op.name, ("result", "result1", "result2", "result3"))
        found = _handles[op] = Handle(op, node_name(op.name), _INPUTS.get(op.name, _LATER), outputs,
                                      _PLACES.get(op.name),
                                      op.name in _TENSORS, _VARIANTS.get(op.name), result=op.name in _RESULTS,
                                      always=_ARGUMENTS.get(op.name, ()))
    return found
