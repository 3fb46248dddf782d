"""Reductions and moments: values as NumPy's, derivatives as differences and as each other."""
import numpy as np
import pytest

import fad
from fad.util.errors import UnsupportedFunctionError

from .overrides_at import both_tests, listed

EXPRESSIONS = listed(r"""
np.sum(x); np.sum(x, axis=0); np.sum(x, axis=(0, 1), keepdims=True); np.sum(x, axis=-1, where=x > 0.4); np.mean(x)
np.mean(x, axis=1, keepdims=True); np.average(x, axis=0, weights=[1., 2., 3.]); np.var(x); np.var(x, axis=0, ddof=1)
np.std(x, axis=1); np.prod(x); np.prod(x, axis=0); np.max(x); np.max(x, axis=1); np.min(x, axis=0, keepdims=True)
np.amax(x); np.amin(x); np.ptp(x, axis=0); np.median(x); np.median(x, axis=1); np.quantile(x, 0.3)
np.percentile(x, 40, axis=0); np.nansum(x); np.nanmean(x, axis=0); np.sum(x,initial=3.0)
np.prod(x,axis=1,initial=2.,where=x>.5); np.max(x,initial=.5); np.max(x,axis=0,initial=.5,where=x>.7)
np.min(x,axis=1,initial=.3); np.any(x>.5); np.all(x>.1,axis=0); np.any(x,axis=(0,1),keepdims=True)
np.count_nonzero(x>.5); np.count_nonzero(k,axis=0); np.argmax(x); np.argmin(x,axis=1,keepdims=True)
np.mean(x,where=x>.5); np.var(x,axis=1,where=x>.3,ddof=1); np.std(x,correction=1); np.sum(k>2); np.prod(k)
np.var(z,axis=0); np.mean(z,axis=0); np.prod(z,axis=1); np.average(x); np.average(x,axis=1,weights=v)
np.average(x,axis=1,weights=v,returned=True);
np.average(x,(1,0),np.abs(x.T)); np.average(S,(1,0),S)
np.average(x,weights=x); np.cov(v,v*v); np.cov(x,rowvar=False,ddof=0)
np.cov(x,aweights=v); np.cov(z); np.cov(x,fweights=np.array([1,2,1,3])); np.corrcoef(v,v*v); np.cov(v); np.corrcoef(z)
x.sum(0); x.mean(); x.max(1); x.std(); x.var(0); x.prod(1); x.min(); x.any(); x.all(0); x.argmax(1); x.cumsum()
x.cumprod(0); np.mean(x,axis=(0,1)); np.std(x,axis=(0,1),keepdims=True); np.sum(np.sum(x),axis=0)
np.max(x.max(),axis=-1); np.prod(x.sum(),axis=0,keepdims=True); np.nansum(x[0,0],axis=0)
""")

VALUES_ONLY = listed(r"""
np.mean(k); np.mean(k>2); np.var(k,axis=0); np.sum(x,dtype=np.float32); np.mean(f); np.std(f,axis=0); np.sum(e)
np.sum(e,axis=0); np.prod(e,axis=0); np.prod(e,axis=1); np.max(e,axis=1); np.max(e,axis=0,initial=-1.)
np.max(e,initial=0.); np.any(e); np.all(e,axis=0); np.mean(e,axis=1); np.cumsum(e,axis=0); np.cumprod(e); np.cumsum(e)
np.sort(e,axis=0); np.argsort(e,axis=1); e@x; np.einsum("ij,jk->ik",e,x); np.einsum("ij,jk->k",e,x); np.outer(e,v)
np.maximum.accumulate(e,axis=0); np.unique(e); np.nonzero(e); np.flatnonzero(e>0); np.median(e,axis=1); np.var(e,axis=1)
np.diff(e,axis=0); np.diff(e,axis=1); np.count_nonzero(e); np.tensordot(e,x,1); np.kron(e,v); np.mean(e); np.median(e)
np.bincount(np.flatnonzero(e)); np.nansum(e); np.trace(e); np.convolve(v,v)*np.sum(e)
np.cumulative_sum(e,axis=0,include_initial=True); np.histogram(e,3)[0]; np.nanmax(e,axis=1); np.inner(e,e)
np.ptp(e,axis=1); np.trapezoid(e,axis=0); np.isin(e,[1.])
""")


test_value, test_derivatives = both_tests(EXPRESSIONS, VALUES_ONLY)


MASKED = [lambda x: np.ma.masked_where(x < 0.5, x).sum(), lambda x: np.ma.masked_array(x, x < 0.5).mean(),
          lambda x: np.ma.masked_invalid(np.log(x)).sum()]


@pytest.mark.filterwarnings("ignore::fad.util.errors.FallbackWarning")
@pytest.mark.parametrize("f", MASKED)
def test_masked_arrays_have_no_derivative_and_the_error_says_what_to_write(f):
    x = np.array([0.2, 0.7, 0.9])
    assert fad.jit(f)(x) == f(x)
    with pytest.raises(UnsupportedFunctionError, match="keep the mask as an array"):
        fad.grad(f)(x)
