"""scipy.sparse and scipy.sparse.linalg: matrices with traced elements, and solves (see routines/sparse.py)."""
from ...routines import sparse
from ..override import override

NOTE = "with respect to the elements, at places that are given"

for _format in ("csr", "csc", "coo"):
    for _kind in ("matrix", "array"):
        override(f"scipy.sparse.{_format}_{_kind}", routine=True, note=NOTE)(sparse.maker(_format, _kind))
override("scipy.sparse.diags", routine=True, note=NOTE)(sparse.diags)
override("scipy.sparse.diags_array", routine=True, note=NOTE)(sparse.diags_array)
override("scipy.sparse.issparse", routine=True)(sparse.issparse)
for _call in (sparse.spsolve, sparse.splu, sparse.factorized):
    override(f"scipy.sparse.linalg.{_call.__name__}", routine=True, note=NOTE)(_call)
