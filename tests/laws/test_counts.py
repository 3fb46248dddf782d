"""One function, called with one count after another: a count that has changed is an input of the program, and the
values stay NumPy's."""

import numpy as np
import pytest
import scipy.linalg as la  # noqa: F401 - named by expressions, as are the next two
import scipy.signal as sg  # noqa: F401
import scipy.special as sp  # noqa: F401

import fad

from ..texts import executed

EXPRESSIONS = """
np.linspace(0., v[0], n); np.arange(n)*v[0]; np.zeros(n)+v[0]; np.eye(n)*v[0]; np.repeat(v,n); np.tile(v,n)
np.roll(v,n); v[:n]; v[n:]; v[-n:]; v[::n]; v[n]; v[-n]; v[:-n]; np.diff(v,n); np.diag(v,n); np.diag(M,n); np.tril(M,n)
np.triu(M,n); np.trace(M,n); np.rot90(M,n); np.sum(v[:n]); np.mean(v[:n]); np.max(v[:n]); np.var(v[:n])
np.std(v[:n],ddof=1); np.prod(v[:n]); np.cumsum(v[:n]); np.sort(v[:n]); np.median(v[:n]); np.argsort(v)[:n]*v[0]; v**n
v**-n; np.power(v,n); n**v; n*v; v/n; v//n; v%n; np.full(n,v[0]); np.ones((n,2))*v[0]; np.pad(v,n)
np.pad(v,(n,1),mode="edge"); np.pad(v,n,mode="reflect"); np.convolve(v,v[:n]); np.polyval(v[:n],0.3)
np.interp(0.3,np.arange(6.),v)*n; np.take(v,n); np.insert(v,n,9.0); np.delete(v,n); np.split(v,[n])[0]
np.array_split(v,n)[0]; np.array_split(v,n)[-1]; np.hstack([v[:n],v]); np.outer(v[:n],v); np.dot(v[:n],v[:n])
np.linalg.norm(v[:n]); np.linalg.norm(v[:n],1); np.linalg.det(M[:n,:n]); np.linalg.inv(M[:n,:n]+np.eye(n))
np.linalg.matrix_power(M,n); np.linalg.solve(M[:n,:n]+np.eye(n),v[:n]); np.vander(v,n); np.tri(n)*v[0]
np.fft.fft(v,n).real; np.fft.rfft(v,n).real; np.fft.irfft(v,n); np.trapezoid(v[:n]); np.gradient(v[:n]); np.cov(v[:n])
np.quantile(v[:n],0.3); np.logspace(0,v[0],n); np.geomspace(1.0,2+v[0],n); np.cumprod(v[:n])
np.searchsorted(np.arange(6.),n)*v; np.clip(v,-n,n); np.where(v>n,v,0); np.reshape(M[:n],(n,6)); np.reshape(M[:n],(-1,))
np.reshape(v,(n,-1)); np.resize(v,n); np.expand_dims(v[:n],0); np.swapaxes(M[:n],0,1); np.broadcast_to(v,(n,6))
np.stack([v]*3)[:,:n]; np.atleast_2d(v[:n]); np.flip(v[:n]); np.fliplr(M[:,:n]); np.kron(v[:n],v)
np.cross(v[:3],v[3:])*n; np.average(v[:n],weights=np.arange(1.,n+1))
np.bincount(np.array([1,2]),weights=v[:2],minlength=n); np.histogram(v,n)[0]*v[0]; np.count_nonzero(v[:n])*v[0]
np.argmax(v[:n])*v[0]; np.nansum(v[:n]); np.nanmean(v[:n]); np.einsum('i,i->',v[:n],v[:n]); np.tensordot(M,M[:,:n],1)
M[:n]@M; M[n]; M[:,n]; M[n,n]; M[:n,:n].T; np.moveaxis(M[:n],0,1); np.unwrap(v[:n]); np.ediff1d(v[:n])
np.apply_along_axis(np.sum,0,M[:n]); np.meshgrid(v[:n],v)[0]; np.indices((n,2))*v[0]; np.identity(n)*v[0]
np.fromfunction(lambda i: i*v[0],(n,)); max(v[:n]); [x*2 for x in v[:n]]; np.array([v[i]*i for i in range(n)])
la.toeplitz(v[:n]); la.expm(M[:n,:n]/9); la.cholesky(M[:n,:n]@M[:n,:n].T+np.eye(n)); sp.binom(n,v); sp.jv(n,v)
sp.gammaln(n+1)*v; sp.softmax(v[:n]); sp.factorial(n)*v; sp.comb(n,2)*v; sp.eval_legendre(n,v); sp.polygamma(n,abs(v))
sp.expn(n,abs(v)); sg.detrend(v[:n+2]); np.hanning(n)*v[0]; np.hamming(n)*v[0]; np.kaiser(n,3.)*v[0]
np.blackman(n)*v[0]; np.bartlett(n)*v[0]; np.roll(M,n,axis=1); np.concatenate([v[:n],v[n:]])
np.lib.stride_tricks.sliding_window_view(v,n); np.digitize(v,np.arange(n))*v; np.unravel_index(n,(4,4))[0]*v
np.ravel_multi_index((1,n),(4,9))*v; round(v[0],n); np.round(v,n); np.around(v,n); v.reshape(n,-1).sum(0); v[:n].mean()
v.repeat(n); np.nanmax(v[:n]); np.ptp(v[:n]); np.fft.fftshift(v[:n]); np.block([[M[:n],M[:n]]])
np.column_stack([v[:n],v[:n]]); np.polyfit(np.arange(6.),v,n); np.polyder(v,n); np.polyint(v,n)
np.polynomial.polynomial.polyval(0.3,v[:n]); np.heaviside(v,n); np.copysign(v,-n); np.ldexp(v,n); np.left_shift(3,n)*v
np.bitwise_and(n,3)*v; np.gcd(n,4)*v; divmod(n,3)[0]*v; float(n)*v; abs(n-3)*v; min(n,3)*v; pow(n,2)*v; np.sqrt(n)*v
np.log(n+1)*v; np.isclose(n,3)*v; np.sign(n-2)*v; bool(n)*v; (n and 3)*v; (not n)*v; (n>2)*v; np.array([n,n+1])*v[0]
np.array(n)*v; np.float64(n)*v; np.int32(n)*v; str(n).__len__()*v; v[n:n+2]; v[n//2]; M[n:,::2]; M[::-1][:n]; v[[0,n]]
v[np.arange(n)]; v[v>n-2]; np.take_along_axis(M,np.full((6,1),n),1); np.compress([True]*n,v)
np.extract(np.arange(6)<n,v); np.nonzero(v>n)[0]*1.0; np.choose(min(n,1),[v,v*2]); np.select([v>n],[v],0.0)
np.piecewise(v,[v>n],[lambda q:q*2,0.0]); np.cumsum(M[:n],axis=0); np.sort(M[:n],axis=0); np.linalg.eigvalsh(M[:n,:n])
np.linalg.svd(M[:n],compute_uv=False); np.linalg.qr(M[:n])[1]; np.linalg.lstsq(M[:,:n],v,rcond=None)[0]
np.linalg.pinv(M[:n]); np.linalg.slogdet(M[:n,:n])[1]; np.linalg.cond(M[:n,:n]); la.block_diag(M[:n,:n],M[:1,:1])
la.circulant(v[:n]); la.hankel(v[:n]); la.solve_triangular(M[:n,:n],v[:n]); la.hilbert(n)*v[0]
"""
EXPRESSIONS = [e for line in EXPRESSIONS.strip().splitlines() for e in line.split("; ")]
COUNTS = (5, 3, 4, 1, 0, 2, 6, 7)
V, M = np.array([0.3, -1.2, 0.7, 2.0, 0.1, -0.4]), np.arange(36.0).reshape(6, 6) / 7 + np.eye(6)


def outcome(f, n):
    try:
        return np.asarray(f(V.copy(), M.copy(), n)), None
    except Exception as error:
        return None, error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_count_that_changes(expression):
    f = executed(f"def f(v, M, n): return {expression}\n", dict(globals()))["f"]
    g = fad.jit(f, compile="never")
    for n in COUNTS:
        (want, expected), (got, error) = outcome(f, n), outcome(g, n)
        told = f"{n}: {got if error is None else error!r} for {want if expected is None else expected!r}"
        assert (error is None) == (expected is None), told
        if expected is None:
            assert (got.shape, got.dtype) == (want.shape, want.dtype), n
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9, err_msg=str(n))
